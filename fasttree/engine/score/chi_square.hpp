// Accumulator of the chi-square criterion: how far class and side are from being independent.
#pragma once
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/score/classification.hpp"

namespace fasttree {

// Pearson's chi-square of the table (side, class), over the node's weight, summed over outputs.
// With D_c = l_c w - t_c w_L the deviation of class c from its expectation on either side is
// D_c / w, so that chi2 / w = sum_c D_c^2 / t_c / (w_L w_R w); D_c is formed exactly.
template <class Weights, class Class, bool single_output>
struct ChiSquare : ClassWeights<Weights, Class, single_output> {
    using Base = ClassWeights<Weights, Class, single_output>;
    using Cell = typename Base::Cell;
    using Base::Base, Base::left, Base::right, Base::total, Base::w, Base::w_left, Base::w_total;
    using Base::y;

    void node_stats(const uint32_t*, uint32_t, NodeStats& out) const {
        out.weight = to_double(w_total) * this->t.weight_unit;
        out.impurity = this->mean_impurity(total, to_double(w_total), add_gini);
        out.pure = this->is_pure();
    }

    void reset() { this->reset_weights(); }
    void add(uint32_t row) {
        for (int k = 0; k < this->outputs(); ++k) {
            move(k * this->stride + y[static_cast<size_t>(row) * this->outputs() + k], w[row]);
        }
        w_left += w[row];
    }
    void add_cell(const Cell* cell) {
        this->for_each(cell, [this](size_t i, int64_t weight) { move(i, weight); });
    }
    void move(size_t i, int64_t weight) {
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
        return sum / (to_double(w_left) * to_double(w_total - w_left)) / to_double(w_total);
    }
    bool may_beat(double best) const { return score() > best; }
    double sklearn_score() const { return score(); }
};

}  // namespace fasttree
