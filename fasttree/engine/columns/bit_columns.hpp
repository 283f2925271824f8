// Columns of two values as bits, all of a row side by side: bit 1 is the larger value.
//
// They are told from others while X is read once, in its order: the values of some rows say which
// columns may be such ones; then every cell is compared, bit by bit, with the values of its column
// known so far. A column leaves as soon as a cell is neither, so its values, two numbers or two
// categories, may be told from each other by their bits alone. All rows of X are read, also those
// that no sample holds, unless too few columns are left.
//
// Of columns that are known to hold nothing but zeros and ones, bits are given (bit_matrix.hpp).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/simd/avx2.hpp"
#include "engine/simd/bit_rows.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_interrupt.hpp"

namespace fasttree {

// A matrix of floats, its strides in elements.
struct FloatMatrix {
    const float* cells;
    ptrdiff_t row_stride, column_stride;
    uint32_t n_rows, n_columns;

    const float* at(size_t row, size_t column) const {
        return cells + static_cast<ptrdiff_t>(row) * row_stride
               + static_cast<ptrdiff_t>(column) * column_stride;
    }
    bool is_by_row() const { return column_stride == 1 || row_stride != 1; }
};

// Cells as their bits, for 64 neighbouring columns or rows: which are not the low value, and which
// of the `looked_at` neither of the two.
struct Comparison {
    uint64_t not_low, neither;
};

inline Comparison compare_portable(const float* cells, ptrdiff_t stride, const uint32_t* low,
                                   const uint32_t* high, uint32_t values_stride,
                                   uint64_t looked_at) {
    Comparison out{0, 0};
    for (uint64_t rest = looked_at; rest != 0; rest &= rest - 1) {
        const int i = lowest_bit(rest);
        const uint32_t bits = float_bits(cells[i * stride]);
        const uint64_t not_low = bits != low[i * values_stride];
        out.not_low |= not_low << i;
        out.neither |= (not_low & (bits != high[i * values_stride])) << i;
    }
    return out;
}
#if FASTTREE_X86
// Of neighbouring cells: values_stride is 1 for those of a row, 0 for those of a column.
template <uint32_t values_stride>
FASTTREE_AVX512 inline Comparison compare_avx512(const float* cells, const uint32_t* low,
                                                 const uint32_t* high, uint64_t looked_at) {
    constexpr uint32_t LANES = 16;
    Comparison out{0, 0};
    for (uint32_t i = 0; i < ROW_WORD; i += LANES) {
        const __mmask16 lanes = static_cast<__mmask16>(looked_at >> i);
        if (lanes == 0) continue;
        const __m512i cell = _mm512_maskz_loadu_epi32(lanes, cells + i);
        const __m512i lows = values_stride ? _mm512_loadu_si512(low + i)
                                           : _mm512_set1_epi32(static_cast<int>(*low));
        const __m512i highs = values_stride ? _mm512_loadu_si512(high + i)
                                            : _mm512_set1_epi32(static_cast<int>(*high));
        const __mmask16 not_low = _mm512_mask_cmpneq_epi32_mask(lanes, cell, lows);
        const __mmask16 neither = _mm512_mask_cmpneq_epi32_mask(not_low, cell, highs);
        out.not_low |= static_cast<uint64_t>(not_low) << i;
        out.neither |= static_cast<uint64_t>(neither) << i;
    }
    return out;
}
template <uint32_t values_stride>
FASTTREE_AVX2 inline Comparison compare_avx2(const float* cells, const uint32_t* low,
                                             const uint32_t* high, uint64_t looked_at) {
    constexpr uint32_t LANES = 8, ALL = 0xff;
    Comparison out{0, 0};
    for (uint32_t i = 0; i < ROW_WORD; i += LANES) {
        const uint32_t lanes = looked_at >> i & ALL;
        if (lanes == 0) continue;
        const int* const first = reinterpret_cast<const int*>(cells + i);
        const __m256i cell = lanes == ALL
            ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first))
            : _mm256_maskload_epi32(first, lanes_of_8(lanes));
        const __m256i lows =
            values_stride ? load_8(low + i) : _mm256_set1_epi32(static_cast<int>(*low));
        const __m256i highs =
            values_stride ? load_8(high + i) : _mm256_set1_epi32(static_cast<int>(*high));
        const uint64_t not_low = lanes & ~top_bits_8(_mm256_cmpeq_epi32(cell, lows));
        const uint64_t neither = not_low & ~top_bits_8(_mm256_cmpeq_epi32(cell, highs));
        out.not_low |= not_low << i;
        out.neither |= neither << i;
    }
    return out;
}
#endif
template <uint32_t values_stride>
inline Comparison compare(Simd simd, const float* cells, ptrdiff_t stride, const uint32_t* low,
                          const uint32_t* high, uint64_t looked_at) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512 && stride == 1) {
        return compare_avx512<values_stride>(cells, low, high, looked_at);
    }
    if (simd == SIMD_AVX2 && stride == 1) {
        return compare_avx2<values_stride>(cells, low, high, looked_at);
    }
#endif
    return compare_portable(cells, stride, low, high, values_stride, looked_at);
}

class BitColumns {
    // What a thread knows of the columns in its part of the rows. A high value that is not known
    // equals the low one.
    struct Part {
        std::vector<uint32_t> high;
        std::vector<uint64_t> is_in;  // columns that hold two values so far, a bit each
        uint32_t n_in = 0;
    };

    AlignedBuffer<uint64_t> words_;
    uint32_t n_rows_ = 0, n_words_ = 0;
    uint32_t least_ = 1;                  // columns without which there are none
    std::vector<uint32_t> first_column_;  // of each word
    std::vector<uint32_t> low_;           // by bit
    std::vector<Part> parts_;
    std::unique_ptr<StopFlag> are_too_few_;  // in some part, hence in all together

public:
    std::vector<uint32_t> features;       // by bit; NO_COLUMN where there is none
    uint32_t n_columns = 0;
    static constexpr uint32_t NO_COLUMN = 0xffffffffu;

    BitRows rows() const { return {words_.get(), n_words_}; }
    uint32_t n_bits() const { return n_words_ * ROW_WORD; }
    bool is_one(uint32_t bit) const { return features[bit] != NO_COLUMN; }
    float low(uint32_t bit) const { return float_of_bits(low_[bit]); }
    float high(uint32_t bit) const { return float_of_bits(parts_[0].high[bit]); }

    // Refers to known bits of columns.
    void take(const uint64_t* words, uint32_t n_rows, const std::vector<uint32_t>& their_columns) {
        n_rows_ = n_rows;
        n_columns = static_cast<uint32_t>(their_columns.size());
        n_words_ = words_of_bits(n_columns);
        words_.borrow(words, static_cast<size_t>(n_rows_) * n_words_);
        features = their_columns;
        features.resize(n_bits(), NO_COLUMN);
    }

    // Looks at some rows; false if fewer than `least` of the columns may hold two values. Columns
    // may hold categories as far as n_categories(column) says.
    template <class NumberOfCategories>
    bool begin(const FloatMatrix& X, uint32_t n_parts, uint32_t least,
               const NumberOfCategories& n_categories) {
        n_rows_ = X.n_rows;
        least_ = std::max(least, 1u);
        Part part;
        for (uint32_t first = 0; first < X.n_columns; first += ROW_WORD) {
            uint64_t is_in = 0;
            const size_t begin = low_.size();
            low_.resize(begin + ROW_WORD);
            part.high.resize(begin + ROW_WORD);
            for (uint32_t i = 0; i < std::min(ROW_WORD, X.n_columns - first); ++i) {
                const uint32_t n = n_categories(first + i);
                if (n > 2) continue;
                const bool holds = look(X, first + i, n > 0, low_[begin + i], part.high[begin + i]);
                is_in |= static_cast<uint64_t>(holds) << i;
            }
            if (is_in == 0) {
                low_.resize(begin);
                part.high.resize(begin);
                continue;
            }
            part.n_in += static_cast<uint32_t>(__builtin_popcountll(is_in));
            first_column_.push_back(first);
            part.is_in.push_back(is_in);
        }
        if (part.n_in < least_) return false;
        n_words_ = static_cast<uint32_t>(first_column_.size());
        words_.reserve(static_cast<size_t>(n_rows_) * n_words_);
        parts_.assign(n_parts, part);
        are_too_few_ = std::make_unique<StopFlag>();
        return true;
    }

    // Rows [begin, end), of one of the parts.
    void read(Simd simd, const FloatMatrix& X, uint32_t part, size_t begin, size_t end) noexcept {
        if (X.is_by_row()) read_rows(simd, X, parts_[part], begin, end);
        else read_columns(simd, X, parts_[part], begin, end);
    }

    // What all parts found together; false if too few columns remain.
    bool settle() {
        Part& all = parts_[0];
        features.assign(n_bits(), NO_COLUMN);
        n_columns = 0;
        bool has_changed = false;
        for (uint32_t bit = 0; bit < n_bits(); ++bit) {
            const uint64_t mask = uint64_t{1} << bit % ROW_WORD;
            bool is_in = true;
            for (const Part& part : parts_) {
                is_in &= (part.is_in[bit / ROW_WORD] & mask) != 0;
                if (part.high[bit] == low_[bit]) continue;
                if (all.high[bit] == low_[bit]) all.high[bit] = part.high[bit];
                is_in &= part.high[bit] == all.high[bit];
            }
            if (is_in) {
                features[bit] = first_column_[bit / ROW_WORD] + bit % ROW_WORD;
                ++n_columns;
            } else {
                all.is_in[bit / ROW_WORD] &= ~mask;
            }
            has_changed |= !is_in;
        }
        parts_.resize(1);
        if (n_columns < least_) return false;
        if (has_changed) clear_others(all.is_in);
        return true;
    }

private:
    // Whether a cell is of a larger number, which a zero of the other sign is not, or of a later
    // category.
    static bool is_above(uint32_t cell, uint32_t low) {
        const float value = float_of_bits(cell), other = float_of_bits(low);
        if (other == other) return value > other;
        return category_of(value) != NO_CATEGORY && cell > low;
    }
    static bool learn(uint32_t cell, uint32_t low, uint32_t& high) {
        if (cell == low || cell == high) return true;
        if (high != low || !is_above(cell, low)) return false;
        high = cell;
        return true;
    }
    // Some rows of a column; false if they hold more than two values, or missing ones. Of one value
    // that is not the first category or is above 0, that is thought to be the other.
    static bool look(const FloatMatrix& X, uint32_t column, bool has_categories, uint32_t& low,
                     uint32_t& high) {
        const uint32_t zero = has_categories ? category_bits(0) : float_bits(0.0f);
        const auto takes = [&](size_t row) {
            const float value = *X.at(row, column);
            const uint32_t cell = float_bits(value);
            if (value != value && (!has_categories || category_of(value) == NO_CATEGORY)) {
                return false;
            }
            if (row == 0) low = high = cell;
            if (low == high && is_above(low, cell)) low = cell;
            return learn(cell, low, high);
        };
        constexpr size_t PLACES = 4, ROWS = 16;  // a cache line each where columns are contiguous
        constexpr size_t SPREAD = 256;           // of a column that would be read by itself
        const size_t n_rows = std::min<size_t>(X.n_rows, ROWS);
        const size_t n_spread = X.n_rows > SPREAD && !X.is_by_row() ? SPREAD : 0;
        for (size_t i = 0; i < PLACES * n_rows; ++i) {
            const size_t first = (X.n_rows - n_rows) * (i / n_rows) / (PLACES - 1);
            if (!takes(first + i % n_rows)) return false;
        }
        for (size_t i = 0; i < n_spread; ++i) {
            if (!takes((X.n_rows - size_t{1}) * i / SPREAD)) return false;
        }
        if (low == high && is_above(high, zero)) low = zero;
        return true;
    }
    void drop(Part& part, uint32_t word, uint64_t column) {
        part.is_in[word] &= ~column;
        if (--part.n_in < least_) are_too_few_->set();
    }

    void read_rows(Simd simd, const FloatMatrix& X, Part& part, size_t begin, size_t end) noexcept {
        for (size_t row = begin; row < end && !are_too_few_->is_set(); ++row) {
            uint64_t* out = words_.get() + row * n_words_;
            for (uint32_t w = 0; w < n_words_; ++w) {
                const float* cells = X.at(row, first_column_[w]);
                const Comparison found =
                    compare<1>(simd, cells, X.column_stride, &low_[w * ROW_WORD],
                               &part.high[w * ROW_WORD], part.is_in[w]);
                out[w] = found.not_low;
                for (uint64_t rest = found.neither; rest != 0; rest &= rest - 1) {
                    const uint32_t i = static_cast<uint32_t>(lowest_bit(rest));
                    const uint32_t cell = float_bits(cells[i * X.column_stride]);
                    if (!learn(cell, low_[w * ROW_WORD + i], part.high[w * ROW_WORD + i])) {
                        drop(part, w, uint64_t{1} << i);
                    }
                }
            }
        }
    }

    // Column by column, some rows of each at a time.
    void read_columns(Simd simd, const FloatMatrix& X, Part& part, size_t begin,
                      size_t end) noexcept {
        constexpr uint32_t SQUARES = 8;
        uint64_t squares[SQUARES][ROW_WORD];
        for (; begin < end && !are_too_few_->is_set(); begin += SQUARES * ROW_WORD) {
            const size_t n = std::min<size_t>(end - begin, SQUARES * ROW_WORD);
            for (uint32_t w = 0; w < n_words_; ++w) {
                for (uint32_t i = 0; i < ROW_WORD; ++i) {
                    for (uint32_t k = 0; k * ROW_WORD < n; ++k) {
                        const size_t first = begin + k * ROW_WORD;
                        const uint64_t rows = low_bits(
                            static_cast<uint32_t>(std::min<size_t>(end - first, ROW_WORD)));
                        squares[k][i] = read_64(simd, X, part, w, i, first, rows);
                    }
                }
                for (uint32_t k = 0; k * ROW_WORD < n; ++k) {
                    transpose_bits(simd, squares[k]);
                    const size_t first = begin + k * ROW_WORD;
                    uint64_t* out = words_.get() + first * n_words_ + w;
                    for (size_t i = 0; i < std::min<size_t>(end - first, ROW_WORD); ++i) {
                        out[i * n_words_] = squares[k][i];
                    }
                }
            }
        }
    }
    // Rows of a column, from `first` on, as a word.
    uint64_t read_64(Simd simd, const FloatMatrix& X, Part& part, uint32_t w, uint32_t i,
                     size_t first, uint64_t rows) noexcept {
        const uint32_t bit = w * ROW_WORD + i;
        const uint64_t mask = uint64_t{1} << i;
        if (!(part.is_in[w] & mask)) return 0;
        const float* cells = X.at(first, first_column_[w] + i);
        const Comparison found =
            compare<0>(simd, cells, X.row_stride, &low_[bit], &part.high[bit], rows);
        for (uint64_t rest = found.neither; rest != 0; rest &= rest - 1) {
            const uint32_t cell = float_bits(cells[lowest_bit(rest) * X.row_stride]);
            if (learn(cell, low_[bit], part.high[bit])) continue;
            drop(part, w, mask);
            return 0;
        }
        return found.not_low;
    }

    // Clears the bits of columns that are not in.
    void clear_others(const std::vector<uint64_t>& is_in) {
        for (size_t row = 0; row < n_rows_; ++row) {
            for (uint32_t w = 0; w < n_words_; ++w) words_[row * n_words_ + w] &= is_in[w];
        }
    }
};

}  // namespace fasttree
