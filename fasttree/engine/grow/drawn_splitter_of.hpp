// The drawn splitter of an accumulator.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/columns/code_rows.hpp"
#include "engine/columns/gathered_bits.hpp"
#include "engine/columns/gathered_cells.hpp"
#include "engine/core/cost_model.hpp"
#include "engine/core/impurity.hpp"
#include "engine/grow/drawn_block.hpp"
#include "engine/grow/drawn_lanes.hpp"
#include "engine/grow/drawn_splitter.hpp"
#include "engine/scan/drawn_question.hpp"
#include "engine/scan/scan.hpp"
#include "engine/score/side_cells.hpp"
#include "engine/simd/float_up_to.hpp"
#include "engine/simd/gather.hpp"
#include "engine/simd/sides.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

template <class Acc>
class DrawnSplitterOf final : public DrawnSplitter {
    using Side = SideCells<Acc>;
    using Cell = typename Acc::Cell;
    // A question and the sides it sends rows to.
    struct Drawn {
        Split split;
        AlignedBuffer<uint64_t> sides;
        std::vector<Cell> left;  // cell of the rows on the left
    };

    ScannerOf<Acc>& scanner_;
    Acc& acc_;
    const Simd simd_;
    Side side_;
    DenseSample* sample_ = nullptr;
    GatheredCells cells_;               // of the feature looked at, or
    AlignedBuffer<uint8_t> codes_;      // where they are few
    GatheredGroups groups_;             // or where they are read by groups of columns
    GatheredBits bits_;                 // or where they are two
    AlignedBuffer<uint32_t> scratch_;   // rows or entries
    Drawn two_[2];
    Drawn *drawn_ = &two_[0], *best_ = &two_[1];
    std::vector<Cell> node_;            // cell of the node held
    uint32_t held_start_ = 0, held_end_ = 0;  // the node that the accumulator holds
    uint32_t* rows_ = nullptr;          // of the node, ascending
    uint32_t n_ = 0;
    DrawnLanes<Acc> lanes_;
    DrawnBlock<Acc, SIMD_PORTABLE> block_{lanes_};
    DrawnBlock<Acc, SIMD_AVX2> avx2_block_{lanes_};
    DrawnBlock<Acc, SIMD_AVX512> avx512_block_{lanes_};

public:
    DrawnSplitterOf(ScannerOf<Acc>& scanner, Simd simd)
        : scanner_(scanner), acc_(scanner.accumulator()), simd_(simd) {}

    void open(DenseSample& sample, const Node& root, uint32_t n_looked) override {
        const DenseColumns& data = sample.data;
        sample_ = &sample;
        cells_.open(data, simd_, root.size(), n_looked);
        codes_.reserve(root.size());
        const uint32_t n_features = static_cast<uint32_t>(data.columns.size());
        groups_.open(data.code_rows, root.size(),
                     picking_columns_pays(data.code_rows.n_groups(), n_looked, n_features));
        bits_.open(data.drawn_bits.rows(), root.size());
        scratch_.reserve_filled(root.size() + SIDE_PADDING);
        drawn_->sides.reserve(n_words(root.size()));
        best_->sides.reserve(n_words(root.size()));
        held_start_ = held_end_ = 0;
        lanes_.open(data, simd_);
        visit_block([&](auto& block) { block.open(data); });
        if constexpr (Side::exists) {
            for (std::vector<Cell>* cell : {&node_, &drawn_->left, &best_->left}) {
                cell->resize(acc_.cell_size());
            }
            side_.open(acc_, sample.rows.data(), root.start, root.end);
        }
    }

    bool split(const GrowthRules& rules, FeatureSampler& sampler, Open& open) override {
        begin_node(open.node);
        const bool found = sampler.visit([&](auto& features) {
            if constexpr (is_keyed<decltype(features)>()) {
                return find_keyed(rules, features, open.node);
            } else {
                return find_split(rules, features, open.node);
            }
        });
        if (!found) return false;
        divide(rules, open);
        open.split = std::move(best_->split);
        return true;
    }

    bool grow(const GrowthRules& rules, FeatureSampler& sampler, const Node& node,
              NodeStore& store) override {
        return visit_block([&](auto& block) {
            return block.takes(rules, node, sampler.max_features())
                && grow_in(block, rules, sampler, node, store);
        });
    }

private:
    // That of the instruction set.
    template <class Use>
    auto visit_block(const Use& use) {
        if (simd_ == SIMD_AVX512) return use(avx512_block_);
        if (simd_ == SIMD_AVX2) return use(avx2_block_);
        return use(block_);
    }
    template <class Block>
    bool grow_in(Block& block, const GrowthRules& rules, FeatureSampler& sampler, const Node& node,
                 NodeStore& store) {
        return sampler.visit([&](auto& features) {
            if constexpr (is_keyed<decltype(features)>() && Block::exists) {
                if (!acc_.go_on(acc_.work(node.size()) * features.max_features())) return false;
                held_start_ = held_end_ = 0;  // the accumulator is the block's now
                block.grow(rules, features, acc_, *sample_, node, side_.at(node.start), store);
                return true;
            }
            return false;
        });
    }
    void begin_node(const Node& node) {
        rows_ = sample_->rows.data() + node.start;
        n_ = node.size();
        cells_.begin();
        groups_.begin();
        bits_.begin();
        if (node.start == held_start_ && node.end == held_end_) return;
        held_start_ = node.start;
        held_end_ = node.end;
        if constexpr (Side::exists) {
            side_.fill(acc_, node.start, n_, nullptr, n_, node_.data());
            acc_.begin_cell(node_.data());
        } else {
            acc_.begin_node(rows_, n_);
        }
    }

    // What find_split finds, in less time where it can be: draws depend on nothing but keys.
    template <class Sampler>
    static constexpr bool is_keyed() {
        return std::is_same_v<std::decay_t<Sampler>, KeyedSampler>;
    }
    bool find_keyed(const GrowthRules& rules, KeyedSampler& sampler, Node& node) {
        if (!rules.monotonic_cst && rules.min_weight_leaf <= 0.0) {
            if constexpr (LaneCounts<Acc>::exists) {
                if (lanes_.pay(node, sampler.max_features())) {
                    return find_in_lanes(rules, sampler, node);
                }
            }
            if (n_ == 2) return find_pair(rules, sampler, node);
        }
        return find_split(rules, sampler, node);
    }
    // Two rows are separated by any threshold in the same way: of the features that tell them apart
    // the lowest wins the tie.
    bool find_pair(const GrowthRules& rules, KeyedSampler& sampler, Node& node) {
        uint32_t found = NO_FEATURE;
        bool is_missing = false;
        const uint32_t n_known = sampler.visit(node.key, node.n_known, [&](uint32_t f) {
            const ColumnCells cells = sample_->data.cells_of(f);
            const float a = cells[rows_[0]], b = cells[rows_[1]];
            is_missing |= std::isunordered(a, b);
            if (a == b) return false;
            found = std::min(found, f);
            return true;
        });
        if (is_missing) return find_split(rules, sampler, node);
        node.n_known = n_known;
        best_->split.feature = NO_FEATURE;
        best_->split.score = MINUS_INFINITY;
        if (found == NO_FEATURE || !acc_.go_on(acc_.work(n_))) return false;
        look(rules, sampler, node, found);
        return best_->split.feature != NO_FEATURE;
    }
    // All features in lanes, as find_split looks at them one by one.
    bool find_in_lanes(const GrowthRules& rules, KeyedSampler& sampler, Node& node) {
        best_->split.feature = NO_FEATURE;
        if (!acc_.go_on(acc_.work(n_) * sampler.max_features())) return false;
        uint64_t varies;
        if (!lanes_.begin(*sample_, node, varies)) return find_split(rules, sampler, node);
        uint64_t features = lanes_.visit(sampler, node.key, node.n_known, varies);
        if (n_ == 2) features &= ~features + 1;  // the lowest, see find_pair
        Candidate best;
        const uint32_t found = lanes_.find_best(acc_, node.key, side_.at(node.start), features,
                                                rules.least_rows(), best);
        if (found == NO_FEATURE) return false;
        Split& split = best_->split;
        split.question = THRESHOLD;
        split.has_missing = split.missing_left = false;
        split.threshold = lanes_.take(found, best_->sides.get());
        lanes_.take_cell(acc_, found, best_->left.data());
        settle_drawn(best, found, n_, split);
        return true;
    }

    // The best of the questions drawn about the features that the sampler names.
    template <class Sampler>
    bool find_split(const GrowthRules& rules, Sampler& sampler, Node& node) {
        best_->split.feature = NO_FEATURE;
        best_->split.score = MINUS_INFINITY;
        // In ascending order, no later feature can beat or tie-break a perfect split.
        const double perfect =
            sampler.is_ascending() ? acc_.perfect_score(rows_, n_) : INFINITE;
        const uint64_t work = acc_.work(n_);
        // Two rows can be separated in one way only: a feature after the best ties with it.
        const bool is_settled_by_one = n_ == 2 && !rules.monotonic_cst && !rules.ties.replay;
        sampler.begin(node.key, node.n_known);
        for (uint32_t f = sampler.next(); f != NO_FEATURE; f = sampler.next()) {
            const uint32_t found = best_->split.feature;
            if (is_settled_by_one && found != NO_FEATURE && f > found) continue;
            if (!acc_.go_on(work)) {
                best_->split.feature = NO_FEATURE;
                break;
            }
            if (!look(rules, sampler, node, f)) sampler.found_constant();
            if (best_->split.score >= perfect) break;
        }
        node.n_known = sampler.end();
        return best_->split.feature != NO_FEATURE;
    }

    // False if the feature is constant in the node.
    template <class Sampler>
    bool look(const GrowthRules& rules, Sampler& sampler, const Node& node, uint32_t feature) {
        Limits limits = rules.limits_of(node, feature);
        limits.is_drawn = true;
        const Column& column = sample_->data.columns[feature];
        uint32_t n_left = 0;
        const bool varies =
            column.is_bit ? look_at_bits(sampler, node, feature, limits, n_left)
            : column.has_codes_of_rows() ? look_at_codes(sampler, node, feature, limits, n_left)
                                         : look_at_cells(sampler, node, feature, limits, n_left);
        if (!varies) return false;
        Split& drawn = drawn_->split;
        Candidate candidate;
        candidate.score = rules.ties.to_beat(best_->split.score, best_->split.feature, feature);
        if (n_left > 0 && n_left < n_ && consider(node, n_left, limits, candidate)) {
            settle_drawn(candidate, feature, n_, drawn);
            std::swap(drawn_, best_);
        }
        return true;
    }
    // Draw a question and its sides.
    template <class Sampler>
    bool look_at_cells(Sampler& sampler, const Node& node, uint32_t feature, const Limits& limits,
                       uint32_t& n_left) {
        const GatheredCells::Cells cells = cells_.take(sampler, feature, rows_, n_);
        Split& drawn = drawn_->split;
        const bool varies = sample_->data.columns[feature].has_categories()
            ? draw_on_categories(sampler, node, feature, cells.of_rows, limits,
                                 [&] { return cells.extremes; }, drawn)
            : draw_threshold(sampler, node, feature, cells.extremes, limits.replay, drawn);
        if (varies) n_left = mark(drawn, cells.of_rows);
        return varies;
    }
    template <class Sampler>
    bool look_at_codes(Sampler& sampler, const Node& node, uint32_t feature, const Limits& limits,
                       uint32_t& n_left) {
        const Column& column = sample_->data.columns[feature];
        const float* values = column.values.data();
        const uint8_t* codes = codes_.get();
        CodeExtremes extremes;
        if (column.is_grouped) {
            const auto taken =
                groups_.take(simd_, sample_->data.code_rows, rows_, n_, column.slot,
                             [&](const auto& use) { list_groups_ahead(sampler, use); });
            codes = taken.of_rows;
            extremes = taken.extremes;
        } else {
            extremes = gather_codes(simd_, column.narrow.get(), rows_, n_, codes_.get());
        }
        Split& drawn = drawn_->split;
        if (!draw_threshold(sampler, node, feature,
                            {values[extremes.low], values[extremes.high], 0}, limits.replay,
                            drawn)) {
            return false;
        }
        // The highest code's value is above the threshold.
        const uint32_t n_below = count_up_to(values + extremes.low, extremes.high - extremes.low,
                                             float_up_to(drawn.threshold));
        n_left = mark_codes(simd_, codes, n_, static_cast<uint8_t>(extremes.low + n_below - 1),
                            drawn_->sides.get());
        return true;
    }

    // Calls use(slot) of each column of a group that the node will look at next.
    template <class Sampler, class Use>
    void list_groups_ahead(const Sampler& sampler, const Use& use) const {
        sampler.visit_ahead([&](uint32_t f) {
            const Column& column = sample_->data.columns[f];
            if (column.is_grouped) use(column.slot);
        });
    }

    // Any threshold between two values sends the rows of the lower one left.
    template <class Sampler>
    bool look_at_bits(Sampler& sampler, const Node& node, uint32_t feature, const Limits& limits,
                      uint32_t& n_left) {
        const Column& column = sample_->data.columns[feature];
        const uint64_t* const is_high =
            bits_.take(simd_, sample_->data.drawn_bits.rows(), rows_, n_, column.slot);
        n_left = mark_zeros(simd_, is_high, n_, drawn_->sides.get());
        const float low = column.values[n_left > 0 ? 0 : 1], high = column.values[n_left < n_];
        return draw_threshold(sampler, node, feature, {low, high, 0}, limits.replay,
                              drawn_->split);
    }

    // Sides of the rows by the question drawn; returns how many go left.
    uint32_t mark(const Split& drawn, const float* cells) {
        if (drawn.question == THRESHOLD) {
            return mark_sides(simd_, cells, n_, float_up_to(drawn.threshold),
                              drawn.missing_left, drawn_->sides.get());
        }
        uint32_t n_left = 0;
        std::fill_n(drawn_->sides.get(), n_words(n_), 0);
        for (uint32_t i = 0; i < n_; ++i) {
            const bool is_left = drawn.goes_left(cells[i]);
            drawn_->sides[i / WORD_BITS] |= uint64_t{is_left} << i % WORD_BITS;
            n_left += is_left;
        }
        return n_left;
    }

    // Whether the sides drawn are admissible and score more than the candidate, which they become.
    bool consider(const Node& node, uint32_t n_left, const Limits& limits, Candidate& candidate) {
        if constexpr (Side::exists) {
            if (!scanner_.fills_leaves(n_, n_left, limits)) return false;
            side_.fill(acc_, node.start, n_, drawn_->sides.get(), n_left, drawn_->left.data());
            acc_.reset();
            acc_.add_cell(drawn_->left.data());
            return scanner_.consider_sides(n_left, limits, candidate);
        } else {
            const Runs runs{list_sides(drawn_->sides.get(), n_left), n_, 0, {}};
            return scanner_.scan_sides(runs, n_left, limits, candidate);
        }
    }
    // The rows on the left, then those on the right.
    const uint32_t* list_sides(const uint64_t* left, uint32_t n_left) {
        uint32_t* entries = scratch_.get();
        uint32_t l = 0, r = n_left;
        for (uint32_t i = 0; i < n_; ++i) {
            const bool is_left = left[i / WORD_BITS] >> i % WORD_BITS & 1;
            entries[is_left ? l : r] = rows_[i];
            l += is_left;
            r += !is_left;
        }
        entries[n_left] |= BOUNDARY;
        return entries;
    }

    void divide(const GrowthRules& rules, Open& open) {
        const Node& node = open.node;
        const Split& split = best_->split;
        const uint32_t n_left = split.n_left;
        divide_items(simd_, rows_, n_, best_->sides.get(), scratch_.get());
        lanes_.divide(node, best_->sides.get());
        if constexpr (Side::exists) {
            side_.divide(simd_, node.start, n_, best_->sides.get());
            for (size_t i = 0; i < node_.size(); ++i) node_[i] -= best_->left[i];
        }
        rules.make_children(node, split, node.start + n_left, open.left, open.right);
        take_stats(rules, node_, open.right, open.right_value);
        // Last: it is split next.
        std::swap(node_, best_->left);
        take_stats(rules, node_, open.left, open.left_value);
        held_start_ = open.left.start;
        held_end_ = open.left.end;
    }
    void take_stats(const GrowthRules& rules, const std::vector<Cell>& cell, Node& node,
                    std::vector<double>& value) {
        const uint32_t* rows = sample_->rows.data() + node.start;
        if constexpr (Side::exists) acc_.begin_cell(cell.data());
        else acc_.begin_node(rows, node.size());
        acc_.node_stats(rows, node.size(), node.stats);
        acc_.node_value(value.data());
        rules.clip(node, value);
    }
};

}  // namespace fasttree
