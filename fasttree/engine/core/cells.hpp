// Statistics of the rows of one value, as count tables keep them (superfast selection).
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/simd/bit_rows.hpp"

namespace fasttree {

// Where a feature has its table among all cells, and its code among those of a row; no two have
// the same.
struct CountedFeature {
    size_t offset;  // of its table, in bytes
    uint32_t slot;  // of its code among those of a row
};

class Cells {
public:
    virtual ~Cells() = default;
    // Bytes of a distinct value's cell.
    virtual size_t bytes() const = 0;
    virtual int n_outputs() const = 0;
    // Adds rows to the tables of features: row r falls in the cell number codes[r * stride + slot].
    virtual void fill(const uint32_t* rows, uint32_t n, const uint8_t* codes, size_t stride,
                      const CountedFeature* features, uint32_t n_features, char* cells) const = 0;
    virtual void fill(const uint32_t* rows, uint32_t n, const uint32_t* codes, size_t stride,
                      const CountedFeature* features, uint32_t n_features, char* cells) const = 0;
    virtual uint32_t n_rows(const char* cell) const = 0;
    // Of columns of two values (scan/bit_cells.hpp): bytes of the cells of n_bits of them; sets
    // those in words [first, last) to zero; adds rows to them; subtracts others; copies the cells
    // of a bit's two values, and an empty one.
    virtual size_t bit_bytes(uint32_t n_bits) const = 0;
    virtual void clear_bits(uint32_t n_bits, uint32_t first, uint32_t last, char* cells) const = 0;
    virtual void fill_bits(const BitRows& bits, uint32_t first, uint32_t last,
                           const uint32_t* rows, uint32_t n, char* cells) const = 0;
    virtual void subtract_bits(uint32_t n_bits, uint32_t first, uint32_t last, const char* others,
                               char* cells) const = 0;
    virtual void pair(const char* cells, uint32_t n_bits, uint32_t bit, char* out) const = 0;
    // table += other and table -= other, both of n_bytes.
    virtual void add(char* table, const char* other, size_t n_bytes) const = 0;
    virtual void subtract(char* table, const char* other, size_t n_bytes) const = 0;
};

}  // namespace fasttree
