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
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "../utils/_bits.hpp"
#include "../utils/_simd.hpp"
#include "../utils/_sorting.hpp"
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
    std::vector<float> values;       // COUNTED, WIDE: distinct, ascending; missing has the code after
    uint32_t n_labels = 0;           // of them labels, at the end
    bool has_missing = false;        // COUNTED, WIDE, SORTED
    std::vector<uint32_t> list;      // SORTED

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

    // Makes the column COUNTED if its values are few; decided in one hashing pass that stops
    // at the first value too many.
    void find_distinct(uint32_t feature) {
        constexpr uint32_t SLOTS = 4 * MAX_COUNTED;
        uint32_t keys[SLOTS];
        std::fill(keys, keys + SLOTS, MISSING_KEY);
        Column& col = columns[feature];
        std::vector<uint32_t> found;
        uint32_t previous = MISSING_KEY;
        for (uint32_t row : rows) {
            const uint32_t key = cell_key(value(row, feature), col.with_labels());
            if (key == previous) {
                col.has_missing |= key == MISSING_KEY;
                continue;
            }
            previous = key;
            if (key == MISSING_KEY) {
                col.has_missing = true;
                continue;
            }
            uint32_t slot = key * 0x9e3779b1u >> 22;  // top 10 bits
            while (keys[slot] != key && keys[slot] != MISSING_KEY) slot = (slot + 1) % SLOTS;
            if (keys[slot] == key) continue;
            if (found.size() + 1 >= MAX_COUNTED) return;  // one code is kept for missing
            keys[slot] = key;
            found.push_back(key);
        }
        std::sort(found.begin(), found.end());
        for (uint32_t key : found) append_value(col, key);
        col.storage = COUNTED;
    }

    // Gives the COUNTED and WIDE columns their slots and makes room for their codes.
    void allocate_codes() {
        for (Column& col : columns) {
            if (col.storage == COUNTED) col.slot = n_counted++;
            if (col.storage == WIDE) col.slot = n_wide++;
        }
        codes.resize(static_cast<size_t>(n_rows) * n_counted);
        wide_codes.resize(static_cast<size_t>(n_rows) * n_wide);
    }
    // Writes the codes of a COUNTED or WIDE column.
    void encode(uint32_t feature) {
        const uint32_t slot = columns[feature].slot;
        if (columns[feature].storage == COUNTED) encode_to(feature, codes.data() + slot, n_counted);
        if (columns[feature].storage == WIDE) encode_to(feature, wide_codes.data() + slot, n_wide);
    }

    // Makes a SORTED column WIDE.
    void widen(uint32_t feature) {
        Column& col = columns[feature];
        for (size_t i = 0; i < col.list.size(); ++i) {
            if (i > 0 && !(col.list[i] & BOUNDARY)) continue;
            const uint32_t key = cell_key(value(col.list[i] & ROW, feature), col.with_labels());
            if (key != MISSING_KEY) append_value(col, key);
        }
        col.list = {};
        col.storage = WIDE;
    }

    // Makes the column SORTED. `items` and `scratch` hold rows.size() items.
    void sort(uint32_t feature, uint64_t* items, uint64_t* scratch) {
        Column& col = columns[feature];
        col.list.resize(rows.size());
        col.has_missing = sort_rows(feature, rows.data(), static_cast<uint32_t>(rows.size()),
                                    items, scratch, col.list.data()) > 0;
        col.storage = SORTED;
    }

    // Entries of the given rows in ascending order of the feature; returns how many are not
    // numbers.
    uint32_t sort_rows(uint32_t feature, const uint32_t* node_rows, uint32_t n, uint64_t* items,
                       uint64_t* scratch, uint32_t* entries) const {
        const bool with_labels = columns[feature].with_labels();
        const uint32_t first_other = with_labels ? FIRST_LABEL_KEY : MISSING_KEY;
        const float* x = column(feature);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t row = node_rows[i];
            const float cell = x[static_cast<ptrdiff_t>(row) * row_stride];
            items[i] = pack(cell_key(cell, with_labels), row);
        }
        const uint64_t* sorted = sort_by_key(items, scratch, n);
        uint32_t previous = key_of(sorted[0]), n_missing = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t key = key_of(sorted[i]);
            entries[i] = payload_of(sorted[i]) | (key != previous ? BOUNDARY : 0);
            n_missing += key >= first_other;
            previous = key;
        }
        return n_missing;
    }

private:
    static void append_value(Column& col, uint32_t key) {
        col.values.push_back(key_cell(key));
        col.n_labels += key >= FIRST_LABEL_KEY;
    }

    template <class Code>
    void encode_to(uint32_t feature, Code* out, uint32_t stride) const {
        const Column& col = columns[feature];
        const auto first = col.values.begin(), last = first + col.n_numbers();
        const Code missing = static_cast<Code>(col.values.size());
        const std::vector<Code> code_of_label = label_codes<Code>(col);
        float previous = std::numeric_limits<float>::quiet_NaN();
        Code code = 0;
        for (uint32_t row : rows) {
            const float x = value(row, feature);
            if (x != x) {
                const uint32_t label = col.with_labels() ? label_of(x) : NO_LABEL;
                out[static_cast<size_t>(row) * stride] =
                    label == NO_LABEL ? missing : code_of_label[label];
                continue;
            }
            if (x != previous) {
                code = static_cast<Code>(std::lower_bound(first, last, x) - first);
                previous = x;
            }
            out[static_cast<size_t>(row) * stride] = code;
        }
    }
    // Codes of the labels among a column's values.
    template <class Code>
    static std::vector<Code> label_codes(const Column& col) {
        std::vector<Code> codes_(col.n_categories);
        for (size_t c = col.n_numbers(); c < col.values.size(); ++c) {
            const uint32_t label = label_of(col.values[c]);
            if (label < col.n_categories) codes_[label] = static_cast<Code>(c);
        }
        return codes_;
    }
};

// Scratch of one thread.
class DenseWorkspace {
public:
    DenseData& data;
    const Simd simd;
    std::vector<uint32_t> go_left;       // bits, of the node split last
    std::vector<uint32_t> scratch;       // entries
    std::vector<uint64_t> items[2];      // for sorting in the node
    std::vector<uint8_t> listed;         // by label, all 0 between splits

    DenseWorkspace(DenseData& data_, Simd simd_)
        : data(data_), simd(simd_), go_left(make_bits(data_.n_rows)),
          scratch(data_.rows.size() + PADDING) {}

    // A feature of the node in ascending order.
    Runs runs(uint32_t feature, uint32_t start, uint32_t end) {
        const Column& col = data.columns[feature];
        Runs out;
        out.n = end - start;
        out.column = data.column(feature);
        out.stride = data.row_stride;
        out.entries = scratch.data();
        if (col.storage == SORTED) {
            out.entries = col.list.data() + start;
            out.n_missing = col.has_missing ? count_missing(out) : 0;
        } else if (col.storage == COUNTED) {
            counting_sort(col, start, end, out);
            return out;
        } else {
            items[0].resize(std::max<size_t>(items[0].size(), out.n));
            items[1].resize(items[0].size());
            out.n_missing = data.sort_rows(feature, data.rows.data() + start, out.n,
                                           items[0].data(), items[1].data(), scratch.data());
        }
        if (col.with_labels()) out.n_labelled = count_labelled(out);
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
    static uint32_t count_labelled(const Runs& runs) {
        uint32_t low = runs.n - runs.n_missing, high = runs.n;  // labels before low
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (label_of(runs.value(middle)) == NO_LABEL) high = middle;
            else low = middle + 1;
        }
        return low - (runs.n - runs.n_missing);
    }

    // The node's rows by code into `scratch`; O(n), whatever the number of codes.
    void counting_sort(const Column& col, uint32_t start, uint32_t end, Runs& out) {
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
        const uint32_t n_values = static_cast<uint32_t>(col.values.size());
        const bool missing = seen[n_values / 64] >> n_values % 64 & 1;
        out.n_missing = sum - rows_of_numbers;
        out.n_labelled = (missing ? counts[n_values] : sum) - rows_of_numbers;
        for (uint32_t i = start; i < end; ++i) {
            const uint8_t code = *data.code(node_rows[i], col.slot);
            uint64_t& word = seen[code / 64];
            const uint64_t bit = uint64_t{1} << code % 64;
            scratch[counts[code]++] = node_rows[i] | (word & bit ? BOUNDARY : 0);
            word &= ~bit;  // the first of its run only
        }
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
            const uint32_t n_missing = split.has_missing && split.missing_left
                                           ? split.n_left - split.n_values_left : 0;
            for (uint32_t i = start; i < end; ++i) {
                const uint32_t p = i - start;
                put_bit(sides, col.list[i] & ROW,
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
