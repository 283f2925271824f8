// Columns of two values in some rows, a bit per row: whoever looks at several columns of a node
// reads a word per row instead of a byte per row and column.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/simd/bit_rows.hpp"
#include "engine/simd/sides.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

// Of the words of a row that were asked for.
class GatheredBits {
    AlignedBuffer<uint64_t> bits_;   // [bit, word of rows]
    std::vector<uint8_t> is_taken_;  // by word of a row

public:
    // For up to n rows.
    void open(const BitRows& from, uint32_t n) {
        is_taken_.resize(from.n_words);
        bits_.reserve(size_t{from.n_bits()} * n_words(n));
    }
    // Forgets those it holds.
    void begin() { std::fill(is_taken_.begin(), is_taken_.end(), uint8_t{0}); }
    // A bit of all rows, in the order of `rows`; 0 behind the last.
    const uint64_t* take(Simd simd, const BitRows& from, const uint32_t* rows, uint32_t n,
                         uint32_t bit) {
        const uint32_t word = bit / ROW_WORD;
        if (!is_taken_[word]) {
            gather(simd, from, word, rows, n);
            is_taken_[word] = 1;
        }
        return bits_.get() + size_t{bit} * n_words(n);
    }

private:
    void gather(Simd simd, const BitRows& from, uint32_t word, const uint32_t* rows, uint32_t n) {
        const size_t stride = n_words(n);
        uint64_t* const out = bits_.get() + size_t{word} * ROW_WORD * stride;
        uint64_t square[ROW_WORD];
        for (size_t w = 0; w < stride; ++w) {
            const uint32_t* const some = rows + w * WORD_BITS;
            const size_t size = std::min<size_t>(WORD_BITS, n - w * WORD_BITS);
            for (size_t i = 0; i < size; ++i) square[i] = from.row(some[i])[word];
            std::fill(square + size, square + WORD_BITS, uint64_t{0});
            transpose_bits(simd, square);
            for (uint32_t bit = 0; bit < ROW_WORD; ++bit) out[bit * stride + w] = square[bit];
        }
    }
};

}  // namespace fasttree
