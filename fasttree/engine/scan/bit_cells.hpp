// Cells of columns of two values: of the rows whose bit is set, all columns at once.
//
// Item k of the cell of bit b stands at items[k * n_bits + b], so that vectors hold neighbouring
// columns; the cell of all rows together follows. What it has more than a bit's cell is that of the
// lower value.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "engine/score/binary_gini.hpp"
#include "engine/score/classification.hpp"
#include "engine/simd/bit_rows.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// Words [first, last) of the rows.
struct BitShare {
    const BitRows& bits;
    uint32_t first, last;
};

template <class Acc>
class BitCells {
    using Cell = typename Acc::Cell;
    static constexpr bool is_binary = std::is_same_v<Acc, BinaryGini<UnitWeights>>;
    static constexpr uint32_t MOST_CLASSES = 256;

    const Acc& acc_;
    Cell* const items_;
    const size_t n_bits_, length_;

public:
    BitCells(const Acc& acc, char* cells, uint32_t n_bits)
        : acc_(acc), items_(reinterpret_cast<Cell*>(cells)), n_bits_(n_bits),
          length_(acc.cell_size()) {}

    Cell* total() const { return items_ + length_ * n_bits_; }

    void clear(uint32_t first, uint32_t last) const {
        for_each_range(first, last, [&](Cell* items, size_t n) { std::fill_n(items, n, Cell{0}); });
    }
    void subtract(uint32_t first, uint32_t last, const char* others) const {
        const Cell* from = reinterpret_cast<const Cell*>(others);
        call(acc_.t.simd, [&]() FASTTREE_INLINE {
            for_each_range(first, last, [&](Cell* items, size_t n) FASTTREE_INLINE {
                const Cell* other = from + (items - items_);
                FASTTREE_IVDEP
                for (size_t i = 0; i < n; ++i) items[i] -= other[i];
            });
        });
    }
    // Adds rows. Who has the first word also adds them to the total.
    void fill(const BitShare& share, const uint32_t* rows, uint32_t n) const {
        if (share.first == 0) {
            for (uint32_t i = 0; i < n; ++i) acc_.cell_adder(rows[i])(total());
        }
        if constexpr (counts_classes<Acc>) {
            constexpr uint32_t FEW = 2;
            if (n > FEW * static_cast<uint32_t>(n_classes())) return count(share, rows, n);
        }
        add(share, rows, n);
    }
    // Cells of the two values of a bit, and an empty one for missing values.
    void pair(uint32_t bit, Cell* out) const {
        for (size_t k = 0; k < length_; ++k) {
            const Cell high = items_[k * n_bits_ + bit];
            out[k] = total()[k] - high;
            out[length_ + k] = high;
            out[2 * length_ + k] = 0;
        }
    }

private:
    // The items of words [first, last); who has the first word also has the total.
    template <class F>
    FASTTREE_INLINE void for_each_range(uint32_t first, uint32_t last, const F& f) const {
        for (size_t k = 0; k < length_; ++k) {
            f(items_ + k * n_bits_ + first * ROW_WORD, size_t{last - first} * ROW_WORD);
        }
        if (first == 0) f(total(), length_);
    }
    int n_classes() const {
        if constexpr (is_binary) return 2;
        else return acc_.n_classes;
    }
    const uint8_t* classes() const {
        if constexpr (is_binary) return acc_.y;
        else return acc_.all_classes();
    }

    // Row by row, item by item.
    void add(const BitShare& share, const uint32_t* rows, uint32_t n) const {
        constexpr size_t FEW = 8;
        Cell few[FEW];
        std::vector<Cell> many(length_ > FEW ? length_ : 0);
        Cell* row_cell = length_ > FEW ? many.data() : few;
        call(acc_.t.simd, [&]() FASTTREE_INLINE {
            for (uint32_t i = 0; i < n; ++i) {
                const uint64_t* row = share.bits.row(rows[i]);
                std::fill_n(row_cell, length_, Cell{0});
                acc_.cell_adder(rows[i])(row_cell);
                for (size_t k = 0; k < length_; ++k) {
                    if (row_cell[k] == 0) continue;
                    Cell* sums = items_ + k * n_bits_;
                    for (uint32_t w = share.first; w < share.last; ++w) {
                        add_where_set(acc_.t.simd, row[w], row_cell[k], sums + w * ROW_WORD);
                    }
                }
            }
        });
    }
    // By class, in bytes.
    void count(const BitShare& share, const uint32_t* rows, uint32_t n) const {
        alignas(64) uint8_t counts[MOST_CLASSES * ROW_WORD];
        const uint32_t at_once = MOST_CLASSES / static_cast<uint32_t>(n_classes());
        for (uint32_t first = share.first, last; first < share.last; first = last) {
            last = std::min(share.last, first + at_once);
            const size_t width = (last - first) * ROW_WORD;
            for (uint32_t i = 0; i < n; i += MOST_IN_BYTES) {
                std::fill_n(counts, width * static_cast<size_t>(n_classes()), uint8_t{0});
                count_bits(acc_.t.simd, share.bits, first, last, rows + i,
                           std::min(n - i, MOST_IN_BYTES), classes(), counts);
                take(counts, width, items_ + first * ROW_WORD);
            }
        }
    }
    void take(const uint8_t* counts, size_t width, Cell* items) const {
        call(acc_.t.simd, [&]() FASTTREE_INLINE {
            if constexpr (is_binary) {
                const uint8_t* ones = counts + width;
                FASTTREE_IVDEP
                for (size_t b = 0; b < width; ++b) {
                    const uint64_t n_rows = uint64_t{counts[b]} + ones[b];
                    items[b] += n_rows << 32 | ones[b];
                }
            } else {
                for (int c = 0; c < n_classes(); ++c) {
                    const uint8_t* own = counts + c * width;
                    Cell* to = items + c * n_bits_;
                    FASTTREE_IVDEP
                    for (size_t b = 0; b < width; ++b) to[b] += own[b];
                }
            }
        });
    }
};

}  // namespace fasttree
