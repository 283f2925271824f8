// Subtrees of up to 32 rows by drawn questions, grown at once.
//
// Most nodes of a tree are this small, and what is done once per node costs more there than the
// look at its rows. Here a node is a mask of the block's rows, a feature's cells are gathered once
// for all nodes, and nothing is divided. Questions, scores and ties are those of `DrawnSplitterOf`.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/grow/drawn_lanes.hpp"
#include "engine/grow/frontier.hpp"
#include "engine/grow/keep_split.hpp"
#include "engine/grow/nodes.hpp"
#include "engine/grow/rules.hpp"
#include "engine/order/sample.hpp"
#include "engine/scan/drawn_question.hpp"
#include "engine/score/row_sides.hpp"
#include "engine/simd/row_lanes.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

// Where rows have no sides as masks, nodes are split one by one.
template <class Acc, Simd simd, bool = RowSides<Acc, simd>::exists>
class DrawnBlock {
public:
    static constexpr bool exists = false;
    explicit DrawnBlock(DrawnLanes<Acc>&) {}
    void open(const DenseColumns&) {}
    static bool takes(const GrowthRules&, const Node&) { return false; }
};

template <class Acc, Simd simd>
class DrawnBlock<Acc, simd, true> {
    using Lanes = RowLanes<simd>;
    DrawnLanes<Acc>& lanes_;
    const DenseColumns* data_ = nullptr;
    bool is_possible_ = false;
    bool in_lanes_ = false;           // whether nodes are looked at in all features at once
    uint32_t rows_[LANE_ROWS];
    uint32_t all_ = 0, n_ = 0;        // the block's rows, and how many they are
    RowSides<Acc, simd> sides_;
    alignas(64) uint32_t places_[LANE_ROWS];  // of the rows, where lanes read them
    // By feature, taken when a node first looks at it.
    AlignedBuffer<float> cells_;      // [feature, row]
    std::vector<uint32_t> missing_;   // rows without a number
    std::vector<uint64_t> taken_in_;  // the block whose cells they are
    uint64_t block_ = 0;

    std::vector<Node> waiting_;
    Open open_;
    Split drawn_;        // about the feature looked at
    uint32_t left_ = 0;  // rows that the best question about the node sends left

public:
    static constexpr bool exists = true;

    explicit DrawnBlock(DrawnLanes<Acc>& lanes) : lanes_(lanes) {}

    void open(const DenseColumns& data) {
        const size_t n_features = data.columns.size();
        data_ = &data;
        is_possible_ =
            std::none_of(data.columns.begin(), data.columns.end(),
                         [](const Column& column) { return column.has_categories(); });
        cells_.reserve(n_features * LANE_ROWS);
        missing_.resize(n_features);
        taken_in_.resize(n_features);
    }
    bool takes(const GrowthRules& rules, const Node& node) const {
        return is_possible_ && node.size() <= LANE_ROWS && !rules.monotonic_cst
               && rules.min_weight_leaf <= 0.0;
    }

    // Grows all that is below a node, of whose rows the targets are given.
    template <class Target>
    void grow(const GrowthRules& rules, KeyedSampler& sampler, Acc& acc, const DenseSample& sample,
              const Node& root, const Target* targets, NodeStore& store) {
        call_in<simd>([&]() FASTTREE_INLINE {
            take_rows(sample, root, targets);
            grow_all(rules, sampler, acc, sample, root, store);
        });
    }

private:
    FASTTREE_INLINE void grow_all(const GrowthRules& rules, KeyedSampler& sampler, Acc& acc,
                                  const DenseSample& sample, const Node& root, NodeStore& store) {
        in_lanes_ = lanes_.pay_in_block(sampler.max_features());
        if (in_lanes_) {
            lanes_.take_rows(sample, root);
            std::copy_n(lanes_.rows(), root.size(), places_);
        }
        open_.left_value.resize(store.value_size);
        open_.right_value.resize(store.value_size);
        waiting_.assign(1, root);
        waiting_.back().members = all_;
        while (!waiting_.empty()) {
            Node& node = open_.node = waiting_.back();
            waiting_.pop_back();
            if (!find(rules, sampler, acc, node)) continue;
            divide(rules, acc);
            if (!keep_split(rules, node, open_.split, open_.left, open_.left_value, open_.right,
                            open_.right_value, store)) {
                continue;
            }
            if (!rules.is_terminal(open_.right)) waiting_.push_back(open_.right);
            if (!rules.is_terminal(open_.left)) waiting_.push_back(open_.left);
        }
    }
    template <class Target>
    FASTTREE_INLINE void take_rows(const DenseSample& sample, const Node& root,
                                   const Target* targets) {
        n_ = root.size();
        all_ = static_cast<uint32_t>(low_bits(n_));
        ++block_;
        std::copy_n(sample.rows.data() + root.start, n_, rows_);
        sides_.open(targets, rows_, all_);
    }
    FASTTREE_INLINE const float* cells_of(uint32_t feature) {
        float* cells = cells_.get() + size_t{feature} * LANE_ROWS;
        if (taken_in_[feature] != block_) take_cells(feature, cells);
        return cells;
    }
    void take_cells(uint32_t feature, float* out) {
        const Column& column = data_->columns[feature];
        if (const uint8_t* codes = column.narrow.get()) {
            for (uint32_t i = 0; i < n_; ++i) out[i] = column.values[codes[rows_[i]]];
        } else {
            const float* x = data_->column(feature);
            const ptrdiff_t stride = data_->row_stride;
            for (uint32_t i = 0; i < n_; ++i) out[i] = x[static_cast<ptrdiff_t>(rows_[i]) * stride];
        }
        missing_[feature] = Lanes::without_number(out, all_);
        taken_in_[feature] = block_;
    }

    FASTTREE_INLINE bool find(const GrowthRules& rules, KeyedSampler& sampler, Acc& acc,
                              Node& node) {
        bool found;
        if constexpr (LaneCounts<Acc>::exists) {
            if (in_lanes_ && find_in_lanes(rules, sampler, acc, node, found)) return found;
        }
        return find_in_turn(rules, sampler, node);
    }
    // The best of the questions drawn about the features that the sampler names.
    FASTTREE_INLINE bool find_in_turn(const GrowthRules& rules, KeyedSampler& sampler,
                                      Node& node) {
        if (node.size() == 2 && find_pair(sampler, node)) return open_.split.feature != NO_FEATURE;
        const uint32_t leaf = rules.least_rows();
        const uint32_t rows = static_cast<uint32_t>(node.members);
        Split& best = open_.split;
        best.feature = NO_FEATURE;
        best.score = MINUS_INFINITY;
        sides_.begin(rows);
        sampler.begin(node.key, node.n_known);
        for (uint32_t f = sampler.next(); f != NO_FEATURE; f = sampler.next()) {
            uint32_t left;
            if (!draw(sampler, node, f, left)) {
                sampler.found_constant();
                continue;
            }
            const uint32_t n_left = n_rows_of(left);
            if (n_left < leaf || node.size() - n_left < leaf) continue;
            const double score = sides_.score(left, rows & ~left, n_left);
            if (!is_better(score, f, best.score, best.feature)) continue;
            left_ = left;
            best.threshold = drawn_.threshold;
            best.has_missing = drawn_.has_missing;
            best.missing_left = drawn_.missing_left;
            best.score = score;
            best.feature = f;
        }
        node.n_known = sampler.end();
        return best.feature != NO_FEATURE;
    }
    // Draws a question and finds the rows that it sends left; false if the feature is constant.
    FASTTREE_INLINE bool draw(KeyedSampler& sampler, const Node& node, uint32_t feature,
                              uint32_t& left) {
        const float* cells = cells_of(feature);
        const uint32_t rows = static_cast<uint32_t>(node.members);
        const uint32_t missing = rows & missing_[feature];
        const Extremes extremes = Lanes::extremes(cells, rows & ~missing, n_rows_of(missing));
        if (!draw_threshold(sampler, node, feature, extremes, false, drawn_)) return false;
        left = Lanes::up_to(cells, rows & ~missing, Lanes::float_up_to(drawn_.threshold));
        if (drawn_.missing_left) left |= missing;
        return true;
    }

    // Two rows are separated by any threshold in the same way: of the features that tell them apart
    // the lowest wins the tie. False if a value is missing.
    FASTTREE_INLINE bool find_pair(KeyedSampler& sampler, Node& node) {
        const uint32_t i = static_cast<uint32_t>(lowest_bit(node.members));
        const uint32_t j = static_cast<uint32_t>(lowest_bit(node.members & (node.members - 1)));
        uint32_t found = NO_FEATURE, missing = 0;
        sampler.begin(node.key, node.n_known);
        for (uint32_t f = sampler.next(); f != NO_FEATURE; f = sampler.next()) {
            const float* cells = cells_of(f);
            missing |= missing_[f];
            if (cells[i] == cells[j]) sampler.found_constant();
            else found = std::min(found, f);
        }
        const uint32_t n_known = sampler.end();
        if (missing & node.members) return false;
        node.n_known = n_known;
        open_.split.feature = found;
        if (found != NO_FEATURE) ask_pair(sampler, cells_of(found)[i], cells_of(found)[j]);
        return true;
    }
    // Draws the question about the feature that was found to tell two rows apart.
    void ask_pair(KeyedSampler& sampler, float first, float second) {
        const Node& node = open_.node;
        Split& best = open_.split;
        draw_threshold(sampler, node, best.feature,
                       {std::min(first, second), std::max(first, second), 0}, false, best);
        const uint32_t rows = static_cast<uint32_t>(node.members);
        left_ = first < second ? rows & -rows : rows & (rows - 1);
    }
    // All features in lanes, see DrawnSplitterOf; false if a value is missing.
    FASTTREE_INLINE bool find_in_lanes(const GrowthRules& rules, KeyedSampler& sampler, Acc& acc,
                                       Node& node, bool& found) {
        uint32_t own[LANE_ROWS + ROW_PADDING];
        const uint32_t rows = static_cast<uint32_t>(node.members);
        Lanes::pick(places_, rows, own);
        uint64_t varies, sides;
        if (!lanes_.begin(own, node.size(), varies)) return false;
        const uint64_t features = lanes_.visit(sampler, node, varies);
        found = features != 0;
        if (!found) return true;
        Split& best = open_.split;
        if (node.size() == 2) {
            best.feature = static_cast<uint32_t>(lowest_bit(features));
            ask_pair(sampler, lanes_.cell(0, best.feature), lanes_.cell(1, best.feature));
            return true;
        }
        Candidate candidate;
        best.feature = lanes_.find_best(acc, node.key, sides_.hold(acc, rows), features,
                                        rules.least_rows(), candidate);
        found = best.feature != NO_FEATURE;
        if (!found) return true;
        best.has_missing = false;
        best.threshold = lanes_.take(best.feature, &sides);
        left_ = Lanes::spread(static_cast<uint32_t>(sides), rows);
        return true;
    }

    FASTTREE_INLINE void divide(const GrowthRules& rules, Acc& acc) {
        const Node& node = open_.node;
        Split& split = open_.split;
        split.question = THRESHOLD;
        split.n_left = n_rows_of(left_);
        if (!split.has_missing) split.missing_left = split.n_left > node.size() - split.n_left;
        rules.make_children(node, split, node.start + split.n_left, open_.left, open_.right);
        open_.left.members = left_;
        open_.right.members = node.members & ~uint64_t{left_};
        sides_.take(acc, static_cast<uint32_t>(open_.left.members), open_.left.stats,
                    open_.left_value.data());
        sides_.take(acc, static_cast<uint32_t>(open_.right.members), open_.right.stats,
                    open_.right_value.data());
    }
};

}  // namespace fasttree
