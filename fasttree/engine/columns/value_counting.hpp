// Telling the values of dense columns apart, as long as they are few.
//
// Features [first, last) are gone through in shares, TILE features in a part of the rows, that
// threads take, and in steps, so that X is read in its order. A part has codes in order of
// appearance; then, of each feature, all parts have the same.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/columns/dense.hpp"
#include "engine/columns/few_values.hpp"
#include "engine/columns/row_blocks.hpp"
#include "engine/columns/side_by_side.hpp"
#include "engine/columns/sorted_entries.hpp"
#include "engine/simd/interleave.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"

namespace fasttree {

constexpr uint32_t TILE = 64;  // features that a thread counts together

class ValueCounting {
    DenseColumns& data_;
    const uint32_t first_, last_, n_parts_;
    const Simd simd_;
    std::vector<std::vector<FewValues>> found_;  // [share, feature of its tile]
    std::vector<uint32_t> gathered_from_;        // [feature] step from which there are keys, or 0

public:
    ValueCounting(DenseColumns& data, uint32_t first, uint32_t last, Simd simd)
        : data_(data), first_(first), last_(last), n_parts_(data.n_parts()), simd_(simd),
          found_((last - first + TILE - 1) / TILE * n_parts_), gathered_from_(last - first) {
        for (uint32_t f = first; f < last; ++f) {
            if (is_open(f)) data.columns[f].narrow.reserve(data.rows.size() + GATHER_PADDING);
        }
    }

    uint32_t n_shares() const noexcept { return static_cast<uint32_t>(found_.size()); }
    // The first step is short: most features of many values are known after it.
    uint32_t n_steps() const noexcept { return 1 + data_.n_steps(TILE); }

    // From this step on, keys of features that turned out to have too many values are gathered,
    // for a list, as X is read anyway. The codes of a short first step make room for the lists.
    void begin_gathering(uint32_t step) {
        for (uint32_t f = first_; f < last_; ++f) {
            Column& col = data_.columns[f];
            if (!is_open(f) || col.has_keys || !has_too_many(f)) continue;
            col.has_keys = true;
            gathered_from_[f - first_] = step;
            if (step > 1) continue;
            col.narrow.release();
            for (uint32_t part = 0; part < n_parts_; ++part) found(f, part).give_up();
        }
        for (uint32_t f = first_; f < last_; ++f) {
            if (data_.columns[f].has_keys) data_.columns[f].list.reserve(data_.rows.size());
        }
    }
    void count(uint32_t share, uint32_t step) {
        const uint32_t part = part_of(share), first = tile_begin(share);
        std::vector<FewValues>& found = found_[share];
        if (step == 0) found.resize(std::min(TILE, last_ - first));
        else restore_keys(share, step);
        RowBlocks blocks(data_.row_stride, data_.column_stride);
        SideBySide side_by_side(simd_, data_.rows, data_.row_stride, data_.column_stride);
        for (uint32_t f = first; f < first + found.size(); ++f) {
            const bool is_read = data_.columns[f].has_keys || !found[f - first].too_many;
            if (!is_open(f) || !is_read) continue;
            blocks.add(f, data_.column(f));
            side_by_side.add(data_.column(f));
        }
        const auto read = [&](uint32_t f, size_t start, size_t stop) {
            const float* const cells = side_by_side.of(data_.column(f), start, stop);
            const bool has_keys = data_.columns[f].has_keys;
            if (has_keys) data_.gather_keys(simd_, f, start, stop, cells);
            else encode(f, start, stop, cells, found[f - first]);
            return has_keys || !found[f - first].too_many;
        };
        blocks.visit(data_.rows, begin_of(part, step), begin_of(part, step + 1), read);
    }
    // Makes a feature COUNTED if its values are few.
    void settle(uint32_t feature) {
        if (!is_open(feature)) return;
        data_.columns[feature].merge_codes(n_parts_, [&](uint32_t part) -> const FewValues& {
            return found(feature, part);
        });
    }

private:
    bool is_open(uint32_t feature) const { return data_.columns[feature].storage != BITS; }
    uint32_t part_of(uint32_t share) const noexcept { return share % n_parts_; }
    uint32_t tile_begin(uint32_t share) const noexcept { return first_ + share / n_parts_ * TILE; }
    FewValues& found(uint32_t feature, uint32_t part) {
        const uint32_t at = feature - first_;
        return found_[at / TILE * n_parts_ + part][at % TILE];
    }
    bool has_too_many(uint32_t feature) {
        for (uint32_t part = 0; part < n_parts_; ++part) {
            if (found(feature, part).too_many) return true;
        }
        return false;
    }
    // Where a step of a part begins.
    size_t begin_of(uint32_t part, uint32_t step) const {
        constexpr size_t SHORTER = 16;
        const size_t begin = data_.part_begin(part), end = data_.part_begin(part + 1);
        if (step == 0) return begin;
        const size_t second = begin + (end - begin) / SHORTER;
        return second + (end - second) * (step - 1) / (n_steps() - 1);
    }

    // Codes of the rows at places start to stop, whose cells may be side by side.
    void encode(uint32_t feature, size_t start, size_t stop, const float* cells,
                FewValues& found) {
        const Column& col = data_.columns[feature];
        if (cells != nullptr) {
            return found.encode(simd_, cells, stop - start, col.has_categories(), MAX_COUNTED,
                                col.narrow.get() + start);
        }
        data_.rows.visit([&, x = data_.column(feature), stride = data_.row_stride](auto row_of) {
            found.encode(
                [=](size_t i) { return x[static_cast<ptrdiff_t>(row_of(start + i)) * stride]; },
                stop - start, col.has_categories(), MAX_COUNTED, col.narrow.get() + start);
        });
    }
    // Keys of the rows before a step, of features of which they are gathered from it on: from their
    // codes, and where these come to an end, which is in the step before, from X.
    void restore_keys(uint32_t share, uint32_t step) {
        const uint32_t part = part_of(share), first = tile_begin(share);
        const std::vector<FewValues>& found = found_[share];
        const size_t begin = data_.part_begin(part), end = begin_of(part, step);
        RowBlocks blocks(data_.row_stride, data_.column_stride);
        for (uint32_t f = first; f < first + found.size(); ++f) {
            if (gathered_from_[f - first_] != step) continue;
            const Column& col = data_.columns[f];
            const FewValues& values = found[f - first];
            const size_t stop = begin + values.n_coded;
            for (size_t i = begin; i < stop; ++i) col.list[i] = values.keys[col.narrow[i]];
            if (stop < end) blocks.add(f, data_.column(f));
        }
        blocks.visit(data_.rows, begin_of(part, step - 1), end,
                     [&](uint32_t f, size_t start, size_t stop) {
                         const size_t coded_to = begin + found[f - first].n_coded;
                         data_.gather_keys(simd_, f, std::max(start, coded_to), stop);
                         return true;
                     });
    }
};

// All that for few rows, which are one part: sorting tells their values apart.
inline void count_few_rows(DenseColumns& data, uint32_t first, uint32_t last) {
    const uint32_t n = static_cast<uint32_t>(data.rows.size());
    SortBuffers buffers;
    buffers.reserve(n);
    for (uint32_t f = first; f < last; ++f) {
        Column& col = data.columns[f];
        if (col.storage == BITS) continue;
        const float* x = data.column(f);
        for (uint32_t i = 0; i < n; ++i) {
            const float cell = x[static_cast<ptrdiff_t>(data.rows[i]) * data.row_stride];
            buffers.items[i] = pack(cell_key(cell, col.has_categories()), i);
        }
        col.narrow.reserve(n + GATHER_PADDING);
        col.take_codes(sort_by_key(buffers.items.get(), buffers.scratch.get(), n), n);
    }
}

}  // namespace fasttree
