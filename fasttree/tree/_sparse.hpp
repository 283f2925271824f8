// A sparse matrix (CSC) as the engine reads it, for both strategies of sparse columns.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "../utils/_rank_sort.hpp"
#include "../utils/_simd.hpp"
#include "../utils/_sorting.hpp"
#include "_nonzeros.hpp"

namespace fasttree {

class SparseData {
public:
    const float* values;
    const int32_t* indices;
    const int64_t* indptr;
    const uint32_t n_rows, n_features;  // of X
    std::vector<uint32_t> rows;         // of positive weight

    SparseData(const float* values_, const int32_t* indices_, const int64_t* indptr_,
               uint32_t n_rows_, uint32_t n_features_)
        : values(values_), indices(indices_), indptr(indptr_), n_rows(n_rows_),
          n_features(n_features_) {}

    SparseView column(uint32_t feature) const {
        const int64_t first = indptr[feature], last = indptr[feature + 1];
        return {values + first, indices + first, static_cast<uint32_t>(last - first)};
    }
    float value(uint32_t row, uint32_t feature) const { return column(feature).value(row); }

    // Whether the pointers ascend to at most n_nonzero and the indices are rows.
    bool is_valid(size_t n_nonzero) const {
        bool ascends = indptr[0] == 0;
        for (uint32_t f = 0; f < n_features; ++f) ascends &= indptr[f] <= indptr[f + 1];
        if (!ascends || indptr[n_features] > static_cast<int64_t>(n_nonzero)) return false;
        const int32_t last = static_cast<int32_t>(std::min<uint32_t>(n_rows - 1, INT32_MAX));
        int32_t outside = 0;
        for (int64_t i = 0; i < indptr[n_features]; ++i) {
            outside |= (indices[i] < 0) | (indices[i] > last);
        }
        return outside == 0;
    }
};

// Keys in the order of a column's entries: negatives ascending, missing, positives descending.
constexpr uint32_t MISSING_OUTER_KEY = 0x80000000u;

inline uint32_t outer_key(float x) {
    const uint32_t key = float_key(x);
    return key & 0x80000000u ? ~key | 0x80000000u : key;
}
inline float outer_value(uint32_t key) {
    const uint32_t bits = key & 0x80000000u ? ~key & 0x7fffffffu : ~key;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Room for rows, left as it is.
class RowBuffer {
    std::unique_ptr<uint32_t[]> rows_;
    size_t size_ = 0;

public:
    uint32_t* reserve(size_t n) {
        if (n > size_) {
            rows_.reset(new uint32_t[n]);
            size_ = n;
        }
        return rows_.get();
    }
};

// Nonzeros of a column gathered to be sorted, and scratch for it.
class NonzeroSorter {
    const Simd simd_;
    std::vector<uint64_t> items_, scratch_;

public:
    explicit NonzeroSorter(Simd simd) : simd_(simd) {}

    void reserve(size_t n) {
        if (n + RANK_SORT_PADDING <= items_.size()) return;
        items_.resize(n + RANK_SORT_PADDING);
        scratch_.resize(n + RANK_SORT_PADDING);
    }
    // Puts a row of a value in place i.
    void put(uint32_t i, float value, uint32_t row) { items_[i] = pack(outer_key(value), row); }
    uint32_t row(uint32_t i) const { return payload_of(items_[i]); }
    float value(uint32_t i) const { return outer_value(key_of(items_[i])); }

    // Writes the rows of the first n places in the order of their values.
    void write_sorted(uint32_t n, uint32_t* entries) {
        const uint64_t* sorted = sort_by_key(simd_, items_.data(), scratch_.data(), n);
        uint32_t previous = n > 0 ? ~key_of(sorted[0]) : 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t key = key_of(sorted[i]);
            entries[i] = payload_of(sorted[i]) | (key != previous ? BOUNDARY : 0);
            previous = key;
        }
    }
};

// The rows of a node of which those on one side of a threshold are listed as one run; zeros are
// on the other side, or there are none. `listed` holds the result.
inline Nonzeros listed_side(const Nonzeros& nonzeros, uint32_t n_values_left, bool missing_left,
                            std::vector<uint32_t>& listed) {
    const bool left = n_values_left <= nonzeros.n_negative;
    const uint32_t n_values = left ? n_values_left : nonzeros.n_values() - n_values_left;
    const uint32_t* from = left ? nonzeros.entries : nonzeros.positives();
    listed.clear();
    for (uint32_t i = 0; i < n_values; ++i) listed.push_back(from[i] & ROW);
    for (uint32_t i = 0; i < nonzeros.n_missing && missing_left == left; ++i) {
        listed.push_back(nonzeros.missing()[i] & ROW);
    }
    const uint32_t n = static_cast<uint32_t>(listed.size());
    return {listed.data(), nonzeros.n, left ? n : 0, 0, left ? 0 : n, nonzeros.column};
}

}  // namespace fasttree
