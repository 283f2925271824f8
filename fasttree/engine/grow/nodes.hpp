// The nodes of a tree while it grows.
//
// Nodes are recorded in the order they are made, two children at a time, or depth-first where all
// that is below a node is grown at once (`NodesBelow`). Subtrees grown by other threads have stores
// of their own. `NodeWriter` (node_writer.hpp) numbers them all in depth-first order, left first.
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
    // The next item, not initialised, and the same as a part of the array.
    T* next() {
        if (size_ >> SHIFT == chunks_.size()) grow();
        return at(size_);
    }
    T* append() {
        T* const item = next();
        ++size_;
        return item;
    }
    // Calls use(items, n) for items that lie one after the other, until it has seen all.
    template <class Use>
    void visit_chunks(const Use& use) const {
        for (size_t i = 0; i < size_; i += CHUNK) use(at(i), std::min<size_t>(CHUNK, size_ - i));
    }
    T* at(size_t i) { return &chunks_[i >> SHIFT][(i & (CHUNK - 1)) * width_]; }
    const T* at(size_t i) const { return &chunks_[i >> SHIFT][(i & (CHUNK - 1)) * width_]; }
    T& operator[](size_t i) { return *at(i); }
    const T& operator[](size_t i) const { return *at(i); }

private:
    // Several chunks at once if there are many: an eighth of what there is. They may come filled,
    // which takes less time than one fault per page of those that are used.
    void grow() {
        const size_t n = 1 + chunks_.size() / 8, length = CHUNK * width_;
        const std::shared_ptr<T[]> block = memory_->take<T>(n * length);
        for (size_t i = 0; i < n; ++i) chunks_.emplace_back(block, block.get() + i * length);
    }
};

// The values of nodes. A node holds few of many classes: of wide values only what is not zero is
// kept. Of narrow ones all are: to note which are not zero would take what it saves.
class NodeValues {
    static constexpr size_t NARROW = 2, WIDE = 8, BLOCK = 64;
    static constexpr double ZEROS[BLOCK] = {};
    struct Entry {
        uint32_t place = 0;
        double value = 0.0;
    };
    size_t width_ = 0;
    ChunkedArray<double> all_;
    std::vector<double> wide_;  // the next node's, if they are
    std::vector<Entry> entries_;
    std::vector<size_t> ends_;  // of a node's entries

public:
    NodeValues() = default;
    NodeValues(size_t width, SharedBlocks& memory)
        : width_(width), all_(width, memory), wide_(width > WIDE ? width : 0) {}

    void clear() {
        all_.clear();
        entries_.clear();
        ends_.clear();
    }
    // Room for the values of the next node: what is written there need not be copied.
    double* next() { return width_ <= WIDE ? all_.next() : wide_.data(); }
    void append(const double* value) {
        if (width_ <= WIDE) {
            double* const own = all_.append();
            if (value != own) copy_values(value, width_, own);
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
                Entry& entry = entries_.emplace_back();  // in place, see `NodeStore::put_off`
                entry.place = static_cast<uint32_t>(place);
                entry.value = value[place];
            }
        }
        ends_.push_back(entries_.size());
    }
    // How many numbers of all nodes a `CompactValues` keeps.
    size_t n_kept() const noexcept {
        if (width_ > WIDE) return entries_.size();
        if (width_ <= NARROW) return all_.size() * width_;
        size_t n = 0;
        all_.visit_chunks([&](const double* values, size_t n_nodes) {
            n += count_kept(values, n_nodes * width_);
        });
        return n;
    }
    size_t n_kept(size_t node) const noexcept {
        if (width_ > WIDE) return ends_[node] - begin(node);
        return width_ <= NARROW ? width_ : count_kept(all_.at(node), width_);
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
    // What growth needs of a node that is not one of `NodesBelow`.
    struct Record {
        uint32_t node;          // in nodes_
        uint32_t parent, left;  // records; the right child follows the left one
        uint32_t depth;
        uint32_t n_below;  // how many of `NodesBelow` are below it
        int subtree;       // the store that holds the node and what is below, or -1
        int categories;    // place in category_sets_, or -1
    };
    ChunkedArray<Record> records_;
    ChunkedArray<CompactNode> nodes_;  // children are nodes here; one without is a leaf
    NodeValues values_;
    std::vector<CategorySet> category_sets_;
    std::vector<int> subtrees_;  // stores that hold what is below nodes of this one
    size_t value_size_ = 0, n_kept_ = 0;
    uint32_t max_depth_ = 0;

public:
    NodeStore() = default;
    NodeStore(NodeStore&&) = default;
    NodeStore& operator=(NodeStore&&) = default;
    NodeStore(size_t value_size, SharedBlocks& memory)
        : records_(1, memory), nodes_(1, memory), values_(value_size, memory),
          value_size_(value_size), memory_(&memory) {}

    // Forgets all nodes and keeps their memory.
    void clear() {
        records_.clear();
        nodes_.clear();
        values_.clear();
        category_sets_.clear();
        subtrees_.clear();
        late_.clear();
        n_kept_ = 0;
        max_depth_ = 0;
    }
    uint32_t append(const Node& node, const std::vector<double>& value) {
        const uint32_t i = append_node(node.stats, node.size(), node.depth, value.data());
        return append_record(i, node.depth);
    }
    // Splits a node whose children were appended last.
    void set_split(uint32_t record, const Split& split, uint32_t left) {
        Record& r = records_[record];
        r.left = left;
        records_[left].parent = records_[left + 1].parent = record;
        nodes_[r.node].left = records_[left].node;
        nodes_[r.node].right = records_[left + 1].node;
        set_question(r.node, split);
        if (split.question != THRESHOLD) {
            r.categories = static_cast<int>(category_sets_.size());
            category_sets_.push_back(split.categories);
        }
    }
    // To be called when the last node is split.
    void finish() noexcept {
        settle_thresholds();
        n_kept_ = values_.n_kept();
    }
    // Another one for values of the same size.
    NodeStore make_empty() const { return NodeStore(value_size_, *memory_); }
    std::vector<double> value(uint32_t record) const {
        std::vector<double> value(value_size_);
        values_.write(records_[record].node, value.data());
        return value;
    }
    void set_missing_side(uint32_t record, bool left) noexcept {
        nodes_[records_[record].node].missing_left = left;
    }
    // Says where a node and what is below it are instead.
    void set_subtree(uint32_t record, int subtree) {
        subtrees_.push_back(subtree);
        records_[record].subtree = subtree;
    }

    uint32_t size() const noexcept { return static_cast<uint32_t>(nodes_.size()); }
    size_t value_size() const noexcept { return value_size_; }
    uint32_t max_depth() const noexcept { return max_depth_; }
    // How many numbers of the values are kept: of the store, once it is finished, and of node 0.
    size_t n_kept() const noexcept { return n_kept_; }
    size_t n_kept_first() const noexcept { return values_.n_kept(0); }

    // Whether node a comes before node b in depth-first order; neither is above the other.
    bool precedes(uint32_t a, uint32_t b) const {
        while (records_[a].depth > records_[b].depth) a = records_[a].parent;
        while (records_[b].depth > records_[a].depth) b = records_[b].parent;
        while (records_[a].parent != records_[b].parent) {
            a = records_[a].parent;
            b = records_[b].parent;
        }
        return records_[records_[a].parent].left == a;
    }

private:
    friend class NodesBelow;
    friend class NodeWriter;

    // Between neighbours that have been asked for, but may not have arrived from memory yet.
    struct LateThreshold {
        uint32_t node = 0;
        const float *below = nullptr, *above = nullptr;
    };
    static constexpr size_t MOST_LATE = 32;
    std::vector<LateThreshold> late_;
    SharedBlocks* memory_ = nullptr;

    uint32_t append_node(const NodeStats& stats, uint32_t n_rows, uint32_t depth,
                         const double* value) {
        CompactNode& node = *nodes_.append();
        node.threshold = -2.0;
        node.impurity = stats.impurity;
        node.weight = stats.weight;
        node.left = node.right = 0;
        node.n_rows = n_rows;
        node.feature = node.missing_left = 0;
        values_.append(value);
        max_depth_ = std::max(max_depth_, depth);
        return size() - 1;
    }
    uint32_t append_record(uint32_t node, uint32_t depth) {
        *records_.append() = {node, 0, 0, depth, 0, -1, -1};
        return static_cast<uint32_t>(records_.size() - 1);
    }
    void set_question(uint32_t node, const Split& split) {
        set_question(node, split.feature, split.threshold, split.missing_left);
        if (split.below != nullptr) put_off(node, split);
    }
    void set_question(uint32_t node, uint32_t feature, double threshold, bool missing_left) {
        nodes_[node].threshold = threshold;
        nodes_[node].feature = feature;
        nodes_[node].missing_left = missing_left;
    }
    // Written in place: to copy fields together right after they were stored one by one takes long.
    void put_off(uint32_t node, const Split& split) {
        LateThreshold& late = late_.emplace_back();
        late.node = node;
        late.below = split.below;
        late.above = split.above;
        if (late_.size() == MOST_LATE) settle_thresholds();
    }
    void settle_thresholds() noexcept {
        for (const LateThreshold& late : late_) {
            nodes_[late.node].threshold = midpoint(*late.below, *late.above);
        }
        late_.clear();
    }
};

static_assert(is_value<NodeStore>);

// Of subtrees that were left to any thread. Each begins with a copy of the node it hangs from,
// which is in the main store or in one of those before it.
using SubtreeStores = std::vector<std::unique_ptr<NodeStore>>;

// What is grown at once below a node, by thresholds: nodes are stored depth-first, so
// that they are written one after the other.
class NodesBelow {
    NodeStore& store_;
    NodeStore::Record& root_;
    const uint32_t first_;

public:
    static constexpr uint32_t NO_NODE = 0xffffffffu;

    NodesBelow(NodeStore& store, uint32_t record)
        : store_(store), root_(store.records_[record]), first_(store.size()) {}
    NodesBelow(const NodesBelow&) = delete;
    NodesBelow& operator=(const NodesBelow&) = delete;
    ~NodesBelow() { root_.n_below = store_.size() - first_; }

    uint32_t root() const { return root_.node; }
    // Where to write the values of the next node.
    double* next_value() { return store_.values_.next(); }
    // The next node, the right child of `parent` or, if that is NO_NODE, the left one of the node
    // split last.
    uint32_t append(const NodeStats& stats, uint32_t n_rows, uint32_t depth, const double* value,
                    uint32_t parent) {
        const uint32_t node = store_.append_node(stats, n_rows, depth, value);
        if (parent != NO_NODE) store_.nodes_[parent].right = node;
        return node;
    }
    // Splits a node; its left child is appended next.
    template <class... Question>
    void split(uint32_t node, const Question&... question) {
        store_.set_question(node, question...);
        store_.nodes_[node].left = store_.size();
    }
};

}  // namespace fasttree
