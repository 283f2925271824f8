// Entry point of the engine: from 0/1 columns to a proven tree.
#pragma once

#include <string_view>
#include <vector>

#include "utils/_value.hpp"
#include "bounding.hpp"
#include "sharing.hpp"

namespace fasttree::optimal {

struct Task {
    int depth;
    BudgetRange nodes;     // numbers of inner nodes wanted; {m, m} for one budget
    LeafLimits leaf;
    int64_t leaf_penalty = 0;  // in 1 / kPenaltyScale of a weight
};

// A decision node asks for `column` of the input; leaves have column -1.
struct OutNode {
    int32_t column, left, right;  // children where the column is 0 and 1
};

struct Front {
    std::vector<int64_t> lower, upper;  // errors, per budget from nodes.low on
};

struct Result {
    Front front;
    int chosen = 0;              // budget of the returned tree
    int64_t lower = 0, upper = 0;  // of the objective, in 1 / kPenaltyScale of a weight
    std::vector<OutNode> tree;   // in pre-order
    std::vector<std::vector<OutNode>> front_trees;  // per budget, when asked for
    Statistics statistics;
    bool is_stopped = false;

    Result() = default;
    Result(Result&&) = default;
    Result& operator=(Result&&) = default;
};

// What callers see while the search runs.
struct Progress {
    double elapsed;
    int64_t n_nodes;
    int64_t lower, upper;  // of the objective, in 1 / kPenaltyScale of a weight
};

// Called about every 50 ms on the thread that called solve; false stops the search.
struct Listener {
    bool (*call)(void* context, const Progress& progress);
    void* context;
};

static_assert(is_value<Input> && is_value<Task> && is_value<SearchOptions>);
static_assert(is_value<Listener> && is_value<Result>);

// Best instruction set of this machine, or the named one; null if it cannot run here.
const Kernels* find_kernels(std::string_view instruction_set);

Result solve(const Input& input, const Task& task, const SearchOptions& options,
             std::string_view instruction_set, bool with_front_trees, Listener listener);

}  // namespace fasttree::optimal
