// The drawn splitter of an accumulator.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/grow/drawn_splitter.hpp"
#include "engine/scan/drawn_question.hpp"
#include "engine/scan/scan.hpp"
#include "engine/score/lane_counts.hpp"
#include "engine/score/side_cells.hpp"
#include "engine/simd/gather.hpp"
#include "engine/simd/lane_draws.hpp"
#include "engine/simd/sides.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

template <class Acc>
class DrawnSplitterOf final : public DrawnSplitter {
    using Side = SideCells<Acc>;
    using Lane = LaneCounts<Acc>;
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
    Simd gather_simd_ = SIMD_PORTABLE;
    AlignedBuffer<float> cells_;        // of the feature looked at, or
    AlignedBuffer<uint8_t> codes_;      // where they are few
    AlignedBuffer<uint32_t> scratch_;   // rows or entries
    Drawn two_[2];
    Drawn *drawn_ = &two_[0], *best_ = &two_[1];
    std::vector<Cell> node_;            // cell of the node held
    uint32_t held_start_ = 0, held_end_ = 0;  // the node that the accumulator holds
    uint32_t* rows_ = nullptr;          // of the node, ascending
    uint32_t n_ = 0;
    std::vector<LaneDraws> lanes_;      // of 16 features each; empty: features do not fit lanes
    Lane lane_counts_;

public:
    DrawnSplitterOf(ScannerOf<Acc>& scanner, Simd simd)
        : scanner_(scanner), acc_(scanner.accumulator()), simd_(simd) {}

    void open(DenseSample& sample, const Node& root) override {
        const DenseColumns& data = sample.data;
        sample_ = &sample;
        gather_simd_ = offsets_fit(data.n_rows, data.row_stride) ? simd_ : SIMD_PORTABLE;
        cells_.reserve(root.size());
        codes_.reserve(root.size());
        scratch_.reserve(root.size() + SIDE_PADDING);
        drawn_->sides.reserve(n_words(root.size()));
        best_->sides.reserve(n_words(root.size()));
        held_start_ = held_end_ = 0;
        open_lanes(data);
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
            if constexpr (has_lanes<decltype(features)>()) {
                if (in_lanes(rules, features)) return find_in_lanes(rules, features, open.node);
            }
            return find_split(rules, features, open.node);
        });
        if (!found) return false;
        divide(rules, open);
        open.split = std::move(best_->split);
        return true;
    }

private:
    // Lanes hold numbers that lie one after the other in a row of X.
    void open_lanes(const DenseColumns& data) {
        constexpr uint32_t MOST_FEATURES = 64;
        const uint32_t n_features = static_cast<uint32_t>(data.columns.size());
        const bool fits = simd_ == SIMD_AVX512 && data.column_stride == 1
            && n_features <= MOST_FEATURES
            && std::none_of(data.columns.begin(), data.columns.end(),
                            [](const Column& column) { return column.has_categories(); });
        lanes_.resize(fits ? (n_features + LANES - 1) / LANES : 0);
    }

    void begin_node(const Node& node) {
        rows_ = sample_->rows.data() + node.start;
        n_ = node.size();
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

    // All features in lanes, as find_split looks at them one by one.
    template <class Sampler>
    static constexpr bool has_lanes() {
        return Lane::exists && std::is_same_v<std::decay_t<Sampler>, KeyedSampler>;
    }
    // Lanes look at all features, which pays if the node does too, or has few rows.
    bool in_lanes(const GrowthRules& rules, const KeyedSampler& sampler) const {
        constexpr uint32_t FEW_ROWS = 16, FEW_VECTORS = 2;
        const bool pays =
            sampler.is_ascending() || (n_ <= FEW_ROWS && lanes_.size() <= FEW_VECTORS);
        return pays && !lanes_.empty() && !rules.monotonic_cst && rules.min_weight_leaf <= 0.0;
    }
    bool find_in_lanes(const GrowthRules& rules, KeyedSampler& sampler, Node& node) {
        best_->split.feature = NO_FEATURE;
        if (!acc_.go_on(acc_.work(n_) * lanes_.size())) return false;
        uint64_t varies = 0;
        for (uint32_t v = 0; v < lanes_.size(); ++v) {
            find_extremes(first_cell(v), row_stride(), n_lanes(v), rows_, n_, lanes_[v]);
            if (lanes_[v].missing) return find_split(rules, sampler, node);
            varies |= uint64_t{lanes_[v].varies} << v * LANES;
        }
        uint64_t features = 0;
        sampler.begin(node.key, node.n_known);
        for (uint32_t f = sampler.next(); f != NO_FEATURE; f = sampler.next()) {
            if (varies >> f & 1) features |= uint64_t{1} << f;
            else sampler.found_constant();
        }
        node.n_known = sampler.end();
        Candidate best;
        best.score = MINUS_INFINITY;
        best.middle = 0.0;
        uint32_t found = NO_FEATURE;
        for (uint32_t v = 0; v < lanes_.size(); ++v) {
            const uint32_t lanes = features >> v * LANES & low_bits(LANES);
            if (lanes == 0) continue;
            count_lanes(node, v);
            const uint32_t lane = best_lane(rules, lanes, lanes_[v], best);
            if (lane < LANES) found = v * LANES + lane;
        }
        if (found != NO_FEATURE) take_lane(node, found, best);
        return found != NO_FEATURE;
    }
    void count_lanes(const Node& node, uint32_t v) {
        constexpr uint32_t CHUNK = 1024;
        uint16_t left[CHUNK];
        draw_lanes(node.key, v * LANES, lanes_[v]);
        lane_counts_.begin(acc_);
        for (uint32_t i = 0; i < n_; i += CHUNK) {
            const uint32_t n = std::min(n_ - i, CHUNK);
            mark_lanes(first_cell(v), row_stride(), n_lanes(v), rows_ + i, n, lanes_[v], left);
            lane_counts_.count(side_.at(node.start + i), n, left);
        }
        lane_counts_.end();
    }
    // The first lane of the best score above that of the candidate; LANES if there is none.
    uint32_t best_lane(const GrowthRules& rules, uint32_t lanes, const LaneDraws& draws,
                       Candidate& best) {
        const uint32_t leaf = static_cast<uint32_t>(std::max<int64_t>(rules.min_samples_leaf, 1));
        uint32_t found = LANES;
        for (; lanes != 0; lanes &= lanes - 1) {
            const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(lanes));
            const uint32_t n_left = static_cast<uint32_t>(draws.n_left[lane]);
            if (n_left < leaf || n_ - n_left < leaf) continue;
            acc_.w_left = n_left;
            lane_counts_.place(acc_, lane);
            if (!acc_.may_beat(best.score)) continue;
            const double score = acc_.score();
            if (!(score > best.score)) continue;
            best.score = score;
            best.n_left = n_left;
            found = lane;
        }
        return found;
    }
    void take_lane(const Node& node, uint32_t feature, const Candidate& candidate) {
        Split& split = best_->split;
        split.question = THRESHOLD;
        split.has_missing = split.missing_left = false;
        split.threshold = lanes_[feature / LANES].thresholds[feature % LANES];
        settle_drawn(candidate, feature, n_, split);
        gather(gather_simd_, sample_->data.column(feature), row_stride(), rows_, n_, cells_.get());
        mark_sides(simd_, cells_.get(), n_, at_most(split.threshold), false, best_->sides.get());
        side_.fill(acc_, node.start, n_, best_->sides.get(), split.n_left, best_->left.data());
    }
    const float* first_cell(uint32_t v) const { return sample_->data.column(v * LANES); }
    ptrdiff_t row_stride() const { return sample_->data.row_stride; }
    uint32_t n_lanes(uint32_t v) const {
        return std::min(static_cast<uint32_t>(sample_->data.columns.size()) - v * LANES, LANES);
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
        if (!(column.narrow.get() ? look_at_codes(sampler, node, feature, limits, n_left)
                                  : look_at_cells(sampler, node, feature, limits, n_left))) {
            return false;
        }
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
        const DenseColumns& data = sample_->data;
        const Extremes extremes = gather(gather_simd_, data.column(feature), data.row_stride, rows_,
                                         n_, cells_.get());
        Split& drawn = drawn_->split;
        const bool varies = data.columns[feature].has_categories()
            ? draw_on_categories(sampler, node, feature, cells_.get(), limits,
                                 [&] { return extremes; }, drawn)
            : draw_threshold(sampler, node, feature, extremes, limits.replay, drawn);
        if (varies) n_left = mark(drawn);
        return varies;
    }
    template <class Sampler>
    bool look_at_codes(Sampler& sampler, const Node& node, uint32_t feature, const Limits& limits,
                       uint32_t& n_left) {
        const Column& column = sample_->data.columns[feature];
        const float* values = column.values.data();
        const CodeExtremes extremes =
            gather_codes(simd_, column.narrow.get(), rows_, n_, codes_.get());
        Split& drawn = drawn_->split;
        if (!draw_threshold(sampler, node, feature,
                            {values[extremes.low], values[extremes.high], 0}, limits.replay,
                            drawn)) {
            return false;
        }
        // The highest code's value is above the threshold.
        const float* above = std::upper_bound(values + extremes.low, values + extremes.high,
                                              at_most(drawn.threshold));
        n_left = mark_codes(simd_, codes_.get(), n_, static_cast<uint8_t>(above - values - 1),
                            drawn_->sides.get());
        return true;
    }

    // Sides of the rows by the question drawn; returns how many go left.
    uint32_t mark(const Split& drawn) {
        if (drawn.question == THRESHOLD) {
            return mark_sides(simd_, cells_.get(), n_, at_most(drawn.threshold),
                              drawn.missing_left, drawn_->sides.get());
        }
        uint32_t n_left = 0;
        std::fill_n(drawn_->sides.get(), n_words(n_), 0);
        for (uint32_t i = 0; i < n_; ++i) {
            const bool is_left = drawn.goes_left(cells_[i]);
            drawn_->sides[i / WORD_BITS] |= uint64_t{is_left} << i % WORD_BITS;
            n_left += is_left;
        }
        return n_left;
    }
    // The largest float that is not above the threshold: the same values are up to both.
    static float at_most(double threshold) {
        const float nearest = static_cast<float>(threshold);
        if (static_cast<double>(nearest) <= threshold) return nearest;
        return std::nextafter(nearest, -std::numeric_limits<float>::infinity());
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
            const Runs runs{list_sides(drawn_->sides.get(), n_left), n_, 0, nullptr, 0};
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
