// Cells of a column side by side, for loops over them in vectors.
//
// Where those of a row are side by side instead, blocks of rows are copied: 16 rows of 16 columns
// are transposed in vectors, which takes less time than to load each cell by itself. It pays if
// four of the 16 columns or more are read.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/columns/encoded_rows.hpp"
#include "engine/columns/row_blocks.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/transpose.hpp"

namespace fasttree {

class SideBySide {
    static constexpr ptrdiff_t LANES = 16;
    static constexpr uint32_t LEAST_READ = 4;
    static_assert(RowBlocks::ROWS % LANES == 0, "blocks are copied by whole vectors");
    // Columns that are transposed together, if so many of them are read.
    struct Group {
        const float* first;
        ptrdiff_t n_columns;
        uint32_t n_read;  // to begin with

        bool has(const float* column) const {
            return column >= first && column - first < n_columns;
        }
    };
    const EncodedRows& rows_;
    const ptrdiff_t row_stride_;
    const bool columns_are_contiguous_, rows_are_contiguous_;
    std::vector<Group> groups_;
    const Group* copied_ = nullptr;
    size_t start_ = 0;  // of the rows that are copied
    alignas(64) float cells_[LANES * RowBlocks::ROWS];

public:
    SideBySide(Simd simd, const EncodedRows& rows, ptrdiff_t row_stride, ptrdiff_t column_stride)
        : rows_(rows), row_stride_(row_stride),
          columns_are_contiguous_(simd == SIMD_AVX512 && row_stride == 1 && rows.are_all()),
          rows_are_contiguous_(simd == SIMD_AVX512 && column_stride == 1 &&
                               RowBlocks::is_by_row(row_stride, column_stride)) {}

    // Adds a column that will be read, in their order in the matrix.
    void add(const float* column) {
        if (!rows_are_contiguous_) return;
        if (groups_.empty() || column - groups_.back().first >= LANES) {
            groups_.push_back({column, 1, 1});
        } else {
            groups_.back().n_columns = column - groups_.back().first + 1;
            ++groups_.back().n_read;
        }
    }
    // Those of an added column in the rows at places start to stop, a block of `RowBlocks`, until
    // the next call; null: they are to be read where they are.
    const float* of(const float* column, size_t start, size_t stop) {
        if (columns_are_contiguous_) return column + start;
        if (!rows_are_contiguous_) return nullptr;
        if (copied_ == nullptr || start != start_ || !copied_->has(column)) {
            const auto has_column = [=](const Group& group) { return group.has(column); };
            const auto group = std::find_if(groups_.begin(), groups_.end(), has_column);
            if (group->n_read < LEAST_READ) return nullptr;
            copied_ = &*group;
            start_ = start;
            copy(stop);
        }
        return cells_ + (column - copied_->first) * RowBlocks::ROWS;
    }

private:
    void copy([[maybe_unused]] size_t stop) {
#if FASTTREE_X86
        rows_.visit([&](auto row_of) { copy_avx512(row_of, stop); });
#endif
    }
#if FASTTREE_X86
    template <class RowOf>
    FASTTREE_AVX512 void copy_avx512(const RowOf& row_of, size_t stop) {
        const auto here = static_cast<__mmask16>((1u << copied_->n_columns) - 1);
        float* to = cells_;
        for (size_t i = start_; i < stop; i += LANES, to += LANES) {
            __m512i block[LANES];
#pragma GCC unroll 16
            for (size_t k = 0; k < LANES; ++k) {
                const ptrdiff_t row = row_of(std::min(i + k, stop - 1));
                block[k] = _mm512_maskz_loadu_epi32(here, copied_->first + row * row_stride_);
            }
            transpose_avx512(block);
#pragma GCC unroll 16
            for (size_t c = 0; c < LANES; ++c) {
                _mm512_store_si512(to + c * RowBlocks::ROWS, block[c]);
            }
        }
    }
#endif
};

}  // namespace fasttree
