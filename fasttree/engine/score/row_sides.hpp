// Sides of a node of up to 32 rows, which are masks: the scores of `score/*.hpp` to the last bit.
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

namespace fasttree {

// By default there are none, and nodes are split one by one.
template <class Acc>
struct RowSides {
    static constexpr bool exists = false;
};

inline uint32_t n_rows_of(uint32_t rows) {
    return static_cast<uint32_t>(__builtin_popcount(rows));
}

#if FASTTREE_X86
template <>
class RowSides<BinaryGini<UnitWeights>> {
    using Acc = BinaryGini<UnitWeights>;
    uint32_t ones_ = 0;
    uint8_t picked_[LANE_ROWS];
    int64_t total_ = 0, n_ = 0;  // of the node

    int64_t count(uint32_t rows) const { return n_rows_of(rows & ones_); }

public:
    static constexpr bool exists = true;

    FASTTREE_AVX512 void open(const uint8_t* classes, const uint32_t*, uint32_t rows) {
        const __m256i all = _mm256_maskz_loadu_epi8(rows, classes);
        ones_ = _mm256_test_epi8_mask(all, all);
    }
    void begin(uint32_t rows) {
        n_ = n_rows_of(rows);
        total_ = count(rows);
    }
    FASTTREE_AVX512 const uint8_t* hold(Acc& acc, uint32_t rows) {
        const uint64_t cell = (uint64_t{n_rows_of(rows)} << 32) + n_rows_of(rows & ones_);
        acc.begin_cell(&cell);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(picked_), _mm256_maskz_set1_epi8(
            static_cast<__mmask32>(_pext_u32(ones_, rows)), 1));
        return picked_;
    }
    double score(uint32_t left, uint32_t, uint32_t n_left) const {
        return separation<int64_t>(count(left), n_left, total_, n_);
    }
    void take(Acc& acc, uint32_t rows, NodeStats& stats, double* value) const {
        const uint64_t cell = (uint64_t{n_rows_of(rows)} << 32) + count(rows);
        acc.begin_cell(&cell);
        acc.node_stats(nullptr, 0, stats);
        acc.node_value(value);
    }
};

template <>
class RowSides<Gini<UnitWeights, uint8_t, true>> {
    using Acc = Gini<UnitWeights, uint8_t, true>;
    alignas(64) uint32_t alike_[LANE_ROWS];  // of each row those of its class
    uint8_t classes_[LANE_ROWS], picked_[LANE_ROWS];
    std::vector<int32_t> cell_;

public:
    static constexpr bool exists = true;

    FASTTREE_AVX512 void open(const uint8_t* classes, const uint32_t*, uint32_t rows) {
        std::copy_n(classes, n_rows_of(rows), classes_);
        find_alike(classes_, rows, alike_);
    }
    void begin(uint32_t) {}
    FASTTREE_AVX512 const uint8_t* hold(Acc& acc, uint32_t rows) {
        const uint32_t n = n_rows_of(rows);
        pick_rows(classes_, rows, picked_);
        cell_.assign(acc.cell_size(), 0);
        for (uint32_t i = 0; i < n; ++i) ++cell_[picked_[i]];
        acc.begin_cell(cell_.data());
        return picked_;
    }
    FASTTREE_AVX512 double score(uint32_t left, uint32_t right, uint32_t n_left) const {
        int64_t squares_left, squares_right;
        sum_squares(alike_, left, right, squares_left, squares_right);
        return to_double(squares_left) / n_left + to_double(squares_right) / n_rows_of(right);
    }
    FASTTREE_AVX512 void take(const Acc& acc, uint32_t rows, NodeStats& stats,
                              double* value) const {
        const uint32_t n = n_rows_of(rows);
        int64_t squares = 0;
        std::fill_n(value, acc.n_classes, 0.0);
        for (uint32_t rest = rows; rest != 0;) {
            const int row = lowest_bit(rest);
            const uint32_t own = alike_[row] & rows;
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

template <>
class RowSides<SquaredError<UnitWeights, true>> {
    using Acc = SquaredError<UnitWeights, true>;
    alignas(64) int64_t sums_[LANE_ROWS], picked_[LANE_ROWS + ROW_PADDING];
    alignas(64) uint32_t places_[LANE_ROWS];  // of the rows in X
    int64_t total_ = 0, n_ = 0;               // of the node

public:
    static constexpr bool exists = true;

    void open(const int64_t* sums, const uint32_t* places, uint32_t rows) {
        std::copy_n(sums, n_rows_of(rows), sums_);
        std::copy_n(places, n_rows_of(rows), places_);
    }
    FASTTREE_AVX512 void begin(uint32_t rows) {
        n_ = n_rows_of(rows);
        total_ = sum_rows(sums_, rows);
    }
    FASTTREE_AVX512 const int64_t* hold(Acc& acc, uint32_t rows) {
        const int64_t cell[] = {n_rows_of(rows), sum_rows(sums_, rows)};
        acc.begin_cell(cell);
        pick_rows(sums_, rows, picked_);
        return picked_;
    }
    FASTTREE_AVX512 double score(uint32_t left, uint32_t, uint32_t n_left) const {
        return separation(sum_rows(sums_, left), n_left, total_, n_);
    }
    FASTTREE_AVX512 void take(Acc& acc, uint32_t rows, NodeStats& stats, double* value) const {
        if ((rows & (rows - 1)) == 0) {  // most leaves of a regression tree: no sums are needed
            stats = {acc.t.weight_unit, 0.0, true};
            value[0] = acc.t.y[places_[lowest_bit(rows)]];
            return;
        }
        uint32_t own[LANE_ROWS + ROW_PADDING];
        pick_rows(places_, rows, own);
        const int64_t cell[] = {n_rows_of(rows), sum_rows(sums_, rows)};
        acc.begin_cell(cell);
        acc.node_stats(own, n_rows_of(rows), stats);
        acc.node_value(value);
    }
};
#endif

}  // namespace fasttree
