// The best threshold of a feature in a node of up to 32 rows of small weights.
//
// The keys of the rows are bytes, widened to 16 bits. Each is compared with each other: a lane
// holds what is on the left of the threshold at its key, and that fits 16 bits, too, because the
// rows weigh less than 256 together.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/core/keys.hpp"
#include "engine/scan/key_scores.hpp"
#include "engine/scan/node_classes.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

constexpr uint32_t LIGHT_ROWS = 32, MOST_LIGHT_WEIGHT = 255;

// The rows of a node in the order of their classes.
struct LightNode {
    uint32_t n, n_classes, weight;
    ClassRows classes[LIGHT_ROWS];  // ascending
    alignas(64) uint16_t weights[LIGHT_ROWS];
};

// The largest score, and the lowest key that has it.
struct LightBest {
    double score;
    uint32_t limit;
};

#if FASTTREE_X86
// On the left of the threshold at each key; see LeftSums.
struct LightSums {
    alignas(64) uint16_t weight[LIGHT_ROWS], first[LIGHT_ROWS], second[LIGHT_ROWS];
};

FASTTREE_AVX2 inline __m256i load_16(const uint16_t* items) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(items));
}
FASTTREE_AVX2 inline void store_16(uint16_t* items, __m256i lanes) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(items), lanes);
}
FASTTREE_AVX2 inline __m256d doubles_of_4(const uint16_t* items) {
    const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(items));
    return _mm256_cvtepi32_pd(_mm_cvtepu16_epi32(four));
}

template <class Score, uint32_t N_VECTORS>
FASTTREE_AVX2 inline void add_up_light(const LightNode& node, const uint16_t* keys,
                                       LightSums& out) {
    __m256i limits[N_VECTORS], weight[N_VECTORS], first[N_VECTORS], second[N_VECTORS];
    for (uint32_t v = 0; v < N_VECTORS; ++v) {
        limits[v] = load_16(keys + 16 * v);
        weight[v] = first[v] = second[v] = _mm256_setzero_si256();
    }
    for (uint32_t c = 0; c < node.n_classes; ++c) {
        const ClassRows& rows = node.classes[c];
        __m256i left[N_VECTORS];
        for (uint32_t v = 0; v < N_VECTORS; ++v) left[v] = _mm256_setzero_si256();
        for (uint32_t j = rows.begin; j < rows.end; ++j) {
            const __m256i key = _mm256_set1_epi16(static_cast<short>(keys[j]));
            const __m256i own = _mm256_set1_epi16(static_cast<short>(node.weights[j]));
            for (uint32_t v = 0; v < N_VECTORS; ++v) {
                const __m256i is_right = _mm256_cmpgt_epi16(key, limits[v]);
                left[v] = _mm256_add_epi16(left[v], _mm256_andnot_si256(is_right, own));
            }
        }
        const __m256i all = _mm256_set1_epi16(static_cast<short>(rows.weight));
        for (uint32_t v = 0; v < N_VECTORS; ++v) {
            weight[v] = _mm256_add_epi16(weight[v], left[v]);
            if constexpr (Score::two_classes) {
                if (rows.label_class == 1) first[v] = left[v];
            } else {
                const __m256i right = _mm256_sub_epi16(all, left[v]);
                first[v] = _mm256_add_epi16(first[v], _mm256_mullo_epi16(left[v], left[v]));
                second[v] = _mm256_add_epi16(second[v], _mm256_mullo_epi16(right, right));
            }
        }
    }
    for (uint32_t v = 0; v < N_VECTORS; ++v) {
        store_16(out.weight + 16 * v, weight[v]);
        store_16(out.first + 16 * v, first[v]);
        store_16(out.second + 16 * v, second[v]);
    }
}

// `keys`, not all the same, are followed by copies of one of them, up to a multiple of 16, and what
// is behind may be read.
template <class Score>
FASTTREE_AVX2 inline LightBest best_of_light_avx2(const Score& score, const LightNode& node,
                                              const uint16_t* keys) {
    LightSums sums;
    if (node.n <= 16) add_up_light<Score, 1>(node, keys, sums);
    else add_up_light<Score, 2>(node, keys, sums);
    alignas(32) double scores[LIGHT_ROWS];
    const __m256d all = _mm256_set1_pd(node.weight), none = _mm256_set1_pd(MINUS_INFINITY);
    __m256d top = none;
    for (uint32_t i = 0; i < node.n; i += 4) {
        const __m256d left = doubles_of_4(sums.weight + i);
        const __m256d at = score.score(left, doubles_of_4(sums.first + i),
                                       doubles_of_4(sums.second + i));
        const __m256d are_all_left = _mm256_cmp_pd(left, all, _CMP_EQ_OQ);
        const __m256d valid = _mm256_blendv_pd(at, none, are_all_left);
        _mm256_store_pd(scores + i, valid);
        top = _mm256_max_pd(top, valid);
    }
    top = _mm256_max_pd(top, _mm256_permute2f128_pd(top, top, 1));
    top = _mm256_max_pd(top, _mm256_permute_pd(top, 5));
    LightBest best{_mm256_cvtsd_f64(top), NO_KEY};
    for (uint32_t i = 0; i < node.n; i += 4) {
        const __m256d is_top = _mm256_cmp_pd(_mm256_load_pd(scores + i), top, _CMP_EQ_OQ);
        for (uint32_t at = static_cast<uint32_t>(_mm256_movemask_pd(is_top)); at; at &= at - 1) {
            const uint32_t key = keys[i + static_cast<uint32_t>(__builtin_ctz(at))];
            best.limit = std::min(best.limit, key);
        }
    }
    return best;
}

template <class Score>
FASTTREE_AVX512 inline void add_up_light_avx512(const LightNode& node, const uint16_t* keys,
                                                LightSums& out) {
    const __m512i limits = _mm512_load_si512(keys);
    __m512i weight = _mm512_setzero_si512(), first = weight, second = weight;
    for (uint32_t c = 0; c < node.n_classes; ++c) {
        const ClassRows& rows = node.classes[c];
        __m512i left = _mm512_setzero_si512();
        for (uint32_t j = rows.begin; j < rows.end; ++j) {
            const __m512i key = _mm512_set1_epi16(static_cast<short>(keys[j]));
            left = _mm512_mask_add_epi16(left, _mm512_cmple_epu16_mask(key, limits), left,
                                         _mm512_set1_epi16(static_cast<short>(node.weights[j])));
        }
        weight = _mm512_add_epi16(weight, left);
        if constexpr (Score::two_classes) {
            if (rows.label_class == 1) first = left;
        } else {
            const __m512i right =
                _mm512_sub_epi16(_mm512_set1_epi16(static_cast<short>(rows.weight)), left);
            first = _mm512_add_epi16(first, _mm512_mullo_epi16(left, left));
            second = _mm512_add_epi16(second, _mm512_mullo_epi16(right, right));
        }
    }
    _mm512_store_si512(out.weight, weight);
    _mm512_store_si512(out.first, first);
    _mm512_store_si512(out.second, second);
}
FASTTREE_AVX512 inline __m512d doubles_of_8(const uint16_t* items) {
    const __m128i eight = _mm_load_si128(reinterpret_cast<const __m128i*>(items));
    return _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(eight));
}
template <class Score>
FASTTREE_AVX512 inline LightBest best_of_light_avx512(const Score& score, const LightNode& node,
                                                  const uint16_t* keys) {
    LightSums sums;
    add_up_light_avx512<Score>(node, keys, sums);
    const __m512d all = _mm512_set1_pd(node.weight), none = _mm512_set1_pd(MINUS_INFINITY);
    __m512d scores[LIGHT_ROWS / 8], top = none;
    for (uint32_t i = 0; i < node.n; i += 8) {
        const __m512d left = doubles_of_8(sums.weight + i);
        const __m512d at = score.score(left, doubles_of_8(sums.first + i),
                                       doubles_of_8(sums.second + i));
        scores[i / 8] = _mm512_mask_mov_pd(at, _mm512_cmp_pd_mask(left, all, _CMP_EQ_OQ), none);
        top = _mm512_max_pd(top, scores[i / 8]);
    }
    LightBest best{_mm512_reduce_max_pd(top), NO_KEY};
    top = _mm512_set1_pd(best.score);
    for (uint32_t i = 0; i < node.n; i += 8) {
        uint32_t at = _mm512_cmp_pd_mask(scores[i / 8], top, _CMP_EQ_OQ);
        for (; at != 0; at &= at - 1) {
            const uint32_t key = keys[i + static_cast<uint32_t>(__builtin_ctz(at))];
            best.limit = std::min(best.limit, key);
        }
    }
    return best;
}

template <class Score>
FASTTREE_AVX2 inline LightBest best_of_light(Simd simd, const Score& score, const LightNode& node,
                                             const uint16_t* keys) {
    return simd == SIMD_AVX512 ? best_of_light_avx512(score, node, keys)
                               : best_of_light_avx2(score, node, keys);
}
#endif

}  // namespace fasttree
