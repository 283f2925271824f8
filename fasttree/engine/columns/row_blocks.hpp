// Reading columns of a matrix in blocks of rows.
//
// Where the cells of a row are side by side, the first column that is read of a block brings the
// cache lines of the others, and would wait for each of them: lines that are far apart do not come
// by themselves. So they are asked for while the block before is read, for some of its rows beside
// each column, since a core has few requests under way.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "engine/columns/encoded_rows.hpp"

namespace fasttree {

class RowBlocks {
    struct Read {
        uint32_t feature = 0;
        const float* column = nullptr;  // null: nothing of X is read
    };
    static constexpr ptrdiff_t LINE = 16;       // cells of a cache line
    static constexpr ptrdiff_t FAR = 2 * LINE;  // between rows
    const ptrdiff_t row_stride_;
    const bool is_by_row_;
    std::vector<Read> features_;
    std::vector<const float*> lines_;  // columns that bring the lines of all

public:
    static constexpr size_t ROWS = 128;  // of a block where the cells of a row are side by side

    RowBlocks(ptrdiff_t row_stride, ptrdiff_t column_stride)
        : row_stride_(row_stride), is_by_row_(is_by_row(row_stride, column_stride)) {}

    // Whether blocks have so many rows at most; others are read whole.
    static bool is_by_row(ptrdiff_t row_stride, ptrdiff_t column_stride) {
        return std::abs(row_stride) > std::abs(column_stride);
    }

    // Adds a feature, in the order of the columns.
    void add(uint32_t feature, const float* column = nullptr) {
        features_.push_back({feature, column});
    }

    // Calls read(feature, start, stop) for each feature of the rows at places start to stop, until
    // those from `begin` to `end` are read, or it returns false: then no more of the feature. To be
    // called once.
    template <class Reader>
    void visit(const EncodedRows& rows, size_t begin, size_t end, const Reader& read) {
        const size_t block = is_by_row_ ? ROWS : end - begin;
        find_lines();
        for (size_t start = begin, stop; start < end && !features_.empty(); start = stop) {
            stop = std::min(start + block, end);
            const size_t n = features_.size();
            const size_t n_ahead = lines_.empty() ? 0 : std::min(block, end - stop);
            size_t n_kept = 0;
            for (size_t k = 0; k < n; ++k) {
                const size_t first = stop + n_ahead * k / n, last = stop + n_ahead * (k + 1) / n;
                for (size_t i = first; i < last; ++i) ask_for(rows[i]);
                features_[n_kept] = features_[k];
                n_kept += read(features_[k].feature, start, stop);
            }
            features_.resize(n_kept);
            if (n_kept < n) find_lines();
        }
    }

private:
    void find_lines() {
        lines_.clear();
        if (!is_by_row_ || std::abs(row_stride_) < FAR) return;
        for (const Read& of : features_) {
            if (of.column == nullptr) continue;
            // The last column is always one of them: it may be in a line of its own.
            const size_t n = lines_.size();
            if (n > 1 && std::abs(of.column - lines_[n - 2]) < LINE) lines_.pop_back();
            lines_.push_back(of.column);
        }
    }
    void ask_for(uint32_t row) const {
        for (const float* column : lines_) {
            __builtin_prefetch(column + static_cast<ptrdiff_t>(row) * row_stride_);
        }
    }
};

}  // namespace fasttree
