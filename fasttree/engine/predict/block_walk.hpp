// The walk of a block of rows through tree after tree, for many rows: no step takes a branch.
//
// The numbers of the block are read as integers (key_block.hpp), and a tree becomes nodes whose
// step is one comparison of integers; a leaf is its own child.
//
// The first questions of a tree are asked of all rows, in vectors, as in C. Lucchese et al.,
// "QuickScorer: a fast algorithm to rank documents with additive ensembles of regression trees"
// (SIGIR 2015): rows that go right at a question lose the exits on its left, and the first exit
// that a row keeps is where it arrives. Below, rows step side by side through a few levels; then
// those at a leaf make room for others.
//
// Complexity: O(depth) per row and O(nodes) per block.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/predict/key_block.hpp"
#include "engine/predict/question_blocks.hpp"
#include "engine/predict/row_walk.hpp"
#include "engine/predict/walk.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_cell.hpp"

namespace fasttree {

// A node of a tree that asks about numbers only, numbered from 1, so that siblings differ in the
// lowest bit of their numbers.
struct StepNode {
    int32_t threshold;  // leaf: the word of the packed leaf
    uint32_t column;    // where its keys begin; leaf: those below all numbers
    uint32_t child;     // of keys up to the threshold; leaf: itself

    FASTTREE_INLINE uint32_t next(const int32_t* keys, uint32_t row) const {
        return child ^ static_cast<uint32_t>(keys[column + row] > threshold);
    }
};

// The questions at the top of a tree, level by level, and where they lead.
struct TopQuestions {
    static constexpr uint32_t kMost = 31, kMostExits = kMost + 1, kMostNodes = kMost + kMostExits;
    uint32_t n = 0;
    uint32_t columns[kMost];
    int32_t thresholds[kMost];
    uint32_t kept[kMost];           // exits that a row above the threshold may take
    uint32_t exits[kMostExits];     // nodes, from left to right
    uint32_t words[kMostExits];     // of those that are leaves
    uint32_t inner = 0;             // bits: exits that are not

    explicit TopQuestions(const StepNode* nodes) {
        uint32_t ids[kMostNodes], left[kMostNodes], n_exits[kMostNodes], first[kMostNodes];
        bool is_asked[kMostNodes];
        uint32_t n_found = 1, n_asked = 0;
        ids[0] = 1;
        for (uint32_t i = 0; i < n_found; ++i) {
            const uint32_t child = nodes[ids[i]].child;
            is_asked[i] = child != ids[i] && n_asked < kMost;
            if (!is_asked[i]) continue;
            ++n_asked;
            left[i] = n_found;
            ids[n_found++] = child;
            ids[n_found++] = child ^ 1;
        }
        for (uint32_t i = n_found; i-- > 0;)
            n_exits[i] = is_asked[i] ? n_exits[left[i]] + n_exits[left[i] + 1] : 1;
        first[0] = 0;
        for (uint32_t i = 0; i < n_found; ++i) {
            const StepNode& node = nodes[ids[i]];
            if (!is_asked[i]) {
                exits[first[i]] = ids[i];
                words[first[i]] = static_cast<uint32_t>(node.threshold);
                inner |= uint32_t{node.child != ids[i]} << first[i];
                continue;
            }
            const uint32_t n_left = n_exits[left[i]];
            first[left[i]] = first[i];
            first[left[i] + 1] = first[i] + n_left;
            columns[n] = node.column;
            thresholds[n] = node.threshold;
            kept[n++] = ~static_cast<uint32_t>(low_bits(n_left) << first[i]);
        }
    }
};

#if FASTTREE_X86
// nodes[1:n + 1]: the nodes of a packed tree, for the columns of a block.
FASTTREE_INLINE inline void make_step_nodes(const WalkNode* FASTTREE_RESTRICT packed, uint32_t n,
                                            uint32_t stride, uint32_t below_all, uint32_t second,
                                            StepNode* FASTTREE_RESTRICT nodes) {
    FASTTREE_IVDEP
    for (uint32_t i = 0; i < n; ++i) {
        const WalkNode& node = packed[i];
        const bool is_leaf = node.feature < 0;
        const int32_t flip = static_cast<int32_t>(node.child) >> 31;  // all bits or none
        const uint32_t child = (node.child & ~WalkNode::kFlip) + 1;
        int32_t bits = static_cast<int32_t>(float_bits(node.threshold));
        bits = bits == kBelowAll ? 0 : bits;  // -0: all zeros are up to it
        // Nothing is up to NaN. -x is up to t if and only if the key of x is above ~t - 1.
        const int32_t key = is_nan(bits) ? kBelowAll : key_of(bits);
        const int32_t threshold = (key ^ flip) + (is_nan(bits) ? 0 : flip);
        const uint32_t column =
            static_cast<uint32_t>(node.feature) * stride + (static_cast<uint32_t>(flip) & second);
        nodes[i + 1].threshold = is_leaf ? static_cast<int32_t>(node.child) : threshold;
        nodes[i + 1].column = is_leaf ? below_all : column;
        nodes[i + 1].child = is_leaf ? i + 1 : child ^ static_cast<uint32_t>(flip & 1);
    }
}

// Rows on their way through a tree.
class RowsUnderway {
    static constexpr uint32_t kGroup = KeyBlock::kGroup, kMost = 4 * kGroup;
    static constexpr uint32_t kSideBySide = 16;  // and what a vector may write past the end
    static constexpr int kLevels = 5;  // between two looks at who has arrived
    uint32_t rows_[kMost + kSideBySide], at_[kMost + kSideBySide];
    uint32_t n_ = 0;

    // Rows [first, first + kGroup) of n_rows, after the top of the tree.
    FASTTREE_AVX512 void enter_avx512(const TopQuestions& top, const int32_t* keys, uint32_t first,
                                      uint32_t n_rows, uint32_t* words) {
        constexpr uint32_t kVector = 16;
        constexpr uint32_t N_VECTORS = kGroup / kVector;
        __m512i kept[N_VECTORS];
        for (__m512i& all : kept) all = _mm512_set1_epi32(-1);
        for (uint32_t i = 0; i < top.n; ++i) {
            const int32_t* column = keys + top.columns[i] + first;
            const __m512i threshold = _mm512_set1_epi32(top.thresholds[i]);
            const __m512i above = _mm512_set1_epi32(static_cast<int32_t>(top.kept[i]));
#pragma GCC unroll 4
            for (uint32_t v = 0; v < N_VECTORS; ++v) {
                const __mmask16 is_above = _mm512_cmpgt_epi32_mask(
                    _mm512_loadu_si512(column + v * kVector), threshold);
                kept[v] = _mm512_mask_and_epi32(kept[v], is_above, kept[v], above);
            }
        }
        const __m512i one = _mm512_set1_epi32(1), inner = _mm512_set1_epi32(
            static_cast<int32_t>(top.inner));
        const __m512i lanes =
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        for (uint32_t v = 0; v < N_VECTORS && first < n_rows; ++v, first += kVector) {
            const auto here = static_cast<__mmask16>(low_bits(std::min(n_rows - first, kVector)));
            const __m512i lowest =
                _mm512_and_si512(kept[v], _mm512_sub_epi32(_mm512_setzero_si512(), kept[v]));
            const __m512i exit =
                _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(lowest));
            _mm512_mask_storeu_epi32(words + first, here, look_up(top.words, exit));
            const __mmask16 is_inner =
                _mm512_mask_test_epi32_mask(here, _mm512_srlv_epi32(inner, exit), one);
            const __m512i rows = _mm512_add_epi32(_mm512_set1_epi32(first), lanes);
            _mm512_storeu_si512(rows_ + n_, _mm512_maskz_compress_epi32(is_inner, rows));
            _mm512_storeu_si512(
                at_ + n_, _mm512_maskz_compress_epi32(is_inner, look_up(top.exits, exit)));
            n_ += static_cast<uint32_t>(__builtin_popcount(is_inner));
        }
    }
    FASTTREE_AVX512 static __m512i look_up(const uint32_t (&table)[TopQuestions::kMostExits],
                                           __m512i i) {
        return _mm512_permutex2var_epi32(_mm512_loadu_si512(table), i,
                                         _mm512_loadu_si512(table + 16));
    }
    // A few levels down. What is written to `words` is right for rows that arrive.
    FASTTREE_INLINE void step(const StepNode* nodes, const int32_t* keys, uint32_t* words) {
        uint32_t n_left = 0;
        for (uint32_t first = 0; first < n_; first += kSideBySide) {
            uint32_t at[kSideBySide];
            const uint32_t* row = rows_ + first;
            std::copy_n(at_ + first, kSideBySide, at);
            for (int level = 0; level < kLevels; ++level) {
#pragma GCC unroll 16
                for (uint32_t k = 0; k < kSideBySide; ++k)
                    at[k] = nodes[at[k]].next(keys, row[k]);
            }
            for (uint32_t k = 0; k < kSideBySide; ++k) {
                const StepNode& node = nodes[at[k]];
                const uint32_t i = row[k];
                words[i] = static_cast<uint32_t>(node.threshold);
                rows_[n_left] = i;
                at_[n_left] = at[k];
                n_left += node.child != at[k];
            }
        }
        n_ = n_left;
    }

    // `enter` puts a group of rows, from one on, on their way.
    template <class Enter>
    FASTTREE_INLINE void run(const StepNode* nodes, uint32_t n_nodes, const int32_t* keys,
                             uint32_t n_rows, uint32_t* words, const Enter& enter) {
        for (uint32_t next = 0; next < n_rows || n_ > 0;) {
            for (; next < n_rows && n_ <= kMost - kGroup; next += kGroup) enter(next);
            // Free places step, too: a row behind the others stays at a leaf, the last node.
            for (uint32_t k = n_; k % kSideBySide != 0; ++k) {
                rows_[k] = n_rows;
                at_[k] = n_nodes;
            }
            step(nodes, keys, words);
        }
    }

public:
    // words[n_rows] is written to as well.
    FASTTREE_AVX512 void walk_avx512(const StepNode* nodes, uint32_t n_nodes, const int32_t* keys,
                                     uint32_t n_rows, uint32_t* words) {
        const TopQuestions top(nodes);
        run(nodes, n_nodes, keys, n_rows, words, [&](uint32_t first) FASTTREE_INLINE {
            enter_avx512(top, keys, first, n_rows, words);
        });
    }
};
#endif

// The walks of a thread. Only vectors of AVX-512 make them worth it.
class BlockWalker {
    static constexpr uint32_t kLeastRows = 256;
    KeyBlock block_;
    AlignedBuffer<StepNode> nodes_;
    uint32_t n_rows_ = 0;
    const WalkNode* packed_ = nullptr;   // of `nodes_`
    uint32_t stride_ = 0, second_ = 0;   // of the block when they were made

public:
    static constexpr Py_ssize_t kMaxRows = 8192;

    static bool pays(Simd simd, Py_ssize_t n_rows, Py_ssize_t n_cols, size_t n_trees) {
        return simd == SIMD_AVX512 && n_rows >= kLeastRows && n_rows <= kMaxRows && n_cols > 0 &&
               static_cast<size_t>(n_cols) <= 32 * n_trees;
    }
    // Takes a block of rows; returns the largest kind among their numbers. Throws std::bad_alloc.
    int read(const DenseRows& rows, const float* first, Py_ssize_t n_rows) {
#if FASTTREE_X86
        n_rows_ = static_cast<uint32_t>(n_rows);
        return block_.read(rows, first, n_rows_);
#else
        return all_finite;
#endif
    }
    // The words of the rows' leaves; writes one more. Throws std::bad_alloc.
    void leaves(const WalkNode* packed, uint32_t n_nodes, uint32_t* words) {
#if FASTTREE_X86
        if (packed != packed_ || block_.stride() != stride_ || block_.second() != second_) {
            StepNode* const nodes = nodes_.reserve(n_nodes + 1);
            call_avx512([&]() FASTTREE_INLINE {
                make_step_nodes(packed, n_nodes, block_.stride(), block_.below_all(),
                                block_.second(), nodes);
            });
            packed_ = packed;
            stride_ = block_.stride();
            second_ = block_.second();
        }
        RowsUnderway rows;
        rows.walk_avx512(nodes_.get(), n_nodes, block_.keys(), n_rows_, words);
#endif
    }
};

// Rows of a dense matrix, for a tree that asks about numbers only.
struct NumberRows : DenseRows {
    uint32_t n_nodes;
    Py_ssize_t n_rows;  // in all: what a walk needs of the nodes is made once
    Simd simd;
    const QuestionBlocks* blocks;  // null: none
    const RowNodes* made;         // for rows without missing values; null: none

    struct Scratch {
        BlockWalker walker;
        RowKeys keys;
        RowNodes with_missing;
        AlignedBuffer<float> copies;
        bool has_missing = false;  // a block of rows did
        explicit Scratch(const NumberRows&) {}
    };

    // Whether the rows are such as walk through blocks of questions, if there are any.
    bool fit_blocks() const noexcept {
        constexpr Py_ssize_t MOST_COLUMNS = 64, LEAST_ROWS = 64;
        return simd == SIMD_AVX512 && (col_stride == 1 || row_stride == 1) && n_cols > 0 &&
               n_cols <= MOST_COLUMNS && n_rows >= LEAST_ROWS;
    }

    // Whether nodes for keys of rows are worth making.
    bool keys_pay() const noexcept {
        constexpr Py_ssize_t kLeastRows = 256, kNodesPerRow = 4, kMostCols = 64;
        return simd != SIMD_AVX512 && n_rows >= kLeastRows && n_cols <= kMostCols &&
               n_nodes <= kNodesPerRow * n_rows && RowNodes::fits(n_nodes, n_cols);
    }

    WalkStatus leaves(const WalkNode* nodes, Py_ssize_t start, Py_ssize_t n_here, Scratch& scratch,
                      uint32_t* out) const {
        const float* first = x + start * row_stride;
#if FASTTREE_X86
        if (blocks != nullptr && !scratch.has_missing) {
            constexpr uint32_t INFINITY_BITS = 0x7f800000u;
            const uint32_t n = static_cast<uint32_t>(n_here);
            const uint32_t largest = walk_questions(*blocks, *this, first, n, scratch.copies, out);
            scratch.has_missing = largest > INFINITY_BITS;
            if (largest < INFINITY_BITS) return WalkStatus::done;
            if (largest == INFINITY_BITS)
                return accepted < some_infinite ? WalkStatus::refused_values : WalkStatus::done;
        }
#endif
        if (made != nullptr) return leaves_by_keys(nodes, first, n_here, scratch, out);
        if (n_rows < n_nodes || !BlockWalker::pays(simd, n_here, n_cols, 1))
            return DenseRows::leaves(nodes, start, n_here, out);
        if (scratch.walker.read(*this, first, n_here) > accepted)
            return WalkStatus::refused_values;
        scratch.walker.leaves(nodes, n_nodes, out);
        return WalkStatus::done;
    }

    // Throws std::bad_alloc.
    void make_nodes(const WalkNode* nodes, RowNodes& out) const {
        const int64_t roots[] = {0, n_nodes};
        out.make(nodes, roots, 1, n_cols, all_finite, 1);
    }

private:
    WalkStatus leaves_by_keys(const WalkNode* nodes, const float* first, Py_ssize_t n_here,
                              Scratch& scratch, uint32_t* out) const {
        const int kind = kind_of_matrix(first, n_here, n_cols, row_stride, col_stride, 1);
        if (kind > accepted) return WalkStatus::refused_values;
        const int64_t roots[] = {0, n_nodes};
        const uint32_t n = static_cast<uint32_t>(n_here);
        if (kind != all_finite) scratch.with_missing.make(nodes, roots, 1, n_cols, kind, 1);
        const RowNodes& used = kind == all_finite ? *made : scratch.with_missing;
        scratch.keys.read(simd, *this, first, n, used.layout());
        walk_rows_by_keys(simd, used.tree(roots, 0), n_nodes, scratch.keys, used.layout(), n,
                          kNothing, out);
        return WalkStatus::done;
    }
};
static_assert(is_value<NumberRows>);

}  // namespace fasttree
