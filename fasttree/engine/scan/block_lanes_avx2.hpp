// The search of `block_search.hpp` in nodes of up to 64 rows, 16 features at once: a lane each.
//
// The rows are sorted in all lanes by a network. Then sums of terms are added up along the
// positions in single precision, which tells which candidates may be the best; their scores are
// computed from the exact terms. There are hardly more of them than ties.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/order/block_ranks.hpp"
#include "engine/scan/block_best.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/sorting_network.hpp"

namespace fasttree {

#if FASTTREE_X86

// One node, of N rows at most, 8, 16, 32 or 64: what its i-th row adds to D, and its weight.
template <bool weighted, uint32_t N>
class LaneSearchAvx2 {
    static constexpr uint32_t FEATURES = BlockRanks::SOME, HALF = FEATURES / 2;
    static constexpr uint32_t ROW_BITS = 6, ROW_MASK = (1u << ROW_BITS) - 1;

    const BlockRanks& ranks_;
    const uint8_t* const places_;
    const uint32_t n_;
    const int64_t weight_;
    double slack_;  // of the root of a rough score
    float most_ = -1.0f;  // of all rough scores
    int64_t terms_[N];
    alignas(16) uint8_t weights_[std::max(N, 16u)] = {};
    alignas(32) float rough_terms_[N] = {};
    alignas(32) float shares_[N];                // 1 / (w_L w_R), by position, without weights
    alignas(32) uint16_t keys_[N][FEATURES];     // rank and row, ascending
    alignas(32) float scores_[N][FEATURES];      // rough; negative: no candidate

public:
    // Terms and weights are those of the places.
    LaneSearchAvx2(const BlockRanks& ranks, const uint8_t* places, uint32_t n,
                   const int64_t* terms, const uint8_t* weights, int64_t weight)
        : ranks_(ranks), places_(places), n_(n), weight_(weight) {
        double magnitude = 0.0;
        for (uint32_t i = 0; i < n; ++i) {
            terms_[i] = terms[places[i]];
            weights_[i] = weights[places[i]];
            rough_terms_[i] = static_cast<float>(terms_[i]);
            magnitude += std::fabs(rough_terms_[i]);
        }
        const float w = static_cast<float>(weight);
        for (uint32_t p = 1; p < n; ++p) {
            const float w_left = static_cast<float>(p);
            if (!weighted) shares_[p] = 1.0f / (w_left * (w - w_left));
        }
        // A sum of 64 terms loses less than a part of 2**17 of them; w_L w_R is at least w - 1.
        slack_ = magnitude / (1 << 17) / std::sqrt(static_cast<double>(weight - 1));
    }

    FASTTREE_AVX2 void find(BlockBest& best) {
        best.score = -1.0;
        for (uint32_t first = 0; first < ranks_.n_features(); first += FEATURES) {
            sort(first);
            const uint32_t n_features = ranks_.n_features() - first;
            const float low = scan(0), high = n_features > HALF ? scan(HALF) : -1.0f;
            most_ = std::max({most_, low, high});
            const float bar = least();
            if (low >= bar) take(first, 0, bar, best);
            if (high >= bar) take(first, HALF, bar, best);
        }
    }

private:
    FASTTREE_AVX2 void sort(uint32_t first) {
        __m256i keys[N];
        for (uint32_t i = 0; i < N; ++i) keys[i] = _mm256_set1_epi16(-1);
        for (uint32_t i = 0; i < n_; ++i) {
            keys[i] = _mm256_or_si256(
                _mm256_slli_epi16(_mm256_cvtepu8_epi16(ranks_.some(places_[i], first)), ROW_BITS),
                _mm256_set1_epi16(static_cast<int16_t>(i)));
        }
        sort_lanes<N>(keys);
        for (uint32_t i = 0; i < N; ++i) {
            _mm256_store_si256(reinterpret_cast<__m256i*>(keys_[i]), keys[i]);
        }
    }

    FASTTREE_AVX2 __m128i half_keys(uint32_t p, uint32_t lane) const {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(keys_[p] + lane));
    }
    // Rough scores of the candidates of half of the features; returns the best.
    FASTTREE_AVX2 float scan(uint32_t lane) {
        const __m128i row_mask = _mm_set1_epi16(ROW_MASK);
        const __m256 none = _mm256_set1_ps(-1.0f);
        __m256 sum = _mm256_setzero_ps(), most = none;
        __m128i w_left = _mm_setzero_si128();
        __m128i key = half_keys(0, lane);
        for (uint32_t p = 1; p < n_; ++p) {
            const __m128i next = half_keys(p, lane), row = _mm_and_si128(key, row_mask);
            const __m256i is_candidate = _mm256_cvtepi16_epi32(
                _mm_cmpgt_epi16(_mm_xor_si128(key, next), row_mask));
            sum = _mm256_add_ps(sum, terms_of(_mm256_cvtepu16_epi32(row)));
            const __m256 squares = _mm256_mul_ps(sum, sum);
            __m256 score;
            if constexpr (weighted) {
                w_left = _mm_add_epi16(w_left, weights_of(row));
                const __m256 left = _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(w_left));
                const __m256 right =
                    _mm256_sub_ps(_mm256_set1_ps(static_cast<float>(weight_)), left);
                score = _mm256_div_ps(squares, _mm256_mul_ps(left, right));
            } else {
                score = _mm256_mul_ps(squares, _mm256_set1_ps(shares_[p]));
            }
            score = _mm256_blendv_ps(none, score, _mm256_castsi256_ps(is_candidate));
            _mm256_store_ps(scores_[p] + lane, score);
            most = _mm256_max_ps(most, score);
            key = next;
        }
        const __m128 half =
            _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
        const __m128 two = _mm_max_ps(half, _mm_movehl_ps(half, half));
        return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
    }
    FASTTREE_AVX2 __m256 terms_of(__m256i row) const { return look_up<N>(rough_terms_, row); }
    template <uint32_t SIZE>
    FASTTREE_AVX2 static __m256 look_up(const float* table, __m256i row) {
        if constexpr (SIZE == 8) {
            return _mm256_permutevar8x32_ps(_mm256_load_ps(table), row);
        } else {
            constexpr uint32_t MIDDLE = SIZE / 2;
            const __m256i is_high =
                _mm256_slli_epi32(row, 31 - lowest_bit(MIDDLE));  // in the sign
            return _mm256_blendv_ps(look_up<MIDDLE>(table, row),
                                    look_up<MIDDLE>(table + MIDDLE, row),
                                    _mm256_castsi256_ps(is_high));
        }
    }
    FASTTREE_AVX2 __m128i weights_of(__m128i row) const {
        const __m128i nothing_above = _mm_set1_epi16(static_cast<int16_t>(0x8000));
        return look_up<std::max(N, 16u)>(weights_, _mm_or_si128(row, nothing_above));
    }
    template <uint32_t SIZE>
    FASTTREE_AVX2 static __m128i look_up(const uint8_t* table, __m128i row) {
        if constexpr (SIZE == 16) {
            return _mm_shuffle_epi8(_mm_load_si128(reinterpret_cast<const __m128i*>(table)), row);
        } else {
            constexpr uint32_t MIDDLE = SIZE / 2;
            const __m128i is_high = _mm_slli_epi16(row, 7 - lowest_bit(MIDDLE));  // in the sign
            return _mm_blendv_epi8(look_up<MIDDLE>(table, row),
                                   look_up<MIDDLE>(table + MIDDLE, row), is_high);
        }
    }

    // The rough score of the best candidate is not below this, nor below 0.
    float least() const {
        constexpr double ROUNDING = 1.0 - 1.0 / (1 << 18);
        const double root = std::sqrt(std::max(most_, 0.0f)) - 2.0 * slack_;
        return root > 0.0 ? static_cast<float>(root * root * ROUNDING) : 0.0f;
    }
    // The exact scores of candidates of half of the features.
    FASTTREE_AVX2 void take(uint32_t first, uint32_t lane, float bar, BlockBest& best) const {
        for (uint32_t p = 1; p < n_; ++p) {
            const __m256 score = _mm256_load_ps(scores_[p] + lane);
            uint32_t near = static_cast<uint32_t>(
                _mm256_movemask_ps(_mm256_cmp_ps(score, _mm256_set1_ps(bar), _CMP_GE_OQ)));
            for (; near != 0; near &= near - 1) {
                take_exact(first, lane + static_cast<uint32_t>(lowest_bit(near)), p, best);
            }
        }
    }
    void take_exact(uint32_t first, uint32_t lane, uint32_t n_left, BlockBest& best) const {
        int64_t difference = 0, weight = 0;
        for (uint32_t p = 0; p < n_left; ++p) {
            const uint32_t row = keys_[p][lane] & ROW_MASK;
            difference += terms_[row];
            weight += weights_[row];
        }
        const double score = score_of(difference, weight, weight_);
        const uint32_t feature = first + lane;
        const bool is_first = feature < best.feature ||
                              (feature == best.feature && n_left < best.n_left);
        if (score < best.score || (score == best.score && !is_first)) return;
        best.score = score;
        best.feature = feature;
        best.n_left = n_left;
        best.below = places_[keys_[n_left - 1][lane] & ROW_MASK];
    }
};

#endif

}  // namespace fasttree
