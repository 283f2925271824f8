// The cells of an accumulator's count tables.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/cells.hpp"
#include "engine/scan/bit_cells.hpp"
#include "engine/scan/code_series.hpp"
#include "engine/score/accumulator.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

template <class Acc>
class CellsOf final : public Cells {
    using Cell = typename Acc::Cell;
    const Acc& acc_;

    template <class Code>
    void fill_tables(const uint32_t* rows, uint32_t n, const Code* codes, size_t stride,
                     const CountedFeature* features, uint32_t n_features, char* cells) const {
        if constexpr (has_row_cells<Acc>::value) {
            if (acc_.with_row_cells()) {
                return call(acc_.t.simd, [&]() FASTTREE_INLINE {
                    fill_by_row_cells(rows, n, codes, stride, features, n_features, cells);
                });
            }
        }
#if FASTTREE_X86
        if constexpr (counts_classes<Acc> && sizeof(Code) == 1) {
            if (CodeSeries<Acc>::pays(n_features) && CodeSeries<Acc>::pays(acc_, n)) {
                return fill_in_series(rows, n, codes, stride, features, n_features, cells);
            }
        }
#endif
        fill_row_by_row(rows, n, codes, stride, features, n_features, cells);
    }
#if FASTTREE_X86
    // Features are taken together whose codes are within 64 bytes. Where rows do not come in
    // series, these are looked for again some rows later.
    void fill_in_series(const uint32_t* rows, uint32_t n, const uint8_t* codes, size_t stride,
                        const CountedFeature* features, uint32_t n_features, char* cells) const {
        constexpr uint32_t LATER = 1 << 10;
        for (uint32_t n_within; n_features > 0; features += n_within, n_features -= n_within) {
            n_within = CodeSeries<Acc>::n_within(features, n_features);
            if (!CodeSeries<Acc>::pays(n_within)) {
                fill_row_by_row(rows, n, codes, stride, features, n_within, cells);
                continue;
            }
            CodeSeries<Acc> series(acc_, codes, stride, features, n_within, cells);
            for (uint32_t i = 0; i < n;) {
                i += series.count(rows + i, n - i);
                const uint32_t n_others = std::min(n - i, LATER);
                fill_row_by_row(rows + i, n_others, codes, stride, features, n_within, cells);
                i += n_others;
            }
        }
    }
#endif
    template <class Code>
    void fill_row_by_row(const uint32_t* rows, uint32_t n, const Code* codes, size_t stride,
                         const CountedFeature* features, uint32_t n_features, char* cells) const {
        const auto adder = [&](uint32_t row) {
            return [size = bytes(), row_codes = codes + row * stride,
                    add = acc_.cell_adder(row)](char* table, uint32_t slot) {
                add(reinterpret_cast<Cell*>(table + row_codes[slot] * size));
            };
        };
        // Four rows at a time where cells are single numbers, else two, for which there are
        // registers: they share what is read of a table, and wait less for one another.
        const auto add_rows = [&](const auto&... add) FASTTREE_INLINE {
            for (uint32_t f = 0; f < n_features; ++f) {
                const CountedFeature feature = features[f];
                (add(cells + feature.offset, feature.slot), ...);
            }
        };
        uint32_t i = 0;
        if constexpr (counts_classes<Acc>) {
            for (; i + 4 <= n; i += 4) {
                add_rows(adder(rows[i]), adder(rows[i + 1]), adder(rows[i + 2]),
                         adder(rows[i + 3]));
            }
        }
        for (; i + 2 <= n; i += 2) add_rows(adder(rows[i]), adder(rows[i + 1]));
        if (i < n) add_rows(adder(rows[i]));
    }
    // The same for cells of many numbers: the cell of the row alone is added to all.
    template <class Code>
    FASTTREE_INLINE void fill_by_row_cells(const uint32_t* rows, uint32_t n, const Code* codes,
                                           size_t stride, const CountedFeature* features,
                                           uint32_t n_features, char* cells) const {
        const size_t length = acc_.cell_size(), size = bytes();
        std::vector<Cell> row_cell(length);
        for (uint32_t i = 0; i < n; ++i) {
            std::fill(row_cell.begin(), row_cell.end(), Cell{0});
            acc_.cell_adder(rows[i])(row_cell.data());
            const Code* row_codes = codes + rows[i] * stride;
            for (uint32_t f = 0; f < n_features; ++f) {
                const CountedFeature feature = features[f];
                char* cell = cells + feature.offset + row_codes[feature.slot] * size;
                add_all(row_cell.data(), reinterpret_cast<Cell*>(cell), length);
            }
        }
    }

public:
    explicit CellsOf(const Acc& acc) : acc_(acc) {}

    int n_outputs() const override { return acc_.t.n_outputs; }
    size_t bytes() const override { return acc_.cell_size() * sizeof(Cell); }
    void fill(const uint32_t* rows, uint32_t n, const uint8_t* codes, size_t stride,
              const CountedFeature* features, uint32_t n_features, char* cells) const override {
        fill_tables(rows, n, codes, stride, features, n_features, cells);
    }
    void fill(const uint32_t* rows, uint32_t n, const uint32_t* codes, size_t stride,
              const CountedFeature* features, uint32_t n_features, char* cells) const override {
        fill_tables(rows, n, codes, stride, features, n_features, cells);
    }
    uint32_t n_rows(const char* cell) const override {
        return acc_.cell_rows(reinterpret_cast<const Cell*>(cell));
    }
    size_t bit_bytes(uint32_t n_bits) const override { return (n_bits + size_t{1}) * bytes(); }
    void clear_bits(uint32_t n_bits, uint32_t first, uint32_t last, char* cells) const override {
        BitCells<Acc>(acc_, cells, n_bits).clear(first, last);
    }
    void fill_bits(const BitRows& bits, uint32_t first, uint32_t last, const uint32_t* rows,
                   uint32_t n, char* cells) const override {
        BitCells<Acc>(acc_, cells, bits.n_bits()).fill({bits, first, last}, rows, n);
    }
    void subtract_bits(uint32_t n_bits, uint32_t first, uint32_t last, const char* others,
                       char* cells) const override {
        BitCells<Acc>(acc_, cells, n_bits).subtract(first, last, others);
    }
    void pair(const char* cells, uint32_t n_bits, uint32_t bit, char* out) const override {
        const BitCells<Acc> all(acc_, const_cast<char*>(cells), n_bits);
        all.pair(bit, reinterpret_cast<Cell*>(out));
    }
    void add(char* table, const char* other, size_t n_bytes) const override {
        for_each_cell(table, other, n_bytes, [](Cell& to, Cell from) { to += from; });
    }
    void subtract(char* table, const char* other, size_t n_bytes) const override {
        for_each_cell(table, other, n_bytes, [](Cell& to, Cell from) { to -= from; });
    }

private:
    template <class F>
    void for_each_cell(char* table, const char* other, size_t n_bytes, const F& f) const {
        Cell* to = reinterpret_cast<Cell*>(table);
        const Cell* from = reinterpret_cast<const Cell*>(other);
        call(acc_.t.simd, [&]() FASTTREE_INLINE {
            FASTTREE_IVDEP
            for (size_t i = 0; i < n_bytes / sizeof(Cell); ++i) f(to[i], from[i]);
        });
    }
};

}  // namespace fasttree
