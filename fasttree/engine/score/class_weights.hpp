// Class weights left and right of a position: what the accumulators of classification share.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/score/accumulator.hpp"
#include "engine/score/common_class.hpp"
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
    static constexpr bool stats_of_totals = !with_numbers;
    static constexpr bool with_common = single_output && sizeof(Class) == 1 && !weighted;

    const int n_outputs, n_classes;
    const Class* y;                          // of the fit, or numbers of the node's classes
    int stride;
    std::vector<int64_t> total, left, right;
    std::vector<uint32_t> classes;           // by number; empty: all classes
    std::vector<uint32_t> number;            // [n_classes], all 0 between nodes
    std::vector<Class> numbers;              // [n_rows] of the node's rows
    CommonClass common;                      // of the node; only if with_common

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
        common.leave_node();
        count_rows(rows, n, total.data());
        w_total = std::accumulate(total.begin(), total.begin() + stride, int64_t{0});
    }
    // A node whose statistics are in a cell; its classes have no numbers.
    void begin_cell(const Cell* cell) {
        w_total = 0;
        for (size_t i = 0; i < total.size(); ++i) total[i] = cell[weighted + i];
        for (int c = 0; c < stride; ++c) w_total += total[c];
        common.leave_node();
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
        common.leave_node();
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
    // For criteria of classes that stay the same during the fit, in nodes that will be scanned.
    void begin_common() {
        if constexpr (with_common) common.begin_node(t.simd, total, w_total, y, t.n_rows);
    }
    // Adds the class weights of rows, or of entries, to `counts`. Many are counted in tables that
    // take turns: rows of one class often follow each other, and would wait for the one before.
    void count_rows(const uint32_t* entries, uint32_t n, int64_t* counts) const {
#if FASTTREE_X86
        if constexpr (with_common) {
            if (common.of_node() >= 0) return common.count(entries, n, y, counts);
        }
#endif
        constexpr int TABLES = 4, FEW_CLASSES = 16, CLASSES = 64;
        uint32_t i = 0;
        if constexpr (single_output) {
            const int least = TABLES * std::max(stride, FEW_CLASSES);
            if (stride <= CLASSES && n >= static_cast<uint32_t>(least)) {
                Cell tables[TABLES][CLASSES] = {};
                for (; i + TABLES <= n; i += TABLES) {
                    for (int k = 0; k < TABLES; ++k) {
                        const uint32_t row = entries[i + k] & ROW;
                        tables[k][y[row]] += static_cast<Cell>(w[row]);
                    }
                }
                for (const auto& table : tables) {
                    for (int c = 0; c < stride; ++c) counts[c] += table[c];
                }
            }
        }
        for (; i < n; ++i) {
            const size_t row = entries[i] & ROW;
            for (int k = 0; k < outputs(); ++k) {
                counts[k * stride + y[row * outputs() + k]] += w[entries[i] & ROW];
            }
        }
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
    // The weights on the left of a position of which the rows of one side are given, all that it
    // has. Those on the right are to follow.
    void count_side(const uint32_t* entries, uint32_t n, bool is_left) {
        std::fill(left.begin(), left.end(), 0);
        count_rows(entries, n, left.data());
        for (size_t i = 0; i < total.size() && !is_left; ++i) left[i] = total[i] - left[i];
        w_left = std::accumulate(left.begin(), left.begin() + stride, int64_t{0});
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

}  // namespace fasttree
