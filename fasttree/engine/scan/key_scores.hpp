// What thresholds between keys score: the best of those given.
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
    FASTTREE_AVX2 __m256d score(__m256d wl, __m256d first, __m256d) const {
        const __m256d d = deviation(wl, first);
        return _mm256_div_pd(_mm256_mul_pd(d, d), product(wl));
    }
    FASTTREE_AVX2 uint32_t may_beat(double bar, __m256d wl, __m256d first, __m256d) const {
        const __m256d d = deviation(wl, first);
        return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(
            _mm256_mul_pd(d, d), _mm256_mul_pd(_mm256_set1_pd(bar), product(wl)), _CMP_GT_OQ)));
    }

private:
    FASTTREE_AVX2 __m256d deviation(__m256d wl, __m256d first) const {
        return _mm256_sub_pd(_mm256_mul_pd(first, _mm256_set1_pd(w)),
                             _mm256_mul_pd(_mm256_set1_pd(t), wl));
    }
    FASTTREE_AVX2 __m256d product(__m256d wl) const {
        return _mm256_mul_pd(wl, _mm256_sub_pd(_mm256_set1_pd(w), wl));
    }
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
    FASTTREE_AVX2 __m256d score(__m256d wl, __m256d first, __m256d second) const {
        const __m256d wr = _mm256_sub_pd(_mm256_set1_pd(w), wl);
        return _mm256_add_pd(_mm256_div_pd(first, wl), _mm256_div_pd(second, wr));
    }
    FASTTREE_AVX2 uint32_t may_beat(double bar, __m256d wl, __m256d first, __m256d second) const {
        const __m256d wr = _mm256_sub_pd(_mm256_set1_pd(w), wl);
        const __m256d squares =
            _mm256_add_pd(_mm256_mul_pd(first, wr), _mm256_mul_pd(second, wl));
        return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(
            squares, _mm256_mul_pd(_mm256_set1_pd(bar), _mm256_mul_pd(wl, wr)), _CMP_GT_OQ)));
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

// Four of them.
template <class Score>
FASTTREE_AVX2 inline void take_lanes(const Score& score, __m256d weight, __m256d first,
                                     __m256d second, uint32_t lanes, const uint32_t* limits,
                                     BestKey& best) {
    uint32_t beating = score.may_beat(best.bar * SCREEN, weight, first, second) & lanes;
    if (!beating) return;
    alignas(32) double scores[4];
    _mm256_store_pd(scores, score.score(weight, first, second));
    for (; beating != 0; beating &= beating - 1) {
        const int i = __builtin_ctz(beating);
        best.take(scores[i], limits[i]);
    }
}
template <class Score>
FASTTREE_AVX2 inline void best_key_avx2(const Score& score, LeftSums& sums, const uint32_t* limits,
                                        uint32_t n, BestKey& best) {
    for (uint32_t b = 0; b < n; b += 4) {
        const uint32_t lanes = n - b < 4 ? (1u << (n - b)) - 1 : 0xfu;
        take_lanes(score, _mm256_loadu_pd(sums.weight() + b), _mm256_loadu_pd(sums.first() + b),
                   _mm256_loadu_pd(sums.second() + b), lanes, limits + b, best);
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
FASTTREE_AVX2 inline __m256d quarter(__m256i lanes, bool is_high) {
    return _mm256_cvtepi32_pd(is_high ? _mm256_extracti128_si256(lanes, 1)
                                      : _mm256_castsi256_si128(lanes));
}
template <class Score>
FASTTREE_AVX2 inline void best_of_rows_avx2(const Score& score, const uint32_t* keys, uint32_t n,
                                            const uint32_t* weights,
                                            const std::vector<ClassRows>& classes, BestKey& best) {
    const uint32_t n_vectors = n > 8 ? 2 : 1;
    __m256i limits[2], weight[2], first[2], second[2];
    for (uint32_t v = 0; v < n_vectors; ++v) {
        limits[v] = load_8(keys + 8 * v);
        weight[v] = first[v] = second[v] = _mm256_setzero_si256();
    }
    for (const ClassRows& rows : classes) {
        for (uint32_t v = 0; v < n_vectors; ++v) {
            __m256i left = _mm256_setzero_si256();
            for (uint32_t j = rows.begin; j < rows.end; ++j) {
                const __m256i key = _mm256_set1_epi32(static_cast<int>(keys[j]));
                const __m256i own = _mm256_set1_epi32(static_cast<int>(weights[j]));
                left = _mm256_add_epi32(left, _mm256_and_si256(are_at_most(key, limits[v]), own));
            }
            weight[v] = _mm256_add_epi32(weight[v], left);
            if constexpr (Score::two_classes) {
                if (rows.label_class == 1) first[v] = left;
            } else {
                const __m256i right =
                    _mm256_sub_epi32(_mm256_set1_epi32(static_cast<int>(rows.weight)), left);
                first[v] = _mm256_add_epi32(first[v], _mm256_madd_epi16(left, left));
                second[v] = _mm256_add_epi32(second[v], _mm256_madd_epi16(right, right));
            }
        }
    }
    const uint32_t lanes = (1u << n) - 1;
    for (uint32_t b = 0; b < n; b += 4) {
        const uint32_t v = b / 8;
        const bool is_high = b & 4;
        take_lanes(score, quarter(weight[v], is_high), quarter(first[v], is_high),
                   quarter(second[v], is_high), lanes >> b & 0xf, keys + b, best);
    }
}
#endif
template <class Score>
inline void best_key(Simd simd, const Score& score, LeftSums& sums, const uint32_t* limits,
                     uint32_t n, BestKey& best) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return best_key_avx512(score, sums, limits, n, best);
    if (simd == SIMD_AVX2) return best_key_avx2(score, sums, limits, n, best);
#endif
    best_key_portable(score, sums, limits, n, best);
}

}  // namespace fasttree
