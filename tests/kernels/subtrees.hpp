// A tree that threads grow, who leave parts of it to each other, as the tests call it.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/core/compact_tree.hpp"
#include "engine/grow/frontier.hpp"
#include "engine/grow/node_writer.hpp"
#include "engine/grow/subtrees.hpp"
#include "utils/_crew.hpp"
#include "utils/_random.hpp"
#include "utils/_threads.hpp"

namespace fasttree::tests {

struct GrownTree {
    std::vector<uint32_t> left, right, n_rows;
    std::vector<double> values;  // shape (nodes, width)
    std::vector<int64_t> asked;  // nodes that ask for the category that is their first row
    std::vector<uint32_t> categories;
    size_t n_subtrees = 0;
};

// Nodes are split at a row that depends on their rows alone, until they have one row. The main
// store's nodes of up to `defer_below` rows are left to any thread. So is the largest node that
// waits, whenever a thread has none, and besides at one of `gives` nodes. Threads grow subtrees
// beside the main store's nodes: after each that is left, there is a job. A node that begins at row
// `fails` throws.
class HashedGrowth {
    const uint32_t defer_below_, gives_, fails_;
    const size_t width_;
    Subtrees subtrees_;

    static uint64_t hash(const Node& node) { return mix(node.start, node.end); }
    void leave(Node node, NodeStore& store) {
        Deferred deferred;
        deferred.node = node;
        subtrees_.put(deferred, store);
    }
    std::vector<double> value(const Node& node) const {
        std::vector<double> out(width_);
        for (size_t i = 0; i < width_; ++i) out[i] = static_cast<double>((node.start + i) % 3);
        return out;
    }
    static Node child(const Node& node, uint32_t start, uint32_t end) {
        Node out = node;
        out.start = start;
        out.end = end;
        ++out.depth;
        return out;
    }
    void split(NodeStore& store, Open& open) const {
        const Node& node = open.node;
        const uint32_t middle =
            node.start + 1 + static_cast<uint32_t>(hash(node) % (node.size() - 1));
        open.left = child(node, node.start, middle);
        open.right = child(node, middle, node.end);
        open.left.record = store.append(open.left, value(open.left));
        open.right.record = store.append(open.right, value(open.right));
        Split split;
        split.threshold = middle;
        split.feature = 0;
        if (middle % 5 == 0) {
            split.question = CATEGORY;
            split.categories.codes = {node.start};
        }
        store.set_split(node.record, split, open.left.record);
    }
    // A node of the main store if there is a crew.
    void grow_below(const Node& root, NodeStore& store, uint32_t defer_below, Crew* crew) {
        constexpr uint32_t LEAST = 2;
        Stack stack;
        Open open;
        const auto put = [&](const Node& node) {
            open.node = node;
            open.totals.clear();
            stack.put(open);
        };
        put(root);
        while (stack.take(open)) {
            const Node node = open.node;
            if (node.start == fails_) throw std::out_of_range("row " + std::to_string(fails_));
            Node other;
            const bool gives_one = gives_ > 0 && hash(node) % gives_ == 0;
            if ((gives_one || subtrees_.is_wanted()) && stack.take_largest(LEAST, other)) {
                leave(other, store);
            }
            if (node.size() <= defer_below) {
                leave(node, store);
                if (crew != nullptr) crew->share(crew->size(), [](int, int) {});
            } else if (node.size() > 1) {
                split(store, open);
                const Node left = open.left;
                put(open.right);
                put(left);
            }
        }
        store.finish();
    }

public:
    HashedGrowth(uint32_t defer_below, uint32_t gives, uint32_t fails, size_t width)
        : defer_below_(defer_below), gives_(gives), fails_(fails), width_(width) {}

    GrownTree grow(uint32_t n, Crew& crew) {
        SharedBlocks memory;
        NodeStore main(width_, memory);
        Node root{};
        root.end = n;
        root.record = main.append(root, value(root));
        crew.begin_beside(&grow_beside, this);
        FirstFailure failure;
        try {
            grow_below(root, main, defer_below_, &crew);
            crew.share(crew.size(), [&](int thread, int) { grow_subtrees(thread, crew); });
        } catch (...) {
            failure.keep();
        }
        subtrees_.stop();
        if (!crew.end_beside()) failure_beside_.rethrow();
        failure.rethrow();
        return written(main, memory);
    }

private:
    FirstFailure failure_beside_;

    void grow_subtree(Deferred& deferred) {
        deferred.node.record = deferred.store->append(deferred.node, deferred.value);
        grow_below(deferred.node, *deferred.store, 0, nullptr);
        subtrees_.finish();
    }
    void grow_subtrees(int thread, Crew& crew) {
        FirstFailure failure;
        try {
            Deferred deferred;
            while (subtrees_.take(thread, crew, deferred)) grow_subtree(deferred);
        } catch (...) {
            failure.keep();
        }
        subtrees_.stop();
        failure.rethrow();
    }
    static int grow_beside(void* growth, int) {
        HashedGrowth& self = *static_cast<HashedGrowth*>(growth);
        Deferred deferred;
        if (!self.subtrees_.take_smallest(deferred)) return 0;
        try {
            self.grow_subtree(deferred);
            return 1;
        } catch (...) {
            self.failure_beside_.keep();
            self.subtrees_.stop();
            return -1;
        }
    }
    GrownTree written(const NodeStore& main, SharedBlocks& memory) const {
        const SubtreeStores& stores = subtrees_.stores();
        CompactNodes nodes(count_nodes(main, stores), memory);
        CompactValues values(nodes.size(), width_, count_values(main, stores), memory);
        NodeWriter writer(main, stores, nodes, values);
        for (int turn = 0; turn < writer.n_turns(); ++turn) writer.write_subtree(turn);
        writer.write_main(false);
        GrownTree out;
        for (size_t i = 0; i < nodes.size(); ++i) {
            out.left.push_back(nodes[i].left);
            out.right.push_back(nodes[i].right);
            out.n_rows.push_back(nodes[i].n_rows);
        }
        out.values.resize(nodes.size() * width_);
        values.write(out.values.data());
        CategoryLists lists = writer.category_lists();
        out.asked = lists.nodes;
        out.categories = lists.codes;
        out.n_subtrees = stores.size();
        return out;
    }
};

inline GrownTree grow_on_threads(uint32_t n, int n_threads, uint32_t defer_below, uint32_t gives,
                                 uint32_t fails, size_t width) {
    Poll poll;
    Crew crew(n_threads, poll);
    HashedGrowth growth(defer_below, gives, fails, width);
    GrownTree out;
    fasttree::on_threads(n_threads, [&](int thread) {
        if (thread > 0) return crew.serve(thread);
        FirstFailure failure;
        try {
            out = growth.grow(n, crew);
        } catch (...) {
            failure.keep();
        }
        crew.dismiss();
        failure.rethrow();
    });
    return out;
}

// A fit that is given up after `most` looks, while thread `grows` of two has the only subtree and
// the other one waits for another. Returns how many looks there were.
inline int look_while_waiting(int grows, int most) {
    struct Looks {
        int n, most;
    } looks{0, most};
    const auto look = [](void* of) {
        Looks& all = *static_cast<Looks*>(of);
        return ++all.n < all.most;
    };
    Poll poll(look, &looks);
    Crew crew(2, poll);
    SharedBlocks memory;
    NodeStore main(1, memory);
    Deferred only;
    only.node.record = main.append(only.node, {0.0});
    Subtrees subtrees;
    subtrees.put(only, main);
    std::atomic<bool> is_taken{false};
    const auto take = [&](int thread, int) {
        Deferred taken;
        const auto wait_a_bit = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
        for (int i = 0; thread != grows && !is_taken && i < 10000; ++i) wait_a_bit();
        if (!subtrees.take(thread, crew, taken)) return;
        is_taken = true;
        while (crew.look(thread)) wait_a_bit();
    };
    fasttree::on_threads(2, [&](int thread) {
        if (thread > 0) return crew.serve(thread);
        crew.share(2, take);
        crew.dismiss();
    });
    return looks.n;
}

}  // namespace fasttree::tests
