// Screens of regression in vectors: scores of 8 neighbouring positions in doubles.
//
// A screen never rejects what the exact score would accept. Lane i of `sums` is the sum of the
// `first + i` targets on the left, less `offset` each.
#pragma once
#include <cstdint>

#include "engine/score/regression.hpp"
#include "engine/simd/fast_log.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

template <class Acc>
struct Screen {
    static constexpr bool exists = false;
};

#if FASTTREE_X86

// Products of two counts below this are exact in doubles.
constexpr int64_t EXACT_COUNT = int64_t{1} << 26;

// Lanes added up from the first to each.
FASTTREE_AVX512 inline __m512i prefix_sums(__m512i lanes) {
    const __m512i zero = _mm512_setzero_si512();
    lanes = _mm512_add_epi64(lanes, _mm512_alignr_epi64(lanes, zero, 7));
    lanes = _mm512_add_epi64(lanes, _mm512_alignr_epi64(lanes, zero, 6));
    return _mm512_add_epi64(lanes, _mm512_alignr_epi64(lanes, zero, 4));
}
FASTTREE_AVX512 inline __m512d counts_from(uint32_t first) {
    return _mm512_add_pd(_mm512_set1_pd(first), _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7));
}

// D^2 / (w_L w_R). Sums are taken about the node's mean, rounded to an integer, so that they are
// exact or far larger than what rounding loses.
template <>
struct Screen<SquaredError<UnitWeights, true>> {
    static constexpr bool exists = true;
    const int64_t offset;
    const double w, t;

    explicit Screen(const SquaredError<UnitWeights, true>& acc)
        : offset(acc.mean_sum), w(to_double(acc.w_total)),
          t(to_double(acc.total1 - offset * acc.w_total)) {}

    FASTTREE_AVX512 __mmask8 beating(__m512i sums, uint32_t first, double best) const {
        const __m512d n = counts_from(first), d = deviation(sums, n);
        return _mm512_cmp_pd_mask(_mm512_mul_pd(d, d),
                                  _mm512_mul_pd(_mm512_set1_pd(best * SCREEN), product(n)),
                                  _CMP_GT_OQ);
    }
    FASTTREE_AVX512 __m512d scores(__m512i sums, uint32_t first) const {
        const __m512d n = counts_from(first), d = deviation(sums, n);
        return _mm512_div_pd(_mm512_mul_pd(d, d), product(n));
    }
    // The exact score of a position whose score here is less is below that of `top`.
    double near(double top) const { return top * SCREEN; }

private:
    FASTTREE_AVX512 __m512d deviation(__m512i sums, __m512d n) const {
        return _mm512_sub_pd(_mm512_mul_pd(_mm512_cvtepi64_pd(sums), _mm512_set1_pd(w)),
                             _mm512_mul_pd(_mm512_set1_pd(t), n));
    }
    FASTTREE_AVX512 __m512d product(__m512d n) const {
        return _mm512_mul_pd(n, _mm512_sub_pd(_mm512_set1_pd(w), n));
    }
};

// S_L log(S_L / w_L) + S_R log(S_R / w_R), the logarithms of counts from a table.
template <>
struct Screen<Poisson<UnitWeights, true>> {
    static constexpr bool exists = true;
    static constexpr int64_t offset = 0;
    const int64_t total;
    const double unit, slack;
    const double* const log_left;   // of 0, 1, ... rows
    const double* const log_right;  // of as many less than the node's

    explicit Screen(const Poisson<UnitWeights, true>& acc)
        : total(acc.total1), unit(acc.t.sum_unit[0]),
          slack(3.0 * FastLog::ERROR * unit * to_double(total)), log_left(acc.t.log_counts),
          log_right(acc.t.log_counts + acc.w_total) {}

    FASTTREE_AVX512 __mmask8 beating(__m512i sums, uint32_t first, double best) const {
        return _mm512_cmp_pd_mask(scores(sums, first), _mm512_set1_pd(best - slack), _CMP_GT_OQ);
    }
    // NaN or minus infinity where a side is without counts.
    FASTTREE_AVX512 __m512d scores(__m512i sums, uint32_t first) const {
        const __m512i backwards = _mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        const __m512d left = _mm512_cvtepi64_pd(sums);
        const __m512d right =
            _mm512_cvtepi64_pd(_mm512_sub_epi64(_mm512_set1_epi64(total), sums));
        const __m512d left_count = _mm512_loadu_pd(log_left + first);
        const __m512d right_count = _mm512_permutexvar_pd(
            backwards, _mm512_loadu_pd(log_right - first - 7));
        const __m512d sum = _mm512_add_pd(
            _mm512_mul_pd(left, _mm512_sub_pd(fast_log_avx512(left), left_count)),
            _mm512_mul_pd(right, _mm512_sub_pd(fast_log_avx512(right), right_count)));
        return _mm512_mul_pd(sum, _mm512_set1_pd(unit));
    }
    double near(double top) const { return top - 2.0 * slack; }
};

#endif

}  // namespace fasttree
