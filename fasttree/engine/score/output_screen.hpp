// Squared error of many outputs: which positions are worth an exact score.
//
// Let L_k be the sum of output k on the left, T_k that of the node, u_k its unit, and
//     e_k = u_k (L_k - T_k w_L / W),
// so that the score is W^2 |e|^2 / (w_L w_R); e_k stays the same if a centre is taken from every
// target. `Targets::rough` holds the targets u_k x_k in single precision, centred and scaled:
// moving along a feature takes as long as reading them does. Each row is off by at most 2**-24
// times its length, hence the sums of some rows of a node by 2**-24 times `length_`, the lengths
// of its rows added up; as much again is for adding up to 2**28 rows in doubles. Sums of integers
// are known to double precision. With negative weights nothing is screened.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/targets.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// For a single output, whose `advance` has screens of its own.
struct NoOutputScreen {
    explicit NoOutputScreen(const Targets&) {}
    void begin_node(const int64_t*, int64_t, const uint32_t*, uint32_t) {}
    void begin_cell(const int64_t*, int64_t) {}
};

class OutputScreen {
    // Relative rounding of all sums and products, of up to a million outputs, generously.
    static constexpr double ROUNDING = 1e-9;
    // Errors of sums as parts of `length_`.
    static constexpr double ROUGH_SLACK = 0x1p-23, INTEGER_SLACK = 1e-14;
    static constexpr int LANES = OUTPUT_LANES;

    struct Found {
        uint32_t position;
        double most;  // what the root of its score is at most, times scale / W
    };

    const Targets& t_;
    const size_t n_;                    // outputs and zeros to whole vectors
    std::vector<double> unit_, mean_;   // u_k and u_k T_k / W, centred and scaled
    std::vector<int64_t> centre_;
    std::vector<double> left_;          // sums, centred and scaled
    std::vector<Found> found_;
    int64_t w_total_ = 0;
    double length_ = INFINITE;

public:
    explicit OutputScreen(const Targets& t)
        : t_(t), n_(padded(t.n_outputs)), unit_(n_), mean_(n_), centre_(n_), left_(n_) {
        if (t.rough == nullptr) return;
        std::copy_n(t.rough_centre, t.n_outputs, centre_.begin());
        for (int k = 0; k < t.n_outputs; ++k) unit_[k] = t.sum_unit[k] * t.rough_scale;
    }

    void begin_node(const int64_t* total, int64_t w_total, const uint32_t* rows, uint32_t n) {
        if (t_.rough == nullptr) return;
        begin_cell(total, w_total);
        constexpr double SMALLEST = 0x1p-126;  // below it, floats are off by up to 2**-150
        length_ = 0.0;
        for (uint32_t i = 0; i < n; ++i) length_ += t_.rough_length[rows[i]];
        length_ += SMALLEST * n * t_.n_outputs;
    }
    // Of unknown rows nothing is screened.
    void begin_cell(const int64_t* total, int64_t w_total) {
        if (t_.rough == nullptr) return;
        w_total_ = w_total;
        length_ = INFINITE;
        const double share = 1.0 / to_double(w_total);
        call(t_.simd, [&]() FASTTREE_INLINE {
            for (size_t k = 0; k < n_; ++k) {
                mean_[k] = centred(total, k, w_total) * unit_[k] * share;
            }
        });
    }

    // False only if the score of these sums is not more than `best`.
    bool may_beat(const int64_t* left, int64_t w_left, double best) const {
        const double root = scaled_root(best);
        if (root < 0.0) return true;
        const double least = root * std::sqrt(product(w_left)) - INTEGER_SLACK * length_;
        return !(least > 0.0 && squares(left, w_left) <= least * least);
    }

    // Calls take(position) in ascending order at the positions behind p, up to `last`, that may
    // score more than `best` and are not known to score less than another of them. `left` holds
    // the first p rows.
    template <class Weights, class Take>
    void find(const uint32_t* entries, uint32_t p, uint32_t last, const int64_t* left,
              const Weights& w, int64_t w_left, double best, const Take& take) {
        const double slack = ROUGH_SLACK * length_;
        double floor = scaled_root(best);
        begin_left(left, w_left);
        found_.clear();
        while (p < last) {
            const uint32_t row = entries[p++] & ROW;
            prefetch(rough(entries[std::min(p + ROWS_AHEAD, last)] & ROW), n_ * sizeof(float));
            w_left += w[row];
            const double squares = moved_squares(row, to_double(w_left));
            if (!(entries[p] & BOUNDARY)) continue;
            const double weight = std::sqrt(product(w_left)), least = floor * weight - slack;
            if (least > 0.0 && squares <= least * least) continue;
            if (!(weight > 0.0)) continue;  // no score
            const double length = std::sqrt(squares);
            found_.push_back({p, (length * (1.0 + ROUNDING) + slack) / weight});
            floor = std::max(floor, (length * (1.0 - ROUNDING) - slack) / weight);
        }
        for (const Found& found : found_) {
            if (found.most >= floor) take(found.position);
        }
    }

private:
    // The root of a score times scale / W, rounded down; below 0: any.
    double scaled_root(double score) const {
        if (!(score > 0.0)) return -1.0;
        return std::sqrt(score) * (t_.rough_scale / to_double(w_total_)) * (1.0 - ROUNDING);
    }
    // w_L w_R. Doubles beyond 2**53 would lose a light side.
    double product(int64_t w_left) const {
        return to_double(w_left) * to_double(w_total_ - w_left);
    }

    const float* rough(uint32_t row) const { return t_.rough + row * n_; }
    double centred(const int64_t* sums, size_t k, int64_t weight) const {
        return to_double(sums[k] - centre_[k] * weight);
    }

    void begin_left(const int64_t* left, int64_t w_left) {
        if (w_left == 0) {  // of no rows, or of none that weighs anything
            std::fill(left_.begin(), left_.end(), 0.0);
            return;
        }
        call(t_.simd, [&]() FASTTREE_INLINE {
            for (size_t k = 0; k < n_; ++k) left_[k] = centred(left, k, w_left) * unit_[k];
        });
    }
    // |e|^2 of integer sums.
    double squares(const int64_t* left, int64_t w_left) const {
        const double wl = to_double(w_left);
        double sums[LANES] = {};  // of every eighth output, so that none waits for the one before
        call(t_.simd, [&]() FASTTREE_INLINE {
            for (size_t k = 0; k < n_; k += LANES) {
                for (int i = 0; i < LANES; ++i) {
                    const double l = centred(left, k + i, w_left) * unit_[k + i];
                    const double e = l - mean_[k + i] * wl;
                    sums[i] += e * e;
                }
            }
        });
        return add_up(sums);
    }
    // Moves a row to the left; |e|^2.
    double moved_squares(uint32_t row, double w_left) {
        const float* moved = rough(row);
#if FASTTREE_X86
        if (t_.simd == SIMD_AVX512) return moved_squares_avx512(moved, w_left);
#endif
        double sums[LANES] = {};
        for (size_t k = 0; k < n_; k += LANES) {
            for (int i = 0; i < LANES; ++i) {
                left_[k + i] += moved[k + i];
                const double e = left_[k + i] - mean_[k + i] * w_left;
                sums[i] += e * e;
            }
        }
        return add_up(sums);
    }
#if FASTTREE_X86
    FASTTREE_AVX512 double moved_squares_avx512(const float* moved, double w_left) {
        const __m512d wl = _mm512_set1_pd(w_left);
        double* const left = left_.data();
        const double* const mean = mean_.data();
        const size_t n = n_;
        const auto add_squares = [=](size_t k, __m512d sum) FASTTREE_AVX512 {
            const __m512d l = _mm512_add_pd(_mm512_loadu_pd(left + k),
                                            _mm512_cvtps_pd(_mm256_loadu_ps(moved + k)));
            _mm512_storeu_pd(left + k, l);
            const __m512d e = _mm512_fnmadd_pd(_mm512_loadu_pd(mean + k), wl, l);
            return _mm512_fmadd_pd(e, e, sum);
        };
        // Two sums, which do not wait for each other.
        __m512d first = _mm512_setzero_pd(), second = first;
        size_t k = 0;
        for (; k + LANES < n; k += 2 * LANES) {
            first = add_squares(k, first);
            second = add_squares(k + LANES, second);
        }
        if (k < n) first = add_squares(k, first);
        return _mm512_reduce_add_pd(_mm512_add_pd(first, second));
    }
#endif
    static double add_up(const double* sums) {
        return (sums[0] + sums[1]) + (sums[2] + sums[3]) + (sums[4] + sums[5]) +
               (sums[6] + sums[7]);
    }
};

}  // namespace fasttree
