// Whether a float32 matrix holds NaN or infinities, in one pass over its memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "utils/_crew.hpp"
#include "utils/_threads.hpp"

namespace fasttree {

enum ValueKind : int { all_finite = 0, some_missing = 1, some_infinite = 2 };

// The largest kind among n values that lie `stride` floats apart.
template <bool kUnitStride>
int kind_of_values(const float* x, ptrdiff_t n, ptrdiff_t stride) {
    constexpr uint32_t kExponent = 0x7f800000u;
    if (kUnitStride) stride = 1;
    uint32_t n_special = 0;  // no branch: the loop is vectorised
    for (ptrdiff_t i = 0; i < n; ++i) {
        uint32_t bits;
        std::memcpy(&bits, x + i * stride, sizeof bits);
        n_special += (bits & kExponent) == kExponent;
    }
    if (n_special == 0) return all_finite;
    for (ptrdiff_t i = 0; i < n; ++i) {
        uint32_t bits;
        std::memcpy(&bits, x + i * stride, sizeof bits);
        if ((bits & 0x7fffffffu) == kExponent) return some_infinite;
    }
    return some_missing;
}

// The largest kind among the values of a matrix with strides in floats;
// share_out_pieces(n, size, work) shares [0, n) out among threads.
template <class ShareOut>
int kind_of_shares(const float* x, ptrdiff_t n_rows, ptrdiff_t n_cols, ptrdiff_t row_stride,
                   ptrdiff_t col_stride, const ShareOut& share_out_pieces) {
    constexpr ptrdiff_t kChunk = 1 << 14;
    ptrdiff_t n_outer = n_rows, outer_stride = row_stride;
    ptrdiff_t n_inner = n_cols, inner_stride = col_stride;
    if (inner_stride != 1) {
        std::swap(n_outer, n_inner);
        std::swap(outer_stride, inner_stride);
    }
    // A matrix without gaps is read as one line, cut into chunks.
    ptrdiff_t n_total = n_outer * n_inner;
    const bool is_dense = inner_stride == 1 && outer_stride == n_inner;
    if (is_dense) {
        n_outer = (n_total + kChunk - 1) / kChunk;
        outer_stride = kChunk;
    }
    std::atomic<int> kind{all_finite};
    const auto look = [&](int, ptrdiff_t begin, ptrdiff_t end) {
        for (ptrdiff_t i = begin; i < end; ++i) {
            if (kind.load(std::memory_order_relaxed) == some_infinite) return;
            const float* first = x + i * outer_stride;
            const ptrdiff_t n = is_dense ? std::min(n_total - i * kChunk, kChunk) : n_inner;
            const int found = inner_stride == 1 ? kind_of_values<true>(first, n, 1)
                                                : kind_of_values<false>(first, n, inner_stride);
            int largest = kind.load(std::memory_order_relaxed);
            while (found > largest && !kind.compare_exchange_weak(largest, found)) {}
        }
    };
    share_out_pieces(n_outer, is_dense ? 1 : kChunk / n_inner + 1, look);
    return kind.load();
}
// On up to n_threads threads. Throws std::bad_alloc.
inline int kind_of_matrix(const float* x, ptrdiff_t n_rows, ptrdiff_t n_cols, ptrdiff_t row_stride,
                          ptrdiff_t col_stride, int n_threads) {
    return kind_of_shares(x, n_rows, n_cols, row_stride, col_stride,
                          [=](ptrdiff_t n, ptrdiff_t size, const auto& look) {
                              share_out(0, n, size, n_threads, look);
                          });
}
// By a crew.
inline int kind_of_matrix(const float* x, ptrdiff_t n_rows, ptrdiff_t n_cols, ptrdiff_t row_stride,
                          ptrdiff_t col_stride, Crew& crew) {
    return kind_of_shares(x, n_rows, n_cols, row_stride, col_stride,
                          [&](ptrdiff_t n, ptrdiff_t size, const auto& look) {
                              crew.share_out(0, n, size, look);
                          });
}

}  // namespace fasttree
