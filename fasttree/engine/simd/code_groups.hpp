// The codes of a group of columns in some rows, column by column.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/simd/avx2.hpp"
#include "engine/simd/gather.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/transpose.hpp"

namespace fasttree {

constexpr uint32_t GROUP = 16;         // columns
constexpr uint32_t GROUP_VECTOR = 32;  // rows that are written at a time

// Rows of a column in the output: whole vectors of them.
inline size_t group_stride(uint32_t n) {
    return (size_t{n} + GROUP_VECTOR - 1) / GROUP_VECTOR * GROUP_VECTOR;
}

// Columns of a group that a node looks at, and the extremes of their codes.
struct GroupPlaces {
    static constexpr uint32_t MOST = 4;
    uint8_t places[MOST] = {};
    uint32_t n = 0;
    CodeExtremes extremes[MOST];
};

// Code k of row r is codes[r * GROUP + k]; out[k * group_stride(n) + i] gets that of the i-th of
// the rows.
inline void gather_group_portable(const uint8_t* codes, const uint32_t* rows,
                                  uint32_t n, uint8_t* out) {
    for (uint32_t i = 0; i < n; ++i) {
        const uint8_t* row = codes + size_t{rows[i]} * GROUP;
        for (uint32_t k = 0; k < GROUP; ++k) out[k * group_stride(n) + i] = row[k];
    }
}

#if FASTTREE_X86
FASTTREE_AVX2 inline void gather_rows_of_group(const uint8_t* codes, const uint32_t* rows,
                                               uint8_t* out, size_t out_stride) {
    const auto load = [=](uint32_t i) FASTTREE_AVX2 {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + size_t{rows[i]} * GROUP));
    };
    __m256i a[GROUP];
    for (uint32_t k = 0; k < GROUP; ++k) {
        a[k] = _mm256_inserti128_si256(_mm256_castsi128_si256(load(k)), load(k + GROUP), 1);
    }
    transpose_bytes(a, [](const __m256i& x, const __m256i& y, __m256i& low,
                          __m256i& high) FASTTREE_AVX2 {
        low = _mm256_unpacklo_epi8(x, y);
        high = _mm256_unpackhi_epi8(x, y);
    });
    for (uint32_t k = 0; k < GROUP; ++k) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + k * out_stride), a[k]);
    }
}
FASTTREE_AVX2 inline void gather_group_avx2(const uint8_t* codes, const uint32_t* rows, uint32_t n,
                                            uint8_t* out) {
    const size_t out_stride = group_stride(n);
    uint32_t first = 0;
    for (; first + GROUP_VECTOR <= n; first += GROUP_VECTOR) {
        gather_rows_of_group(codes, rows + first, out + first, out_stride);
    }
    if (first == n) return;
    uint32_t last[GROUP_VECTOR] = {};
    std::copy(rows + first, rows + n, last);
    gather_rows_of_group(codes, last, out + first, out_stride);
}
// Some columns of 16 rows: a shuffle picks their codes of four rows, whose places are `from`.
FASTTREE_AVX512 inline __m512i gather_places_of_rows(const uint8_t* codes, const uint32_t* rows,
                                                     __m512i from) {
    const auto load = [=](uint32_t i) FASTTREE_AVX512 {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + size_t{rows[i]} * GROUP));
    };
    __m512i picked = _mm512_setzero_si512();
    for (uint32_t i = 0; i < 4; ++i) {
        __m512i four = _mm512_castsi128_si512(load(4 * i));
        four = _mm512_inserti32x4(four, load(4 * i + 1), 1);
        four = _mm512_inserti32x4(four, load(4 * i + 2), 2);
        four = _mm512_inserti32x4(four, load(4 * i + 3), 3);
        constexpr uint64_t FOUR_BYTES = 0x000f000f000f000f;  // of each column
        picked = _mm512_mask_permutexvar_epi8(picked, FOUR_BYTES << 4 * i, from, four);
    }
    return picked;
}
FASTTREE_AVX512 inline void gather_places_avx512(const uint8_t* codes, const uint32_t* rows,
                                                 uint32_t n, GroupPlaces& columns, uint8_t* out) {
    constexpr uint32_t ROWS = 16;
    const size_t out_stride = group_stride(n);
    int places;
    std::memcpy(&places, columns.places, sizeof places);
    // Byte 16 k + i: column k of row i % 4.
    const __m512i column = _mm512_shuffle_epi8(
        _mm512_set1_epi32(places),
        _mm512_set_epi64(0x0303030303030303, 0x0303030303030303, 0x0202020202020202,
                         0x0202020202020202, 0x0101010101010101, 0x0101010101010101, 0, 0));
    const __m512i from = _mm512_add_epi8(column, _mm512_set1_epi32(0x30201000));
    __m512i low = _mm512_set1_epi8(-1), high = _mm512_setzero_si512();
    alignas(64) uint8_t by_column[GroupPlaces::MOST][ROWS];
    for (uint32_t first = 0; first < n; first += ROWS) {
        uint32_t last[ROWS];
        const bool is_whole = first + ROWS <= n;
        if (!is_whole) std::fill(std::copy(rows + first, rows + n, last), last + ROWS, rows[first]);
        const __m512i some = gather_places_of_rows(codes, is_whole ? rows + first : last, from);
        low = _mm512_min_epu8(low, some);
        high = _mm512_max_epu8(high, some);
        _mm512_store_si512(by_column, some);
        for (uint32_t k = 0; k < columns.n; ++k) {
            std::memcpy(out + columns.places[k] * out_stride + first, by_column[k], ROWS);
        }
    }
    alignas(64) uint8_t lows[GroupPlaces::MOST][ROWS], highs[GroupPlaces::MOST][ROWS];
    _mm512_store_si512(lows, low);
    _mm512_store_si512(highs, high);
    for (uint32_t k = 0; k < columns.n; ++k) {
        const auto load = [k](const uint8_t (*lanes)[ROWS]) FASTTREE_AVX512 {
            return _mm_load_si128(reinterpret_cast<const __m128i*>(lanes[k]));
        };
        columns.extremes[k] = code_extremes_of(load(lows), load(highs));
    }
}
#endif

inline void gather_group(Simd simd, const uint8_t* codes, const uint32_t* rows,
                         uint32_t n, uint8_t* out) {
#if FASTTREE_X86
    if (simd != SIMD_PORTABLE) return gather_group_avx2(codes, rows, n, out);
#endif
    gather_group_portable(codes, rows, n, out);
}
// The same of some columns, and their extremes. False, with nothing written, where gathering all 16
// takes no longer.
inline bool gather_places(Simd simd, const uint8_t* codes, const uint32_t* rows, uint32_t n,
                          GroupPlaces& columns, uint8_t* out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) {
        gather_places_avx512(codes, rows, n, columns, out);
        return true;
    }
#endif
    return false;
}

}  // namespace fasttree
