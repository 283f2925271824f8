// Accumulators of regression: weights and sums of targets left and right of a position.
//
// Squared error is the O(n) prefix-sum search of "Fast CART regression": a candidate costs a
// multiplication or two per output. See score/accumulator.hpp for the contract.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/targets.hpp"
#include "engine/score/accumulator.hpp"
#include "engine/score/output_screen.hpp"
#include "engine/score/rough_terms.hpp"
#include "engine/simd/fast_log.hpp"

namespace fasttree {

// Weights and sums of targets; the criteria below add score and impurity.
template <class Weights, bool single_output>
struct TargetSums : AccumulatorBase<Weights> {
    using Base = AccumulatorBase<Weights>;
    using Base::t, Base::w, Base::w_left, Base::w_total, Base::weighted;
    using Cell = int64_t;
    static constexpr bool has_cells = true;

    const int n_outputs;
    std::vector<int64_t> total_, left_;  // padded with zeros to whole vectors
    int64_t total1 = 0, left1 = 0;  // the sums of a single output live in registers
    int64_t mean_sum = 0;           // mean of `sums` in the node, rounded; single output
    std::vector<double> mean;       // of the node, by node_stats

    explicit TargetSums(const Targets& targets)
        : Base(targets), n_outputs(targets.n_outputs), total_(padded(n_outputs)),
          left_(total_.size()), mean(n_outputs) {}

    int outputs() const { return single_output ? 1 : n_outputs; }
    uint64_t work(uint32_t n) const { return static_cast<uint64_t>(n) * outputs(); }
    int64_t total(int k) const { return single_output ? total1 : total_[k]; }
    int64_t left(int k) const { return single_output ? left1 : left_[k]; }

    void begin_node(const uint32_t* rows, uint32_t n) {
        reset();
        if constexpr (single_output) {
            for (uint32_t i = 0; i < n; ++i) add(rows[i]);
        } else {
            call(t.simd, [&]() FASTTREE_INLINE {
                for (uint32_t i = 0; i < n; ++i) {
                    const size_t ahead = rows[std::min(i + ROWS_AHEAD, n - 1)];
                    prefetch(t.sums + ahead * n_outputs, n_outputs * sizeof(int64_t));
                    add(rows[i]);
                }
            });
        }
        take_totals();
    }
    // A node whose statistics are in a cell.
    void begin_cell(const Cell* cell) {
        reset();
        add_cell(cell);
        take_totals();
    }
    void write_totals(Totals& out) const {
        out.resize(total_.size() + 1);
        if constexpr (single_output) out[0] = total1;
        else std::copy(total_.begin(), total_.end(), out.begin());
        out.back() = w_total;
    }
    void begin_totals(const Totals& totals, const uint32_t*, uint32_t) {
        if constexpr (single_output) left1 = totals[0];
        else std::copy(totals.begin(), totals.end() - 1, left_.begin());
        w_left = totals.back();
        take_totals();
    }
    void take_totals() {
        total1 = left1;
        if constexpr (!single_output) total_ = left_;
        w_total = w_left;
        if (w_total != 0) mean_sum = total1 / w_total;
    }
    void reset() {
        left1 = w_left = 0;
        if constexpr (!single_output) std::fill(left_.begin(), left_.end(), 0);
    }
    FASTTREE_INLINE void add(uint32_t row) {
        if constexpr (single_output) {
            left1 += t.sums[row];
        } else {
            add_all(t.sums + static_cast<size_t>(row) * n_outputs, left_.data(), n_outputs);
        }
        w_left += w[row];
    }

    // Cells: [rows, weight if weighted, sum of each output].
    size_t cell_size() const { return 1 + weighted + outputs(); }
    auto cell_adder(uint32_t row) const {
        const int64_t* sums = t.sums + static_cast<size_t>(row) * outputs();
        return [this, sums, first = sums[0], weight = w[row]](Cell* cell) {
            cell[0] += 1;
            if constexpr (weighted) cell[1] += weight;
            cell[1 + weighted] += first;
            for (int k = 1; k < outputs(); ++k) cell[1 + weighted + k] += sums[k];
        };
    }
    // The cell of a row alone holds as much as any.
    static constexpr bool with_row_cells() { return !single_output; }
    uint32_t cell_rows(const Cell* cell) const { return static_cast<uint32_t>(cell[0]); }
    void add_cell(const Cell* cell) {
        w_left += cell[weighted];
        if constexpr (single_output) {
            left1 += cell[1 + weighted];
        } else {
            call(t.simd, [&]() FASTTREE_INLINE {
                add_all(cell + 1 + weighted, left_.data(), n_outputs);
            });
        }
    }

    double raw_weight(uint32_t row) const { return t.w ? t.w[row] : 1.0; }
    double raw_target(uint32_t row, int k) const {
        return t.y[static_cast<size_t>(row) * outputs() + k];
    }
    // Weighted sum of the targets as given: sum_unit * sums + centre * weight.
    double raw_sum(int64_t sum, int64_t weight, int k) const {
        return to_double(sum) * t.sum_unit[k] + t.centre[k] * (to_double(weight) * t.weight_unit);
    }
    // Means of the node's targets; true if all its rows have the same targets.
    bool begin_stats(const uint32_t* rows, uint32_t n) {
        const double weight = to_double(w_total) * t.weight_unit;
        const auto mean_of = [&](int k) FASTTREE_INLINE {
            return raw_sum(total(k), w_total, k) / weight;
        };
        if constexpr (!single_output) {
            // The first rows tell for nearly every output whether all are equal.
            for (uint32_t i = 0; i < std::min(n, ROWS_AHEAD); ++i) {
                const double* targets = t.y + static_cast<size_t>(rows[i]) * n_outputs;
                prefetch(targets, n_outputs * sizeof(double));
            }
            call(t.simd, [&]() FASTTREE_INLINE {
                for (int k = 0; k < n_outputs; ++k) mean[k] = mean_of(k);
            });
        }
        bool all_equal = true;
        for (int k = 0; k < outputs(); ++k) {
            const double first = raw_target(rows[0], k);
            bool equal = true;
            for (uint32_t i = 1; i < n && equal; ++i) equal = raw_target(rows[i], k) == first;
            if (equal) mean[k] = first;
            else if (single_output) mean[k] = mean_of(k);
            all_equal &= equal;
        }
        return all_equal;
    }
    void node_value(double* value) const {
        for (int k = 0; k < outputs(); ++k) value[k] = mean[k];
    }

    static constexpr bool has_means = true;
    Mean mean_left(int) const { return {left(0), w_left}; }

    double perfect_score(const uint32_t*, uint32_t) const { return INFINITE; }
    double value_left() const { return raw_sum(left(0), w_left, 0) / this->weight_left(); }
    double value_right() const {
        return raw_sum(total(0) - left(0), w_total - w_left, 0) / this->weight_right();
    }
};

// A target's deviation from the mean: its square, and what all of them leave of the mean.
FASTTREE_INLINE inline void add_deviation(double w, double y, double mean, double& squares,
                                          double& residual) {
    const double d = y - mean, wd = w * d;
    squares += wd * d;
    residual += wd;
}
struct Deviations {
    const double mean;
    double squares = 0.0, residual = 0.0;

    void add(double w, double y) { add_deviation(w, y, mean, squares, residual); }
};

// Squared error: sum over outputs of D^2 / (w_L w_R), see separation().
template <class Weights, bool single_output>
struct SquaredError : TargetSums<Weights, single_output> {
    using Base = TargetSums<Weights, single_output>;
    using Cell = typename Base::Cell;
    using Base::t, Base::w_left, Base::w_total, Base::mean;

    std::conditional_t<single_output, NoOutputScreen, OutputScreen> screen;
    std::conditional_t<single_output, RoughTerms, NoRoughTerms> rough;

    explicit SquaredError(const Targets& targets)
        : Base(targets), screen(targets), rough(targets) {}

    void begin_node(const uint32_t* rows, uint32_t n) {
        Base::begin_node(rows, n);
        screen.begin_node(this->total_.data(), w_total, rows, n);
        rough.begin_node(rows, n);
    }
    void begin_totals(const Totals& totals, const uint32_t* rows, uint32_t n) {
        Base::begin_totals(totals, rows, n);
        screen.begin_node(this->total_.data(), w_total, rows, n);
        rough.begin_node(rows, n);
    }
    void begin_cell(const Cell* cell) {
        Base::begin_cell(cell);
        screen.begin_cell(this->total_.data(), w_total);
        rough.begin_node(nullptr, 0);
    }

    double perfect_score(const uint32_t* rows, uint32_t n) {
        return best_of_few<!single_output>(*this, rows, n, single_output ? 5 : 4);
    }

    void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) {
        out.weight = to_double(w_total) * t.weight_unit;
        out.pure = this->begin_stats(rows, n);
        if (t.replay) out.impurity = sklearn_impurity(rows, n, out.weight);
        else out.impurity = out.pure ? 0.0 : variance(rows, n, out.weight);
    }
    // Mean square about the mean of n rows.
    double variance(const uint32_t* rows, uint32_t n, double weight) const {
        const auto add = [&](double* FASTTREE_RESTRICT squares,
                             double* FASTTREE_RESTRICT residual) FASTTREE_INLINE {
            const double* m = mean.data();
            for (uint32_t i = 0; i < n; ++i) {
                const size_t ahead = rows[std::min(i + ROWS_AHEAD, n - 1)];
                prefetch(t.y + ahead * this->outputs(), this->outputs() * sizeof(double));
                const double w = this->raw_weight(rows[i]);
                const double* y = t.y + static_cast<size_t>(rows[i]) * this->outputs();
                for (int k = 0; k < this->outputs(); ++k) {
                    add_deviation(w, y[k], m[k], squares[k], residual[k]);
                }
            }
        };
        if constexpr (single_output) {
            Deviations deviations{mean[0]};
            for (uint32_t i = 0; i < n; ++i) {
                deviations.add(this->raw_weight(rows[i]), t.y[rows[i]]);
            }
            return mean_square(deviations.squares, deviations.residual, weight);
        }
        const int size = this->outputs();
        std::vector<double> sums(2 * size);
        call(t.simd, [&]() FASTTREE_INLINE { add(sums.data(), sums.data() + size); });
        double impurity = 0.0;
        for (int k = 0; k < size; ++k) impurity += mean_square(sums[k], sums[size + k], weight);
        return impurity / size;
    }
    // Corrected for the rounding of the mean.
    double mean_square(double squares, double residual, double weight) const {
        const double correction = residual / weight;
        const double sum = squares / weight - correction * correction;
        // Below zero by rounding, or because weights are.
        return t.has_negative_weights ? sum : std::max(sum, 0.0);
    }
    // Mean square minus square of the mean, summed as scikit-learn does.
    double sklearn_impurity(const uint32_t* rows, uint32_t n, double weight) {
        double squares = 0.0;
        std::fill(mean.begin(), mean.end(), 0.0);
        for (uint32_t i = 0; i < n; ++i) {
            for (int k = 0; k < this->outputs(); ++k) {
                const double target = this->raw_target(rows[i], k);
                const double weighted_target = this->raw_weight(rows[i]) * target;
                mean[k] += weighted_target;
                squares += weighted_target * target;
            }
        }
        double impurity = squares / weight;
        for (int k = 0; k < this->outputs(); ++k) {
            mean[k] /= weight;
            impurity -= mean[k] * mean[k];
        }
        return impurity / this->outputs();
    }

    template <bool many = !single_output, class = std::enable_if_t<many>>
    void move_rows(const uint32_t* entries, uint32_t n) {
        call(t.simd, [&]() FASTTREE_INLINE {
            for (uint32_t i = 0; i < n; ++i) this->add(entries[i] & ROW);
        });
    }
    double score() const {
        if constexpr (single_output) return score_at(this->left1, w_left);
        double sum = 0.0;
        // With negative weights a child may weigh more than the node.
        const int64_t most = t.has_negative_weights ? -1 : SMALL / std::max(w_total, int64_t{1});
        call(t.simd, [&]() FASTTREE_INLINE {
            sum = are_at_most(most) ? sum_of_separations<int64_t>() : sum_of_separations<wide_t>();
        });
        return sum;
    }
    // Of a single output.
    double score_at(int64_t sum, int64_t weight) const {
        return separation(sum, weight, this->total1, w_total);
    }
    void go_to(int64_t sum, int64_t weight) {
        this->left1 = sum;
        w_left = weight;
    }
    static constexpr int64_t SMALL = int64_t{1} << 61;  // of two products the difference fits
    FASTTREE_INLINE bool are_at_most(int64_t most) const {
        int64_t larger = 0;  // negative if one is
        for (size_t k = 0; k < this->left_.size(); ++k) {
            larger |= most - std::abs(this->left_[k]);
            larger |= most - std::abs(this->total_[k]);
        }
        return larger >= 0;
    }
    template <class Integer>
    FASTTREE_INLINE double sum_of_separations() const {
        double sum = 0.0;
        for (int k = 0; k < this->n_outputs; ++k) {
            const double unit = t.sum_unit[k];
            sum += unit * unit *
                   separation<Integer>(this->left_[k], w_left, this->total_[k], w_total);
        }
        return sum;
    }
    // D in doubles, enlarged by what rounding may have lost.
    bool may_beat(double best) const {
        if constexpr (single_output) {
            const double w = to_double(w_total), wl = to_double(w_left);
            // Beyond 2**53 a difference of doubles may have lost the lighter side.
            const double wr = Base::weighted ? to_double(w_total - w_left) : w - wl;
            const double a = to_double(this->left1) * w, b = to_double(this->total1) * wl;
            const double d = std::fabs(a - b) + (std::fabs(a) + std::fabs(b)) * 1e-15;
            return d * d > best * (wl * wr) * SCREEN;
        } else {
            if (t.has_negative_weights) return score() > best;
            return screen.may_beat(this->left_.data(), w_left, best);
        }
    }
    double sklearn_score() const {
        double squares_left = 0.0, squares_right = 0.0;
        for (int k = 0; k < this->outputs(); ++k) {
            const double l = this->raw_sum(this->left(k), w_left, k);
            const double r = this->raw_sum(this->total(k) - this->left(k), w_total - w_left, k);
            squares_left += l * l;
            squares_right += r * r;
        }
        return squares_left / this->weight_left() + squares_right / this->weight_right();
    }
};

// Half Poisson deviance: sum over outputs of S_L log(S_L / w_L) + S_R log(S_R / w_R).
// Targets are not centred, so sums are sums of counts. A child without any count has no
// finite deviance and is not a candidate.
template <class Weights, bool single_output>
struct Poisson : TargetSums<Weights, single_output> {
    using Base = TargetSums<Weights, single_output>;
    using Base::Base, Base::t, Base::w_left, Base::w_total, Base::mean;

    FastLog fast_log;

    // scikit-learn takes sums below this for zero.
    static constexpr double EPSILON = 10 * std::numeric_limits<double>::epsilon();

    void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) {
        out.weight = to_double(w_total) * t.weight_unit;
        out.pure = this->begin_stats(rows, n);
        out.impurity = 0.0;
        for (int k = 0; k < this->outputs(); ++k) {
            if (is_zero(this->total(k), k)) {
                // Without a count there is no deviance; scikit-learn calls it infinite.
                if (!t.replay) continue;
                out.impurity = std::numeric_limits<double>::infinity();
                return;
            }
            for (uint32_t i = 0; i < n; ++i) {
                const double target = this->raw_target(rows[i], k), ratio = target / mean[k];
                if (ratio != 0.0) {
                    out.impurity += this->raw_weight(rows[i]) * target * std::log(ratio);
                }
            }
        }
        out.impurity /= out.weight * this->outputs();
        // Below zero where the mean is that of weights which the grid has rounded.
        if (!t.replay) out.impurity = std::max(out.impurity, 0.0);
    }
    bool is_zero(int64_t sum, int k) const {
        return t.replay ? to_double(sum) * t.sum_unit[k] <= EPSILON : sum <= 0;
    }

    double score() const {
        double sum = 0.0;
        for (int k = 0; k < this->outputs(); ++k) {
            const int64_t l = this->left(k), r = this->total(k) - l;
            if (is_zero(l, k) || is_zero(r, k)) return MINUS_INFINITY;
            const double sl = to_double(l), sr = to_double(r);
            sum += t.sum_unit[k] * (sl * std::log(sl / to_double(w_left))
                                    + sr * std::log(sr / to_double(w_total - w_left)));
        }
        return sum;
    }
    // The score with quick logarithms; whatever they may miss is added.
    bool may_beat(double best) const {
        double sum = 0.0;
        for (int k = 0; k < this->outputs(); ++k) {
            const int64_t l = this->left(k), r = this->total(k) - l;
            if (l <= 0 || r <= 0) return false;
            const double sl = to_double(l), sr = to_double(r);
            const double logs = sl * fast_log(sl / to_double(w_left))
                                + sr * fast_log(sr / to_double(w_total - w_left));
            sum += t.sum_unit[k] * (logs + (sl + sr) * (2 * FastLog::ERROR));
        }
        return sum + std::fabs(sum) * 1e-14 > best;
    }
    double sklearn_score() const {
        double sum_left = 0.0, sum_right = 0.0;
        for (int k = 0; k < this->outputs(); ++k) {
            const int64_t l = this->left(k), r = this->total(k) - l;
            if (is_zero(l, k) || is_zero(r, k)) return MINUS_INFINITY;
            const double sl = to_double(l) * t.sum_unit[k], sr = to_double(r) * t.sum_unit[k];
            sum_left -= sl * (std::log(sl / this->weight_left()) / LOG_2);
            sum_right -= sr * (std::log(sr / this->weight_right()) / LOG_2);
        }
        return -sum_left - sum_right;
    }
};

}  // namespace fasttree
