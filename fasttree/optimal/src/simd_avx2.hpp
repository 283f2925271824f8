// 32-byte vectors of 8-, 16- or 32-bit counters (AVX2).
#pragma once

#include <immintrin.h>

namespace fasttree::optimal::avx2 {

template <class T>
struct Vec {
    using Counter = T;
    using Reg = __m256i;
    static constexpr int kLanes = 32 / sizeof(T);
    static constexpr int kTileRows = 2;
    static constexpr int kTileVectors = 4;
    static constexpr int kMirrorChunks = kLanes / 8;
    static constexpr int kRootVectors = 2;

    static Reg load(const T* p) { return _mm256_load_si256(reinterpret_cast<const Reg*>(p)); }
    static void store(T* p, Reg a) { _mm256_store_si256(reinterpret_cast<Reg*>(p), a); }
    static Reg zero() { return _mm256_setzero_si256(); }
    static Reg bit_and(Reg a, Reg b) { return _mm256_and_si256(a, b); }

    static Reg set1(T a) {
        if constexpr (sizeof(T) == 1) return _mm256_set1_epi8(a);
        else if constexpr (sizeof(T) == 2) return _mm256_set1_epi16(a);
        else return _mm256_set1_epi32(a);
    }
    static Reg add(Reg a, Reg b) {
        if constexpr (sizeof(T) == 1) return _mm256_add_epi8(a, b);
        else if constexpr (sizeof(T) == 2) return _mm256_add_epi16(a, b);
        else return _mm256_add_epi32(a, b);
    }
    static Reg sub(Reg a, Reg b) {
        if constexpr (sizeof(T) == 1) return _mm256_sub_epi8(a, b);
        else if constexpr (sizeof(T) == 2) return _mm256_sub_epi16(a, b);
        else return _mm256_sub_epi32(a, b);
    }
    static Reg max(Reg a, Reg b) {
        if constexpr (sizeof(T) == 1) return _mm256_max_epi8(a, b);
        else if constexpr (sizeof(T) == 2) return _mm256_max_epi16(a, b);
        else return _mm256_max_epi32(a, b);
    }
    static Reg min(Reg a, Reg b) {
        if constexpr (sizeof(T) == 1) return _mm256_min_epi8(a, b);
        else if constexpr (sizeof(T) == 2) return _mm256_min_epi16(a, b);
        else return _mm256_min_epi32(a, b);
    }
    // Bits of each byte by two table look-ups of nibbles, then neighbouring bytes added.
    static Reg popcount(Reg a) {
        const Reg table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
        const Reg nibble = _mm256_set1_epi8(15);
        const Reg low = _mm256_shuffle_epi8(table, _mm256_and_si256(a, nibble));
        const Reg high = _mm256_shuffle_epi8(
            table, _mm256_and_si256(_mm256_srli_epi16(a, 4), nibble));
        const Reg bytes = _mm256_add_epi8(low, high);
        if constexpr (sizeof(T) == 1) return bytes;
        const Reg words = _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
        if constexpr (sizeof(T) == 2) return words;
        return _mm256_madd_epi16(words, _mm256_set1_epi16(1));
    }
    // a where both x >= low and y >= low, else b.
    static Reg select_if_both(Reg x, Reg y, Reg low, Reg a, Reg b) {
        const Reg least = min(x, y);
        Reg is_less;
        if constexpr (sizeof(T) == 1) is_less = _mm256_cmpgt_epi8(low, least);
        else if constexpr (sizeof(T) == 2) is_less = _mm256_cmpgt_epi16(low, least);
        else is_less = _mm256_cmpgt_epi32(low, least);
        return _mm256_blendv_epi8(a, b, is_less);
    }
};

#include "simd_scalar_parts.hpp"
#include "simd_x86_blocks.hpp"

}  // namespace fasttree::optimal::avx2
