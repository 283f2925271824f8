// Entry point of the engine: from 0/1 columns to a proven tree.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "search.hpp"

namespace fasttree::optimal {

struct Task {
    int depth;
    BudgetRange nodes;     // numbers of inner nodes wanted; {m, m} for one budget
    int32_t min_leaf = 1;
    int32_t leaf_penalty = 0;
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
    std::vector<OutNode> tree;   // in pre-order
    std::vector<std::vector<OutNode>> front_trees;  // per budget, when asked for
    Statistics statistics;
    int n_features = 0;
    ptrdiff_t n_entries = 0;
    bool is_stopped = false;
};

// What callers see while the search runs.
struct Progress {
    double elapsed;
    int64_t n_nodes;
    int64_t lower, upper;  // of the objective
};

// Best instruction set of this machine, or the named one; null if it cannot run here.
const Kernels* find_kernels(const std::string& instruction_set);

// `poll` returns false to stop the search.
Result solve(const Input& input, const Task& task, const SearchOptions& options,
             const std::string& instruction_set, bool with_front_trees,
             const std::function<bool(const Progress&)>& poll);

}  // namespace fasttree::optimal
