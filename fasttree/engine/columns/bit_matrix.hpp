// Matrices of zeros and ones as rows of bits (simd/bit_rows.hpp): of bools, or sparse ones.
//
// Threads can share the rows. Bits behind the last column are 0.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/simd/avx2.hpp"
#include "engine/simd/bit_rows.hpp"
#include "utils/_value.hpp"

namespace fasttree {

// A matrix of bytes, each 0 or not, its strides in bytes.
struct BoolMatrix {
    const uint8_t* cells;
    ptrdiff_t row_stride, column_stride;
    uint32_t n_columns;

    const uint8_t* at(size_t row, size_t column) const {
        return cells + static_cast<ptrdiff_t>(row) * row_stride
               + static_cast<ptrdiff_t>(column) * column_stride;
    }
};
static_assert(is_value<BoolMatrix>);

// Up to 64 bools, `stride` apart, as a word.
inline uint64_t pack_word_portable(const uint8_t* bools, ptrdiff_t stride, uint32_t n) {
    constexpr uint64_t ONES = 0x0101010101010101u;
    // Moves bit 8 i of what it is multiplied by to bit 56 + i.
    constexpr uint64_t GATHER = 0x0102040810204080u;
    uint64_t word = 0;
    uint32_t i = 0;
    for (; stride == 1 && i + 8 <= n; i += 8) {
        uint64_t eight;
        std::memcpy(&eight, bools + i, sizeof eight);
        // The lowest bit of each byte is set if any of the byte is.
        eight |= eight >> 4 & 0x0f * ONES;
        eight |= eight >> 2 & 0x03 * ONES;
        eight |= eight >> 1 & ONES;
        word |= ((eight & ONES) * GATHER >> 56) << i;
    }
    for (; i < n; ++i) word |= uint64_t{bools[i * stride] != 0} << i;
    return word;
}
#if FASTTREE_X86
FASTTREE_AVX512 inline uint64_t pack_word_avx512(const uint8_t* bools, uint32_t n) {
    const __m512i bytes = _mm512_maskz_loadu_epi8(low_bits(n), bools);
    return _mm512_test_epi8_mask(bytes, bytes);
}
FASTTREE_AVX2 inline uint32_t pack_32_avx2(const uint8_t* bools) {
    const __m256i is_zero = _mm256_cmpeq_epi8(load_32_bytes(bools), _mm256_setzero_si256());
    return ~static_cast<uint32_t>(_mm256_movemask_epi8(is_zero));
}
FASTTREE_AVX2 inline uint64_t pack_word_avx2(const uint8_t* bools) {
    return uint64_t{pack_32_avx2(bools + 32)} << 32 | pack_32_avx2(bools);
}
#endif
inline uint64_t pack_word(Simd simd, const uint8_t* bools, ptrdiff_t stride, uint32_t n) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512 && stride == 1) return pack_word_avx512(bools, n);
    if (simd == SIMD_AVX2 && stride == 1 && n == ROW_WORD) return pack_word_avx2(bools);
#endif
    return pack_word_portable(bools, stride, n);
}

// Rows [begin, end) of a matrix that is contiguous by row.
inline void pack_rows(Simd simd, const BoolMatrix& X, size_t begin, size_t end,
                      uint64_t* words) noexcept {
    const uint32_t n_words = words_of_bits(X.n_columns);
    for (size_t row = begin; row < end; ++row) {
        for (uint32_t w = 0; w < n_words; ++w) {
            const uint32_t n = std::min(X.n_columns - w * ROW_WORD, ROW_WORD);
            words[row * n_words + w] =
                pack_word(simd, X.at(row, w * ROW_WORD), X.column_stride, n);
        }
    }
}
// Of one that is contiguous by column: some rows of each at a time.
inline void pack_columns(Simd simd, const BoolMatrix& X, size_t begin, size_t end,
                         uint64_t* words) noexcept {
    constexpr uint32_t SQUARES = 8;
    uint64_t squares[SQUARES][ROW_WORD];
    const uint32_t n_words = words_of_bits(X.n_columns);
    for (; begin < end; begin += SQUARES * ROW_WORD) {
        const size_t n_rows = std::min<size_t>(end - begin, SQUARES * ROW_WORD);
        for (uint32_t w = 0; w < n_words; ++w) {
            const uint32_t n_columns = std::min(X.n_columns - w * ROW_WORD, ROW_WORD);
            std::fill_n(squares[0], SQUARES * ROW_WORD, uint64_t{0});
            for (uint32_t i = 0; i < n_columns; ++i) {
                for (uint32_t k = 0; k * ROW_WORD < n_rows; ++k) {
                    const size_t first = k * ROW_WORD;
                    const uint32_t n =
                        static_cast<uint32_t>(std::min<size_t>(n_rows - first, ROW_WORD));
                    squares[k][i] = pack_word(simd, X.at(begin + first, w * ROW_WORD + i),
                                              X.row_stride, n);
                }
            }
            for (uint32_t k = 0; k * ROW_WORD < n_rows; ++k) {
                transpose_bits(simd, squares[k]);
                const size_t first = k * ROW_WORD;
                uint64_t* out = words + (begin + first) * n_words + w;
                for (size_t i = 0; i < std::min<size_t>(n_rows - first, ROW_WORD); ++i) {
                    out[i * n_words] = squares[k][i];
                }
            }
        }
    }
}
// Rows [begin, end).
inline void pack_bools(Simd simd, const BoolMatrix& X, size_t begin, size_t end,
                       uint64_t* words) noexcept {
    if (X.column_stride == 1 || X.row_stride != 1) pack_rows(simd, X, begin, end, words);
    else pack_columns(simd, X, begin, end, words);
}

inline size_t count_ones(const uint64_t* begin, const uint64_t* end) {
    size_t n = 0;
    for (; begin < end; ++begin) n += static_cast<size_t>(__builtin_popcountll(*begin));
    return n;
}

// Rows [begin, end) of a sparse matrix of ones: the columns of those of row r stand at
// [starts[r], starts[r + 1]). Returns how many places they take, fewer if some are named twice.
template <class Index>
size_t put_ones_of_rows(const Index* columns, const Index* starts, uint32_t n_columns, size_t begin,
                        size_t end, uint64_t* words) noexcept {
    const uint32_t n_words = words_of_bits(n_columns);
    std::fill(words + begin * n_words, words + end * n_words, uint64_t{0});
    for (size_t row = begin; row < end; ++row) {
        uint64_t* out = words + row * n_words;
        for (Index i = starts[row]; i < starts[row + 1]; ++i) {
            out[columns[i] / ROW_WORD] |= uint64_t{1} << columns[i] % ROW_WORD;
        }
    }
    return count_ones(words + begin * n_words, words + end * n_words);
}
// The same of some columns, the rows of each ascending; fewer also if they are not. Some rows at a
// time, which stay in a cache.
template <class Index>
size_t put_ones_of_columns(const Index* rows, const Index* starts, const uint32_t* columns,
                           uint32_t n_columns, size_t begin, size_t end,
                           uint64_t* words) noexcept {
    constexpr size_t CACHE = size_t{1} << 17;
    const uint32_t n_words = words_of_bits(n_columns);
    std::fill(words + begin * n_words, words + end * n_words, uint64_t{0});
    const size_t at_once = CACHE / sizeof(uint64_t) / n_words + ROW_WORD;
    for (size_t first = begin; first < end; first += at_once) {
        const size_t last = std::min(end, first + at_once);
        for (uint32_t bit = 0; bit < n_columns; ++bit) {
            const Index* const column_end = rows + starts[columns[bit] + 1];
            const Index* at = std::lower_bound(rows + starts[columns[bit]], column_end,
                                               static_cast<Index>(first));
            const uint64_t mask = uint64_t{1} << bit % ROW_WORD;
            for (; at < column_end; ++at) {
                const size_t row = static_cast<size_t>(*at);
                if (row < first || row >= last) break;
                words[row * n_words + bit / ROW_WORD] |= mask;
            }
        }
    }
    return count_ones(words + begin * n_words, words + end * n_words);
}

}  // namespace fasttree
