// How columns are encoded, as the tests call it.
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#if defined(__unix__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "engine/columns/bit_columns.hpp"
#include "engine/columns/column.hpp"
#include "engine/columns/dense.hpp"
#include "engine/columns/encoder.hpp"
#include "engine/columns/few_values.hpp"
#include "engine/columns/row_blocks.hpp"
#include "engine/columns/side_by_side.hpp"
#include "engine/columns/sorted_entries.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/split.hpp"
#include "engine/order/code_sides.hpp"
#include "engine/order/dense_workspace.hpp"
#include "engine/order/partition.hpp"
#include "engine/order/sample.hpp"
#include "engine/search/walk_shares.hpp"
#include "engine/simd/interleave.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_crew.hpp"

namespace fasttree::tests {

// Steps in which the columns of a matrix, all stored alike, are brought into rows.
inline uint32_t n_interleaving_steps(uint32_t n_rows, uint32_t n_features, int storage) {
    DenseColumns columns(nullptr, 1, n_rows, n_rows, n_features);
    for (Column& col : columns.columns) col.storage = static_cast<Storage>(storage);
    return columns.n_interleaving_steps();
}
// Columns of two values among those of X, read in parts; by bit the column, NO_COLUMN if there is
// none, and its values. False if there are fewer than `least`.
inline bool find_bits(Simd simd, const FloatMatrix& X, const uint32_t* n_categories,
                      uint32_t n_parts, uint32_t least, std::vector<uint32_t>& columns,
                      std::vector<float>& low, std::vector<float>& high,
                      std::vector<uint64_t>& words) {
    BitColumns bits;
    if (!bits.begin(X, n_parts, least, [=](uint32_t f) { return n_categories[f]; })) return false;
    for (uint32_t part = 0; part < n_parts; ++part) {
        bits.read(simd, X, part, size_t{X.n_rows} * part / n_parts,
                  size_t{X.n_rows} * (part + 1) / n_parts);
    }
    if (!bits.settle()) return false;
    columns = bits.features;
    for (uint32_t bit = 0; bit < bits.n_bits(); ++bit) {
        low.push_back(bits.low(bit));
        high.push_back(bits.high(bit));
    }
    const BitRows rows = bits.rows();
    words.assign(rows.words, rows.words + size_t{X.n_rows} * rows.n_words);
    return true;
}
// Codes of the cells of some rows of a column.
inline void encode(FewValues& table, const float* column, ptrdiff_t stride, const uint32_t* rows,
                   size_t n, bool has_categories, uint32_t most, uint8_t* codes) {
    const auto cell = [=](size_t i) { return column[static_cast<ptrdiff_t>(rows[i]) * stride]; };
    table.encode(cell, n, has_categories, most, codes);
}
inline void encode(FewValues& table, Simd simd, bool gathers, const float* cells, size_t n,
                   bool has_categories, uint32_t most, uint8_t* codes) {
    table.encode(simd, cells, n, has_categories, most, codes, gathers);
}
// Column k of n_columns has codes[k * n_places], and mapped[k * 256].
inline void interleave(Simd simd, const uint8_t* codes, size_t n_places, const uint8_t* mapped,
                       uint32_t n_columns, size_t start, size_t stop, const uint32_t* rows,
                       uint8_t* out, size_t stride) {
    std::vector<CodedColumn> columns;
    for (uint32_t k = 0; k < n_columns; ++k) {
        columns.push_back({codes + k * n_places, mapped + k * size_t{256}});
    }
    interleave_codes(simd, columns.data(), n_columns, start, stop,
                     [=](size_t i) { return rows[i]; }, out, stride);
}
inline Rows rows_of(const std::vector<uint32_t>& rows) {
    Rows out;
    out.resize(rows.size());
    std::copy(rows.begin(), rows.end(), out.begin());
    return out;
}
// Those rows, or, if there are none, all n_rows.
inline EncodedRows encoded_rows(size_t n_rows, const std::vector<uint32_t>& rows) {
    EncodedRows out(n_rows);
    Rows some = rows_of(rows);
    out.swap(some);
    return out;
}
// The rows of a sample of n, some of them or all, which threads list.
inline std::vector<uint32_t> named_rows(const std::vector<uint32_t>& some, uint32_t n,
                                        int n_threads) {
    Poll poll;
    Crew crew(n_threads, poll);
    const Rows rows = fasttree::named_rows(rows_of(some), n, crew);
    return {rows.begin(), rows.end()};
}
// What is read of some rows, or all, of the features given, each of which is read `most` times at
// most: feature, start, stop.
inline std::vector<std::array<size_t, 3>> read_blocks(
    const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t n_rows,
    const std::vector<uint32_t>& rows, const std::vector<uint32_t>& features,
    std::vector<uint32_t> most, size_t begin, size_t end) {
    const EncodedRows encoded = encoded_rows(n_rows, rows);
    RowBlocks blocks(row_stride, column_stride);
    for (uint32_t f : features) blocks.add(f, f % 5 == 4 ? nullptr : X + f * column_stride);
    std::vector<std::array<size_t, 3>> out;
    blocks.visit(encoded, begin, end, [&](uint32_t f, size_t start, size_t stop) {
        out.push_back({f, start, stop});
        return --most[f] > 0;
    });
    return out;
}
// Cells of rows, or of all, at places begin to end, of the features given: one after the other in
// `cells`, and whether they were side by side.
inline std::vector<bool> side_by_side(Simd simd, const float* X, ptrdiff_t row_stride,
                                      ptrdiff_t column_stride, size_t n_rows,
                                      const std::vector<uint32_t>& rows,
                                      const std::vector<uint32_t>& features, size_t begin,
                                      size_t end, float* cells) {
    const EncodedRows encoded = encoded_rows(n_rows, rows);
    SideBySide side_by_side(simd, encoded, row_stride, column_stride);
    RowBlocks blocks(row_stride, column_stride);
    for (uint32_t f : features) {
        blocks.add(f, X + f * column_stride);
        side_by_side.add(X + f * column_stride);
    }
    std::vector<bool> are_found(features.size());
    blocks.visit(encoded, begin, end, [&](uint32_t f, size_t start, size_t stop) {
        const size_t k = std::find(features.begin(), features.end(), f) - features.begin();
        const float* const found = side_by_side.of(X + f * column_stride, start, stop);
        are_found[k] = found != nullptr;
        if (found != nullptr) {
            std::copy_n(found, stop - start, cells + k * (end - begin) + (start - begin));
        }
        return true;
    });
    return are_found;
}
// A split on column 0, of few values, of some of n rows of two columns, the other one of which is
// listed: on threads or on one. The rows, those that go left first, and bits by row, of which all
// were 1 before.
inline std::vector<uint32_t> rows_split_beside_list(Simd simd, const float* X, uint32_t n,
                                                    double threshold, bool keeps_sides,
                                                    int n_threads,
                                                    const std::vector<uint32_t>& rows,
                                                    uint32_t& n_left, std::vector<bool>& sides) {
    DenseColumns columns(X, 2, 1, n, 2);
    Poll poll;
    Crew crew(n_threads, poll);
    DenseEncoder encoder(columns, crew, simd);
    encoder.count(true);
    encoder.interleave(true);
    if (columns.columns[0].storage != COUNTED || columns.columns[1].storage != RAW) return {};
    DenseSample sample(columns, rows_of(rows), crew);
    sample.take_lists(columns);
    DenseWorkspace workspace(sample, simd, keeps_sides);
    std::fill(workspace.go_left.begin(), workspace.go_left.end(), 0xffffffffu);
    Split split;
    split.feature = 0;
    split.threshold = threshold;
    const uint32_t size = static_cast<uint32_t>(sample.rows.size());
    n_left = workspace.split_rows(split, 0, size, n_threads > 1 ? &crew : nullptr);
    for (uint32_t row = 0; row < n; ++row) {
        sides.push_back(get_bit(workspace.go_left.data(), row));
    }
    return {sample.rows.begin(), sample.rows.end()};
}
// Entries of as many rows, those named or the first, in the order of their keys; how many are missing.
inline uint32_t sort_by_keys(std::vector<uint32_t> keys, const uint32_t* rows,
                             uint32_t* entries) {
    const uint32_t n = static_cast<uint32_t>(keys.size());
    std::vector<uint32_t> some;
    if (rows != nullptr) some.assign(rows, rows + n);
    const EncodedRows encoded = encoded_rows(n, some);
    SortBuffers buffers;
    return encoded.visit([&](auto row_of) {
        return fasttree::sort_by_keys(keys.data(), row_of, n, buffers, entries);
    });
}
// A column of codes [n_rows, stride], and a split on it. Of the values the last n_categories are
// categories, of which the split, unless it asks for a threshold, lists some.
struct CodedSplit {
    const uint8_t* codes;
    size_t n_rows, stride;
    uint32_t slot;
    std::vector<float> values;
    uint32_t n_categories;
    bool is_threshold;
    double threshold;
    bool missing_left;
    std::vector<uint32_t> listed;
    bool listed_left;
};
// Bytes behind which nothing can be read, where the system has pages to forbid.
class GuardedBytes {
#if defined(__unix__)
    size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE)), n_pages_;
    uint8_t *all_, *bytes_;

public:
    GuardedBytes(const uint8_t* from, size_t n)
        : n_pages_((n + page_ - 1) / page_ + 1),
          all_(static_cast<uint8_t*>(mmap(nullptr, n_pages_ * page_, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        if (all_ == MAP_FAILED) throw std::bad_alloc();
        uint8_t* const guard = all_ + (n_pages_ - 1) * page_;
        bytes_ = std::copy_n(from, n, guard - n) - n;
        mprotect(guard, page_, PROT_NONE);
    }
    ~GuardedBytes() { munmap(all_, n_pages_ * page_); }
    GuardedBytes(const GuardedBytes&) = delete;
    const uint8_t* get() const { return bytes_; }
#else
    std::vector<uint8_t> bytes_;

public:
    GuardedBytes(const uint8_t* from, size_t n) : bytes_(from, from + n) {}
    const uint8_t* get() const { return bytes_.data(); }
#endif
};
inline CodeSides sides_of(const CodedSplit& coded, const uint8_t* codes) {
    Column column;
    column.slot = coded.slot;
    column.values = coded.values;
    column.n_category_values = coded.n_categories;
    Split split;
    split.question = coded.is_threshold ? THRESHOLD : CATEGORY_SET;
    split.threshold = coded.threshold;
    split.missing_left = coded.missing_left;
    split.categories.codes = coded.listed;
    split.categories.listed_left = coded.listed_left;
    return {split, column, codes, coded.n_rows, coded.stride};
}
// Rows, of which n_left go left and come first.
inline std::vector<uint32_t> separated_by_codes(Simd simd, bool gathers, const CodedSplit& coded,
                                                std::vector<uint32_t> rows, uint32_t& n_left) {
    const uint32_t n = static_cast<uint32_t>(rows.size());
    std::vector<uint32_t> right(n + PADDING);
    const GuardedBytes codes(coded.codes, coded.n_rows * coded.stride);
    n_left = sides_of(coded, codes.get())
                 .separate(simd, rows.data(), n, rows.data(), right.data(), gathers);
    std::copy_n(right.begin(), n - n_left, rows.begin() + n_left);
    return rows;
}
// Marks rows [begin, end) by codes of which mapped[c] is what becomes of code c.
inline void mark_by_codes(Simd simd, const CodedSplit& coded, const uint8_t* mapped,
                          uint32_t begin, uint32_t end, uint32_t* bits) {
    const GuardedBytes codes(coded.codes, coded.n_rows);
    sides_of(coded, codes.get()).mark(simd, {codes.get(), mapped}, begin, end, bits);
}
// The list of a column of n cells, divided in segments that are joined.
inline std::vector<uint32_t> divided_list(Simd simd, const float* column, uint32_t n,
                                          uint32_t n_categories, const uint32_t* sides,
                                          uint32_t n_segments) {
    DenseColumns columns(column, 1, n, n, 1);
    columns.columns[0].n_categories = n_categories;
    Poll poll;
    Crew crew(1, poll);
    DenseEncoder(columns, crew, simd).add_lists(RAW);
    DenseSample sample(columns, {}, crew);
    sample.take_lists(columns);
    DenseWorkspace workspace(sample, simd, false);
    std::vector<uint32_t> n_left;
    for (uint32_t segment = 0; segment < n_segments; ++segment) {
        n_left.push_back(workspace.split_segment(0, 0, n, segment, n_segments, sides));
    }
    workspace.join_segments(0, 0, n, n_left);
    return {sample.lists[0].get(), sample.lists[0].get() + n};
}

// The stretch of the most common of n cells, which are in order, numbers first.
inline Stretch common_run(const float* cells, uint32_t n, uint32_t n_missing, bool& is_constant) {
    std::vector<uint32_t> entries(n);
    for (uint32_t p = 0; p < n; ++p) {
        const bool differs = p > 0 && float_key(cells[p]) != float_key(cells[p - 1]);
        entries[p] = p | (differs ? BOUNDARY : 0);
    }
    const Runs runs{entries.data(), n, n_missing, {cells, 1, nullptr, 0}};
    is_constant = runs.is_constant(false);
    return runs.common_run();
}
// The shares of a walk in their order, [share, segment, number of segments], after each of some
// nodes in which list i took some milliseconds.
inline std::vector<std::array<uint32_t, 3>> order_of_shares(
    uint32_t n_shares, const std::vector<uint32_t>& lists, uint32_t n_cut, uint32_t n_threads,
    const std::vector<uint32_t>& milliseconds) {
    WalkShares shares(n_shares, lists, n_cut, n_threads);
    std::chrono::steady_clock::time_point now;
    for (int i = 0; !milliseconds.empty() && i < shares.size(); ++i) {
        const auto at = std::find(lists.begin(), lists.end(), shares[i].share);
        shares.begin(i, now);
        if (at != lists.end()) now += std::chrono::milliseconds(milliseconds[at - lists.begin()]);
        shares.end(i, now);
    }
    if (!milliseconds.empty()) shares.sort_lists();
    std::vector<std::array<uint32_t, 3>> out;
    for (int i = 0; i < shares.size(); ++i) {
        out.push_back({shares[i].share, shares[i].segment, shares[i].n_segments});
    }
    return out;
}

}  // namespace fasttree::tests
