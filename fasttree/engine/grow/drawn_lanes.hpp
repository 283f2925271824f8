// A node's questions about all features at once, a lane per feature.
//
// Where a question about each feature is drawn, or rows are few, looking at all features in vectors
// costs less than looking at some of them one by one. Vectors read X where its rows lie in one
// stretch, or a packed copy of the rows of a small subtree.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/cost_model.hpp"
#include "engine/core/impurity.hpp"
#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/order/packed_rows.hpp"
#include "engine/order/sample.hpp"
#include "engine/score/lane_counts.hpp"
#include "engine/simd/lane_draws.hpp"

namespace fasttree {

template <class Acc>
class DrawnLanes {
    static constexpr uint32_t MOST_FEATURES = 64;  // a bit each
    static constexpr uint32_t MARKS = 4096;        // rows times vectors whose sides are kept
    struct Vector {
        LaneDraws draws;
        LaneCounts<Acc> counts;
    };
    const DenseColumns* data_ = nullptr;
    Simd simd_ = SIMD_PORTABLE;
    PackedRows packed_;
    std::vector<Vector> vectors_;  // of 16 features each; empty: features do not fit lanes
    uint32_t n_filled_ = 0;        // vectors of the instruction set that a row fills
    uint16_t marks_[MARKS];        // lanes in which a row goes left, vector by vector

    // The node looked at: cells of row rows_[i] begin at X_[rows_[i] * stride_].
    const float* X_ = nullptr;
    ptrdiff_t stride_ = 0;
    const uint32_t* rows_ = nullptr;
    uint32_t n_ = 0;

public:
    void open(const DenseColumns& data, Simd simd) {
        const uint32_t n_features = static_cast<uint32_t>(data.columns.size());
        const bool fits = LaneCounts<Acc>::exists && simd != SIMD_PORTABLE
            && n_features <= MOST_FEATURES && !data.has_categories();
        data_ = &data;
        simd_ = simd;
        vectors_.resize(fits ? (n_features + LANES - 1) / LANES : 0);
        const uint32_t width = are_wide() ? LANES : LANES / 2;
        n_filled_ = fits ? (n_features + width - 1) / width : 0;
        for (uint32_t v = 0; v < vectors_.size(); ++v) vectors_[v].counts.open(simd, n_lanes(v));
        packed_.open(n_features);
    }

    // Whether lanes pay in a node that looks at so many features.
    bool pay(const Node& node, uint32_t n_looked) const {
        if (n_filled_ == 0 || !lanes_pay(node.size(), n_filled_, n_looked)) return false;
        return reads_X() || (packed_.have_room(node.size()) && packing_pays(n_filled_, n_looked));
    }

    bool pay_in_block(uint32_t n_looked) const {
        return n_filled_ > 0 && lanes_pay_in_block(n_filled_, n_looked, are_wide());
    }

    // Begins a node; `varies` gets the features that are not constant. False if values are missing.
    bool begin(const DenseSample& sample, const Node& node, uint64_t& varies) {
        take_rows(sample, node);
        return find_varying(varies);
    }
    // The same of one below the node that `take_rows` took last, whose rows are some of `rows()`.
    bool begin(const uint32_t* rows, uint32_t n, uint64_t& varies) {
        rows_ = rows;
        n_ = n;
        return find_varying(varies);
    }
    const uint32_t* rows() const { return rows_; }
    void take_rows(const DenseSample& sample, const Node& node) {
        n_ = node.size();
        rows_ = sample.rows.data() + node.start;
        X_ = data_->X;
        stride_ = data_->row_stride;
        if (reads_X()) return;
        if (!packed_.hold(node.start, node.end)) {
            packed_.take(*data_, rows_, node.start, node.end);
        }
        X_ = packed_.cells();
        stride_ = packed_.stride();
        rows_ = packed_.places(node.start);
    }

    // Of the features that vary those that the node visits.
    static uint64_t visit(KeyedSampler& sampler, uint64_t key, uint32_t& n_known,
                          uint64_t varies) {
        if (!sampler.draws()) return varies;  // it need not know those that do not
        uint64_t features = 0;
        n_known = sampler.visit(key, n_known, [&](uint32_t f) {
            const uint64_t own = varies & uint64_t{1} << f;
            features |= own;
            return own != 0;
        });
        return features;
    }
    // Of the node's i-th row.
    float cell(uint32_t i, uint32_t feature) const {
        return X_[static_cast<ptrdiff_t>(rows_[i]) * stride_ + feature];
    }

    // The feature of the best question, of some; NO_FEATURE if none leaves `leaf` rows on either
    // side. The accumulator holds the node, of whose rows the targets are given.
    template <class Target>
    uint32_t find_best(Acc& acc, uint64_t key, const Target* targets, uint64_t features,
                       uint32_t leaf, Candidate& best) {
        best.score = MINUS_INFINITY;
        best.middle = 0.0;
        uint32_t found = NO_FEATURE;
        for (uint32_t v = 0; v < vectors_.size(); ++v) {
            const uint32_t lanes = features >> v * LANES & low_bits(LANES);
            if (lanes == 0) continue;
            count(acc, key, targets, v);
            const uint32_t lane = best_lane(acc, vectors_[v], lanes, leaf, best);
            if (lane < LANES) found = v * LANES + lane;
        }
        return found;
    }
    // The cell of the left child of the question about a feature.
    template <class Cell>
    void take_cell(const Acc& acc, uint32_t feature, Cell* left) const {
        const uint32_t lane = feature % LANES;
        const Vector& vector = vectors_[feature / LANES];
        vector.counts.fill(acc, lane, static_cast<uint32_t>(vector.draws.n_left[lane]), left);
    }
    // The sides of the question; returns its threshold.
    double take(uint32_t feature, uint64_t* sides) {
        const uint32_t v = feature / LANES, lane = feature % LANES;
        const Vector& vector = vectors_[v];
        const double threshold = vector.draws.thresholds[lane];
        if (n_ <= n_marked()) {
            take_lane_sides(simd_, marks(v), n_, lane, sides);
        } else {
            LaneDraws again = vector.draws;
            mark(v, again, [&](uint32_t i, uint32_t n) {
                take_lane_sides(simd_, marks(v), n, lane, sides + i / WORD_BITS);
            });
        }
        return threshold;
    }

    // Divides what is kept of a node's rows, if anything.
    void divide(const Node& node, const uint64_t* left) {
        if (packed_.hold(node.start, node.end)) {
            packed_.divide(simd_, node.start, node.size(), left);
        }
    }

private:
    bool are_wide() const { return simd_ == SIMD_AVX512; }
    bool reads_X() const { return data_->column_stride == 1; }
    bool find_varying(uint64_t& varies) {
        varies = 0;
        for (uint32_t v = 0; v < vectors_.size(); ++v) {
            LaneDraws& draws = vectors_[v].draws;
            find_extremes(simd_, X_ + v * LANES, stride_, n_lanes(v), rows_, n_, draws);
            if (draws.missing) return false;
            varies |= uint64_t{draws.varies} << v * LANES;
        }
        return true;
    }
    uint32_t n_lanes(uint32_t v) const {
        return std::min(static_cast<uint32_t>(data_->columns.size()) - v * LANES, LANES);
    }
    // Rows whose sides are kept at a time, whole words of them.
    uint32_t n_marked() const {
        return MARKS / static_cast<uint32_t>(vectors_.size()) / WORD_BITS * WORD_BITS;
    }
    uint16_t* marks(uint32_t v) { return marks_ + v * n_marked(); }

    // Marks all rows in the lanes of a vector and calls use(first, n) for those marked at a time.
    template <class Use>
    void mark(uint32_t v, LaneDraws& draws, const Use& use) {
        for (uint32_t i = 0; i < n_; i += n_marked()) {
            const uint32_t n = std::min(n_ - i, n_marked());
            mark_lanes(simd_, X_ + v * LANES, stride_, n_lanes(v), rows_ + i, n, draws, marks(v));
            use(i, n);
        }
    }
    template <class Target>
    void count(const Acc& acc, uint64_t key, const Target* targets, uint32_t v) {
        Vector& vector = vectors_[v];
        draw_lanes(simd_, key, v * LANES, n_lanes(v), vector.draws);
        vector.counts.begin(acc, targets, n_);
        mark(v, vector.draws, [&](uint32_t i, uint32_t n) {
            vector.counts.count(targets + i, n, marks(v));
        });
        vector.counts.end();
    }
    // The first lane of the best score above that of the candidate; LANES if there is none.
    uint32_t best_lane(Acc& acc, const Vector& vector, uint32_t lanes, uint32_t leaf,
                       Candidate& best) const {
        const int32_t* n_left = vector.draws.n_left;
        uint32_t found = LANES;
        lanes = leaving_rows(simd_, lanes, n_left, n_, leaf);
        for (lanes = vector.counts.best(acc, lanes, n_left); lanes != 0; lanes &= lanes - 1) {
            const uint32_t lane = static_cast<uint32_t>(lowest_bit(lanes));
            acc.w_left = n_left[lane];
            vector.counts.place(acc, lane);
            const double score = acc.score();
            if (!(score > best.score)) continue;
            best.score = score;
            best.n_left = static_cast<uint32_t>(n_left[lane]);
            found = lane;
        }
        return found;
    }
};

}  // namespace fasttree
