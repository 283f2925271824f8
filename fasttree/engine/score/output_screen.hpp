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
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/core/targets.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// Sum over outputs of D^2 / (w_L w_R), see separation().
__attribute__((always_inline)) inline double sum_separations(
    int n_outputs, const double* unit, const int64_t* left, int64_t w_left, const int64_t* total,
    int64_t w_total) {
    double sum = 0.0;
    for (int k = 0; k < n_outputs; ++k) {
        sum += unit[k] * unit[k] * separation(left[k], w_left, total[k], w_total);
    }
    return sum;
}

// For a single output, whose `advance` has screens of its own.
struct NoOutputScreen {
    explicit NoOutputScreen(const Targets&) {}
    void begin_node(const int64_t*, int64_t) {}
};

class OutputScreen {
    static constexpr double ETA = 1e-9, BLUR = 4e-21;
    static constexpr int LANES = 8;

    const Targets& t_;
    std::vector<double> mean_;  // u_k T_k / W, padded with zeros to whole vectors
    double w_total_ = 0.0, blur_ = 0.0;

public:
    explicit OutputScreen(const Targets& t)
        : t_(t), mean_((t.n_outputs + LANES - 1) / LANES * LANES) {}

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
        for (int k = 0; k < t_.n_outputs; k += LANES) {
            const int n = std::min(LANES, t_.n_outputs - k);
            for (int i = 0; i < n; ++i) {
                const double e = to_double(left[k + i]) * t_.sum_unit[k + i] - mean_[k + i] * wl;
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
        for (int k = 0; k < t_.n_outputs; k += LANES) {
            const __mmask8 lanes = lanes_at(k);
            const __m512d l = _mm512_cvtepi64_pd(_mm512_maskz_loadu_epi64(lanes, left + k));
            const __m512d unit = _mm512_maskz_loadu_pd(lanes, t_.sum_unit + k);
            const __m512d e = _mm512_fnmadd_pd(_mm512_loadu_pd(&mean_[k]), wl,
                                               _mm512_mul_pd(l, unit));
            sum = _mm512_fmadd_pd(e, e, sum);
        }
        return _mm512_reduce_add_pd(sum);
    }
    // left += sums of a row.
    FASTTREE_AVX512 void add_avx512(const int64_t* sums, int64_t* left) const {
        for (int k = 0; k < t_.n_outputs; k += LANES) {
            const __mmask8 lanes = lanes_at(k);
            const __m512i moved = _mm512_maskz_loadu_epi64(lanes, sums + k);
            const __m512i l = _mm512_maskz_loadu_epi64(lanes, left + k);
            _mm512_mask_storeu_epi64(left + k, lanes, _mm512_add_epi64(l, moved));
        }
    }

private:
    __mmask8 lanes_at(int k) const {
        const int n = t_.n_outputs - k;
        return static_cast<__mmask8>(n >= LANES ? 0xff : (1 << n) - 1);
    }
#endif
};

#if FASTTREE_X86
// Conversions of 64 bits without a sign are one instruction here.
FASTTREE_AVX512 inline double separations_avx512(const Targets& t, const int64_t* left,
                                                 int64_t w_left, const int64_t* total,
                                                 int64_t w_total) {
    return sum_separations(t.n_outputs, t.sum_unit, left, w_left, total, w_total);
}
#endif

inline double separations(const Targets& t, const int64_t* left, int64_t w_left,
                          const int64_t* total, int64_t w_total) {
#if FASTTREE_X86
    if (t.simd == SIMD_AVX512) return separations_avx512(t, left, w_left, total, w_total);
#endif
    return sum_separations(t.n_outputs, t.sum_unit, left, w_left, total, w_total);
}

}  // namespace fasttree
