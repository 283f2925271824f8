// Dense columns that another process has encoded: its codes and lists are checked, then read where
// they lie, in a file mapped into memory for example.
//
// What passes the checks can be searched safely, whoever made it: codes are those of values that
// ascend, categories exist, a list holds every row once in the order of its column.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/columns/dense.hpp"

namespace fasttree {

// What a process hands on of its columns besides their lists.
struct BorrowedCodes {
    const uint8_t* storage;      // [n_features]
    const uint32_t* n_values;    // [n_features], distinct ones; 0: RAW
    const float* values;         // of one column after the other
    const uint8_t* codes;        // [n_rows, n_counted]
    const uint32_t* wide_codes;  // [n_rows, n_wide]
};
static_assert(is_value<BorrowedCodes>);

// Whether the categories in the cells of a column exist.
inline bool has_valid_cells(const DenseColumns& data, uint32_t feature) noexcept {
    const uint32_t n_categories = data.columns[feature].n_categories;
    if (n_categories == 0) return true;
    for (uint32_t row = 0; row < data.n_rows; ++row) {
        const uint32_t category = category_of(data.value(row, feature));
        if (category != NO_CATEGORY && category >= n_categories) return false;
    }
    return true;
}

// Gives a column its distinct values; false unless they ascend.
inline bool take_values(const float* values, uint32_t n, Column& out) {
    out.values.assign(values, values + n);
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t key = cell_key(values[i], out.has_categories());
        if (key == MISSING_KEY) return false;
        if (i > 0 && key <= cell_key(values[i - 1], out.has_categories())) return false;
        if (key < FIRST_CATEGORY_KEY) continue;
        if (category_of(values[i]) >= out.n_categories) return false;
        ++out.n_category_values;
    }
    return true;
}

// Compares the codes of all columns in a matrix with their numbers of values: one code more is that
// of missing values.
template <class Code>
bool take_largest_codes(const Code* codes, Storage storage, uint32_t n_slots, DenseColumns& out) {
    std::vector<Code> largest(n_slots);
    for (size_t row = 0; row < out.n_rows; ++row) {
        const Code* of_row = codes + row * n_slots;
        for (uint32_t s = 0; s < n_slots; ++s) largest[s] = std::max(largest[s], of_row[s]);
    }
    for (Column& col : out.columns) {
        if (col.storage != storage || out.n_rows == 0) continue;
        if (largest[col.slot] > col.values.size()) return false;
        col.has_missing = largest[col.slot] == col.values.size();
    }
    return true;
}

// Makes columns of all rows, of which nothing is made, those that were encoded; false if they
// cannot be. The arrays have the sizes that `storage` and `n_values` imply.
inline bool borrow_codes(const BorrowedCodes& from, DenseColumns& out) {
    const float* values = from.values;
    for (uint32_t f = 0; f < out.columns.size(); ++f) {
        Column& col = out.columns[f];
        col.storage = static_cast<Storage>(from.storage[f]);
        if (!has_valid_cells(out, f) || !take_values(values, from.n_values[f], col)) return false;
        values += from.n_values[f];
        if (col.storage == COUNTED) col.slot = out.n_counted++;
        else if (col.storage == WIDE) col.slot = out.n_wide++;
        else if (col.storage != RAW || from.n_values[f] != 0) return false;
    }
    out.pitch = out.n_counted;
    out.codes.borrow(from.codes, static_cast<size_t>(out.n_rows) * out.n_counted);
    out.wide_codes.borrow(from.wide_codes, static_cast<size_t>(out.n_rows) * out.n_wide);
    return take_largest_codes(from.codes, COUNTED, out.n_counted, out)
           && take_largest_codes(from.wide_codes, WIDE, out.n_wide, out);
}

// Gives a RAW column its list of all rows; false if it is none: values ascend, of equal ones the
// rows, and entries say where values differ. So no row is listed twice.
inline bool borrow_list(const uint32_t* entries, uint32_t feature, DenseColumns& out) noexcept {
    Column& col = out.columns[feature];
    if (col.storage != RAW) return false;
    uint32_t key_before = 0, row_before = 0;
    for (uint32_t i = 0; i < out.n_rows; ++i) {
        const uint32_t row = entries[i] & ROW;
        if (row >= out.n_rows) return false;
        const uint32_t key = cell_key(out.value(row, feature), col.has_categories());
        const bool differs = i > 0 && key != key_before;
        if (differs != ((entries[i] & BOUNDARY) != 0)) return false;
        if (i > 0 && (key < key_before || (!differs && row <= row_before))) return false;
        key_before = key;
        row_before = row;
    }
    col.has_missing = out.n_rows > 0 && key_before >= FIRST_CATEGORY_KEY;
    col.list.borrow(entries, out.n_rows);
    return true;
}

}  // namespace fasttree
