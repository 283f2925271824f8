// Subtrees of few rows by drawn questions, grown at once.
//
// Most nodes of a tree are this small, and what is done once per node costs more there than the
// look at its rows. Here a node is a mask of the block's rows, a feature's cells are gathered once
// for all nodes, and nothing is divided. Questions, scores and ties are those of `DrawnSplitterOf`.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/columns/code_rows.hpp"
#include "engine/columns/gathered_bits.hpp"
#include "engine/columns/gathered_cells.hpp"
#include "engine/core/cost_model.hpp"
#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/grow/drawn_lanes.hpp"
#include "engine/grow/nodes.hpp"
#include "engine/grow/rules.hpp"
#include "engine/order/sample.hpp"
#include "engine/scan/drawn_question.hpp"
#include "engine/score/row_sides.hpp"
#include "engine/simd/decode.hpp"
#include "engine/simd/gather.hpp"
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
    static bool takes(const GrowthRules&, const Node&, uint32_t) { return false; }
};

template <class Acc, Simd simd>
class DrawnBlock<Acc, simd, true> {
    using Lanes = RowLanes<simd>;
    using Mask = typename Lanes::Mask;
    static constexpr uint32_t FEW_ROWS = 32;
    struct Waiting {  // a node that is to be visited
        Mask rows;
        uint64_t key;
        uint32_t depth, n_known;
        uint32_t parent;  // the node of which it is the right child, or NO_NODE
    };
    struct Question {
        uint32_t feature;
        double threshold, score;
        bool has_missing, missing_left;
        Mask left;  // rows that it sends there
    };
    struct Varying {  // a feature that is not constant in the node, and the question about it
        uint32_t feature;
        float low, high;
        double threshold;
        Mask left;
    };

    DrawnLanes<Acc>& lanes_;
    const DenseColumns* data_ = nullptr;
    bool is_possible_ = false;
    uint32_t most_rows_ = 0;
    bool in_lanes_ = false;           // whether nodes are looked at in all features at once
    uint32_t rows_[Lanes::ROWS];
    Mask all_ = 0;                    // the block's rows
    uint32_t n_ = 0;                  // how many they are
    RowSides<Acc, simd> sides_;
    alignas(64) uint32_t places_[Lanes::ROWS];  // of the rows, where lanes read them
    // By feature, taken when a node first looks at it.
    AlignedBuffer<float> cells_;      // [feature, row]
    std::vector<Mask> missing_;       // rows without a number
    std::vector<uint64_t> taken_in_;  // the block whose cells they are
    uint64_t block_ = 0;
    GatheredGroups groups_;
    GatheredBits bits_;
    std::vector<Varying> varying_;

    Waiting waiting_[Lanes::ROWS];
    uint32_t n_waiting_ = 0;

public:
    static constexpr bool exists = true;

    explicit DrawnBlock(DrawnLanes<Acc>& lanes) : lanes_(lanes) {}

    void open(const DenseColumns& data) {
        const size_t n_features = data.columns.size();
        data_ = &data;
        is_possible_ = !data.has_categories();
        cells_.reserve(n_features * Lanes::ROWS);
        groups_.open(data.code_rows, Lanes::ROWS, false);
        bits_.open(data.drawn_bits.rows(), Lanes::ROWS);
        missing_.resize(n_features);
        taken_in_.resize(n_features);
        varying_.resize(n_features);
        most_rows_ = wide_blocks_pay(data.n_rows, data.row_stride) || data.has_columns()
            ? Lanes::ROWS
            : FEW_ROWS;
    }
    bool takes(const GrowthRules& rules, const Node& node, uint32_t n_looked) const {
        // Lanes read the rows of a node one by one, so a larger block saves nothing.
        const uint32_t most = lanes_.pay_in_block(n_looked) ? FEW_ROWS : most_rows_;
        return is_possible_ && node.size() <= most && !rules.monotonic_cst
               && rules.min_weight_leaf <= 0.0;
    }

    // Grows all that is below node `root_id` of the store, of whose rows the targets are given.
    template <class Target>
    void grow(const GrowthRules& rules, KeyedSampler& sampler, Acc& acc, const DenseSample& sample,
              const Node& root, const Target* targets, uint32_t root_id, NodesBelow& below) {
        call_in<simd>([&]() FASTTREE_INLINE {
            take_rows(sample, root, targets);
            grow_all(rules, sampler, acc, sample, root, root_id, below);
        });
    }

private:
    FASTTREE_INLINE void grow_all(const GrowthRules& rules, KeyedSampler& sampler, Acc& acc,
                                  const DenseSample& sample, const Node& root, uint32_t root_id,
                                  NodesBelow& below) {
        in_lanes_ = lanes_.pay_in_block(sampler.max_features());
        if (in_lanes_) {
            lanes_.take_rows(sample, root);
            std::copy_n(lanes_.rows(), root.size(), places_);
        }
        n_waiting_ = 0;
        Waiting node{all_, root.key, root.depth, root.n_known, NodesBelow::NO_NODE};
        split(rules, sampler, acc, node, root_id, root.stats, below);
        while (n_waiting_ > 0) {
            node = waiting_[--n_waiting_];
            const uint32_t n = n_rows_of(node.rows);
            NodeStats stats;
            double* const value = below.next_value();
            sides_.take(acc, node.rows, stats, value);
            const uint32_t id = below.append(stats, n, node.depth, value, node.parent);
            if (rules.is_terminal(node.depth, n, stats)) continue;
            split(rules, sampler, acc, node, id, stats, below);
        }
    }
    // Splits a node, if the rules accept it; its children are to be visited next.
    FASTTREE_INLINE void split(const GrowthRules& rules, KeyedSampler& sampler, Acc& acc,
                               Waiting& node, uint32_t id, const NodeStats& stats,
                               NodesBelow& below) {
        Question best;
        if (!find(rules, sampler, acc, node, best)) return;
        const Mask left = best.left, right = node.rows & ~left;
        if (!rules.accepts_all()) {
            NodeStats left_stats, right_stats;
            sides_.take(acc, left, left_stats, below.next_value());
            sides_.take(acc, right, right_stats, below.next_value());
            if (!rules.accepts(stats, left_stats, right_stats)) return;
        }
        const bool larger_left = n_rows_of(left) > n_rows_of(right);
        below.split(id, best.feature, best.threshold,
                    best.has_missing ? best.missing_left : larger_left);
        const uint32_t depth = node.depth + 1;
        waiting_[n_waiting_++] = {right, rules.right_key(node.key), depth, node.n_known, id};
        waiting_[n_waiting_++] = {left, rules.left_key(node.key), depth, node.n_known,
                                  NodesBelow::NO_NODE};
    }
    template <class Target>
    FASTTREE_INLINE void take_rows(const DenseSample& sample, const Node& root,
                                   const Target* targets) {
        n_ = root.size();
        all_ = static_cast<Mask>(low_bits(n_));
        ++block_;
        groups_.begin();
        bits_.begin();
        std::copy_n(sample.rows.data() + root.start, n_, rows_);
        sides_.open(targets, rows_, all_);
    }
    FASTTREE_INLINE const float* cells_of(uint32_t feature) {
        float* cells = cells_.get() + size_t{feature} * Lanes::ROWS;
        if (taken_in_[feature] != block_) take_cells(feature, cells);
        return cells;
    }
    void take_cells(uint32_t feature, float* out) {
        const Column& column = data_->columns[feature];
        const float* const values = column.values.data();
        missing_[feature] = 0;  // codes are those of numbers
        if (column.is_bit) {
            const BitRows bits = data_->drawn_bits.rows();
            const uint64_t ones = *bits_.take(simd, bits, rows_, n_, column.slot);
            decode_bits(simd, ones, values[0], values[1], n_, out);
        } else if (column.is_grouped) {
            const uint8_t* codes = groups_.take(simd, data_->code_rows, rows_, n_, column.slot);
            decode_codes(simd, codes, values, n_, out);
        } else if (column.narrow.get() != nullptr) {
            uint8_t codes[Lanes::ROWS];
            gather_codes(simd, column.narrow.get(), rows_, n_, codes);
            decode_codes(simd, codes, values, n_, out);
        } else {
            const Extremes all = gather_column(simd, *data_, feature, rows_, n_, out);
            if (all.n_missing > 0) missing_[feature] = Lanes::without_number(out, all_);
        }
        taken_in_[feature] = block_;
    }

    FASTTREE_INLINE bool find(const GrowthRules& rules, KeyedSampler& sampler, Acc& acc,
                              Waiting& node, Question& best) {
        best.feature = NO_FEATURE;
        if constexpr (LaneCounts<Acc>::exists) {
            if (in_lanes_ && find_in_lanes(rules, sampler, acc, node, best)) {
                return best.feature != NO_FEATURE;
            }
        }
        if (n_rows_of(node.rows) != 2 || !find_pair(sampler, node, best)) {
            find_in_turn(rules.least_rows(), sampler, node, best);
        }
        return best.feature != NO_FEATURE;
    }
    // The best of the questions drawn about the features that the sampler names. Whether a feature
    // varies, and whether its question is the best so far, is hard to foresee: nothing branches on
    // it.
    FASTTREE_INLINE void find_in_turn(uint32_t leaf, KeyedSampler& sampler, Waiting& node,
                                      Question& best) {
        const Mask rows = node.rows;
        const uint64_t key = node.key;
        Varying* const varying = varying_.data();
        uint32_t n_varying = 0;
        node.n_known = sampler.visit(key, node.n_known, [&](uint32_t f) FASTTREE_INLINE {
            const float* const cells = cells_of(f);
            const Mask missing = rows & missing_[f], numbers = rows & ~missing;
            const Extremes extremes = Lanes::extremes(cells, numbers, 0);
            const bool varies =
                (numbers != 0) & ((missing != 0) | (extremes.low != extremes.high));
            Varying& own = varying[n_varying];  // the next feature's if this one is constant
            own.feature = f;
            own.low = extremes.low;
            own.high = extremes.high;
            n_varying += varies;
            return varies;
        });
        const uint32_t n = n_rows_of(rows);
        uint32_t found = 0;
        best.feature = NO_FEATURE;
        best.score = MINUS_INFINITY;
        sides_.begin(rows);
        for (uint32_t i = 0; i < n_varying; ++i) {
            Varying& own = varying[i];
            draw(sampler, key, rows, own);
            const uint32_t n_left = n_rows_of(own.left);
            const bool is_possible = n_left >= leaf && n - n_left >= leaf;
            const double score = sides_.score(own.left, rows & ~own.left, n_left);
            const bool is_best =
                is_possible && is_better(score, own.feature, best.score, best.feature);
            found = is_best ? i : found;
            best.feature = is_best ? own.feature : best.feature;
            best.score = is_best ? score : best.score;
        }
        if (best.feature == NO_FEATURE) return;
        best.threshold = varying[found].threshold;
        best.left = varying[found].left;
        best.has_missing = (rows & missing_[best.feature]) != 0;
        best.missing_left = best.has_missing && sampler.missing_left(key, best.feature);
    }
    // Draws a question and finds the rows that it sends left.
    FASTTREE_INLINE void draw(KeyedSampler& sampler, uint64_t key, Mask rows, Varying& own) {
        const uint32_t f = own.feature;
        const Mask missing = rows & missing_[f];
        own.threshold = draw_between(sampler, key, f, own.low, own.high);
        own.left = Lanes::up_to(cells_of(f), rows & ~missing, Lanes::float_up_to(own.threshold));
        if (missing != 0 && sampler.missing_left(key, f)) own.left |= missing;
    }

    // Two rows are separated by any threshold in the same way: of the features that tell them apart
    // the lowest wins the tie. False if a value is missing.
    FASTTREE_INLINE bool find_pair(KeyedSampler& sampler, Waiting& node, Question& best) {
        const uint32_t i = static_cast<uint32_t>(lowest_bit(node.rows));
        const uint32_t j = static_cast<uint32_t>(lowest_bit(node.rows & (node.rows - 1)));
        uint32_t found = NO_FEATURE;
        Mask missing = 0;
        const uint32_t n_known =
            sampler.visit(node.key, node.n_known, [&](uint32_t f) FASTTREE_INLINE {
                const float* cells = cells_of(f);
                missing |= missing_[f];
                if (cells[i] == cells[j]) return false;
                found = std::min(found, f);
                return true;
            });
        if (missing & node.rows) return false;
        node.n_known = n_known;
        best.feature = found;
        if (found != NO_FEATURE) {
            ask_pair(sampler, node, cells_of(found)[i], cells_of(found)[j], best);
        }
        return true;
    }
    // Draws the question about a feature that tells two rows apart.
    FASTTREE_INLINE void ask_pair(KeyedSampler& sampler, const Waiting& node, float first,
                                  float second, Question& best) {
        best.threshold = draw_between(sampler, node.key, best.feature, std::min(first, second),
                                      std::max(first, second));
        best.has_missing = false;
        best.left = first < second ? node.rows & -node.rows : node.rows & (node.rows - 1);
    }
    // All features in lanes, see DrawnSplitterOf; false if a value is missing.
    FASTTREE_INLINE bool find_in_lanes(const GrowthRules& rules, KeyedSampler& sampler, Acc& acc,
                                       Waiting& node, Question& best) {
        uint32_t own[Lanes::ROWS + ROW_PADDING];
        const uint32_t n = n_rows_of(node.rows);
        Lanes::pick(places_, node.rows, own);
        uint64_t varies, sides;
        if (!lanes_.begin(own, n, varies)) return false;
        const uint64_t features = lanes_.visit(sampler, node.key, node.n_known, varies);
        if (features == 0) return true;
        if (n == 2) {
            best.feature = static_cast<uint32_t>(lowest_bit(features));
            ask_pair(sampler, node, lanes_.cell(0, best.feature), lanes_.cell(1, best.feature),
                     best);
            return true;
        }
        Candidate candidate;
        best.feature = lanes_.find_best(acc, node.key, sides_.hold(acc, node.rows), features,
                                        rules.least_rows(), candidate);
        if (best.feature == NO_FEATURE) return true;
        best.has_missing = false;
        best.threshold = lanes_.take(best.feature, &sides);
        best.left = Lanes::spread(static_cast<Mask>(sides), node.rows);
        return true;
    }
};

}  // namespace fasttree
