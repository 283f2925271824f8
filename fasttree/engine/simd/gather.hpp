// The values of a column in a node's rows, side by side, and their extremes, in one pass: numbers
// or codes of one byte.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_value.hpp"

namespace fasttree {

// Of a feature in a node; low == high if it is constant there.
struct Extremes {
    float low, high;      // of the numbers: above and below all others if there are none
    uint32_t n_missing;   // cells that are not numbers

    // Of these rows and others.
    void add(const Extremes& other) {
        low = std::min(low, other.low);
        high = std::max(high, other.high);
        n_missing += other.n_missing;
    }
};
static_assert(is_value<Extremes>);

struct CodeExtremes {
    uint8_t low, high;
};

constexpr uint32_t GATHER_PADDING = 3;  // bytes that a vector may read behind the codes

// Value of row r: column[r * stride].
inline Extremes gather_portable(const float* column, ptrdiff_t stride, const uint32_t* rows,
                                uint32_t n, float* out) {
    constexpr uint32_t LANES = 16;
    constexpr float INF = std::numeric_limits<float>::infinity();
    float low[LANES], high[LANES];
    std::fill(low, low + LANES, INF);
    std::fill(high, high + LANES, -INF);
    uint32_t n_missing = 0;
    for (uint32_t i = 0; i < n; ++i) out[i] = column[static_cast<ptrdiff_t>(rows[i]) * stride];
    for (uint32_t i = 0; i < n; i += LANES) {
        const uint32_t size = std::min(n - i, LANES);
        for (uint32_t k = 0; k < size; ++k) {
            const float x = out[i + k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
            n_missing += x != x;
        }
    }
    return {*std::min_element(low, low + LANES), *std::max_element(high, high + LANES), n_missing};
}

// Code of row r: codes[r].
inline CodeExtremes code_extremes_portable(const uint8_t* codes, uint32_t n) {
    uint8_t low = 0xff, high = 0;
    for (uint32_t i = 0; i < n; ++i) {
        low = std::min(low, codes[i]);
        high = std::max(high, codes[i]);
    }
    return {low, high};
}
inline CodeExtremes gather_codes_portable(const uint8_t* codes, const uint32_t* rows, uint32_t n,
                                          uint8_t* out) {
    for (uint32_t i = 0; i < n; ++i) out[i] = codes[rows[i]];
    return code_extremes_portable(out, n);
}

#if FASTTREE_X86
// How a vector of cells or codes is read: by a load per lane, or an instruction for all.
// UNIT_LOADS: of a column whose cells are side by side.
enum Reads { LOADS, UNIT_LOADS, GATHERS };

template <Reads reads>
FASTTREE_AVX512 inline __m512 load_cells(const float* column, ptrdiff_t stride,
                                         const uint32_t* r) {
    if constexpr (reads == GATHERS) {
        const __m512i at = _mm512_mullo_epi32(_mm512_loadu_si512(r),
                                              _mm512_set1_epi32(static_cast<int>(stride)));
        return _mm512_i32gather_ps(at, column, 4);
    }
    const ptrdiff_t s = reads == UNIT_LOADS ? 1 : stride;
    return _mm512_setr_ps(column[r[0] * s], column[r[1] * s], column[r[2] * s], column[r[3] * s],
                          column[r[4] * s], column[r[5] * s], column[r[6] * s], column[r[7] * s],
                          column[r[8] * s], column[r[9] * s], column[r[10] * s],
                          column[r[11] * s], column[r[12] * s], column[r[13] * s],
                          column[r[14] * s], column[r[15] * s]);
}
template <Reads reads>
FASTTREE_AVX512 inline __m128i load_codes(const uint8_t* codes, const uint32_t* r) {
    if constexpr (reads == GATHERS) {
        return _mm512_cvtepi32_epi8(_mm512_i32gather_epi32(_mm512_loadu_si512(r), codes, 1));
    }
    const auto code = [codes](uint32_t row) { return static_cast<char>(codes[row]); };
    return _mm_setr_epi8(code(r[0]), code(r[1]), code(r[2]), code(r[3]), code(r[4]), code(r[5]),
                         code(r[6]), code(r[7]), code(r[8]), code(r[9]), code(r[10]), code(r[11]),
                         code(r[12]), code(r[13]), code(r[14]), code(r[15]));
}
FASTTREE_AVX512 inline __m512 negative(__m512 x) {
    return _mm512_xor_ps(x, _mm512_set1_ps(-0.0f));
}
// The extremes of all lanes, both at once: the lowest is the largest of the negatives.
FASTTREE_AVX512 inline Extremes extremes_of(__m512 negatives, __m512 high, uint32_t n_missing) {
    __m512 most = _mm512_max_ps(_mm512_shuffle_f32x4(negatives, high, 0x44),
                                _mm512_shuffle_f32x4(negatives, high, 0xee));
    most = _mm512_max_ps(most, _mm512_shuffle_f32x4(most, most, 0xb1));
    most = _mm512_max_ps(most, _mm512_permute_ps(most, 0x4e));
    most = _mm512_max_ps(most, _mm512_permute_ps(most, 0xb1));
    return {-_mm512_cvtss_f32(most),
            _mm_cvtss_f32(_mm512_castps512_ps128(_mm512_shuffle_f32x4(most, most, 0x02))),
            n_missing};
}
// Offsets of all rows in `column` are to fit 32 bits, see `simd_of_reads`.
template <Reads reads>
FASTTREE_AVX512 inline Extremes gather_avx512(const float* column, ptrdiff_t stride,
                                              const uint32_t* rows, uint32_t n, float* out) {
    constexpr uint32_t LANES = 16;
    constexpr float INF = std::numeric_limits<float>::infinity();
    __m512 low = _mm512_set1_ps(INF), high = _mm512_set1_ps(-INF);
    if (n < LANES) {
        const __mmask16 lanes = static_cast<__mmask16>(low_bits(n));
        const __m512i at = _mm512_mullo_epi32(_mm512_maskz_loadu_epi32(lanes, rows),
                                              _mm512_set1_epi32(static_cast<int>(stride)));
        const __m512 x = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), lanes, at, column, 4);
        const __mmask16 missing = _mm512_mask_cmp_ps_mask(lanes, x, x, _CMP_UNORD_Q);
        const __mmask16 numbers = static_cast<__mmask16>(lanes & ~missing);
        _mm512_mask_storeu_ps(out, lanes, x);
        return extremes_of(negative(_mm512_mask_mov_ps(low, numbers, x)),
                           _mm512_mask_mov_ps(high, numbers, x),
                           static_cast<uint32_t>(__builtin_popcount(missing)));
    }
    uint32_t n_missing = 0;
    for (uint32_t i = 0; i < n; i += LANES) {
        const uint32_t first = std::min(i, n - LANES);  // the last ones begin among those before
        const __m512 x = load_cells<reads>(column, stride, rows + first);
        const uint32_t missing = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
        low = _mm512_min_ps(x, low);  // the second one if either is not a number
        high = _mm512_max_ps(x, high);
        n_missing += static_cast<uint32_t>(__builtin_popcount(missing >> (i - first)));
        _mm512_storeu_ps(out + first, x);
    }
    return extremes_of(negative(low), high, n_missing);
}
// Of all bytes: the least of 8 words whose upper halves are 0; the greatest is the least of
// complements.
FASTTREE_AVX2 inline CodeExtremes code_extremes_of(__m128i low, __m128i high) {
    high = _mm_xor_si128(high, _mm_set1_epi8(-1));
    low = _mm_minpos_epu16(_mm_min_epu8(low, _mm_srli_epi16(low, 8)));
    high = _mm_minpos_epu16(_mm_min_epu8(high, _mm_srli_epi16(high, 8)));
    return {static_cast<uint8_t>(_mm_cvtsi128_si32(low)),
            static_cast<uint8_t>(~_mm_cvtsi128_si32(high))};
}
template <Reads reads>
FASTTREE_AVX512 inline CodeExtremes gather_codes_avx512(const uint8_t* codes, const uint32_t* rows,
                                                        uint32_t n, uint8_t* out) {
    constexpr uint32_t LANES = 16;
    __m128i low, high;
    if (n < LANES) {
        const __mmask16 lanes = static_cast<__mmask16>(low_bits(n));
        high = _mm512_cvtepi32_epi8(_mm512_mask_i32gather_epi32(
            _mm512_setzero_si512(), lanes, _mm512_maskz_loadu_epi32(lanes, rows), codes, 1));
        low = _mm_mask_mov_epi8(_mm_set1_epi8(-1), lanes, high);
        _mm_mask_storeu_epi8(out, lanes, high);
    } else {
        low = _mm_set1_epi8(-1);
        high = _mm_setzero_si128();
        for (uint32_t i = 0; i < n; i += LANES) {
            const uint32_t first = std::min(i, n - LANES);
            const __m128i x = load_codes<reads>(codes, rows + first);
            low = _mm_min_epu8(low, x);
            high = _mm_max_epu8(high, x);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + first), x);
        }
    }
    return code_extremes_of(low, high);
}
FASTTREE_AVX2 inline CodeExtremes code_extremes_avx2(const uint8_t* codes, uint32_t n) {
    constexpr uint32_t LANES = 16;
    if (n < LANES) return code_extremes_portable(codes, n);
    __m128i low = _mm_set1_epi8(-1), high = _mm_setzero_si128();
    for (uint32_t i = 0; i < n; i += LANES) {
        const uint8_t* const next = codes + std::min(i, n - LANES);
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(next));
        low = _mm_min_epu8(low, x);
        high = _mm_max_epu8(high, x);
    }
    return code_extremes_of(low, high);
}
// Loads and stores alone take less time than with a look at each code.
FASTTREE_AVX2 inline CodeExtremes gather_codes_avx2(const uint8_t* codes, const uint32_t* rows,
                                                    uint32_t n, uint8_t* FASTTREE_RESTRICT out) {
    for (uint32_t i = 0; i < n; ++i) out[i] = codes[rows[i]];
    return code_extremes_avx2(out, n);
}
// At least 8 rows.
template <bool is_unit>
FASTTREE_AVX2 inline Extremes gather_avx2(const float* column, ptrdiff_t stride,
                                          const uint32_t* rows, uint32_t n, float* out) {
    constexpr uint32_t LANES = 8;
    constexpr float INF = std::numeric_limits<float>::infinity();
    const ptrdiff_t s = is_unit ? 1 : stride;
    __m256 low = _mm256_set1_ps(INF), high = _mm256_set1_ps(-INF);
    uint32_t n_missing = 0;
    for (uint32_t i = 0; i < n; i += LANES) {
        const uint32_t first = std::min(i, n - LANES);  // the last ones begin among those before
        const uint32_t* r = rows + first;
        const __m256 x = _mm256_setr_ps(column[r[0] * s], column[r[1] * s], column[r[2] * s],
                                        column[r[3] * s], column[r[4] * s], column[r[5] * s],
                                        column[r[6] * s], column[r[7] * s]);
        const int missing = _mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
        low = _mm256_min_ps(x, low);  // the second one if either is not a number
        high = _mm256_max_ps(x, high);
        n_missing += static_cast<uint32_t>(__builtin_popcount(missing >> (i - first)));
        _mm256_storeu_ps(out + first, x);
    }
    alignas(32) float lowest[LANES], highest[LANES];
    _mm256_store_ps(lowest, low);
    _mm256_store_ps(highest, high);
    return {*std::min_element(lowest, lowest + LANES),
            *std::max_element(highest, highest + LANES), n_missing};
}
#endif

inline CodeExtremes code_extremes(Simd simd, const uint8_t* codes, uint32_t n) {
#if FASTTREE_X86
    if (simd != SIMD_PORTABLE) return code_extremes_avx2(codes, n);
#endif
    return code_extremes_portable(codes, n);
}
inline CodeExtremes gather_codes(Simd simd, const uint8_t* codes, const uint32_t* rows, uint32_t n,
                                 uint8_t* out, bool gathers = gathers_fast()) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) {
        return gathers ? gather_codes_avx512<GATHERS>(codes, rows, n, out)
                       : gather_codes_avx512<LOADS>(codes, rows, n, out);
    }
    if (simd == SIMD_AVX2) return gather_codes_avx2(codes, rows, n, out);
#endif
    return gather_codes_portable(codes, rows, n, out);
}

// The instruction set for reads of cells that are so far apart: AVX-512's offsets have 32 bits.
inline Simd simd_of_reads(Simd simd, uint32_t n_rows, ptrdiff_t stride) {
    const bool fits =
        static_cast<uint64_t>(stride < 0 ? -stride : stride) * n_rows < uint64_t{1} << 31;
    return simd == SIMD_AVX512 && !fits ? SIMD_AVX2 : simd;
}

inline Extremes gather(Simd simd, const float* column, ptrdiff_t stride, const uint32_t* rows,
                       uint32_t n, float* out, bool gathers = gathers_fast()) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) {
        return gathers       ? gather_avx512<GATHERS>(column, stride, rows, n, out)
               : stride == 1 ? gather_avx512<UNIT_LOADS>(column, stride, rows, n, out)
                             : gather_avx512<LOADS>(column, stride, rows, n, out);
    }
    if (simd == SIMD_AVX2 && n >= 8) {
        return stride == 1 ? gather_avx2<true>(column, stride, rows, n, out)
                           : gather_avx2<false>(column, stride, rows, n, out);
    }
#endif
    return gather_portable(column, stride, rows, n, out);
}

}  // namespace fasttree
