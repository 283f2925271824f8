// The nodes of a grown tree, from the stores of all threads, in the order in which they are kept.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/compact_tree.hpp"
#include "engine/grow/nodes.hpp"
#include "utils/_value.hpp"

namespace fasttree {

inline size_t count_nodes(const NodeStore& main, const SubtreeStores& subtrees) noexcept {
    size_t n = main.size();
    for (const auto& store : subtrees) n += store->size() - 1;
    return n;
}
// How many numbers are kept as the nodes' values.
inline size_t count_values(const NodeStore& main, const SubtreeStores& subtrees) noexcept {
    size_t n = main.n_kept();
    for (const auto& store : subtrees) n += store->n_kept() - store->n_kept_first();
    return n;
}

// The splits on categories of a tree: split i belongs to nodes[i] and lists
// codes[offsets[i]:offsets[i + 1]].
struct CategoryLists {
    std::vector<int64_t> nodes, offsets;  // empty if there are none
    std::vector<uint32_t> codes;
    std::vector<uint8_t> listed_left;

    CategoryLists() = default;
    CategoryLists(CategoryLists&&) = default;
    CategoryLists& operator=(CategoryLists&&) = default;

    void append(int64_t node, const uint32_t* first, const uint32_t* last,
                uint8_t is_listed_left) {
        if (offsets.empty()) offsets.push_back(0);
        nodes.push_back(node);
        codes.insert(codes.end(), first, last);
        offsets.push_back(static_cast<int64_t>(codes.size()));
        listed_left.push_back(is_listed_left);
    }
};
static_assert(is_value<CategoryLists>);

// Writes the nodes of a tree depth-first, or in the order in which they were grown, and their
// values. Threads may share the subtrees. If there are some, the main store's nodes come last: they
// are few and far apart, and whoever writes to a page first waits until the system has cleared it.
class NodeWriter {
    struct Next {  // of the nodes of a store the one to be written
        uint32_t id = 0;
        size_t value = 0;  // its first value among those that are kept
    };
    struct Size {
        uint32_t n_nodes = 0;
        size_t n_kept = 0;  // values
    };
    const NodeStore& main_;
    const SubtreeStores& subtrees_;
    CompactNodes& nodes_;
    CompactValues& values_;
    std::vector<Next> first_;                // of each subtree that has a turn
    std::vector<Size> sizes_;                // of each subtree with those that hang from it
    std::vector<int> order_;                 // of the turns, the largest first
    std::vector<CategoryLists> categories_;  // of each turn and of the main store

    // Writes node i of a store, or only counts it; `left` and `right` are its children if it is
    // split. Returns whether it is.
    template <bool writes>
    bool pass(const NodeStore& store, uint32_t i, uint32_t left, uint32_t right, Next& next) {
        const CompactNode& node = store.nodes_[i];
        const bool is_leaf = node.left == 0;
        const uint32_t id = next.id++;
        if constexpr (writes) {
            nodes_[id] = {node.threshold, node.impurity, node.weight, is_leaf ? 0 : left,
                          is_leaf ? 0 : right, node.n_rows, node.feature, node.missing_left};
            next.value = store.values_.put(i, id, next.value, values_);
        } else {
            next.value += store.values_.n_kept(i);
        }
        return !is_leaf;
    }
    template <bool writes>
    void pass_below(const NodeStore& store, uint32_t first, uint32_t n, Next& next) {
        for (uint32_t i = first; i < first + n; ++i) {
            pass<writes>(store, i, next.id + 1, next.id + store.nodes_[i].right - i, next);
        }
    }
    void write_categories(const NodeStore& store, const NodeStore::Record& record, uint32_t id,
                          CategoryLists& out) {
        if (record.categories < 0) return;
        const CategorySet& set = store.category_sets_[record.categories];
        const uint32_t* codes = set.codes.data();
        out.append(id, codes, codes + set.codes.size(), set.listed_left);
    }
    // A subtree that hangs from the main store has a turn of its own; one that hangs from another
    // is passed with it.
    template <bool writes>
    void pass_depth_first(const NodeStore& first, Next next, CategoryLists& categories) {
        // Written in place, see `NodeStore::put_off`.
        struct Task {
            const NodeStore* store = nullptr;
            uint32_t record = 0;
            uint32_t parent = 0;  // whose right child it is
        };
        std::vector<Task> stack;
        const NodeStore* store = &first;
        uint32_t record = 0;
        while (true) {
            // Down the left side: a left child's id follows its parent's.
            while (true) {
                const NodeStore::Record& r = store->records_[record];
                if (r.subtree >= 0 && store != &main_) {
                    store = subtrees_[r.subtree].get();
                    record = 0;
                    continue;
                }
                if (r.subtree >= 0) {
                    if constexpr (!writes) first_[r.subtree] = next;
                    next.id += sizes_[r.subtree].n_nodes;
                    next.value += sizes_[r.subtree].n_kept;
                    break;
                }
                const CompactNode& node = store->nodes_[r.node];
                const uint32_t id = next.id;
                if constexpr (writes) write_categories(*store, r, id, categories);
                const uint32_t right = id + 1 + node.right - node.left;
                if (!pass<writes>(*store, r.node, id + 1, right, next)) break;
                if (r.n_below > 0) {
                    pass_below<writes>(*store, node.left, r.n_below, next);
                    break;
                }
                Task& task = stack.emplace_back();
                task.store = store;
                task.record = r.left + 1;
                task.parent = id;
                record = r.left;
            }
            if (stack.empty()) return;
            if constexpr (writes) nodes_[stack.back().parent].right = next.id;
            store = stack.back().store;
            record = stack.back().record;
            stack.pop_back();
        }
    }
    void measure_subtrees() {
        for (size_t i = subtrees_.size(); i-- > 0;) {
            const NodeStore& store = *subtrees_[i];
            sizes_[i].n_nodes = store.size();
            sizes_[i].n_kept = store.n_kept();
            for (int below : store.subtrees_) {
                sizes_[i].n_nodes += sizes_[below].n_nodes - 1;
                sizes_[i].n_kept += sizes_[below].n_kept - subtrees_[below]->n_kept_first();
            }
        }
    }

public:
    NodeWriter(const NodeStore& main, const SubtreeStores& subtrees, CompactNodes& nodes,
               CompactValues& values)
        : main_(main), subtrees_(subtrees), nodes_(nodes), values_(values),
          first_(subtrees.size()), sizes_(subtrees.size()), order_(main.subtrees_),
          categories_(order_.size() + 1) {
        if (subtrees.empty()) return;
        measure_subtrees();
        std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
            return sizes_[a].n_nodes > sizes_[b].n_nodes;
        });
        pass_depth_first<false>(main, {}, categories_.back());
    }

    int n_turns() const noexcept { return static_cast<int>(order_.size()); }
    // The subtree whose turn it is.
    void write_subtree(int turn) {
        const int i = order_[turn];
        pass_depth_first<true>(*subtrees_[i], first_[i], categories_[turn]);
    }
    void write_main(bool as_grown) {
        Next next;
        CategoryLists& categories = categories_.back();
        if (!as_grown) return pass_depth_first<true>(main_, next, categories);
        for (uint32_t i = 0; i < main_.size(); ++i) {
            const CompactNode& node = main_.nodes_[i];
            write_categories(main_, main_.records_[i], i, categories);
            pass<true>(main_, i, node.left, node.right, next);
        }
    }

    int max_depth() const noexcept {
        uint32_t depth = main_.max_depth();
        for (const auto& subtree : subtrees_) depth = std::max(depth, subtree->max_depth());
        return static_cast<int>(depth);
    }
    // In ascending order of nodes.
    CategoryLists category_lists() const {
        struct Entry {
            int64_t node;
            const CategoryLists* lists;
            size_t i;
        };
        std::vector<Entry> entries;
        for (const CategoryLists& lists : categories_) {
            for (size_t i = 0; i < lists.nodes.size(); ++i) {
                entries.push_back({lists.nodes[i], &lists, i});
            }
        }
        std::sort(entries.begin(), entries.end(),
                  [](const Entry& a, const Entry& b) { return a.node < b.node; });
        CategoryLists out;
        for (const Entry& entry : entries) {
            const uint32_t* codes = entry.lists->codes.data();
            const int64_t* offsets = &entry.lists->offsets[entry.i];
            out.append(entry.node, codes + offsets[0], codes + offsets[1],
                       entry.lists->listed_left[entry.i]);
        }
        return out;
    }
};

}  // namespace fasttree
