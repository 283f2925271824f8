// Rows to columns.
#pragma once

#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86
// In each 128 bits of the vectors 16 rows of 16 bytes become 16 columns: four perfect shuffles of
// 256 bytes. `unpack(a, b, low, high)` interleaves the bytes of a and b.
template <class Vector, class Unpack>
FASTTREE_INLINE inline void transpose_bytes(Vector (&rows)[16], const Unpack& unpack) {
    const auto shuffle = [&](const Vector* from, Vector* to) FASTTREE_INLINE {
        for (int k = 0; k < 8; ++k) unpack(from[k], from[k + 8], to[2 * k], to[2 * k + 1]);
    };
    Vector other[16];
    shuffle(rows, other);
    shuffle(other, rows);
    shuffle(rows, other);
    shuffle(other, rows);
}

// 8 rows of 8 words become 8 columns.
FASTTREE_AVX2 inline void transpose_avx2(__m256i (&rows)[8]) {
    __m256i pairs[8], fours[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {  // columns c and c + 4 of four rows
        fours[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
        fours[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
        fours[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
        fours[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    for (int c = 0; c < 4; ++c) {
        rows[c] = _mm256_permute2x128_si256(fours[c], fours[c + 4], 0x20);
        rows[c + 4] = _mm256_permute2x128_si256(fours[c], fours[c + 4], 0x31);
    }
}
// 16 rows of 16 words become 16 columns.
FASTTREE_AVX512 inline void transpose_avx512(__m512i (&rows)[16]) {
    __m512i pairs[16], fours[16];
    for (int i = 0; i < 16; i += 2) {
        pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {  // columns c, c + 4, c + 8, c + 12 of four rows
        fours[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
        fours[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
        fours[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
        fours[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
    }
    for (int c = 0; c < 4; ++c) {
        const __m512i even_low = _mm512_shuffle_i32x4(fours[c], fours[c + 4], 0x88);
        const __m512i odd_low = _mm512_shuffle_i32x4(fours[c], fours[c + 4], 0xdd);
        const __m512i even_high = _mm512_shuffle_i32x4(fours[c + 8], fours[c + 12], 0x88);
        const __m512i odd_high = _mm512_shuffle_i32x4(fours[c + 8], fours[c + 12], 0xdd);
        rows[c] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
        rows[c + 4] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
        rows[c + 8] = _mm512_shuffle_i32x4(even_low, even_high, 0xdd);
        rows[c + 12] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
    }
}
#endif

}  // namespace fasttree
