// The contract of accumulators, and what they share.
//
// An accumulator moves rows, or whole cells of a count table, from the right child to the left
// one in O(1) per row and output and scores the position. Scores are functions of the exact
// integer sums alone, larger is better; whatever is kept incrementally only screens candidates, or
// is itself exact. What takes long for a single feature counts its steps itself, and scores
// nothing once the fit is given up.
//
// `is_accumulator` lists the members. A new criterion can begin as this one, a misclassification
// rate, and grow what makes it fast: cells for count tables, an `advance` (advance.hpp), bounds
// (scan/bounds.hpp), a scan of blocks (scan/block_scan.hpp).
//
// EXAMPLE
// template <class Weights>
// struct Misclassification : AccumulatorBase<Weights> {
//     using Base = AccumulatorBase<Weights>;
//     using Base::t, Base::w, Base::w_left, Base::w_total;
//     using Cell = int64_t;
//     static constexpr bool has_cells = false;  // features are read as runs
//     static constexpr bool has_means = false;  // categories have no order
//     const uint8_t* y;
//     std::vector<int64_t> total, left;         // weight of each class
//
//     explicit Misclassification(const Targets& targets)
//         : Base(targets), y(static_cast<const uint8_t*>(targets.classes)),
//           total(targets.max_n_classes), left(total.size()) {}
//     uint64_t work(uint32_t n) const { return n + total.size(); }
//     void begin_node(const uint32_t* rows, uint32_t n) {
//         reset();
//         for (uint32_t i = 0; i < n; ++i) add(rows[i]);
//         total = left;
//         w_total = w_left;
//     }
//     void node_stats(const uint32_t*, uint32_t, NodeStats& out) const {
//         const int64_t largest = *std::max_element(total.begin(), total.end());
//         out.weight = to_double(w_total) * t.weight_unit;
//         out.impurity = 1.0 - to_double(largest) / to_double(w_total);
//         out.pure = largest == w_total;
//     }
//     void node_value(double* value) const {
//         for (size_t c = 0; c < total.size(); ++c)
//             value[c] = to_double(total[c]) / to_double(w_total);
//     }
//     void reset() {
//         std::fill(left.begin(), left.end(), 0);
//         w_left = 0;
//     }
//     void add(uint32_t row) {
//         left[y[row]] += w[row];
//         w_left += w[row];
//     }
//     double score() const {
//         int64_t most_left = 0, most_right = 0;
//         for (size_t c = 0; c < total.size(); ++c) {
//             most_left = std::max(most_left, left[c]);
//             most_right = std::max(most_right, total[c] - left[c]);
//         }
//         return to_double(most_left + most_right);
//     }
//     bool may_beat(double best) const { return score() > best; }
//     double sklearn_score() const { return score(); }
//     double perfect_score(const uint32_t*, uint32_t) const { return to_double(w_total); }
//     double value_left() const { return to_double(left[0]) / to_double(w_left); }
//     double value_right() const {
//         return to_double(total[0] - left[0]) / to_double(w_total - w_left);
//     }
// };
// END OF EXAMPLE
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/core/impurity.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/targets.hpp"
#include "utils/_interrupt.hpp"

namespace fasttree {

// Relative slack of the screens: they never reject what the score would accept.
constexpr double SCREEN = 1.0 - 1e-13;

// The fit's targets and the weights on either side of the position.
template <class Weights>
struct AccumulatorBase : Watched {
    static constexpr bool weighted = Weights::weighted;

    const Targets& t;
    Weights w;
    int64_t w_total = 0, w_left = 0;  // of the node; left of the position

    explicit AccumulatorBase(const Targets& targets) : t(targets), w(targets) {}

    double weight_left() const { return to_double(w_left) * t.weight_unit; }
    double weight_right() const { return to_double(w_total - w_left) * t.weight_unit; }

    // Orders of categories: one, unless an accumulator says otherwise.
    static constexpr int n_orders() { return 1; }
    static constexpr bool has_order(int) { return true; }
};

// Accumulators whose pass does not begin with an empty left child (and the missing rows, if they go
// left): begin_pass(runs, missing_left) instead of reset(), and for categories
// begin_categories(runs, groups) and take_category(group).
template <class Acc, class = void>
struct has_begin_pass : std::false_type {};
template <class Acc>
struct has_begin_pass<Acc, std::void_t<decltype(&Acc::begin_pass)>> : std::true_type {};

// Accumulators whose score() looks at every class, and whose estimate() of it, off by at most
// estimate_error(), does not.
template <class Acc, class = void>
struct has_estimate : std::false_type {};
template <class Acc>
struct has_estimate<Acc, std::void_t<decltype(&Acc::estimate)>> : std::true_type {};

// Accumulators that look along a feature for positions worth a score: `screen.find`, unless
// weights are negative. Then move_rows(entries, n) moves n rows to the left.
template <class Acc, class = void>
struct has_screen : std::false_type {};
template <class Acc>
struct has_screen<Acc, std::void_t<decltype(std::declval<Acc&>().move_rows(nullptr, 0u))>>
    : std::true_type {};

// Accumulators that can go to any position at the cost of counting the rows of one side:
// take_side(entries, n, is_left), of all rows on that side.
template <class Acc, class = void>
struct has_sides : std::false_type {};
template <class Acc>
struct has_sides<Acc, std::void_t<decltype(&Acc::take_side)>> : std::true_type {};

// Accumulators that can begin with a cell of a node's rows instead: begin_cell(cell).
template <class Acc, class = void>
struct has_begin_cell : std::false_type {};
template <class Acc>
struct has_begin_cell<Acc, std::void_t<decltype(&Acc::begin_cell)>> : std::true_type {};

// Accumulators that can begin with the totals of a node's rows instead: begin_totals(totals, rows,
// n), and write_totals(out) of the node begun last, or nothing if it has none.
template <class Acc, class = void>
struct has_totals : std::false_type {};
template <class Acc>
struct has_totals<Acc, std::void_t<decltype(&Acc::begin_totals)>> : std::true_type {};

// Accumulators whose statistics of a node follow from its totals, unless weights are negative.
template <class Acc, class = void>
struct has_stats_of_totals : std::false_type {};
template <class Acc>
struct has_stats_of_totals<Acc, std::void_t<decltype(Acc::stats_of_totals)>>
    : std::bool_constant<Acc::stats_of_totals> {};

// Accumulators of many outputs that may count a row by adding the cell of that row alone to others:
// with_row_cells() tells whether it pays.
template <class Acc, class = void>
struct has_row_cells : std::false_type {};
template <class Acc>
struct has_row_cells<Acc, std::void_t<decltype(&Acc::with_row_cells)>> : std::true_type {};

// The best score of all ways to separate at most `most` rows, at least one, or infinity for more of
// them. Leaves the accumulator at some position. `screened`: a score costs more than its screen.
template <bool screened, class Acc>
inline double best_of_few(Acc& acc, const uint32_t* rows, uint32_t n, uint32_t most) {
    if (n > most) return INFINITE;
    double best = MINUS_INFINITY;
    for (uint32_t left = 1; left < 1u << (n - 1); ++left) {  // the last row on the right
        acc.reset();
        for (uint32_t i = 0; i + 1 < n; ++i) {
            if (left >> i & 1) acc.add(rows[i]);
        }
        if (!screened || acc.may_beat(best)) best = std::max(best, acc.score());
    }
    return best;
}

// The class that declares a member.
template <class Member>
struct declared_in;
template <class Class, class... Args>
struct declared_in<void (Class::*)(Args...)> {
    using type = Class;
};

// Whether a class has the members of an accumulator; what is missing is an error that names it.
template <class Acc>
constexpr bool is_accumulator() {
    using Const = const Acc&;
    static_assert(std::is_base_of_v<Watched, Acc>, "it counts its steps");
    static_assert(std::is_constructible_v<Acc, const Targets&>);
    // Steps of a scan of n rows, each of about a row's worth.
    static_assert(std::is_same_v<decltype(std::declval<Const>().work(0u)), uint64_t>);
    // Takes a node's rows, ascending; its statistics and value, of the same rows.
    using BeginNode = decltype(std::declval<Acc&>().begin_node(nullptr, 0u));
    using Stats = decltype(std::declval<Acc&>().node_stats(nullptr, 0u,
                                                           std::declval<NodeStats&>()));
    using Value = decltype(std::declval<Const>().node_value(nullptr));
    static_assert(std::is_void_v<BeginNode> && std::is_void_v<Stats> && std::is_void_v<Value>);
    // Who begins a node in a way of its own begins a cell and totals so, too.
    using OfNode = typename declared_in<decltype(&Acc::begin_node)>::type;
    if constexpr (has_begin_cell<Acc>::value) {
        using OfCell = typename declared_in<decltype(&Acc::begin_cell)>::type;
        static_assert(std::is_same_v<OfNode, OfCell>, "begin_node has a begin_cell beside it");
    }
    if constexpr (has_totals<Acc>::value) {
        using OfTotals = typename declared_in<decltype(&Acc::begin_totals)>::type;
        static_assert(std::is_same_v<OfNode, OfTotals>, "begin_node has a begin_totals beside it");
    }
    // All rows to the right; one of them to the left.
    if constexpr (!has_begin_pass<Acc>::value) {
        static_assert(std::is_void_v<decltype(std::declval<Acc&>().reset())>);
    }
    static_assert(std::is_void_v<decltype(std::declval<Acc&>().add(0u))>);
    // What the position is worth; false only if that is not more than `best`; the worth by
    // scikit-learn's formula (replay); what no position of these rows exceeds, or infinity.
    static_assert(std::is_same_v<decltype(std::declval<Const>().score()), double>);
    static_assert(std::is_same_v<decltype(std::declval<Const>().may_beat(0.0)), bool>);
    static_assert(std::is_same_v<decltype(std::declval<Const>().sklearn_score()), double>);
    using Perfect = decltype(std::declval<Acc&>().perfect_score(nullptr, 0u));
    static_assert(std::is_same_v<Perfect, double>);
    // Of the children: sums of weights, and what monotonic constraints compare.
    static_assert(std::is_same_v<decltype(std::declval<Const>().weight_left()), double>);
    static_assert(std::is_same_v<decltype(std::declval<Const>().weight_right()), double>);
    static_assert(std::is_same_v<decltype(std::declval<Const>().value_left()), double>);
    static_assert(std::is_same_v<decltype(std::declval<Const>().value_right()), double>);
    using Cell = typename Acc::Cell;
    if constexpr (Acc::has_cells) {
        // Cells in a value's statistics; what adds a row to them; their rows; moves them to the
        // left.
        static_assert(std::is_same_v<decltype(std::declval<Const>().cell_size()), size_t>);
        using Fill = decltype(std::declval<Const>().cell_adder(0u)(std::declval<Cell*>()));
        using Move = decltype(std::declval<Acc&>().add_cell(std::declval<const Cell*>()));
        static_assert(std::is_void_v<Fill> && std::is_void_v<Move>);
        static_assert(std::is_same_v<decltype(std::declval<Const>().cell_rows(
            std::declval<const Cell*>())), uint32_t>);
    }
    // The orders of categories in which the best set is looked for, which of several the node has,
    // and the means of the left child by which they are sorted.
    if constexpr (Acc::has_means) {
        static_assert(std::is_same_v<decltype(std::declval<Const>().n_orders()), int>);
        static_assert(std::is_same_v<decltype(std::declval<Const>().has_order(0)), bool>);
        static_assert(std::is_same_v<decltype(std::declval<Const>().mean_left(0)), Mean>);
    }
    return true;
}

}  // namespace fasttree
