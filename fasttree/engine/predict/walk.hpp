// Prediction: the packed copy of a tree and the walk of rows through it.
//
// A packed node takes 12 bytes. The children of a node lie next to each other, so one 32-bit
// word names both; the leaf's word is its id in the tree, so no second lookup is needed. A float32
// threshold suffices: for a float32 x and a double t, x <= t if and only if x <= the largest
// float32 that is not above t.
//
// One comparison decides the side of numbers and of missing values: the second child is taken
// unless value <= threshold, and NaN is never <= anything. So NaN goes to the second child. Where
// it has to go left, the children are stored in reverse and the signs of value and threshold are
// flipped: x goes right, now first, if x > t, that is if -x <= the next float32 below -t.
//
// A row's walk is a chain of dependent loads. Several rows are therefore in flight at once, each
// replaced by the next row as soon as it reaches its leaf: O(depth) per row, and the latency of
// one row hides behind the work on the others.
#pragma once

#include <Python.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "engine/core/node_record.hpp"
#include "engine/simd/bits.hpp"
#include "utils/_finite.hpp"
#include "utils/_threads.hpp"
#include "utils/_value.hpp"

namespace fasttree {

struct WalkNode {
    float threshold;   // of the value, or of its negative
    int32_t feature;   // -1 at a leaf
    uint32_t child;    // leaf: node id; else index of the first child, and kFlip
    static constexpr uint32_t kFlip = 0x80000000u;  // the sign bit of a float32
};

enum class NodeError : int {
    none = 0, half_leaf, child_range, shared_child, unreachable, feature_range, leaf_feature,
    threshold_nan, too_many
};
constexpr Py_ssize_t FEATURE_OF_LEAF = -2;

// The largest float32 that is not above t.
inline float float32_at_most(double t) {
    float f = static_cast<float>(t);
    return static_cast<double>(f) > t ? std::nextafterf(f, -INFINITY) : f;
}

// The largest float32 below -t, for which x > t if and only if -x <= it; NaN if nothing is above t.
inline float negative_below(float t) {
    return t == INFINITY ? NAN : std::nextafterf(-t, -INFINITY);
}

// While it lives, denormal floats are compared as what they are. A library compiled with
// -ffast-math may have told the thread's CPU to treat them as zero, but a threshold may lie between
// them and zero, and `negative_below(0)` is one of them.
class DenormalsKept {
  public:
    DenormalsKept() : saved_(read()) { write(saved_ & ~kFlush); }
    ~DenormalsKept() { write(saved_); }
    DenormalsKept(const DenormalsKept&) = delete;

  private:
#if defined(__x86_64__)
    static constexpr uint64_t kFlush = 0x8040;  // flush to zero, denormals are zero
    static uint64_t read() { return _mm_getcsr(); }
    static void write(uint64_t mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
    static constexpr uint64_t kFlush = 1u << 24;
    static uint64_t read() {
        uint64_t mode;
        __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
        return mode;
    }
    static void write(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#else
    static constexpr uint64_t kFlush = 0;
    static uint64_t read() { return 0; }
    static void write(uint64_t) {}
#endif
    const uint64_t saved_;
};

// Check that `nodes` is a binary tree rooted at 0 whose children have larger ids than their
// parents and whose features exist. As every node but the root is then the child of exactly one
// smaller id, no walk can leave the array or fail to end.
inline NodeError check_nodes(const NodeRecord* nodes, Py_ssize_t n_nodes, Py_ssize_t n_features,
                             Py_ssize_t& n_leaves, Py_ssize_t& max_depth) {
    if (n_nodes > INT32_MAX - 1 || n_features > INT32_MAX) return NodeError::too_many;
    std::vector<int32_t> depth(static_cast<size_t>(n_nodes), -1);
    depth[0] = 0;
    n_leaves = 0;
    max_depth = 0;
    for (Py_ssize_t i = 0; i < n_nodes; ++i) {
        const Py_ssize_t left = nodes[i].left_child, right = nodes[i].right_child;
        if (depth[i] < 0) return NodeError::unreachable;
        if (depth[i] > max_depth) max_depth = depth[i];
        if (left == -1 && right == -1) {
            if (nodes[i].feature != FEATURE_OF_LEAF) return NodeError::leaf_feature;
            ++n_leaves;
            continue;
        }
        if (left == -1 || right == -1) return NodeError::half_leaf;
        if (left <= i || left >= n_nodes || right <= i || right >= n_nodes)
            return NodeError::child_range;
        if (left == right || depth[left] >= 0 || depth[right] >= 0)
            return NodeError::shared_child;
        if (nodes[i].feature < 0 || nodes[i].feature >= n_features)
            return NodeError::feature_range;
        if (std::isnan(nodes[i].threshold)) return NodeError::threshold_nan;
        depth[left] = depth[right] = depth[i] + 1;
    }
    return NodeError::none;
}

// Pack checked nodes, left subtrees first, so that a walk to the left stays in its cache line.
inline std::vector<WalkNode> pack_nodes(const NodeRecord* nodes, Py_ssize_t n_nodes) {
    const DenormalsKept guard;
    std::vector<WalkNode> packed(static_cast<size_t>(n_nodes));
    std::vector<std::pair<Py_ssize_t, uint32_t>> stack{{0, 0}};  // node id, packed index
    uint32_t next_pair = 1;
    while (!stack.empty()) {
        const auto [id, at] = stack.back();
        stack.pop_back();
        const NodeRecord& node = nodes[id];
        if (node.left_child < 0) {
            packed[at] = {0.0f, -1, static_cast<uint32_t>(id)};
            continue;
        }
        const bool is_flipped = node.missing_go_to_left;
        const float threshold = float32_at_most(node.threshold);
        packed[at] = {is_flipped ? negative_below(threshold) : threshold,
                      static_cast<int32_t>(node.feature),
                      next_pair | (is_flipped ? WalkNode::kFlip : 0u)};
        stack.push_back({node.right_child, next_pair + !is_flipped});
        stack.push_back({node.left_child, next_pair + is_flipped});
        next_pair += 2;
    }
    return packed;
}

// Copy packed nodes with their features renamed 0, 1, ... in order of appearance; `slot` receives
// the new names (-1: none), `is_asked` a bit per renamed feature. Returns how many there are.
inline Py_ssize_t name_slots(const std::vector<WalkNode>& nodes, Py_ssize_t n_features,
                             std::vector<WalkNode>& named, std::vector<int32_t>& slot,
                             std::vector<uint32_t>& is_asked) {
    named = nodes;
    slot.assign(static_cast<size_t>(n_features), -1);
    is_asked = make_bits(static_cast<uint32_t>(n_features));
    int32_t n_slots = 0;
    for (WalkNode& node : named) {
        if (node.feature < 0) continue;
        int32_t& name = slot[node.feature];
        if (name < 0) name = n_slots++;
        put_bit(is_asked.data(), static_cast<uint32_t>(node.feature), 1);
        node.feature = name;
    }
    return n_slots;
}

// Index of the child that a value goes to. No branch: the side is a coin toss to the predictor.
inline uint32_t next_node(const WalkNode& node, float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits ^= node.child & WalkNode::kFlip;
    std::memcpy(&value, &bits, sizeof bits);
    const bool is_second = !__builtin_islessequal(value, node.threshold);
    return (node.child & ~WalkNode::kFlip) + is_second;
}

// What a walk asks at a node: here, on which side of the threshold a number lies.
struct NumberSides {
    static bool is_leaf(const WalkNode& node) { return node.feature < 0; }
    static int32_t feature(const WalkNode& node) { return node.feature; }
    static uint32_t next(const WalkNode& node, float value) { return next_node(node, value); }
};

// What is read after a call: asked for while it runs, a piece with each row.
constexpr size_t kCacheLine = 64;
constexpr int kIntoL2 = 2;  // `__builtin_prefetch`'s locality
struct Ahead {
    const void* first;
    ptrdiff_t stride;  // bytes from piece to piece
    size_t size;       // bytes of a piece
};
constexpr Ahead kNothing{nullptr, 0, 0};

// Ids of the leaves of rows [0, n_rows) of a strided matrix. kUnitColumns: col_stride is 1.
template <bool kUnitColumns, typename Sides = NumberSides>
void walk_strided(const WalkNode* nodes, const float* x, ptrdiff_t row_stride,
                  ptrdiff_t col_stride, Py_ssize_t n_rows, const Ahead& ahead, uint32_t* leaves,
                  const Sides& sides = Sides()) {
    constexpr int kLanes = 12;  // rows in flight
    const char* piece = static_cast<const char*>(ahead.first);
    const float* row[kLanes];
    uint32_t* out[kLanes];
    uint32_t at[kLanes];
    Py_ssize_t next = 0;
    int n_live = 0;

    for (; n_live < kLanes && next < n_rows; ++n_live, ++next) {
        row[n_live] = x + next * row_stride;
        out[n_live] = leaves + next;
        at[n_live] = 0;
    }
    // Loop invariant: rows below `next` are either written or in one of the n_live lanes.
    while (n_live == kLanes) {
#pragma GCC unroll 16
        for (int k = 0; k < kLanes; ++k) {
            const WalkNode& node = nodes[at[k]];
            if (__builtin_expect(!sides.is_leaf(node), 1)) {
                const int32_t f = sides.feature(node);
                at[k] = sides.next(node, row[k][kUnitColumns ? f : f * col_stride]);
            } else {
                *out[k] = node.child;
                if (next == n_rows) {  // nothing left to refill with: close the lane
                    --n_live;
                    row[k] = row[n_live];
                    out[k] = out[n_live];
                    at[k] = at[n_live];
                    break;
                }
                row[k] = x + next * row_stride;
                out[k] = leaves + next;
                at[k] = 0;
                for (size_t byte = 0; byte < ahead.size; byte += kCacheLine)
                    __builtin_prefetch(piece + byte, 0, kIntoL2);
                piece += ahead.stride;
                ++next;
            }
        }
    }
    for (int k = 0; k < n_live; ++k) {
        const WalkNode* node = nodes + at[k];
        while (!sides.is_leaf(*node))
            node = nodes + sides.next(*node, row[k][sides.feature(*node) * col_stride]);
        *out[k] = node->child;
    }
}

constexpr Py_ssize_t kMaxBlockRows = 2048;

enum class WalkStatus : int { done = 0, refused_values, bad_index };

// Rows of a dense float32 matrix with any strides (counted in elements).
struct DenseRows {
    const float* x;
    Py_ssize_t n_cols;
    ptrdiff_t row_stride;
    ptrdiff_t col_stride;
    int accepted;  // largest ValueKind that is let through; looked at block by block, in cache

    // Rows that fit into half of a small L2 cache.
    Py_ssize_t block() const {
        return std::clamp<Py_ssize_t>((1 << 15) / (n_cols + 1), 64, kMaxBlockRows);
    }

    // Whether the rows hold nothing but what is let through; a category counts as missing.
    bool accepts(const float* first, Py_ssize_t n_rows) const {
        return accepted >= some_infinite ||
               kind_of_matrix(first, n_rows, n_cols, row_stride, col_stride, 1) <= accepted;
    }

    WalkStatus leaves(const WalkNode* nodes, Py_ssize_t start, Py_ssize_t n_rows,
                      uint32_t* out) const {
        const float* first = x + start * row_stride;
        if (!accepts(first, n_rows)) return WalkStatus::refused_values;
        constexpr size_t kMaxBytes = 512;
        const Ahead next_block{first + n_rows * row_stride,
                               row_stride * static_cast<ptrdiff_t>(sizeof(float)),
                               std::min(n_cols * sizeof(float), kMaxBytes)};
        if (col_stride == 1)
            walk_strided<true>(nodes, first, row_stride, 1, n_rows, next_block, out);
        else
            walk_strided<false>(nodes, first, row_stride, col_stride, n_rows, kNothing, out);
        return WalkStatus::done;
    }
};

// Rows of a CSR matrix. Only the features that the tree asks for get a slot in the dense buffer,
// which holds a few rows at a time; `nodes` passed to leaves() name slots, not features.
template <typename Index>
struct SparseRows {
    const float* data;
    const Index* indices;
    const Index* indptr;
    const uint32_t* is_asked;  // bit per feature: nearly all nonzeros need no other look
    const int32_t* slot;       // of a feature that is asked for
    Py_ssize_t n_features;
    Py_ssize_t n_slots;

    static constexpr Py_ssize_t kBufferFloats = 1 << 15;

    Py_ssize_t block() const { return kMaxBlockRows; }

    struct Scratch {
        Py_ssize_t n_rows;
        std::vector<float> dense;     // all zero between calls
        std::vector<size_t> written;  // places in it
        std::vector<Index> asked;     // of a row's nonzeros, those whose feature is asked for
        explicit Scratch(const SparseRows& rows)
            : n_rows(std::clamp<Py_ssize_t>(kBufferFloats / (rows.n_slots + 1), 16, 256)),
              dense(static_cast<size_t>(n_rows * rows.n_slots), 0.0f) {}
    };

    // Throws std::bad_alloc.
    WalkStatus leaves(const WalkNode* nodes, Py_ssize_t start, Py_ssize_t n_rows, Scratch& scratch,
                      uint32_t* out) const {
        float* dense = scratch.dense.data();
        for (Py_ssize_t done = 0; done < n_rows; done += scratch.n_rows) {
            const Py_ssize_t first = start + done;
            const Py_ssize_t n = std::min(scratch.n_rows, n_rows - done);
            for (Py_ssize_t i = 0; i < n; ++i) {
                size_t n_asked;
                if (!find_asked(indptr[first + i], indptr[first + i + 1], scratch.asked, n_asked)) {
                    return WalkStatus::bad_index;
                }
                for (size_t k = 0; k < n_asked; ++k) {
                    const Index p = scratch.asked[k];
                    const size_t place = static_cast<size_t>(i * n_slots + slot[indices[p]]);
                    dense[place] = data[p];
                    scratch.written.push_back(place);
                }
            }
            walk_strided<true>(nodes, dense, n_slots, 1, n, kNothing, out + done);
            for (size_t place : scratch.written) dense[place] = 0.0f;
            scratch.written.clear();
        }
        return WalkStatus::done;
    }

private:
    // asked[0:n]: the nonzeros [p, end) whose feature is asked for, found without a branch on the
    // data. False if a feature lies outside the matrix.
    bool find_asked(Index p, Index end, std::vector<Index>& asked, size_t& n) const {
        const Index* all_indices = indices;
        const uint32_t* bits = is_asked;
        const uint64_t limit = static_cast<uint64_t>(n_features);
        asked.resize(std::max(asked.size(), static_cast<size_t>(end - p)));
        Index* out = asked.data();
        n = 0;
        bool is_valid = true;
        for (; p < end; ++p) {
            const uint64_t index = static_cast<uint64_t>(all_indices[p]);  // huge if negative
            const bool is_inside = index < limit;
            is_valid &= is_inside;
            out[n] = p;
            n += get_bit(bits, is_inside ? static_cast<uint32_t>(index) : 0);
        }
        return is_valid;
    }
};

// What is written for a row: its leaf's id, or the leaf's record in a table.
struct LeafTable {
    const char* records;  // one per node; null: write the leaf's id as Py_ssize_t
    size_t size;          // bytes of a record
};
static_assert(is_value<WalkNode> && is_value<LeafTable>);
static_assert(is_value<SparseRows<int32_t>> && is_value<SparseRows<int64_t>>);

template <size_t kSize>
void copy_records(const uint32_t* leaves, Py_ssize_t n, const char* records, char* out) {
    for (Py_ssize_t i = 0; i < n; ++i)
        std::memcpy(out + i * kSize, records + leaves[i] * kSize, kSize);
}

inline void write_leaves(const uint32_t* leaves, Py_ssize_t n, const LeafTable& table, char* out) {
    if (table.records == nullptr) {
        Py_ssize_t* ids = reinterpret_cast<Py_ssize_t*>(out);
        for (Py_ssize_t i = 0; i < n; ++i) ids[i] = static_cast<Py_ssize_t>(leaves[i]);
        return;
    }
    switch (table.size) {
        case 1: return copy_records<1>(leaves, n, table.records, out);
        case 4: return copy_records<4>(leaves, n, table.records, out);
        case 8: return copy_records<8>(leaves, n, table.records, out);
        case 16: return copy_records<16>(leaves, n, table.records, out);
        default:
            for (Py_ssize_t i = 0; i < n; ++i)
                std::memcpy(out + i * table.size, table.records + leaves[i] * table.size,
                            table.size);
    }
}

// Write the records of rows [start, end); `out` belongs to row 0. Blocks are handed out to
// n_threads threads; every row is written by one thread, so the result does not depend on them.
// Throws std::bad_alloc.
template <typename Rows>
WalkStatus walk_rows(const Rows& rows, const WalkNode* nodes, const LeafTable& table,
                     Py_ssize_t start, Py_ssize_t end, int n_threads, char* out) {
    const size_t size = table.records ? table.size : sizeof(Py_ssize_t);
    std::vector<typename Rows::Scratch> scratch;
    scratch.reserve(static_cast<size_t>(n_threads));
    for (int i = 0; i < n_threads; ++i) scratch.emplace_back(rows);
    std::atomic<WalkStatus> status{WalkStatus::done};
    const auto walk = [&](int thread, Py_ssize_t first, Py_ssize_t last) {
        if (status.load(std::memory_order_relaxed) != WalkStatus::done) return;
        const DenormalsKept guard;
        uint32_t leaves[kMaxBlockRows + 1];
        const Py_ssize_t n = last - first;
        const WalkStatus block_status = rows.leaves(nodes, first, n, scratch[thread], leaves);
        if (block_status == WalkStatus::done)
            write_leaves(leaves, n, table, out + static_cast<size_t>(first) * size);
        else
            status.store(block_status, std::memory_order_relaxed);
    };
    share_out(start, end, rows.block(), n_threads, walk);
    return status.load();
}

// Add the partial dependence at one grid point to `out`; returns the weight of the leaves
// reached. column: feature -> position in x, or -1 if it is averaged over.
inline double partial_dependence(const NodeRecord* nodes, const double* values, Py_ssize_t stride,
                                 const Py_ssize_t* column, const float* x, double& out) {
    std::vector<std::pair<Py_ssize_t, double>> stack{{0, 1.0}};  // node, weight
    double total_weight = 0.0;
    while (!stack.empty()) {
        const auto [id, weight] = stack.back();
        stack.pop_back();
        const NodeRecord& node = nodes[id];
        if (node.left_child < 0) {
            out += weight * values[id * stride];
            total_weight += weight;
        } else if (column[node.feature] >= 0) {
            const float value = x[column[node.feature]];
            const bool is_left =
                std::isnan(value) ? node.missing_go_to_left : value <= node.threshold;
            stack.push_back({is_left ? node.left_child : node.right_child, weight});
        } else {
            const double left_share = nodes[node.left_child].weighted_n_node_samples /
                                      node.weighted_n_node_samples;
            stack.push_back({node.left_child, weight * left_share});
            stack.push_back({node.right_child, weight * (1.0 - left_share)});
        }
    }
    return total_weight;
}

}  // namespace fasttree
