// The rules of growth, in one place: when a node is a leaf, what a split is worth, what its
// children inherit.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/split.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_random.hpp"

namespace fasttree {

struct GrowthRules {
    int64_t max_depth;
    int64_t min_samples_split, min_samples_leaf;
    double min_weight_leaf;
    double min_impurity_decrease;
    double epsilon;                // slack of scikit-learn's comparisons with zero impurity and
                                   // the least improvement
    double root_weight;
    const int8_t* monotonic_cst;   // [n_features] or null
    Ties ties;
    bool category_sets;               // categories are split into sets, not one against the rest

    // Whether the node's own statistics make it a leaf.
    bool is_terminal(const Node& node) const noexcept {
        return is_terminal(node.depth, node.size(), node.stats);
    }
    bool is_terminal(uint32_t depth, uint32_t n_rows, const NodeStats& stats) const noexcept {
        return depth >= max_depth || n_rows < min_samples_split || n_rows < 2 * min_samples_leaf
               || stats.weight < 2 * min_weight_leaf
               || (ties.replay ? stats.impurity <= epsilon : stats.pure);
    }

    // Weighted decrease of impurity, as scikit-learn computes it.
    double improvement(const NodeStats& node, const NodeStats& left,
                       const NodeStats& right) const noexcept {
        const double weight = node.weight;
        return weight / root_weight
               * (node.impurity - right.weight / weight * right.impurity
                  - left.weight / weight * left.impurity);
    }
    // Without a limit every split counts, even if rounding made its improvement negative.
    bool accepts_all() const noexcept { return min_impurity_decrease <= 0.0 && !ties.replay; }
    bool accepts(double improvement) const noexcept {
        return accepts_all() || !(improvement + epsilon < min_impurity_decrease);
    }
    // Of a split, by the statistics of the node and its children.
    bool accepts(const NodeStats& node, const NodeStats& left,
                 const NodeStats& right) const noexcept {
        return accepts_all() || accepts(improvement(node, left, right));
    }

    // The fewest rows of a child.
    uint32_t least_rows() const noexcept {
        return static_cast<uint32_t>(std::max<int64_t>(min_samples_leaf, 1));
    }

    static uint64_t left_key(uint64_t key) noexcept { return mix(key, 0); }
    static uint64_t right_key(uint64_t key) noexcept { return mix(key, 1); }
    // The children of a split after position `middle`; their statistics follow.
    FASTTREE_INLINE void make_children(const Node& node, const Split& split, uint32_t middle,
                                       Node& left, Node& right) const noexcept {
        left = right = node;
        left.end = right.start = middle;
        left.depth = right.depth = node.depth + 1;
        left.key = left_key(node.key);
        right.key = right_key(node.key);
        left.table = right.table = NO_TABLE;
        const int constraint = monotonic_cst ? monotonic_cst[split.feature] : 0;
        if (constraint > 0) left.upper = right.lower = split.middle;
        if (constraint < 0) left.lower = right.upper = split.middle;
    }

    Limits limits_of(const Node& node, uint32_t feature) const noexcept {
        return {static_cast<uint32_t>(min_samples_leaf), min_weight_leaf,
                monotonic_cst ? monotonic_cst[feature] : 0, node.lower, node.upper, ties.replay,
                false, category_sets};
    }

    // The limits of a feature as far as they are the same for all and known before growth;
    // `checked` tells of those that are not.
    Limits common_limits() const noexcept {
        return {static_cast<uint32_t>(min_samples_leaf), min_weight_leaf, monotonic_cst ? 1 : 0,
                0.0, 0.0, ties.replay, false, category_sets};
    }

    // Keeps the value of a node within its bounds.
    void clip(const Node& node, std::vector<double>& value) const noexcept {
        if (!monotonic_cst) return;
        value[0] = std::min(std::max(value[0], node.lower), node.upper);
        if (value.size() == 2) value[1] = 1.0 - value[0];  // fractions of two classes
    }
};
static_assert(is_value<GrowthRules>);

}  // namespace fasttree
