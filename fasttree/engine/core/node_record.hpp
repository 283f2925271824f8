// The node that Python sees: the layout of NODE_DTYPE, field for field scikit-learn's.
#pragma once

#include <cstdint>

namespace fasttree {

struct NodeRecord {
    int64_t left_child, right_child;  // -1 at a leaf
    int64_t feature;                  // -2 at a leaf
    double threshold, impurity;
    int64_t n_node_samples;
    double weighted_n_node_samples;
    uint8_t missing_go_to_left;
    uint8_t padding[7];
};
static_assert(sizeof(NodeRecord) == 64, "NODE_DTYPE");

}  // namespace fasttree
