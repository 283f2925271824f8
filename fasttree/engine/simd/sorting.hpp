// Sorting by value without comparing floats.
//
// A float32 becomes a 32-bit key of the same order (-0 equals +0, NaN comes last); keys travel
// with a 32-bit payload in one 64-bit word and are radix sorted, stably, in O(n) passes over
// the bytes that differ; of few items, over the two highest, after which hardly any is out of
// place. The categories of a column come between its numbers and its missing values, in the order
// of their codes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "utils/_aligned_buffer.hpp"
#include "utils/_cell.hpp"
#include "utils/_value.hpp"

namespace fasttree {

constexpr uint32_t MISSING_KEY = 0xffffffffu;
constexpr uint32_t FIRST_CATEGORY_KEY = 0x80000000u | (MISSING_BITS + 1);  // of code 0

inline uint32_t float_key(float x) {
    if (x != x) return MISSING_KEY;
    x += 0.0f;  // -0 becomes +0
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// The same for a column with categories.
inline uint32_t cell_key(float x, bool has_categories) {
    if (has_categories && category_of(x) != NO_CATEGORY) return FIRST_CATEGORY_KEY + category_of(x);
    return float_key(x);
}
// The number or category whose key is given.
inline float key_cell(uint32_t key) {
    return float_of_bits(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

inline uint64_t pack(uint32_t key, uint32_t payload) {
    return static_cast<uint64_t>(key) << 32 | payload;
}
inline uint32_t key_of(uint64_t item) { return static_cast<uint32_t>(item >> 32); }
inline uint32_t payload_of(uint64_t item) { return static_cast<uint32_t>(item); }

// Sorts the items unless that takes more than `budget` moves; tells whether they are sorted.
inline bool insertion_sort(uint64_t* items, size_t n, size_t budget) {
    for (size_t i = 1; i < n; ++i) {
        const uint64_t item = items[i];
        size_t j = i;
        for (; j > 0 && items[j - 1] > item; --j) items[j] = items[j - 1];
        items[j] = item;
        if (i - j > budget) return false;
        budget -= i - j;
    }
    return true;
}

// Scratch of one thread's sorts.
struct SortBuffers {
    AlignedBuffer<uint64_t> items, scratch;
    AlignedBuffer<uint32_t> entries;  // of a list that takes the place of its keys
    void reserve(size_t n) {
        items.reserve(n);
        scratch.reserve(n);
    }
};
static_assert(is_value<AlignedBuffer<uint32_t>>);

// Sorts items by PASSES times BITS bits of the key, those from `low` on; where these are equal,
// items keep their order.
template <int BITS, int PASSES>
inline uint64_t* radix_sort(uint64_t* items, uint64_t* scratch, size_t n, int low) {
    constexpr uint32_t BUCKETS = 1u << BITS;
    uint32_t counts[PASSES][BUCKETS] = {};
    for (size_t i = 0; i < n; ++i) {
        const uint32_t key = key_of(items[i]) >> low;
        for (int pass = 0; pass < PASSES; ++pass)
            ++counts[pass][key >> (BITS * pass) & (BUCKETS - 1)];
    }
    for (int pass = 0; pass < PASSES; ++pass) {
        uint32_t* start = counts[pass];
        const int shift = 32 + low + BITS * pass;
        if (start[items[0] >> shift & (BUCKETS - 1)] == n) continue;  // all alike
        uint32_t sum = 0;
        for (uint32_t b = 0; b < BUCKETS; ++b) {
            const uint32_t count = start[b];
            start[b] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; ++i)
            scratch[start[items[i] >> shift & (BUCKETS - 1)]++] = items[i];
        std::swap(items, scratch);
    }
    return items;
}

// Sorts by the 16 highest bits that differ, then lets the items move that are still out of place.
inline uint64_t* sort_few_by_key(uint64_t* items, uint64_t* scratch, size_t n) {
    constexpr int SEEN = 16;
    constexpr size_t MOVES = 4;  // of an item, on average
    uint32_t differ = 0;
    for (size_t i = 1; i < n; ++i) differ |= key_of(items[i]) ^ key_of(items[0]);
    const int unseen = differ >> SEEN == 0 ? 0 : SEEN - __builtin_clz(differ);
    uint64_t* sorted = radix_sort<SEEN / 2, 2>(items, scratch, n, unseen);
    if (unseen == 0 || insertion_sort(sorted, n, n * MOVES)) return sorted;
    return radix_sort<8, 4>(sorted, sorted == items ? scratch : items, n, 0);
}

// Sorts items by key; equal keys keep their order, which is that of ascending payloads.
// Returns the sorted array, `items` or `scratch`, each of n items.
inline uint64_t* sort_by_key(uint64_t* items, uint64_t* scratch, size_t n) {
    constexpr size_t FEW = 24, MANY = 1000;  // beyond, fewer passes are worth more buckets
    if (n <= FEW) {
        insertion_sort(items, n, n * n);  // enough for any order
        return items;
    }
    return n <= MANY ? sort_few_by_key(items, scratch, n)
                     : radix_sort<11, 3>(items, scratch, n, 0);
}

}  // namespace fasttree
