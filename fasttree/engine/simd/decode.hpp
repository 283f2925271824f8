// The cells of a few rows from what is kept of a column instead: a bit or a code of one byte. There
// is room for whole vectors of 16 of them.
#pragma once
#include <cstdint>

#include "engine/simd/avx2.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/gather.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

inline void decode_bits_portable(uint64_t ones, float zero, float one, uint32_t n, float* out) {
    for (uint32_t i = 0; i < n; ++i) out[i] = ones >> i & 1 ? one : zero;
}
inline void decode_codes_portable(const uint8_t* codes, const float* values, uint32_t n,
                                  float* out) {
    for (uint32_t i = 0; i < n; ++i) out[i] = values[codes[i]];
}

#if FASTTREE_X86
FASTTREE_AVX512 inline void decode_bits_avx512(uint64_t ones, float zero, float one, uint32_t n,
                                               float* out) {
    const __m512 zeros = _mm512_set1_ps(zero), all = _mm512_set1_ps(one);
    for (uint32_t i = 0; i < n; i += 16) {
        const __mmask16 some = static_cast<__mmask16>(ones >> i);
        _mm512_storeu_ps(out + i, _mm512_mask_mov_ps(zeros, some, all));
    }
}
FASTTREE_AVX2 inline void decode_bits_avx2(uint64_t ones, float zero, float one, uint32_t n,
                                           float* out) {
    const __m256 zeros = _mm256_set1_ps(zero), all = _mm256_set1_ps(one);
    for (uint32_t i = 0; i < n; i += 8) {
        const __m256 some = _mm256_castsi256_ps(lanes_of_8(ones >> i & 0xff));
        _mm256_storeu_ps(out + i, _mm256_blendv_ps(zeros, all, some));
    }
}
FASTTREE_AVX512 inline void decode_codes_avx512(const uint8_t* codes, const float* values,
                                                uint32_t n, float* out) {
    for (uint32_t i = 0; i < n; i += 16) {
        const __mmask16 rows = static_cast<__mmask16>(low_bits(n - i < 16 ? n - i : 16));
        const __m512i at = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(rows, codes + i));
        _mm512_storeu_ps(out + i, _mm512_mask_i32gather_ps(_mm512_setzero_ps(), rows, at, values,
                                                           sizeof(float)));
    }
}
#endif

// Bit i of `ones` tells which of two values row i has; up to 64 rows.
inline void decode_bits(Simd simd, uint64_t ones, float zero, float one, uint32_t n, float* out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return decode_bits_avx512(ones, zero, one, n, out);
    if (simd == SIMD_AVX2) return decode_bits_avx2(ones, zero, one, n, out);
#endif
    decode_bits_portable(ones, zero, one, n, out);
}
// Row i has values[codes[i]].
inline void decode_codes(Simd simd, const uint8_t* codes, const float* values, uint32_t n,
                         float* out, bool gathers = gathers_fast()) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512 && gathers) return decode_codes_avx512(codes, values, n, out);
#endif
    decode_codes_portable(codes, values, n, out);
}

}  // namespace fasttree
