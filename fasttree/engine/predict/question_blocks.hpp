// The walk of many rows through one tree, up to 15 questions in a step.
//
// A block holds the questions of a node and of those below it that most rows of the fit came to,
// and where its exits lead, from the left to the right of the tree. A row's numbers are kept in
// vectors: one permutation puts beside each question the number that it is about, and one
// comparison answers them all. A question that sends the row right rules out the exits to its left;
// the row leaves through the first of the others (the idea of QuickScorer; C. Lucchese et al.,
// SIGIR 2015).
//
// Missing values are only noticed; another walk is for them.
//
// Complexity: O(nodes) to make the blocks; per row, O(depth / 15) at best, O(depth) at worst.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/core/node_record.hpp"
#include "engine/predict/walk.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/transpose.hpp"
#include "utils/_aligned_buffer.hpp"
#include "utils/_value.hpp"

namespace fasttree {

struct alignas(2 * kCacheLine) QuestionBlock {
    static constexpr uint32_t kExits = 16, kQuestions = kExits - 1;
    static constexpr uint32_t kLevels = 4;  // that a row passes, about
    float thresholds[kExits];  // up to which rows go left
    uint16_t is_left[kExits];  // of an exit, bits: of which questions it lies to the left
    uint8_t columns[kExits];
    uint32_t first_exit;
};

// The blocks of a tree; the root's is the first.
struct QuestionBlocks {
    static constexpr uint32_t kArrived = 0x80000000u;
    std::vector<QuestionBlock> blocks;
    std::vector<uint32_t> exits;  // number of a block; of a leaf: its word, and kArrived

    QuestionBlocks() = default;
    QuestionBlocks(QuestionBlocks&&) = default;
    QuestionBlocks& operator=(QuestionBlocks&&) = default;
};
static_assert(is_value<QuestionBlocks>);

// Up to which number a row goes left, whatever missing values do; NaN if there is none.
inline float left_up_to(const WalkNode& node) {
    if ((node.child & WalkNode::kFlip) == 0) return node.threshold;
    if (std::isnan(node.threshold)) return INFINITY;
    return node.threshold == INFINITY ? NAN : std::nextafterf(-node.threshold, -INFINITY);
}

// How many rows of the fit came to each packed node, of which its leaves have records.
inline std::vector<double> rows_of_nodes(const WalkNode* nodes, size_t n_nodes,
                                         const NodeRecord* records) {
    std::vector<double> n_rows(n_nodes);
    for (size_t i = n_nodes; i-- > 0;) {  // children come after their parents
        const uint32_t child = nodes[i].child & ~WalkNode::kFlip;
        n_rows[i] = nodes[i].feature < 0
            ? static_cast<double>(records[nodes[i].child].n_node_samples)
            : n_rows[child] + n_rows[child + 1];
    }
    return n_rows;
}

// The blocks of a packed tree that asks about numbers only; each grows where most of `n_rows` are.
inline QuestionBlocks make_question_blocks(const WalkNode* nodes,
                                           const std::vector<double>& n_rows) {
    struct Exit {
        uint32_t node;
        uint16_t is_left;
    };
    const DenormalsKept guard;
    const auto is_leaf = [=](const Exit& exit) { return nodes[exit.node].feature < 0; };
    const auto comes_later = [&](const Exit& a, const Exit& b) {
        return is_leaf(a) != is_leaf(b) ? is_leaf(a) : n_rows[a.node] < n_rows[b.node];
    };
    std::vector<QuestionBlock> blocks;
    std::vector<uint32_t> exits, roots{0};
    std::vector<Exit> open;
    for (size_t b = 0; b < roots.size(); ++b) {
        QuestionBlock block{};
        block.first_exit = static_cast<uint32_t>(exits.size());
        open.assign(1, {roots[b], 0});
        for (uint32_t q = 0; q < QuestionBlock::kQuestions; ++q) {
            const auto exit = std::max_element(open.begin(), open.end(), comes_later);
            if (is_leaf(*exit)) break;
            const WalkNode& node = nodes[exit->node];
            block.thresholds[q] = left_up_to(node);
            block.columns[q] = static_cast<uint8_t>(node.feature);
            uint32_t left = node.child & ~WalkNode::kFlip, right = left + 1;
            if (node.child & WalkNode::kFlip) std::swap(left, right);
            const uint16_t is_left = exit->is_left;
            *exit = {left, static_cast<uint16_t>(is_left | 1u << q)};
            open.insert(exit + 1, {right, is_left});
        }
        for (size_t e = 0; e < open.size(); ++e) {
            block.is_left[e] = open[e].is_left;
            exits.push_back(is_leaf(open[e]) ? nodes[open[e].node].child | QuestionBlocks::kArrived
                                             : static_cast<uint32_t>(roots.size()));
            if (!is_leaf(open[e])) roots.push_back(open[e].node);
        }
        blocks.push_back(block);
    }
    QuestionBlocks made;
    made.blocks.assign(blocks.begin(), blocks.end());  // without spare room
    made.exits.assign(exits.begin(), exits.end());
    return made;
}

#if FASTTREE_X86
constexpr ptrdiff_t kRowsAhead = 64;  // of those that are read, rows are asked for

// Rows on their way through the blocks of a tree; a row's numbers fill up to kVectors vectors.
template <uint32_t kVectors>
class QuestionWalk {
    static constexpr uint32_t kVector = 16, kMost = 64;  // rows that stay in the L1 cache
    const QuestionBlocks& tree_;
    const float* const x_;
    const ptrdiff_t row_stride_;
    const __mmask16 last_lanes_;  // of a row's last vector
    uint32_t rows_[kMost + kVector], at_[kMost + kVector], exits_[kMost];
    uint32_t n_ = 0;

    struct Numbers {
        __m512 vectors[kVectors];
    };
    FASTTREE_AVX512 FASTTREE_INLINE Numbers numbers_of(uint32_t row) const {
        const float* first = x_ + row * row_stride_;
        Numbers numbers;
        for (uint32_t v = 0; v + 1 < kVectors; ++v)
            numbers.vectors[v] = _mm512_loadu_ps(first + v * kVector);
        constexpr uint32_t LAST = kVectors - 1;
        numbers.vectors[LAST] = _mm512_maskz_loadu_ps(last_lanes_, first + LAST * kVector);
        return numbers;
    }
    FASTTREE_AVX512 FASTTREE_INLINE static __m512 pick(const Numbers& numbers, __m512i columns) {
        const auto& from = numbers.vectors;
        if constexpr (kVectors == 1) {
            return _mm512_permutexvar_ps(columns, from[0]);
        } else if constexpr (kVectors == 2) {
            return _mm512_permutex2var_ps(from[0], columns, from[1]);
        } else {
            const __m512 low = _mm512_permutex2var_ps(from[0], columns, from[1]);
            const __m512 high = _mm512_permutex2var_ps(from[2], columns, from[kVectors - 1]);
            return _mm512_mask_mov_ps(
                low, _mm512_test_epi32_mask(columns, _mm512_set1_epi32(2 * kVector)), high);
        }
    }
    // Puts up to 16 more rows at the root, and keeps the largest bits of their numbers.
    FASTTREE_AVX512 void enter(uint32_t first, uint32_t n, __m512i& largest) {
        const __m512i lanes =
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const __m512i rows =
            _mm512_add_epi32(_mm512_set1_epi32(static_cast<int32_t>(first)), lanes);
        _mm512_storeu_si512(rows_ + n_, rows);
        _mm512_storeu_si512(at_ + n_, _mm512_setzero_si512());
        const __m512i without_sign = _mm512_set1_epi32(0x7fffffff);
        for (uint32_t row = first; row < first + n; ++row) {
            const float* ahead = x_ + (row + kRowsAhead) * row_stride_;
            for (uint32_t v = 0; v < kVectors; ++v) __builtin_prefetch(ahead + v * kVector);
            const Numbers numbers = numbers_of(row);
            for (const __m512& vector : numbers.vectors)
                largest = _mm512_max_epu32(
                    largest, _mm512_and_si512(_mm512_castps_si512(vector), without_sign));
        }
        n_ += n;
    }
    // Takes each row through a block.
    FASTTREE_AVX512 void step() {
        const QuestionBlock* const blocks = tree_.blocks.data();
        const uint32_t* const exits = tree_.exits.data();
        const uint32_t n = n_;
        for (uint32_t i = 0; i < n; ++i) {
            const QuestionBlock& block = blocks[at_[i]];
            const Numbers numbers = numbers_of(rows_[i]);
            const __m512i columns = _mm512_cvtepu8_epi32(
                _mm_load_si128(reinterpret_cast<const __m128i*>(block.columns)));
            const __mmask16 is_right = _mm512_cmp_ps_mask(
                pick(numbers, columns), _mm512_load_ps(block.thresholds), _CMP_NLE_UQ);
            const __mmask16 agrees = _mm256_testn_epi16_mask(
                _mm256_set1_epi16(static_cast<int16_t>(is_right)),
                _mm256_load_si256(reinterpret_cast<const __m256i*>(block.is_left)));
            exits_[i] = exits[block.first_exit + lowest_bit(agrees)];
        }
    }
    // Writes the words of those that have arrived, and keeps the others.
    FASTTREE_AVX512 void leave(uint32_t* words) {
        const uint32_t n = std::exchange(n_, 0);
        for (uint32_t first = 0; first < n; first += kVector) {
            const auto here = static_cast<__mmask16>(low_bits(std::min(n - first, kVector)));
            const __m512i exits = _mm512_maskz_loadu_epi32(here, exits_ + first);
            const __m512i rows = _mm512_loadu_si512(rows_ + first);
            const __mmask16 arrived = _mm512_movepi32_mask(exits);
            const __mmask16 others = here & static_cast<__mmask16>(~arrived);
            _mm512_mask_i32scatter_epi32(
                words, arrived, rows,
                _mm512_andnot_si512(
                    _mm512_set1_epi32(static_cast<int32_t>(QuestionBlocks::kArrived)), exits),
                sizeof(uint32_t));
            _mm512_storeu_si512(rows_ + n_, _mm512_maskz_compress_epi32(others, rows));
            _mm512_storeu_si512(at_ + n_, _mm512_maskz_compress_epi32(others, exits));
            n_ += static_cast<uint32_t>(__builtin_popcount(others));
        }
    }

public:
    QuestionWalk(const QuestionBlocks& tree, const float* x, ptrdiff_t row_stride, uint32_t n_cols)
        : tree_(tree), x_(x), row_stride_(row_stride),
          last_lanes_(static_cast<__mmask16>(low_bits(n_cols - (kVectors - 1) * kVector))) {}

    // See `walk_questions`.
    FASTTREE_AVX512 uint32_t walk(uint32_t n_rows, uint32_t* words) {
        __m512i largest = _mm512_setzero_si512();
        for (uint32_t next = 0; next < n_rows || n_ > 0;) {
            while (next < n_rows && n_ <= kMost - kVector) {
                const uint32_t n = std::min(n_rows - next, kVector);
                enter(next, n, largest);
                next += n;
            }
            step();
            leave(words);
        }
        return _mm512_reduce_max_epu32(largest);
    }
};

// Copies rows of a matrix whose columns lie one after the other; 16 more may be written.
FASTTREE_AVX512 inline void put_side_by_side(const DenseRows& rows, const float* first,
                                             uint32_t n_rows, float* out, uint32_t out_stride) {
    constexpr uint32_t LANES = 16;
    const uint32_t n_cols = static_cast<uint32_t>(rows.n_cols);
    for (uint32_t i = 0; i < n_rows; i += LANES, first += LANES, out += LANES * out_stride) {
        const auto here = static_cast<__mmask16>(low_bits(std::min(n_rows - i, LANES)));
        for (uint32_t f = 0; f < n_cols; f += LANES) {
            __m512i block[LANES];
#pragma GCC unroll 16
            for (uint32_t c = 0; c < LANES; ++c) {
                const float* column = first + std::min(f + c, n_cols - 1) * rows.col_stride;
                __builtin_prefetch(column + kRowsAhead);
                block[c] = _mm512_maskz_loadu_epi32(here, column);
            }
            transpose_avx512(block);
#pragma GCC unroll 16
            for (uint32_t r = 0; r < LANES; ++r)
                _mm512_storeu_si512(out + r * out_stride + f, block[r]);
        }
    }
}

// The words of the leaves of rows of a matrix, whose rows or columns lie one after the other.
// Returns the largest bits among their numbers, without the sign; no word is right if they are
// those of a missing value. Throws std::bad_alloc.
inline uint32_t walk_questions(const QuestionBlocks& tree, const DenseRows& rows,
                               const float* first, uint32_t n_rows, AlignedBuffer<float>& copies,
                               uint32_t* words) {
    constexpr uint32_t LANES = 16;
    const uint32_t n_cols = static_cast<uint32_t>(rows.n_cols);
    const uint32_t n_vectors = (n_cols - 1) / LANES + 1;
    ptrdiff_t stride = rows.row_stride;
    if (rows.col_stride != 1) {
        const uint32_t width = n_vectors * LANES;
        float* out = copies.reserve(size_t{n_rows + LANES} * width);
        put_side_by_side(rows, first, n_rows, out, width);
        first = out;
        stride = width;
    }
    switch (n_vectors) {
        case 1: return QuestionWalk<1>(tree, first, stride, n_cols).walk(n_rows, words);
        case 2: return QuestionWalk<2>(tree, first, stride, n_cols).walk(n_rows, words);
        case 3: return QuestionWalk<3>(tree, first, stride, n_cols).walk(n_rows, words);
        default: return QuestionWalk<4>(tree, first, stride, n_cols).walk(n_rows, words);
    }
}
#endif

}  // namespace fasttree
