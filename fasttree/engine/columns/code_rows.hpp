// Codes of few values row by row, in groups of 16 columns: whoever looks at several features of
// some rows reads a vector per row and group instead of a byte per row and feature.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/simd/code_groups.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

class CodeRows {
    AlignedBuffer<uint8_t> codes_;  // [group, row, place in the group]
    uint32_t n_rows_ = 0, n_groups_ = 0;

public:
    uint32_t n_groups() const { return n_groups_; }
    const uint8_t* group(uint32_t g) const { return codes_.get() + size_t{g} * GROUP * n_rows_; }

    // Room for the codes of so many columns.
    void open(uint32_t n_rows, uint32_t n_columns) {
        n_rows_ = n_rows;
        n_groups_ = (n_columns + GROUP - 1) / GROUP;
        const size_t n_bytes = size_t{n_groups_} * GROUP * n_rows;
        std::fill_n(codes_.reserve(n_bytes), n_bytes, uint8_t{0});
    }
    // Of a row r: column(slot)[r * GROUP].
    uint8_t* column(uint32_t slot) {
        return codes_.get() + size_t{slot / GROUP} * GROUP * n_rows_ + slot % GROUP;
    }
};

// The codes of some rows, by column: of the groups that were asked for.
class GatheredGroups {
    AlignedBuffer<uint8_t> codes_;
    std::vector<uint8_t> is_taken_;  // by group

public:
    // For up to n rows.
    void open(const CodeRows& rows, uint32_t n) {
        is_taken_.resize(rows.n_groups());
        codes_.reserve(size_t{rows.n_groups()} * GROUP * group_stride(n));
    }
    // Forgets those it holds.
    void begin() { std::fill(is_taken_.begin(), is_taken_.end(), uint8_t{0}); }
    const uint8_t* take(Simd simd, const CodeRows& from, const uint32_t* rows, uint32_t n,
                        uint32_t slot) {
        const uint32_t g = slot / GROUP;
        uint8_t* group = codes_.get() + g * GROUP * group_stride(n);
        if (!is_taken_[g]) {
            gather_group(simd, from.group(g), rows, n, group);
            is_taken_[g] = 1;
        }
        return group + slot % GROUP * group_stride(n);
    }
};

}  // namespace fasttree
