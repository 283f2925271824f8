// The numbers of a block of rows as integers in the same order, column by column.
//
// Complexity: O(1) per number.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "engine/predict/walk.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/transpose.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

constexpr int32_t kBelowAll = std::numeric_limits<int32_t>::min();
constexpr int32_t kAboveAll = std::numeric_limits<int32_t>::max();

// Integers in the order of the numbers; -0 comes right before 0.
inline int32_t key_of(int32_t float_bits) { return float_bits ^ (float_bits >> 31 & kAboveAll); }
inline bool is_nan(int32_t float_bits) { return (float_bits & kAboveAll) > 0x7f800000; }

// The keys of a block of rows. Missing values lie above all numbers. If there are any, the columns
// exist a second time, with missing values below all numbers. Between the two is a column in which
// every row is below all numbers.
class KeyBlock {
    AlignedBuffer<int32_t> keys_;
    uint32_t n_cols_ = 0, stride_ = 0;  // stride: from column to column
    bool has_missing_ = false;
    ptrdiff_t rows_ahead_ = 0;  // of those that are read, rows are asked for

public:
    static constexpr uint32_t kGroup = 64;  // rows that are read at once, the last beyond the end

    const int32_t* keys() const { return keys_.get(); }
    uint32_t stride() const { return stride_; }
    uint32_t below_all() const { return n_cols_ * stride_; }
    // Where the columns begin that hold missing values below all numbers.
    uint32_t second() const { return has_missing_ ? (n_cols_ + 1) * stride_ : 0; }

#if FASTTREE_X86
    // Returns the largest kind among the numbers. Throws std::bad_alloc.
    int read(const DenseRows& rows, const float* x, uint32_t n_rows) {
        constexpr uint32_t SKEW = 80;  // columns do not begin in the same sets of a cache
        n_cols_ = static_cast<uint32_t>(rows.n_cols);
        stride_ = (n_rows + kGroup - 1) / kGroup * kGroup + SKEW;
        // Far enough that memory keeps up, near enough that the rows stay in the L1 cache.
        constexpr Py_ssize_t NUMBERS_AHEAD = 2560;
        rows_ahead_ = std::max<Py_ssize_t>(kLanes, NUMBERS_AHEAD / rows.n_cols);
        int32_t* keys = keys_.reserve((2 * size_t{n_cols_} + 1) * stride_);
        const Special found = put_avx512(rows, x, n_rows, keys);
        has_missing_ = found.missing;
        std::fill_n(keys + below_all(), stride_, kBelowAll);
        for (uint32_t i = 0; has_missing_ && i < below_all(); ++i)
            keys[second() + i] = keys[i] == kAboveAll ? kBelowAll : keys[i];
        if (found.infinite) return some_infinite;
        return has_missing_ ? some_missing : all_finite;
    }

private:
    static constexpr uint32_t kLanes = 16;

    // Whether there was such a number.
    struct Special {
        bool missing, infinite;
    };

    // Not zero once there was such a number.
    struct SpecialLanes {
        __m512i missing, infinite;
    };

    FASTTREE_AVX512 Special put_avx512(const DenseRows& rows, const float* x, uint32_t n_rows,
                                       int32_t* keys) const {
        SpecialLanes found{_mm512_setzero_si512(), _mm512_setzero_si512()};
        for (uint32_t first = 0; first < n_rows; first += kLanes) {
            const uint32_t n = std::min(n_rows - first, kLanes);
            const float* cells = x + first * rows.row_stride;
            if (rows.col_stride == 1)
                put_rows(cells, rows.row_stride, n, keys + first, found);
            else
                put_columns(cells, rows.row_stride, rows.col_stride, n, keys + first, found);
        }
        return {_mm512_test_epi32_mask(found.missing, found.missing) != 0,
                _mm512_test_epi32_mask(found.infinite, found.infinite) != 0};
    }
    FASTTREE_AVX512 static __m512i keys_of(__m512i bits, SpecialLanes& found) {
        const __m512i positive = _mm512_set1_epi32(kAboveAll),
                      infinity = _mm512_set1_epi32(0x7f800000);
        const __m512i size = _mm512_and_si512(bits, positive);
        const __mmask16 is_nan = _mm512_cmpgt_epi32_mask(size, infinity);
        found.missing = _mm512_mask_mov_epi32(found.missing, is_nan, positive);
        found.infinite = _mm512_mask_mov_epi32(
            found.infinite, _mm512_cmpeq_epi32_mask(size, infinity), positive);
        const __m512i signs = _mm512_srai_epi32(bits, 31);
        return _mm512_mask_mov_epi32(
            _mm512_xor_si512(bits, _mm512_and_si512(signs, positive)), is_nan, positive);
    }
    // n rows whose cells lie side by side, 16 columns at a time.
    FASTTREE_AVX512 void put_rows(const float* cells, ptrdiff_t row_stride, uint32_t n,
                                  int32_t* keys, SpecialLanes& found) const {
        for (uint32_t f = 0; f < n_cols_; f += kLanes) {
            const uint32_t n_here = std::min(n_cols_ - f, kLanes);
            const auto lanes = static_cast<__mmask16>(low_bits(n_here));
            __m512i block[kLanes];
#pragma GCC unroll 16
            for (uint32_t i = 0; i < kLanes; ++i) {
                const float* row = cells + (i < n ? i : 0) * row_stride + f;
                __builtin_prefetch(row + rows_ahead_ * row_stride);
                block[i] = keys_of(_mm512_maskz_loadu_epi32(lanes, row), found);
            }
            transpose_avx512(block);
#pragma GCC unroll 16
            for (uint32_t c = 0; c < kLanes; ++c)
                if (c < n_here) _mm512_storeu_si512(keys + (f + c) * stride_, block[c]);
        }
    }
    FASTTREE_AVX512 void put_columns(const float* cells, ptrdiff_t row_stride,
                                     ptrdiff_t col_stride, uint32_t n, int32_t* keys,
                                     SpecialLanes& found) const {
        const auto lanes = static_cast<__mmask16>(low_bits(n));
        for (uint32_t f = 0; f < n_cols_; ++f, cells += col_stride, keys += stride_) {
            if (row_stride == 1) __builtin_prefetch(cells + rows_ahead_);
            float own[kLanes] = {};
            if (row_stride != 1)
                for (uint32_t i = 0; i < n; ++i) own[i] = cells[i * row_stride];
            const __m512i bits = row_stride == 1 ? _mm512_maskz_loadu_epi32(lanes, cells)
                                                 : _mm512_loadu_si512(own);
            _mm512_storeu_si512(keys, keys_of(bits, found));
        }
    }
#endif
};

}  // namespace fasttree
