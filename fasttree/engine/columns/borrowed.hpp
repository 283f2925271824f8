// Dense columns that another process has encoded: its codes and lists are referred to where they
// lie, in a file mapped into memory for example, and compared with X. Bits are not: they are read
// from X again, which takes no longer than the comparison.
//
// Columns that pass `are_consistent` can be searched safely, whoever made them: cells are finite,
// missing or categories that exist; values ascend; a code is that of its cell's value; a list holds
// every row once, in the order of its column.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/columns/dense.hpp"

namespace fasttree {

// What a process hands on of its columns besides their lists.
struct BorrowedCodes {
    const uint8_t* storage;      // [n_features]
    const uint32_t* n_values;    // [n_features], distinct ones; 0: RAW, BITS
    const float* values;         // of one column after the other
    const uint8_t* codes;        // [n_rows, n_counted]
    const uint32_t* wide_codes;  // [n_rows, n_wide]
};
static_assert(is_value<BorrowedCodes>);

// Features that a thread compares together: a cache line of a row of X.
constexpr uint32_t COMPARED_TOGETHER = 16;

// Makes columns of all rows, of which nothing but bits is made, those that were encoded; false if
// they cannot be. The arrays have the sizes that `storage` and `n_values` imply.
inline bool borrow_codes(const BorrowedCodes& from, DenseColumns& out) {
    const float* values = from.values;
    for (uint32_t f = 0; f < out.columns.size(); ++f) {
        Column& col = out.columns[f];
        const uint32_t n = from.n_values[f];
        const bool is_bits = col.storage == BITS;
        if (is_bits != (from.storage[f] == BITS)) return false;
        if (is_bits) {
            if (n > 0) return false;
            continue;
        }
        col.storage = static_cast<Storage>(from.storage[f]);
        uint32_t most = 0;
        if (col.storage == COUNTED) {
            col.slot = out.n_counted++;
            most = MAX_COUNTED;
        } else if (col.storage == WIDE) {
            col.slot = out.n_wide++;
            most = out.n_rows;
        } else if (col.storage != RAW) {
            return false;
        }
        if (n > std::min(most, out.n_rows)) return false;
        col.values.assign(values, values + n);
        values += n;
    }
    out.codes.borrow(from.codes, static_cast<size_t>(out.n_rows) * out.n_counted);
    out.wide_codes.borrow(from.wide_codes, static_cast<size_t>(out.n_rows) * out.n_wide);
    return true;
}

// Whether a cell may stand in a column: finite, missing, or one of its categories.
inline bool is_valid_cell(float cell, uint32_t n_categories) {
    if (std::isinf(cell)) return false;
    const uint32_t category = category_of(cell);
    return n_categories == 0 || category == NO_CATEGORY || category < n_categories;
}

inline bool has_valid_cells(const DenseColumns& data, uint32_t feature, size_t begin, size_t end) {
    const uint32_t n_categories = data.columns[feature].n_categories;
    bool are_valid = true;
    for (size_t row = begin; row < end; ++row) {
        are_valid &= is_valid_cell(data.value(row, feature), n_categories);
    }
    return are_valid;
}

// Whether those of the column's values that stand at [begin, end) ascend. Counts categories.
inline bool has_ascending_values(Column& col, size_t begin, size_t end) {
    for (size_t i = begin; i < std::min(end, col.values.size()); ++i) {
        if (!is_valid_cell(col.values[i], col.n_categories)) return false;
        const uint32_t key = cell_key(col.values[i], col.has_categories());
        if (key == MISSING_KEY) return false;
        if (i > 0 && key <= cell_key(col.values[i - 1], col.has_categories())) return false;
        col.n_category_values += key >= FIRST_CATEGORY_KEY;
    }
    return true;
}

// Whether codes, those of a row `pitch` apart, are those of the cells; one code more than there
// are values is that of missing ones.
template <class Code>
bool has_codes_of_cells(DenseColumns& data, uint32_t feature, const Code* codes, size_t pitch,
                        size_t begin, size_t end) {
    Column& col = data.columns[feature];
    const bool has_categories = col.has_categories();
    const float* values = col.values.data();
    const size_t n_values = col.values.size();
    for (size_t row = begin; row < end; ++row) {
        const Code code = codes[row * pitch + col.slot];
        if (code > n_values) return false;
        const bool is_missing = code == n_values;
        const uint32_t key = is_missing ? MISSING_KEY : cell_key(values[code], has_categories);
        if (cell_key(data.value(row, feature), has_categories) != key) return false;
        col.has_missing |= is_missing;
    }
    return true;
}

// Whether a list of all rows is one at [begin, end): values ascend, of equal ones the rows, so that
// no row is listed twice; entries say where values differ, and hold no classes.
inline bool is_in_order(DenseColumns& data, uint32_t feature, size_t begin, size_t end) {
    Column& col = data.columns[feature];
    const auto key = [&](uint32_t row) {
        return cell_key(data.value(row, feature), col.has_categories());
    };
    uint32_t row_before = begin > 0 ? col.list[begin - 1] & ROW : 0;
    uint32_t key_before = key(row_before);
    for (size_t i = begin; i < end; ++i) {
        const uint32_t row = col.list[i] & ROW;
        if (row >= data.n_rows || (col.list[i] & CLASS_1)) return false;
        const uint32_t key_here = key(row);
        const bool differs = i > 0 && key_here != key_before;
        if (differs != ((col.list[i] & BOUNDARY) != 0)) return false;
        if (i > 0 && (key_here < key_before || (!differs && row <= row_before))) return false;
        col.has_missing |= key_here >= FIRST_CATEGORY_KEY;
        key_before = key_here;
        row_before = row;
    }
    return true;
}

// The same of whatever is stored of a column.
inline bool is_consistent(DenseColumns& data, uint32_t feature, size_t begin, size_t end) {
    Column& col = data.columns[feature];
    if (col.storage == RAW || col.storage == BITS) {
        return has_valid_cells(data, feature, begin, end)
               && (col.list.get() == nullptr || is_in_order(data, feature, begin, end));
    }
    if (!has_ascending_values(col, begin, end)) return false;
    return col.storage == COUNTED
        ? has_codes_of_cells(data, feature, data.codes.get(), data.n_counted, begin, end)
        : has_codes_of_cells(data, feature, data.wide_codes.get(), data.n_wide, begin, end);
}

// Whether features [first, last) are what encoding X would make of them, as far as a step of the
// rows tells; those before it did.
inline bool are_consistent(DenseColumns& data, uint32_t first, uint32_t last, uint32_t step,
                           uint32_t n_steps) noexcept {
    constexpr size_t BLOCK = 256;
    const size_t step_end = data.step_begin(0, step + 1, n_steps);
    for (size_t begin = data.step_begin(0, step, n_steps); begin < step_end; begin += BLOCK) {
        const size_t end = std::min(begin + BLOCK, step_end);
        for (uint32_t f = first; f < last; ++f) {
            if (!is_consistent(data, f, begin, end)) return false;
        }
    }
    return true;
}

}  // namespace fasttree
