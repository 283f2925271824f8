// The nodes of a tree while it grows.
//
// Nodes are recorded in the order they are made; subtrees grown by other threads have stores of
// their own. `NodeWriter` numbers them all in depth-first order, left first.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/core/compact_tree.hpp"
#include "engine/core/split.hpp"
#include "utils/_shared_blocks.hpp"

namespace fasttree {

// An array that grows without moving what it holds.
template <class T>
class ChunkedArray {
    static constexpr uint32_t SHIFT = 8, CHUNK = 1u << SHIFT;
    SharedBlocks* memory_ = nullptr;
    size_t width_ = 1, size_ = 0;
    std::vector<std::shared_ptr<T[]>> chunks_;

public:
    ChunkedArray() = default;
    // Items of `width` T each.
    ChunkedArray(size_t width, SharedBlocks& memory) : memory_(&memory), width_(width) {}

    size_t size() const { return size_; }
    void clear() { size_ = 0; }  // keeps the memory
    T* append() {  // not initialised
        if (size_ >> SHIFT == chunks_.size()) chunks_.push_back(memory_->take<T>(CHUNK * width_));
        return at(size_++);
    }
    T* at(size_t i) { return &chunks_[i >> SHIFT][(i & (CHUNK - 1)) * width_]; }
    const T* at(size_t i) const { return &chunks_[i >> SHIFT][(i & (CHUNK - 1)) * width_]; }
    T& operator[](size_t i) { return *at(i); }
    const T& operator[](size_t i) const { return *at(i); }
};

// The values of nodes. A node holds few of many classes: of wide values only what is not zero is
// kept.
class NodeValues {
    static constexpr size_t WIDE = 8, BLOCK = 64;
    static constexpr double ZEROS[BLOCK] = {};
    struct Entry {
        uint32_t place;
        double value;
    };
    size_t width_ = 0, n_kept_ = 0;
    ChunkedArray<double> all_;
    std::vector<Entry> entries_;
    std::vector<size_t> ends_;  // of a node's entries

public:
    NodeValues() = default;
    NodeValues(size_t width, SharedBlocks& memory) : width_(width), all_(width, memory) {}

    void clear() {
        n_kept_ = 0;
        all_.clear();
        entries_.clear();
        ends_.clear();
    }
    void append(const double* value) {
        if (width_ <= WIDE) {
            std::copy_n(value, width_, all_.append());
            n_kept_ += count_kept(value, width_);
            return;
        }
        for (size_t start = 0; start < width_; start += BLOCK) {
            const size_t n = std::min(BLOCK, width_ - start);
            const bool is_one_of_many = width_ > BLOCK;
            if (is_one_of_many && std::memcmp(value + start, ZEROS, n * sizeof(double)) == 0) {
                continue;
            }
            for (uint64_t kept = kept_bits(value + start, n); kept != 0; kept &= kept - 1) {
                const size_t place = start + static_cast<size_t>(lowest_bit(kept));
                entries_.push_back({static_cast<uint32_t>(place), value[place]});
            }
        }
        ends_.push_back(entries_.size());
        n_kept_ = entries_.size();
    }
    // How many numbers of all nodes a `CompactValues` keeps.
    size_t n_kept() const noexcept { return n_kept_; }
    size_t n_kept(size_t node) const {
        return width_ <= WIDE ? count_kept(all_.at(node), width_) : ends_[node] - begin(node);
    }
    // Writes the values of a node to `out`, which holds zeros.
    void write(size_t node, double* out) const {
        if (width_ <= WIDE) {
            std::copy_n(all_.at(node), width_, out);
            return;
        }
        for (size_t i = begin(node); i < ends_[node]; ++i) {
            out[entries_[i].place] = entries_[i].value;
        }
    }
    // Makes them those of node `id` of a tree; see CompactValues::put.
    size_t put(size_t node, size_t id, size_t start, CompactValues& out) const {
        if (width_ <= WIDE) return out.put(id, start, all_.at(node));
        const size_t first = begin(node);
        return out.put_few(id, start, ends_[node] - first,
                           [&](size_t i) { return entries_[first + i]; });
    }

private:
    size_t begin(size_t node) const { return node == 0 ? 0 : ends_[node - 1]; }
};

class NodeStore {
public:
    struct Record {
        double threshold, impurity, weight;  // threshold -2 at a leaf
        uint32_t n_rows, depth;
        uint32_t feature;        // NO_FEATURE at a leaf
        uint32_t parent, left;   // records; the right child follows the left one
        int subtree;             // store that holds the node and what is below, or -1
        int categories;              // place in category_sets, or -1
        bool missing_left;
    };
    size_t value_size = 0;
    ChunkedArray<Record> records;
    NodeValues values;
    std::vector<CategorySet> category_sets;

    NodeStore() = default;
    NodeStore(NodeStore&&) = default;
    NodeStore& operator=(NodeStore&&) = default;
    NodeStore(size_t value_size_, SharedBlocks& memory)
        : value_size(value_size_), records(1, memory), values(value_size_, memory),
          memory_(&memory) {}

    // Forgets all nodes and keeps their memory.
    void clear() {
        records.clear();
        values.clear();
        category_sets.clear();
        late_.clear();
    }
    uint32_t append(const Node& node, const std::vector<double>& value) {
        return append(node, value.data());
    }
    uint32_t append(const Node& node, const double* value) {
        return append(node.stats, node.size(), node.depth, value);
    }
    uint32_t append(const NodeStats& stats, uint32_t n_rows, uint32_t depth, const double* value) {
        Record& r = *records.append();
        r.threshold = -2.0;
        r.parent = r.left = 0;
        r.impurity = stats.impurity;
        r.weight = stats.weight;
        r.n_rows = n_rows;
        r.depth = depth;
        r.feature = NO_FEATURE;
        r.subtree = r.categories = -1;
        r.missing_left = false;
        values.append(value);
        return static_cast<uint32_t>(records.size() - 1);
    }
    // Splits a node whose children were appended last.
    void set_split(uint32_t record, const Split& split, uint32_t left) {
        set_question(record, split.feature, split.threshold, split.missing_left, left);
        if (split.below != nullptr) put_off(record, split);
        if (split.question != THRESHOLD) {
            records[record].categories = static_cast<int>(category_sets.size());
            category_sets.push_back(split.categories);
        }
    }
    void set_question(uint32_t record, uint32_t feature, double threshold, bool missing_left,
                      uint32_t left) {
        Record& r = records[record];
        r.feature = feature;
        r.threshold = threshold;
        r.missing_left = missing_left;
        r.left = left;
        records[left].parent = records[left + 1].parent = record;
    }
    // Computes the thresholds that were put off; to be called when the last node is split.
    void settle_thresholds() noexcept {
        for (const LateThreshold& late : late_) {
            records[late.record].threshold = midpoint(*late.below, *late.above);
        }
        late_.clear();
    }
    // Begins a subtree's store with the node it hangs from.
    void begin_subtree(const NodeStore& main, uint32_t record) {
        *this = NodeStore(main.value_size, *main.memory_);
        *records.append() = main.records[record];
        records[0].subtree = -1;
        std::vector<double> value(value_size);
        main.values.write(record, value.data());
        values.append(value.data());
    }
    void set_missing_side(uint32_t record, bool left) noexcept {
        records[record].missing_left = left;
    }
    void set_subtree(uint32_t record, int subtree) noexcept { records[record].subtree = subtree; }

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

private:
    // Between neighbours that have been asked for, but may not have arrived from memory yet.
    struct LateThreshold {
        uint32_t record;
        const float *below, *above;
    };
    static constexpr size_t MOST_LATE = 32;
    std::vector<LateThreshold> late_;
    SharedBlocks* memory_ = nullptr;

    void put_off(uint32_t record, const Split& split) {
        late_.push_back({record, split.below, split.above});
        if (late_.size() == MOST_LATE) settle_thresholds();
    }
};

static_assert(is_value<NodeStore>);

// A subtree's store begins with a copy of the node it hangs from.
inline size_t count_nodes(const NodeStore& main, const std::vector<NodeStore>& subtrees) noexcept {
    size_t n = main.records.size();
    for (const NodeStore& store : subtrees) n += store.records.size() - (store.records.size() > 0);
    return n;
}
// How many numbers of a store that begins a subtree, or of all, are kept as the nodes' values.
inline size_t count_values(const NodeStore& subtree) {
    return subtree.values.n_kept() - (subtree.records.size() > 0 ? subtree.values.n_kept(0) : 0);
}
inline size_t count_values(const NodeStore& main, const std::vector<NodeStore>& subtrees) {
    size_t n = main.values.n_kept();
    for (const NodeStore& store : subtrees) n += count_values(store);
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
// values. The main store's nodes come first, which gives the subtrees their places; threads may
// share the subtrees.
class NodeWriter {
    struct Place {  // of the next node of a store
        uint32_t id = 0;
        size_t value = 0;  // its first value among those that are kept
    };
    struct Part {  // what is left to be put together, of a store
        uint32_t depth = 0;
        int64_t n_leaves = 0;
        CategoryLists categories;
    };
    const NodeStore& main_;
    const std::vector<NodeStore>& subtrees_;
    CompactNodes& nodes_;
    CompactValues& values_;
    std::vector<Place> first_;  // of each subtree
    std::vector<Part> parts_;   // of the subtrees and of the main store

    // Returns whether the node is split.
    bool write(const NodeStore& store, uint32_t record, uint32_t left, uint32_t right, Place& at,
               Part& part) {
        const NodeStore::Record& r = store.records[record];
        const bool is_leaf = r.feature == NO_FEATURE;
        const uint32_t id = at.id++;
        nodes_[id] = {r.threshold, r.impurity, r.weight, is_leaf ? 0 : left, is_leaf ? 0 : right,
                      r.n_rows, is_leaf ? 0 : r.feature, r.missing_left};
        at.value = store.values.put(record, id, at.value, values_);
        part.depth = std::max(part.depth, r.depth);
        part.n_leaves += is_leaf;
        if (r.categories >= 0) {
            const CategorySet& categories = store.category_sets[r.categories];
            const uint32_t* codes = categories.codes.data();
            part.categories.append(id, codes, codes + categories.codes.size(),
                                   categories.listed_left);
        }
        return !is_leaf;
    }

    void write_depth_first(const NodeStore& store, Place at, Part& part) {
        struct Task {
            uint32_t record;
            uint32_t parent;  // whose right child it is
        };
        std::vector<Task> stack;
        uint32_t record = 0;
        while (true) {
            // Down the left side: a left child's id follows its parent's.
            bool is_split = true;
            while (is_split) {
                const int subtree = store.records[record].subtree;
                if (subtree >= 0) {
                    first_[subtree] = at;
                    at.id += static_cast<uint32_t>(subtrees_[subtree].records.size());
                    at.value += subtrees_[subtree].values.n_kept();
                    break;
                }
                is_split = write(store, record, at.id + 1, 0, at, part);
                if (!is_split) break;
                const uint32_t left = store.records[record].left;
                stack.push_back({left + 1, at.id - 1});
                record = left;
            }
            if (stack.empty()) return;
            nodes_[stack.back().parent].right = at.id;
            record = stack.back().record;
            stack.pop_back();
        }
    }

public:
    NodeWriter(const NodeStore& main, const std::vector<NodeStore>& subtrees, CompactNodes& nodes,
               CompactValues& values)
        : main_(main), subtrees_(subtrees), nodes_(nodes), values_(values),
          first_(subtrees.size()), parts_(subtrees.size() + 1) {}

    void write_main(bool as_grown) {
        Place at;
        if (!as_grown) return write_depth_first(main_, at, parts_.back());
        for (uint32_t i = 0; i < main_.records.size(); ++i) {
            const uint32_t left = main_.records[i].left;
            write(main_, i, left, left + 1, at, parts_.back());
        }
    }
    void write_subtree(int i) { write_depth_first(subtrees_[i], first_[i], parts_[i]); }

    int64_t n_leaves() const noexcept {
        int64_t n = 0;
        for (const Part& part : parts_) n += part.n_leaves;
        return n;
    }
    int max_depth() const noexcept {
        uint32_t depth = 0;
        for (const Part& part : parts_) depth = std::max(depth, part.depth);
        return static_cast<int>(depth);
    }
    // In ascending order of nodes.
    CategoryLists category_lists() const {
        struct Place {
            int64_t node;
            const CategoryLists* lists;
            size_t i;
        };
        std::vector<Place> places;
        for (const Part& part : parts_) {
            for (size_t i = 0; i < part.categories.nodes.size(); ++i) {
                places.push_back({part.categories.nodes[i], &part.categories, i});
            }
        }
        std::sort(places.begin(), places.end(),
                  [](const Place& a, const Place& b) { return a.node < b.node; });
        CategoryLists out;
        for (const Place& place : places) {
            const uint32_t* codes = place.lists->codes.data();
            const int64_t* offsets = &place.lists->offsets[place.i];
            out.append(place.node, codes + offsets[0], codes + offsets[1],
                       place.lists->listed_left[place.i]);
        }
        return out;
    }
};

}  // namespace fasttree
