// The columns of a dense matrix, encoded once: what trees, folds and threads share.
//
// Once encoded, codes never change; lists may be added, and be handed to a sample that does not
// share them (`order/sample.hpp`).
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/columns/bit_columns.hpp"
#include "engine/columns/code_rows.hpp"
#include "engine/columns/column.hpp"
#include "engine/columns/encoded_rows.hpp"
#include "engine/columns/row_blocks.hpp"
#include "engine/columns/side_by_side.hpp"
#include "engine/columns/sorted_entries.hpp"
#include "engine/core/cost_model.hpp"
#include "engine/core/runs.hpp"
#include "engine/simd/gather.hpp"
#include "engine/simd/interleave.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_threads.hpp"

namespace fasttree {

class DenseColumns {
public:
    const float* X;
    ptrdiff_t row_stride, column_stride;  // in elements
    uint32_t n_rows;                      // of X
    EncodedRows rows;                     // all that samples hold; of one sample alone only
                                          // while they are encoded
    std::vector<Column> columns;
    AlignedBuffer<uint8_t> codes;                  // [n_rows, n_counted], of `rows` only
    AlignedBuffer<uint32_t> wide_codes;            // [n_rows, n_wide]
    AlignedBuffer<float> cells;                    // [n_rows, n_bucketed], unless X serves
    BitColumns bits;                               // of all rows: BITS
    BitColumns drawn_bits;                         // the same of columns with `is_bit`
    CodeRows code_rows;                            // of columns that are grouped
    uint32_t n_counted = 0, n_wide = 0, n_bucketed = 0;
    // Memory of codes by column of COUNTED columns, a block of those that are counted together, as
    // long as they are needed.
    std::vector<AlignedBuffer<uint8_t>> code_blocks;
    // Where parts of the rows begin, if COUNTED columns have the codes of all rows by column, too:
    // a byte more per row and column.
    std::vector<uint32_t> code_parts;

    DenseColumns(const float* X_, ptrdiff_t row_stride_, ptrdiff_t column_stride_, uint32_t n_rows_,
                 uint32_t n_features)
        : X(X_), row_stride(row_stride_), column_stride(column_stride_), n_rows(n_rows_),
          rows(n_rows_), columns(n_features) {
        place_columns();
    }

    float value(uint32_t row, uint32_t feature) const noexcept {
        return column(feature)[static_cast<ptrdiff_t>(row) * row_stride];
    }
    const float* column(uint32_t feature) const {
        return X + static_cast<ptrdiff_t>(columns[feature].place) * column_stride;
    }
    ColumnValues values_of(uint32_t feature) const {
        const Column& col = columns[feature];
        if (col.storage != BITS) return {column(feature), row_stride, nullptr, 0};
        const BitRows rows_of_bits = bits.rows();
        return {col.values.data(), static_cast<ptrdiff_t>(rows_of_bits.n_words),
                rows_of_bits.words + col.slot / ROW_WORD, col.slot % ROW_WORD};
    }
    // The cells of a column that is not BITS: the copy, if there is one, or those of X.
    ColumnCells cells_of(uint32_t feature) const {
        const float* copied = columns[feature].copy.get();
        return copied ? ColumnCells{copied, 1} : ColumnCells{column(feature), row_stride};
    }
    // Whether the cells or codes of each column are side by side.
    bool has_columns() const {
        return std::all_of(columns.begin(), columns.end(), [this](const Column& col) {
            return row_stride == 1 || col.has_codes_of_rows() || col.copy.get();
        });
    }
    // Of a BUCKETED column, where a row's are side by side.
    ColumnValues row_values_of(uint32_t feature) const {
        if (cells.get() == nullptr) return {column(feature), row_stride, nullptr, 0};
        return {cells.get() + columns[feature].slot, n_bucketed, nullptr, 0};
    }
    const uint8_t* code(uint32_t row, uint32_t slot) const {
        return codes.get() + static_cast<size_t>(row) * n_counted + slot;
    }

    // Rows are encoded in parts that threads share; X is read in its order. Of many rows a thread
    // has several parts.
    void begin_encoding(uint32_t n_threads) noexcept {
        constexpr size_t LEAST = 2048, MANY = 1 << 16;  // hash tables are made for every part
        const size_t n = rows.size(), n_of_a_thread = n_threads == 1
            ? 1 : std::clamp<size_t>(n / (MANY * n_threads), 1, PARTS_OF_A_THREAD);
        n_threads_ = n_threads;
        n_parts_ = static_cast<uint32_t>(
            std::clamp<size_t>(n / LEAST, 1, n_of_a_thread * n_threads));
    }
    uint32_t n_parts() const noexcept { return n_parts_; }
    size_t part_begin(uint32_t part) const noexcept {
        return guided_begin(rows.size(), part, n_parts_, n_threads_);
    }
    // Where a step of a part begins.
    size_t step_begin(uint32_t part, uint32_t step, uint32_t n_steps) const noexcept {
        return step_begin(rows.size(), part, step, n_steps);
    }

    // Columns of two values, if there are at least `least`: in parts of all rows of X.
    bool begin_bits(uint32_t least) {
        const bool pays = bits.begin(matrix(), n_parts_, least,
                                     [&](uint32_t f) { return columns[f].n_categories; });
        if (!pays) bits = BitColumns();
        return pays;
    }
    uint32_t n_bit_steps() const noexcept { return n_steps(columns.size()); }
    void read_bits(Simd simd, uint32_t part, uint32_t step, uint32_t n_steps) noexcept {
        bits.read(simd, matrix(), part, step_begin(n_rows, part, step, n_steps),
                  step_begin(n_rows, part, step + 1, n_steps));
    }
    void settle_bits() {
        if (!bits.settle()) {
            bits = BitColumns();
            return;
        }
        for (uint32_t bit = 0; bit < bits.n_bits(); ++bit) {
            if (!bits.is_one(bit)) continue;
            columns[bits.features[bit]].take_bit(bit, bits.low(bit), bits.high(bit));
        }
    }
    // Refers to the bits of some columns, ascending, zeros and ones or categories in their order. X
    // holds the others.
    void take_bits(const uint64_t* words, const std::vector<uint32_t>& features) {
        bits.take(words, n_rows, features);
        for (uint32_t bit = 0; bit < features.size(); ++bit) {
            Column& col = columns[features[bit]];
            const bool are_numbers = !col.has_categories();
            col.take_bit(bit, are_numbers ? 0.0f : category_cell(0),
                         are_numbers ? 1.0f : category_cell(1));
        }
        place_columns();
    }
    bool has_bits() const noexcept { return bits.n_columns > 0; }
    bool has_categories() const {
        return std::any_of(columns.begin(), columns.end(),
                           [](const Column& col) { return col.has_categories(); });
    }

    // Steps in which to go through n columns of every part, each of a million cells on average.
    uint32_t n_steps(size_t n_columns) const noexcept {
        constexpr size_t CELLS = 1000000;
        return 1 + static_cast<uint32_t>(rows.size() / n_parts_ * n_columns / CELLS);
    }

    // Keeps a feature's codes if its values are few and all numbers. It stays RAW to all but who
    // asks for them.
    void keep_codes_of_numbers(uint32_t feature) {
        Column& col = columns[feature];
        if (col.storage != COUNTED) return;
        if (col.is_plain()) {
            keep_codes(feature);
            col.storage = RAW;
        } else {
            col.release_codes();
        }
    }
    // Keeps a feature's codes if its values are few.
    void keep_codes(uint32_t feature) {
        Column& col = columns[feature];
        if (col.storage != COUNTED) return;
        AlignedBuffer<uint8_t> by_row(static_cast<size_t>(n_rows) + GATHER_PADDING);
        for (uint32_t part = 0; part < n_parts_; ++part) {
            const CodedColumn from = col.codes_of_part(part);
            write_rows(SIMD_PORTABLE, &from, 1, part_begin(part), part_begin(part + 1),
                       by_row.get(), 1);
        }
        col.narrow = std::move(by_row);
        col.rank = std::vector<uint8_t>();  // = {} would keep the memory
        col.keeps_codes = true;
    }
    // The same of all features, in groups of columns instead.
    void group_codes_of_numbers(Simd simd) {
        std::vector<const Column*> grouped;
        for (Column& col : columns) {
            col.is_grouped = col.storage == COUNTED && col.is_plain();
            if (!col.is_grouped) continue;
            col.slot = static_cast<uint32_t>(grouped.size());
            grouped.push_back(&col);
        }
        code_rows.open(n_rows, static_cast<uint32_t>(grouped.size()));
        std::vector<CodedColumn> from(grouped.size());
        for (uint32_t part = 0; part < n_parts_; ++part) {
            for (size_t k = 0; k < from.size(); ++k) from[k] = grouped[k]->codes_of_part(part);
            for (size_t k = 0; k < from.size(); k += GROUP) {
                write_rows(simd, &from[k], std::min<size_t>(GROUP, from.size() - k),
                           part_begin(part), part_begin(part + 1), code_rows.column(k), GROUP);
            }
        }
        for (Column& col : columns) {
            if (col.storage == COUNTED) col.release_codes();
        }
        code_blocks.clear();
    }
    // Keeps bits for questions that are drawn. Their columns stay RAW to all but who asks for them.
    void keep_drawn_bits() noexcept {
        for (Column& col : columns) {
            if (col.storage != BITS) continue;
            col.is_bit = true;
            col.storage = RAW;
        }
        drawn_bits = std::move(bits);
        bits = BitColumns();
    }

    std::vector<uint32_t> raw_features() const {
        std::vector<uint32_t> out;
        for (uint32_t f = 0; f < columns.size(); ++f) {
            if (columns[f].storage == RAW) out.push_back(f);
        }
        return out;
    }

    // Lists are made of features[first:last] at a time: first there are keys in them.
    // Every thread has its buffers, of which what becomes a list, and so outlives the thread, is
    // allocated here.
    void begin_lists(const std::vector<uint32_t>& features, uint32_t first, uint32_t last,
                     std::vector<SortBuffers>& buffers) {
        for (uint32_t k = first; k < last; ++k) columns[features[k]].list.reserve(rows.size());
        for (SortBuffers& of_thread : buffers) of_thread.entries.reserve(rows.size());
    }
    // The keys of a part of the rows, of features that have none.
    void gather_keys(Simd simd, const std::vector<uint32_t>& features, uint32_t first,
                     uint32_t last, uint32_t part) const {
        RowBlocks blocks(row_stride, column_stride);
        SideBySide side_by_side(simd, rows, row_stride, column_stride);
        for (uint32_t k = first; k < last; ++k) {
            if (columns[features[k]].has_keys) continue;
            blocks.add(features[k], column(features[k]));
            side_by_side.add(column(features[k]));
        }
        blocks.visit(rows, part_begin(part), part_begin(part + 1),
                     [&](uint32_t f, size_t start, size_t stop) {
                         gather_keys(simd, f, start, stop, side_by_side.of(column(f), start, stop));
                         return true;
                     });
    }
    // Keys of a feature that has room for a list, of the rows at places start to stop, whose cells
    // may be given (`SideBySide`).
    void gather_keys(Simd simd, uint32_t feature, size_t start, size_t stop,
                     const float* FASTTREE_RESTRICT cells = nullptr) const {
        const bool has_categories = columns[feature].has_categories();
        uint32_t* const FASTTREE_RESTRICT keys = columns[feature].list.get();
        if (cells != nullptr) {
            return call(simd, [=]() FASTTREE_INLINE {
                for (size_t i = start; i < stop; ++i) {
                    keys[i] = cell_key(cells[i - start], has_categories);
                }
            });
        }
        rows.visit([=, x = column(feature), stride = row_stride](auto row_of) {
            for (size_t i = start; i < stop; ++i) {
                const float cell = x[static_cast<ptrdiff_t>(row_of(i)) * stride];
                keys[i] = cell_key(cell, has_categories);
            }
        });
    }

    // Lists the rows of a feature whose keys have been gathered, or makes it WIDE.
    void sort(uint32_t feature, Storage storage, SortBuffers& buffers) {
        Column& col = columns[feature];
        const uint32_t n = static_cast<uint32_t>(rows.size());
        const uint32_t n_missing = rows.visit([&](auto row_of) {
            return sort_by_keys(col.list.get(), row_of, n, buffers, buffers.entries.get());
        });
        std::swap(col.list, buffers.entries);
        col.has_keys = false;
        col.has_missing = n_missing > 0;
        if (storage == WIDE) widen(col, feature);
    }

    // Makes a feature BUCKETED.
    void find_buckets(uint32_t feature, SortBuffers& buffers) {
        Column& col = columns[feature];
        const uint32_t n = static_cast<uint32_t>(rows.size());
        const uint32_t n_sampled = std::min(n, BUCKET_SAMPLE);
        std::vector<uint32_t> keys(n_sampled);
        buffers.reserve(n_sampled);
        for (uint32_t i = 0; i < n_sampled; ++i) {
            const float cell = value(rows[bucket_sample_row(i, n)], feature);
            buffers.items[i] = pack(cell_key(cell, col.has_categories()), i);
        }
        const uint64_t* sorted =
            sort_by_key(buffers.items.get(), buffers.scratch.get(), n_sampled);
        for (uint32_t i = 0; i < n_sampled; ++i) keys[i] = key_of(sorted[i]);
        col.buckets = std::make_unique<Buckets>(keys.data(), n_sampled);
        const size_t n_bytes = static_cast<size_t>(n_rows) + GATHER_PADDING;
        std::fill_n(col.narrow.reserve(n_bytes), n_bytes, uint8_t{0});
        col.storage = BUCKETED;
    }

    // Room for copies of the columns without codes, for nodes that look at so many features.
    void begin_copying(uint32_t n_looked) {
        const auto is_coded = [](const Column& c) { return c.has_codes_of_rows(); };
        const size_t n = columns.size();
        const size_t n_copied = n - std::count_if(columns.begin(), columns.end(), is_coded);
        if (!copying_columns_pays(row_stride, n_copied, n, n_looked)) return;
        for (Column& col : columns) if (!is_coded(col)) col.copy.reserve(n_rows);
    }
    // Room for the codes of all columns in the row-major matrices, but for those that are kept.
    void begin_interleaving() {
        for (Column& col : columns) {
            if (col.storage == COUNTED && !col.keeps_codes) col.slot = n_counted++;
            if (col.storage == WIDE) col.slot = n_wide++;
            if (col.storage == BUCKETED) col.slot = n_bucketed++;
        }
        codes.reserve(static_cast<size_t>(n_rows) * n_counted);
        wide_codes.reserve(static_cast<size_t>(n_rows) * n_wide);
        if (copying_cells_pays(row_stride, column_stride, n_bucketed)) {
            cells.reserve(static_cast<size_t>(n_rows) * n_bucketed);
        }
    }
    uint32_t n_interleaving_steps() const noexcept {
        return n_steps(std::count_if(columns.begin(), columns.end(), [](const Column& col) {
            return col.copy.get()
                   || (col.storage != RAW && col.storage != BITS && !col.keeps_codes);
        }));
    }
    // Moves the codes of a step of a part there; finds the buckets of BUCKETED columns.
    void interleave(Simd simd, uint32_t part, uint32_t step, uint32_t n_steps) {
        const size_t begin = step_begin(part, step, n_steps);
        const size_t end = step_begin(part, step + 1, n_steps);
        std::vector<CodedColumn> counted;
        RowBlocks others(row_stride, column_stride);
        for (uint32_t f = 0; f < columns.size(); ++f) {
            const Column& col = columns[f];
            if (col.keeps_codes) continue;
            if (col.storage == COUNTED) counted.push_back(col.codes_of_part(part));
            else if (col.storage == WIDE) others.add(f);
            else if (col.storage == BUCKETED || col.copy.get()) others.add(f, column(f));
        }
        write_rows(simd, counted.data(), n_counted, begin, end, codes.get(), n_counted);
        others.visit(rows, begin, end, [&](uint32_t f, size_t start, size_t stop) {
            const Column& col = columns[f];
            if (col.storage == BUCKETED) {
                divide_among_buckets(simd, f, start, stop);
            } else if (col.storage == WIDE) {
                rows.scatter(start, stop, wide_codes.get() + col.slot, n_wide,
                             [from = col.wide.get()](size_t i, uint32_t) { return from[i]; });
            } else {
                rows.scatter(start, stop, col.copy.get(), 1,
                             [x = column(f), stride = row_stride](size_t, uint32_t row) {
                                 return x[static_cast<ptrdiff_t>(row) * stride];
                             });
            }
            return true;
        });
    }
    // `codes_stay`: by column, too, if they are those of all rows.
    void end_interleaving(bool codes_stay) {
        for (uint32_t part = 0; codes_stay && rows.are_all() && part < n_parts_; ++part) {
            code_parts.push_back(static_cast<uint32_t>(part_begin(part)));
        }
        for (Column& col : columns) {
            col.wide.release();
            if (col.storage == BUCKETED) {
                col.has_missing = std::memchr(col.narrow.get(), Buckets::OTHERS, n_rows) != nullptr;
            } else if (!col.keeps_codes && code_parts.empty()) {
                col.narrow.release();
            }
            if (code_parts.empty()) col.rank = std::vector<uint8_t>();
        }
        if (code_parts.empty()) code_blocks.clear();
    }

    // Whether what has been encoded tells that all cells of X are finite numbers.
    bool are_finite() const noexcept {
        bool are_finite = rows.size() == n_rows;
        for (const Column& col : columns) {
            const float* cells = col.storage == RAW ? X + col.place * column_stride : nullptr;
            are_finite = are_finite && col.is_finite({cells, row_stride}, n_rows);
        }
        return are_finite;
    }

    // Entries of the given rows in ascending order of the feature; returns how many are not
    // numbers.
    uint32_t sort_rows(uint32_t feature, const uint32_t* of_node, uint32_t n, SortBuffers& buffers,
                       uint32_t* entries) const {
        return sort_cells(cells_of(feature), columns[feature].has_categories(), of_node, n, buffers,
                          entries);
    }

private:
    // Of n rows, where a step of a part begins.
    size_t step_begin(size_t n, uint32_t part, uint32_t step, uint32_t n_steps) const noexcept {
        const size_t begin = guided_begin(n, part, n_parts_, n_threads_);
        const size_t end = guided_begin(n, part + 1, n_parts_, n_threads_);
        return begin + (end - begin) * step / n_steps;
    }
    void place_columns() {
        uint32_t place = 0;
        for (Column& col : columns) {
            if (col.storage != BITS) col.place = place++;
        }
    }
    FloatMatrix matrix() const {
        return {X, row_stride, column_stride, n_rows, static_cast<uint32_t>(columns.size())};
    }

    uint32_t n_threads_ = 1, n_parts_ = 1;  // of the encoding

    void divide_among_buckets(Simd simd, uint32_t feature, size_t start, size_t stop) const {
        constexpr size_t AT_ONCE = 256;
        uint32_t keys[AT_ONCE];
        uint8_t buckets[AT_ONCE];
        const Column& col = columns[feature];
        const float* x = column(feature);
        for (size_t begin = start, end; begin < stop; begin = end) {
            end = std::min(begin + AT_ONCE, stop);
            rows.visit([&, has_categories = col.has_categories()](auto row_of) {
                for (size_t i = begin; i < end; ++i) {
                    const uint32_t row = row_of(i);
                    const float cell = x[static_cast<ptrdiff_t>(row) * row_stride];
                    keys[i - begin] = cell_key(cell, has_categories);
                    if (cells.get() != nullptr) {
                        cells[static_cast<size_t>(row) * n_bucketed + col.slot] = cell;
                    }
                }
            });
            col.buckets->find(simd, keys, static_cast<uint32_t>(end - begin), buckets);
            rows.scatter(begin, end, col.narrow.get(), 1,
                         [&](size_t i, uint32_t) { return buckets[i - begin]; });
        }
    }
    // Writes the codes of each row r to to[r * stride] and what follows.
    void write_rows(Simd simd, const CodedColumn* from, size_t n, size_t start, size_t stop,
                    uint8_t* to, size_t stride) const {
        rows.visit([=](auto row_of) {
            interleave_codes(simd, from, static_cast<uint32_t>(n), start, stop, row_of, to, stride);
        });
    }
    // Turns a listed column into a WIDE one.
    void widen(Column& col, uint32_t feature) const {
        std::vector<uint32_t> code_of_row(n_rows);
        uint32_t code = 0;
        for (size_t i = 0; i < rows.size(); ++i) {
            const uint32_t row = col.list[i] & ROW;
            code += i > 0 && (col.list[i] & BOUNDARY);
            code_of_row[row] = code;
            if (code < col.values.size()) continue;
            const uint32_t key = cell_key(value(row, feature), col.has_categories());
            col.append(key);
        }
        uint32_t* const wide = col.wide.reserve(rows.size());
        for (size_t i = 0; i < rows.size(); ++i) wide[i] = code_of_row[rows[i]];
        col.list.release();
        col.storage = WIDE;
    }
};

}  // namespace fasttree
