// The kernels of `lane_draws.hpp` in vectors of 32 bytes: 8 lanes, then the other 8 if there are so
// many features.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/simd/avx2.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/lanes.hpp"

namespace fasttree {

#if FASTTREE_X86

FASTTREE_AVX2 inline void find_extremes_avx2(const float* X, ptrdiff_t row_stride, uint32_t n_lanes,
                                             const uint32_t* rows, uint32_t n, LaneDraws& out) {
    out.varies = out.missing = 0;
    for (uint32_t first = 0; first < n_lanes; first += 8) {
        const __m256i lanes = lanes_of_8(static_cast<uint32_t>(low_bits(n_lanes - first)));
        const float* x_of = X + first;
        __m256 low = _mm256_maskload_ps(x_of + static_cast<ptrdiff_t>(rows[0]) * row_stride, lanes);
        __m256 high = low, missing = _mm256_cmp_ps(low, low, _CMP_UNORD_Q);
        for (uint32_t i = 1; i < n; ++i) {
            const __m256 x =
                _mm256_maskload_ps(x_of + static_cast<ptrdiff_t>(rows[i]) * row_stride, lanes);
            low = _mm256_min_ps(x, low);
            high = _mm256_max_ps(x, high);
            missing = _mm256_or_ps(missing, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
        }
        _mm256_storeu_ps(out.low + first, low);
        _mm256_storeu_ps(out.high + first, high);
        const __m256 varies = _mm256_cmp_ps(low, high, _CMP_NEQ_OQ);
        out.varies |= static_cast<uint32_t>(_mm256_movemask_ps(varies)) << first;
        out.missing |= static_cast<uint32_t>(_mm256_movemask_ps(missing)) << first;
    }
}

// The lower 64 bits of products.
FASTTREE_AVX2 inline __m256i product_4(__m256i a, __m256i b) {
    const __m256i swapped = _mm256_shuffle_epi32(b, 0xb1);
    const __m256i crossed = _mm256_mullo_epi32(a, swapped);  // low times high, and vice versa
    const __m256i high = _mm256_add_epi32(crossed, _mm256_slli_epi64(crossed, 32));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b),
                            _mm256_blend_epi32(_mm256_setzero_si256(), high, 0xaa));
}
FASTTREE_AVX2 inline __m256i mix_lanes_4(__m256i z) {
    z = _mm256_xor_si256(z, _mm256_srli_epi64(z, 30));
    z = product_4(z, _mm256_set1_epi64x(static_cast<long long>(0xbf58476d1ce4e5b9u)));
    z = _mm256_xor_si256(z, _mm256_srli_epi64(z, 27));
    z = product_4(z, _mm256_set1_epi64x(static_cast<long long>(0x94d049bb133111ebu)));
    return _mm256_xor_si256(z, _mm256_srli_epi64(z, 31));
}
// See `float_up_to`.
FASTTREE_AVX2 inline __m128 floats_up_to(__m256d x) {
    const __m128 nearest = _mm256_cvtpd_ps(x);
    const __m256i above = _mm256_castpd_si256(
        _mm256_cmp_pd(_mm256_cvtps_pd(nearest), x, _CMP_GT_OQ));
    const __m128i is_above = _mm_castps_si128(_mm_shuffle_ps(
        _mm_castsi128_ps(_mm256_castsi256_si128(above)),
        _mm_castsi128_ps(_mm256_extracti128_si256(above, 1)), 0x88));
    const __m128i bits = _mm_castps_si128(nearest);
    const __m128i step = _mm_or_si128(_mm_srai_epi32(bits, 31), _mm_set1_epi32(1));
    return _mm_castsi128_ps(_mm_sub_epi32(bits, _mm_and_si128(step, is_above)));
}
FASTTREE_AVX2 inline void draw_lanes_avx2(uint64_t key, uint32_t first_feature, uint32_t n_lanes,
                                          LaneDraws& out) {
    constexpr uint64_t STEP = 0x9e3779b97f4a7c15u;
    const __m256i step = _mm256_set1_epi64x(static_cast<long long>(STEP));
    const __m256i steps = product_4(step, _mm256_setr_epi64x(0, 1, 2, 3));
    for (uint32_t i = 0; i < n_lanes; i += 4) {
        const uint64_t of_first = key - STEP * (first_feature + i);
        const __m256i keys = mix_lanes_4(_mm256_sub_epi64(
            _mm256_set1_epi64x(static_cast<long long>(of_first)), steps));
        const __m256i random = mix_lanes_4(_mm256_add_epi64(keys, step));
        const __m256d unit = _mm256_mul_pd(to_doubles_4(_mm256_srli_epi64(random, 11)),
                                           _mm256_set1_pd(0x1.0p-53));
        const __m256d low = _mm256_cvtps_pd(_mm_loadu_ps(out.low + i));
        const __m256d high = _mm256_cvtps_pd(_mm_loadu_ps(out.high + i));
        __m256d t = _mm256_add_pd(low, _mm256_mul_pd(_mm256_sub_pd(high, low), unit));
        t = _mm256_blendv_pd(t, _mm256_add_pd(low, _mm256_setzero_pd()),
                             _mm256_cmp_pd(t, high, _CMP_EQ_OQ));
        _mm256_storeu_pd(out.thresholds + i, t);
        _mm_storeu_ps(out.tops + i, floats_up_to(t));
    }
    std::fill_n(out.n_left, LANES, 0);
}

template <bool has_two>
FASTTREE_AVX2 inline void mark_lanes_of(const float* X, ptrdiff_t row_stride, uint32_t n_lanes,
                                        const uint32_t* rows, uint32_t n, LaneDraws& draws,
                                        uint16_t* left) {
    const __m256i lanes = lanes_of_8(static_cast<uint32_t>(low_bits(n_lanes)));
    const __m256i others = lanes_of_8(static_cast<uint32_t>(low_bits(n_lanes) >> 8));
    const __m256 tops = _mm256_loadu_ps(draws.tops), other_tops = _mm256_loadu_ps(draws.tops + 8);
    int32_t* n_left = draws.n_left;
    __m256i sum = _mm256_setzero_si256(), other_sum = sum;
    for (uint32_t i = 0; i < n; ++i) {
        const float* x = X + static_cast<ptrdiff_t>(rows[i]) * row_stride;
        const __m256 is_left = _mm256_cmp_ps(_mm256_maskload_ps(x, lanes), tops, _CMP_LE_OQ);
        sum = _mm256_sub_epi32(sum, _mm256_castps_si256(is_left));
        int bits = _mm256_movemask_ps(is_left);
        if constexpr (has_two) {
            const __m256 other =
                _mm256_cmp_ps(_mm256_maskload_ps(x + 8, others), other_tops, _CMP_LE_OQ);
            other_sum = _mm256_sub_epi32(other_sum, _mm256_castps_si256(other));
            bits |= _mm256_movemask_ps(other) << 8;
        }
        left[i] = static_cast<uint16_t>(bits);
    }
    const auto add = [](__m256i lanes_sum, int32_t* to) FASTTREE_AVX2 {
        __m256i* all = reinterpret_cast<__m256i*>(to);
        _mm256_storeu_si256(all, _mm256_add_epi32(_mm256_loadu_si256(all), lanes_sum));
    };
    add(sum, n_left);
    if constexpr (has_two) add(other_sum, n_left + 8);
}
// Lanes that are no features hold what it may.
FASTTREE_AVX2 inline void mark_lanes_avx2(const float* X, ptrdiff_t row_stride, uint32_t n_lanes,
                                          const uint32_t* rows, uint32_t n, LaneDraws& draws,
                                          uint16_t* left) {
    if (n_lanes > 8) mark_lanes_of<true>(X, row_stride, n_lanes, rows, n, draws, left);
    else mark_lanes_of<false>(X, row_stride, n_lanes, rows, n, draws, left);
}
FASTTREE_AVX2 inline uint32_t leaving_rows_avx2(uint32_t lanes, const int32_t* n_left, uint32_t n,
                                                uint32_t least) {
    uint32_t too_few = 0;
    for (uint32_t i = 0; i < LANES; i += 8) {
        const __m256i left = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(n_left + i));
        const __m256i right = _mm256_sub_epi32(_mm256_set1_epi32(static_cast<int>(n)), left);
        too_few |= top_bits_8(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(least)),
                                                 _mm256_min_epi32(left, right))) << i;
    }
    return lanes & ~too_few;
}
// Whole vectors of `left` are read, up to the next multiple of 32 rows.
FASTTREE_AVX2 inline void take_lane_sides_avx2(const uint16_t* left, uint32_t n, uint32_t lane,
                                               uint64_t* sides) {
    constexpr uint32_t HALF = 32;
    const __m128i to_top = _mm_cvtsi32_si128(static_cast<int>(LANES - 1 - lane));
    for (uint32_t i = 0; i < n; i += HALF) {
        const __m256i* all = reinterpret_cast<const __m256i*>(left + i);
        const __m256i both = _mm256_packs_epi16(
            _mm256_sll_epi16(_mm256_loadu_si256(all), to_top),
            _mm256_sll_epi16(_mm256_loadu_si256(all + 1), to_top));
        const uint64_t bits = static_cast<uint32_t>(
            _mm256_movemask_epi8(_mm256_permute4x64_epi64(both, 0xd8)));
        uint64_t& word = sides[i / 64];
        if (i % 64 == 0) word = bits & low_bits(n - i);
        else word |= (bits & low_bits(n - i)) << HALF;
    }
}

#endif

}  // namespace fasttree
