// The cells of an accumulator's count tables.
#pragma once
#include "engine/core/cells.hpp"

namespace fasttree {

template <class Acc>
class CellsOf final : public Cells {
    using Cell = typename Acc::Cell;
    const Acc& acc_;

    template <class Code>
    void fill_tables(const uint32_t* rows, uint32_t n, const Code* codes, size_t stride,
                     const uint32_t* slots, const size_t* offsets, uint32_t n_tables,
                     char* cells) const {
        const size_t size = bytes();
        for (uint32_t i = 0; i < n; ++i) {
            const Code* row_codes = codes + rows[i] * stride;
            for (uint32_t f = 0; f < n_tables; ++f) {
                char* cell = cells + offsets[f] + row_codes[slots[f]] * size;
                acc_.fill(reinterpret_cast<Cell*>(cell), rows[i]);
            }
        }
    }

public:
    explicit CellsOf(const Acc& acc) : acc_(acc) {}

    size_t bytes() const override { return acc_.cell_size() * sizeof(Cell); }
    void fill(const uint32_t* rows, uint32_t n, const uint8_t* codes, size_t stride,
              const uint32_t* slots, const size_t* offsets, uint32_t n_tables,
              char* cells) const override {
        fill_tables(rows, n, codes, stride, slots, offsets, n_tables, cells);
    }
    void fill(const uint32_t* rows, uint32_t n, const uint32_t* codes, size_t stride,
              const uint32_t* slots, const size_t* offsets, uint32_t n_tables,
              char* cells) const override {
        fill_tables(rows, n, codes, stride, slots, offsets, n_tables, cells);
    }
    uint32_t n_rows(const char* cell) const override {
        return acc_.cell_rows(reinterpret_cast<const Cell*>(cell));
    }
    void subtract(char* table, const char* other, size_t n_bytes) const override {
        Cell* to = reinterpret_cast<Cell*>(table);
        const Cell* from = reinterpret_cast<const Cell*>(other);
        for (size_t i = 0; i < n_bytes / sizeof(Cell); ++i) to[i] -= from[i];
    }
};

}  // namespace fasttree
