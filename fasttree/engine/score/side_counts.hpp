// Statistics of a node's rows on one side, from targets that lie in the order of the rows.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/simd/sides.hpp"

namespace fasttree {

// Of the rows that go left; with `left` null, of all n.
inline uint64_t side_word(const uint64_t* left, uint32_t n, uint32_t w) {
    return left ? left[w] : whole_word(n, w);
}

// Adds the rows of each class to `counts`.
inline void count_side_portable(const uint8_t* classes, uint32_t n, const uint64_t* left,
                                int32_t* counts) {
    for (uint32_t w = 0; w < n_words(n); ++w) {
        for (uint64_t bits = side_word(left, n, w); bits != 0; bits &= bits - 1) {
            ++counts[classes[w * WORD_BITS + static_cast<uint32_t>(__builtin_ctzll(bits))]];
        }
    }
}
// Rows of class 1, of two.
inline uint32_t count_ones_portable(const uint8_t* classes, uint32_t n, const uint64_t* left) {
    uint32_t ones = 0;
    for (uint32_t w = 0; w < n_words(n); ++w) {
        const uint32_t first = w * WORD_BITS, last = std::min(n, first + WORD_BITS);
        const uint64_t bits = side_word(left, n, w);
        for (uint32_t i = first; i < last; ++i) ones += classes[i] & (bits >> (i - first) & 1);
    }
    return ones;
}
inline int64_t sum_side_portable(const int64_t* items, uint32_t n, const uint64_t* left) {
    uint64_t sum = 0;
    for (uint32_t w = 0; w < n_words(n); ++w) {
        const uint32_t first = w * WORD_BITS, last = std::min(n, first + WORD_BITS);
        const uint64_t bits = side_word(left, n, w);
        for (uint32_t i = first; i < last; ++i) {
            sum += static_cast<uint64_t>(items[i]) & (0 - (bits >> (i - first) & 1));
        }
    }
    return static_cast<int64_t>(sum);
}

#if FASTTREE_X86
// Some classes, one at a time, 64 rows at once, where that is cheaper than row by row.
FASTTREE_AVX512 inline void count_side_avx512(const uint8_t* classes, uint32_t n,
                                              const uint64_t* left, const uint8_t* which,
                                              uint32_t n_which, int32_t* counts) {
    constexpr uint32_t CHUNK = 64;  // words: the classes of a chunk stay in the first-level cache
    const uint32_t end = n_words(n);
    for (uint32_t begin = 0; begin < end; begin += CHUNK) {
        const uint32_t last = std::min(end, begin + CHUNK);
        for (uint32_t k = 0; k < n_which; ++k) {
            const __m512i own = _mm512_set1_epi8(static_cast<char>(which[k]));
            uint64_t count = 0;
            for (uint32_t w = begin; w < last; ++w) {
                const __m512i y = _mm512_loadu_si512(classes + w * WORD_BITS);
                count += static_cast<uint64_t>(__builtin_popcountll(
                    _mm512_mask_cmpeq_epi8_mask(side_word(left, n, w), y, own)));
            }
            counts[which[k]] += static_cast<int32_t>(count);
        }
    }
}
FASTTREE_AVX512 inline uint32_t count_ones_avx512(const uint8_t* classes, uint32_t n,
                                                  const uint64_t* left) {
    uint64_t ones = 0;
    for (uint32_t w = 0; w < n_words(n); ++w) {
        const __m512i y = _mm512_loadu_si512(classes + w * WORD_BITS);
        ones += static_cast<uint64_t>(
            __builtin_popcountll(_mm512_mask_test_epi8_mask(side_word(left, n, w), y, y)));
    }
    return static_cast<uint32_t>(ones);
}
FASTTREE_AVX512 inline int64_t sum_side_avx512(const int64_t* items, uint32_t n,
                                               const uint64_t* left) {
    constexpr uint32_t LANES = 8;
    __m512i sum = _mm512_setzero_si512();
    for (uint32_t w = 0; w < n_words(n); ++w) {
        uint64_t bits = side_word(left, n, w);
        for (uint32_t i = w * WORD_BITS; bits != 0; i += LANES, bits >>= LANES) {
            sum = _mm512_add_epi64(
                sum, _mm512_maskz_loadu_epi64(static_cast<__mmask8>(bits), items + i));
        }
    }
    return _mm512_reduce_add_epi64(sum);
}
FASTTREE_AVX2 inline void count_side_avx2(const uint8_t* classes, uint32_t n, const uint64_t* left,
                                          const uint8_t* which, uint32_t n_which,
                                          int32_t* counts) {
    constexpr uint32_t CHUNK = 64;
    const uint32_t end = n_words(n);
    for (uint32_t begin = 0; begin < end; begin += CHUNK) {
        const uint32_t last = std::min(end, begin + CHUNK);
        for (uint32_t k = 0; k < n_which; ++k) {
            const __m256i own = _mm256_set1_epi8(static_cast<char>(which[k]));
            uint64_t count = 0;
            for (uint32_t w = begin; w < last; ++w) {
                count += static_cast<uint64_t>(__builtin_popcountll(
                    equal_of_64(classes + w * WORD_BITS, own) & side_word(left, n, w)));
            }
            counts[which[k]] += static_cast<int32_t>(count);
        }
    }
}
FASTTREE_AVX2 inline uint32_t count_ones_avx2(const uint8_t* classes, uint32_t n,
                                              const uint64_t* left) {
    uint64_t ones = 0;
    for (uint32_t w = 0; w < n_words(n); ++w) {
        const uint64_t zeros = equal_of_64(classes + w * WORD_BITS, _mm256_setzero_si256());
        ones += static_cast<uint64_t>(__builtin_popcountll(~zeros & side_word(left, n, w)));
    }
    return static_cast<uint32_t>(ones);
}
FASTTREE_AVX2 inline int64_t sum_side_avx2(const int64_t* items, uint32_t n,
                                           const uint64_t* left) {
    constexpr uint32_t LANES = 4;
    const __m256i bit_of_lane = _mm256_setr_epi64x(1, 2, 4, 8);
    __m256i sum = _mm256_setzero_si256();
    uint32_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const uint64_t bits = side_word(left, n, i / WORD_BITS) >> i % WORD_BITS;
        const __m256i all = _mm256_set1_epi64x(static_cast<int64_t>(bits));
        const __m256i is_in = _mm256_cmpeq_epi64(_mm256_and_si256(all, bit_of_lane), bit_of_lane);
        const __m256i item = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(items + i));
        sum = _mm256_add_epi64(sum, _mm256_and_si256(item, is_in));
    }
    alignas(32) uint64_t of_lane[LANES];
    _mm256_store_si256(reinterpret_cast<__m256i*>(of_lane), sum);
    uint64_t total = of_lane[0] + of_lane[1] + of_lane[2] + of_lane[3];
    for (; i < n; ++i) {
        const uint64_t bit = side_word(left, n, i / WORD_BITS) >> i % WORD_BITS & 1;
        total += static_cast<uint64_t>(items[i]) & (0 - bit);
    }
    return static_cast<int64_t>(total);
}
#endif

// Puts the rows of each class on the side, n_side in all, into `counts`, which holds zeros. `which`
// are the classes that the node has; SIDE_PADDING bytes behind the rows' classes may be read.
inline void count_side(Simd simd, const uint8_t* classes, uint32_t n, const uint64_t* left,
                       uint32_t n_side, const uint8_t* which, uint32_t n_which, int32_t* counts) {
#if FASTTREE_X86
    // A row waits for the one before it, a class takes a few instructions per word.
    constexpr uint32_t CLASSES_PER_ROW = 2;
    const uint32_t n_looked = n_which - 1;  // the last one has the rest
    if (simd != SIMD_PORTABLE
        && uint64_t{n_words(n)} * n_looked < CLASSES_PER_ROW * uint64_t{n_side}) {
        if (simd == SIMD_AVX512) count_side_avx512(classes, n, left, which, n_looked, counts);
        else count_side_avx2(classes, n, left, which, n_looked, counts);
        uint32_t rest = n_side;
        for (uint32_t k = 0; k < n_looked; ++k) rest -= static_cast<uint32_t>(counts[which[k]]);
        counts[which[n_looked]] = static_cast<int32_t>(rest);
        return;
    }
#endif
    count_side_portable(classes, n, left, counts);
}
inline uint32_t count_ones(Simd simd, const uint8_t* classes, uint32_t n, const uint64_t* left) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return count_ones_avx512(classes, n, left);
    if (simd == SIMD_AVX2) return count_ones_avx2(classes, n, left);
#endif
    return count_ones_portable(classes, n, left);
}
inline int64_t sum_side(Simd simd, const int64_t* items, uint32_t n, const uint64_t* left) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return sum_side_avx512(items, n, left);
    if (simd == SIMD_AVX2) return sum_side_avx2(items, n, left);
#endif
    return sum_side_portable(items, n, left);
}

}  // namespace fasttree
