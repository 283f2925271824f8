// The kernels of `lane_counts.hpp` in vectors of 32 bytes: 8 lanes, then the other 8 if there are
// so many features.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/core/impurity.hpp"
#include "engine/score/screens.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/lanes.hpp"

namespace fasttree {

#if FASTTREE_X86

// Those of some lanes whose score may be the best, between `least` and `most`.
FASTTREE_AVX2 inline uint32_t best_lanes_avx2(const double* most, const double* least,
                                              uint32_t lanes) {
    double top = MINUS_INFINITY;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        top = std::max(top, least[lowest_bit(rest)]);
    }
    const __m256d tops = _mm256_set1_pd(top);
    uint32_t found = 0;
    for (uint32_t i = 0; i < LANES; i += 4) {
        const __m256d is_found = _mm256_cmp_pd(_mm256_loadu_pd(most + i), tops, _CMP_GE_OQ);
        found |= static_cast<uint32_t>(_mm256_movemask_pd(is_found)) << i;
    }
    return lanes & found;
}
FASTTREE_AVX2 inline __m256d lane_numbers_4(const int32_t* counts) {
    return _mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i*>(counts)));
}
FASTTREE_AVX2 inline __m256d lane_numbers_4(const int64_t* sums) {
    return to_doubles_4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums)));
}
template <class Sum>
FASTTREE_AVX2 inline uint32_t best_separations_avx2(const Sum* left, const int32_t* n_left,
                                                    int64_t total, int64_t w_total,
                                                    uint32_t lanes) {
    constexpr double ROUNDING = 0x1p-50;
    const __m256d w = _mm256_set1_pd(to_double(w_total)), s = _mm256_set1_pd(to_double(total));
    const __m256d no_sign = _mm256_castsi256_pd(_mm256_set1_epi64x(INT64_MAX));
    double most[LANES], least[LANES];
    for (uint32_t i = 0; i < LANES && lanes >> i != 0; i += 4) {
        const __m256d w_left = lane_numbers_4(n_left + i);
        const __m256d a = _mm256_mul_pd(lane_numbers_4(left + i), w), b = _mm256_mul_pd(s, w_left);
        const __m256d sizes = _mm256_add_pd(_mm256_and_pd(a, no_sign), _mm256_and_pd(b, no_sign));
        const __m256d error = _mm256_mul_pd(sizes, _mm256_set1_pd(ROUNDING));
        const __m256d d = _mm256_and_pd(_mm256_sub_pd(a, b), no_sign);
        const __m256d d_most = _mm256_add_pd(d, error);
        const __m256d d_least = _mm256_max_pd(_mm256_sub_pd(d, error), _mm256_setzero_pd());
        const __m256d unit = _mm256_div_pd(_mm256_set1_pd(1.0),
                                           _mm256_mul_pd(w_left, _mm256_sub_pd(w, w_left)));
        const __m256d above = _mm256_mul_pd(unit, _mm256_set1_pd(2.0 - SCREEN));
        const __m256d below = _mm256_mul_pd(unit, _mm256_set1_pd(SCREEN));
        _mm256_storeu_pd(most + i, _mm256_mul_pd(_mm256_mul_pd(d_most, d_most), above));
        _mm256_storeu_pd(least + i, _mm256_mul_pd(_mm256_mul_pd(d_least, d_least), below));
    }
    return best_lanes_avx2(most, least, lanes);
}
FASTTREE_AVX2 inline uint32_t best_ginis_avx2(const int64_t* squares_left,
                                              const int64_t* squares_right, const int32_t* n_left,
                                              int64_t w_total, uint32_t lanes) {
    const __m256d w = _mm256_set1_pd(to_double(w_total));
    double most[LANES], least[LANES];
    for (uint32_t i = 0; i < LANES && lanes >> i != 0; i += 4) {
        const __m256d w_left = lane_numbers_4(n_left + i);
        const __m256d l = _mm256_div_pd(lane_numbers_4(squares_left + i), w_left);
        const __m256d r =
            _mm256_div_pd(lane_numbers_4(squares_right + i), _mm256_sub_pd(w, w_left));
        const __m256d score = _mm256_add_pd(l, r);
        _mm256_storeu_pd(most + i, _mm256_mul_pd(score, _mm256_set1_pd(2.0 - SCREEN)));
        _mm256_storeu_pd(least + i, _mm256_mul_pd(score, _mm256_set1_pd(SCREEN)));
    }
    return best_lanes_avx2(most, least, lanes);
}

// Adds one to those of 8 counts whose bit is set.
FASTTREE_AVX2 inline __m256i counted_8(__m256i counts, uint32_t bits) {
    return _mm256_sub_epi32(counts, lanes_of_8(bits));
}
template <uint32_t n_vectors>
FASTTREE_AVX2 inline void count_ones_of(const uint8_t* classes, uint32_t n, const uint16_t* left,
                                        int32_t* ones) {
    __m256i sums[n_vectors];
    for (uint32_t v = 0; v < n_vectors; ++v) {
        sums[v] = _mm256_loadu_si256(reinterpret_cast<__m256i*>(ones + 8 * v));
    }
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t own = classes[i] ? left[i] : 0;
        for (uint32_t v = 0; v < n_vectors; ++v) sums[v] = counted_8(sums[v], own >> 8 * v);
    }
    for (uint32_t v = 0; v < n_vectors; ++v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(ones + 8 * v), sums[v]);
    }
}
FASTTREE_AVX2 inline void count_lane_ones_avx2(const uint8_t* classes, uint32_t n,
                                               const uint16_t* left, uint32_t n_lanes,
                                               int32_t* ones) {
    if (n_lanes > 8) count_ones_of<2>(classes, n, left, ones);
    else count_ones_of<1>(classes, n, left, ones);
}
// `counts` is [number of a class, lane].
FASTTREE_AVX2 inline void count_classes_avx2(const uint8_t* classes, const uint8_t* number,
                                             uint32_t n, const uint16_t* left, uint32_t n_lanes,
                                             int32_t* counts) {
    for (uint32_t i = 0; i < n; ++i) {
        __m256i* own = reinterpret_cast<__m256i*>(counts + size_t{number[classes[i]]} * LANES);
        _mm256_storeu_si256(own, counted_8(_mm256_loadu_si256(own), left[i]));
        if (n_lanes <= 8) continue;
        _mm256_storeu_si256(own + 1, counted_8(_mm256_loadu_si256(own + 1), left[i] >> 8));
    }
}
template <uint32_t n_vectors>
FASTTREE_AVX2 inline void sum_targets_of(const int64_t* targets, uint32_t n, const uint16_t* left,
                                         int64_t* sums) {
    __m256i all[n_vectors], bits[n_vectors];
    for (uint32_t v = 0; v < n_vectors; ++v) {
        all[v] = _mm256_loadu_si256(reinterpret_cast<__m256i*>(sums + 4 * v));
        bits[v] = _mm256_slli_epi64(_mm256_setr_epi64x(1, 2, 4, 8), static_cast<int>(4 * v));
    }
    for (uint32_t i = 0; i < n; ++i) {
        const __m256i target = _mm256_set1_epi64x(targets[i]);
        const __m256i own = _mm256_set1_epi64x(left[i]);
        for (uint32_t v = 0; v < n_vectors; ++v) {
            const __m256i is_left = _mm256_cmpeq_epi64(_mm256_and_si256(own, bits[v]), bits[v]);
            all[v] = _mm256_add_epi64(all[v], _mm256_and_si256(is_left, target));
        }
    }
    for (uint32_t v = 0; v < n_vectors; ++v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 4 * v), all[v]);
    }
}
FASTTREE_AVX2 inline void sum_targets_avx2(const int64_t* targets, uint32_t n,
                                           const uint16_t* left, uint32_t n_lanes, int64_t* sums) {
    if (n_lanes > 12) sum_targets_of<4>(targets, n, left, sums);
    else if (n_lanes > 8) sum_targets_of<3>(targets, n, left, sums);
    else sum_targets_of<2>(targets, n, left, sums);
}
// The sums of the squared class counts on the left, and on the right, of all n_classes numbers.
FASTTREE_AVX2 inline void sum_squares_avx2(const int32_t* counts, const int32_t* totals,
                                           size_t n_classes, uint32_t n_lanes,
                                           int64_t* squares_left, int64_t* squares_right) {
    const auto store = [](__m256i even, __m256i odd, int64_t* out) FASTTREE_AVX2 {
        const __m256i front = _mm256_unpacklo_epi64(even, odd);
        const __m256i back = _mm256_unpackhi_epi64(even, odd);
        __m256i* to = reinterpret_cast<__m256i*>(out);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(front, back, 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(front, back, 0x31));
    };
    for (uint32_t first = 0; first < n_lanes; first += 8) {
        __m256i l_even = _mm256_setzero_si256(), l_odd = l_even, r_even = l_even, r_odd = l_even;
        for (size_t k = 0; k < n_classes; ++k) {
            const __m256i l = _mm256_loadu_si256(
                reinterpret_cast<const __m256i*>(counts + k * LANES + first));
            const __m256i r = _mm256_sub_epi32(_mm256_set1_epi32(totals[k]), l);
            const __m256i l_up = _mm256_srli_epi64(l, 32), r_up = _mm256_srli_epi64(r, 32);
            l_even = _mm256_add_epi64(l_even, _mm256_mul_epu32(l, l));
            r_even = _mm256_add_epi64(r_even, _mm256_mul_epu32(r, r));
            l_odd = _mm256_add_epi64(l_odd, _mm256_mul_epu32(l_up, l_up));
            r_odd = _mm256_add_epi64(r_odd, _mm256_mul_epu32(r_up, r_up));
        }
        store(l_even, l_odd, squares_left + first);
        store(r_even, r_odd, squares_right + first);
    }
}

#endif

}  // namespace fasttree
