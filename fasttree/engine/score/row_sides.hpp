// Sides of a node of few rows, which are masks: the scores of `score/*.hpp` to the last bit.
//     open       takes the targets of the rows
//     begin      a node
//     score      of the question that sends some of its rows left
//     take       statistics and value of a node
//     hold       makes an accumulator hold a node, of whose rows the targets are returned
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/score/binary_gini.hpp"
#include "engine/score/classification.hpp"
#include "engine/score/regression.hpp"
#include "engine/simd/row_lanes.hpp"
#include "engine/simd/row_lanes_avx2.hpp"

namespace fasttree {

// By default there are none, and nodes are split one by one.
template <class Acc, Simd simd>
struct RowSides {
    static constexpr bool exists = false;
};

FASTTREE_INLINE inline uint32_t n_rows_of(uint64_t rows) {
    return static_cast<uint32_t>(__builtin_popcountll(rows));
}

template <Simd simd>
class RowSides<BinaryGini<UnitWeights>, simd> {
    using Acc = BinaryGini<UnitWeights>;
    using Lanes = RowLanes<simd>;
    using Mask = typename Lanes::Mask;
    Mask ones_ = 0;
    uint8_t classes_[Lanes::ROWS], picked_[Lanes::ROWS];
    int64_t total_ = 0, n_ = 0;  // of the node

    int64_t count(Mask rows) const { return n_rows_of(rows & ones_); }

public:
    static constexpr bool exists = true;

    FASTTREE_INLINE void open(const uint8_t* classes, const uint32_t*, Mask rows) {
        std::copy_n(classes, n_rows_of(rows), classes_);
        ones_ = Lanes::not_zero(classes_, rows);
    }
    void begin(Mask rows) {
        n_ = n_rows_of(rows);
        total_ = count(rows);
    }
    FASTTREE_INLINE const uint8_t* hold(Acc& acc, Mask rows) {
        const uint64_t cell = (uint64_t{n_rows_of(rows)} << 32) + n_rows_of(rows & ones_);
        acc.begin_cell(&cell);
        Lanes::pick(classes_, rows, picked_);
        return picked_;
    }
    double score(Mask left, Mask, uint32_t n_left) const {
        return separation<int64_t>(count(left), n_left, total_, n_);
    }
    void take(Acc& acc, Mask rows, NodeStats& stats, double* value) const {
        const uint64_t cell = (uint64_t{n_rows_of(rows)} << 32) + count(rows);
        acc.begin_cell(&cell);
        acc.node_stats(nullptr, 0, stats);
        acc.node_value(value);
    }
};

// The rows of a block by class.
template <Simd simd>
class AlikeRows {
    using Lanes = RowLanes<simd>;
    using Mask = typename Lanes::Mask;
    alignas(64) Mask alike_[Lanes::ROWS];  // of each row those of its class
    // Of the node: its rows by class, but for rows that are alone in theirs.
    Mask by_class_[Lanes::ROWS / 2], alone_ = 0;
    uint32_t n_classes_ = 0;

public:
    FASTTREE_INLINE void open(const uint8_t* classes, Mask rows) {
        Lanes::alike(classes, rows, alike_);
    }
    Mask of(int row) const { return alike_[row]; }

    FASTTREE_INLINE void begin(Mask rows) {
        n_classes_ = alone_ = 0;
        for (Mask rest = rows; rest != 0;) {
            const Mask own = alike_[lowest_bit(rest)] & rows;
            const bool is_alone = (own & (own - 1)) == 0;
            by_class_[n_classes_] = own;  // there are two rows for each before
            n_classes_ += !is_alone;
            alone_ |= is_alone ? own : 0;
            rest &= ~own;
        }
    }
    // The sums of the squared class counts on either side.
    FASTTREE_INLINE void sum_squares(Mask left, Mask right, int64_t& squares_left,
                                     int64_t& squares_right) const {
        uint32_t squares[] = {n_rows_of(alone_ & left), n_rows_of(alone_ & right)};
        for (uint32_t i = 0; i < n_classes_; ++i) {
            const uint32_t l = n_rows_of(by_class_[i] & left), r = n_rows_of(by_class_[i] & right);
            squares[0] += l * l;
            squares[1] += r * r;
        }
        squares_left = squares[0];
        squares_right = squares[1];
    }
};
#if FASTTREE_X86
template <>
class AlikeRows<SIMD_AVX512> {
    using Lanes = RowLanes<SIMD_AVX512>;
    using Mask = Lanes::Mask;
    alignas(64) Mask alike_[Lanes::ROWS];

public:
    FASTTREE_INLINE void open(const uint8_t* classes, Mask rows) {
        Lanes::alike(classes, rows, alike_);
    }
    Mask of(int row) const { return alike_[row]; }
    void begin(uint32_t) {}
    FASTTREE_INLINE void sum_squares(Mask left, Mask right, int64_t& squares_left,
                                     int64_t& squares_right) const {
        Lanes::sum_squares(alike_, left, right, squares_left, squares_right);
    }
};
#endif

template <Simd simd>
class RowSides<Gini<UnitWeights, uint8_t, true>, simd> {
    using Acc = Gini<UnitWeights, uint8_t, true>;
    using Lanes = RowLanes<simd>;
    using Mask = typename Lanes::Mask;
    AlikeRows<simd> alike_rows_;
    uint8_t classes_[Lanes::ROWS], picked_[Lanes::ROWS];
    std::vector<int32_t> cell_;

public:
    static constexpr bool exists = true;

    FASTTREE_INLINE void open(const uint8_t* classes, const uint32_t*, Mask rows) {
        std::copy_n(classes, n_rows_of(rows), classes_);
        alike_rows_.open(classes_, rows);
    }
    FASTTREE_INLINE void begin(Mask rows) { alike_rows_.begin(rows); }
    FASTTREE_INLINE const uint8_t* hold(Acc& acc, Mask rows) {
        const uint32_t n = n_rows_of(rows);
        Lanes::pick(classes_, rows, picked_);
        cell_.assign(acc.cell_size(), 0);
        for (uint32_t i = 0; i < n; ++i) ++cell_[picked_[i]];
        acc.begin_cell(cell_.data());
        return picked_;
    }
    FASTTREE_INLINE double score(Mask left, Mask right, uint32_t n_left) const {
        int64_t squares_left, squares_right;
        alike_rows_.sum_squares(left, right, squares_left, squares_right);
        return to_double(squares_left) / n_left + to_double(squares_right) / n_rows_of(right);
    }
    FASTTREE_INLINE void take(const Acc& acc, Mask rows, NodeStats& stats,
                              double* value) const {
        const uint32_t n = n_rows_of(rows);
        int64_t squares = 0;
        std::fill_n(value, acc.n_classes, 0.0);
        for (Mask rest = rows; rest != 0;) {
            const int row = lowest_bit(rest);
            const Mask own = alike_rows_.of(row) & rows;
            const int64_t count = n_rows_of(own);
            value[classes_[row]] = to_double(count) / n;
            squares += count * count;
            rest &= ~own;
        }
        stats.weight = n * acc.t.weight_unit;
        stats.impurity = gini(to_double(squares), n);
        stats.pure = squares == int64_t{n} * n;
    }
};

template <Simd simd>
class RowSides<SquaredError<UnitWeights, true>, simd> {
    using Acc = SquaredError<UnitWeights, true>;
    using Lanes = RowLanes<simd>;
    using Mask = typename Lanes::Mask;
    alignas(64) int64_t sums_[Lanes::ROWS], picked_[Lanes::ROWS + ROW_PADDING];
    alignas(64) uint32_t places_[Lanes::ROWS];  // of the rows in X
    int64_t total_ = 0, n_ = 0;               // of the node

public:
    static constexpr bool exists = true;

    void open(const int64_t* sums, const uint32_t* places, Mask rows) {
        std::copy_n(sums, n_rows_of(rows), sums_);
        std::copy_n(places, n_rows_of(rows), places_);
    }
    FASTTREE_INLINE void begin(Mask rows) {
        n_ = n_rows_of(rows);
        total_ = Lanes::sum(sums_, rows);
    }
    FASTTREE_INLINE const int64_t* hold(Acc& acc, Mask rows) {
        const int64_t cell[] = {n_rows_of(rows), Lanes::sum(sums_, rows)};
        acc.begin_cell(cell);
        Lanes::pick(sums_, rows, picked_);
        return picked_;
    }
    FASTTREE_INLINE double score(Mask left, Mask, uint32_t n_left) const {
        return separation(Lanes::sum(sums_, left), n_left, total_, n_);
    }
    FASTTREE_INLINE void take(Acc& acc, Mask rows, NodeStats& stats, double* value) const {
        if ((rows & (rows - 1)) == 0) {  // most leaves of a regression tree: no sums are needed
            stats = {acc.t.weight_unit, 0.0, true};
            value[0] = acc.t.y[places_[lowest_bit(rows)]];
            return;
        }
        uint32_t own[Lanes::ROWS + ROW_PADDING];
        Lanes::pick(places_, rows, own);
        const int64_t cell[] = {n_rows_of(rows), Lanes::sum(sums_, rows)};
        acc.begin_cell(cell);
        acc.node_stats(own, n_rows_of(rows), stats);
        acc.node_value(value);
    }
};

}  // namespace fasttree
