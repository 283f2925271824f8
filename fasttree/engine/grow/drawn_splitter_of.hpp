// The drawn splitter of an accumulator.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/columns/code_rows.hpp"
#include "engine/columns/gathered_bits.hpp"
#include "engine/columns/gathered_cells.hpp"
#include "engine/core/cost_model.hpp"
#include "engine/core/impurity.hpp"
#include "engine/core/sampler.hpp"
#include "engine/grow/depth_first.hpp"
#include "engine/grow/drawn_block.hpp"
#include "engine/grow/drawn_lanes.hpp"
#include "engine/grow/drawn_numbers.hpp"
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
class DrawnSplitterOf final : public DepthFirstSplitter<DrawnSplitterOf<Acc>, DrawnSplitter> {
    using Side = SideCells<Acc>;
    using Cell = typename Acc::Cell;
    // A question and the sides it sends rows to.
    struct Drawn {
        Split split;
        AlignedBuffer<uint64_t> sides;
        std::vector<Cell> left;  // cell of the rows on the left
    };
    struct Known : KnownRows {
        std::vector<Cell> cell;  // if there are cells
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
    Known held_;                        // the node that the accumulator holds
    Known before_;                      // the one that it held before
    std::vector<Known> right_;          // right children; those that
    size_t n_waiting_ = 0;              // were not held yet are the first ones
    uint32_t* rows_ = nullptr;          // of the node, ascending
    uint32_t n_ = 0;
    DrawnNumbers<Acc> numbers_;
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
        held_.forget();
        before_.forget();
        n_waiting_ = 0;
        lanes_.open(data, simd_);
        numbers_.open(data, simd_, n_looked, acc_);
        visit_block([&](auto& block) { block.open(data); });
        if constexpr (Side::exists) {
            for (std::vector<Cell>* cell :
                 {&held_.cell, &before_.cell, &drawn_->left, &best_->left}) {
                cell->resize(acc_.cell_size());
            }
            side_.open(acc_, sample.rows.data(), root.start, root.end);
        }
    }

    // ---- see depth_first.hpp

    const DenseColumns& data() const { return sample_->data; }
    void begin(const Node& node) {
        rows_ = sample_->rows.data() + node.start;
        n_ = node.size();
        cells_.begin();
        groups_.begin();
        bits_.begin();
        if (held_.are_of(node)) return;
        std::swap(held_, before_);
        if constexpr (Side::exists) {
            if (n_waiting_ > 0 && right_[n_waiting_ - 1].are_of(node)) {
                std::swap(held_, right_[--n_waiting_]);
            } else if (!held_.are_of(node)) {
                side_.fill(acc_, node.start, n_, nullptr, n_, held_.cell.data());
            }
        }
        hold(node);
    }
    void take(Node& node, double* value) {
        begin(node);
        acc_.node_stats(rows_, n_, node.stats);
        acc_.node_value(value);
    }
    bool grow_in_block(const GrowthRules& rules, KeyedSampler& sampler, const Node& node,
                       uint32_t id, NodesBelow& below) {
        if constexpr (Side::exists) {
            return visit_block([&](auto& block) {
                if constexpr (std::decay_t<decltype(block)>::exists) {
                    if (!block.takes(rules, node, sampler.max_features())) return false;
                    if (acc_.go_on(acc_.work(node.size()) * sampler.max_features())) {
                        block.grow(rules, sampler, acc_, *sample_, node, side_.at(node.start), id,
                                   below);
                    }
                    held_.forget();  // the accumulator was the block's
                    return true;
                }
                return false;
            });
        }
        return false;
    }
    template <class Sampler>
    Split* split(const GrowthRules& rules, Sampler& sampler, Node& node, Node& left,
                 Node& right) {
        begin(node);
        if (!find(rules, sampler, node)) return nullptr;
        divide(rules, node, left, right);
        return &best_->split;
    }

private:
    // That of the instruction set.
    template <class Use>
    auto visit_block(const Use& use) {
        if (simd_ == SIMD_AVX512) return use(avx512_block_);
        if (simd_ == SIMD_AVX2) return use(avx2_block_);
        return use(block_);
    }
    void hold(const Node& node) {
        held_.become(node);
        if constexpr (Side::exists) acc_.begin_cell(held_.cell.data());
        else acc_.begin_node(sample_->rows.data() + node.start, node.size());
    }

    bool find(const GrowthRules& rules, SklearnSampler& sampler, Node& node) {
        return find_split(rules, sampler, node);
    }
    // What find_split finds, in less time where it can be: draws depend on nothing but keys.
    bool find(const GrowthRules& rules, KeyedSampler& sampler, Node& node) {
        if (!rules.monotonic_cst && rules.min_weight_leaf <= 0.0) {
            if constexpr (LaneCounts<Acc>::exists) {
                if (lanes_.pay(node, sampler.max_features())) {
                    return find_in_lanes(rules, sampler, node);
                }
            }
            if (n_ == 2) return find_pair(rules, sampler, node);
            if constexpr (DrawnNumbers<Acc>::exists) {
                if (numbers_.takes(n_)) return find_in_turn(rules, sampler, node);
            }
        }
        return find_split(rules, sampler, node);
    }
    // Two rows are separated by any threshold in the same way: of the features that tell them apart
    // the lowest wins the tie.
    bool find_pair(const GrowthRules& rules, KeyedSampler& sampler, Node& node) {
        uint32_t found = NO_FEATURE;
        bool is_missing = false;
        const uint32_t n_known = sampler.visit(node.key, node.n_known, [&](uint32_t f) {
            const ColumnCells cells = data().cells_of(f);
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
    // All features a step at a time, as find_split looks at them one by one.
    bool find_in_turn(const GrowthRules& rules, KeyedSampler& sampler, Node& node) {
        best_->split.feature = NO_FEATURE;
        if (!acc_.go_on(acc_.work(n_) * sampler.max_features())) return false;
        if (!numbers_.read(sampler, rows_, node)) return find_split(rules, sampler, node);
        numbers_.ask(sampler, node);
        Candidate best;
        const auto* const found = numbers_.find_best(rules, acc_, side_, node, best);
        if (found == nullptr) return false;
        std::copy_n(numbers_.sides(found), n_words(n_), best_->sides.get());
        std::copy_n(numbers_.left(found), best_->left.size(), best_->left.data());
        take_number(best, found->feature, found->threshold);
        return true;
    }
    // Makes a question about a number the best, of a node without missing values.
    void take_number(const Candidate& best, uint32_t feature, double threshold) {
        Split& split = best_->split;
        split.question = THRESHOLD;
        split.has_missing = split.missing_left = false;
        split.threshold = threshold;
        settle_drawn(best, feature, n_, split);
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
        const double threshold = lanes_.take(found, best_->sides.get());
        lanes_.take_cell(acc_, found, best_->left.data());
        take_number(best, found, threshold);
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
        const Column& column = data().columns[feature];
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
        const bool varies = data().columns[feature].has_categories()
            ? draw_on_categories(sampler, node, feature, cells.of_rows, limits,
                                 [&] { return cells.extremes; }, drawn)
            : draw_threshold(sampler, node, feature, cells.extremes, limits.replay, drawn);
        if (varies) n_left = mark(drawn, cells.of_rows);
        return varies;
    }
    template <class Sampler>
    bool look_at_codes(Sampler& sampler, const Node& node, uint32_t feature, const Limits& limits,
                       uint32_t& n_left) {
        const Column& column = data().columns[feature];
        const float* values = column.values.data();
        const uint8_t* codes = codes_.get();
        CodeExtremes extremes;
        if (column.is_grouped) {
            const auto taken =
                groups_.take(simd_, data().code_rows, rows_, n_, column.slot,
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
            const Column& column = data().columns[f];
            if (column.is_grouped) use(column.slot);
        });
    }

    // Any threshold between two values sends the rows of the lower one left.
    template <class Sampler>
    bool look_at_bits(Sampler& sampler, const Node& node, uint32_t feature, const Limits& limits,
                      uint32_t& n_left) {
        const Column& column = data().columns[feature];
        const uint64_t* const is_high =
            bits_.take(simd_, data().drawn_bits.rows(), rows_, n_, column.slot);
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

    void divide(const GrowthRules& rules, const Node& node, Node& left, Node& right) {
        const Split& split = best_->split;
        const uint64_t* const sides = best_->sides.get();
        divide_items(simd_, rows_, n_, sides, scratch_.get());
        lanes_.divide(node, sides);
        rules.make_children(node, split, node.start + split.n_left, left, right);
        if constexpr (Side::exists) {
            side_.divide(simd_, node.start, n_, sides);
            for (size_t i = 0; i < held_.cell.size(); ++i) held_.cell[i] -= best_->left[i];
            put_right(right);
            hold(left);
        }
    }
    // Keeps the cell held, which is that of a right child; that of the left one takes its place.
    void put_right(const Node& right) {
        if (n_waiting_ == right_.size()) right_.push_back(held_);
        std::swap(held_, right_[n_waiting_]);
        right_[n_waiting_++].become(right);
        std::swap(held_.cell, best_->left);
    }
};

}  // namespace fasttree
