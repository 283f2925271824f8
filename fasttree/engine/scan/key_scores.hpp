// What thresholds between keys score: the best of those given, and what those inside a bucket can
// score at most.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/core/keys.hpp"
#include "engine/scan/key_kernels.hpp"
#include "engine/score/accumulator.hpp"

namespace fasttree {

// Bounds are enlarged by what rounding may have lost.
constexpr double BUCKET_SLACK = 1.0 - 1e-12;

inline double low_bar(const BestKey& best) {
    return best.bar > 0.0 ? best.bar * BUCKET_SLACK : best.bar;
}

// D^2 / (w_L w_R) of two classes: `first` is the weight of class 1 on the left.
struct TwoClassScore {
    static constexpr bool two_classes = true;
    double w, t;  // of the node: weight, that of class 1

    double score(double wl, double first, double) const {
        const double d = first * w - t * wl;
        return d * d / (wl * (w - wl));
    }
    bool may_beat(double bar, double wl, double first, double) const {
        const double d = first * w - t * wl;
        return d * d > bar * (wl * (w - wl));
    }
#if FASTTREE_X86
    FASTTREE_AVX512 __m512d score(__m512d wl, __m512d first, __m512d) const {
        const __m512d d = deviation(wl, first);
        return _mm512_div_pd(_mm512_mul_pd(d, d), product(wl));
    }
    FASTTREE_AVX512 __mmask8 may_beat(double bar, __m512d wl, __m512d first, __m512d) const {
        const __m512d d = deviation(wl, first);
        return _mm512_cmp_pd_mask(_mm512_mul_pd(d, d),
                                  _mm512_mul_pd(_mm512_set1_pd(bar), product(wl)), _CMP_GT_OQ);
    }

private:
    FASTTREE_AVX512 __m512d deviation(__m512d wl, __m512d first) const {
        return _mm512_sub_pd(_mm512_mul_pd(first, _mm512_set1_pd(w)),
                             _mm512_mul_pd(_mm512_set1_pd(t), wl));
    }
    FASTTREE_AVX512 __m512d product(__m512d wl) const {
        return _mm512_mul_pd(wl, _mm512_sub_pd(_mm512_set1_pd(w), wl));
    }
#endif
};

// sum l_c^2 / w_L + sum r_c^2 / w_R: the sums are `first` and `second`.
struct ClassScore {
    static constexpr bool two_classes = false;
    double w;  // of the node

    double score(double wl, double first, double second) const {
        return first / wl + second / (w - wl);
    }
    bool may_beat(double bar, double wl, double first, double second) const {
        const double wr = w - wl;
        return first * wr + second * wl > bar * (wl * wr);
    }
#if FASTTREE_X86
    FASTTREE_AVX512 __m512d score(__m512d wl, __m512d first, __m512d second) const {
        const __m512d wr = _mm512_sub_pd(_mm512_set1_pd(w), wl);
        return _mm512_add_pd(_mm512_div_pd(first, wl), _mm512_div_pd(second, wr));
    }
    FASTTREE_AVX512 __mmask8 may_beat(double bar, __m512d wl, __m512d first,
                                      __m512d second) const {
        const __m512d wr = _mm512_sub_pd(_mm512_set1_pd(w), wl);
        const __m512d squares =
            _mm512_add_pd(_mm512_mul_pd(first, wr), _mm512_mul_pd(second, wl));
        return _mm512_cmp_pd_mask(
            squares, _mm512_mul_pd(_mm512_set1_pd(bar), _mm512_mul_pd(wl, wr)), _CMP_GT_OQ);
    }
#endif
};

// The best of n thresholds, in any order, of which the largest keys on the left are given.
template <class Score>
inline void best_key_portable(const Score& score, LeftSums& sums, const uint32_t* limits,
                              uint32_t n, BestKey& best) {
    const double *weight = sums.weight(), *first = sums.first(), *second = sums.second();
    for (uint32_t b = 0; b < n; ++b) {
        if (score.may_beat(best.bar * SCREEN, weight[b], first[b], second[b])) {
            best.take(score.score(weight[b], first[b], second[b]), limits[b]);
        }
    }
}
#if FASTTREE_X86
// Eight of them, of which `lanes` count.
template <class Score>
FASTTREE_AVX512 inline void take_lanes(const Score& score, __m512d weight, __m512d first,
                                       __m512d second, __mmask8 lanes, __m256i limits,
                                       BestKey& best) {
    const __mmask8 beating = score.may_beat(best.bar * SCREEN, weight, first, second) & lanes;
    if (!beating) return;
    const __m512d scores = score.score(weight, first, second);
    const double top = _mm512_mask_reduce_max_pd(beating, scores);
    const __mmask8 at = _mm512_mask_cmp_pd_mask(beating, scores, _mm512_set1_pd(top), _CMP_EQ_OQ);
    best.take(top, _mm512_mask_reduce_min_epu32(at, _mm512_castsi256_si512(limits)));
}
template <class Score>
FASTTREE_AVX512 inline void best_key_avx512(const Score& score, LeftSums& sums,
                                            const uint32_t* limits, uint32_t n, BestKey& best) {
    for (uint32_t b = 0; b < n; b += 8) {
        const uint32_t lanes = n - b < 8 ? (1u << (n - b)) - 1 : 0xffu;
        const __m512d weight = _mm512_loadu_pd(sums.weight() + b);
        const __m512d first = _mm512_loadu_pd(sums.first() + b);
        const __m512d second = _mm512_loadu_pd(sums.second() + b);
        take_lanes(score, weight, first, second, static_cast<__mmask8>(lanes),
                   _mm256_loadu_si256(reinterpret_cast<const __m256i*>(limits + b)), best);
    }
}

// The same of up to 16 rows from their keys: all in registers. Sums of weights fit 15 bits.
constexpr uint32_t ROWS_OF_VECTOR = 16;
template <class Score>
FASTTREE_AVX512 inline void best_of_rows_avx512(const Score& score, const uint32_t* keys,
                                                uint32_t n, const uint32_t* weights,
                                                const std::vector<ClassRows>& classes,
                                                BestKey& best) {
    const __m512i limits = _mm512_loadu_si512(keys);
    __m512i weight = _mm512_setzero_si512(), first = weight, second = weight;
    for (const ClassRows& rows : classes) {
        __m512i left = _mm512_setzero_si512();
        for (uint32_t j = rows.begin; j < rows.end; ++j) {
            const __m512i key = _mm512_set1_epi32(static_cast<int>(keys[j]));
            left = _mm512_mask_add_epi32(left, _mm512_cmple_epu32_mask(key, limits), left,
                                         _mm512_set1_epi32(static_cast<int>(weights[j])));
        }
        weight = _mm512_add_epi32(weight, left);
        if constexpr (Score::two_classes) {
            if (rows.label_class == 1) first = left;
        } else {
            const __m512i right =
                _mm512_sub_epi32(_mm512_set1_epi32(static_cast<int>(rows.weight)), left);
            first = _mm512_add_epi32(first, _mm512_madd_epi16(left, left));
            second = _mm512_add_epi32(second, _mm512_madd_epi16(right, right));
        }
    }
    const uint32_t lanes = (1u << n) - 1;
    take_lanes(score, _mm512_cvtepi32_pd(_mm512_castsi512_si256(weight)),
               _mm512_cvtepi32_pd(_mm512_castsi512_si256(first)),
               _mm512_cvtepi32_pd(_mm512_castsi512_si256(second)),
               static_cast<__mmask8>(lanes), _mm512_castsi512_si256(limits), best);
    if (n <= 8) return;
    take_lanes(score, _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(weight, 1)),
               _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(first, 1)),
               _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(second, 1)),
               static_cast<__mmask8>(lanes >> 8), _mm512_extracti64x4_epi64(limits, 1), best);
}
#endif
template <class Score>
inline void best_key(Simd simd, const Score& score, LeftSums& sums, const uint32_t* limits,
                     uint32_t n, BestKey& best) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return best_key_avx512(score, sums, limits, n, best);
#endif
    best_key_portable(score, sums, limits, n, best);
}

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
#endif

}  // namespace fasttree
