// All that is below a node of a block, grown at once: squared error of one output.
//
// Most nodes of a tree have a few rows, and what is done once per node costs more there than the
// search. Here a node is a word of membership bits, targets stand beside the block's rows, and a
// split is looked up in their ranks: nothing is listed, and no features are visited one by one.
// Splits, statistics and values are those of `BlockSplitterOf`.
#pragma once
#include <cstdint>

#include "engine/core/split.hpp"
#include "engine/grow/keep_split.hpp"
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
    struct Part {
        Node node;
        BlockTotals totals;
        double value;
    };
    double targets_[BLOCK_ROWS], weights_[BLOCK_ROWS];  // as given, by place
    Part waiting_[BLOCK_ROWS];  // nodes of two rows or more, no two of which share a row
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
        uint32_t n_waiting = 1;
        waiting_[0] = {root, search.totals(root.members), 0.0};
        Part left, right;
        while (n_waiting > 0) {
            const Part& parent = waiting_[--n_waiting];
            const Node& node = parent.node;
            BlockBest best;
            if (!search.find(block, node.members, parent.totals, best)) continue;
            const BlockSides sides = search.sides(node.members, best);
            take_child(acc, search, node, sides.left, left);
            take_child(acc, search, node, node.members & ~sides.left, right);
            take_split(block, best.feature, sides, left.node.size() > right.node.size());
            if (!keep_split(rules, node, split_, left.node, &left.value, right.node, &right.value,
                            store)) {
                continue;
            }
            if (!rules.is_terminal(right.node)) waiting_[n_waiting++] = right;
            if (!rules.is_terminal(left.node)) waiting_[n_waiting++] = left;
        }
    }

private:
    // What is drawn, counted or bounded elsewhere, a node does not need here.
    void take_child(const Acc& acc, const BlockSearch<Acc>& search, const Node& parent,
                    uint64_t members, Part& child) const {
        child.node.members = members;
        child.node.start = 0;
        child.node.end = static_cast<uint32_t>(__builtin_popcountll(members));
        child.node.depth = parent.depth + 1;
        child.totals = search.totals(members);
        take_stats(acc, child);
    }
    void take_stats(const Acc& acc, Part& part) const {
        const uint64_t members = part.node.members;
        NodeStats& stats = part.node.stats;
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
