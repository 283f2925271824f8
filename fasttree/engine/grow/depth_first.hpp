// Growth of a subtree by a splitter that holds a node at a time:
//     data           the columns
//     take           takes a node, and computes its statistics and value
//     begin          takes a node
//     split          divides a node and makes its children; null if it stays a leaf
//     grow_in_block  grows all that is below a node, if its rows fit a block; else false
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/sampler.hpp"
#include "engine/core/split.hpp"
#include "engine/grow/frontier.hpp"
#include "engine/grow/nodes.hpp"
#include "engine/grow/rules.hpp"

namespace fasttree {

// The rows of a node of which a splitter knows something.
struct KnownRows {
    uint32_t start = 0, end = 0;

    bool are_of(const Node& node) const { return start == node.start && end == node.end; }
    void become(const Node& node) {
        start = node.start;
        end = node.end;
    }
    void forget() { start = end = 0; }
};

// All that is below a node, depth-first: between two nodes nothing is copied but what the next one
// needs, and nodes are written in the order in which they are kept. Splits are thresholds, and
// values have no bounds.
template <class Splitter>
void grow_depth_first(Splitter& splitter, const GrowthRules& rules, KeyedSampler& sampler,
                      const Node& root, NodeStore& store) {
    struct Waiting {  // a node that is to be visited
        uint32_t start, end, depth, n_known;
        uint64_t key;
        uint32_t parent;  // the node of which it is the right child, or NO_NODE
        NodeStats stats;  // if splits have to be accepted
    };
    std::vector<Waiting> waiting;
    std::vector<double> values;  // of these, likewise
    const size_t n_values = rules.accepts_all() ? 0 : store.value_size();
    std::vector<double> left_value(n_values), right_value(n_values);
    const auto put = [&](const Node& node, const std::vector<double>& value, uint32_t parent) {
        waiting.push_back({node.start, node.end, node.depth, node.n_known, node.key, parent,
                           node.stats});
        values.insert(values.end(), value.begin(), value.end());
    };
    NodesBelow below(store, root.record);
    Node node = root, left, right;
    const auto accepts = [&] {
        if (rules.accepts_all()) return true;
        splitter.take(right, right_value.data());
        splitter.take(left, left_value.data());
        return rules.accepts(node.stats, left.stats, right.stats);
    };
    uint32_t id = below.root();
    splitter.begin(node);
    while (true) {
        const bool is_grown = rules.is_terminal(node)
            || splitter.grow_in_block(rules, sampler, node, id, below);
        const Split* const split =
            is_grown ? nullptr : splitter.split(rules, sampler, node, left, right);
        if (split != nullptr && accepts()) {
            below.split(id, split->feature, split->threshold, split->missing_left);
            put(right, right_value, id);
            put(left, left_value, NodesBelow::NO_NODE);
        }
        if (waiting.empty()) return;
        const Waiting& next = waiting.back();
        const uint32_t parent = next.parent;
        node.start = next.start;
        node.end = next.end;
        node.depth = next.depth;
        node.n_known = next.n_known;
        node.key = next.key;
        node.stats = next.stats;
        waiting.pop_back();
        double* const value = below.next_value();
        if (rules.accepts_all()) {
            splitter.take(node, value);
        } else {
            std::copy(values.end() - static_cast<ptrdiff_t>(n_values), values.end(), value);
            values.resize(values.size() - n_values);
            splitter.begin(node);
        }
        id = below.append(node.stats, node.size(), node.depth, value, parent);
    }
}

// What such a splitter is to others; `Role` is a SubtreeSplitter.
template <class Splitter, class Role>
class DepthFirstSplitter : public Role {
    Splitter& self() { return static_cast<Splitter&>(*this); }

public:
    bool split(const GrowthRules& rules, FeatureSampler& sampler, Open& open) final {
        Split* const found = sampler.visit([&](auto& features) {
            return self().split(rules, features, open.node, open.left, open.right);
        });
        if (found == nullptr) return false;
        open.split = std::move(*found);
        self().take(open.right, open.right_value.data());
        rules.clip(open.right, open.right_value);
        self().take(open.left, open.left_value.data());  // last: it is split next
        rules.clip(open.left, open.left_value);
        return true;
    }
    // Not where a node hands more down than its rows, or splits are on categories.
    bool grow(const GrowthRules& rules, FeatureSampler& sampler, const Node& node,
              NodeStore& store) final {
        if (rules.monotonic_cst || self().data().has_categories()) return false;
        return sampler.visit([&](auto& features) {
            if constexpr (is_keyed<decltype(features)>) {
                grow_depth_first(self(), rules, features, node, store);
                return true;
            }
            return false;
        });
    }
};

}  // namespace fasttree
