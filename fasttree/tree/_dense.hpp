// Dense columns of one fit, encoded once, and what a thread needs to walk them.
//
// Each column is stored in the way its search strategy reads it:
//   COUNTED  few distinct values: uint8 codes, row-major over all such columns, so that one
//            cache line serves a row; counts per value, or a counting sort in small nodes;
//   WIDE     the same with uint32 codes and counts only, for strategy="count";
//   SORTED   many: a list of the fit's rows in ascending order, partitioned stably at each
//            split, so that every node owns the slice [start, end) of every list;
//   RAW      nothing kept: values are gathered and sorted in the node (low memory; few
//            candidate features).
// Invariant: rows[start:end] are the node's rows in ascending order, and the same slice of each
// list holds the same rows in ascending order of the column: numbers, labels, missing values.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "../utils/_bits.hpp"
#include "../utils/_room.hpp"
#include "../utils/_simd.hpp"
#include "../utils/_sorting.hpp"
#include "_block.hpp"
#include "_few_values.hpp"
#include "_partition.hpp"
#include "_runs.hpp"
#include "_split.hpp"

namespace fasttree {

constexpr uint32_t MAX_COUNTED = 256;  // codes of a COUNTED column, missing included
constexpr uint32_t TILE = 64;          // features that a thread counts together

enum Storage : uint8_t { RAW, SORTED, COUNTED, WIDE };

struct Column {
    Storage storage = RAW;
    uint32_t slot = 0;               // of a COUNTED or WIDE column in its code matrix
    uint32_t n_categories = 0;       // labels the column may hold
    std::vector<float> values;  // COUNTED, WIDE: distinct, ascending; missing has the code after
    uint32_t n_labels = 0;           // of them labels, at the end
    bool has_missing = false;        // COUNTED, WIDE, SORTED
    Room<uint32_t> list;             // SORTED
    Room<uint8_t> narrow;            // codes of data.rows, until they are interleaved
    std::vector<uint8_t> rank;       // [part, code in `narrow`], among the values
    std::vector<uint32_t> wide;

    bool with_labels() const { return n_categories > 0; }
    uint32_t n_numbers() const { return static_cast<uint32_t>(values.size()) - n_labels; }
};

class DenseData {
public:
    const float* X;
    ptrdiff_t row_stride, column_stride;  // in elements
    uint32_t n_rows;                      // of X
    std::vector<uint32_t> rows;           // of positive weight
    std::vector<Column> columns;
    Room<uint8_t> codes;                  // [n_rows, n_counted], of `rows` only
    Room<uint32_t> wide_codes;            // [n_rows, n_wide]
    uint32_t n_counted = 0, n_wide = 0;

    DenseData(const float* X_, ptrdiff_t row_stride_, ptrdiff_t column_stride_, uint32_t n_rows_,
              uint32_t n_features)
        : X(X_), row_stride(row_stride_), column_stride(column_stride_), n_rows(n_rows_),
          columns(n_features) {}

    float value(uint32_t row, uint32_t feature) const {
        return column(feature)[static_cast<ptrdiff_t>(row) * row_stride];
    }
    const float* column(uint32_t feature) const {
        return X + static_cast<ptrdiff_t>(feature) * column_stride;
    }
    const uint8_t* code(uint32_t row, uint32_t slot) const {
        return codes.get() + static_cast<size_t>(row) * n_counted + slot;
    }

    // Rows are encoded in parts, ranges of them, that threads share; X is read in its order.
    void begin_encoding(uint32_t n_threads) {
        constexpr size_t LEAST = 2048;  // hash tables are made for every part
        n_parts_ = static_cast<uint32_t>(
            std::clamp<size_t>(rows.size() / LEAST, 1, std::max(n_threads, 1u)));
    }
    uint32_t n_parts() const { return n_parts_; }
    size_t part_begin(uint32_t part) const { return rows.size() * part / n_parts_; }

    // Telling the values of features [first, last) apart, as long as they are few: in shares, TILE
    // features in a part of the rows, codes in order of appearance; then, of each feature, all
    // together. Returns the number of shares.
    uint32_t begin_counting(uint32_t first, uint32_t last) {
        for (uint32_t f = first; f < last; ++f) columns[f].narrow.reserve(rows.size());
        const uint32_t n_shares = (last - first + TILE - 1) / TILE * n_parts_;
        counted_begin_ = first;
        counted_end_ = last;
        found_.assign(n_shares, {});
        return n_shares;
    }
    // Steps in which to go through n columns of every part, each of a few million cells.
    uint32_t n_steps(size_t n_columns) const {
        constexpr size_t CELLS = 4000000;
        return 1 + static_cast<uint32_t>(rows.size() / n_parts_ * n_columns / CELLS);
    }
    // Where a step of a part begins.
    size_t step_begin(uint32_t part, uint32_t step, uint32_t n_steps) const {
        const size_t begin = part_begin(part);
        return begin + (part_begin(part + 1) - begin) * step / n_steps;
    }
    void count(uint32_t share, uint32_t step, uint32_t n_steps) {
        const uint32_t part = share % n_parts_, first = counted_begin_ + share / n_parts_ * TILE;
        const uint32_t n = std::min(TILE, counted_end_ - first);
        std::vector<FewValues>& found = found_[share];
        if (step == 0) found.resize(n);
        const size_t begin = step_begin(part, step, n_steps);
        const size_t end = step_begin(part, step + 1, n_steps);
        const size_t block = row_stride > column_stride ? 256 : end - begin;
        for (size_t start = begin; start < end; start += block) {
            const size_t size = std::min(block, end - start);
            for (uint32_t k = 0; k < n; ++k) {
                Column& col = columns[first + k];
                found[k].encode(column(first + k), row_stride, rows.data() + start, size,
                                col.with_labels(), MAX_COUNTED, col.narrow.get() + start);
            }
        }
    }
    // Makes a feature COUNTED if its values are few.
    void settle_codes(uint32_t feature) {
        Column& col = columns[feature];
        const uint32_t at = feature - counted_begin_;
        const auto found = [&](uint32_t part) -> const FewValues& {
            return found_[at / TILE * n_parts_ + part][at % TILE];
        };
        std::vector<uint32_t> keys;
        for (uint32_t part = 0; part < n_parts_; ++part) {
            if (found(part).too_many) return col.narrow.release();
            keys.insert(keys.end(), found(part).keys.begin(), found(part).keys.end());
        }
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        if (keys.size() > MAX_COUNTED) return col.narrow.release();
        col.storage = COUNTED;
        for (uint32_t key : keys) append_key(col, key);
        col.rank.resize(n_parts_ * MAX_COUNTED);
        for (uint32_t part = 0; part < n_parts_; ++part) {
            uint8_t* rank = col.rank.data() + part * MAX_COUNTED;
            for (uint32_t key : found(part).keys) {
                const auto place = std::lower_bound(keys.begin(), keys.end(), key);
                *rank++ = static_cast<uint8_t>(place - keys.begin());
            }
        }
    }
    // All that for few rows, which are one part: sorting tells their values apart.
    void count_few(uint32_t first, uint32_t last) {
        const uint32_t n = static_cast<uint32_t>(rows.size());
        SortBuffers buffers;
        buffers.reserve(n);
        uint32_t keys[MAX_COUNTED];  // distinct
        for (uint32_t f = first; f < last; ++f) {
            Column& col = columns[f];
            const float* x = column(f);
            for (uint32_t i = 0; i < n; ++i) {
                const float cell = x[static_cast<ptrdiff_t>(rows[i]) * row_stride];
                buffers.items[i] = pack(cell_key(cell, col.with_labels()), i);
            }
            const uint64_t* sorted = sort_by_key(buffers.items.get(), buffers.scratch.get(), n);
            col.storage = COUNTED;
            col.narrow.reserve(n);
            uint32_t code = 0;
            for (uint32_t i = 0; i < n; ++i) {  // no branch: it would be a coin toss
                code += i > 0 && key_of(sorted[i]) != key_of(sorted[i - 1]);
                keys[code] = key_of(sorted[i]);
                col.narrow[payload_of(sorted[i])] = static_cast<uint8_t>(code);
            }
            const uint32_t n_codes = n > 0 ? code + 1 : 0;
            col.values.reserve(n_codes);
            col.rank.resize(n_codes);
            for (uint32_t c = 0; c < n_codes; ++c) {
                col.rank[c] = static_cast<uint8_t>(c);
                append_key(col, keys[c]);
            }
        }
    }

    // Features that are not stored yet.
    std::vector<uint32_t> raw_features() const {
        std::vector<uint32_t> out;
        for (uint32_t f = 0; f < columns.size(); ++f) {
            if (columns[f].storage == RAW) out.push_back(f);
        }
        return out;
    }

    // Keys of features[first:last] in a part of the rows to where they belong in all_keys, which
    // is [last - first, n_rows].
    void gather_keys(const std::vector<uint32_t>& features, uint32_t first, uint32_t last,
                     uint32_t part, uint32_t* all_keys) const {
        const size_t part_end = part_begin(part + 1);
        const size_t block = row_stride > column_stride ? 64 : rows.size();
        for (size_t start = part_begin(part); start < part_end; start += block) {
            const size_t end = std::min(start + block, part_end);
            for (uint32_t k = first; k < last; ++k) {
                const float* x = column(features[k]);
                const bool with_labels = columns[features[k]].with_labels();
                uint32_t* keys = all_keys + (k - first) * rows.size();
                for (size_t i = start; i < end; ++i) {
                    keys[i] =
                        cell_key(x[static_cast<ptrdiff_t>(rows[i]) * row_stride], with_labels);
                }
            }
        }
    }

    // Makes a feature of which the keys are given SORTED, or WIDE.
    void sort(uint32_t feature, const uint32_t* keys, bool widened, SortBuffers& buffers) {
        Column& col = columns[feature];
        const uint32_t n = static_cast<uint32_t>(rows.size());
        buffers.reserve(n);
        for (uint32_t i = 0; i < n; ++i) buffers.items[i] = pack(keys[i], rows[i]);
        col.has_missing = sort_items(buffers, n, col.list.reserve(n)) > 0;
        col.storage = SORTED;
        if (widened) widen(col, feature);
    }

    // Room for the codes of all columns in the row-major matrices.
    void begin_interleaving() {
        for (Column& col : columns) {
            if (col.storage == COUNTED) col.slot = n_counted++;
            if (col.storage == WIDE) col.slot = n_wide++;
        }
        codes.reserve(static_cast<size_t>(n_rows) * n_counted);
        wide_codes.reserve(static_cast<size_t>(n_rows) * n_wide);
    }
    // Moves the codes of a step of a part there.
    void interleave(uint32_t part, uint32_t step, uint32_t n_steps) {
        constexpr size_t BLOCK = 256;
        const size_t step_end = step_begin(part, step + 1, n_steps);
        for (size_t start = step_begin(part, step, n_steps); start < step_end; start += BLOCK) {
            const size_t end = std::min(start + BLOCK, step_end);
            for (const Column& col : columns) {
                if (col.storage == COUNTED) {
                    const uint8_t* rank = col.rank.data() + part * MAX_COUNTED;
                    const uint8_t* from = col.narrow.get();
                    scatter(start, end, codes.get() + col.slot, n_counted,
                            [=](size_t i) { return rank[from[i]]; });
                } else if (col.storage == WIDE) {
                    const uint32_t* from = col.wide.data();
                    scatter(start, end, wide_codes.get() + col.slot, n_wide,
                            [=](size_t i) { return from[i]; });
                }
            }
        }
    }
    void end_interleaving() {
        found_ = {};
        for (Column& col : columns) col.narrow.release(), col.rank = {}, col.wide = {};
    }

    // Entries of the given rows in ascending order of the feature; returns how many are not
    // numbers.
    uint32_t sort_rows(uint32_t feature, const uint32_t* node_rows, uint32_t n,
                       SortBuffers& buffers, uint32_t* entries) const {
        const float* x = column(feature);
        const bool with_labels = columns[feature].with_labels();
        buffers.reserve(n);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t row = node_rows[i];
            const float cell = x[static_cast<ptrdiff_t>(row) * row_stride];
            buffers.items[i] = pack(cell_key(cell, with_labels), row);
        }
        return sort_items(buffers, n, entries);
    }

private:
    uint32_t n_parts_ = 1;
    uint32_t counted_begin_ = 0, counted_end_ = 0;  // features being counted
    std::vector<std::vector<FewValues>> found_;     // [share, feature of its tile]

    template <class Code, class From>
    void scatter(size_t start, size_t end, Code* to, size_t stride, From from) const {
        const uint32_t* at = rows.data();
        for (size_t i = start; i < end; ++i) to[at[i] * stride] = from(i);
    }

    // Turns a SORTED column into a WIDE one.
    void widen(Column& col, uint32_t feature) const {
        std::vector<uint32_t> code_of_row(n_rows);
        uint32_t code = 0;
        for (size_t i = 0; i < rows.size(); ++i) {
            const uint32_t row = col.list[i] & ROW;
            code += i > 0 && (col.list[i] & BOUNDARY);
            code_of_row[row] = code;
            if (code < col.values.size()) continue;
            const uint32_t key = cell_key(value(row, feature), col.with_labels());
            if (key != MISSING_KEY) append_value(col, key);
        }
        for (uint32_t row : rows) col.wide.push_back(code_of_row[row]);
        col.list.release();
        col.storage = WIDE;
    }

    static void append_key(Column& col, uint32_t key) {
        if (key == MISSING_KEY) col.has_missing = true;
        else append_value(col, key);
    }
    static void append_value(Column& col, uint32_t key) {
        col.values.push_back(key_cell(key));
        col.n_labels += key >= FIRST_LABEL_KEY;
    }

    static uint32_t sort_items(SortBuffers& buffers, uint32_t n, uint32_t* entries) {
        const uint64_t* sorted = sort_by_key(buffers.items.get(), buffers.scratch.get(), n);
        uint32_t previous = key_of(sorted[0]), n_missing = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t key = key_of(sorted[i]);
            entries[i] = payload_of(sorted[i]) | (key != previous ? BOUNDARY : 0);
            n_missing += key >= FIRST_LABEL_KEY;
            previous = key;
        }
        return n_missing;
    }
};

// Scratch of one thread.
class DenseWorkspace final : public BlockSource {
public:
    DenseData& data;
    const Simd simd;
    std::vector<uint32_t> go_left;       // bits, of the node split last
    Room<uint32_t> scratch;              // entries
    std::vector<uint8_t> listed;         // by label, all 0 between splits
    SortBuffers buffers;                 // for sorting in the node

    DenseWorkspace(DenseData& data_, Simd simd_)
        : data(data_), simd(simd_), go_left(make_bits(data_.n_rows)),
          scratch(data_.rows.size() + PADDING) {}

    // A feature of the node in ascending order.
    Runs runs(uint32_t feature, uint32_t start, uint32_t end) {
        const Column& col = data.columns[feature];
        Runs out = values_of(feature);
        out.n = end - start;
        out.entries = scratch.get();
        if (col.storage == SORTED) {
            out.entries = col.list.get() + start;
            out.n_missing = col.has_missing ? count_missing(out) : 0;
        } else if (col.storage == COUNTED) {
            out.n_missing = counting_sort(col, start, end);
        } else {
            out.n_missing = data.sort_rows(feature, data.rows.data() + start, out.n, buffers,
                                           scratch.get());
        }
        return out;
    }

    // Sets go_left of the node's rows and partitions them; returns the first position that is
    // right.
    uint32_t split_rows(const Split& split, uint32_t start, uint32_t end) {
        mark(split, start, end);
        uint32_t* node_rows = data.rows.data() + start;
        return start + partition(simd, node_rows, end - start, go_left.data(), scratch.get());
    }
    // Partitions the feature's list by the given sides, for the children that will be searched.
    void split_list(uint32_t feature, uint32_t start, uint32_t end, bool with_left,
                    bool with_right, const uint32_t* sides) {
        partition(simd, data.columns[feature].list.get() + start, end - start, sides,
                  scratch.get(), with_left, with_right);
    }
    // Restores go_left of a node whose rows have been partitioned at `middle`.
    void mark_halves(uint32_t start, uint32_t middle, uint32_t end) {
        for (uint32_t i = start; i < end; ++i) put_bit(go_left.data(), data.rows[i], i < middle);
    }

    Runs values_of(uint32_t feature) const override {
        return {nullptr, 0, 0, data.column(feature), data.row_stride,
                data.columns[feature].with_labels()};
    }
    void make_order(const Block& block, uint32_t feature, BlockOrder& out) override {
        const Column& col = data.columns[feature];
        const uint32_t n = block.size();
        if (col.storage == COUNTED) {
            uint8_t codes[BLOCK_ROWS];
            for (uint32_t i = 0; i < n; ++i) codes[i] = *data.code(block.rows[i], col.slot);
            order_codes(simd, codes, n, col.n_numbers(), out);
        } else if (col.storage == SORTED) {
            const Runs list = runs(feature, block.start, block.end);
            block.take_entries(list.entries, list.n_missing, out);
        } else {
            const uint32_t n_missing =
                data.sort_rows(feature, block.rows, n, buffers, scratch.get());
            block.take_entries(scratch.get(), n_missing, out);
        }
    }

private:
    static uint32_t count_missing(const Runs& runs) {
        uint32_t low = 0, high = runs.n;  // values before low, missing from high on
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            const float x = runs.value(middle);
            if (x != x) high = middle;
            else low = middle + 1;
        }
        return runs.n - low;
    }

    // The node's rows by code into `scratch`; O(n), whatever the number of codes.
    // Returns how many are not numbers.
    uint32_t counting_sort(const Column& col, uint32_t start, uint32_t end) {
        uint32_t counts[MAX_COUNTED];
        uint64_t seen[MAX_COUNTED / 64] = {};
        const uint32_t* node_rows = data.rows.data();
        for (uint32_t i = start; i < end; ++i) {
            const uint8_t code = *data.code(node_rows[i], col.slot);
            uint64_t& word = seen[code / 64];
            const uint64_t bit = uint64_t{1} << code % 64;
            if (!(word & bit)) counts[code] = 0;
            word |= bit;
            ++counts[code];
        }
        const uint32_t n_numbers = col.n_numbers();
        uint32_t sum = 0, rows_of_numbers = 0;
        for (uint32_t word = 0; word < MAX_COUNTED / 64; ++word) {
            for (uint64_t bits = seen[word]; bits != 0; bits &= bits - 1) {
                const uint32_t code = word * 64 + __builtin_ctzll(bits);
                const uint32_t count = counts[code];
                counts[code] = sum;
                sum += count;
                if (code < n_numbers) rows_of_numbers = sum;
            }
        }
        for (uint32_t i = start; i < end; ++i) {
            const uint8_t code = *data.code(node_rows[i], col.slot);
            uint64_t& word = seen[code / 64];
            const uint64_t bit = uint64_t{1} << code % 64;
            scratch[counts[code]++] = node_rows[i] | (word & bit ? BOUNDARY : 0);
            word &= ~bit;  // the first of its run only
        }
        return sum - rows_of_numbers;
    }

    void mark(const Split& split, uint32_t start, uint32_t end) {
        const Column& col = data.columns[split.feature];
        const uint32_t* node_rows = data.rows.data();
        uint32_t* sides = go_left.data();
        if (col.storage == COUNTED) {
            uint8_t left[MAX_COUNTED + 1];
            const size_t n_values = col.values.size();
            for (size_t c = 0; c < n_values; ++c) left[c] = col.values[c] <= split.threshold;
            for (size_t c = col.n_numbers(); c < n_values; ++c) {
                left[c] = split.label_goes_left(label_of(col.values[c]));
            }
            left[n_values] = split.missing_left;
            const uint8_t* codes = data.codes.get() + col.slot;
            const size_t stride = data.n_counted;
            BitWriter writer(sides);
            for (uint32_t i = start; i < end; ++i) {
                writer.put(node_rows[i], left[codes[node_rows[i] * stride]]);
            }
        } else if (split.question != THRESHOLD) {
            mark_labels(split, col, start, end);
        } else if (col.storage == SORTED) {
            const uint32_t* entries = col.list.get() + start;
            const uint32_t n_missing = split.has_missing && split.missing_left
                                           ? split.n_left - split.n_values_left : 0;
            for (uint32_t i = start; i < end; ++i) {
                const uint32_t p = i - start;
                put_bit(sides, entries[p] & ROW,
                        p < split.n_values_left || end - i <= n_missing);
            }
        } else {
            BitWriter writer(sides);
            for (uint32_t i = start; i < end; ++i) {
                const float x = data.value(node_rows[i], split.feature);
                writer.put(node_rows[i], x != x ? split.missing_left : x <= split.threshold);
            }
        }
    }
    // Sides of a split on labels: numbers go right.
    void mark_labels(const Split& split, const Column& col, uint32_t start, uint32_t end) {
        listed.resize(std::max<size_t>(listed.size(), col.n_categories));
        for (uint32_t label : split.labels.codes) listed[label] = 1;
        for (uint32_t i = start; i < end; ++i) {
            const uint32_t row = data.rows[i];
            const float x = data.value(row, split.feature);
            const uint32_t label = label_of(x);
            put_bit(go_left.data(), row,
                    label != NO_LABEL ? listed[label] == split.labels.listed_left
                                      : x != x && split.missing_left);
        }
        for (uint32_t label : split.labels.codes) listed[label] = 0;
    }
};

}  // namespace fasttree
