// Prediction of a forest: rows walk through all trees, whose packed nodes lie in one array.
//
// A leaf's word is the number of its record in one table of all trees. Equal records are kept once,
// so that the pure leaves of a classification forest share as many records as there are classes,
// which stay in cache.
//
// Blocks of rows are handed out to threads, and a block takes the trees in their order. So no two
// threads write to the same place, and sums do not depend on the number of threads.
//
// Complexity: O(trees * depth) per row, whatever the number of records.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/predict/block_walk.hpp"
#include "engine/predict/walk.hpp"
#include "engine/predict/walk_categories.hpp"
#include "engine/simd/bits.hpp"
#include "utils/_value.hpp"

namespace fasttree {

// Rows of doubles, each kept once; rows are the same if their bytes are.
class RecordTable {
    size_t width_;
    std::vector<double> records_;
    std::vector<uint32_t> slots_;  // number of the record, or kFree; a power of two of them
    static constexpr uint32_t kFree = 0xffffffffu;

    uint64_t hash(const double* record) const {
        uint64_t h = 0x9e3779b97f4a7c15u;
        for (size_t i = 0; i < width_; ++i) {
            uint64_t word;
            std::memcpy(&word, record + i, sizeof word);
            h = (h ^ word) * 0xff51afd7ed558ccdu;
            h ^= h >> 32;
        }
        return h;
    }
    // Where the record is or has to go.
    uint32_t& slot_of(const double* record) {
        const size_t mask = slots_.size() - 1;
        size_t at = hash(record) & mask;
        while (slots_[at] != kFree && std::memcmp(records_.data() + slots_[at] * width_, record,
                                                  width_ * sizeof(double)) != 0) {
            at = (at + 1) & mask;
        }
        return slots_[at];
    }

public:
    explicit RecordTable(size_t width) : width_(width), slots_(1024, kFree) {}

    size_t size() const noexcept { return records_.size() / width_; }
    const double* data() const noexcept { return records_.data(); }

    uint32_t number_of(const double* record) {
        uint32_t& slot = slot_of(record);
        if (slot != kFree) return slot;
        const uint32_t number = slot = static_cast<uint32_t>(size());
        records_.insert(records_.end(), record, record + width_);
        if (2 * size() > slots_.size()) {
            slots_.assign(2 * slots_.size(), kFree);
            for (uint32_t i = 0; i <= number; ++i) slot_of(records_.data() + i * width_) = i;
        }
        return number;
    }
    // Names the records of a tree's packed leaves, which hold node ids, by their numbers.
    void number_leaves(std::vector<WalkNode>& packed, const double* values) {
        for (WalkNode& node : packed)
            if (node.feature == -1) node.child = number_of(values + node.child * width_);
    }
};

// Trees packed one after the other; children and tests are numbered within a tree.
struct PackedForest {
    const WalkNode* nodes;
    const int64_t* roots;                  // [n_trees + 1]
    const CategorySides* const* sides;     // [n_trees], null if a tree asks about numbers only
    size_t n_trees;
    const double* records;
    size_t width;                          // doubles of a record

    // Whether walks end: nodes of a tree are at [first, last), children behind their parent, the
    // first of them at an odd place.
    bool is_sound(int64_t first, int64_t last, Py_ssize_t n_features,
                  size_t n_records) const noexcept {
        const int64_t n = last - first;
        for (int64_t i = 0; i < n; ++i) {
            const WalkNode& node = nodes[first + i];
            if (node.feature == -1) {
                if (node.child >= n_records) return false;
                continue;
            }
            const int64_t child = node.child & ~WalkNode::kFlip;
            if (node.feature < 0 || node.feature >= n_features || child <= i || child + 1 >= n ||
                child % 2 == 0)
                return false;
        }
        return n > 0;
    }

    int64_t n_nodes(size_t tree) const { return roots[tree + 1] - roots[tree]; }

    // The nodes of a tree, in as many pieces as there are rows to walk before it. They come from
    // memory much faster in their order than as rows reach them, unless rows reach few of them.
    Ahead nodes_of(size_t tree, Py_ssize_t n_rows) const {
        if (tree >= n_trees) return kNothing;
        const int64_t size = n_nodes(tree) * int64_t{sizeof(WalkNode)};
        const int64_t lines = size / static_cast<int64_t>(kCacheLine) / n_rows + 1;
        if (lines > 4) return kNothing;
        const int64_t piece = lines * static_cast<int64_t>(kCacheLine);
        return {nodes + roots[tree], piece, static_cast<size_t>(piece)};
    }
    void leaves(size_t tree, const DenseRows& rows, const float* first, Py_ssize_t n,
                uint32_t* out) const {
        const WalkNode* root = nodes + roots[tree];
        const Ahead next_tree = nodes_of(tree + 1, std::max<Py_ssize_t>(n, 1));
        if (sides[tree] != nullptr)
            walk_strided<false>(root, first, rows.row_stride, rows.col_stride, n, next_tree, out,
                                *sides[tree]);
        else if (rows.col_stride == 1)
            walk_strided<true>(root, first, rows.row_stride, 1, n, next_tree, out);
        else
            walk_strided<false>(root, first, rows.row_stride, rows.col_stride, n, next_tree, out);
    }
    template <size_t kWidth>
    void add(const uint32_t* leaves, const uint32_t* places, Py_ssize_t n, double* out) const {
        const size_t w = kWidth > 0 ? kWidth : width;
        for (Py_ssize_t i = 0; i < n; ++i) {
            const double* record = records + leaves[i] * w;
            double* sum = out + places[i] * w;
            for (size_t k = 0; k < w; ++k) sum[k] += record[k];
        }
    }
    void add_records(const uint32_t* leaves, const uint32_t* places, Py_ssize_t n,
                     double* out) const {
        switch (width) {
            case 1: return add<1>(leaves, places, n, out);
            case 2: return add<2>(leaves, places, n, out);
            case 3: return add<3>(leaves, places, n, out);
            case 4: return add<4>(leaves, places, n, out);
            case 5: return add<5>(leaves, places, n, out);
            case 6: return add<6>(leaves, places, n, out);
            case 7: return add<7>(leaves, places, n, out);
            case 8: return add<8>(leaves, places, n, out);
            default: return add<0>(leaves, places, n, out);
        }
    }
};
static_assert(is_value<PackedForest>);

// Scratch of one thread of `add_forest`.
struct ForestScratch {
    BlockWalker walker;
    std::vector<uint32_t> leaves, places;
    std::vector<float> taken;  // rows that a tree takes, side by side
};

// Adds the records of a block's rows to `out`, tree by tree; `n_taken` counts the trees of each
// row where bits say which rows a tree takes.
inline void add_block(const PackedForest& forest, const DenseRows& rows, const uint32_t* takes,
                      size_t n_words, Py_ssize_t first, Py_ssize_t n, Simd simd,
                      ForestScratch& scratch, double* out, int64_t* n_taken) {
    constexpr int64_t kMostNodesPerRow = 8;
    const float* x = rows.x + first * rows.row_stride;
    double* sums = out + static_cast<size_t>(first) * forest.width;
    uint32_t* leaves = scratch.leaves.data();
    uint32_t* places = scratch.places.data();
    if (takes == nullptr) {
        for (Py_ssize_t i = 0; i < n; ++i) places[i] = static_cast<uint32_t>(i);
        BlockWalker& walker = scratch.walker;
        const bool pays = BlockWalker::pays(simd, n, rows.n_cols, forest.n_trees);
        if (pays) walker.read(simd, rows, x, n);
        for (size_t tree = 0; tree < forest.n_trees; ++tree) {
            const int64_t n_nodes = forest.n_nodes(tree);
            if (pays && forest.sides[tree] == nullptr && n_nodes <= kMostNodesPerRow * n)
                walker.leaves(simd, forest.nodes + forest.roots[tree],
                              static_cast<uint32_t>(n_nodes), leaves);
            else
                forest.leaves(tree, rows, x, n, leaves);
            forest.add_records(leaves, places, n, sums);
        }
        return;
    }
    DenseRows compact = rows;
    compact.row_stride = rows.n_cols;
    compact.col_stride = 1;
    for (size_t tree = 0; tree < forest.n_trees; ++tree) {
        float* next = scratch.taken.data();
        Py_ssize_t n_here = 0;
        for (Py_ssize_t i = 0; i < n; ++i) {
            if (!get_bit(takes + tree * n_words, static_cast<uint32_t>(first + i))) continue;
            places[n_here++] = static_cast<uint32_t>(i);
            ++n_taken[first + i];
            for (Py_ssize_t f = 0; f < rows.n_cols; ++f)
                *next++ = x[i * rows.row_stride + f * rows.col_stride];
        }
        forest.leaves(tree, compact, scratch.taken.data(), n_here, leaves);
        forest.add_records(leaves, places, n_here, sums);
    }
}

// Adds to row i of `out` the records of its leaves, i in [start, end), in the order of the trees.
// takes: [n_trees][n_words] bits, the rows that each tree takes, or null for all.
// Throws std::bad_alloc.
inline WalkStatus add_forest(const PackedForest& forest, const DenseRows& rows,
                             const uint32_t* takes, size_t n_words, Py_ssize_t start,
                             Py_ssize_t end, Simd simd, int n_threads, double* out,
                             int64_t* n_taken) {
    // Rows that fit into an L2 cache: each tree's nodes are read once per block. Twice as many
    // where nodes are made for a block, but not in vectors.
    const Py_ssize_t in_cache = (simd == SIMD_AVX2 ? 1 << 19 : 1 << 18) / (rows.n_cols + 1);
    const Py_ssize_t most = std::clamp<Py_ssize_t>(
        in_cache, 64, simd == SIMD_PORTABLE ? kMaxBlockRows : BlockWalker::kMaxRows);
    const Py_ssize_t share = (end - start + n_threads - 1) / n_threads;
    const Py_ssize_t n_blocks = (share + most - 1) / most;  // of a thread, equal ones
    const Py_ssize_t block_rows =
        std::clamp<Py_ssize_t>((share + n_blocks - 1) / n_blocks, 64, most);
    const size_t n_rows = static_cast<size_t>(std::min(block_rows, end - start));
    std::vector<ForestScratch> scratch(static_cast<size_t>(n_threads));
    for (ForestScratch& own : scratch) {
        own.leaves.resize(n_rows + 1);
        own.places.resize(n_rows);
        if (takes != nullptr) own.taken.resize(n_rows * static_cast<size_t>(rows.n_cols));
    }
    std::atomic<bool> is_refused{false};
    const auto add = [&](int thread, Py_ssize_t first, Py_ssize_t last) {
        if (is_refused.load(std::memory_order_relaxed)) return;
        const DenormalsKept guard;
        const Py_ssize_t n = last - first;
        if (rows.accepts(rows.x + first * rows.row_stride, n))
            add_block(forest, rows, takes, n_words, first, n, simd, scratch[thread], out,
                      n_taken);
        else
            is_refused.store(true, std::memory_order_relaxed);
    };
    share_out(start, end, block_rows, n_threads, add);
    return is_refused.load() ? WalkStatus::refused_values : WalkStatus::done;
}

}  // namespace fasttree
