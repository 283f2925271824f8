// Subtrees that are left to other threads.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/core/split.hpp"
#include "engine/order/count_tables.hpp"

namespace fasttree {

// A node below which another thread may grow the tree.
struct Deferred {
    Node node;
    std::vector<uint32_t> known;  // constant features
    TableCells table;
};
static_assert(is_value<Deferred>);

// Places of the subtrees to be grown, those of most rows first.
inline std::vector<int> largest_first(const std::vector<Deferred>& deferred) {
    std::vector<int> order(deferred.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        const uint32_t n_a = deferred[a].node.size(), n_b = deferred[b].node.size();
        return n_a != n_b ? n_a > n_b : a < b;
    });
    return order;
}

}  // namespace fasttree
