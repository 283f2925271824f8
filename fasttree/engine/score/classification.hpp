// Accumulators of classification: class weights left and right of a position.
#pragma once
#include <algorithm>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/score/accumulator.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// Whether rows have the same class in every output, which class weights do not tell where some are
// negative and cancel.
template <class Class>
bool are_alike(const Class* y, int n_outputs, const uint32_t* rows, uint32_t n) {
    const Class* first = y + static_cast<size_t>(rows[0]) * n_outputs;
    for (uint32_t i = 1; i < n; ++i) {
        if (!std::equal(first, first + n_outputs, y + static_cast<size_t>(rows[i]) * n_outputs)) {
            return false;
        }
    }
    return true;
}

// Class weights of any number of classes and outputs; the criteria below add their score.
// State of output k and class c stands at [k * stride + c].
//
// Of very many classes a node of few rows holds few. These are numbered in ascending order, and the
// state has an entry per number only: absent classes add nothing to a score, which stays the same
// to the last bit. Cells of count tables have an entry for every class.
template <class Weights, class Class, bool single_output>
struct ClassWeights : AccumulatorBase<Weights> {
    using Base = AccumulatorBase<Weights>;
    using Base::t, Base::w, Base::w_left, Base::w_total, Base::weighted;
    static constexpr bool has_cells = true;
    using Cell = std::conditional_t<weighted, int64_t, int32_t>;

    static constexpr bool with_numbers = single_output && sizeof(Class) > 1;

    const int n_outputs, n_classes;
    const Class* y;                          // of the fit, or numbers of the node's classes
    int stride;
    std::vector<int64_t> total, left, right;
    std::vector<uint32_t> classes;           // by number; empty: all classes
    std::vector<uint32_t> number;            // [n_classes], all 0 between nodes
    std::vector<Class> numbers;              // [n_rows] of the node's rows

    explicit ClassWeights(const Targets& targets)
        : Base(targets), n_outputs(single_output ? 1 : targets.n_outputs),
          n_classes(targets.max_n_classes), y(all_classes()), stride(n_classes),
          total(n_outputs * stride), left(total.size()), right(total.size()) {}

    int outputs() const { return single_output ? 1 : n_outputs; }
    const Class* all_classes() const { return static_cast<const Class*>(t.classes); }
    uint64_t work(uint32_t n) const { return static_cast<uint64_t>(n) * outputs() + total.size(); }

    void begin_node(const uint32_t* rows, uint32_t n) {
        if constexpr (with_numbers) {
            if (number_classes(rows, n)) return;
        }
        std::fill(total.begin(), total.end(), 0);
        w_total = 0;
        uint32_t i = 0;
        if constexpr (single_output) i = count_pairs(rows, n);
        for (; i < n; ++i) {
            const size_t row = rows[i];
            for (int k = 0; k < outputs(); ++k) {
                total[k * stride + y[row * outputs() + k]] += w[rows[i]];
            }
            w_total += w[rows[i]];
        }
    }
    // A node whose statistics are in a cell; its classes have no numbers.
    void begin_cell(const Cell* cell) {
        w_total = 0;
        for (size_t i = 0; i < total.size(); ++i) total[i] = cell[weighted + i];
        for (int c = 0; c < stride; ++c) w_total += total[c];
    }
    // Where classes have numbers, others hold in other nodes.
    void write_totals(Totals& out) const {
        if constexpr (with_numbers) return;
        out.resize(total.size() + 1);
        std::copy(total.begin(), total.end(), out.begin());
        out.back() = w_total;
    }
    void begin_totals(const Totals& totals, const uint32_t*, uint32_t) {
        std::copy(totals.begin(), totals.end() - 1, total.begin());
        w_total = totals.back();
    }
    // Numbers the classes of a node of few rows and counts them; false if there are many.
    bool number_classes(const uint32_t* rows, uint32_t n) {
        constexpr uint32_t FEWER = 4;
        const Class* all = all_classes();
        classes.clear();
        if (FEWER * static_cast<uint64_t>(n) >= static_cast<uint64_t>(n_classes)) {
            y = all;
            resize(n_classes);
            return false;
        }
        number.resize(n_classes);
        numbers.resize(t.n_rows);
        for (uint32_t i = 0; i < n; ++i) {
            const Class c = all[rows[i]];
            if (number[c] == 0) classes.push_back(c);
            number[c] = 1;
        }
        std::sort(classes.begin(), classes.end());
        for (size_t k = 0; k < classes.size(); ++k) number[classes[k]] = static_cast<uint32_t>(k);
        y = numbers.data();
        resize(static_cast<int>(classes.size()));
        std::fill(total.begin(), total.end(), 0);
        w_total = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t k = number[all[rows[i]]];
            numbers[rows[i]] = static_cast<Class>(k);
            total[k] += w[rows[i]];
            w_total += w[rows[i]];
        }
        for (uint32_t c : classes) number[c] = 0;
        return true;
    }
    void resize(int n) {
        stride = n;
        for (std::vector<int64_t>* weights : {&total, &left, &right}) weights->resize(n);
    }
    // Counts rows in two tables, so that a row need not wait for the one before; returns how many.
    uint32_t count_pairs(const uint32_t* rows, uint32_t n) {
        const uint32_t n_paired = n > static_cast<uint32_t>(2 * stride) ? n & ~1u : 0;
        if (n_paired == 0) return 0;
        std::fill(left.begin(), left.end(), 0);
        for (uint32_t i = 0; i < n_paired; i += 2) {
            const int64_t first = w[rows[i]], second = w[rows[i + 1]];
            total[y[rows[i]]] += first;
            left[y[rows[i + 1]]] += second;
            w_total += first + second;
        }
        for (int c = 0; c < stride; ++c) total[c] += left[c];
        return n_paired;
    }
    bool is_pure() const {
        for (int k = 0; k < outputs(); ++k) {
            bool one_class = false;
            for (int c = 0; c < stride; ++c) one_class |= total[k * stride + c] == w_total;
            if (!one_class) return false;
        }
        return true;
    }
    // Of the class weights of a node or child; `add` is add_gini or add_entropy.
    template <class Add>
    double mean_impurity(const std::vector<int64_t>& weights, double weight, Add add) const {
        double sum = 0.0;
        for (int k = 0; k < outputs(); ++k) {
            sum = add(sum, &weights[k * stride], single_output ? stride : t.n_classes[k], weight);
        }
        return sum / outputs();
    }
    void node_value(double* value) const {
        const bool is_numbered = !classes.empty();
        if (is_numbered) std::fill_n(value, n_classes, 0.0);
        if (!is_numbered) {
            call(t.simd, [&]() FASTTREE_INLINE {
                for (size_t i = 0; i < total.size(); ++i) {
                    value[i] = to_double(total[i]) / to_double(w_total);
                }
            });
            return;
        }
        for (size_t k = 0; k < total.size(); ++k) {
            value[classes[k]] = to_double(total[k]) / to_double(w_total);
        }
    }

    void reset_weights() {
        std::fill(left.begin(), left.end(), 0);
        right = total;
        w_left = 0;
    }

    // Cells: weighted [rows, weight of each class], unweighted [rows of each class].
    size_t cell_size() const { return static_cast<size_t>(n_outputs) * n_classes + weighted; }
    auto cell_adder(uint32_t row) const {
        const Class* of_row = all_classes() + static_cast<size_t>(row) * outputs();
        return [this, of_row, first = size_t{of_row[0]},
                weight = static_cast<Cell>(w[row])](Cell* cell) {
            if constexpr (weighted) cell[0] += 1;
            cell[weighted + first] += weight;
            for (int k = 1; k < outputs(); ++k) {
                cell[weighted + k * n_classes + size_t{of_row[k]}] += weight;
            }
        };
    }
    uint32_t cell_rows(const Cell* cell) const {
        if constexpr (weighted) return static_cast<uint32_t>(cell[0]);
        int64_t rows = 0;
        for (int c = 0; c < n_classes; ++c) rows += cell[c];
        return static_cast<uint32_t>(rows);
    }
    // The cell of a row alone pays if few of its class weights are zero.
    bool with_row_cells() const {
        constexpr int FEW_CLASSES = 8;
        return !single_output && n_classes <= FEW_CLASSES;
    }
    // Calls move(index, weight) for every class weight of the cell that is not zero.
    template <class Move>
    void for_each(const Cell* cell, Move move) {
        if constexpr (with_numbers) {
            if (!classes.empty()) return for_each_number(cell, move);
        }
        for (size_t i = 0; i < total.size(); ++i) {
            if (cell[weighted + i] != 0) move(i, static_cast<int64_t>(cell[weighted + i]));
        }
        for (int c = 0; c < stride; ++c) w_left += cell[weighted + c];
    }
    template <class Move>
    void for_each_number(const Cell* cell, Move move) {
        for (size_t k = 0; k < classes.size(); ++k) {
            const int64_t weight = cell[weighted + classes[k]];
            if (weight != 0) move(k, weight);
            w_left += weight;
        }
    }
    // A score of many classes looks at them all: false if the fit was given up meanwhile.
    bool may_score() const {
        constexpr size_t MANY = 16;
        return total.size() <= MANY || this->go_on(total.size());
    }

    static constexpr bool has_means = true;
    // By the share of one of two classes, or of each that is not very rare.
    int n_orders() const { return n_classes == 2 ? 1 : stride; }
    bool has_order(int order) const {
        constexpr int64_t RARE = 256;
        return n_classes == 2 || total[order] > w_total / RARE;
    }
    Mean mean_left(int order) const { return {left[n_classes == 2 ? 1 : order], w_left}; }

    double value_left() const { return to_double(left[0]) / to_double(w_left); }
    double value_right() const { return to_double(right[0]) / to_double(w_total - w_left); }
};

// Gini: sum_c l_c^2 / w_L + sum_c r_c^2 / w_R, the sums of squares updated, not recomputed.
// They are exact: 64 bits hold them for up to 2**31 rows, 128 bits for any weights.
template <class Weights, class Class, bool single_output>
struct Gini : ClassWeights<Weights, Class, single_output> {
    using Base = ClassWeights<Weights, Class, single_output>;
    using Cell = typename Base::Cell;
    using Square = std::conditional_t<Weights::weighted, wide_t, int64_t>;
    using Base::left, Base::right, Base::total, Base::w, Base::w_left, Base::w_total, Base::y;

    Square squares_total = 0, squares_left = 0, squares_right = 0;  // of all outputs

    explicit Gini(const Targets& targets) : Base(targets) {}

    void begin_node(const uint32_t* rows, uint32_t n) {
        Base::begin_node(rows, n);
        square_totals();
    }
    void begin_cell(const Cell* cell) {
        Base::begin_cell(cell);
        square_totals();
    }
    void begin_totals(const Totals& totals, const uint32_t* rows, uint32_t n) {
        Base::begin_totals(totals, rows, n);
        square_totals();
    }
    void square_totals() {
        squares_total = 0;
        for (const Square weight : total) squares_total += weight * weight;
    }
    void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) const {
        out.weight = to_double(w_total) * this->t.weight_unit;
        if constexpr (single_output && !Weights::weighted) {
            // Below 2**53 every sum of squares is exact: one formula, whatever the order.
            constexpr int64_t EXACT = int64_t{1} << 26;
            if (w_total < EXACT) {
                const double squares = to_double(squares_total), weight = to_double(w_total);
                out.impurity = 1.0 - squares / (weight * weight);
                out.pure = squares_total == w_total * w_total;
                return;
            }
        }
        out.impurity = this->mean_impurity(total, to_double(w_total), add_gini);
        out.pure = this->t.has_negative_weights ? are_alike(y, this->outputs(), rows, n)
                                                : this->is_pure();
    }

    void reset() {
        this->reset_weights();
        squares_left = 0;
        squares_right = squares_total;
    }
    // (l + w)^2 = l^2 + w (2 l + w) and (r - w)^2 = r^2 - w (2 r - w), here of n_moved class
    // weights that sum to l and r.
    template <class Sum>
    void move_squares(Sum l, Sum r, int64_t weight, int n_moved) {
        const Sum moved = static_cast<Sum>(n_moved) * weight;
        squares_left += static_cast<Square>(weight) * (2 * l + moved);
        squares_right -= static_cast<Square>(weight) * (2 * r - moved);
    }
    void add(uint32_t row) {
        using Sum = std::conditional_t<single_output, int64_t, Square>;
        const Class* classes = y + static_cast<size_t>(row) * this->outputs();
        const int64_t weight = w[row];
        int64_t *l = left.data(), *r = right.data();
        Sum sum_left = 0, sum_right = 0;
        for (int k = 0; k < this->outputs(); ++k, l += this->stride, r += this->stride) {
            const size_t c = classes[k];
            sum_left += l[c];
            sum_right += r[c];
            l[c] += weight;
            r[c] -= weight;
        }
        move_squares<Sum>(sum_left, sum_right, weight, this->outputs());
        w_left += weight;
    }
    void add_cell(const Cell* cell) {
#if FASTTREE_X86
        if constexpr (!Weights::weighted) {
            if (this->t.simd == SIMD_AVX512 && this->classes.empty()) return add_counts(cell);
        }
#endif
        this->for_each(cell, [this](size_t i, int64_t weight) {
            move_squares<int64_t>(left[i], right[i], weight, 1);
            left[i] += weight;
            right[i] -= weight;
        });
    }
#if FASTTREE_X86
    // The same for row counts, 8 classes at a time; the squares of all are summed anew.
    FASTTREE_AVX512 void add_counts(const int32_t* cell) {
        __m512i l2 = _mm512_setzero_si512(), r2 = l2, rows = l2;
        const int size = static_cast<int>(total.size());
        for (int c = 0; c < size; c += 8) {
            const uint32_t n = static_cast<uint32_t>(std::min(8, size - c));
            const __mmask8 lanes = static_cast<__mmask8>(low_bits(n));
            const __m512i moved =
                _mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(lanes, cell + c));
            const __m512i l = _mm512_add_epi64(_mm512_maskz_loadu_epi64(lanes, &left[c]), moved);
            const __m512i r = _mm512_sub_epi64(_mm512_maskz_loadu_epi64(lanes, &right[c]), moved);
            _mm512_mask_storeu_epi64(&left[c], lanes, l);
            _mm512_mask_storeu_epi64(&right[c], lanes, r);
            rows = _mm512_add_epi64(rows, moved);
            l2 = _mm512_add_epi64(l2, _mm512_mul_epi32(l, l));  // counts fit 31 bits
            r2 = _mm512_add_epi64(r2, _mm512_mul_epi32(r, r));
        }
        w_left += _mm512_reduce_add_epi64(rows) / this->outputs();
        squares_left = _mm512_reduce_add_epi64(l2);
        squares_right = _mm512_reduce_add_epi64(r2);
    }
#endif

    // Both children pure: possible with two classes only; small squares are exact. Of many outputs
    // all ways to separate few rows are tried.
    double perfect_score(const uint32_t* rows, uint32_t n) {
        if (this->t.has_negative_weights) return INFINITE;
        if constexpr (!single_output) return best_of_few<true>(*this, rows, n, 4);
        constexpr int64_t EXACT = int64_t{1} << 20;
        return w_total < EXACT ? to_double(w_total) : INFINITE;
    }
    double score() const {
        return to_double(squares_left) / to_double(w_left)
               + to_double(squares_right) / to_double(w_total - w_left);
    }
    // The score without its divisions.
    bool may_beat(double best) const {
        const double wl = to_double(w_left), wr = to_double(w_total - w_left);
        return to_double(squares_left) * wr + to_double(squares_right) * wl >
               best * (wl * wr) * SCREEN;
    }
    double sklearn_score() const {
        const double wl = to_double(w_left), wr = to_double(w_total - w_left);
        return -wr * this->mean_impurity(right, wr, add_gini)
               - wl * this->mean_impurity(left, wl, add_gini);
    }
};

// Entropy: sum_c f(l_c) + f(r_c) - f(w_L) - f(w_R), f(x) = x log2 x, summed over outputs.
// The screen keeps the class terms as fixed-point integers; they telescope exactly, so their
// error is that of their last values alone: half a unit each.
template <class Weights, class Class, bool single_output>
struct Entropy : ClassWeights<Weights, Class, single_output> {
    using Base = ClassWeights<Weights, Class, single_output>;
    using Cell = typename Base::Cell;
    using Base::left, Base::right, Base::total, Base::w, Base::w_left, Base::w_total, Base::y;

    double scale;                  // fixed-point units per 1.0
    std::vector<int64_t> table;    // f of 0 .. n_rows, unweighted
    int64_t terms = 0, terms_total = 0;
    double slack = 0.0;

    explicit Entropy(const Targets& targets) : Base(targets) {
        // The terms of all outputs together stay below 2**61.
        double n = targets.n_rows + 1.0;
        if constexpr (Weights::weighted) {
            n = 1.0;
            for (uint32_t i = 0; i < targets.n_rows; ++i) n += std::fabs(to_double(w[i]));
        }
        const double largest = 2.0 * n * (std::log2(n) + 1.0) * this->n_outputs;
        scale = std::exp2(std::floor(61.0 - std::log2(largest)));
        if constexpr (!Weights::weighted) {
            table.resize(static_cast<size_t>(targets.n_rows) + 1);
            for (size_t i = 0; i < table.size(); ++i) table[i] = rounded(static_cast<int64_t>(i));
        }
    }
    int64_t rounded(int64_t x) const { return std::llrint(xlog2x(to_double(x)) * scale); }
    int64_t term(int64_t x) const {
        if constexpr (Weights::weighted) return rounded(x);
        return table[static_cast<size_t>(x)];
    }

    void begin_node(const uint32_t* rows, uint32_t n) {
        Base::begin_node(rows, n);
        sum_terms();
    }
    void begin_cell(const Cell* cell) {
        Base::begin_cell(cell);
        sum_terms();
    }
    void begin_totals(const Totals& totals, const uint32_t* rows, uint32_t n) {
        Base::begin_totals(totals, rows, n);
        sum_terms();
    }
    void sum_terms() {
        terms_total = 0;
        for (int64_t weight : total) terms_total += term(weight);
        const double n_terms = 2.0 * total.size() + 2.0 * this->outputs() + 2.0;
        slack = n_terms / scale + 4e-16 * n_terms * this->outputs() * xlog2x(to_double(w_total));
    }
    void node_stats(const uint32_t*, uint32_t, NodeStats& out) const {
        out.weight = to_double(w_total) * this->t.weight_unit;
        out.impurity = this->mean_impurity(total, to_double(w_total), add_entropy);
        out.pure = this->is_pure();
    }

    void reset() {
        this->reset_weights();
        terms = terms_total;
    }
    void move(size_t i, int64_t weight) {
        terms -= term(left[i]) + term(right[i]);
        left[i] += weight;
        right[i] -= weight;
        terms += term(left[i]) + term(right[i]);
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

    double estimate() const {
        const int64_t children = term(w_left) + term(w_total - w_left);
        return to_double(terms - this->outputs() * children) / scale;
    }
    double estimate_error() const { return slack; }
    bool may_beat(double best) const { return estimate() + slack > best; }
    // Both children pure: the terms cancel exactly, and no others round to more. Of many outputs
    // all ways to separate few rows are tried.
    double perfect_score(const uint32_t* rows, uint32_t n) {
        if constexpr (!single_output) return best_of_few<true>(*this, rows, n, 3);
        constexpr int64_t LARGEST = int64_t{1} << 31;
        return w_total < LARGEST ? 0.0 : INFINITE;
    }
    double score() const {
        if (!this->may_score()) return MINUS_INFINITY;
        double sum = 0.0;
        for (size_t i = 0; i < total.size(); ++i) {
            sum += xlog2x(to_double(left[i])) + xlog2x(to_double(right[i]));
        }
        const double children = xlog2x(to_double(w_left)) + xlog2x(to_double(w_total - w_left));
        return sum - this->outputs() * children;
    }
    double sklearn_score() const {
        const double wl = to_double(w_left), wr = to_double(w_total - w_left);
        return -wr * this->mean_impurity(right, wr, add_entropy)
               - wl * this->mean_impurity(left, wl, add_entropy);
    }
};

}  // namespace fasttree
