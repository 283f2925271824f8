// The walk of a block of rows through tree after tree, without vectors: a step takes seven
// instructions and no branch.
//
// The numbers of a row are read as integers in the same order, side by side, so that the rows on
// their way stay in the L1 cache. A node takes 8 bytes: its threshold, and a link that names the
// column and the left child. The right child comes next, so the answer is added to the link's child
// as the carry of the comparison. A leaf is its own child.
//
// Complexity: O(1) per number and node to read them, O(depth) per row.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/predict/question_blocks.hpp"
#include "engine/predict/walk.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/transpose.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_cell.hpp"
#include "utils/_threads.hpp"
#include "utils/_value.hpp"

namespace fasttree {

// Where a row keeps its keys. Missing values lie above all numbers; if there may be any, a second
// key of each number follows, where they lie below. Between the two is one that is below all.
struct RowLayout {
    uint32_t n_cols;
    bool has_missing;

    static constexpr uint32_t kBelowAll = 0, kAboveAll = 0xffffffffu;
    uint32_t below_all() const { return n_cols; }
    uint32_t second() const { return has_missing ? n_cols + 1 : 0; }
    uint32_t size() const { return n_cols + 1 + (has_missing ? n_cols : 0); }
    // Bits of a link that name one of the keys.
    uint32_t column_bits() const { return size() <= 1u << 8 ? 8 : 16; }
};

// Unsigned integers in the order of the numbers; -0 comes right before 0.
FASTTREE_INLINE inline uint32_t row_key(uint32_t bits) {
    return bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 0x80000000u);
}

// The keys of a block of rows, row by row; one more row is below all numbers.
class RowKeys {
    AlignedBuffer<uint32_t> keys_;

public:
    const uint32_t* get() const { return keys_.get(); }

    // Throws std::bad_alloc.
    void read(Simd simd, const DenseRows& rows, const float* x, uint32_t n_rows,
              const RowLayout& layout) {
        const size_t size = layout.size();
        uint32_t* const keys = keys_.reserve((n_rows + size_t{1}) * size + kTile);
#if FASTTREE_X86
        if (simd == SIMD_AVX2 && rows.row_stride == 1 && !layout.has_missing) {
            put_tiles(x, rows.col_stride, n_rows, layout, keys);
        } else
#endif
        call(simd, [&]() FASTTREE_INLINE {
            if (rows.col_stride == 1)
                put_rows(x, rows.row_stride, n_rows, layout, keys);
            else
                put_columns(x, rows, n_rows, layout, keys);
        });
        std::fill_n(keys + n_rows * size, size, RowLayout::kBelowAll);
    }

private:
    static constexpr uint32_t kTile = 8;  // rows and columns; so much is written past the end

#if FASTTREE_X86
    // Eight rows at a time, for columns without missing values that lie one after the other.
    FASTTREE_AVX2 static void put_tiles(const float* x, ptrdiff_t col_stride, uint32_t n_rows,
                                        const RowLayout& layout, uint32_t* keys) {
        const uint32_t size = layout.size(), n_cols = layout.n_cols;
        const __m256i top = _mm256_set1_epi32(INT32_MIN);
        uint32_t first = 0;
        for (; first + kTile <= n_rows; first += kTile, keys += kTile * size) {
            // From the last columns on: what is written past a row's end is written over.
            for (uint32_t f = (n_cols + kTile - 1) / kTile * kTile; f > 0;) {
                f -= kTile;
                __m256i tile[kTile];
                for (uint32_t c = 0; c < kTile; ++c) {
                    const float* column = x + first + std::min(f + c, n_cols - 1) * col_stride;
                    tile[c] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column));
                }
                transpose_avx2(tile);
                for (uint32_t i = 0; i < kTile; ++i) {
                    const __m256i flip = _mm256_or_si256(_mm256_srai_epi32(tile[i], 31), top);
                    _mm256_storeu_si256(reinterpret_cast<__m256i*>(keys + i * size + f),
                                        _mm256_xor_si256(tile[i], flip));
                }
            }
            for (uint32_t i = 0; i < kTile; ++i)
                keys[i * size + layout.below_all()] = RowLayout::kBelowAll;
        }
        const DenseRows rest{x, n_cols, 1, col_stride, some_infinite};
        put_columns(x + first, rest, n_rows - first, layout, keys);
    }
#endif
    FASTTREE_INLINE static void put_rows(const float* x, ptrdiff_t row_stride, uint32_t n_rows,
                                         const RowLayout& layout, uint32_t* keys) {
        for (uint32_t i = 0; i < n_rows; ++i, x += row_stride, keys += layout.size()) {
            if (layout.has_missing) {
                put<true>(x, 1, layout.n_cols, 1, keys, keys + layout.second());
            } else {
                put<false>(x, 1, layout.n_cols, 1, keys, nullptr);
            }
            keys[layout.below_all()] = RowLayout::kBelowAll;
        }
    }
    // A few rows at a time, column by column.
    FASTTREE_INLINE static void put_columns(const float* x, const DenseRows& rows, uint32_t n_rows,
                                            const RowLayout& layout, uint32_t* keys) {
        constexpr uint32_t kRows = 64;
        const uint32_t size = layout.size();
        for (uint32_t first = 0; first < n_rows; first += kRows) {
            const uint32_t n = std::min(n_rows - first, kRows);
            for (uint32_t f = 0; f < layout.n_cols; ++f) {
                const float* cells = x + first * rows.row_stride + f * rows.col_stride;
                uint32_t* const out = keys + f;
                if (layout.has_missing) {
                    put<true>(cells, rows.row_stride, n, size, out, out + layout.second());
                } else {
                    put<false>(cells, rows.row_stride, n, size, out, nullptr);
                }
            }
            for (uint32_t i = 0; i < n; ++i, keys += size)
                keys[layout.below_all()] = RowLayout::kBelowAll;
        }
    }
    template <bool has_missing>
    FASTTREE_INLINE static void put(const float* FASTTREE_RESTRICT x, ptrdiff_t stride, uint32_t n,
                                    uint32_t out_stride, uint32_t* FASTTREE_RESTRICT keys,
                                    uint32_t* FASTTREE_RESTRICT second) {
        FASTTREE_IVDEP
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t bits = float_bits(x[i * stride]);
            const uint32_t key = row_key(bits);
            const bool is_nan = has_missing && (bits & 0x7fffffffu) > 0x7f800000u;
            keys[size_t{i} * out_stride] = is_nan ? RowLayout::kAboveAll : key;
            if (has_missing) second[size_t{i} * out_stride] = is_nan ? RowLayout::kBelowAll : key;
        }
    }
};

struct RowNode {
    uint32_t threshold;  // of the keys; leaf: the word of the packed leaf
    uint32_t link;       // the left child's number, and in its low bits the column; leaf: its own

    template <class Column>
    FASTTREE_INLINE uint32_t next(const uint32_t* keys) const {
        uint32_t child = link >> 8 * sizeof(Column);
#if defined(__GNUC__)
        __asm__("" : "+r"(child));  // shifted before the comparison, whose carry it would clear
#endif
        return child + (threshold < keys[static_cast<Column>(link)]);
    }
};
static_assert(sizeof(RowNode) == 8);

// The nodes of packed trees that ask about numbers only.
class RowNodes {
    AlignedBuffer<RowNode> nodes_;
    RowLayout layout_{};  // of the rows that they are for; no columns: none are made

    // A tree's nodes; siblings are at an odd place.
    static void put(const WalkNode* packed, uint32_t n_nodes, const RowLayout& layout,
                    RowNode* out) {
        const uint32_t shift = layout.column_bits();
        std::vector<uint32_t> place(n_nodes);  // what is packed left of its sibling may be right
        for (uint32_t i = 0; i < n_nodes; ++i) {
            const WalkNode& node = packed[i];
            const uint32_t at = place[i];
            if (node.feature < 0) {
                out[at] = {node.child, at << shift | layout.below_all()};
                continue;
            }
            const uint32_t child = node.child & ~WalkNode::kFlip;
            const bool is_flipped = node.child & WalkNode::kFlip;
            place[child] = child + is_flipped;
            place[child + 1] = child + !is_flipped;
            const float threshold = left_up_to(node) + 0.0f;  // 0, not -0: all zeros are up to it
            const uint32_t column =
                static_cast<uint32_t>(node.feature) + (is_flipped ? layout.second() : 0);
            out[at] = {std::isnan(threshold) ? RowLayout::kBelowAll
                                             : row_key(float_bits(threshold)),
                       child << shift | column};
        }
    }

public:
    // Whether links can name the nodes of such a tree and the keys of such rows.
    static bool fits(uint32_t n_nodes, Py_ssize_t n_cols) noexcept {
        constexpr Py_ssize_t kMostCols = (1 << 15) - 1;
        if (n_cols <= 0 || n_cols > kMostCols) return false;
        const RowLayout layout{static_cast<uint32_t>(n_cols), true};
        return n_nodes >> (32 - layout.column_bits()) == 0;
    }
    // For rows with so many numbers, of that kind: what has been made is kept for as long as it
    // serves. The trees lie in one array, from root to root. Throws std::bad_alloc.
    void make(const WalkNode* packed, const int64_t* roots, size_t n_trees, Py_ssize_t n_cols,
              int kind, int n_threads) {
        const RowLayout layout{static_cast<uint32_t>(n_cols), kind != all_finite};
        if (layout_.n_cols == layout.n_cols && layout_.has_missing >= layout.has_missing) return;
        nodes_.reserve(static_cast<size_t>(roots[n_trees]) + n_trees + 1);
        layout_ = layout;
        share_out(0, static_cast<Py_ssize_t>(n_trees), 1, n_threads,
                  [&](int, Py_ssize_t first, Py_ssize_t last) {
                      const DenormalsKept guard;
                      for (Py_ssize_t tree = first; tree < last; ++tree)
                          put(packed + roots[tree],
                              static_cast<uint32_t>(roots[tree + 1] - roots[tree]), layout,
                              nodes_.get() + place_of(roots, static_cast<size_t>(tree)));
                  });
    }
    const RowLayout& layout() const { return layout_; }
    const RowNode* tree(const int64_t* roots, size_t i) const {
        return nodes_.get() + place_of(roots, i);
    }

private:
    // A tree has an odd number of nodes: with one more, siblings share a cache line in each.
    static size_t place_of(const int64_t* roots, size_t tree) {
        return static_cast<size_t>(roots[tree]) + tree + 1;
    }
};
static_assert(is_value<RowNodes>);

// Rows on their way through a tree.
class RowWalk {
    static constexpr uint32_t kSideBySide = 12, kMost = 5 * kSideBySide;
    static constexpr int kLevels = 6;  // between two looks at who has arrived
    uint32_t rows_[kMost], at_[kMost];
    uint32_t n_ = 0;

    // A few levels down. What is written to `words` is right for rows that arrive.
    template <class Column>
    FASTTREE_INLINE void step(const RowNode* nodes, const RowKeys& keys, size_t size,
                              uint32_t* words) {
        uint32_t n_left = 0;
        for (uint32_t first = 0; first < n_; first += kSideBySide) {
            uint32_t at[kSideBySide];
            const uint32_t* row[kSideBySide];
            for (uint32_t k = 0; k < kSideBySide; ++k) {
                at[k] = at_[first + k];
                row[k] = keys.get() + rows_[first + k] * size;
#if defined(__GNUC__)
                __asm__("" : "+r"(row[k]));  // a pointer, not what is to be added to one
#endif
            }
            for (int level = 0; level < kLevels; ++level) {
#pragma GCC unroll 12
                for (uint32_t k = 0; k < kSideBySide; ++k)
                    at[k] = nodes[at[k]].next<Column>(row[k]);
            }
            for (uint32_t k = 0; k < kSideBySide; ++k) {
                const RowNode& node = nodes[at[k]];
                const uint32_t i = rows_[first + k];
                words[i] = node.threshold;
                rows_[n_left] = i;
                at_[n_left] = at[k];
                n_left += node.link >> 8 * sizeof(Column) != at[k];
            }
        }
        n_ = n_left;
    }

public:
    // The words of the leaves of n_rows rows; words[n_rows] is written to as well. Asks for what is
    // ahead, a piece with each row.
    template <class Column>
    FASTTREE_INLINE void walk(const RowNode* nodes, uint32_t n_nodes, const RowKeys& keys,
                              const RowLayout& layout, uint32_t n_rows, const Ahead& ahead,
                              uint32_t* words) {
        const char* piece = static_cast<const char*>(ahead.first);
        for (uint32_t next = 0; next < n_rows || n_ > 0;) {
            for (; next < n_rows && n_ < kMost; ++n_, ++next, piece += ahead.stride) {
                rows_[n_] = next;
                at_[n_] = 0;
                for (size_t byte = 0; byte < ahead.size; byte += kCacheLine)
                    __builtin_prefetch(piece + byte, 0, kIntoL2);
            }
            // Free places step, too: a row behind the others stays at a leaf, the last node.
            for (uint32_t k = n_; k % kSideBySide != 0; ++k) {
                rows_[k] = n_rows;
                at_[k] = n_nodes - 1;
            }
            step<Column>(nodes, keys, layout.size(), words);
        }
    }
};

inline void walk_rows_by_keys(Simd simd, const RowNode* nodes, uint32_t n_nodes,
                              const RowKeys& keys, const RowLayout& layout, uint32_t n_rows,
                              const Ahead& ahead, uint32_t* words) {
    RowWalk rows;
    call(simd, [&]() FASTTREE_INLINE {
        if (layout.column_bits() == 8)
            rows.walk<uint8_t>(nodes, n_nodes, keys, layout, n_rows, ahead, words);
        else
            rows.walk<uint16_t>(nodes, n_nodes, keys, layout, n_rows, ahead, words);
    });
}

}  // namespace fasttree
