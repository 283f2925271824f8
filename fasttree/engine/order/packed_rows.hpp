// The numbers of a small subtree's rows side by side, whatever the layout of X: a row is a few
// vectors in a cache, all of its features at once.
//
// Invariant: the places of the rows at positions [start, end) stand there in the order of the rows.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/columns/dense.hpp"
#include "engine/simd/sides.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

// Cell f of row r, X[r * row_stride + f * column_stride], to out[i * stride + f], where r is the
// i-th of the rows.
inline void pack_rows(const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride,
                      uint32_t n_features, const uint32_t* rows, uint32_t n, float* out,
                      size_t stride) {
    constexpr uint32_t BLOCK = 64;  // rows whose packed cells stay in the first-level cache
    for (uint32_t first = 0; first < n; first += BLOCK) {
        const uint32_t last = std::min(n, first + BLOCK);
        for (uint32_t f = 0; f < n_features; ++f) {
            const float* column = X + static_cast<ptrdiff_t>(f) * column_stride;
            for (uint32_t i = first; i < last; ++i) {
                out[i * stride + f] = column[static_cast<ptrdiff_t>(rows[i]) * row_stride];
            }
        }
    }
}

class PackedRows {
    static constexpr uint32_t LINE = 16;                 // cells of a cache line
    static constexpr size_t MOST_CELLS = size_t{1} << 16;  // they stay in the second-level cache
    AlignedBuffer<float> cells_;
    AlignedBuffer<uint32_t> places_, scratch_;
    uint32_t start_ = 0, end_ = 0;  // positions of the rows; none: equal
    uint32_t stride_ = LINE;

public:
    // Forgets the rows, for data of so many features.
    void open(uint32_t n_features) {
        start_ = end_ = 0;
        stride_ = (n_features + LINE - 1) / LINE * LINE;
    }
    bool have_room(uint32_t n) const { return size_t{n} * stride_ <= MOST_CELLS; }
    bool hold(uint32_t start, uint32_t end) const { return start_ <= start && end <= end_; }

    // Takes the rows at positions [start, end) instead of those it holds.
    void take(const DenseColumns& data, const uint32_t* rows, uint32_t start, uint32_t end) {
        const uint32_t n = end - start;
        start_ = start;
        end_ = end;
        pack_rows(data.X, data.row_stride, data.column_stride,
                  static_cast<uint32_t>(data.columns.size()), rows, n,
                  cells_.reserve(size_t{n} * stride_), stride_);
        places_.reserve(n + SIDE_PADDING);
        scratch_.reserve(n + SIDE_PADDING);
        for (uint32_t i = 0; i < n; ++i) places_[i] = i;
    }

    const float* cells() const { return cells_.get(); }
    ptrdiff_t stride() const { return stride_; }
    const uint32_t* places(uint32_t start) const { return places_.get() + (start - start_); }

    // Moves the places of the rows on the left to the front.
    void divide(Simd simd, uint32_t start, uint32_t n, const uint64_t* left) {
        divide_items(simd, places_.get() + (start - start_), n, left, scratch_.get());
    }
};

}  // namespace fasttree
