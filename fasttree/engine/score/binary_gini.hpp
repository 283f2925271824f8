// Accumulator of gini on two classes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/score/accumulator.hpp"
#include "engine/score/classification.hpp"

namespace fasttree {

// Two classes, one output: gini ranks by the separation of class 1.
template <class Weights>
struct BinaryGini : AccumulatorBase<Weights> {
    using Base = AccumulatorBase<Weights>;
    using Base::t, Base::w, Base::w_left, Base::w_total, Base::weighted;
    using Cell = uint64_t;
    static constexpr bool has_cells = true;
    static constexpr bool stats_of_totals = true;

    const uint8_t* y;
    int64_t total = 0, left = 0;  // class 1 in the node; left of the position

    explicit BinaryGini(const Targets& targets)
        : Base(targets), y(static_cast<const uint8_t*>(targets.classes)) {}

    uint64_t work(uint32_t n) const { return n; }
    void begin_node(const uint32_t* rows, uint32_t n) {
        total = w_total = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const int64_t weight = w[rows[i]];
            total += y[rows[i]] ? weight : 0;
            w_total += weight;
        }
    }
    // A node whose statistics are in a cell.
    void begin_cell(const Cell* cell) {
        reset();
        add_cell(cell);
        total = left;
        w_total = w_left;
    }
    void write_totals(Totals& out) const { out.assign({w_total, total}); }
    void begin_totals(const Totals& totals, const uint32_t*, uint32_t) {
        w_total = totals[0];
        total = totals[1];
    }
    void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) const {
        const int64_t counts[2] = {w_total - total, total};
        out.weight = to_double(w_total) * t.weight_unit;
        out.impurity = add_gini(0.0, counts, 2, to_double(w_total));
        out.pure = t.has_negative_weights ? are_alike(y, 1, rows, n)
                                          : total == 0 || total == w_total;
    }
    void node_value(double* value) const {
        value[0] = to_double(w_total - total) / to_double(w_total);
        value[1] = to_double(total) / to_double(w_total);
    }

    void reset() { left = w_left = 0; }
    void add(uint32_t row) {
        const int64_t weight = w[row];
        left += y[row] ? weight : 0;
        w_left += weight;
    }

    // Unweighted cells pack (rows, rows of class 1) in one word.
    size_t cell_size() const { return weighted ? 3 : 1; }
    auto cell_adder(uint32_t row) const {
        if constexpr (weighted) {
            const uint64_t weight = static_cast<uint64_t>(w[row]);
            return [weight, weight_1 = y[row] ? weight : 0](Cell* cell) {
                cell[0] += 1;
                cell[1] += weight;
                cell[2] += weight_1;
            };
        } else {
            return [packed = (uint64_t{1} << 32) + y[row]](Cell* cell) { cell[0] += packed; };
        }
    }
    uint32_t cell_rows(const Cell* cell) const {
        return static_cast<uint32_t>(weighted ? cell[0] : cell[0] >> 32);
    }
    void add_cell(const Cell* cell) {
        if constexpr (weighted) {
            w_left += static_cast<int64_t>(cell[1]);
            left += static_cast<int64_t>(cell[2]);
        } else {
            w_left += static_cast<int64_t>(cell[0] >> 32);
            left += static_cast<int64_t>(cell[0] & 0xffffffffu);
        }
    }

    bool may_beat(double best) const {
        const double d = to_double(static_cast<wide_t>(left) * w_total
                                   - static_cast<wide_t>(total) * w_left);
        return d * d > best * (to_double(w_left) * to_double(w_total - w_left)) * SCREEN;
    }
    double score() const { return score_at(left, w_left); }
    double score_at(int64_t sum, int64_t weight) const {
        return separation(sum, weight, total, w_total);
    }
    void go_to(int64_t sum, int64_t weight) {
        left = sum;
        w_left = weight;
    }
    // Both children pure: D is the product of the class weights. Small ones are exact.
    double perfect_score(const uint32_t*, uint32_t) const {
        constexpr int64_t EXACT = int64_t{1} << 13;
        if (t.has_negative_weights || w_total >= EXACT) return INFINITE;
        return to_double(total) * to_double(w_total - total);
    }
    double sklearn_score() const {
        const int64_t l[2] = {w_left - left, left};
        const int64_t r[2] = {(w_total - total) - l[0], total - left};
        const double wl = to_double(w_left), wr = to_double(w_total - w_left);
        return -wr * add_gini(0.0, r, 2, wr) - wl * add_gini(0.0, l, 2, wl);
    }
    // Of two classes: the share of class 1 orders sets of categories.
    static constexpr bool has_means = true;
    Mean mean_left(int) const { return {left, w_left}; }

    double value_left() const { return to_double(w_left - left) / to_double(w_left); }
    double value_right() const {
        return to_double((w_total - total) - (w_left - left)) / to_double(w_total - w_left);
    }
};

// Accumulators whose cells are rows counted by classes of one byte.
template <class Acc>
constexpr bool counts_classes = std::is_same_v<Acc, BinaryGini<UnitWeights>> ||
                                std::is_base_of_v<ClassWeights<UnitWeights, uint8_t, true>, Acc>;

}  // namespace fasttree
