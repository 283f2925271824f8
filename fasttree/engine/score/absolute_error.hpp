// Accumulator of the absolute error: errors about the medians of every prefix and suffix.
//
// A feature's pass needs, for each position, the absolute error of the rows on either side.
// Unweighted, the node's ordered targets form a linked list from which rows are deleted in
// feature order; a deletion moves the median by one place at most, so a pass costs O(n).
// Weighted, a Fenwick tree over the order is filled instead, O(n log n) whatever the weights.
// The order itself is sorted once per node, not once per feature.
#pragma once
#include <algorithm>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/targets.hpp"
#include "engine/score/accumulator.hpp"
#include "engine/score/category_errors.hpp"
#include "engine/score/error_sums.hpp"

namespace fasttree {

template <class Weights>
struct AbsoluteError : AccumulatorBase<Weights> {
    using Base = AccumulatorBase<Weights>;
    using Base::t, Base::w, Base::w_left, Base::w_total, Base::weighted;
    using Cell = int64_t;
    static constexpr bool has_cells = false;
    static constexpr bool has_means = false;
    static constexpr uint32_t STRETCH = 1 << 16;  // rows between two looks at the steps

    // The rows of a node in ascending order of one output.
    struct Order {
        std::vector<uint32_t> rows;
        std::vector<int64_t> levels;  // targets as integers
    };

    const int n_outputs;
    uint32_t n_left = 0, n_missing_left = 0;

    std::vector<Order> orders;               // [n_outputs]
    std::vector<uint32_t> place;             // [n_rows] place of a row in the current order
    std::vector<uint32_t> sequence;          // rows of the pass, left to right
    ErrorSums error_left, error_right;       // [n + 1] of the first i rows / of the others
    std::vector<double> median_left, median_right;   // [n + 1], of output 0
    std::vector<uint32_t> next, previous;    // linked list over places 1 .. n, 0 is the sentinel
    std::vector<wide_t> tree_sum;            // Fenwick trees over places
    std::vector<int64_t> tree_weight;
    CategoryErrors<Weights> categories;

    explicit AbsoluteError(const Targets& targets)
        : Base(targets), n_outputs(targets.n_outputs), orders(n_outputs) {}

    // Every row is entered twice, from the left and from the right; weighted, in a Fenwick tree.
    uint64_t work(uint32_t n) const {
        const int depth = weighted ? 32 - __builtin_clz(n | 1) : 1;
        return static_cast<uint64_t>(n) * n_outputs * 4 * depth;
    }
    void begin_node(const uint32_t* rows, uint32_t n) {
        place.resize(t.n_rows);
        w_total = 0;
        for (uint32_t i = 0; i < n; ++i) w_total += w[rows[i]];
        for (int k = 0; k < n_outputs; ++k) {
            const size_t offset = static_cast<size_t>(k) * t.n_rows;
            const uint32_t* rank = t.order_rank + offset;
            Order& order = orders[k];
            order.rows.assign(rows, rows + n);
            std::sort(order.rows.begin(), order.rows.end(),
                      [rank](uint32_t a, uint32_t b) { return rank[a] < rank[b]; });
            order.levels.resize(n);
            for (uint32_t i = 0; i < n; ++i) order.levels[i] = t.levels[offset + order.rows[i]];
        }
    }
    double unit(int k) const { return t.sum_unit[k] * t.weight_unit; }
    // Of errors in scores: those of a single output stay integers.
    double scale(int k) const { return n_outputs == 1 ? 1.0 : unit(k); }
    double raw_target(uint32_t row, int k) const {
        return t.y[static_cast<size_t>(row) * n_outputs + k];
    }
    // Lower weighted median of the node: its place, and whether half the weight ends just there.
    uint32_t median_place(const Order& order, bool& exact) const {
        int64_t below = 0;
        uint32_t i = 0;
        for (;; ++i) {
            below += w[order.rows[i]];
            if (2 * static_cast<wide_t>(below) >= w_total || i + 1 == order.rows.size()) break;
        }
        exact = 2 * static_cast<wide_t>(below) == w_total && i + 1 < order.rows.size();
        return i;
    }
    void node_stats(const uint32_t*, uint32_t n, NodeStats& out) const {
        out.weight = to_double(w_total) * t.weight_unit;
        out.impurity = 0.0;
        out.pure = true;
        for (int k = 0; k < n_outputs; ++k) {
            const Order& order = orders[k];
            bool exact;
            const int64_t median = order.levels[median_place(order, exact)];
            wide_t error = 0;
            for (uint32_t i = 0; i < n; ++i) {
                const wide_t deviation = static_cast<wide_t>(order.levels[i]) - median;
                error += (deviation < 0 ? -deviation : deviation) * w[order.rows[i]];
            }
            out.impurity += to_double(error) * unit(k);
            out.pure &= order.levels[0] == order.levels[n - 1];
        }
        out.impurity /= out.weight * n_outputs;
    }
    void node_value(double* value) const {
        for (int k = 0; k < n_outputs; ++k) {
            bool exact;
            const Order& order = orders[k];
            const uint32_t i = median_place(order, exact);
            value[k] = raw_target(order.rows[i], k);
            if (exact) value[k] = (value[k] + raw_target(order.rows[i + 1], k)) / 2;
        }
    }

    void begin_pass(const Runs& runs, bool missing_left) {
        const uint32_t n = runs.n, n_values = n - runs.n_missing;
        sequence.clear();
        if (missing_left) append(runs, n_values, n);
        append(runs, 0, n_values);
        if (!missing_left) append(runs, n_values, n);
        error_left.clear(n + 1, n_outputs);
        error_right.clear(n + 1, n_outputs);
        median_left.resize(n + 1);
        median_right.resize(n + 1);
        for (int k = 0; k < n_outputs; ++k) {
            for (uint32_t i = 0; i < n; ++i) place[orders[k].rows[i]] = i + 1;
            one_side(k, false, error_left, median_left.data());
            one_side(k, true, error_right, median_right.data());
        }
        w_left = n_left = 0;
        n_missing_left = missing_left ? runs.n_missing : 0;
        for (uint32_t i = 0; i < n_missing_left; ++i) add(sequence[i]);
    }
    void append(const Runs& runs, uint32_t start, uint32_t end) {
        for (uint32_t p = start; p < end; ++p) sequence.push_back(runs.entries[p] & ROW);
    }
    void add(uint32_t row) {
        w_left += w[row];
        n_left += 1;
    }

    // Adds output k's absolute errors of all prefixes of the sequence (of all suffixes if
    // `suffixes`) to error[number of rows on the left]; medians of output 0 alongside.
    void one_side(int k, bool suffixes, ErrorSums& error, double* median) {
        if constexpr (weighted) insert_all(k, suffixes, error, median);
        else delete_all(k, suffixes, error, median);
    }

    void delete_all(int k, bool suffixes, ErrorSums& error, double* median) {
        const std::vector<int64_t>& level = orders[k].levels;  // of place p: level[p - 1]
        const uint32_t n = static_cast<uint32_t>(sequence.size());
        next.resize(n + 2);
        previous.resize(n + 2);
        int64_t sum = 0, below = 0;  // of all rows present, of those before the median
        for (uint32_t p = 0; p <= n; ++p) {
            next[p] = p + 1;
            previous[p + 1] = p;
            if (p > 0) sum += level[p - 1];
        }
        uint32_t m = (n + 1) / 2;    // place of the lower median
        for (uint32_t p = 1; p < m; ++p) below += level[p - 1];
        // Loop invariant: the list holds the rows of the prefix (suffix) of length `size`,
        // m is its lower median and (size - 1) / 2 of its rows come before m.
        for (uint32_t size = n; size > 0; --size) {
            if (size % STRETCH == 0 && !this->go_on(work(STRETCH))) return;
            const bool even = size % 2 == 0;
            const int64_t middle = level[m - 1];
            const int64_t deviation = sum - 2 * below - (even ? 2 : 1) * middle;
            const uint32_t position = suffixes ? n - size : size;
            error.add(position, deviation, scale(k));
            if (k == 0) {
                const double value = raw_target(orders[k].rows[m - 1], k);
                median[position] =
                    even ? (value + raw_target(orders[k].rows[next[m] - 1], k)) / 2 : value;
            }
            const uint32_t p = place[sequence[suffixes ? position : size - 1]];
            sum -= level[p - 1];
            if (p < m) below -= level[p - 1];
            if (even && p <= m) {
                if (p < m) below += middle;
                m = next[m];
            } else if (!even && p >= m) {
                m = previous[m];
                if (m > 0) below -= level[m - 1];
            }
            next[previous[p]] = next[p];
            previous[next[p]] = previous[p];
        }
    }

    void insert_all(int k, bool suffixes, ErrorSums& error, double* median) {
        const Order& order = orders[k];
        const uint32_t n = static_cast<uint32_t>(sequence.size());
        uint32_t top = 1;
        while (2 * top <= n) top *= 2;
        tree_weight.assign(n + 1, 0);
        tree_sum.assign(n + 1, 0);
        int64_t weight = 0;
        wide_t sum = 0;
        for (uint32_t size = 1; size <= n; ++size) {
            if (size % STRETCH == 0 && !this->go_on(work(STRETCH))) return;
            const uint32_t row = sequence[suffixes ? n - size : size - 1];
            const uint32_t inserted = place[row];
            const wide_t product = static_cast<wide_t>(order.levels[inserted - 1]) * w[row];
            weight += w[row];
            sum += product;
            for (uint32_t p = inserted; p <= n; p += p & (0 - p)) {
                tree_weight[p] += w[row];
                tree_sum[p] += product;
            }
            // The places before the lower median hold less than half the weight; not all do.
            uint32_t before = 0;
            int64_t below = 0;
            wide_t sum_below = 0;
            for (uint32_t step = top; step > 0; step /= 2) {
                const uint32_t p = before + step;
                if (p < n && 2 * (static_cast<wide_t>(below) + tree_weight[p]) < weight) {
                    before = p;
                    below += tree_weight[p];
                    sum_below += tree_sum[p];
                }
            }
            const wide_t middle = order.levels[before];
            const wide_t deviation =
                middle * (2 * static_cast<wide_t>(below) - weight) + sum - 2 * sum_below;
            const uint32_t position = suffixes ? n - size : size;
            error.add(position, deviation, scale(k));
            if (k == 0) median[position] = weighted_median(order, before, weight);
        }
    }
    // Median of the inserted rows: the row after place `before`, or the middle between it and
    // the next inserted one if half the weight ends with it.
    double weighted_median(const Order& order, uint32_t before, int64_t weight) const {
        const double value = raw_target(order.rows[before], 0);
        const int64_t up_to = prefix_weight(before + 1);
        if (2 * static_cast<wide_t>(up_to) != weight) return value;
        const uint32_t n = static_cast<uint32_t>(order.rows.size());
        uint32_t p = std::min(before + 2, n);
        while (p < n && prefix_weight(p) == up_to) ++p;
        return (value + raw_target(order.rows[p - 1], 0)) / 2;
    }
    int64_t prefix_weight(uint32_t p) const {
        int64_t sum = 0;
        for (; p > 0; p -= p & (0 - p)) sum += tree_weight[p];
        return sum;
    }

    // One category against the rest: errors of all categories, then one of them as the position.
    void begin_categories(const Runs& runs, const Groups& groups) {
        categories.begin(runs, groups, t.n_rows, n_outputs);
        for (int k = 0; k < n_outputs; ++k) {
            categories.add(orders[k].rows, orders[k].levels, w, groups, scale(k));
        }
        error_left.clear(1, n_outputs);
        error_right.clear(1, n_outputs);
        n_left = 0;
    }
    void take_category(uint32_t group) {
        error_left.take(categories.left, group);
        error_right.take(categories.right, group);
        w_left = categories.weight_left[group];
    }

    double perfect_score(const uint32_t*, uint32_t) const { return 0.0; }
    bool may_beat(double best) const { return score() > best; }
    double score() const { return -error_left.sum_at(n_left, error_right); }
    double sklearn_score() const {
        const double wl = this->weight_left(), wr = this->weight_right();
        const double u = n_outputs == 1 ? unit(0) : 1.0;
        return -wr * (error_right.at(n_left) * u / (wr * n_outputs))
               - wl * (error_left.at(n_left) * u / (wl * n_outputs));
    }
    double value_left() const { return median_left[n_left]; }
    double value_right() const { return median_right[n_left]; }
};

}  // namespace fasttree
