// Sizes of the vectors that a subproblem of the search carries, and how a solution is written down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fasttree::optimal {

// A subproblem with depth k is solved for a range of node budgets at once: budget n in [low, high]
// is what its own budgets or those of its ancestors can hand down. A full tree asks for one.
struct BudgetRange {
    int low, high;
    int size() const { return high - low + 1; }
};

// Ranges by depth, from the one at the root down: a parent with budget n leaves n - 1 to share
// between two children that hold at most 2^k - 1 nodes each.
inline std::vector<BudgetRange> budget_ranges(int depth, BudgetRange root) {
    std::vector<BudgetRange> ranges(depth + 1);
    ranges[depth] = root;
    for (int k = depth - 1; k >= 0; --k) {
        const BudgetRange above = ranges[k + 1];
        const int high = std::max(0, std::min(above.high - 1, (1 << k) - 1));
        ranges[k] = {std::clamp(above.low - 1 - high, 0, high), high};
    }
    return ranges;
}

// Splits of a solution above depth two, in pre-order of the complete tree of that height: the
// subtrees of depth two are found again in microseconds. `feature` is kTerminal where a tree of
// depth two suffices; n_absent and n_present are the budgets of the two children.
constexpr int32_t kTerminal = -1;

struct PlanNode {
    int32_t feature;
    int16_t n_absent, n_present;
};

inline int plan_size(int depth) { return depth <= 2 ? 0 : (1 << (depth - 2)) - 1; }

// Bounds and best known solution of a subproblem, per budget of its range.
struct Solution {
    std::vector<int32_t> lower, upper;
    std::vector<PlanNode> plan;  // plan_size(depth) per budget

    void resize(int depth, BudgetRange range) {
        lower.resize(range.size());
        upper.resize(range.size());
        plan.resize(range.size() * plan_size(depth));
    }
};

}  // namespace fasttree::optimal
