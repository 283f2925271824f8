// The stores of the nodes of trees that grow one after the other, or at the same time.
//
// A store is needed until its tree is written. Then its memory serves the next tree: the system
// would take as long to give it anew as the tree takes to fill it.
#pragma once
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/grow/nodes.hpp"
#include "utils/_shared_blocks.hpp"
#include "utils/_value.hpp"

namespace fasttree {

class NodeStores {
    SharedBlocks memory_;
    std::mutex mutex_;
    std::vector<NodeStore> spare_;  // empty

public:
    // Replaces a store by an empty one. Threads may call it.
    void take(size_t value_size, NodeStore& out) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (spare_.empty()) {
            out = NodeStore(value_size, memory_);
        } else {
            out = std::move(spare_.back());
            spare_.pop_back();
        }
    }
    // Takes back one whose nodes are written.
    void give_back(NodeStore& store) {
        store.clear();
        const std::lock_guard<std::mutex> lock(mutex_);
        spare_.push_back(std::move(store));
    }
};
static_assert(is_value<NodeStores>);

}  // namespace fasttree
