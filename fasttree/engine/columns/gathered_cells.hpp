// The cells of a node's rows in the features that it looks at, each feature's side by side.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "engine/columns/dense.hpp"
#include "engine/simd/gather.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

inline Extremes gather_column(Simd simd, const DenseColumns& data, uint32_t feature,
                              const uint32_t* rows, uint32_t n, float* out) {
    const ColumnCells cells = data.cells_of(feature);
    return gather(simd_of_reads(simd, data.n_rows, cells.stride), cells.first, cells.stride, rows,
                  n, out);
}

// Where X has the cells of a row side by side, the features of a node share cache lines, or
// neighbouring ones. In nodes of many rows, which the first-level cache does not hold, several
// features are therefore read at once: some rows in all of these features, then the next rows.
class GatheredCells {
    static constexpr uint32_t MANY_ROWS = 256, AT_ONCE = 64;
    static constexpr uint32_t MOST = 4;  // features

    const DenseColumns* data_ = nullptr;
    Simd simd_ = SIMD_PORTABLE;
    uint32_t most_ = 0;  // features, and rows
    size_t stride_ = 0;  // that there is room for
    AlignedBuffer<float> cells_;  // [place, row]

    // What is held of the node.
    uint32_t n_held_ = 0;
    uint32_t features_[MOST];
    Extremes extremes_[MOST];

public:
    struct Cells {
        const float* of_rows;
        Extremes extremes;
    };

    // For nodes of up to n rows that look at n_looked features.
    void open(const DenseColumns& data, Simd simd, uint32_t n, uint32_t n_looked) {
        data_ = &data;
        simd_ = simd;
        const bool is_by_row = std::abs(data.column_stride) < std::abs(data.row_stride);
        uint32_t n_read = 0;
        for (uint32_t f = 0; f < data.columns.size(); ++f) n_read += reads_X(f);
        most_ = is_by_row && n_read > 0 ? std::min({n_looked, n_read, MOST}) : 1;
        stride_ = n;
        if (n_read > 0) cells_.reserve_filled(most_ * stride_);
        else cells_.reserve(stride_);
    }
    // Forgets the cells it holds.
    void begin() { n_held_ = 0; }

    // Of a feature in n rows. Sampler: lists the features that the node will look at after it.
    template <class Sampler>
    Cells take(const Sampler& sampler, uint32_t feature, const uint32_t* rows, uint32_t n) {
        const uint32_t* const held = std::find(features_, features_ + n_held_, feature);
        size_t place = static_cast<size_t>(held - features_);
        if (place == n_held_) {
            features_[0] = feature;
            n_held_ = 1;
            place = 0;
            if (n >= MANY_ROWS && reads_X(feature)) list_ahead(sampler);
            gather_held(rows, n);
        }
        return {cells_.get() + place * stride_, extremes_[place]};
    }

private:
    template <class Sampler>
    void list_ahead(const Sampler& sampler) {
        sampler.visit_ahead([this](uint32_t f) {
            if (n_held_ < most_ && reads_X(f)) features_[n_held_++] = f;
        });
    }
    bool reads_X(uint32_t feature) const {
        const Column& column = data_->columns[feature];
        return !column.has_codes_of_rows() && column.copy.get() == nullptr;
    }
    void gather_held(const uint32_t* rows, uint32_t n) {
        for (uint32_t first = 0; first < n;) {
            const uint32_t left = n - first;
            const uint32_t size = n_held_ > 1 && left >= 2 * AT_ONCE ? AT_ONCE : left;
            for (uint32_t place = 0; place < n_held_; ++place) {
                const Extremes some =
                    gather_column(simd_, *data_, features_[place], rows + first, size,
                                  cells_.get() + place * stride_ + first);
                Extremes& all = extremes_[place];
                if (first == 0) all = some;
                else all.add(some);
            }
            first += size;
        }
    }
};

}  // namespace fasttree
