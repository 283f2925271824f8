// The nonzeros of a sparse matrix in the order of their values, which fits on one encoding share.
//
// A column is sorted when a fit first asks for it; what is sorted never changes. Any number of
// threads, of one fit or of several, may ask at the same time.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/columns/sparse.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

class SortedNonzeros {
    static constexpr uint32_t UNSORTED_COLUMN = 0xffffffffu, N_LOCKS = 64;

    const SparseData data_;
    AlignedBuffer<uint32_t> entries_;  // of a column where CSC has its nonzeros
    std::unique_ptr<std::atomic<uint32_t>[]> sizes_;  // of the sorted columns, without zeros
    std::mutex locks_[N_LOCKS];                       // each of every N_LOCKS-th column

public:
    struct List {
        const uint32_t* entries;  // in the order of Nonzeros
        uint32_t n;
    };

    SortedNonzeros(const float* values, const int32_t* indices, const int64_t* indptr,
                   uint32_t n_rows, uint32_t n_features)
        : data_(values, indices, indptr, n_rows, n_features),
          entries_(static_cast<size_t>(indptr[n_features]) + 1),
          sizes_(new std::atomic<uint32_t>[n_features]) {
        for (uint32_t f = 0; f < n_features; ++f) sizes_[f].store(UNSORTED_COLUMN);
    }

    List column(uint32_t feature, NonzeroSorter& sorter) {
        uint32_t* entries = entries_.get() + data_.indptr[feature];
        std::atomic<uint32_t>& size = sizes_[feature];
        uint32_t n = size.load(std::memory_order_acquire);
        if (n == UNSORTED_COLUMN) {
            std::lock_guard<std::mutex> lock(locks_[feature % N_LOCKS]);
            n = size.load(std::memory_order_relaxed);
            if (n == UNSORTED_COLUMN) {
                n = sort(data_.column(feature), sorter, entries);
                size.store(n, std::memory_order_release);
            }
        }
        return {entries, n};
    }
    bool has_sorted(uint32_t feature) const noexcept {
        return sizes_[feature].load(std::memory_order_acquire) != UNSORTED_COLUMN;
    }

private:
    static uint32_t sort(const SparseView& column, NonzeroSorter& sorter, uint32_t* entries) {
        uint32_t n = 0;
        sorter.reserve(column.n);
        for (uint32_t place = 0; place < column.n; ++place) {
            const float x = column.values[place];
            if (x != 0.0f) sorter.put(n++, x, static_cast<uint32_t>(column.rows[place]));
        }
        sorter.write_sorted(n, entries);
        return n;
    }
};

}  // namespace fasttree
