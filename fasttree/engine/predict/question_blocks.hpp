// The walk of many rows through one tree, four levels in a step.
//
// A block holds the 15 questions of a node and of three levels below it, as a heap, and where the
// 16 exits lead. A row's numbers are kept in vectors: one permutation puts beside each question the
// number that it is about, and one comparison answers them all. The row leaves through the exit
// whose path agrees with the answers.
//
// Missing values are only noticed; another walk is for them.
//
// Complexity: O(nodes) to make the blocks, O(depth / 4) per row.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/predict/walk.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/transpose.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

struct alignas(kCacheLine) QuestionBlock {
    static constexpr uint32_t kLevels = 4, kExits = 1u << kLevels, kQuestions = kExits - 1;
    static constexpr uint32_t kArrived = 0x80000000u;
    float thresholds[kExits];  // up to which rows go left
    uint32_t exits[kExits];    // number of a block; of a leaf: its word, and kArrived
    uint8_t columns[kExits];
};

// Up to which number a row goes left, whatever missing values do; NaN if there is none.
inline float left_up_to(const WalkNode& node) {
    if ((node.child & WalkNode::kFlip) == 0) return node.threshold;
    if (std::isnan(node.threshold)) return INFINITY;
    return node.threshold == INFINITY ? NAN : std::nextafterf(-node.threshold, -INFINITY);
}

// The blocks of a packed tree that asks about numbers only; the root's is the first.
inline std::vector<QuestionBlock> make_question_blocks(const WalkNode* nodes) {
    constexpr uint32_t N_EXITS = QuestionBlock::kExits, N_QUESTIONS = QuestionBlock::kQuestions;
    const DenormalsKept guard;
    std::vector<QuestionBlock> blocks;
    std::vector<uint32_t> roots{0};
    for (size_t b = 0; b < roots.size(); ++b) {
        QuestionBlock block{};
        uint32_t ids[N_QUESTIONS + N_EXITS];
        ids[0] = roots[b];
        for (uint32_t i = 0; i < N_QUESTIONS; ++i) {
            const WalkNode& node = nodes[ids[i]];
            uint32_t left = ids[i], right = ids[i];  // below a leaf, the leaf again
            if (node.feature >= 0) {
                left = node.child & ~WalkNode::kFlip;
                right = left + 1;
                if (node.child & WalkNode::kFlip) std::swap(left, right);
                block.thresholds[i] = left_up_to(node);
                block.columns[i] = static_cast<uint8_t>(node.feature);
            }
            ids[2 * i + 1] = left;
            ids[2 * i + 2] = right;
        }
        for (uint32_t e = 0; e < N_EXITS; ++e) {
            const uint32_t id = ids[N_QUESTIONS + e];
            const bool is_leaf = nodes[id].feature < 0;
            block.exits[e] = is_leaf ? nodes[id].child | QuestionBlock::kArrived
                                     : static_cast<uint32_t>(roots.size());
            if (!is_leaf) roots.push_back(id);
        }
        blocks.push_back(block);
    }
    return {blocks.begin(), blocks.end()};  // they stay with the tree: no room for more
}

#if FASTTREE_X86
constexpr ptrdiff_t kRowsAhead = 128;  // of those that are read, rows are asked for

// Rows on their way through the blocks of a tree; a row's numbers fill up to kVectors vectors.
template <uint32_t kVectors>
class QuestionWalk {
    static constexpr uint32_t kVector = 16, kMost = 128;  // rows that stay in the L1 cache
    const QuestionBlock* const blocks_;
    const float* const x_;
    const ptrdiff_t row_stride_;
    const __mmask16 last_lanes_;  // of a row's last vector
    uint32_t rows_[kMost + kVector], at_[kMost + kVector], exits_[kMost];
    uint32_t n_ = 0;

    struct Numbers {
        __m512 vectors[kVectors];
    };
    // How the path to each exit of a block answers the questions on it.
    struct Paths {
        alignas(kCacheLine) uint32_t questions[QuestionBlock::kExits] = {};
        alignas(kCacheLine) uint32_t answers[QuestionBlock::kExits] = {};
        constexpr Paths() {
            for (uint32_t e = 0; e < QuestionBlock::kExits; ++e) {
                for (uint32_t level = QuestionBlock::kLevels, i = 0; level-- > 0;) {
                    const uint32_t is_right = e >> level & 1;
                    questions[e] |= 1u << i;
                    answers[e] |= is_right << i;
                    i = 2 * i + 1 + is_right;
                }
            }
        }
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
    // Four levels down.
    FASTTREE_AVX512 void step(const __m512i& questions, const __m512i& answers) {
        for (uint32_t i = 0; i < n_; ++i) {
            const QuestionBlock& block = blocks_[at_[i]];
            const Numbers numbers = numbers_of(rows_[i]);
            const __m512i columns = _mm512_cvtepu8_epi32(
                _mm_load_si128(reinterpret_cast<const __m128i*>(block.columns)));
            const __m512i is_right = _mm512_broadcastmw_epi32(_mm512_cmp_ps_mask(
                pick(numbers, columns), _mm512_load_ps(block.thresholds), _CMP_NLE_UQ));
            // (is_right ^ answers) & questions
            const __m512i differ = _mm512_ternarylogic_epi32(is_right, answers, questions, 0x28);
            exits_[i] = block.exits[lowest_bit(_mm512_testn_epi32_mask(differ, differ))];
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
                    _mm512_set1_epi32(static_cast<int32_t>(QuestionBlock::kArrived)), exits),
                sizeof(uint32_t));
            _mm512_storeu_si512(rows_ + n_, _mm512_maskz_compress_epi32(others, rows));
            _mm512_storeu_si512(at_ + n_, _mm512_maskz_compress_epi32(others, exits));
            n_ += static_cast<uint32_t>(__builtin_popcount(others));
        }
    }

public:
    QuestionWalk(const QuestionBlock* blocks, const float* x, ptrdiff_t row_stride, uint32_t n_cols)
        : blocks_(blocks), x_(x), row_stride_(row_stride),
          last_lanes_(static_cast<__mmask16>(low_bits(n_cols - (kVectors - 1) * kVector))) {}

    // See `walk_questions`.
    FASTTREE_AVX512 uint32_t walk(uint32_t n_rows, uint32_t* words) {
        static constexpr Paths paths;
        const __m512i questions = _mm512_load_si512(paths.questions),
                      answers = _mm512_load_si512(paths.answers);
        __m512i largest = _mm512_setzero_si512();
        for (uint32_t next = 0; next < n_rows || n_ > 0;) {
            while (next < n_rows && n_ <= kMost - kVector) {
                const uint32_t n = std::min(n_rows - next, kVector);
                enter(next, n, largest);
                next += n;
            }
            step(questions, answers);
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
inline uint32_t walk_questions(const QuestionBlock* blocks, const DenseRows& rows,
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
        case 1: return QuestionWalk<1>(blocks, first, stride, n_cols).walk(n_rows, words);
        case 2: return QuestionWalk<2>(blocks, first, stride, n_cols).walk(n_rows, words);
        case 3: return QuestionWalk<3>(blocks, first, stride, n_cols).walk(n_rows, words);
        default: return QuestionWalk<4>(blocks, first, stride, n_cols).walk(n_rows, words);
    }
}
#endif

}  // namespace fasttree
