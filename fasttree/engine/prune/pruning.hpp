// Minimal cost-complexity pruning and the copy of a cut tree. See _pruning.pyx.
#pragma once

#include <Python.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include "engine/core/node_record.hpp"

namespace fasttree {

class WeakestLinks {
  public:
    WeakestLinks(const NodeRecord* nodes, Py_ssize_t n_nodes)
        : nodes_(nodes),
          parent_(n_nodes, -1),
          n_leaves_(n_nodes, 0),
          node_risk_(n_nodes),
          branch_risk_(n_nodes, 0.0),
          state_(n_nodes, State::inner),
          lowest_entry_(n_nodes, infinity) {
        // Weights in a power of two near the root's: their products neither overflow nor vanish.
        int exponent;
        const double root_weight = std::frexp(nodes[0].weighted_n_node_samples, &exponent);
        for (Py_ssize_t i = 0; i < n_nodes; ++i) {
            node_risk_[i] = std::ldexp(nodes[i].weighted_n_node_samples, -exponent) *
                            nodes[i].impurity / root_weight;
            if (nodes[i].left_child >= 0)
                parent_[nodes[i].left_child] = parent_[nodes[i].right_child] = i;
            else
                state_[i] = State::leaf;
        }
    }

    // First step, once for every node in ascending id (the order of the sums is part of the
    // result): add a leaf to what is above it. Returns the number of nodes climbed.
    Py_ssize_t add_leaf(Py_ssize_t i) noexcept {
        if (state_[i] != State::leaf) return 0;
        Py_ssize_t n_climbed = 0;
        branch_risk_[i] = node_risk_[i];
        for (Py_ssize_t a = parent_[i]; a >= 0; a = parent_[a]) {
            branch_risk_[a] += node_risk_[i];
            ++n_leaves_[a];
            ++n_climbed;
        }
        return n_climbed;
    }

    // Second step: make an inner node known to `find`.
    void add_link(Py_ssize_t i) {
        if (state_[i] == State::inner) push(i, alpha(i));
    }

    // The next node to cut; false if there is none (or none with a finite alpha).
    bool find(double& link_alpha, Py_ssize_t& link) {
        while (!heap_.empty()) {
            const Entry top = heap_.top();
            if (top.alpha == infinity) return false;
            if (state_[top.node] == State::inner) {
                const double current = alpha(top.node);
                if (current == top.alpha) {
                    link_alpha = current;
                    link = top.node;
                    return true;
                }
                if (current > top.alpha) {
                    heap_.pop();
                    push(top.node, current);
                    continue;
                }
                // Rounding lowered the alpha: an entry for it was pushed when that happened.
            }
            heap_.pop();
        }
        return false;
    }

    // Make `link` a leaf. Returns the number of nodes climbed.
    Py_ssize_t cut(Py_ssize_t link) {
        std::vector<Py_ssize_t> stack{nodes_[link].left_child, nodes_[link].right_child};
        while (!stack.empty()) {
            const Py_ssize_t i = stack.back();
            stack.pop_back();
            if (state_[i] == State::inner) {
                stack.push_back(nodes_[i].left_child);
                stack.push_back(nodes_[i].right_child);
            }
            state_[i] = State::gone;
        }
        state_[link] = State::leaf;
        const Py_ssize_t n_lost = n_leaves_[link] - 1;
        const double added = node_risk_[link] - branch_risk_[link];
        Py_ssize_t n_climbed = 0;
        branch_risk_[link] = node_risk_[link];
        for (Py_ssize_t a = parent_[link]; a >= 0; a = parent_[a]) {
            n_leaves_[a] -= n_lost;
            branch_risk_[a] += added;
            const double current = alpha(a);
            if (current < lowest_entry_[a]) push(a, current);
            ++n_climbed;
        }
        return n_climbed;
    }

    double total_risk() const noexcept { return branch_risk_[0]; }
    bool is_leaf(Py_ssize_t i) const noexcept { return state_[i] == State::leaf; }

  private:
    enum class State : uint8_t { inner, leaf, gone };

    struct Entry {
        double alpha;
        Py_ssize_t node;
        bool operator<(const Entry& other) const {  // the heap's top is its largest entry
            return alpha != other.alpha ? alpha > other.alpha : node > other.node;
        }
    };

    static constexpr double infinity = std::numeric_limits<double>::infinity();

    // NaN and infinity (impurities that overflowed) stand behind everything.
    double alpha(Py_ssize_t i) const {
        const double ratio =
            (node_risk_[i] - branch_risk_[i]) / static_cast<double>(n_leaves_[i] - 1);
        return std::isnan(ratio) ? infinity : ratio;
    }

    void push(Py_ssize_t i, double entry_alpha) {
        heap_.push({entry_alpha, i});
        lowest_entry_[i] = entry_alpha;
    }

    const NodeRecord* nodes_;
    std::vector<Py_ssize_t> parent_;
    std::vector<Py_ssize_t> n_leaves_;
    std::vector<double> node_risk_;
    std::vector<double> branch_risk_;
    std::vector<State> state_;
    std::vector<double> lowest_entry_;  // lowest of the node's entries in the heap
    std::priority_queue<Entry> heap_;
};

// Copy the nodes that remain when the marked ones are made leaves, numbered depth-first, left
// first. `ids` receives their ids in `nodes`, `copies` the records. Returns the depth.
inline Py_ssize_t copy_cut(const NodeRecord* nodes, const uint8_t* is_cut,
                           std::vector<Py_ssize_t>& ids, std::vector<NodeRecord>& copies) {
    struct Visit {
        Py_ssize_t id, parent, depth;
        bool is_left;
    };
    std::vector<Visit> stack{{0, -1, 0, false}};
    Py_ssize_t max_depth = 0;
    while (!stack.empty()) {
        const Visit visit = stack.back();
        stack.pop_back();
        const NodeRecord& node = nodes[visit.id];
        const Py_ssize_t id = static_cast<Py_ssize_t>(ids.size());
        if (visit.parent >= 0) {
            NodeRecord& parent = copies[visit.parent];
            (visit.is_left ? parent.left_child : parent.right_child) = id;
        }
        if (visit.depth > max_depth) max_depth = visit.depth;
        ids.push_back(visit.id);
        copies.push_back(node);
        if (node.left_child < 0 || is_cut[visit.id]) {
            NodeRecord& leaf = copies.back();
            leaf.left_child = leaf.right_child = -1;
            leaf.feature = -2;
            leaf.threshold = -2.0;
            leaf.missing_go_to_left = 0;
        } else {
            stack.push_back({node.right_child, id, visit.depth + 1, false});
            stack.push_back({node.left_child, id, visit.depth + 1, true});
        }
    }
    return max_depth;
}

}  // namespace fasttree
