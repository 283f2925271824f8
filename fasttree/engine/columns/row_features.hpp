// The features that are not zero in each row of a sparse matrix: its pattern, row by row.
//
// Fits on one encoding share it. It is filled when a fit first asks for it and never changes then.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/columns/sparse.hpp"

namespace fasttree {

class RowFeatures {
    std::vector<int64_t> starts_;  // of every row in features_, and the end of the last one
    std::vector<uint32_t> features_;
    std::once_flag is_filled_;

    // A counting sort of the nonzeros by row.
    void fill(const SparseData& data) {
        const int64_t n_entries = data.indptr[data.n_features];
        std::vector<int64_t> ends(static_cast<size_t>(data.n_rows) + 1, 0);
        for (int64_t i = 0; i < n_entries; ++i)
            ends[static_cast<size_t>(data.indices[i]) + 1] += data.values[i] != 0.0f;
        for (size_t row = 0; row < data.n_rows; ++row) ends[row + 1] += ends[row];
        starts_ = ends;
        features_.resize(static_cast<size_t>(ends[data.n_rows]));
        for (uint32_t feature = 0; feature < data.n_features; ++feature) {
            const SparseView column = data.column(feature);
            for (uint32_t i = 0; i < column.n; ++i)
                if (column.values[i] != 0.0f)
                    features_[static_cast<size_t>(ends[column.rows[i]]++)] = feature;
        }
    }

public:
    void fill_once(const SparseData& data) {
        std::call_once(is_filled_, [&] { fill(data); });
    }
    const uint32_t* begin(uint32_t row) const noexcept { return features_.data() + starts_[row]; }
    const uint32_t* end(uint32_t row) const noexcept {
        return features_.data() + starts_[size_t{row} + 1];
    }
};

}  // namespace fasttree
