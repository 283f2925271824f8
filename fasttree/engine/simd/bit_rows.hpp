// Rows of bits, one bit per column of two values: what is summed over the rows whose bit is set.
//
// A row is `n_words` words; bit b stands in word b / 64. Each kernel has a portable twin of the
// same result.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/simd/avx2.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

constexpr uint32_t ROW_WORD = 64;        // bits of a word
constexpr uint32_t MOST_IN_BYTES = 255;  // rows that a byte counts

inline uint32_t words_of_bits(uint32_t n_bits) { return (n_bits + ROW_WORD - 1) / ROW_WORD; }

struct BitRows {
    const uint64_t* words = nullptr;  // [n_rows, n_words]
    uint32_t n_words = 0;

    uint32_t n_bits() const { return n_words * ROW_WORD; }
    const uint64_t* row(uint32_t r) const { return words + static_cast<size_t>(r) * n_words; }
    uint32_t bit(uint32_t r, uint32_t b) const {
        return static_cast<uint32_t>(row(r)[b / ROW_WORD] >> b % ROW_WORD & 1);
    }
};

template <uint32_t size>
FASTTREE_INLINE inline void swap_blocks(uint64_t* square, uint64_t low_halves) {
    for (uint32_t block = 0; block < ROW_WORD; block += 2 * size) {
        FASTTREE_IVDEP
        for (uint32_t i = block; i < block + size; ++i) {
            const uint64_t moved = (square[i] >> size ^ square[i + size]) & low_halves;
            square[i] ^= moved << size;
            square[i + size] ^= moved;
        }
    }
}
#if FASTTREE_X86
// Squares of 8 by 8 bits, a square per word: first each is made of the bytes of eight words, and
// transposed, then the squares change places.
FASTTREE_AVX512 inline void transpose_bits_avx512(uint64_t* square) {
    constexpr uint32_t N = 8;
    // Byte i of word k to byte k of word i; where it is then transposed, rows stand upside down.
    static constexpr auto places = [](uint32_t flip) {
        std::array<uint8_t, N * N> from{};
        for (uint32_t k = 0; k < N * N; ++k) {
            from[k ^ flip] = static_cast<uint8_t>(k % N * N + k / N);
        }
        return from;
    };
    static constexpr auto TO_SQUARES = places(N - 1), TO_WORDS = places(0);
    const __m512i to_squares = _mm512_loadu_si512(TO_SQUARES.data());
    const __m512i to_words = _mm512_loadu_si512(TO_WORDS.data());
    const __m512i bits = _mm512_set1_epi64(static_cast<int64_t>(0x8040201008040201u));
    __m512i a[N], b[N];
    for (uint32_t i = 0; i < N; ++i) {
        const __m512i words = _mm512_loadu_si512(square + i * N);
        a[i] = _mm512_gf2p8affine_epi64_epi8(bits, _mm512_permutexvar_epi8(to_squares, words), 0);
    }
    for (uint32_t i = 0; i < N; i += 2) {
        b[i] = _mm512_unpacklo_epi64(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 1]);
    }
    for (uint32_t i = 0; i < N; i += 4) {
        for (uint32_t k = 0; k < 2; ++k) {
            a[i + k] = _mm512_shuffle_i64x2(b[i + k], b[i + k + 2], 0x88);
            a[i + k + 2] = _mm512_shuffle_i64x2(b[i + k], b[i + k + 2], 0xdd);
        }
    }
    for (uint32_t i = 0; i < N / 2; ++i) {
        b[i] = _mm512_shuffle_i64x2(a[i], a[i + 4], 0x88);
        b[i + 4] = _mm512_shuffle_i64x2(a[i], a[i + 4], 0xdd);
    }
    for (uint32_t i = 0; i < N; ++i) {
        _mm512_storeu_si512(square + i * N, _mm512_permutexvar_epi8(to_words, b[i]));
    }
}
#endif
// Bit c of word r becomes bit r of word c, of 64 words.
inline void transpose_bits(Simd simd, uint64_t* square) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return transpose_bits_avx512(square);
#endif
    call(simd, [=]() FASTTREE_INLINE {
        swap_blocks<32>(square, 0x00000000ffffffffu);
        swap_blocks<16>(square, 0x0000ffff0000ffffu);
        swap_blocks<8>(square, 0x00ff00ff00ff00ffu);
        swap_blocks<4>(square, 0x0f0f0f0f0f0f0f0fu);
        swap_blocks<2>(square, 0x3333333333333333u);
        swap_blocks<1>(square, 0x5555555555555555u);
    });
}

// Adds an item to the sums of the bits that are set in a word.
template <class Item>
inline void add_where_set_portable(uint64_t word, Item item, Item* sums) {
    for (; word != 0; word &= word - 1) sums[lowest_bit(word)] += item;
}

// Counts at most MOST_IN_BYTES rows, of each class, in words [first, last):
// counts[class, bit - 64 first] of one byte.
template <class Class>
inline void count_bits_portable(const BitRows& bits, uint32_t first, uint32_t last,
                                const uint32_t* rows, uint32_t n, const Class* classes,
                                uint8_t* counts) {
    const size_t width = static_cast<size_t>(last - first) * ROW_WORD;
    for (uint32_t i = 0; i < n; ++i) {
        const uint64_t* row = bits.row(rows[i]);
        uint8_t* own = counts + classes[rows[i]] * width;
        for (uint32_t w = first; w < last; ++w, own += ROW_WORD) {
            add_where_set_portable<uint8_t>(row[w], 1, own);
        }
    }
}

#if FASTTREE_X86
FASTTREE_AVX512 inline void add_where_set_avx512(uint64_t word, int64_t item, int64_t* sums) {
    const __m512i items = _mm512_set1_epi64(item);
    for (; word != 0; word >>= 8, sums += 8) {
        const __m512i old = _mm512_loadu_si512(sums);
        _mm512_storeu_si512(
            sums, _mm512_mask_add_epi64(old, static_cast<__mmask8>(word), old, items));
    }
}
FASTTREE_AVX512 inline void add_where_set_avx512(uint64_t word, int32_t item, int32_t* sums) {
    const __m512i items = _mm512_set1_epi32(item);
    for (; word != 0; word >>= 16, sums += 16) {
        const __m512i old = _mm512_loadu_si512(sums);
        _mm512_storeu_si512(
            sums, _mm512_mask_add_epi32(old, static_cast<__mmask16>(word), old, items));
    }
}
FASTTREE_AVX512 inline void add_where_set_avx512(uint64_t word, uint64_t item, uint64_t* sums) {
    add_where_set_avx512(word, static_cast<int64_t>(item), reinterpret_cast<int64_t*>(sums));
}

template <class Class>
FASTTREE_AVX512 inline void count_bits_avx512(const BitRows& bits, uint32_t first, uint32_t last,
                                              const uint32_t* rows, uint32_t n,
                                              const Class* classes, uint8_t* counts) {
    const size_t width = static_cast<size_t>(last - first) * ROW_WORD;
    for (uint32_t i = 0; i < n; ++i) {
        const uint64_t* row = bits.row(rows[i]);
        uint8_t* own = counts + classes[rows[i]] * width;
        for (uint32_t w = first; w < last; ++w, own += ROW_WORD) {
            // A bit that is set is -1 as a byte.
            _mm512_storeu_si512(own, _mm512_sub_epi8(_mm512_loadu_si512(own),
                                                     _mm512_movm_epi8(row[w])));
        }
    }
}
template <class Class>
FASTTREE_AVX2 inline void count_bits_avx2(const BitRows& bits, uint32_t first, uint32_t last,
                                          const uint32_t* rows, uint32_t n, const Class* classes,
                                          uint8_t* counts) {
    const size_t width = static_cast<size_t>(last - first) * ROW_WORD;
    for (uint32_t i = 0; i < n; ++i) {
        const uint64_t* row = bits.row(rows[i]);
        uint8_t* own = counts + classes[rows[i]] * width;
        for (uint32_t w = first; w < last; ++w, own += ROW_WORD) {
            for (uint32_t half = 0; half < ROW_WORD; half += 32) {
                const __m256i ones = bytes_of_32(static_cast<uint32_t>(row[w] >> half));
                store_32_bytes(own + half, _mm256_sub_epi8(load_32_bytes(own + half), ones));
            }
        }
    }
}
#endif

template <class Item>
inline void add_where_set(Simd simd, uint64_t word, Item item, Item* sums) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return add_where_set_avx512(word, item, sums);
#endif
    add_where_set_portable(word, item, sums);
}

template <class Class>
inline void count_bits(Simd simd, const BitRows& bits, uint32_t first, uint32_t last,
                       const uint32_t* rows, uint32_t n, const Class* classes, uint8_t* counts) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) {
        return count_bits_avx512(bits, first, last, rows, n, classes, counts);
    }
    if (simd == SIMD_AVX2) return count_bits_avx2(bits, first, last, rows, n, classes, counts);
#endif
    count_bits_portable(bits, first, last, rows, n, classes, counts);
}

}  // namespace fasttree
