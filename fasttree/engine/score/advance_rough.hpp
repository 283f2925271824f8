// `advance_to_best` of squared error with AVX2, by rough terms (`rough_terms.hpp`).
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

// What positions are to beat.
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

// The first position that may be the best of those looked at. Others behind it that may be are met
// one by one later.
struct RoughBest {
    uint32_t position = 0;
    double most = 0.0;      // what it or one of the others scores at most, over w^2
    bool exists = false;
    bool is_alone = false;  // there are no others

    // Takes a boundary if it may beat the bar, which rises to what is certain of it.
    void look(RoughBar& bar, uint32_t at, double sum, double w_left) {
        const double product = w_left * (bar.weight - w_left), size = std::fabs(sum);
        const double high = size + bar.slack, low = std::max(size - bar.slack, 0.0);
        if (high * high <= bar.factor * product) return;
        const double least = low * low / product * SCREEN;
        is_alone = !exists || most < least;
        if (is_alone) {
            position = at;
            most = 0.0;
            exists = true;
        }
        most = std::max(most, high * high / product / SCREEN);
        bar.factor = std::max(bar.factor, least * SCREEN);
    }
};

// Looks at the n positions of a block, which begins at entries[p].
template <bool weighted>
FASTTREE_AVX2 inline void look_at_block(const RoughPosition& at, const RoughBlock& block,
                                        const uint32_t* entries, uint32_t p, uint32_t n,
                                        RoughBar& bar, RoughBest& best) {
    const __m256d total = _mm256_set1_pd(bar.weight), slack = _mm256_set1_pd(bar.slack);
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
        const __m256d most = _mm256_add_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), sum), slack);
        const __m256d least = _mm256_mul_pd(
            _mm256_set1_pd(bar.factor), _mm256_mul_pd(weight, _mm256_sub_pd(total, weight)));
        const int is_worse =
            _mm256_movemask_pd(_mm256_cmp_pd(_mm256_mul_pd(most, most), least, _CMP_LE_OQ));
        if (is_worse != 0xf) {
            alignas(32) double sums[4], weights[4];
            _mm256_store_pd(sums, sum);
            _mm256_store_pd(weights, weight);
            for (uint32_t lane = 0; lane < std::min(n - i, 4u); ++lane) {
                const uint32_t next = p + i + lane + 1;
                if (entries[next] & BOUNDARY) best.look(bar, next, sums[lane], weights[lane]);
            }
        }
        sum = _mm256_permute4x64_pd(sum, 0xff);
        n_left = _mm256_permute4x64_pd(weight, 0xff);
    }
}

// As `advance_to_best`. The accumulator is left where it was if there is no such position.
template <class Weights>
FASTTREE_AVX2 inline uint32_t advance_rough(SquaredError<Weights, true>& acc,
                                            const uint32_t* entries, uint32_t p, uint32_t& last,
                                            double best) {
    constexpr bool weighted = Weights::weighted;
    acc.rough.make(acc.t, acc.w, acc.total1, acc.w_total);
    const double w = to_double(acc.w_total);
    RoughBar bar{acc.rough.slack(), w, best * SCREEN / (w * w)};
    RoughPosition at{acc.rough.about_mean(acc.left1, acc.w_left), to_double(acc.w_left)};
    RoughBest found;
    RoughBlock block;
    for (uint32_t first = p, n; first < last; first += n) {
        n = std::min(last - first, RoughBlock::ROWS);
        block.read<weighted>(acc.rough.terms(), entries + first, n);
        if (may_beat_among(bar, at, block)) {
            look_at_block<weighted>(at, block, entries, first, n, bar, found);
        }
        at.sum += block.sum;
        at.weight += block.weight;
    }
    if (!found.exists) return last + 1;
    for (; p < found.position; ++p) acc.add(entries[p] & ROW);
    if (found.is_alone) last = p;
    return p;
}

#endif

}  // namespace fasttree
