// The nodes of a tree while it grows, and the frontier of best-first growth.
//
// Nodes are recorded in the order they are made; subtrees grown by other threads have stores of
// their own. `write_nodes` numbers them all in depth-first order, left first.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "_node_record.hpp"
#include "_split.hpp"

namespace fasttree {

constexpr uint32_t NO_RECORD = 0xffffffffu;

class NodeStore {
public:
    struct Record {
        NodeRecord node;
        uint32_t left, right, parent, depth;  // records
        int subtree;                           // store that holds the node and what is below, or -1
        int labels;                            // place in label_sets, or -1
    };
    size_t value_size = 0;
    std::vector<Record> records;
    std::vector<double> values;
    std::vector<LabelSet> label_sets;

    uint32_t append(const Node& node, const std::vector<double>& value) {
        NodeRecord leaf;
        std::memset(&leaf, 0, sizeof leaf);  // padding too: pickles are deterministic
        leaf.left_child = leaf.right_child = -1;
        leaf.feature = -2;
        leaf.threshold = -2.0;
        leaf.impurity = node.stats.impurity;
        leaf.n_node_samples = node.size();
        leaf.weighted_n_node_samples = node.stats.weight;
        records.push_back({leaf, NO_RECORD, NO_RECORD, NO_RECORD, node.depth, -1, -1});
        values.insert(values.end(), value.begin(), value.end());
        return static_cast<uint32_t>(records.size() - 1);
    }
    void set_split(uint32_t record, const Split& split, uint32_t left, uint32_t right) {
        Record& r = records[record];
        r.node.feature = split.feature;
        r.node.threshold = split.threshold;
        r.node.missing_go_to_left = split.missing_left;
        r.left = left;
        r.right = right;
        if (split.question != THRESHOLD) {
            r.labels = static_cast<int>(label_sets.size());
            label_sets.push_back(split.labels);
        }
        records[left].parent = records[right].parent = record;
    }
    // Begins a subtree's store with the node it hangs from.
    void begin_subtree(const NodeStore& main, uint32_t record) {
        value_size = main.value_size;
        records.assign(1, main.records[record]);
        const double* value = main.values.data() + record * value_size;
        values.assign(value, value + value_size);
    }
    // scikit-learn leaves this mark on nodes that the budget of leaves kept from splitting.
    void set_missing_side(uint32_t record, bool left) {
        records[record].node.missing_go_to_left = left;
    }
    void set_subtree(uint32_t record, int subtree) { records[record].subtree = subtree; }

    // Whether node a comes before node b in depth-first order; neither is above the other.
    bool precedes(uint32_t a, uint32_t b) const {
        while (records[a].depth > records[b].depth) a = records[a].parent;
        while (records[b].depth > records[a].depth) b = records[b].parent;
        while (records[a].parent != records[b].parent) {
            a = records[a].parent;
            b = records[b].parent;
        }
        return records[records[a].parent].left == a;
    }
};

// A node whose best split is known but not made.
struct Open {
    Node node, left, right;
    Split split;
    std::vector<double> left_value, right_value;
    double improvement;
    bool is_leaf;
};

// Largest improvement first, then first in depth-first order. scikit-learn breaks ties as the
// standard library's heap happens to.
class Frontier {
    const NodeStore& store_;
    const bool sklearn_rules_;
    std::vector<Open> heap_;

    bool less(const Open& a, const Open& b) const {
        if (a.improvement != b.improvement) return a.improvement < b.improvement;
        return !sklearn_rules_ && store_.precedes(b.node.record, a.node.record);
    }

public:
    Frontier(const NodeStore& store, bool sklearn_rules)
        : store_(store), sklearn_rules_(sklearn_rules) {}
    void push(Open& node) {
        heap_.push_back(std::move(node));
        std::push_heap(heap_.begin(), heap_.end(),
                       [this](const Open& a, const Open& b) { return less(a, b); });
    }
    Open pop() {
        std::pop_heap(heap_.begin(), heap_.end(),
                      [this](const Open& a, const Open& b) { return less(a, b); });
        Open top = std::move(heap_.back());
        heap_.pop_back();
        return top;
    }
    bool empty() const { return heap_.empty(); }
};

// A subtree's store begins with a copy of the node it hangs from.
inline size_t count_nodes(const NodeStore& main, const std::vector<NodeStore>& subtrees) {
    size_t n = main.records.size();
    for (const NodeStore& store : subtrees) n += store.records.size() - (store.records.size() > 0);
    return n;
}

// The splits on labels of a tree: split i belongs to nodes[i] and lists
// codes[offsets[i]:offsets[i + 1]].
struct LabelLists {
    std::vector<int64_t> nodes, offsets{0};
    std::vector<uint32_t> codes;
    std::vector<uint8_t> listed_left;

    void append(int64_t node, const LabelSet& labels) {
        nodes.push_back(node);
        codes.insert(codes.end(), labels.codes.begin(), labels.codes.end());
        offsets.push_back(static_cast<int64_t>(codes.size()));
        listed_left.push_back(labels.listed_left);
    }
};

// Writes the nodes depth-first, or in the order they were grown; returns the largest depth.
inline int write_nodes(const NodeStore& main, const std::vector<NodeStore>& subtrees,
                       bool as_grown, NodeRecord* nodes, double* values,
                       LabelLists& label_lists) {
    uint32_t depth = 0;
    const size_t bytes = main.value_size * sizeof(double);
    if (as_grown) {
        for (size_t i = 0; i < main.records.size(); ++i) {
            const NodeStore::Record& r = main.records[i];
            nodes[i] = r.node;
            if (r.left != NO_RECORD) {
                nodes[i].left_child = r.left;
                nodes[i].right_child = r.right;
            }
            depth = std::max(depth, r.depth);
            if (r.labels >= 0) {
                label_lists.append(static_cast<int64_t>(i), main.label_sets[r.labels]);
            }
        }
        std::memcpy(values, main.values.data(), main.records.size() * bytes);
        return static_cast<int>(depth);
    }
    struct Task {
        const NodeStore* store;
        uint32_t record;
        int64_t parent;
        bool is_left;
    };
    std::vector<Task> stack{{&main, 0, -1, false}};
    int64_t id = 0;
    while (!stack.empty()) {
        Task task = stack.back();
        stack.pop_back();
        if (task.store->records[task.record].subtree >= 0) {
            task.store = &subtrees[task.store->records[task.record].subtree];
            task.record = 0;
        }
        const NodeStore::Record& r = task.store->records[task.record];
        nodes[id] = r.node;
        std::memcpy(values + id * main.value_size,
                    task.store->values.data() + task.record * main.value_size, bytes);
        if (task.parent >= 0) {
            (task.is_left ? nodes[task.parent].left_child : nodes[task.parent].right_child) = id;
        }
        depth = std::max(depth, r.depth);
        if (r.labels >= 0) label_lists.append(id, task.store->label_sets[r.labels]);
        if (r.left != NO_RECORD) {
            stack.push_back({task.store, r.right, id, false});
            stack.push_back({task.store, r.left, id, true});
        }
        ++id;
    }
    return static_cast<int>(depth);
}

}  // namespace fasttree
