// 64-byte vectors of 8-, 16- or 32-bit counters (AVX-512 with BITALG, VPOPCNTDQ, VBMI and GFNI).
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace fasttree::optimal::avx512 {

template <class T>
struct Vec {
    using Counter = T;
    using Reg = __m512i;
    static constexpr int kLanes = 64 / sizeof(T);
    static constexpr int kTileRows = 4;
    static constexpr int kTileVectors = 4;
    static constexpr int kMirrorChunks = kLanes / 3;
    static constexpr int kRootVectors = 4;

    static Reg load(const T* p) { return _mm512_load_si512(p); }
    static void store(T* p, Reg a) { _mm512_store_si512(p, a); }
    static Reg zero() { return _mm512_setzero_si512(); }
    static Reg bit_and(Reg a, Reg b) { return _mm512_and_si512(a, b); }

    static Reg set1(T a) {
        if constexpr (sizeof(T) == 1) return _mm512_set1_epi8(a);
        else if constexpr (sizeof(T) == 2) return _mm512_set1_epi16(a);
        else return _mm512_set1_epi32(a);
    }
    static Reg add(Reg a, Reg b) {
        if constexpr (sizeof(T) == 1) return _mm512_add_epi8(a, b);
        else if constexpr (sizeof(T) == 2) return _mm512_add_epi16(a, b);
        else return _mm512_add_epi32(a, b);
    }
    static Reg sub(Reg a, Reg b) {
        if constexpr (sizeof(T) == 1) return _mm512_sub_epi8(a, b);
        else if constexpr (sizeof(T) == 2) return _mm512_sub_epi16(a, b);
        else return _mm512_sub_epi32(a, b);
    }
    static Reg max(Reg a, Reg b) {
        if constexpr (sizeof(T) == 1) return _mm512_max_epi8(a, b);
        else if constexpr (sizeof(T) == 2) return _mm512_max_epi16(a, b);
        else return _mm512_max_epi32(a, b);
    }
    static Reg min(Reg a, Reg b) {
        if constexpr (sizeof(T) == 1) return _mm512_min_epi8(a, b);
        else if constexpr (sizeof(T) == 2) return _mm512_min_epi16(a, b);
        else return _mm512_min_epi32(a, b);
    }
    static Reg popcount(Reg a) {
        if constexpr (sizeof(T) == 1) return _mm512_popcnt_epi8(a);
        else if constexpr (sizeof(T) == 2) return _mm512_popcnt_epi16(a);
        else return _mm512_popcnt_epi32(a);
    }
    // a where both x >= low and y >= low, else b.
    static Reg select_if_both(Reg x, Reg y, Reg low, Reg a, Reg b) {
        if constexpr (sizeof(T) == 1)
            return _mm512_mask_blend_epi8(
                _mm512_cmpge_epi8_mask(_mm512_min_epi8(x, y), low), b, a);
        else if constexpr (sizeof(T) == 2)
            return _mm512_mask_blend_epi16(
                _mm512_cmpge_epi16_mask(_mm512_min_epi16(x, y), low), b, a);
        else
            return _mm512_mask_blend_epi32(
                _mm512_cmpge_epi32_mask(_mm512_min_epi32(x, y), low), b, a);
    }
};

// Bytes out[f] whose bit r is feature f of sample r, from 8 samples' words of 64 features: bytes
// are brought into 8 x 8 blocks, each transposed by one multiplication of bit matrices.
inline void transpose_octet(const uint64_t* words, uint8_t* out) {
    alignas(64) static const uint8_t kOrder[64] = {
        56, 48, 40, 32, 24, 16, 8,  0, 57, 49, 41, 33, 25, 17, 9,  1, 58, 50, 42, 34, 26, 18,
        10, 2,  59, 51, 43, 35, 27, 19, 11, 3,  60, 52, 44, 36, 28, 20, 12, 4,  61, 53, 45, 37,
        29, 21, 13, 5,  62, 54, 46, 38, 30, 22, 14, 6,  63, 55, 47, 39, 31, 23, 15, 7};
    const __m512i blocks =
        _mm512_permutexvar_epi8(_mm512_load_si512(kOrder), _mm512_loadu_si512(words));
    const __m512i unit = _mm512_set1_epi64(static_cast<int64_t>(0x8040201008040201ull));
    _mm512_storeu_si512(out, _mm512_gf2p8affine_epi64_epi8(unit, blocks, 0));
}

// Entries whose bit in `mask` is set, in order; returns their number (at most 16 are given).
inline ptrdiff_t compress16(const uint32_t* entries, uint32_t mask, uint32_t* out) {
    const __m512i packed = _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask),
                                                       _mm512_loadu_si512(entries));
    _mm512_storeu_si512(out, packed);
    return _mm_popcnt_u32(mask);
}

#include "simd_x86_blocks.hpp"

}  // namespace fasttree::optimal::avx512
