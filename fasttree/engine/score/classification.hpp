// Accumulators of classification: the criteria that score class weights.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/score/class_weights.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

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
        this->begin_common();
    }
    void begin_cell(const Cell* cell) {
        Base::begin_cell(cell);
        square_totals();
    }
    void begin_totals(const Totals& totals, const uint32_t* rows, uint32_t n) {
        Base::begin_totals(totals, rows, n);
        square_totals();
        this->begin_common();
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
    void take_side(const uint32_t* entries, uint32_t n, bool is_left) {
        this->count_side(entries, n, is_left);
        settle_left();
    }
    // What follows from the weights on the left.
    void settle_left() {
        call(this->t.simd, [this]() FASTTREE_INLINE {
            const int64_t *l = left.data(), *all = total.data();
            int64_t* r = right.data();
            Square of_left = 0, of_right = 0;
            for (size_t i = 0, n = total.size(); i < n; ++i) {
                r[i] = all[i] - l[i];
                of_left += static_cast<Square>(l[i]) * l[i];
                of_right += static_cast<Square>(r[i]) * r[i];
            }
            squares_left = of_left;
            squares_right = of_right;
        });
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
    void take_side(const uint32_t* entries, uint32_t n, bool is_left) {
        this->count_side(entries, n, is_left);
        terms = 0;
        for (size_t i = 0; i < total.size(); ++i) {
            right[i] = total[i] - left[i];
            terms += term(left[i]) + term(right[i]);
        }
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
