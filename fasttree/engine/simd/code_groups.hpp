// The codes of a group of columns in some rows, column by column.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/simd/avx2.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

constexpr uint32_t GROUP = 16;         // columns
constexpr uint32_t GROUP_VECTOR = 32;  // rows that are written at a time

// Rows of a column in the output: whole vectors of them.
inline size_t group_stride(uint32_t n) {
    return (size_t{n} + GROUP_VECTOR - 1) / GROUP_VECTOR * GROUP_VECTOR;
}

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
    __m256i a[GROUP], b[GROUP];
    for (uint32_t k = 0; k < GROUP; ++k) {
        a[k] = _mm256_inserti128_si256(_mm256_castsi128_si256(load(k)), load(k + GROUP), 1);
    }
    // Four perfect shuffles of 256 bytes transpose 16 by 16.
    const auto shuffle = [](const __m256i* from, __m256i* to) FASTTREE_AVX2 {
        for (uint32_t k = 0; k < GROUP / 2; ++k) {
            to[2 * k] = _mm256_unpacklo_epi8(from[k], from[k + GROUP / 2]);
            to[2 * k + 1] = _mm256_unpackhi_epi8(from[k], from[k + GROUP / 2]);
        }
    };
    shuffle(a, b);
    shuffle(b, a);
    shuffle(a, b);
    shuffle(b, a);
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
#endif

inline void gather_group(Simd simd, const uint8_t* codes, const uint32_t* rows,
                         uint32_t n, uint8_t* out) {
#if FASTTREE_X86
    if (simd != SIMD_PORTABLE) return gather_group_avx2(codes, rows, n, out);
#endif
    gather_group_portable(codes, rows, n, out);
}

}  // namespace fasttree
