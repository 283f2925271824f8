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
#include <type_traits>
#include <vector>

#include "engine/predict/block_walk.hpp"
#include "engine/predict/row_walk.hpp"
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
    template <class Node>
    static Ahead in_pieces(const Node* nodes, int64_t n_nodes, Py_ssize_t n_rows) {
        const int64_t size = n_nodes * int64_t{sizeof(Node)};
        const int64_t lines = size / static_cast<int64_t>(kCacheLine) / n_rows + 1;
        if (lines > 4) return kNothing;
        const int64_t piece = lines * static_cast<int64_t>(kCacheLine);
        return {nodes, piece, static_cast<size_t>(piece)};
    }
    Ahead nodes_of(size_t tree, Py_ssize_t n_rows) const {
        return tree < n_trees ? in_pieces(nodes + roots[tree], n_nodes(tree), n_rows) : kNothing;
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
    // The records of n rows in some trees, one tree after the other: their leaves are `stride`
    // apart, and place(i) says which row of `out` the i-th one is.
    template <class Place>
    void add_records(Simd simd, const uint32_t* leaves, size_t n_trees_here, size_t stride,
                     Py_ssize_t n, const Place& place, double* out) const {
        const auto add_by_width = [&](auto fixed) FASTTREE_INLINE {
            constexpr size_t kWidth = decltype(fixed)::value;
            const size_t w = kWidth > 0 ? kWidth : width;
            for (Py_ssize_t i = 0; i < n; ++i) {
                double* const sum = out + place(i) * w;
                if constexpr (kWidth > 0) {  // read and written once
                    double sums[kWidth];
                    std::copy_n(sum, kWidth, sums);
                    for (size_t tree = 0; tree < n_trees_here; ++tree) {
                        const double* record = records + leaves[tree * stride + i] * w;
                        for (size_t k = 0; k < kWidth; ++k) sums[k] += record[k];
                    }
                    std::copy_n(sums, kWidth, sum);
                } else {
                    for (size_t tree = 0; tree < n_trees_here; ++tree)
                        add_all(records + leaves[tree * stride + i] * w, sum, w);
                }
            }
        };
        call(simd, [&]() FASTTREE_INLINE {
            switch (width) {
                case 1: return add_by_width(std::integral_constant<size_t, 1>{});
                case 2: return add_by_width(std::integral_constant<size_t, 2>{});
                case 3: return add_by_width(std::integral_constant<size_t, 3>{});
                case 4: return add_by_width(std::integral_constant<size_t, 4>{});
                case 5: return add_by_width(std::integral_constant<size_t, 5>{});
                case 6: return add_by_width(std::integral_constant<size_t, 6>{});
                case 7: return add_by_width(std::integral_constant<size_t, 7>{});
                case 8: return add_by_width(std::integral_constant<size_t, 8>{});
                default: return add_by_width(std::integral_constant<size_t, 0>{});
            }
        });
    }
};
static_assert(is_value<PackedForest>);

// The rows that each tree takes: a bit per row, [n_trees][n_words], or null for all. With bits,
// `n_trees_of` counts the trees of each row.
struct RowsTaken {
    const uint32_t* bits;
    size_t n_words;
    int64_t* n_trees_of;
};
static_assert(is_value<RowsTaken>);

// Trees whose records are added to a row's sums at a time.
constexpr size_t kTreesTogether = 8;

// Scratch of one thread of `add_forest`.
struct ForestScratch {
    BlockWalker walker;
    RowKeys keys;
    std::vector<uint32_t> leaves, places;
    std::vector<float> taken;  // rows that a tree takes, side by side
};

// What a walk of many rows makes of the trees, once for all calls of `add_forest`.
class ForestNodes {
    RowNodes nodes_;

public:
    // Whether that pays for so many rows.
    static bool pays(const PackedForest& forest, Simd simd, Py_ssize_t n_rows,
                     Py_ssize_t n_cols) noexcept {
        constexpr Py_ssize_t kLeastRows = 256, kNodesPerRow = 4, kColsPerTree = 32;
        const auto n_trees = static_cast<Py_ssize_t>(forest.n_trees);
        if (simd == SIMD_AVX512 || n_rows < kLeastRows || n_cols > kColsPerTree * n_trees ||
            forest.roots[n_trees] > kNodesPerRow * n_rows * n_trees)
            return false;
        for (size_t tree = 0; tree < forest.n_trees; ++tree)
            if (!RowNodes::fits(static_cast<uint32_t>(forest.n_nodes(tree)), n_cols)) return false;
        return true;
    }
    // Throws std::bad_alloc.
    void make(const PackedForest& forest, Py_ssize_t n_cols, int kind, int n_threads) {
        nodes_.make(forest.nodes, forest.roots, forest.n_trees, n_cols, kind, n_threads);
    }
    const RowLayout& layout() const { return nodes_.layout(); }

    void leaves(const PackedForest& forest, size_t tree, Simd simd, const RowKeys& keys,
                Py_ssize_t n, uint32_t* out) const {
        const RowNode* const next = nodes_.tree(forest.roots, tree + 1);
        const Ahead next_tree = tree + 1 < forest.n_trees
            ? PackedForest::in_pieces(next, forest.n_nodes(tree + 1), n) : kNothing;
        walk_rows_by_keys(simd, nodes_.tree(forest.roots, tree),
                          static_cast<uint32_t>(forest.n_nodes(tree)), keys, layout(),
                          static_cast<uint32_t>(n), next_tree, out);
    }
};
static_assert(is_value<ForestNodes>);

// Adds the records of a block's rows to `out`, in the order of the trees. made: null where that
// does not pay.
inline void add_block(const PackedForest& forest, const DenseRows& rows, const ForestNodes* made,
                      Py_ssize_t first, Py_ssize_t n, Simd simd, ForestScratch& scratch,
                      double* out) {
    constexpr int64_t kMostNodesPerRow = 8;
    const float* x = rows.x + first * rows.row_stride;
    double* sums = out + static_cast<size_t>(first) * forest.width;
    const size_t stride = static_cast<size_t>(n) + 1;
    BlockWalker& walker = scratch.walker;
    const bool in_vectors = BlockWalker::pays(simd, n, rows.n_cols, forest.n_trees);
    if (made != nullptr)
        scratch.keys.read(simd, rows, x, static_cast<uint32_t>(n), made->layout());
    if (in_vectors) walker.read(rows, x, n);
    for (size_t tree = 0; tree < forest.n_trees; ++tree) {
        const int64_t n_nodes = forest.n_nodes(tree);
        const size_t n_held = tree % kTreesTogether;
        uint32_t* const leaves = scratch.leaves.data() + n_held * stride;
        if (forest.sides[tree] != nullptr)
            forest.leaves(tree, rows, x, n, leaves);
        else if (made != nullptr)
            made->leaves(forest, tree, simd, scratch.keys, n, leaves);
        else if (in_vectors && n_nodes <= kMostNodesPerRow * n)
            walker.leaves(forest.nodes + forest.roots[tree], static_cast<uint32_t>(n_nodes),
                          leaves);
        else
            forest.leaves(tree, rows, x, n, leaves);
        if (n_held + 1 == kTreesTogether || tree + 1 == forest.n_trees)
            forest.add_records(simd, scratch.leaves.data(), n_held + 1, stride, n,
                               [](Py_ssize_t i) { return static_cast<size_t>(i); }, sums);
    }
}

// The same where a tree takes some of the rows.
inline void add_taken(const PackedForest& forest, const DenseRows& rows, const RowsTaken& takes,
                      Py_ssize_t first, Py_ssize_t n, Simd simd, ForestScratch& scratch,
                      double* out) {
    const float* x = rows.x + first * rows.row_stride;
    double* sums = out + static_cast<size_t>(first) * forest.width;
    uint32_t* leaves = scratch.leaves.data();
    uint32_t* places = scratch.places.data();
    DenseRows compact = rows;
    compact.row_stride = rows.n_cols;
    compact.col_stride = 1;
    for (size_t tree = 0; tree < forest.n_trees; ++tree) {
        const uint32_t* bits = takes.bits + tree * takes.n_words;
        float* next = scratch.taken.data();
        Py_ssize_t n_here = 0;
        for (Py_ssize_t i = 0; i < n; ++i) {
            if (!get_bit(bits, static_cast<uint32_t>(first + i))) continue;
            places[n_here++] = static_cast<uint32_t>(i);
            ++takes.n_trees_of[first + i];
            for (Py_ssize_t f = 0; f < rows.n_cols; ++f)
                *next++ = x[i * rows.row_stride + f * rows.col_stride];
        }
        forest.leaves(tree, compact, scratch.taken.data(), n_here, leaves);
        forest.add_records(simd, leaves, 1, 0, n_here,
                           [places](Py_ssize_t i) { return size_t{places[i]}; }, sums);
    }
}

// Rows of a block, at most: those that fit into an L2 cache, as each tree's nodes are read once per
// block.
inline Py_ssize_t most_block_rows(const PackedForest& forest, const DenseRows& rows, Simd simd,
                                  const ForestNodes* made) {
    if (made != nullptr)
        return std::clamp<Py_ssize_t>((1 << 16) / (made->layout().size() + 2 * forest.width), 64,
                                      BlockWalker::kMaxRows);
    return std::clamp<Py_ssize_t>((1 << 18) / (rows.n_cols + 1), 64,
                                  simd == SIMD_AVX512 ? BlockWalker::kMaxRows : kMaxBlockRows);
}

// Adds to row i of `out` the records of its leaves, i in [start, end), in the order of the trees.
// Throws std::bad_alloc.
inline WalkStatus add_forest(const PackedForest& forest, const DenseRows& rows,
                             const RowsTaken& takes, Py_ssize_t start, Py_ssize_t end, Simd simd,
                             int n_threads, ForestNodes* made, double* out) {
    const float* const x = rows.x + start * rows.row_stride;
    if (made != nullptr) {
        const int kind = kind_of_matrix(x, end - start, rows.n_cols, rows.row_stride,
                                        rows.col_stride, n_threads);
        if (kind > rows.accepted) return WalkStatus::refused_values;
        made->make(forest, rows.n_cols, kind, n_threads);
    }
    const Py_ssize_t most = most_block_rows(forest, rows, simd, made);
    const Py_ssize_t share = (end - start + n_threads - 1) / n_threads;
    const Py_ssize_t n_blocks = (share + most - 1) / most;  // of a thread, equal ones
    const Py_ssize_t block_rows =
        std::clamp<Py_ssize_t>((share + n_blocks - 1) / n_blocks, 64, most);
    const size_t n_rows = static_cast<size_t>(std::min(block_rows, end - start));
    std::vector<ForestScratch> scratch(static_cast<size_t>(n_threads));
    for (ForestScratch& own : scratch) {
        own.leaves.resize(kTreesTogether * (n_rows + 1));
        if (takes.bits == nullptr) continue;
        own.places.resize(n_rows);
        own.taken.resize(n_rows * static_cast<size_t>(rows.n_cols));
    }
    std::atomic<bool> is_refused{false};
    const auto add = [&](int thread, Py_ssize_t first, Py_ssize_t last) {
        if (is_refused.load(std::memory_order_relaxed)) return;
        const DenormalsKept guard;
        const Py_ssize_t n = last - first;
        if (made == nullptr && !rows.accepts(rows.x + first * rows.row_stride, n))
            is_refused.store(true, std::memory_order_relaxed);
        else if (takes.bits != nullptr)
            add_taken(forest, rows, takes, first, n, simd, scratch[thread], out);
        else
            add_block(forest, rows, made, first, n, simd, scratch[thread], out);
    };
    share_out(start, end, block_rows, n_threads, add);
    return is_refused.load() ? WalkStatus::refused_values : WalkStatus::done;
}

}  // namespace fasttree
