// Squared error of many outputs, in vectors over the outputs of a position.
//
// Let L_k be the sum of output k on the left, T_k that of the node, u_k its unit, and
//     e_k = u_k (L_k - T_k w_L / W),
// so that the score is W^2 sum e_k^2 / (w_L w_R). `OutputScreen` forms e_k in doubles. It is off by
// less than 1e-15 (|e_k| + |u_k T_k| w_L / W), hence sum e_k^2 by less than
//     ETA sum e_k^2 + w_L^2 blur,    blur = BLUR sum (u_k T_k / W)^2,    BLUR > 1e-30 / ETA,
// because 2 a b <= ETA a^2 + b^2 / ETA. ETA is generous enough for the rounding of all other sums
// and products, of up to a million outputs.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/core/targets.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// For a single output, whose `advance` has screens of its own.
struct NoOutputScreen {
    explicit NoOutputScreen(const Targets&) {}
    void begin_node(const int64_t*, int64_t) {}
};

// Outputs of a vector; sums of outputs are padded with zeros to whole ones.
constexpr int OUTPUT_LANES = 8;
constexpr size_t padded(int n_outputs) {
    return static_cast<size_t>(n_outputs + OUTPUT_LANES - 1) / OUTPUT_LANES * OUTPUT_LANES;
}

class OutputScreen {
    static constexpr double ETA = 1e-9, BLUR = 4e-21;
    static constexpr int LANES = OUTPUT_LANES;

    const Targets& t_;
    std::vector<double> unit_, mean_;  // u_k and u_k T_k / W, padded with zeros
    double w_total_ = 0.0, blur_ = 0.0;

public:
    explicit OutputScreen(const Targets& t)
        : t_(t), unit_(padded(t.n_outputs)), mean_(unit_.size()) {
        std::copy_n(t.sum_unit, t.n_outputs, unit_.begin());
    }

    void begin_node(const int64_t* total, int64_t w_total) {
        w_total_ = to_double(w_total);
        blur_ = 0.0;
        for (int k = 0; k < t_.n_outputs; ++k) {
            mean_[k] = to_double(total[k]) / w_total_ * t_.sum_unit[k];
            blur_ += mean_[k] * mean_[k];
        }
        blur_ *= BLUR;
    }

    // Sum of e_k^2.
    double squares(const int64_t* left, int64_t w_left) const {
#if FASTTREE_X86
        if (t_.simd == SIMD_AVX512) return squares_avx512(left, w_left);
#endif
        const double wl = to_double(w_left);
        double sums[LANES] = {};  // of every eighth output, so that none waits for the one before
        for (size_t k = 0; k < unit_.size(); k += LANES) {
            for (int i = 0; i < LANES; ++i) {
                const double e = to_double(left[k + i]) * unit_[k + i] - mean_[k + i] * wl;
                sums[i] += e * e;
            }
        }
        return (sums[0] + sums[1]) + (sums[2] + sums[3]) + (sums[4] + sums[5]) +
               (sums[6] + sums[7]);
    }
    // False only if the score, given the squares, is not more than `best`.
    bool may_beat(double squares, int64_t w_left, double best) const {
        const double wl = to_double(w_left), wr = w_total_ - wl;
        return (squares * (1.0 + ETA) + wl * wl * blur_) * (w_total_ * w_total_) > best * (wl * wr);
    }
    // The score is not less.
    double least_score(double squares, int64_t w_left) const {
        const double wl = to_double(w_left), wr = w_total_ - wl;
        return (squares * (1.0 - ETA) - wl * wl * blur_) * (w_total_ * w_total_) / (wl * wr);
    }

#if FASTTREE_X86
    FASTTREE_AVX512 double squares_avx512(const int64_t* left, int64_t w_left) const {
        const __m512d wl = _mm512_set1_pd(to_double(w_left));
        __m512d sum = _mm512_setzero_pd();
        for (size_t k = 0; k < unit_.size(); k += LANES) {
            add_squares(_mm512_loadu_si512(left + k), wl, k, sum);
        }
        return _mm512_reduce_add_pd(sum);
    }
    // The same of left += sums.
    FASTTREE_AVX512 double moved_squares(const int64_t* sums, int64_t* left, int64_t w_left) const {
        const __m512d wl = _mm512_set1_pd(to_double(w_left));
        __m512d sum = _mm512_setzero_pd();
        int n = t_.n_outputs;
        for (size_t k = 0; k < unit_.size(); k += LANES, n -= LANES) {
            const __mmask8 lanes = static_cast<__mmask8>(n >= LANES ? 0xff : (1 << n) - 1);
            const __m512i l = _mm512_add_epi64(_mm512_loadu_si512(left + k),
                                               _mm512_maskz_loadu_epi64(lanes, sums + k));
            _mm512_storeu_si512(left + k, l);
            add_squares(l, wl, k, sum);
        }
        return _mm512_reduce_add_pd(sum);
    }

private:
    FASTTREE_AVX512 void add_squares(__m512i left, __m512d w_left, size_t k, __m512d& sum) const {
        const __m512d l = _mm512_mul_pd(_mm512_cvtepi64_pd(left), _mm512_loadu_pd(&unit_[k]));
        const __m512d e = _mm512_fnmadd_pd(_mm512_loadu_pd(&mean_[k]), w_left, l);
        sum = _mm512_fmadd_pd(e, e, sum);
    }
#endif
};

}  // namespace fasttree
