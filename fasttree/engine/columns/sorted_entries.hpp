// Entries of rows (core/runs.hpp) in ascending order of their keys.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/columns/column.hpp"
#include "engine/core/runs.hpp"
#include "engine/simd/sorting.hpp"

namespace fasttree {

// Writes sorted items as entries, as many at a time as the caller has.
class EntryWriter {
    uint32_t* const entries_;
    uint32_t n_ = 0, n_missing_ = 0, previous_ = 0;

public:
    // The entries may take the place of the keys.
    explicit EntryWriter(uint32_t* entries) : entries_(entries) {}

    void take(const uint64_t* sorted, uint32_t n) {
        if (n_ == 0 && n > 0) previous_ = key_of(sorted[0]);
        uint32_t previous = previous_, n_missing = 0;
        uint32_t* const out = entries_ + n_;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t key = key_of(sorted[i]);
            out[i] = payload_of(sorted[i]) | (key != previous ? BOUNDARY : 0);
            n_missing += key >= FIRST_CATEGORY_KEY;
            previous = key;
        }
        previous_ = previous;
        n_missing_ += n_missing;
        n_ += n;
    }
    // How many are not numbers.
    uint32_t n_missing() const { return n_missing_; }
};

// Entries of some rows in ascending order of a column; returns how many are not numbers.
inline uint32_t sort_cells(const ColumnCells& cells, bool has_categories, const uint32_t* rows,
                          uint32_t n, SortBuffers& buffers, uint32_t* entries) {
    buffers.reserve(n);
    for (uint32_t i = 0; i < n; ++i) {
        buffers.items[i] = pack(cell_key(cells[rows[i]], has_categories), rows[i]);
    }
    EntryWriter writer(entries);
    writer.take(sort_by_key(buffers.items.get(), buffers.scratch.get(), n), n);
    return writer.n_missing();
}

// Replaces the keys of rows, which are ascending, by their entries; returns how many are not
// numbers. Rows are put into buckets by the highest bits in which keys differ, and each bucket is
// sorted by itself: what is sorted stays in a cache, and nearly half of the scratch is saved.
inline uint32_t sort_into_entries(uint32_t* keys, const uint32_t* rows, uint32_t n,
                                  SortBuffers& buffers) {
    constexpr int BUCKET_BITS = 11;
    constexpr uint32_t BUCKETS = 1u << BUCKET_BITS;
    uint32_t differ = 0;
    for (uint32_t i = 0; i < n; ++i) differ |= keys[i] ^ keys[0];
    const int shift = differ < BUCKETS ? 0 : 32 - BUCKET_BITS - __builtin_clz(differ);
    const auto bucket_of = [=](uint32_t key) { return key >> shift & (BUCKETS - 1); };

    uint32_t ends[BUCKETS] = {};  // counts, then where the next row of a bucket goes
    for (uint32_t i = 0; i < n; ++i) ++ends[bucket_of(keys[i])];
    uint32_t sum = 0, largest = 0;
    for (uint32_t& end : ends) {
        const uint32_t count = end;
        largest = std::max(largest, count);
        end = sum;
        sum += count;
    }
    uint64_t* const items = buffers.items.reserve(n);
    for (uint32_t i = 0; i < n; ++i) items[ends[bucket_of(keys[i])]++] = pack(keys[i], rows[i]);

    EntryWriter entries(keys);
    if (shift == 0) {  // a bucket holds one key
        entries.take(items, n);
        return entries.n_missing();
    }
    uint64_t* const scratch = buffers.scratch.reserve(largest);
    uint32_t start = 0;
    for (const uint32_t end : ends) {
        entries.take(sort_by_key(items + start, scratch, end - start), end - start);
        start = end;
    }
    return entries.n_missing();
}

}  // namespace fasttree
