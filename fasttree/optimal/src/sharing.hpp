// Threads: idle workers take features of open nodes, the shallowest node first.
//
// A worker that has run out of features of its own node waits for its helpers; while it waits it
// helps with nodes below that one only, so stacks never grow past the depth of the tree and no
// two workers wait for each other. `try_features` catches exceptions, on whichever thread: others
// may be waiting for this one, or be at its node.
#pragma once

#include "search.hpp"

namespace fasttree::optimal {

inline void Worker::share(Node& node) {
    {
        std::lock_guard<std::mutex> lock(team_.mutex);
        team_.open.push_back(&node);
        node.is_shared = true;
        node.n_helpers = 0;
    }
    team_.changed.notify_all();
}

inline void Worker::unshare(Node& node) noexcept {
    std::unique_lock<std::mutex> lock(team_.mutex);
    team_.open.erase(std::find(team_.open.begin(), team_.open.end(), &node));
    while (node.n_helpers > 0) {
        if (Node* below = join_open_node(&node)) {
            lock.unlock();
            help(*below);
            lock.lock();
        } else {
            sleep_and_look(lock, team_.changed, [this] { team_.check(with_poll_); });
        }
    }
    node.is_shared = false;
}

// The shallowest open node with features left, below the given one if any. Counts the caller as
// its helper; the team's mutex is held.
inline Node* Worker::join_open_node(const Node* below) {
    Node* best = nullptr;
    for (Node* node : team_.open) {
        if (node->next.load(std::memory_order_relaxed) >= static_cast<int>(node->order.size()))
            continue;
        const Node* ancestor = node;
        while (below && ancestor && ancestor != below) ancestor = ancestor->parent;
        if (below && !ancestor) continue;
        if (!best || node->depth > best->depth) best = node;
    }
    if (best) ++best->n_helpers;
    return best;
}

inline void Worker::help(Node& node) noexcept {
    try_features(node, false);
    {
        std::lock_guard<std::mutex> lock(team_.mutex);
        --node.n_helpers;
    }
    team_.changed.notify_all();
}

inline void Worker::help_until_over() noexcept {
    std::unique_lock<std::mutex> lock(team_.mutex);
    while (!team_.is_over) {
        if (Node* node = join_open_node(nullptr)) {
            lock.unlock();
            help(*node);
            lock.lock();
        } else {
            team_.changed.wait(lock);
        }
    }
}

}  // namespace fasttree::optimal
