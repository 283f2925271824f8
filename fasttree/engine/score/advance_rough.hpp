// `advance` of squared error with AVX2, by rough terms (`rough_terms.hpp`).
//
// D = w l, where l is the sum of the rows on the left about the node's mean. A bound passes over a
// block of positions at once, if in no order of its rows one of them could be better than the best
// so far; of other blocks, 4 positions are looked at at a time. Exact sums are made up where the
// scan stops.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/core/runs.hpp"
#include "engine/score/accumulator.hpp"
#include "engine/score/regression.hpp"
#include "engine/simd/avx2.hpp"

namespace fasttree {

#if FASTTREE_X86

// The weights on the left and the sum about the mean of a position.
struct RoughPosition {
    double sum, weight;
};

// Whether positions may beat a score.
struct RoughBar {
    double slack;   // of sums
    double weight;  // of the node
    double factor;  // D^2 / w^2 is to exceed this times w_L w_R

    double least(double w_left) const { return factor * (w_left * (weight - w_left)); }
};

// The next rows: terms, their sum and that of their magnitudes, their weight.
struct RoughBlock {
    static constexpr uint32_t ROWS = 32;
    alignas(32) float terms[ROWS];
    double sum, magnitude, weight, first_weight;

    template <bool weighted>
    FASTTREE_AVX2 void read(const float* all, const uint32_t* entries, uint32_t n) {
        if (n < ROWS) {
            std::fill(terms, terms + ROWS, 0.0f);
            for (uint32_t i = 0; i < n; ++i) terms[i] = all[entries[i] & ROW];
        }
        __m256 sums = _mm256_setzero_ps(), magnitudes = sums;
        __m256i weights = _mm256_setzero_si256();
        for (uint32_t i = 0; i < ROWS; i += 8) {
            __m256 term = n < ROWS ? _mm256_load_ps(terms + i) : terms_of_8(all, entries + i);
            if (n == ROWS) _mm256_store_ps(terms + i, term);
            if constexpr (weighted) {
                const __m256i bits = _mm256_castps_si256(term);
                const __m256i mask = _mm256_set1_epi32(RoughTerms::WEIGHT);
                weights = _mm256_add_epi32(weights, _mm256_and_si256(bits, mask));
                term = _mm256_castsi256_ps(_mm256_andnot_si256(mask, bits));
            }
            sums = _mm256_add_ps(sums, term);
            magnitudes = _mm256_add_ps(magnitudes, _mm256_andnot_ps(_mm256_set1_ps(-0.0f), term));
        }
        const __m256d two = _mm256_hadd_pd(in_doubles(sums), in_doubles(magnitudes));
        const __m128d both =
            _mm_add_pd(_mm256_castpd256_pd128(two), _mm256_extractf128_pd(two, 1));
        sum = _mm_cvtsd_f64(both);
        magnitude = _mm_cvtsd_f64(_mm_unpackhi_pd(both, both));
        weight = n;
        first_weight = 1;
        if constexpr (weighted) {
            weight = sum_of_8(weights);
            first_weight = static_cast<double>(bits_of(terms[0]) & RoughTerms::WEIGHT);
        }
    }

private:
    FASTTREE_AVX2 static __m256 terms_of_8(const float* all, const uint32_t* e) {
        return _mm256_setr_ps(all[e[0] & ROW], all[e[1] & ROW], all[e[2] & ROW], all[e[3] & ROW],
                              all[e[4] & ROW], all[e[5] & ROW], all[e[6] & ROW], all[e[7] & ROW]);
    }
    // Both halves added up.
    FASTTREE_AVX2 static __m256d in_doubles(__m256 lanes) {
        return _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(lanes)),
                             _mm256_cvtps_pd(_mm256_extractf128_ps(lanes, 1)));
    }
    FASTTREE_AVX2 static double sum_of_8(__m256i lanes) {
        __m128i sums =
            _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
        sums = _mm_add_epi32(sums, _mm_srli_si128(sums, 8));
        sums = _mm_add_epi32(sums, _mm_srli_si128(sums, 4));
        return _mm_cvtsi128_si32(sums);
    }
    static uint32_t bits_of(float x) {
        uint32_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        return bits;
    }
};

// Whether a position within the block may beat the bar, whatever the order of its rows. The bar is
// concave in the weight on the left, so that it is lowest at an end.
inline bool may_beat_among(const RoughBar& bar, const RoughPosition& at, const RoughBlock& block) {
    const double highest = at.sum + 0.5 * (block.magnitude + block.sum);
    const double lowest = at.sum - 0.5 * (block.magnitude - block.sum);
    const double most = std::max(std::fabs(highest), std::fabs(lowest)) + bar.slack;
    const double least = std::min(bar.least(at.weight + block.first_weight),
                                  bar.least(at.weight + block.weight));
    return !(most * most <= least);
}

// How many of the block's rows are to the left of the first boundary that may beat the bar, or 0.
template <bool weighted>
FASTTREE_AVX2 inline uint32_t first_beating(const RoughBar& bar, const RoughPosition& at,
                                            const RoughBlock& block, const uint32_t* entries,
                                            uint32_t n) {
    const __m256d total = _mm256_set1_pd(bar.weight), factor = _mm256_set1_pd(bar.factor);
    __m256d sum = _mm256_set1_pd(at.sum), n_left = _mm256_set1_pd(at.weight);
    for (uint32_t i = 0; i < n; i += 4) {
        __m128i bits = _mm_load_si128(reinterpret_cast<const __m128i*>(block.terms + i));
        __m256d weight = _mm256_add_pd(n_left, _mm256_setr_pd(1, 2, 3, 4));
        if constexpr (weighted) {
            const __m128i mask = _mm_set1_epi32(RoughTerms::WEIGHT);
            weight = _mm256_add_pd(
                n_left, _mm256_cvtepi32_pd(prefix_sums_4(_mm_and_si128(bits, mask))));
            bits = _mm_andnot_si128(mask, bits);
        }
        sum = _mm256_add_pd(sum, prefix_sums_4(_mm256_cvtps_pd(_mm_castsi128_ps(bits))));
        const __m256d most = _mm256_add_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), sum),
                                           _mm256_set1_pd(bar.slack));
        const __m256d least = _mm256_mul_pd(
            factor, _mm256_mul_pd(weight, _mm256_sub_pd(total, weight)));
        const uint32_t is_worse = static_cast<uint32_t>(_mm256_movemask_pd(
            _mm256_cmp_pd(_mm256_mul_pd(most, most), least, _CMP_LE_OQ)));
        if (is_worse != 0xf) {
            for (uint32_t lane = 0; lane < 4 && i + lane < n; ++lane) {
                if ((is_worse >> lane & 1) == 0 && (entries[i + lane + 1] & BOUNDARY)) {
                    return i + lane + 1;
                }
            }
        }
        sum = _mm256_permute4x64_pd(sum, 0xff);
        n_left = _mm256_permute4x64_pd(weight, 0xff);
    }
    return 0;
}

// The accumulator is left where it was if no position is found.
template <class Weights>
FASTTREE_AVX2 inline uint32_t advance_rough(SquaredError<Weights, true>& acc,
                                            const uint32_t* entries, uint32_t p, uint32_t last,
                                            double best) {
    constexpr bool weighted = Weights::weighted;
    acc.rough.make(acc.t, acc.w, acc.total1, acc.w_total, acc.mean_sum);
    const float* terms = acc.rough.terms();
    const double w = to_double(acc.w_total);
    const RoughBar bar{acc.rough.slack(), w, best * SCREEN / (w * w)};
    RoughPosition at{to_double(acc.left1 - acc.mean_sum * acc.w_left), to_double(acc.w_left)};
    RoughBlock block;
    const uint32_t from = p;
    while (p < last) {
        const uint32_t n = std::min(last - p, RoughBlock::ROWS);
        block.read<weighted>(terms, entries + p, n);
        if (may_beat_among(bar, at, block)) {
            const uint32_t n_left = first_beating<weighted>(bar, at, block, entries + p, n);
            if (n_left > 0) {
                for (uint32_t i = from; i < p + n_left; ++i) acc.add(entries[i] & ROW);
                return p + n_left;
            }
        }
        at.sum += block.sum;
        at.weight += block.weight;
        p += n;
    }
    return last + 1;
}

#endif

}  // namespace fasttree
