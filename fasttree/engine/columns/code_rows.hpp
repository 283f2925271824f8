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

// The codes of a node's rows, by column.
class GatheredGroups {
    static constexpr CodeExtremes UNKNOWN{0xff, 0};
    AlignedBuffer<uint8_t> codes_;        // [slot, row]
    std::vector<uint8_t> is_taken_;       // by slot
    std::vector<CodeExtremes> extremes_;  // of those taken
    bool picks_columns_ = false;

public:
    struct Codes {
        const uint8_t* of_rows;
        CodeExtremes extremes;
    };

    // For up to n rows, of which nodes look at some columns, or at any.
    void open(const CodeRows& rows, uint32_t n, bool picks_columns) {
        picks_columns_ = picks_columns;
        is_taken_.resize(size_t{rows.n_groups()} * GROUP);
        extremes_.resize(is_taken_.size());
        codes_.reserve(is_taken_.size() * group_stride(n));
    }
    // Forgets those it holds.
    void begin() { std::fill(is_taken_.begin(), is_taken_.end(), uint8_t{0}); }

    // list_ahead(use) calls use(slot) of each column that will be asked for next, if that is known.
    template <class ListAhead>
    Codes take(Simd simd, const CodeRows& from, const uint32_t* rows, uint32_t n, uint32_t slot,
               const ListAhead& list_ahead) {
        if (!is_taken_[slot] && picks_columns_) {
            GroupPlaces columns;
            const auto add = [&](uint32_t other) {
                if (other / GROUP != slot / GROUP || columns.n == GroupPlaces::MOST) return;
                columns.places[columns.n++] = other % GROUP;
            };
            add(slot);
            list_ahead(add);
            pick(simd, from, rows, n, slot / GROUP, columns);
        }
        const uint8_t* const codes = take(simd, from, rows, n, slot);
        CodeExtremes& extremes = extremes_[slot];
        if (extremes.low > extremes.high) extremes = code_extremes(simd, codes, n);
        return {codes, extremes};
    }
    // The same for who may ask for any column next.
    const uint8_t* take(Simd simd, const CodeRows& from, const uint32_t* rows, uint32_t n,
                        uint32_t slot) {
        if (!is_taken_[slot]) gather_all(simd, from, rows, n, slot / GROUP);
        return codes_.get() + slot * group_stride(n);
    }

private:
    void pick(Simd simd, const CodeRows& from, const uint32_t* rows, uint32_t n, uint32_t group,
              GroupPlaces& columns) {
        const uint32_t first = group * GROUP;
        uint8_t* const out = codes_.get() + first * group_stride(n);
        if (!gather_places(simd, from.group(group), rows, n, columns, out)) return;
        for (uint32_t k = 0; k < columns.n; ++k) {
            is_taken_[first + columns.places[k]] = 1;
            extremes_[first + columns.places[k]] = columns.extremes[k];
        }
    }
    void gather_all(Simd simd, const CodeRows& from, const uint32_t* rows, uint32_t n,
                    uint32_t group) {
        const uint32_t first = group * GROUP;
        gather_group(simd, from.group(group), rows, n, codes_.get() + first * group_stride(n));
        std::fill_n(&is_taken_[first], GROUP, uint8_t{1});
        std::fill_n(&extremes_[first], GROUP, UNKNOWN);
    }
};

}  // namespace fasttree
