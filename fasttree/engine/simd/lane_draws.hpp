// Thresholds drawn about all features of a node at once, a lane per feature.
//
// Where a row's cells lie one after the other, a vector holds 16 features of it: two walks along
// the node's rows serve them all. Extremes, draws and sides are those of `gather`, `KeyedSampler`
// and `mark_sides`, to the last bit.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/simd/bits.hpp"
#include "engine/simd/lane_draws_avx2.hpp"
#include "engine/simd/lanes.hpp"
#include "engine/simd/sides.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86
FASTTREE_AVX512 inline void find_extremes_avx512(const float* X, ptrdiff_t row_stride,
                                                 uint32_t n_lanes, const uint32_t* rows,
                                                 uint32_t n, LaneDraws& out) {
    const __mmask16 lanes = static_cast<__mmask16>(low_bits(n_lanes));
    __m512 low = _mm512_maskz_loadu_ps(lanes, X + static_cast<ptrdiff_t>(rows[0]) * row_stride);
    __m512 high = low;
    __mmask16 missing = _mm512_cmp_ps_mask(low, low, _CMP_UNORD_Q);
    for (uint32_t i = 1; i < n; ++i) {
        const __m512 x =
            _mm512_maskz_loadu_ps(lanes, X + static_cast<ptrdiff_t>(rows[i]) * row_stride);
        low = _mm512_min_ps(x, low);
        high = _mm512_max_ps(x, high);
        missing |= _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    }
    _mm512_storeu_ps(out.low, low);
    _mm512_storeu_ps(out.high, high);
    out.varies = _mm512_cmp_ps_mask(low, high, _CMP_NEQ_OQ);
    out.missing = missing;
}

FASTTREE_AVX512 inline __m512i mix_lanes(__m512i z) {
    z = _mm512_xor_si512(z, _mm512_srli_epi64(z, 30));
    z = _mm512_mullo_epi64(z, _mm512_set1_epi64(static_cast<long long>(0xbf58476d1ce4e5b9u)));
    z = _mm512_xor_si512(z, _mm512_srli_epi64(z, 27));
    z = _mm512_mullo_epi64(z, _mm512_set1_epi64(static_cast<long long>(0x94d049bb133111ebu)));
    return _mm512_xor_si512(z, _mm512_srli_epi64(z, 31));
}
// Half of the thresholds, and the floats.
FASTTREE_AVX512 inline void draw_half(uint64_t key, uint32_t first_feature, const float* lows,
                                      const float* highs, double* thresholds, float* tops) {
    const __m512i step = _mm512_set1_epi64(static_cast<long long>(0x9e3779b97f4a7c15u));
    const __m512i feature = _mm512_add_epi64(_mm512_set1_epi64(first_feature),
                                             _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    const __m512i keys = mix_lanes(_mm512_sub_epi64(_mm512_set1_epi64(static_cast<long long>(key)),
                                                    _mm512_mullo_epi64(step, feature)));
    const __m512i random = mix_lanes(_mm512_add_epi64(keys, step));
    const __m512d unit = _mm512_mul_pd(_mm512_cvtepu64_pd(_mm512_srli_epi64(random, 11)),
                                       _mm512_set1_pd(0x1.0p-53));
    const __m512d low = _mm512_cvtps_pd(_mm256_loadu_ps(lows));
    const __m512d high = _mm512_cvtps_pd(_mm256_loadu_ps(highs));
    __m512d t = _mm512_add_pd(low, _mm512_mul_pd(_mm512_sub_pd(high, low), unit));
    t = _mm512_mask_mov_pd(t, _mm512_cmp_pd_mask(t, high, _CMP_EQ_OQ), low);
    _mm512_storeu_pd(thresholds, t);
    _mm256_storeu_ps(tops, _mm512_cvt_roundpd_ps(t, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
}
FASTTREE_AVX512 inline void draw_lanes_avx512(uint64_t key, uint32_t first_feature,
                                              LaneDraws& out) {
    draw_half(key, first_feature, out.low, out.high, out.thresholds, out.tops);
    draw_half(key, first_feature + 8, out.low + 8, out.high + 8, out.thresholds + 8, out.tops + 8);
    _mm512_storeu_si512(out.n_left, _mm512_setzero_si512());
}
FASTTREE_AVX512 inline void mark_lanes_avx512(const float* X, ptrdiff_t row_stride,
                                              uint32_t n_lanes, const uint32_t* rows, uint32_t n,
                                              LaneDraws& draws, uint16_t* left) {
    const __mmask16 lanes = static_cast<__mmask16>(low_bits(n_lanes));
    const __m512 tops = _mm512_loadu_ps(draws.tops);
    const __m512i one = _mm512_set1_epi32(1);
    __m512i n_left = _mm512_loadu_si512(draws.n_left);
    for (uint32_t i = 0; i < n; ++i) {
        const __m512 x =
            _mm512_maskz_loadu_ps(lanes, X + static_cast<ptrdiff_t>(rows[i]) * row_stride);
        const __mmask16 is_left = _mm512_mask_cmp_ps_mask(lanes, x, tops, _CMP_LE_OQ);
        n_left = _mm512_mask_add_epi32(n_left, is_left, n_left, one);
        left[i] = is_left;
    }
    _mm512_storeu_si512(draws.n_left, n_left);
}
FASTTREE_AVX512 inline uint32_t leaving_rows_avx512(uint32_t lanes, const int32_t* n_left,
                                                    uint32_t n, uint32_t least) {
    const __m512i left = _mm512_loadu_si512(n_left);
    const __m512i right = _mm512_sub_epi32(_mm512_set1_epi32(static_cast<int>(n)), left);
    return _mm512_mask_cmpge_epi32_mask(static_cast<__mmask16>(lanes),
                                        _mm512_min_epi32(left, right),
                                        _mm512_set1_epi32(static_cast<int>(least)));
}
// Of up to 32 rows, of which `left` holds all lanes, those that go left in some.
FASTTREE_AVX512 inline uint64_t sides_in_lanes(const uint16_t* left, uint32_t n, __m512i lanes) {
    const __mmask32 rows = static_cast<__mmask32>(low_bits(n));
    return _mm512_mask_test_epi16_mask(rows, _mm512_maskz_loadu_epi16(rows, left), lanes);
}
FASTTREE_AVX512 inline void take_lane_sides_avx512(const uint16_t* left, uint32_t n, uint32_t lane,
                                                   uint64_t* sides) {
    constexpr uint32_t HALF = WORD_BITS / 2;
    const __m512i lanes = _mm512_set1_epi16(static_cast<short>(1u << lane));
    for (uint32_t i = 0; i < n; i += WORD_BITS) {
        sides[i / WORD_BITS] = sides_in_lanes(left + i, std::min(n - i, HALF), lanes);
        if (n - i <= HALF) break;
        sides[i / WORD_BITS] |=
            sides_in_lanes(left + i + HALF, std::min(n - i - HALF, HALF), lanes) << HALF;
    }
}
#endif

// Nobody calls these without vectors. Extremes of the lanes; X begins at the first of them.
inline void find_extremes(Simd simd, const float* X, ptrdiff_t row_stride, uint32_t n_lanes,
                          const uint32_t* rows, uint32_t n, LaneDraws& out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return find_extremes_avx512(X, row_stride, n_lanes, rows, n, out);
    find_extremes_avx2(X, row_stride, n_lanes, rows, n, out);
#endif
}
// Draws a threshold in every lane.
inline void draw_lanes(Simd simd, uint64_t key, uint32_t first_feature, uint32_t n_lanes,
                       LaneDraws& out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return draw_lanes_avx512(key, first_feature, out);
    draw_lanes_avx2(key, first_feature, n_lanes, out);
#endif
}
// Of each row the lanes in which it goes left; adds them to those on the left.
inline void mark_lanes(Simd simd, const float* X, ptrdiff_t row_stride, uint32_t n_lanes,
                       const uint32_t* rows, uint32_t n, LaneDraws& draws, uint16_t* left) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return mark_lanes_avx512(X, row_stride, n_lanes, rows, n, draws, left);
    mark_lanes_avx2(X, row_stride, n_lanes, rows, n, draws, left);
#endif
}
// Those of some lanes in which at least `least` of n rows are on either side.
inline uint32_t leaving_rows(Simd simd, uint32_t lanes, const int32_t* n_left, uint32_t n,
                             uint32_t least) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return leaving_rows_avx512(lanes, n_left, n, least);
    return leaving_rows_avx2(lanes, n_left, n, least);
#else
    return lanes;
#endif
}
// Sides of the rows in a lane.
inline void take_lane_sides(Simd simd, const uint16_t* left, uint32_t n, uint32_t lane,
                            uint64_t* sides) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return take_lane_sides_avx512(left, n, lane, sides);
    take_lane_sides_avx2(left, n, lane, sides);
#endif
}

}  // namespace fasttree
