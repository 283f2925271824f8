// Candidates on the categories of a feature: one category against the rest, or the best set of
// categories.
//
// One category: O(n) for all of them together, or O(cells) where statistics are counted (superfast
// selection, Wang & Gupta 2024, Algorithm 4). Sets: with two classes, or a criterion that is a
// convex function of means, the best of all sets is a prefix of the groups in ascending order
// of their mean (Breiman et al. 1984, section 4.2; Fisher 1958), so N groups cost O(N log N)
// beyond that. With more classes no order need have it: single categories and the prefixes in the
// orders of each class's share, ties as in the one before, are tried: a heuristic. Missing values
// are a group; so are all numbers together, whose side is called right, because a number is in no
// set of categories.
#pragma once
#include <algorithm>

#include "engine/core/runs.hpp"
#include "engine/score/accumulator.hpp"

namespace fasttree {

template <class Acc>
class CategoryScan {
    Groups groups_, groups_of_best_;  // of several orders, that of the best candidate

public:
    const Groups& groups() const { return groups_; }

    // Calls consider(i, n_left, question) at every candidate: group i, or the first i of them.
    // It tells whether the accumulator's position became the best one.
    template <class Shape, class Consider>
    bool scan(Acc& acc, const Shape& shape, const Limits& limits, Consider consider) {
        collect(acc, shape);
        const uint32_t leaf = std::max(limits.min_samples_leaf, 1u);
        if constexpr (Acc::has_means) {
            if (limits.category_sets) {
                return acc.n_orders() == 1 ? scan_sets(acc, shape, leaf, 0, consider)
                                           : scan_orders(acc, shape, leaf, consider);
            }
        }
        return scan_categories(acc, shape, leaf, consider);
    }

private:
    template <class Shape, class Consider>
    bool scan_categories(Acc& acc, const Shape& shape, uint32_t leaf, Consider consider) {
        if constexpr (has_begin_pass<Acc>::value) acc.begin_categories(shape, groups_);
        bool found = false;
        for (uint32_t i = 0; i < groups_.size(); ++i) {
            const Group& group = groups_[i];
            if (category_of(group.cell) == NO_CATEGORY) continue;
            if (!acc.go_on(acc.work(group.n_rows))) break;
            if (group.n_rows < leaf || shape.n - group.n_rows < leaf) continue;
            if constexpr (has_begin_pass<Acc>::value) {
                acc.take_category(i);
            } else {
                acc.reset();
                add(acc, shape, group);
            }
            found |= consider(i, group.n_rows, CATEGORY);
        }
        return found;
    }

    template <class Shape, class Consider>
    bool scan_orders(Acc& acc, const Shape& shape, uint32_t leaf, Consider consider) {
        bool found = scan_categories(acc, shape, leaf, consider);
        groups_of_best_ = groups_;
        for (int order = 0; order < acc.n_orders(); ++order) {
            if (!acc.has_order(order)) continue;
            if (!acc.go_on(acc.work(shape.n))) break;
            if (scan_sets(acc, shape, leaf, order, consider)) {
                found = true;
                groups_of_best_ = groups_;
            }
        }
        groups_.swap(groups_of_best_);
        return found;
    }

    template <class Shape, class Consider>
    bool scan_sets(Acc& acc, const Shape& shape, uint32_t leaf, int order, Consider consider) {
        for (Group& group : groups_) {
            if (!acc.go_on(acc.work(group.n_rows))) return false;
            acc.reset();
            add(acc, shape, group);
            group.mean = acc.mean_left(order);
        }
        sort_by_mean(groups_);
        bool found = false, numbers_in_prefix = false;
        uint32_t n_prefix = 0;
        acc.reset();
        // Loop invariant: the accumulator's left child holds the first i groups.
        for (uint32_t i = 0; i + 1 < groups_.size();) {
            const Group& group = groups_[i++];
            add(acc, shape, group);
            n_prefix += group.n_rows;
            numbers_in_prefix |= group.is_numbers();
            const uint32_t n_left = numbers_in_prefix ? shape.n - n_prefix : n_prefix;
            if (n_left < leaf || shape.n - n_left < leaf) continue;
            found |= consider(i, n_left, CATEGORY_SET);
        }
        return found;
    }

    // The groups of the node, numbers first, then categories in code order, then missing.
    void collect(const Acc&, const Runs& runs) {
        const uint32_t n_numbers = runs.n - runs.n_missing, end = n_numbers + runs.n_categorical();
        groups_.clear();
        append(runs, 0, n_numbers);
        for (uint32_t start = n_numbers, p = n_numbers; p < end; start = p) {
            do ++p;
            while (p < end && !(runs.entries[p] & BOUNDARY));
            append(runs, start, p);
        }
        append(runs, end, runs.n);
    }
    void append(const Runs& runs, uint32_t first, uint32_t last) {
        if (first == last) return;
        groups_.push_back({runs.value(first), first, last, last - first, {0, 0}});
    }
    void collect(const Acc& acc, const Counts& counts) {
        const uint32_t missing = counts.n_values + counts.n_category_values;
        const uint32_t n_numbers = counts.n - counts.n_missing;
        groups_.clear();
        if (n_numbers > 0) {
            groups_.push_back({counts.values[0], 0, counts.n_values, n_numbers, {0, 0}});
        }
        for (uint32_t c = counts.n_values; c <= missing; ++c) {
            const uint32_t n_rows = acc.cell_rows(cell(acc, counts, c));
            const float value = c < missing ? counts.values[c] : float_of_bits(MISSING_BITS);
            if (n_rows > 0) groups_.push_back({value, c, c + 1, n_rows, {0, 0}});
        }
    }

    // Moves the rows of a group to the left child.
    static void add(Acc& acc, const Runs& runs, const Group& group) {
        for (uint32_t p = group.first; p < group.last; ++p) acc.add(runs.entries[p] & ROW);
    }
    static void add(Acc& acc, const Counts& counts, const Group& group) {
        for (uint32_t c = group.first; c < group.last; ++c) {
            acc.add_cell(cell(acc, counts, c));
        }
    }
    static const typename Acc::Cell* cell(const Acc& acc, const Counts& counts, uint32_t c) {
        return static_cast<const typename Acc::Cell*>(counts.cells) + c * acc.cell_size();
    }
};

}  // namespace fasttree
