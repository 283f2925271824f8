// The kernels of `sides.hpp` in vectors of 32 bytes.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/simd/avx2.hpp"

namespace fasttree {

#if FASTTREE_X86

template <bool missing_left>
FASTTREE_AVX2 inline uint32_t mark_sides_avx2(const float* cells, uint32_t n, float top,
                                              uint64_t* left) {
    constexpr uint32_t LANES = 8, BITS = 64;
    constexpr int AT_MOST = missing_left ? _CMP_NGT_UQ : _CMP_LE_OQ;
    const __m256 tops = _mm256_set1_ps(top);
    uint32_t n_left = 0;
    for (uint32_t begin = 0; begin < n; begin += BITS) {
        const uint32_t end = std::min(begin + BITS, n);
        uint64_t bits = 0;
        uint32_t i = begin;
        for (; i + LANES <= end; i += LANES) {
            const int is_left =
                _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(cells + i), tops, AT_MOST));
            bits |= static_cast<uint64_t>(is_left) << (i - begin);
        }
        for (; i < end; ++i) {
            const bool is_left = missing_left ? !(cells[i] > top) : cells[i] <= top;
            bits |= uint64_t{is_left} << (i - begin);
        }
        left[begin / BITS] = bits;
        n_left += static_cast<uint32_t>(__builtin_popcountll(bits));
    }
    return n_left;
}

// Bits of 64 bytes that are at most, or equal to, those of `bar`.
FASTTREE_AVX2 inline uint64_t at_most_of_64(const uint8_t* bytes, __m256i bar) {
    const __m256i* const halves = reinterpret_cast<const __m256i*>(bytes);
    const __m256i low = _mm256_loadu_si256(halves), high = _mm256_loadu_si256(halves + 1);
    const int is_low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(low, bar), bar));
    const int is_high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(high, bar), bar));
    return static_cast<uint32_t>(is_low) | uint64_t{static_cast<uint32_t>(is_high)} << 32;
}
FASTTREE_AVX2 inline uint64_t equal_of_64(const uint8_t* bytes, __m256i bar) {
    const __m256i* const halves = reinterpret_cast<const __m256i*>(bytes);
    const int is_low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256(halves), bar));
    const int is_high =
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256(halves + 1), bar));
    return static_cast<uint32_t>(is_low) | uint64_t{static_cast<uint32_t>(is_high)} << 32;
}

FASTTREE_AVX2 inline uint32_t mark_codes_avx2(const uint8_t* codes, uint32_t n, uint8_t top,
                                              uint64_t* left) {
    constexpr uint32_t BITS = 64;
    const __m256i tops = _mm256_set1_epi8(static_cast<char>(top));
    uint32_t n_left = 0;
    for (uint32_t begin = 0; begin < n; begin += BITS) {
        uint64_t bits = 0;
        if (begin + BITS <= n) {
            bits = at_most_of_64(codes + begin, tops);
        } else {
            for (uint32_t i = begin; i < n; ++i) bits |= uint64_t{codes[i] <= top} << (i - begin);
        }
        left[begin / BITS] = bits;
        n_left += static_cast<uint32_t>(__builtin_popcountll(bits));
    }
    return n_left;
}

// Items of 1, 4 and 8 bytes packed by a mask: those of a vector of LANES of them.
FASTTREE_AVX2 inline void pack_items(const uint8_t* items, uint32_t is_left, uint8_t* left,
                                     uint8_t* right) {
    const __m128i vector = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(items));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(left),
                     _mm_shuffle_epi8(vector, places_of_byte(is_left)));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(right),
                     _mm_shuffle_epi8(vector, places_of_byte(is_left ^ 0xff)));
}
FASTTREE_AVX2 inline void pack_items(const uint32_t* items, uint32_t is_left, uint32_t* left,
                                     uint32_t* right) {
    const __m256i vector = load_8(items);
    store_8(left, compressed_8(vector, is_left));
    store_8(right, compressed_8(vector, is_left ^ 0xff));
}
FASTTREE_AVX2 inline void pack_items(const int64_t* items, uint32_t is_left, int64_t* left,
                                     int64_t* right) {
    constexpr uint8_t TWICE[] = {0x00, 0x03, 0x0c, 0x0f, 0x30, 0x33, 0x3c, 0x3f,
                                 0xc0, 0xc3, 0xcc, 0xcf, 0xf0, 0xf3, 0xfc, 0xff};
    const __m256i vector = load_8(reinterpret_cast<const uint32_t*>(items));
    const uint32_t bits = TWICE[is_left];
    store_8(reinterpret_cast<uint32_t*>(left), compressed_8(vector, bits));
    store_8(reinterpret_cast<uint32_t*>(right), compressed_8(vector, bits ^ 0xff));
}

// Returns how many of the first whole vectors' items went left; `n_read` were read.
template <class Item>
FASTTREE_AVX2 inline uint32_t divide_vectors_avx2(Item* items, uint32_t n, const uint64_t* left,
                                                  Item* scratch, uint32_t& n_read) {
    constexpr uint32_t LANES = sizeof(Item) == 8 ? 4 : 8, BITS = 64;
    uint32_t l = 0, i = 0;
    for (; i + LANES <= n; i += LANES) {
        const uint32_t is_left = left[i / BITS] >> i % BITS & ((1u << LANES) - 1);
        pack_items(items + i, is_left, items + l, scratch + (i - l));
        l += static_cast<uint32_t>(__builtin_popcount(is_left));
    }
    n_read = i;
    return l;
}

#endif

}  // namespace fasttree
