// The sides of a node's rows by position: bit i % 64 of word i / 64 says that the i-th row goes
// left. Bits behind the last row are 0.
//
// Each kernel has a portable twin of the same result; none branches on the data.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/simd/bits.hpp"
#include "engine/simd/sides_avx2.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

constexpr uint32_t WORD_BITS = 64;
constexpr uint32_t SIDE_PADDING = 64;  // bytes that a vector may read or write behind an array

inline uint32_t n_words(uint32_t n) { return (n + WORD_BITS - 1) / WORD_BITS; }
// The side of all n rows, of word w.
inline uint64_t whole_word(uint32_t n, uint32_t w) {
    return low_bits(std::min(n - w * WORD_BITS, WORD_BITS));
}

// Values up to `top` go left, and what is not a number if `missing_left`. Returns how many do.
inline uint32_t mark_sides_portable(const float* cells, uint32_t n, float top, bool missing_left,
                                    uint64_t* left) {
    uint32_t n_left = 0;
    for (uint32_t w = 0; w < n_words(n); ++w) {
        const uint32_t first = w * WORD_BITS, last = std::min(n, first + WORD_BITS);
        uint64_t bits = 0;
        for (uint32_t i = first; i < last; ++i) {
            const bool is_left = (cells[i] <= top) | ((cells[i] != cells[i]) & missing_left);
            bits |= static_cast<uint64_t>(is_left) << (i - first);
        }
        left[w] = bits;
        n_left += static_cast<uint32_t>(__builtin_popcountll(bits));
    }
    return n_left;
}

// The same of codes.
inline uint32_t mark_codes_portable(const uint8_t* codes, uint32_t n, uint8_t top,
                                    uint64_t* left) {
    uint32_t n_left = 0;
    for (uint32_t w = 0; w < n_words(n); ++w) {
        const uint32_t first = w * WORD_BITS, last = std::min(n, first + WORD_BITS);
        uint64_t bits = 0;
        for (uint32_t i = first; i < last; ++i) {
            bits |= static_cast<uint64_t>(codes[i] <= top) << (i - first);
        }
        left[w] = bits;
        n_left += static_cast<uint32_t>(__builtin_popcountll(bits));
    }
    return n_left;
}

// The same of bits: zeros go left.
inline uint32_t mark_zeros(Simd simd, const uint64_t* bits, uint32_t n, uint64_t* left) {
    uint32_t n_left = 0;
    call(simd, [=, &n_left]() FASTTREE_INLINE {
        for (uint32_t w = 0; w < n_words(n); ++w) {
            left[w] = ~bits[w] & whole_word(n, w);
            n_left += static_cast<uint32_t>(__builtin_popcountll(left[w]));
        }
    });
    return n_left;
}

// Moves the items that go left to the front, keeping the order on either side. `scratch` holds
// n items and SIDE_PADDING bytes.
template <class Item>
inline void divide_items_portable(Item* items, uint32_t n, const uint64_t* left, Item* scratch,
                                  uint32_t i = 0, uint32_t l = 0) {
    uint32_t r = i - l;  // of the first i items, l went left
    for (; i < n; ++i) {
        const uint32_t is_left = left[i / WORD_BITS] >> i % WORD_BITS & 1;
        items[l] = scratch[r] = items[i];
        l += is_left;
        r += 1 - is_left;
    }
    std::memcpy(items + l, scratch, r * sizeof(Item));
}

#if FASTTREE_X86
template <bool missing_left>
FASTTREE_AVX512 inline uint32_t mark_sides_avx512(const float* cells, uint32_t n, float top,
                                                  uint64_t* left) {
    constexpr uint32_t LANES = 16;
    constexpr int AT_MOST = missing_left ? _CMP_NGT_UQ : _CMP_LE_OQ;
    const __m512 tops = _mm512_set1_ps(top);
    uint32_t n_left = 0;
    for (uint32_t w = 0; w < n_words(n); ++w) {
        const uint32_t first = w * WORD_BITS, size = std::min(n - first, WORD_BITS);
        uint64_t bits = 0;
        for (uint32_t i = 0; i < size; i += LANES) {
            const __mmask16 lanes = static_cast<__mmask16>(low_bits(std::min(size - i, LANES)));
            const __m512 x = _mm512_maskz_loadu_ps(lanes, cells + first + i);
            bits |= static_cast<uint64_t>(_mm512_mask_cmp_ps_mask(lanes, x, tops, AT_MOST)) << i;
        }
        left[w] = bits;
        n_left += static_cast<uint32_t>(__builtin_popcountll(bits));
    }
    return n_left;
}

FASTTREE_AVX512 inline uint32_t mark_codes_avx512(const uint8_t* codes, uint32_t n, uint8_t top,
                                                  uint64_t* left) {
    const __m512i tops = _mm512_set1_epi8(static_cast<char>(top));
    uint32_t n_left = 0;
    for (uint32_t w = 0; w < n_words(n); ++w) {
        const uint64_t all = whole_word(n, w);
        left[w] = _mm512_mask_cmple_epu8_mask(
            all, _mm512_maskz_loadu_epi8(all, codes + w * WORD_BITS), tops);
        n_left += static_cast<uint32_t>(__builtin_popcountll(left[w]));
    }
    return n_left;
}

// One vector of items as an instruction set sees it, by the size of an item.
template <size_t size>
struct ItemVector;

template <>
struct ItemVector<1> {
    static constexpr uint32_t LANES = 64;
    FASTTREE_AVX512 static __m512i load(uint64_t lanes, const void* from) {
        return _mm512_maskz_loadu_epi8(lanes, from);
    }
    FASTTREE_AVX512 static void store(uint64_t lanes, void* to, __m512i items) {
        _mm512_mask_storeu_epi8(to, lanes, items);
    }
    FASTTREE_AVX512 static __m512i pack(uint64_t lanes, __m512i items) {
        return _mm512_maskz_compress_epi8(lanes, items);
    }
};
template <>
struct ItemVector<4> {
    static constexpr uint32_t LANES = 16;
    FASTTREE_AVX512 static __m512i load(uint64_t lanes, const void* from) {
        return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), from);
    }
    FASTTREE_AVX512 static void store(uint64_t lanes, void* to, __m512i items) {
        _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(lanes), items);
    }
    FASTTREE_AVX512 static __m512i pack(uint64_t lanes, __m512i items) {
        return _mm512_maskz_compress_epi32(static_cast<__mmask16>(lanes), items);
    }
};
template <>
struct ItemVector<8> {
    static constexpr uint32_t LANES = 8;
    FASTTREE_AVX512 static __m512i load(uint64_t lanes, const void* from) {
        return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(lanes), from);
    }
    FASTTREE_AVX512 static void store(uint64_t lanes, void* to, __m512i items) {
        _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(lanes), items);
    }
    FASTTREE_AVX512 static __m512i pack(uint64_t lanes, __m512i items) {
        return _mm512_maskz_compress_epi64(static_cast<__mmask8>(lanes), items);
    }
};

// No more items than a vector holds.
template <class Item>
FASTTREE_AVX512 inline void divide_vector_avx512(Item* items, uint32_t n, uint64_t left) {
    using Vector = ItemVector<sizeof(Item)>;
    const __m512i vector = Vector::load(low_bits(n), items);
    const uint32_t n_left = static_cast<uint32_t>(__builtin_popcountll(left));
    Vector::store(low_bits(n_left), items, Vector::pack(left, vector));
    Vector::store(low_bits(n - n_left), items + n_left, Vector::pack(low_bits(n) & ~left, vector));
}

// Left items are stored behind what was read already; no store passes the end of the items.
template <class Item>
FASTTREE_AVX512 inline void divide_items_avx512(Item* items, uint32_t n, const uint64_t* left,
                                                Item* scratch) {
    using Vector = ItemVector<sizeof(Item)>;
    constexpr uint32_t LANES = Vector::LANES;
    if (n <= LANES) return divide_vector_avx512(items, n, left[0]);
    uint32_t l = 0, r = 0;
    for (uint32_t i = 0; i < n; i += LANES) {
        const uint64_t lanes = low_bits(std::min(n - i, LANES));
        const uint64_t is_left = left[i / WORD_BITS] >> i % WORD_BITS & lanes;
        const __m512i vector = Vector::load(lanes, items + i);
        const uint32_t n_left = static_cast<uint32_t>(__builtin_popcountll(is_left));
        Vector::store(low_bits(n_left), items + l, Vector::pack(is_left, vector));
        Vector::store(low_bits(LANES), scratch + r, Vector::pack(lanes & ~is_left, vector));
        l += n_left;
        r += std::min(n - i, LANES) - n_left;
    }
    for (uint32_t i = 0; i < r; i += LANES) {
        const uint64_t lanes = low_bits(std::min(r - i, LANES));
        Vector::store(lanes, items + l + i, Vector::load(lanes, scratch + i));
    }
}
#endif

inline uint32_t mark_sides(Simd simd, const float* cells, uint32_t n, float top, bool missing_left,
                           uint64_t* left) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) {
        return missing_left ? mark_sides_avx512<true>(cells, n, top, left)
                            : mark_sides_avx512<false>(cells, n, top, left);
    }
    if (simd == SIMD_AVX2) {
        return missing_left ? mark_sides_avx2<true>(cells, n, top, left)
                            : mark_sides_avx2<false>(cells, n, top, left);
    }
#endif
    return mark_sides_portable(cells, n, top, missing_left, left);
}

inline uint32_t mark_codes(Simd simd, const uint8_t* codes, uint32_t n, uint8_t top,
                           uint64_t* left) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return mark_codes_avx512(codes, n, top, left);
    if (simd == SIMD_AVX2) return mark_codes_avx2(codes, n, top, left);
#endif
    return mark_codes_portable(codes, n, top, left);
}

template <class Item>
inline void divide_items(Simd simd, Item* items, uint32_t n, const uint64_t* left, Item* scratch) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return divide_items_avx512(items, n, left, scratch);
    if (simd == SIMD_AVX2) {
        uint32_t n_read = 0;
        const uint32_t n_left = divide_vectors_avx2(items, n, left, scratch, n_read);
        return divide_items_portable(items, n, left, scratch, n_read, n_left);
    }
#endif
    divide_items_portable(items, n, left, scratch);
}

}  // namespace fasttree
