// The classes of a node whose rows stand in their order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/core/keys.hpp"
#include "engine/core/targets.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// The rows of a node of one class: their positions, and the sum of their weights.
struct ClassRows {
    uint32_t label_class, begin, end, weight;
};

// The rows of the class that begins at a position, of which those up to `end` were found to be of
// it and to have a weight.
inline ClassRows class_rows_portable(const Label* labels, uint32_t begin, uint32_t n, uint32_t end,
                                     uint32_t weight) {
    const uint32_t c = label_class(labels[begin]);
    for (; end < n && label_class(labels[end]) == c; ++end) weight += label_weight(labels[end]);
    return {c, begin, end, weight};
}
#if FASTTREE_X86
FASTTREE_AVX512 inline ClassRows class_rows_avx512(const Label* labels, uint32_t begin,
                                                   uint32_t n) {
    const uint32_t c = label_class(labels[begin]);
    const __m512i low = _mm512_set1_epi16(0xff), own = _mm512_set1_epi16(static_cast<short>(c));
    __m512i weights = _mm512_setzero_si512();
    uint32_t end = begin;
    for (bool is_last = false; !is_last && end < n;) {
        const __mmask32 lanes = static_cast<__mmask32>(low_bits(std::min(n - end, 32u)));
        const __m512i label = _mm512_maskz_loadu_epi16(lanes, labels + end);
        const __mmask32 other =
            _mm512_mask_cmpneq_epi16_mask(lanes, _mm512_and_si512(label, low), own);
        is_last = other != 0;
        const uint32_t n_own = static_cast<uint32_t>(
            is_last ? __builtin_ctz(other) : __builtin_popcount(lanes));
        const __mmask32 is_own = static_cast<__mmask32>(low_bits(n_own));
        weights = _mm512_add_epi32(
            weights, _mm512_madd_epi16(_mm512_maskz_srli_epi16(is_own, label, LABEL_BITS),
                                       _mm512_set1_epi16(1)));
        end += n_own;
    }
    return {c, begin, end, static_cast<uint32_t>(_mm512_reduce_add_epi32(weights))};
}
FASTTREE_AVX2 inline ClassRows class_rows_avx2(const Label* labels, uint32_t begin, uint32_t n) {
    constexpr uint32_t LANES = 16;
    const __m256i low = _mm256_set1_epi16(0xff);
    const __m256i own = _mm256_set1_epi16(static_cast<short>(label_class(labels[begin])));
    __m256i weights = _mm256_setzero_si256();
    uint32_t end = begin;
    for (; end + LANES <= n; end += LANES) {
        const __m256i label = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(labels + end));
        const __m256i is_own = _mm256_cmpeq_epi16(_mm256_and_si256(label, low), own);
        if (_mm256_movemask_epi8(is_own) != -1) break;
        weights = _mm256_add_epi32(weights, _mm256_madd_epi16(_mm256_srli_epi16(label, LABEL_BITS),
                                                              _mm256_set1_epi16(1)));
    }
    return class_rows_portable(labels, begin, n, end, end == begin ? 0 : sum_of_8(weights));
}
#endif
inline ClassRows class_rows(Simd simd, const Label* labels, uint32_t begin, uint32_t n) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return class_rows_avx512(labels, begin, n);
    if (simd == SIMD_AVX2) return class_rows_avx2(labels, begin, n);
#endif
    return class_rows_portable(labels, begin, n, begin, 0);
}

#if FASTTREE_X86
// All classes of a few rows, whose labels fit a vector.
constexpr uint32_t LABELS_OF_VECTOR = 32;
FASTTREE_AVX512 inline void few_classes_avx512(const Label* labels, uint32_t n,
                                               std::vector<ClassRows>& out) {
    const __mmask32 lanes = static_cast<__mmask32>(low_bits(n));
    const __m512i label = _mm512_maskz_loadu_epi16(lanes, labels);
    const __m512i label_classes = _mm512_and_si512(label, _mm512_set1_epi16(0xff));
    const __m256i weights = _mm512_cvtepi16_epi8(_mm512_srli_epi16(label, LABEL_BITS));
    for (uint32_t begin = 0; begin < n;) {
        const uint32_t c = label_class(labels[begin]);
        const __mmask32 is_own = _mm512_mask_cmpeq_epi16_mask(
            lanes, label_classes, _mm512_set1_epi16(static_cast<short>(c)));
        const __m256i sums =
            _mm256_sad_epu8(_mm256_maskz_mov_epi8(is_own, weights), _mm256_setzero_si256());
        const __m128i two =
            _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        const uint32_t weight =
            static_cast<uint32_t>(_mm_cvtsi128_si32(two) + _mm_extract_epi32(two, 2));
        const uint32_t end = begin + static_cast<uint32_t>(__builtin_popcount(is_own));
        out.push_back({c, begin, end, weight});
        begin = end;
    }
}
#endif

// Appends the classes of a node.
inline void list_classes(Simd simd, const Label* labels, uint32_t n, std::vector<ClassRows>& out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512 && n <= LABELS_OF_VECTOR) return few_classes_avx512(labels, n, out);
#endif
    for (uint32_t i = 0; i < n; i = out.back().end) out.push_back(class_rows(simd, labels, i, n));
}

// What a node is worth by gini, of one output. Sums of weights, and of their squares, are whole
// numbers that doubles hold.
class NodeClasses {
    std::vector<ClassRows> classes_;  // ascending
    uint32_t weight_ = 0;
    double squares_ = 0.0;            // of the class weights

public:
    NodeClasses() { classes_.reserve(size_t{1} << LABEL_BITS); }

    void take(Simd simd, const Label* labels, uint32_t n) {
        classes_.clear();
        weight_ = 0;
        squares_ = 0.0;
        list_classes(simd, labels, n, classes_);
        for (const ClassRows& rows : classes_) add(rows.weight);
    }
    // Takes what is left of a node without a part of its rows, which is not all of them.
    void take_rest(const NodeClasses& node, const NodeClasses& part) {
        classes_.clear();
        weight_ = 0;
        squares_ = 0.0;
        auto other = part.classes_.begin();
        uint32_t begin = 0;
        for (const ClassRows& rows : node.classes_) {
            uint32_t n = rows.end - rows.begin, weight = rows.weight;
            if (other != part.classes_.end() && other->label_class == rows.label_class) {
                n -= other->end - other->begin;
                weight -= other->weight;
                ++other;
            }
            if (n == 0) continue;
            classes_.push_back({rows.label_class, begin, begin + n, weight});
            begin += n;
            add(weight);
        }
    }

    const std::vector<ClassRows>& rows() const noexcept { return classes_; }
    uint32_t weight() const noexcept { return weight_; }
    double squares() const noexcept { return squares_; }

    NodeStats stats(double weight_unit) const noexcept {
        return {weight_ * weight_unit, gini(squares_, weight_), classes_.size() == 1};
    }
    // The share of each of n classes.
    void shares(double* out, size_t n) const noexcept {
        std::fill_n(out, n, 0.0);
        for (const ClassRows& rows : classes_) {
            out[rows.label_class] = rows.weight / static_cast<double>(weight_);
        }
    }

private:
    void add(uint32_t weight) {
        weight_ += weight;
        squares_ += static_cast<double>(weight) * weight;
    }
};

}  // namespace fasttree
