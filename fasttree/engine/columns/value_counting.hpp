// Telling the values of dense columns apart, as long as they are few.
//
// Features [first, last) are gone through in shares, TILE features in a part of the rows, that
// threads take, and in steps, so that X is read in its order. A part gives codes as it meets or
// learns of values; then, of each feature, all parts have the same. As soon as one part knows that
// the values of a feature are too many, it says so, and all of them gather keys instead, if lists
// follow.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/columns/dense.hpp"
#include "engine/columns/few_values.hpp"
#include "engine/columns/row_blocks.hpp"
#include "engine/columns/side_by_side.hpp"
#include "engine/columns/sorted_entries.hpp"
#include "engine/simd/interleave.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

constexpr uint32_t TILE = 64;  // features that a thread counts together

class ValueCounting {
    DenseColumns& data_;
    const uint32_t first_, last_, n_parts_;
    const bool lists_follow_;
    const Simd simd_;
    AlignedBuffer<uint8_t>& block_;                // of codes by feature, for huge pages
    const size_t stride_;                          // bytes from one feature to the next
    std::vector<std::vector<FewValues>> found_;    // [share, feature of its tile]
    std::vector<std::atomic<bool>> has_too_many_;  // [feature], as any part has said
    std::mutex mutex_;                             // while room for keys is made

public:
    ValueCounting(DenseColumns& data, uint32_t first, uint32_t last, bool lists_follow, Simd simd)
        : data_(data), first_(first), last_(last), n_parts_(data.n_parts()),
          lists_follow_(lists_follow), simd_(simd), block_(data.code_blocks.emplace_back()),
          stride_(whole_lines(data.rows.size() + GATHER_PADDING)),
          found_((last - first + TILE - 1) / TILE * n_parts_), has_too_many_(last - first) {
        uint32_t n_open = 0, n_before = 0;
        for (uint32_t f = first; f < last; ++f) n_open += is_open(f);
        block_.reserve(n_open * stride_);
        for (uint32_t f = first; f < last; ++f) {
            if (!is_open(f)) continue;
            data.columns[f].narrow.borrow(block_.get() + n_before++ * stride_, stride_);
        }
    }

    uint32_t n_shares() const noexcept { return static_cast<uint32_t>(found_.size()); }
    // The first step is short: most features of many values are known after it.
    uint32_t n_steps() const noexcept { return 1 + data_.n_steps(TILE); }

    // Codes, or keys, of a step of a share. What the first step had no room for follows in the
    // next one.
    void count(uint32_t share, uint32_t step) {
        const uint32_t part = part_of(share);
        if (step == 0) found_[share].resize(std::min(TILE, last_ - tile_begin(share)));
        if (step == 1) gather_first_step(share);
        const auto is_read = [&](uint32_t f) { return !has_too_many(f) || lists_follow_; };
        read(share, begin_of(part, step), begin_of(part, step + 1), is_read,
             [&](uint32_t f, size_t start, size_t stop, const float* cells) {
                 if (!has_too_many(f)) {
                     encode(f, start, stop, cells, found(f, part));
                     if (!found(f, part).too_many) return true;
                     if (step == 0) return false;
                     begin_keys(f);
                 }
                 if (!lists_follow_) return false;
                 restore_keys(f, part, start);
                 data_.gather_keys(simd_, f, start, stop, cells);
                 return true;
             });
    }
    // After the first step: the parts tell each other the values of a feature, if together they may
    // have too many, so that one of them soon knows.
    void tell_each_other(uint32_t feature) {
        if (!is_open(feature)) return;
        size_t n_values = 0;
        for (uint32_t part = 0; part < n_parts_; ++part) {
            if (found(feature, part).too_many) return;
            n_values += found(feature, part).keys.size();
        }
        if (n_values <= MAX_COUNTED) return;
        for (uint32_t part = 1; part < n_parts_; ++part) learn(feature, 0, part);
        for (uint32_t part = 1; part < n_parts_; ++part) learn(feature, part, 0);
    }
    // After that: of features of too many values, codes make room for keys; all of them, before
    // the first list is asked for.
    void end_first_step() {
        bool is_needed = false;
        std::vector<uint32_t> of_too_many;
        for (uint32_t f = first_; f < last_; ++f) {
            if (!is_open(f)) continue;
            if (does_any_part_know(f)) of_too_many.push_back(f);
            else is_needed = true;
        }
        for (uint32_t f : of_too_many) {
            if (is_needed) discard(data_.columns[f].narrow.get());
            data_.columns[f].narrow.release();
            for (uint32_t part = 0; part < n_parts_; ++part) found(f, part).give_up();
        }
        if (!is_needed) block_.release();
        for (uint32_t f : of_too_many) begin_keys(f);
    }
    // After the last step: a share's keys of rows that have codes still.
    void restore_keys(uint32_t share) {
        if (!lists_follow_) return;
        const uint32_t part = part_of(share), first = tile_begin(share);
        for (uint32_t f = first; f < first + found_[share].size(); ++f) {
            if (has_too_many(f)) restore_keys(f, part, data_.part_begin(part + 1));
        }
    }
    // After that: makes a feature COUNTED if its values are few.
    void settle(uint32_t feature) {
        if (!is_open(feature)) return;
        Column& col = data_.columns[feature];
        col.has_keys = lists_follow_ && has_too_many(feature);
        const uint8_t* const codes = col.narrow.get();
        if (has_too_many(feature)) {
            col.release_codes();
        } else {
            col.merge_codes(n_parts_, [&](uint32_t part) -> FewValues& {
                return found(feature, part);
            });
        }
        if (col.storage != COUNTED) discard(codes);
    }

private:
    // Codes that nobody needs make room, as far as they fill pages of a large block.
    void discard(const uint8_t* codes) noexcept {
        if (codes == nullptr) return;
        const size_t first = static_cast<size_t>(codes - block_.get());
        block_.discard(first, first + stride_);
    }
    bool is_open(uint32_t feature) const { return data_.columns[feature].storage != BITS; }
    bool has_too_many(uint32_t feature) const {
        return has_too_many_[feature - first_].load(std::memory_order_acquire);
    }
    uint32_t part_of(uint32_t share) const noexcept { return share % n_parts_; }
    uint32_t tile_begin(uint32_t share) const noexcept { return first_ + share / n_parts_ * TILE; }
    FewValues& found(uint32_t feature, uint32_t part) {
        const uint32_t at = feature - first_;
        return found_[at / TILE * n_parts_ + part][at % TILE];
    }
    bool does_any_part_know(uint32_t feature) {
        for (uint32_t part = 0; part < n_parts_; ++part) {
            if (found(feature, part).too_many) return true;
        }
        return false;
    }
    void learn(uint32_t feature, uint32_t part, uint32_t from) {
        uint8_t codes[MAX_COUNTED];
        found(feature, part).learn(found(feature, from).keys,
                                   data_.columns[feature].has_categories(), MAX_COUNTED, codes);
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
    // Says that a feature has too many values, once there is room for its keys if lists follow.
    void begin_keys(uint32_t feature) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (has_too_many(feature)) return;
        if (lists_follow_) data_.columns[feature].list.reserve(data_.rows.size());
        has_too_many_[feature - first_].store(true, std::memory_order_release);
    }
    // Keys of the rows of a part before `end`, if they have codes.
    void restore_keys(uint32_t feature, uint32_t part, size_t end) {
        FewValues& values = found(feature, part);
        if (values.has_given_up()) return;
        const uint8_t* const FASTTREE_RESTRICT codes = data_.columns[feature].narrow.get();
        uint32_t* const FASTTREE_RESTRICT keys = data_.columns[feature].list.get();
        const uint32_t* const FASTTREE_RESTRICT key_of = values.keys.data();
        for (size_t i = data_.part_begin(part); i < end; ++i) keys[i] = key_of[codes[i]];
        values.give_up();
    }
    // Keys of the first step of a share, of features of which it has no codes any more.
    void gather_first_step(uint32_t share) {
        if (!lists_follow_) return;
        const uint32_t part = part_of(share);
        const auto is_read = [&](uint32_t f) { return found(f, part).has_given_up(); };
        read(share, begin_of(part, 0), begin_of(part, 1), is_read,
             [&](uint32_t f, size_t start, size_t stop, const float* cells) {
                 data_.gather_keys(simd_, f, start, stop, cells);
                 return true;
             });
    }
    // Calls work(feature, start, stop, cells) for the features of a share that are read, in blocks
    // of rows from `begin` to `end`, until it returns false.
    template <class IsRead, class Work>
    void read(uint32_t share, size_t begin, size_t end, const IsRead& is_read, const Work& work) {
        const uint32_t first = tile_begin(share);
        RowBlocks blocks(data_.row_stride, data_.column_stride);
        SideBySide side_by_side(simd_, data_.rows, data_.row_stride, data_.column_stride);
        for (uint32_t f = first; f < first + found_[share].size(); ++f) {
            if (!is_open(f) || !is_read(f)) continue;
            blocks.add(f, data_.column(f));
            side_by_side.add(data_.column(f));
        }
        blocks.visit(data_.rows, begin, end, [&](uint32_t f, size_t start, size_t stop) {
            return work(f, start, stop, side_by_side.of(data_.column(f), start, stop));
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
