// All that is below a node of a block, grown at once: squared error of one output.
//
// Most nodes of a tree have a few rows, and what is done once per node costs more there than the
// search. Here a node is a word of membership bits, targets stand beside the block's rows, and a
// split is looked up in their order: nothing is listed, and no features are visited one by one.
// Splits, statistics and values are those of `BlockSplitterOf`.
#pragma once
#include <cstdint>

#include "engine/core/split.hpp"
#include "engine/grow/nodes.hpp"
#include "engine/grow/rules.hpp"
#include "engine/order/block.hpp"
#include "engine/scan/block_search.hpp"
#include "engine/score/regression.hpp"
#include "engine/simd/bits.hpp"

namespace fasttree {

// By default nodes are split one by one.
template <class Acc>
class BlockGrowth {
public:
    static constexpr bool exists = false;
};

#if FASTTREE_X86

template <class Weights>
class BlockGrowth<SquaredError<Weights, true>> {
    using Acc = SquaredError<Weights, true>;
    struct Waiting {  // a node that is to be visited
        uint64_t members;
        uint32_t n_rows;
        BlockTotals totals;
        NodeStats stats;
        double value;
        uint32_t depth;
        uint32_t parent;  // the node of which it is the right child, or NO_NODE
    };
    double targets_[BLOCK_ROWS], weights_[BLOCK_ROWS];  // as given, by place
    Waiting waiting_[BLOCK_ROWS];  // no two share a row
    uint32_t n_waiting_ = 0;
    Split split_;

public:
    static constexpr bool exists = true;

    void open(const Acc& acc, const Block& block) {
        for (uint32_t i = 0; i < block.size(); ++i) {
            targets_[i] = acc.raw_target(block.rows[i], 0);
            weights_[i] = acc.raw_weight(block.rows[i]);
        }
    }
    // All features are searched, without limits on the children other than their rows being some.
    void grow(const GrowthRules& rules, const Acc& acc, Block& block, BlockSearch<Acc>& search,
              const Node& root, NodeStore& store) {
        NodesBelow below(store, root.record);
        n_waiting_ = 0;
        Waiting node{root.members, root.size(), search.totals(root.members), root.stats, 0.0,
                     root.depth, NodesBelow::NO_NODE};
        split(rules, acc, block, search, node, below.root(), below);
        while (n_waiting_ > 0) {
            node = waiting_[--n_waiting_];
            const uint32_t id =
                below.append(node.stats, node.n_rows, node.depth, &node.value, node.parent);
            if (rules.is_terminal(node.depth, node.n_rows, node.stats)) continue;
            split(rules, acc, block, search, node, id, below);
        }
    }

private:
    // Splits a node, if the rules accept it; its children are to be visited next.
    void split(const GrowthRules& rules, const Acc& acc, Block& block, BlockSearch<Acc>& search,
               const Waiting& node, uint32_t id, NodesBelow& below) {
        BlockBest best;
        if (!search.find(block, node.members, node.totals, best)) return;
        const BlockSides sides = search.sides(block, node.members, best);
        Waiting& right = waiting_[n_waiting_];
        Waiting& left = waiting_[n_waiting_ + 1];
        const uint32_t n_right = node.n_rows - best.n_left;
        const BlockTotals left_totals = search.totals(sides.left);
        take_child(acc, node, sides.left, best.n_left, left_totals, left);
        take_child(acc, node, node.members & ~sides.left, n_right, node.totals - left_totals,
                   right);
        if (!rules.accepts(node.stats, left.stats, right.stats)) return;
        take_split(block, best.feature, sides, best.n_left > n_right);
        below.split(id, split_);
        right.parent = id;
        left.parent = NodesBelow::NO_NODE;
        n_waiting_ += 2;
    }
    void take_child(const Acc& acc, const Waiting& parent, uint64_t members, uint32_t n_rows,
                    const BlockTotals& totals, Waiting& child) const {
        child.members = members;
        child.n_rows = n_rows;
        child.totals = totals;
        child.depth = parent.depth + 1;
        take_stats(acc, child);
    }
    void take_stats(const Acc& acc, Waiting& part) const {
        const uint64_t members = part.members;
        NodeStats& stats = part.stats;
        const double first = targets_[lowest_bit(members)];
        stats.weight = to_double(part.totals.weight) * acc.t.weight_unit;
        stats.pure = are_all(first, members);
        stats.impurity = 0.0;
        part.value = first;
        if (stats.pure) return;
        part.value = acc.raw_sum(part.totals.sum, part.totals.weight, 0) / stats.weight;
        Deviations deviations{part.value};
        for (uint64_t rest = members; rest != 0; rest &= rest - 1) {
            const int place = lowest_bit(rest);
            deviations.add(weights_[place], targets_[place]);
        }
        stats.impurity = acc.mean_square(deviations.squares, deviations.residual, stats.weight);
    }
    bool are_all(double target, uint64_t members) const {
        for (members &= members - 1; members != 0; members &= members - 1) {
            if (targets_[lowest_bit(members)] != target) return false;
        }
        return true;
    }
    // The threshold's neighbours may be far away in memory: the node store looks them up later.
    void take_split(const Block& block, uint32_t feature, const BlockSides& sides,
                    bool missing_left) {
        split_.feature = feature;
        split_.threshold = 0.0;
        split_.missing_left = missing_left;
        split_.below = block.number_of(block.rows[sides.below], feature);
        split_.above = block.number_of(block.rows[sides.above], feature);
        prefetch(split_.below, sizeof(float));
        prefetch(split_.above, sizeof(float));
    }
};

#endif

}  // namespace fasttree
