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
#include "../utils/_simd.hpp"
#include "../utils/_sorting.hpp"
#include "_block.hpp"
#include "_partition.hpp"
#include "_runs.hpp"
#include "_split.hpp"

namespace fasttree {

constexpr uint32_t MAX_COUNTED = 256;  // codes of a COUNTED column, missing included

enum Storage : uint8_t { RAW, SORTED, COUNTED, WIDE };

struct Column {
    Storage storage = RAW;
    uint32_t slot = 0;               // of a COUNTED or WIDE column in its code matrix
    uint32_t n_categories = 0;       // labels the column may hold
    std::vector<float> values;  // COUNTED, WIDE: distinct, ascending; missing has the code after
    uint32_t n_labels = 0;           // of them labels, at the end
    bool has_missing = false;        // COUNTED, WIDE, SORTED
    std::vector<uint32_t> list;      // SORTED
    std::vector<uint8_t> narrow;     // codes of data.rows, until they are interleaved
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
    std::vector<uint8_t> codes;           // [n_rows, n_counted]
    std::vector<uint32_t> wide_codes;     // [n_rows, n_wide]
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
        return codes.data() + static_cast<size_t>(row) * n_counted + slot;
    }

    // Stores features [first, last): COUNTED those of few values if `counted`, others SORTED if
    // `sorted`, or WIDE if `widened`. `keys` holds n rows of each feature.
    void encode(uint32_t first, uint32_t last, bool counted, bool sorted, bool widened,
                std::vector<uint32_t>& keys, SortBuffers& buffers) {
        const uint32_t n = static_cast<uint32_t>(rows.size());
        keys.resize(static_cast<size_t>(last - first) * n);
        bool with_labels = false;
        for (uint32_t f = first; f < last; ++f) with_labels |= columns[f].with_labels();
        if (with_labels) gather_keys<true>(first, last, keys.data());
        else gather_keys<false>(first, last, keys.data());
        buffers.reserve(n);
        for (uint32_t f = first; f < last; ++f) {
            const uint32_t* column_keys = keys.data() + static_cast<size_t>(f - first) * n;
            if (counted && count(columns[f], column_keys)) continue;
            if (sorted || widened) sort(columns[f], column_keys, buffers);
            if (widened) widen(columns[f], f);
        }
    }

    // Moves the codes of all columns into the row-major matrices.
    void interleave() {
        for (Column& col : columns) {
            if (col.storage == COUNTED) col.slot = n_counted++;
            if (col.storage == WIDE) col.slot = n_wide++;
        }
        codes.resize(static_cast<size_t>(n_rows) * n_counted);
        wide_codes.resize(static_cast<size_t>(n_rows) * n_wide);
        constexpr size_t BLOCK = 256;
        for (size_t start = 0; start < rows.size(); start += BLOCK) {
            const size_t end = std::min(start + BLOCK, rows.size());
            for (const Column& col : columns) {
                if (col.storage == COUNTED)
                    scatter(col.narrow, col.slot, n_counted, start, end, codes);
                if (col.storage == WIDE)
                    scatter(col.wide, col.slot, n_wide, start, end, wide_codes);
            }
        }
        for (Column& col : columns) col.narrow = {}, col.wide = {};
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
    // Keys of features [first, last), feature-major; X is read once, in its own order.
    template <bool with_labels>
    void gather_keys(uint32_t first, uint32_t last, uint32_t* keys) const {
        auto key = [this](uint32_t f, float x) {
            return cell_key(x, with_labels && columns[f].with_labels());
        };
        const size_t n = rows.size();
        if (row_stride > column_stride) {
            for (size_t i = 0; i < n; ++i) {
                const float* x = X + static_cast<ptrdiff_t>(rows[i]) * row_stride;
                for (uint32_t f = first; f < last; ++f) {
                    keys[(f - first) * n + i] =
                        key(f, x[static_cast<ptrdiff_t>(f) * column_stride]);
                }
            }
        } else {
            for (uint32_t f = first; f < last; ++f) {
                const float* x = column(f);
                for (size_t i = 0; i < n; ++i) {
                    keys[(f - first) * n + i] =
                        key(f, x[static_cast<ptrdiff_t>(rows[i]) * row_stride]);
                }
            }
        }
    }

    // Makes the column COUNTED if its values are few: one hashing pass gives codes in order of
    // appearance, or stops at the first value too many; a table then puts them in order.
    bool count(Column& col, const uint32_t* keys) const {
        constexpr uint32_t SLOTS = 4 * MAX_COUNTED;
        uint32_t slot_key[SLOTS], order[MAX_COUNTED];
        uint8_t slot_code[SLOTS], code_of[MAX_COUNTED];
        bool used[SLOTS] = {};
        std::fill(slot_key, slot_key + SLOTS, MISSING_KEY);
        const size_t n = rows.size();
        std::vector<uint32_t> distinct;
        col.narrow.resize(n);
        for (size_t i = 0; i < n; ++i) {
            const uint32_t key = keys[i];
            uint32_t slot = key * 0x9e3779b1u >> 22;  // top 10 bits
            while (!used[slot] || slot_key[slot] != key) {
                if (used[slot]) {
                    slot = (slot + 1) % SLOTS;
                    continue;
                }
                if (distinct.size() == MAX_COUNTED - 1) {  // one code is kept for missing
                    col.narrow = {};
                    return false;
                }
                used[slot] = true;
                slot_key[slot] = key;
                slot_code[slot] = static_cast<uint8_t>(distinct.size());
                distinct.push_back(key);
            }
            col.narrow[i] = slot_code[slot];
        }
        const uint32_t n_distinct = static_cast<uint32_t>(distinct.size());
        for (uint32_t c = 0; c < n_distinct; ++c) order[c] = c;
        std::sort(order, order + n_distinct,
                  [&](uint32_t a, uint32_t b) { return distinct[a] < distinct[b]; });
        for (uint32_t c = 0; c < n_distinct; ++c) {
            code_of[order[c]] = static_cast<uint8_t>(c);
            const uint32_t key = distinct[order[c]];
            if (key == MISSING_KEY) col.has_missing = true;
            else append_value(col, key);
        }
        for (size_t i = 0; i < n; ++i) col.narrow[i] = code_of[col.narrow[i]];
        col.storage = COUNTED;
        return true;
    }

    void sort(Column& col, const uint32_t* keys, SortBuffers& buffers) const {
        const uint32_t n = static_cast<uint32_t>(rows.size());
        for (uint32_t i = 0; i < n; ++i) buffers.items[i] = pack(keys[i], rows[i]);
        col.list.resize(n);
        col.has_missing = sort_items(buffers, n, col.list.data()) > 0;
        col.storage = SORTED;
    }

    // Turns a SORTED column into a WIDE one.
    void widen(Column& col, uint32_t feature) const {
        std::vector<uint32_t> code_of_row(n_rows);
        uint32_t code = 0;
        for (size_t i = 0; i < col.list.size(); ++i) {
            const uint32_t row = col.list[i] & ROW;
            code += i > 0 && (col.list[i] & BOUNDARY);
            code_of_row[row] = code;
            if (code < col.values.size()) continue;
            const uint32_t key = cell_key(value(row, feature), col.with_labels());
            if (key != MISSING_KEY) append_value(col, key);
        }
        for (uint32_t row : rows) col.wide.push_back(code_of_row[row]);
        col.list = {};
        col.storage = WIDE;
    }

    static void append_value(Column& col, uint32_t key) {
        col.values.push_back(key_cell(key));
        col.n_labels += key >= FIRST_LABEL_KEY;
    }

    template <class Code>
    void scatter(const std::vector<Code>& from, uint32_t slot, uint32_t stride, size_t start,
                 size_t end, std::vector<Code>& to) const {
        for (size_t i = start; i < end; ++i) {
            to[static_cast<size_t>(rows[i]) * stride + slot] = from[i];
        }
    }

    static uint32_t sort_items(SortBuffers& buffers, uint32_t n, uint32_t* entries) {
        const uint64_t* sorted = sort_by_key(buffers.items.data(), buffers.scratch.data(), n);
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
    std::vector<uint32_t> scratch;       // entries
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
        out.entries = scratch.data();
        if (col.storage == SORTED) {
            out.entries = col.list.data() + start;
            out.n_missing = col.has_missing ? count_missing(out) : 0;
        } else if (col.storage == COUNTED) {
            out.n_missing = counting_sort(col, start, end);
        } else {
            out.n_missing = data.sort_rows(feature, data.rows.data() + start, out.n, buffers,
                                           scratch.data());
        }
        return out;
    }

    // Sets go_left of the node's rows and partitions them; returns the first position that is
    // right.
    uint32_t split_rows(const Split& split, uint32_t start, uint32_t end) {
        mark(split, start, end);
        uint32_t* node_rows = data.rows.data() + start;
        return start + partition(simd, node_rows, end - start, go_left.data(), scratch.data());
    }
    // Partitions the feature's list by the given sides, for the children that will be searched.
    void split_list(uint32_t feature, uint32_t start, uint32_t end, bool with_left,
                    bool with_right, const uint32_t* sides) {
        partition(simd, data.columns[feature].list.data() + start, end - start, sides,
                  scratch.data(), with_left, with_right);
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
                data.sort_rows(feature, block.rows, n, buffers, scratch.data());
            block.take_entries(scratch.data(), n_missing, out);
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
            uint8_t left[MAX_COUNTED];
            const size_t n_values = col.values.size();
            for (size_t c = 0; c < n_values; ++c) left[c] = col.values[c] <= split.threshold;
            for (size_t c = col.n_numbers(); c < n_values; ++c) {
                left[c] = split.label_goes_left(label_of(col.values[c]));
            }
            left[n_values] = split.missing_left;
            for (uint32_t i = start; i < end; ++i) {
                put_bit(sides, node_rows[i], left[*data.code(node_rows[i], col.slot)]);
            }
        } else if (split.question != THRESHOLD) {
            mark_labels(split, col, start, end);
        } else if (col.storage == SORTED) {
            const uint32_t* entries = col.list.data() + start;
            const uint32_t n_missing = split.has_missing && split.missing_left
                                           ? split.n_left - split.n_values_left : 0;
            for (uint32_t i = start; i < end; ++i) {
                const uint32_t p = i - start;
                put_bit(sides, entries[p] & ROW,
                        p < split.n_values_left || end - i <= n_missing);
            }
        } else {
            for (uint32_t i = start; i < end; ++i) {
                const float x = data.value(node_rows[i], split.feature);
                put_bit(sides, node_rows[i], x != x ? split.missing_left : x <= split.threshold);
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
