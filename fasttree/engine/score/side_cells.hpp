// Cells of the rows on one side of a node, for accumulators that read count tables.
//
// Targets are kept in the order of the sample's rows and divided with them, so that a side is
// counted in vectors, without a look at a row. `SideCells` holds those of the subtree being grown:
//     open       takes the targets of the rows at positions [start, end)
//     fill       the cell of a node's rows that go left; of all, with `left` null
//     divide     moves what is on the left to the front
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/score/binary_gini.hpp"
#include "engine/score/chi_square.hpp"
#include "engine/score/classification.hpp"
#include "engine/score/regression.hpp"
#include "engine/score/side_counts.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

// By default there are none: rows are added to the accumulator one by one.
template <class Acc>
struct SideCells {
    static constexpr bool exists = false;
};

// What every kind holds: an item per row of the subtree.
template <class Item>
class SideItems {
    AlignedBuffer<Item> items_, scratch_;
    uint32_t begin_ = 0;  // position of the first

public:
    const Item* at(uint32_t start) const { return items_.get() + (start - begin_); }
    void open(const Item* of_row, const uint32_t* rows, uint32_t start, uint32_t end) {
        const uint32_t n = end - start;
        items_.reserve(n + SIDE_PADDING);
        scratch_.reserve(n + SIDE_PADDING);
        begin_ = start;
        for (uint32_t i = 0; i < n; ++i) items_[i] = of_row[rows[start + i]];
    }
    void divide(Simd simd, uint32_t start, uint32_t n, const uint64_t* left) {
        divide_items(simd, items_.get() + (start - begin_), n, left, scratch_.get());
    }
};

template <>
struct SideCells<BinaryGini<UnitWeights>> : SideItems<uint8_t> {
    using Acc = BinaryGini<UnitWeights>;
    static constexpr bool exists = true;

    void open(const Acc& acc, const uint32_t* rows, uint32_t start, uint32_t end) {
        SideItems::open(acc.y, rows, start, end);
    }
    void fill(const Acc& acc, uint32_t start, uint32_t n, const uint64_t* left, uint32_t n_side,
              uint64_t* cell) const {
        cell[0] = (uint64_t{n_side} << 32) + count_ones(acc.t.simd, at(start), n, left);
    }
};

template <class Acc>
class ClassSideCells : public SideItems<uint8_t> {
    static constexpr uint32_t MOST_CLASSES = 256;  // of a byte
    uint8_t which_[MOST_CLASSES];                  // classes that the node has

    // Of the node that the accumulator holds; of any, where it holds none yet.
    uint32_t list_classes(const Acc& acc, bool holds_node) {
        uint32_t n = 0;
        for (int c = 0; c < acc.stride; ++c) {
            which_[n] = static_cast<uint8_t>(c);
            n += !holds_node || acc.total[c] != 0;
        }
        return n;
    }

public:
    static constexpr bool exists = true;

    void open(const Acc& acc, const uint32_t* rows, uint32_t start, uint32_t end) {
        SideItems<uint8_t>::open(acc.y, rows, start, end);
    }
    void fill(const Acc& acc, uint32_t start, uint32_t n, const uint64_t* left, uint32_t n_side,
              int32_t* cell) {
        std::fill_n(cell, acc.stride, 0);
        const uint32_t n_which = list_classes(acc, left != nullptr);
        count_side(acc.t.simd, at(start), n, left, n_side, which_, n_which, cell);
    }
};
template <>
struct SideCells<Gini<UnitWeights, uint8_t, true>>
    : ClassSideCells<Gini<UnitWeights, uint8_t, true>> {};
template <>
struct SideCells<Entropy<UnitWeights, uint8_t, true>>
    : ClassSideCells<Entropy<UnitWeights, uint8_t, true>> {};
template <>
struct SideCells<ChiSquare<UnitWeights, uint8_t, true>>
    : ClassSideCells<ChiSquare<UnitWeights, uint8_t, true>> {};

template <class Acc>
struct SumSideCells : SideItems<int64_t> {
    static constexpr bool exists = true;

    void open(const Acc& acc, const uint32_t* rows, uint32_t start, uint32_t end) {
        SideItems::open(acc.t.sums, rows, start, end);
    }
    void fill(const Acc& acc, uint32_t start, uint32_t n, const uint64_t* left, uint32_t n_side,
              int64_t* cell) const {
        cell[0] = n_side;
        cell[1] = sum_side(acc.t.simd, at(start), n, left);
    }
};
template <>
struct SideCells<SquaredError<UnitWeights, true>> : SumSideCells<SquaredError<UnitWeights, true>> {
};
template <>
struct SideCells<Poisson<UnitWeights, true>> : SumSideCells<Poisson<UnitWeights, true>> {};

}  // namespace fasttree
