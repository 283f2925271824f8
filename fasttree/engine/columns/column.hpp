// One column of a dense matrix, as its search strategy reads it:
//   COUNTED  few distinct values: uint8 codes, row-major over all such columns, so that one
//            cache line serves a row, or by column for searches by keys;
//   BITS     two values, if many columns are of two: a bit each, likewise;
//   WIDE     the same with uint32 codes, for strategy="count";
//   RAW      many: values as they are, and, if lists are asked for, a list of the rows in
//            ascending order: numbers, categories, missing values;
//   BUCKETED many, for searches by keys: a byte per row says in which bucket its value is. Values
//            are read where those of a row are side by side, in X or a copy.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "engine/columns/buckets.hpp"
#include "engine/core/runs.hpp"
#include "engine/simd/interleave.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

// Cell of row r: first[r * stride].
struct ColumnCells {
    const float* first;
    ptrdiff_t stride;
    float operator[](uint32_t row) const {
        return first[static_cast<ptrdiff_t>(row) * stride];
    }
};

constexpr uint32_t MAX_COUNTED = 256;  // codes of a COUNTED column, missing included

enum Storage : uint8_t { RAW, COUNTED, WIDE, BUCKETED, BITS };

struct Column {
    Storage storage = RAW;
    uint32_t place = 0;              // of its cells in X
    uint32_t slot = 0;               // in its code matrix; BUCKETED: in `cells`; BITS: the bit
    std::unique_ptr<Buckets> buckets;  // BUCKETED
    uint32_t n_categories = 0;       // categories the column may hold
    std::vector<float> values;  // coded: distinct, ascending; missing has the code after
    uint32_t n_category_values = 0;           // of them categories, at the end
    bool has_missing = false;        // not known of RAW columns without a list
    bool keeps_codes = false;        // in `narrow`
    bool is_grouped = false;         // its codes are in groups of columns, at `slot`
    bool is_bit = false;             // two numbers, its bit is number `slot` of `drawn_bits`
    AlignedBuffer<uint32_t> list;    // RAW: entries of the encoded rows, if they are listed
    bool has_keys = false;           // `list` holds the keys of the rows still, in their order
    // Codes of the encoded rows, in `DenseColumns::code_blocks`, or the column's own if rows are
    // few, until they are interleaved, or longer: `DenseColumns::code_parts`. By row of X where
    // they are kept: for keys and questions that are drawn. BUCKETED: buckets, by row.
    AlignedBuffer<uint8_t> narrow;
    AlignedBuffer<float> copy;       // RAW: its cells side by side, where X has them far apart
    std::vector<uint8_t> rank;       // [part, code in `narrow`], among the values
    AlignedBuffer<uint32_t> wide;

    bool has_categories() const noexcept { return n_categories > 0; }
    // Whether rows have codes, or bits, that questions are drawn about.
    bool has_codes_of_rows() const noexcept { return is_grouped || is_bit || keeps_codes; }
    bool is_plain() const noexcept { return !has_missing && n_categories == 0; }
    // Values that codes tell apart: none of RAW, BITS.
    size_t n_coded() const { return storage == BITS ? 0 : values.size(); }
    // Of a COUNTED column, what becomes of the codes in `narrow` of a part of the rows.
    CodedColumn codes_of_part(uint32_t part) const {
        return {narrow.get(), rank.data() + part * MAX_COUNTED};
    }
    // Whether its values, or a list of all n rows, by which cells are read then, tell that these
    // are finite numbers.
    bool is_finite(const ColumnCells& cells, uint32_t n) const noexcept {
        if (!is_plain()) return false;
        if (!values.empty()) return std::isfinite(values.front()) && std::isfinite(values.back());
        return list.get() != nullptr && !has_keys && std::isfinite(cells[list[0] & ROW])
               && std::isfinite(cells[list[n - 1] & ROW]);
    }
    // Makes a COUNTED column RAW.
    void release_codes() {
        narrow.release();
        rank = std::vector<uint8_t>();
        storage = RAW;
    }
    // Adds the next key of its cells.
    void append(uint32_t key) {
        if (key == MISSING_KEY) {
            has_missing = true;
        } else {
            values.push_back(key_cell(key));
            n_category_values += key >= FIRST_CATEGORY_KEY;
        }
    }
    // Makes the column BITS, of two values, numbers or categories.
    void take_bit(uint32_t bit, float low, float high) {
        storage = BITS;
        slot = bit;
        values = {low, high};
        n_category_values = low == low ? 0 : 2;
    }
    // Makes the column COUNTED. The codes of n rows, MAX_COUNTED at most, follow from their keys,
    // which are sorted with the places of the rows.
    void take_codes(const uint64_t* sorted, uint32_t n) {
        uint32_t keys[MAX_COUNTED];  // distinct
        uint32_t code = 0;
        for (uint32_t i = 0; i < n; ++i) {  // no branch: it would be a coin toss
            code += i > 0 && key_of(sorted[i]) != key_of(sorted[i - 1]);
            keys[code] = key_of(sorted[i]);
            narrow[payload_of(sorted[i])] = static_cast<uint8_t>(code);
        }
        const uint32_t n_codes = n > 0 ? code + 1 : 0;
        values.reserve(n_codes);
        rank.resize(MAX_COUNTED);
        for (uint32_t c = 0; c < n_codes; ++c) {
            rank[c] = static_cast<uint8_t>(c);
            append(keys[c]);
        }
        storage = COUNTED;
    }
    // The same of any number of rows, whose codes in each part are in the order in which
    // found(part) came to know the values; the first part learns those of the others. The column
    // becomes RAW if these, or their bit patterns, are too many.
    template <class Found>
    void merge_codes(uint32_t n_parts, const Found& found) {
        rank.resize(n_parts * MAX_COUNTED);
        std::iota(rank.begin(), rank.begin() + MAX_COUNTED, uint8_t{0});
        for (uint32_t part = 1; part < n_parts && !found(0).too_many; ++part) {
            if (found(part).too_many) return release_codes();
            found(0).learn(found(part).keys, has_categories(), MAX_COUNTED,
                           rank.data() + part * MAX_COUNTED);
        }
        if (found(0).too_many) return release_codes();
        storage = COUNTED;
        const std::vector<uint32_t>& keys = found(0).keys;
        uint64_t sorted[MAX_COUNTED];  // keys and their codes
        uint8_t place[MAX_COUNTED] = {};
        const uint32_t n = static_cast<uint32_t>(keys.size());
        for (uint32_t c = 0; c < n; ++c) sorted[c] = pack(keys[c], c);
        std::sort(sorted, sorted + n);
        for (uint32_t i = 0; i < n; ++i) {
            append(key_of(sorted[i]));
            place[payload_of(sorted[i])] = static_cast<uint8_t>(i);
        }
        for (uint8_t& code : rank) code = place[code];
    }
    uint32_t n_numbers() const { return static_cast<uint32_t>(values.size()) - n_category_values; }
};

}  // namespace fasttree
