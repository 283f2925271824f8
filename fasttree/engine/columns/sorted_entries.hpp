// Entries of rows (core/runs.hpp) in ascending order of their keys.
#pragma once
#include <algorithm>
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

// `sort_by_keys` of any keys. Rows are put into buckets by the highest bits in which keys differ,
// and each bucket is sorted by itself: what is sorted stays in a cache, and besides keys and
// entries there is room for the largest bucket only.
template <int BUCKET_BITS, class RowOf>
uint32_t sort_in_buckets(const uint32_t* keys, const RowOf& row_of, uint32_t n,
                         SortBuffers& buffers, uint32_t* entries) {
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
    uint32_t* const places = entries;  // of the rows, until their bucket is sorted
    for (uint32_t i = 0; i < n; ++i) places[ends[bucket_of(keys[i])]++] = i;

    const bool is_sorted = shift == 0;  // a bucket holds one key
    uint64_t* const items = buffers.items.reserve(largest);
    uint64_t* const scratch = buffers.scratch.reserve(is_sorted ? 0 : largest);
    EntryWriter writer(entries);
    uint32_t start = 0;
    for (const uint32_t end : ends) {
        const uint32_t size = end - start;
        for (uint32_t k = 0; k < size; ++k) {
            const uint32_t place = places[start + k];
            items[k] = pack(keys[place], row_of(place));
        }
        writer.take(is_sorted ? items : sort_by_key(items, scratch, size), size);
        start = end;
    }
    return writer.n_missing();
}

// The same with as many buckets as are fastest, or more, lest those of many rows be large.
template <class RowOf>
uint32_t sort_in_buckets(const uint32_t* keys, const RowOf& row_of, uint32_t n,
                         SortBuffers& buffers, uint32_t* entries) {
    constexpr uint32_t MANY = 1u << 18;
    return n < MANY ? sort_in_buckets<10>(keys, row_of, n, buffers, entries)
                    : sort_in_buckets<12>(keys, row_of, n, buffers, entries);
}

// Whether more than half of n rows have the same key, which is `common` then; with few rows false.
inline bool find_common_key(const uint32_t* keys, uint32_t n, uint32_t& common) {
    constexpr uint32_t LOOKS = 65, LEAST = 1u << 10;
    if (n < LEAST) return false;
    uint32_t seen[LOOKS];
    for (uint32_t i = 0; i < LOOKS; ++i) seen[i] = keys[uint64_t{n} * i / LOOKS];
    std::nth_element(seen, seen + LOOKS / 2, seen + LOOKS);
    common = seen[LOOKS / 2];
    if (std::count(seen, seen + LOOKS, common) <= LOOKS / 2) return false;
    return static_cast<uint32_t>(std::count(keys, keys + n, common)) > n / 2;
}

// The same where more than half of the rows have the key `common`: only the others are sorted.
// Keys are overwritten.
template <class RowOf>
uint32_t sort_beside(uint32_t common, uint32_t* keys, const RowOf& row_of, uint32_t n,
                     SortBuffers& buffers, uint32_t* entries) {
    uint32_t n_others = 0, n_below = 0;
    // Loop invariant: keys of others are at the front, their rows, too; the rest at the back.
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t key = keys[i], row = row_of(i);
        entries[n_others] = row;
        entries[n - 1 - (i - n_others)] = row;
        keys[n_others] = key;
        n_others += key != common;
        n_below += key < common;
    }
    uint32_t* const rows = keys + n_others;  // of the others
    std::copy_n(entries, n_others, rows);
    uint32_t n_missing = sort_in_buckets(
        keys, [=](uint32_t i) { return rows[i]; }, n_others, buffers, entries);

    uint32_t* const first = entries + n_below;
    uint32_t* const first_above = first + (n - n_others);
    std::reverse(entries + n_others, entries + n);
    std::rotate(first, entries + n_others, entries + n);
    if (n_below > 0) *first |= BOUNDARY;
    if (n_below < n_others) *first_above |= BOUNDARY;
    if (common >= FIRST_CATEGORY_KEY) n_missing += n - n_others;
    return n_missing;
}

// Writes the entries of n rows, the i-th of which is row_of(i), ascending, in the order of their
// keys, which may be overwritten; returns how many are not numbers.
template <class RowOf>
uint32_t sort_by_keys(uint32_t* keys, const RowOf& row_of, uint32_t n, SortBuffers& buffers,
                      uint32_t* entries) {
    uint32_t common;
    return find_common_key(keys, n, common)
        ? sort_beside(common, keys, row_of, n, buffers, entries)
        : sort_in_buckets(keys, row_of, n, buffers, entries);
}

}  // namespace fasttree
