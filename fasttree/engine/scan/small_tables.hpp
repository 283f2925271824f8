// The best threshold of a column of up to 16 values in a node: the weights of a class by value are
// the lanes of a vector, and nothing but sums is kept.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/core/keys.hpp"
#include "engine/scan/key_scores.hpp"
#include "engine/scan/node_classes.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// Values of a column, and what a node weighs, so that sums fit 16 bits, and those of squares 32.
constexpr uint32_t MOST_SMALL_VALUES = 16, MOST_SMALL_WEIGHT = (1u << 15) - 1;

#if FASTTREE_X86
// The weights of a class by value. Four tables take turns: rows of one value often follow each
// other, and each would wait for the one before.
FASTTREE_AVX2 inline __m256i count_small(const uint8_t* codes, const Label* labels,
                                         const ClassRows& rows) {
    alignas(32) uint16_t tables[4][MOST_SMALL_VALUES];
    const auto add = [&](uint16_t(&table)[MOST_SMALL_VALUES], uint32_t i) {
        table[codes[i]] = static_cast<uint16_t>(table[codes[i]] + label_weight(labels[i]));
    };
    for (uint16_t(&weights)[MOST_SMALL_VALUES] : tables) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(weights), _mm256_setzero_si256());
    }
    uint32_t i = rows.begin;
    for (; i + 4 <= rows.end; i += 4) {
        for (uint32_t t = 0; t < 4; ++t) add(tables[t], i + t);
    }
    for (; i < rows.end; ++i) add(tables[i % 4], i);
    const __m256i* const all = reinterpret_cast<const __m256i*>(tables);
    return _mm256_add_epi16(
        _mm256_add_epi16(_mm256_load_si256(all), _mm256_load_si256(all + 1)),
        _mm256_add_epi16(_mm256_load_si256(all + 2), _mm256_load_si256(all + 3)));
}
// Lanes of 16 bits added up from the first to each.
FASTTREE_AVX2 inline __m256i prefix_sums_16(__m256i lanes) {
    lanes = _mm256_add_epi16(lanes, _mm256_slli_si256(lanes, 2));
    lanes = _mm256_add_epi16(lanes, _mm256_slli_si256(lanes, 4));
    lanes = _mm256_add_epi16(lanes, _mm256_slli_si256(lanes, 8));
    const __m256i low = _mm256_permute2x128_si256(lanes, lanes, 0x08);  // zeros, the lower half
    return _mm256_add_epi16(lanes, _mm256_shuffle_epi8(low, _mm256_set1_epi16(0x0f0e)));
}
// What a class weighs up to each value. A few rows are added one by one, without a table.
FASTTREE_AVX2 inline __m256i weights_up_to(const uint8_t* codes, const Label* labels,
                                           const ClassRows& rows) {
    constexpr uint32_t FEW = 32;
    if (rows.end - rows.begin > FEW) return prefix_sums_16(count_small(codes, labels, rows));
    const __m256i values = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m256i sums = _mm256_setzero_si256();
    for (uint32_t i = rows.begin; i < rows.end; ++i) {
        const __m256i is_above = _mm256_cmpgt_epi16(_mm256_set1_epi16(codes[i]), values);
        const __m256i weight = _mm256_set1_epi16(static_cast<short>(label_weight(labels[i])));
        sums = _mm256_add_epi16(sums, _mm256_andnot_si256(is_above, weight));
    }
    return sums;
}
// Numbers of 32 bits by value: in each half of the lanes the lower four values of eight, and the
// higher ones.
struct SmallSums {
    __m256i low, high;

    FASTTREE_AVX2 static SmallSums zeros() {
        return {_mm256_setzero_si256(), _mm256_setzero_si256()};
    }
    FASTTREE_AVX2 static SmallSums of(__m256i lanes) {
        const __m256i zero = _mm256_setzero_si256();
        return {_mm256_unpacklo_epi16(lanes, zero), _mm256_unpackhi_epi16(lanes, zero)};
    }
    FASTTREE_AVX2 void add_squares(__m256i lanes) {
        const SmallSums wide = of(lanes);
        low = _mm256_add_epi32(low, _mm256_madd_epi16(wide.low, wide.low));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(wide.high, wide.high));
    }
    // Of four values, the i-th four.
    FASTTREE_AVX2 __m256d doubles(uint32_t i) const {
        const __m256i half = i % 2 == 0 ? low : high;
        return _mm256_cvtepi32_pd(i < 2 ? _mm256_castsi256_si128(half)
                                        : _mm256_extracti128_si256(half, 1));
    }
};

template <class Score>
FASTTREE_AVX2 inline void best_of_small_avx2(const Score& score, const KeyBuckets& k,
                                             const Label* labels,
                                             const std::vector<ClassRows>& classes,
                                             BestKey& best) {
    __m256i weight = _mm256_setzero_si256();
    SmallSums first = SmallSums::zeros(), second = first;
    for (const ClassRows& rows : classes) {
        const __m256i left = weights_up_to(k.buckets, labels, rows);
        weight = _mm256_add_epi16(weight, left);
        if constexpr (Score::two_classes) {
            if (rows.label_class == 1) first = SmallSums::of(left);
        } else {
            const __m256i all = _mm256_set1_epi16(static_cast<short>(rows.weight));
            first.add_squares(left);
            second.add_squares(_mm256_sub_epi16(all, left));
        }
    }
    const SmallSums weights = SmallSums::of(weight);
    for (uint32_t b = 0; b < k.n_buckets; b += 4) {
        const uint32_t i = b / 4, lanes = static_cast<uint32_t>(low_bits(k.n_buckets - b)) & 0xf;
        take_lanes(score, weights.doubles(i), first.doubles(i), second.doubles(i), lanes,
                   k.last_keys + b, best);
    }
}
#endif

}  // namespace fasttree
