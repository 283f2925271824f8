// Accumulator of the chi-square criterion: how far class and side are from being independent.
#pragma once
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/score/class_weights.hpp"

namespace fasttree {

// Pearson's chi-square of the table (side, class), over the node's weight, summed over outputs.
// With D_c = l_c w - t_c w_L the deviation of class c from its expectation on either side is
// D_c / w, so that chi2 / w = sum_c D_c^2 / t_c / (w_L w_R w); D_c is formed exactly.
// The screen keeps S = sum_c l_c^2 / t_c, for chi2 / w = (w S - outputs w_L^2) / (w_L w_R). Every
// row changes S by at most what is rounded off sums that never exceed outputs w.
template <class Weights, class Class, bool single_output>
struct ChiSquare : ClassWeights<Weights, Class, single_output> {
    using Base = ClassWeights<Weights, Class, single_output>;
    using Cell = typename Base::Cell;
    using Base::left, Base::right, Base::total, Base::w, Base::w_left, Base::w_total;
    using Base::y;

    std::vector<double> reciprocal;  // of the class weights of the node
    double shares = 0.0;             // S
    double error = 0.0;              // of w S - outputs w_L^2

    explicit ChiSquare(const Targets& targets) : Base(targets) {}

    void begin_node(const uint32_t* rows, uint32_t n) {
        Base::begin_node(rows, n);
        set_expectation(n);
    }
    void begin_totals(const Totals& totals, const uint32_t* rows, uint32_t n) {
        Base::begin_totals(totals, rows, n);
        set_expectation(n);
    }
    // Of rows of weight 1.
    void begin_cell(const Cell* cell) {
        Base::begin_cell(cell);
        set_expectation(to_double(w_total));
    }
    void set_expectation(double n) {
        reciprocal.resize(total.size());
        for (size_t i = 0; i < total.size(); ++i) {
            reciprocal[i] = total[i] == 0 ? 0.0 : 1.0 / to_double(total[i]);
        }
        const double w = to_double(w_total), size = this->outputs() * w * w;
        error = 4e-16 * (n + 16.0) * this->outputs() * size;
    }
    void node_stats(const uint32_t*, uint32_t, NodeStats& out) const {
        out.weight = to_double(w_total) * this->t.weight_unit;
        out.impurity = this->mean_impurity(total, to_double(w_total), add_gini);
        out.pure = this->is_pure();
    }

    void reset() {
        this->reset_weights();
        shares = 0.0;
    }
    void add(uint32_t row) {
        for (int k = 0; k < this->outputs(); ++k) {
            move(k * this->stride + y[static_cast<size_t>(row) * this->outputs() + k], w[row]);
        }
        w_left += w[row];
    }
    void add_cell(const Cell* cell) {
        this->for_each(cell, [this](size_t i, int64_t weight) { move(i, weight); });
    }
    // (l + w)^2 = l^2 + w (2 l + w).
    void move(size_t i, int64_t weight) {
        const double l = to_double(left[i]), moved = to_double(weight);
        shares += moved * (2.0 * l + moved) * reciprocal[i];
        left[i] += weight;
        right[i] -= weight;
    }

    double perfect_score(const uint32_t*, uint32_t) const { return INFINITE; }
    double score() const {
        if (!this->may_score()) return MINUS_INFINITY;
        double sum = 0.0;
        for (size_t i = 0; i < total.size(); ++i) {
            if (total[i] == 0) continue;
            const double d = to_double(static_cast<wide_t>(left[i]) * w_total
                                       - static_cast<wide_t>(total[i]) * w_left);
            sum += d * d / to_double(total[i]);
        }
        return sum / product() / to_double(w_total);
    }
    double estimate() const {
        const double l = to_double(w_left);
        return (to_double(w_total) * shares - this->outputs() * l * l) / product();
    }
    double estimate_error() const { return error / product(); }
    bool may_beat(double best) const { return estimate() + estimate_error() > best; }
    double sklearn_score() const { return score(); }

private:
    double product() const { return to_double(w_left) * to_double(w_total - w_left); }
};

}  // namespace fasttree
