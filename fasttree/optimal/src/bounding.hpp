// Bounds: what is known of a subproblem before, and instead of, a search.
//
// Lower bounds of a child come from similarity (to siblings, cousins, the parent), from rows that
// are equal in all features and from the cache; upper limits from what its parent can still use.
#pragma once

#include "search.hpp"

namespace fasttree::optimal {

// Slack rows of its children (depth k - 1) and, for its siblings to come, pairs (depth k - 2).
inline void Worker::open_tables(Node& node) {
    constexpr ptrdiff_t kMaxPairs = ptrdiff_t{1} << 24;  // elements: 64 MiB
    const ptrdiff_t row_size = 2 * problem_.stride;
    const int n_pair_budgets = range(node.depth - 2).size();
    if (node.depth >= 4 && team_.options.with_cousin_bound &&
        n_pair_budgets * row_size * row_size <= kMaxPairs)
        node.pairs.reset(n_pair_budgets, row_size, row_size);
    else
        node.pairs.disable();
    if (!node.parent || !node.parent->pairs.is_used())
        node.own.reset(range(node.depth - 1).size(), 1, row_size);
}

// Impurity left by a split, as a fraction of the node's weight.
inline double Worker::gini(const Node& node, int feature) const {
    double purity = 0;
    for (bool side : {false, true}) {
        const Literal literal{feature, side};
        double squares = 0;
        for (int m = 0; m < problem_.n_matrices; ++m) {
            const double c = node.total_of(m, literal);
            squares += c * c;
        }
        purity += squares / node.weight_of(literal);
    }
    return std::max(0.0, 1 - purity / node.total_weight);
}

// The features that split the node, best first; ties in order of the features.
inline void Worker::order_features(Node& node, int order) {
    constexpr double kRankScale = 1 << 30;
    ranks_.clear();
    for (int f = 0; f < problem_.n_features; ++f) {
        if (!node.is_allowed(problem_, f)) continue;
        uint64_t rank = 0;
        if (order == kLookAhead) {
            rank = static_cast<uint32_t>(node.total_base - node.stump_gain[0][f] -
                                         node.stump_gain[1][f]);
        } else if (order == kGini) {
            rank = static_cast<uint32_t>(gini(node, f) * kRankScale);
        } else if (order == kRandom) {
            rank = mix(team_.options.seed + mix(node.depth * 1000003ull + f, 0), 0) >> 33;
        }
        ranks_.push_back(rank << 32 | static_cast<uint32_t>(f));
    }
    std::sort(ranks_.begin(), ranks_.end());
    node.order.resize(ranks_.size());
    for (size_t k = 0; k < ranks_.size(); ++k)
        node.order[k] = static_cast<int32_t>(ranks_[k] & 0xffffffffu);
}

// Fill in what is known of both children without looking at them; false if that settles it.
inline bool Worker::bound_sides(Node& node, int feature, Solution* sides) {
    const BudgetRange child = range(node.depth - 1);
    const SearchOptions& options = team_.options;
    const int size = plan_size(node.depth - 1);
    for (bool side : {false, true}) {
        const Literal literal{feature, side};
        sides[side].resize(node.depth - 1, child);
        const int32_t leaf = node.leaf_error(problem_, literal);
        const int32_t stump = std::min(leaf, node.stump_error(literal));
        const int32_t removed = node.total_weight - node.weight_of(literal);
        const int32_t conflict = options.with_conflict_bound ? node.conflict_of(literal) : 0;
        for (int n = child.low; n <= child.high; ++n) {
            const int k = n - child.low;
            sides[side].upper[k] = n == 0 ? leaf : stump;
            sides[side].lower[k] = n <= 1 ? sides[side].upper[k] : conflict;
            // The best tree of depth two of the whole node; two nodes make no deeper one.
            if (options.with_parent_bound && (n == 2 || (n == 3 && node.depth == 3))) {
                const int32_t whole = node.total_base - node.gains.of[n];
                sides[side].lower[k] = std::max(conflict, whole - removed);
            }
            if (size) sides[side].plan[k * size].feature = kTerminal;
        }
    }
    const int32_t* weights = node.weights.get() + feature * problem_.stride;
    for (int n = child.high; n >= child.low; --n) {
        const int k = n - child.low;
        if (n > 1 && (options.with_sibling_bound || options.with_cousin_bound)) {
            SlackRows rows{options.with_sibling_bound ? own_row(node, k) : nullptr, nullptr,
                           nullptr};
            if (node.parent && node.parent->pairs.is_used()) {
                rows.positive = node.parent->pairs.row(k, feature);
                rows.negative = node.parent->pairs.row(k, feature + problem_.stride);
            }
            int32_t bounds[2] = {sides[0].lower[k], sides[1].lower[k]};
            node.set.kernels->bound(rows, weights, node.weight.data(), node.total_weight, feature,
                                    problem_.n_features, problem_.stride, problem_.is_limited(),
                                    bounds);
            for (int side = 0; side < 2; ++side) sides[side].lower[k] = bounds[side];
        }
        if (n < child.high)  // more nodes never hurt
            for (int side = 0; side < 2; ++side)
                sides[side].lower[k] = std::max(sides[side].lower[k], sides[side].lower[k + 1]);
    }
    return can_improve(node, sides);
}

// Bounds of a child, for its later siblings and for the siblings of its parent.
inline void Worker::record(Node& node, Literal literal, const Solution& side) {
    const BudgetRange child = range(node.depth - 1);
    const ptrdiff_t here = node.literal_row(problem_, literal);
    const int32_t weight = node.weight_of(literal);
    const bool in_pairs = node.parent && node.parent->pairs.is_used();
    for (int k = 0; k < child.size(); ++k) {
        const int32_t slack = side.lower[k] - weight;
        SlackTable::raise(own_row(node, k) + here, slack);
        if (in_pairs)
            SlackTable::raise(node.parent->pairs.row(k, here) +
                                  node.parent->literal_row(problem_, node.via),
                              slack);
    }
}

// Whether some split of some budget between the sides undercuts what is known, by their bounds.
inline bool Worker::can_improve(Node& node, const Solution* sides) {
    const auto lock = guard(node);
    const BudgetRange child = range(node.depth - 1);
    for (int n = node.range.low; n <= node.range.high; ++n) {
        const int32_t target = node.target(n);
        if (node.solution.lower[n - node.range.low] >= target) continue;
        for (int i = std::max(0, n - 1 - child.high); i <= std::min(child.high, n - 1); ++i)
            if (sides[0].lower[i - child.low] + sides[1].lower[n - 1 - i - child.low] < target)
                return true;
    }
    return false;
}

inline void Worker::close_feature(Node& node, const Solution* sides) {
    const auto lock = guard(node);
    const BudgetRange child = range(node.depth - 1);
    for (int n = node.range.low; n <= node.range.high; ++n) {
        int32_t& floor = node.floor[n - node.range.low];
        for (int i = std::max(0, n - 1 - child.high); i <= std::min(child.high, n - 1); ++i)
            floor = std::min(floor, sides[0].lower[i - child.low] +
                                        sides[1].lower[n - 1 - i - child.low]);
    }
}

// What the parent can still use of a child, given what the other child will cost at least.
inline void Worker::set_limit(Node& child, Node& parent,
                              const std::vector<int32_t>& sibling_lower) {
    if (&child.sibling_lower != &sibling_lower) child.sibling_lower = sibling_lower;
    const auto lock = guard(parent);
    child.parent_version.store(parent.version.load(std::memory_order_relaxed),
                               std::memory_order_relaxed);
    const BudgetRange range_ = range(parent.depth - 1);
    if (!team_.options.with_upper_bound) {
        child.limit.assign(range_.size(), kInfinite);
        return;
    }
    child.limit.assign(range_.size(), 0);
    for (int n = parent.range.low; n <= parent.range.high; ++n) {
        const int32_t target = parent.target(n);
        if (parent.solution.lower[n - parent.range.low] >= target) continue;
        for (int i = std::max(0, n - 1 - range_.high); i <= std::min(range_.high, n - 1); ++i) {
            int32_t& limit = child.limit[i - range_.low];
            limit = std::max(limit, target - sibling_lower[n - 1 - i - range_.low]);
        }
    }
}

// Other threads may have improved an ancestor since the node was started.
inline void Worker::refresh_limit(Node& node) {
    if (node.parent->parent) refresh_limit(*node.parent);
    if (node.parent->version.load(std::memory_order_relaxed) ==
        node.parent_version.load(std::memory_order_relaxed))
        return;
    const auto lock = guard(node);
    set_limit(node, *node.parent, node.sibling_lower);
    node.version.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace fasttree::optimal
