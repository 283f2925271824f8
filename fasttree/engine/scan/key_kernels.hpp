// The loops over the keys of one node, for criteria on classes.
//
// Nothing is sorted. Of few rows, every row's key is compared with every other: a lane holds what
// is on the left of the threshold at its key. Of many, rows are counted by bucket, class by class,
// and prefix sums are what is on the left of the limits between buckets.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/core/keys.hpp"
#include "engine/scan/node_classes.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// What is on the left of each of several thresholds: weight and, of two classes, the weight of
// class 1, or the sums of squared class weights on either side. Whole numbers below 2**53.
// Number -1 is what there is before the first: nothing on the left.
struct LeftSums {
    static constexpr uint32_t BEFORE = 8;
    alignas(64) double all[3][BEFORE + MAX_BUCKETS];

    double* weight() { return all[0] + BEFORE; }
    double* first() { return all[1] + BEFORE; }
    double* second() { return all[2] + BEFORE; }
    void begin(uint32_t n, double squares) {
        for (double(&sums)[BEFORE + MAX_BUCKETS] : all) std::fill_n(sums, BEFORE + n, 0.0);
        second()[-1] = squares;
    }
};

// Rows that are looked at together for whether they are in one bucket.
constexpr uint32_t ALIKE = 16;
// Class weights by bucket; as many zeros stand before the first.
constexpr uint32_t COUNTS_BEFORE = 16;

// Weights of the rows by bucket. Many are counted in two tables that take turns: rows of one bucket
// often follow each other, and each would wait for the one before. pass_alike(i, of_bucket): if the
// rows from i on are in one bucket, adds them to its weight and moves i behind them; else false.
template <class PassAlike>
FASTTREE_INLINE inline void count_rows_here(const KeyBuckets& k, const Label* labels,
                                            const ClassRows& rows, uint32_t* weights,
                                            const PassAlike& pass_alike) {
    constexpr uint32_t MANY = 4;  // rows of a bucket
    uint32_t i = rows.begin;
    if (rows.end - i >= MANY * k.n_buckets) {
        uint32_t others[MAX_BUCKETS];
        std::fill_n(others, k.n_buckets, 0);
        while (i + ALIKE <= rows.end) {
            if (pass_alike(i, weights[k.buckets[i]])) continue;
            for (const uint32_t end = i + ALIKE; i < end; i += 2) {
                weights[k.buckets[i]] += label_weight(labels[i]);
                others[k.buckets[i + 1]] += label_weight(labels[i + 1]);
            }
        }
        for (uint32_t b = 0; b < k.n_buckets; ++b) weights[b] += others[b];
    }
    for (; i < rows.end; ++i) weights[k.buckets[i]] += label_weight(labels[i]);
}
#if FASTTREE_X86
FASTTREE_AVX2 inline void count_rows_avx2(const KeyBuckets& k, const Label* labels,
                                          const ClassRows& rows, uint32_t* weights) {
    const auto are_alike = [&](uint32_t i, __m128i bucket) FASTTREE_AVX2 {
        const __m128i own = _mm_loadu_si128(reinterpret_cast<const __m128i*>(k.buckets + i));
        return _mm_movemask_epi8(_mm_cmpeq_epi8(own, bucket)) == 0xffff;
    };
    count_rows_here(k, labels, rows, weights, [&](uint32_t& i, uint32_t& of_bucket) FASTTREE_AVX2 {
        const __m128i bucket = _mm_set1_epi8(static_cast<char>(k.buckets[i]));
        if (!are_alike(i, bucket)) return false;
        __m256i sums = _mm256_setzero_si256();
        do {
            const __m256i own = _mm256_srli_epi16(
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(labels + i)), LABEL_BITS);
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(own, _mm256_set1_epi16(1)));
            i += ALIKE;
        } while (i + ALIKE <= rows.end && are_alike(i, bucket));
        of_bucket += sum_of_8(sums);
        return true;
    });
}
#endif
inline void count_rows(Simd simd, const KeyBuckets& k, const Label* labels, const ClassRows& rows,
                       uint32_t* weights) {
#if FASTTREE_X86
    if (simd != SIMD_PORTABLE) return count_rows_avx2(k, labels, rows, weights);
#endif
    count_rows_here(k, labels, rows, weights, [](uint32_t, uint32_t) { return false; });
}

inline void add_up_portable(uint32_t* weights, uint32_t n) {
    for (uint32_t b = 1; b < n; ++b) weights[b] += weights[b - 1];
}
#if FASTTREE_X86
// Up to 15 numbers behind the last change.
FASTTREE_AVX512 inline void add_up_avx512(uint32_t* weights, uint32_t n) {
    const __m512i zero = _mm512_setzero_si512(), last = _mm512_set1_epi32(15);
    __m512i before = zero;
    for (uint32_t b = 0; b < n; b += 16) {
        __m512i sum = _mm512_loadu_si512(weights + b);
        sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 15));
        sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 14));
        sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 12));
        sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 8));
        sum = _mm512_add_epi32(sum, before);
        _mm512_storeu_si512(weights + b, sum);
        before = _mm512_permutexvar_epi32(last, sum);
    }
}
FASTTREE_AVX2 inline void add_up_avx2(uint32_t* weights, uint32_t n) {
    __m256i before = _mm256_setzero_si256();
    for (uint32_t b = 0; b < n; b += 8) {
        const __m256i sum = _mm256_add_epi32(prefix_sums_8(load_8(weights + b)), before);
        store_8(weights + b, sum);
        before = _mm256_permutevar8x32_epi32(sum, _mm256_set1_epi32(7));
    }
}
#endif

// Prefix sums, in place.
inline void add_up(Simd simd, uint32_t* weights, uint32_t n) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return add_up_avx512(weights, n);
    if (simd == SIMD_AVX2) return add_up_avx2(weights, n);
#endif
    add_up_portable(weights, n);
}

// Adds a class whose weights on the left of n thresholds are given.
template <bool two_classes>
__attribute__((always_inline)) inline void add_class_here(const ClassRows& rows,
                                                          const uint32_t* left, uint32_t n,
                                                          LeftSums& out) {
    const double total = rows.weight;
    double *weight = out.weight(), *first = out.first(), *second = out.second();
    const bool is_first = rows.label_class == 1;
    for (uint32_t b = 0; b < n; ++b) {
        const double l = static_cast<double>(static_cast<int32_t>(left[b]));
        weight[b] += l;
        if constexpr (two_classes) {
            first[b] = is_first ? l : 0.0;  // the higher class comes last
        } else {
            const double r = total - l;
            first[b] += l * l;
            second[b] += r * r;
        }
    }
}
#if FASTTREE_X86
template <bool two_classes>
FASTTREE_AVX512 inline void add_class_avx512(const ClassRows& rows, const uint32_t* left,
                                             uint32_t n, LeftSums& out) {
    add_class_here<two_classes>(rows, left, n, out);
}
template <bool two_classes>
FASTTREE_AVX2 inline void add_class_avx2(const ClassRows& rows, const uint32_t* left, uint32_t n,
                                         LeftSums& out) {
    add_class_here<two_classes>(rows, left, n, out);
}
#endif
template <bool two_classes>
inline void add_class(Simd simd, const ClassRows& rows, const uint32_t* left, uint32_t n,
                      LeftSums& out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return add_class_avx512<two_classes>(rows, left, n, out);
    if (simd == SIMD_AVX2) return add_class_avx2<two_classes>(rows, left, n, out);
#endif
    add_class_here<two_classes>(rows, left, n, out);
}

// Weights of a class on the left of the threshold at each of n keys.
inline void compare_portable(const uint32_t* keys, uint32_t n, const uint32_t* weights,
                             const ClassRows& rows, uint32_t* left) {
    for (uint32_t i = 0; i < n; ++i) {
        uint32_t sum = 0;
        for (uint32_t j = rows.begin; j < rows.end; ++j) {
            sum += keys[j] <= keys[i] ? weights[j] : 0;
        }
        left[i] = sum;
    }
}
#if FASTTREE_X86
FASTTREE_AVX512 inline void compare_avx512(const uint32_t* keys, uint32_t n,
                                           const uint32_t* weights, const ClassRows& rows,
                                           uint32_t* left) {
    for (uint32_t i = 0; i < n; i += 16) {
        const __m512i limit = _mm512_loadu_si512(keys + i);
        __m512i sum = _mm512_setzero_si512();
        for (uint32_t j = rows.begin; j < rows.end; ++j) {
            const __m512i key = _mm512_set1_epi32(static_cast<int>(keys[j]));
            const __m512i weight = _mm512_set1_epi32(static_cast<int>(weights[j]));
            sum = _mm512_mask_add_epi32(sum, _mm512_cmple_epu32_mask(key, limit), sum, weight);
        }
        _mm512_storeu_si512(left + i, sum);
    }
}
FASTTREE_AVX2 inline void compare_avx2(const uint32_t* keys, uint32_t n, const uint32_t* weights,
                                       const ClassRows& rows, uint32_t* left) {
    for (uint32_t i = 0; i < n; i += 16) {
        const __m256i limit0 = load_8(keys + i), limit1 = load_8(keys + i + 8);
        __m256i sum0 = _mm256_setzero_si256(), sum1 = sum0;
        for (uint32_t j = rows.begin; j < rows.end; ++j) {
            const __m256i key = _mm256_set1_epi32(static_cast<int>(keys[j]));
            const __m256i weight = _mm256_set1_epi32(static_cast<int>(weights[j]));
            sum0 = _mm256_add_epi32(sum0, _mm256_and_si256(are_at_most(key, limit0), weight));
            sum1 = _mm256_add_epi32(sum1, _mm256_and_si256(are_at_most(key, limit1), weight));
        }
        store_8(left + i, sum0);
        store_8(left + i + 8, sum1);
    }
}
#endif
inline void compare(Simd simd, const uint32_t* keys, uint32_t n, const uint32_t* weights,
                    const ClassRows& rows, uint32_t* left) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return compare_avx512(keys, n, weights, rows, left);
    if (simd == SIMD_AVX2) return compare_avx2(keys, n, weights, rows, left);
#endif
    compare_portable(keys, n, weights, rows, left);
}

}  // namespace fasttree
