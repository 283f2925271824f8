// Stable partition of rows and of sorted entries by a go-left byte per row.
//
// Complexity O(n) without a branch on the data. A partitioned list stays sorted; an entry's
// BOUNDARY bit is carried over the entries that left its list: it says whether any boundary lay
// since the entry's new predecessor.
#pragma once
#include <cstdint>
#include <cstring>

#include "_runs.hpp"

namespace fasttree {

// Moves the rows that go left to the front of rows[0:n]; returns their number.
// `scratch` holds n entries.
inline uint32_t partition_rows(uint32_t* rows, uint32_t n, const uint8_t* go_left,
                               uint32_t* scratch) {
    uint32_t n_left = 0, n_right = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t row = rows[i];
        const uint32_t left = go_left[row];
        rows[n_left] = row;
        scratch[n_right] = row;
        n_left += left;
        n_right += 1 - left;
    }
    std::memcpy(rows + n_left, scratch, n_right * sizeof(uint32_t));
    return n_left;
}

// The same for the entries of a sorted list, of which n_left go left. A half that nobody will
// read (the child is a leaf) is not written.
template <bool with_left, bool with_right>
inline void partition_entries(uint32_t* entries, uint32_t n, uint32_t n_left,
                              const uint8_t* go_left, uint32_t* scratch) {
    uint32_t l = 0, r = 0, carry_left = 0, carry_right = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t entry = entries[i];
        const uint32_t left = go_left[entry & ROW];
        if constexpr (with_left) {
            carry_left |= entry & BOUNDARY;
            entries[l] = (entry & ROW) | carry_left;
            carry_left &= left - 1;  // consumed by an entry that went left
            l += left;
        }
        if constexpr (with_right) {
            carry_right |= entry & BOUNDARY;
            scratch[r] = (entry & ROW) | carry_right;
            carry_right &= 0 - left;
            r += 1 - left;
        }
    }
    if constexpr (with_right) std::memcpy(entries + n_left, scratch, r * sizeof(uint32_t));
}

}  // namespace fasttree
