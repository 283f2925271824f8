// Which buckets may hold a better threshold than those at their limits.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/scan/key_kernels.hpp"
#include "engine/scan/key_scores.hpp"

namespace fasttree {

// Buckets, as bits, inside which a threshold may score more than `bar`, of two classes. The score
// is convex in the class weights on the left, so inside a bucket it is largest where each of its
// classes is on the left as a whole or not at all; that none or both are is another threshold's
// affair.
inline void open_portable(const TwoClassScore& score, LeftSums& sums, uint32_t n, double bar,
                          uint32_t* is_open) {
    const double *weight = sums.weight(), *first = sums.first();
    for (uint32_t b = 0; b < n; ++b) {
        const double w0 = weight[int64_t{b} - 1], w1 = weight[b];
        const double t0 = first[int64_t{b} - 1], ones = first[b] - t0;
        const bool may = w1 > w0 && (score.may_beat(bar, w0 + ones, first[b], 0.0) ||
                                     score.may_beat(bar, w1 - ones, t0, 0.0));
        is_open[b / 32] |= static_cast<uint32_t>(may) << b % 32;
    }
}
#if FASTTREE_X86
FASTTREE_AVX512 inline void open_avx512(const TwoClassScore& score, LeftSums& sums, uint32_t n,
                                        double bar, uint32_t* is_open) {
    const __m512d zero = _mm512_setzero_pd();
    for (uint32_t b = 0; b < n; b += 8) {
        const uint32_t lanes = n - b < 8 ? (1u << (n - b)) - 1 : 0xffu;
        const __m512d w0 = _mm512_loadu_pd(sums.weight() + b - 1);
        const __m512d w1 = _mm512_loadu_pd(sums.weight() + b);
        const __m512d t0 = _mm512_loadu_pd(sums.first() + b - 1);
        const __m512d t1 = _mm512_loadu_pd(sums.first() + b);
        const __m512d ones = _mm512_sub_pd(t1, t0);
        uint32_t may = score.may_beat(bar, _mm512_add_pd(w0, ones), t1, zero) |
                       score.may_beat(bar, _mm512_sub_pd(w1, ones), t0, zero);
        may &= _mm512_cmp_pd_mask(w1, w0, _CMP_GT_OQ) & lanes;
        is_open[b / 32] |= may << b % 32;
    }
}
FASTTREE_AVX2 inline void open_avx2(const TwoClassScore& score, LeftSums& sums, uint32_t n,
                                    double bar, uint32_t* is_open) {
    const __m256d zero = _mm256_setzero_pd();
    for (uint32_t b = 0; b < n; b += 4) {
        const uint32_t lanes = n - b < 4 ? (1u << (n - b)) - 1 : 0xfu;
        const __m256d w0 = _mm256_loadu_pd(sums.weight() + b - 1);
        const __m256d w1 = _mm256_loadu_pd(sums.weight() + b);
        const __m256d t0 = _mm256_loadu_pd(sums.first() + b - 1);
        const __m256d t1 = _mm256_loadu_pd(sums.first() + b);
        const __m256d ones = _mm256_sub_pd(t1, t0);
        uint32_t may = score.may_beat(bar, _mm256_add_pd(w0, ones), t1, zero) |
                       score.may_beat(bar, _mm256_sub_pd(w1, ones), t0, zero);
        may &= static_cast<uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(w1, w0, _CMP_GT_OQ))) & lanes;
        is_open[b / 32] |= may << b % 32;
    }
}
#endif

// Of any classes. Let l be the class weights left of the bucket, L the sum of their squares, d the
// class weights in it. With j of its weight on the left, e of each class, 0 <= e <= d,
//     sum (l + e)^2 = L + sum e (2 l + e) <= L + j a,    a = max 2 l + d over classes with d > 0,
// so this term of the score, divided by the weight, is at most a function of j that is monotonic:
// no more than at one of the ends. The other term is the same seen from the right. `counts` are
// prefix sums [class, COUNTS_BEFORE + bucket] of rows `stride` apart.
inline void open_portable(const ClassScore& score, LeftSums& sums,
                          const std::vector<ClassRows>& classes, const uint32_t* counts,
                          size_t stride, uint32_t n, double bar, uint32_t* is_open) {
    const double *weight = sums.weight(), *first = sums.first(), *second = sums.second();
    for (uint32_t b = 0; b < n; ++b) {
        const int64_t before = int64_t{b} - 1;
        const double w0 = weight[before], w1 = weight[b], moved = w1 - w0;
        if (!(moved > 0.0)) continue;
        double most_left = 0.0, most_right = 0.0;
        for (size_t c = 0; c < classes.size(); ++c) {
            const uint32_t* left = counts + c * stride + COUNTS_BEFORE;
            if (left[b] == left[before]) continue;
            const double both = static_cast<double>(left[before]) + left[b];
            most_left = std::max(most_left, both);
            most_right = std::max(most_right, 2.0 * classes[c].weight - both);
        }
        const double r0 = score.w - w0, r1 = score.w - w1;
        const double at_left = std::max(w0 > 0.0 ? first[before] / w0 : 0.0,
                                        (first[before] + moved * most_left) / w1);
        const double at_right = std::max(r1 > 0.0 ? second[b] / r1 : 0.0,
                                         (second[b] + moved * most_right) / r0);
        is_open[b / 32] |= static_cast<uint32_t>(at_left + at_right > bar) << b % 32;
    }
}
#if FASTTREE_X86
FASTTREE_AVX512 inline void open_avx512(const ClassScore& score, LeftSums& sums,
                                        const std::vector<ClassRows>& classes,
                                        const uint32_t* counts, size_t stride, uint32_t n,
                                        double bar, uint32_t* is_open) {
    const __m512d zero = _mm512_setzero_pd(), all = _mm512_set1_pd(score.w);
    for (uint32_t b = 0; b < n; b += 8) {
        const uint32_t lanes = n - b < 8 ? (1u << (n - b)) - 1 : 0xffu;
        const __m512d w0 = _mm512_loadu_pd(sums.weight() + b - 1);
        const __m512d w1 = _mm512_loadu_pd(sums.weight() + b);
        const __mmask8 is_held =
            _mm512_cmp_pd_mask(w1, w0, _CMP_GT_OQ) & static_cast<__mmask8>(lanes);
        if (!is_held) continue;
        __m512d most_left = zero, most_right = zero;
        for (size_t c = 0; c < classes.size(); ++c) {
            const uint32_t* left = counts + c * stride + COUNTS_BEFORE + b;
            const __m256i before = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(left - 1));
            const __m256i after = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(left));
            const __mmask8 has = _mm256_cmpneq_epu32_mask(before, after);
            const __m512d both = _mm512_cvtepi32_pd(_mm256_add_epi32(before, after));
            const __m512d right = _mm512_sub_pd(_mm512_set1_pd(2.0 * classes[c].weight), both);
            most_left = _mm512_mask_max_pd(most_left, has, most_left, both);
            most_right = _mm512_mask_max_pd(most_right, has, most_right, right);
        }
        const __m512d left0 = _mm512_loadu_pd(sums.first() + b - 1);
        const __m512d right1 = _mm512_loadu_pd(sums.second() + b);
        const __m512d moved = _mm512_sub_pd(w1, w0);
        const __m512d r0 = _mm512_sub_pd(all, w0), r1 = _mm512_sub_pd(all, w1);
        const __mmask8 has_left = _mm512_cmp_pd_mask(w0, zero, _CMP_GT_OQ);
        const __mmask8 has_right = _mm512_cmp_pd_mask(r1, zero, _CMP_GT_OQ);
        const __m512d at_left = _mm512_max_pd(
            _mm512_maskz_div_pd(has_left, left0, w0),
            _mm512_div_pd(_mm512_add_pd(left0, _mm512_mul_pd(moved, most_left)), w1));
        const __m512d at_right = _mm512_max_pd(
            _mm512_maskz_div_pd(has_right, right1, r1),
            _mm512_div_pd(_mm512_add_pd(right1, _mm512_mul_pd(moved, most_right)), r0));
        const uint32_t may = _mm512_mask_cmp_pd_mask(is_held, _mm512_add_pd(at_left, at_right),
                                                     _mm512_set1_pd(bar), _CMP_GT_OQ);
        is_open[b / 32] |= may << b % 32;
    }
}
// Lanes of `otherwise` where a condition does not hold.
FASTTREE_AVX2 inline __m256d where(__m256d holds, __m256d lanes, __m256d otherwise) {
    return _mm256_blendv_pd(otherwise, lanes, holds);
}
FASTTREE_AVX2 inline void open_avx2(const ClassScore& score, LeftSums& sums,
                                    const std::vector<ClassRows>& classes, const uint32_t* counts,
                                    size_t stride, uint32_t n, double bar, uint32_t* is_open) {
    const __m256d zero = _mm256_setzero_pd(), all = _mm256_set1_pd(score.w);
    for (uint32_t b = 0; b < n; b += 4) {
        const uint32_t lanes = n - b < 4 ? (1u << (n - b)) - 1 : 0xfu;
        const __m256d w0 = _mm256_loadu_pd(sums.weight() + b - 1);
        const __m256d w1 = _mm256_loadu_pd(sums.weight() + b);
        const uint32_t is_held =
            static_cast<uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(w1, w0, _CMP_GT_OQ))) & lanes;
        if (!is_held) continue;
        __m256d most_left = zero, most_right = zero;
        for (size_t c = 0; c < classes.size(); ++c) {
            const uint32_t* left = counts + c * stride + COUNTS_BEFORE + b;
            const __m128i before = _mm_loadu_si128(reinterpret_cast<const __m128i*>(left - 1));
            const __m128i after = _mm_loadu_si128(reinterpret_cast<const __m128i*>(left));
            const __m256d has_none =
                _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm_cmpeq_epi32(before, after)));
            const __m256d both = _mm256_cvtepi32_pd(_mm_add_epi32(before, after));
            const __m256d right = _mm256_sub_pd(_mm256_set1_pd(2.0 * classes[c].weight), both);
            most_left = _mm256_max_pd(most_left, _mm256_andnot_pd(has_none, both));
            most_right = _mm256_max_pd(most_right, _mm256_andnot_pd(has_none, right));
        }
        const __m256d left0 = _mm256_loadu_pd(sums.first() + b - 1);
        const __m256d right1 = _mm256_loadu_pd(sums.second() + b);
        const __m256d moved = _mm256_sub_pd(w1, w0);
        const __m256d r0 = _mm256_sub_pd(all, w0), r1 = _mm256_sub_pd(all, w1);
        const __m256d has_left = _mm256_cmp_pd(w0, zero, _CMP_GT_OQ);
        const __m256d has_right = _mm256_cmp_pd(r1, zero, _CMP_GT_OQ);
        const __m256d at_left = _mm256_max_pd(
            where(has_left, _mm256_div_pd(left0, w0), zero),
            _mm256_div_pd(_mm256_add_pd(left0, _mm256_mul_pd(moved, most_left)), w1));
        const __m256d at_right = _mm256_max_pd(
            where(has_right, _mm256_div_pd(right1, r1), zero),
            _mm256_div_pd(_mm256_add_pd(right1, _mm256_mul_pd(moved, most_right)), r0));
        const uint32_t may = static_cast<uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(
            _mm256_add_pd(at_left, at_right), _mm256_set1_pd(bar), _CMP_GT_OQ)));
        is_open[b / 32] |= (may & is_held) << b % 32;
    }
}
#endif

inline void open(Simd simd, const TwoClassScore& score, LeftSums& sums, uint32_t n, double bar,
                 uint32_t* is_open) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return open_avx512(score, sums, n, bar, is_open);
    if (simd == SIMD_AVX2) return open_avx2(score, sums, n, bar, is_open);
#endif
    open_portable(score, sums, n, bar, is_open);
}
inline void open(Simd simd, const ClassScore& score, LeftSums& sums,
                 const std::vector<ClassRows>& classes, const uint32_t* counts, size_t stride,
                 uint32_t n, double bar, uint32_t* is_open) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) {
        return open_avx512(score, sums, classes, counts, stride, n, bar, is_open);
    }
    if (simd == SIMD_AVX2) {
        return open_avx2(score, sums, classes, counts, stride, n, bar, is_open);
    }
#endif
    open_portable(score, sums, classes, counts, stride, n, bar, is_open);
}

}  // namespace fasttree
