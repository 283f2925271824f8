// The search of a block's node in all features at once: squared error of one output, without
// weights or with small ones.
//
// The score of a candidate rests on D (core/impurity.hpp). D is a sum over the rows on the left,
// that of the terms w y_i - S w_i, where w and S are the node's weight and sum. The terms are
// computed once per node, modulo 2**64, so that each D is exact if it fits 64 bits; `open` bounds
// it. Then scores are the accumulator's, bit for bit.
//
// Few rows: all ways to part them are scored, whatever the features, and from the best way on it is
// asked which feature parts them so. More rows: the candidates of each feature by prefix sums of
// the terms, 8 at a time; each lane keeps its best, without a branch on the data. Ties go to the
// lowest feature, then to the lowest threshold.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/order/block.hpp"
#include "engine/order/block_ranks.hpp"
#include "engine/scan/block_best.hpp"
#include "engine/scan/block_search_avx2.hpp"
#include "engine/score/regression.hpp"
#include "engine/score/screens.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// By default there is none: features are scanned one by one.
template <class Acc>
struct BlockSearch {
    static constexpr bool exists = false;
};

#if FASTTREE_X86

// Bytes added up from the first to each; no sum exceeds 255.
FASTTREE_AVX512 inline __m512i prefix_sums_of_bytes(__m512i bytes) {
    const __m512i ones = _mm512_set1_epi8(1);
    const __m512i within = _mm512_mullo_epi64(bytes, ones);  // each eight
    const __m512i before = _mm512_alignr_epi64(prefix_sums(_mm512_srli_epi64(within, 56)),
                                               _mm512_setzero_si512(), 7);
    return _mm512_add_epi8(within, _mm512_mullo_epi64(before, ones));
}

template <class Weights>
class BlockSearch<SquaredError<Weights, true>> {
    static constexpr uint32_t LANES = 8;
    static constexpr bool weighted = Weights::weighted;

    BlockRanks ranks_;
    Simd simd_ = SIMD_PORTABLE;
    bool fits_ = false, is_ranked_ = false;
    int64_t sums_[BLOCK_ROWS];      // by place
    uint8_t weights_[BLOCK_ROWS];   // by place

    // The node being searched.
    uint32_t n_;
    int64_t weight_;
    uint8_t places_[BLOCK_ROWS];  // of its rows
    int64_t terms_[BLOCK_ROWS];   // of its rows

public:
    static constexpr bool exists = true;

    void open(const Block& block, const Targets& t) {
        is_ranked_ = false;
        const uint32_t n = block.size();
        const Weights w(t);
        int64_t sum = 0, weight = 0;
        for (uint32_t i = 0; i < n; ++i) {
            sums_[i] = t.sums[block.rows[i]];
            weights_[i] = static_cast<uint8_t>(w[block.rows[i]]);
            sum += sums_[i];
            weight += w[block.rows[i]];
        }
        simd_ = t.simd;
        fits_ = simd_ >= SIMD_AVX2 && !t.has_negative_weights && weight <= 255;
        if (!fits_) return;
        ranks_.reserve(block.n_features());
        // D is the same about the mean, where it is at most the product of these.
        const int64_t mean = sum / weight;
        double deviation = 0.0;
        for (uint32_t i = 0; i < n; ++i) {
            deviation += std::fabs(to_double(sums_[i] - mean * weights_[i]));
        }
        constexpr double MOST = 4611686018427387904.0;  // 2**62
        fits_ = (deviation + to_double(weight)) * to_double(weight) < MOST;
    }
    // Whether nodes of the block can be searched here: features `is_constant` names are constant in
    // the block, and no other holds missing values or categories.
    template <class IsConstant>
    bool takes(Block& block, const IsConstant& is_constant) {
        if (is_ranked_ || !fits_) return fits_;
        is_ranked_ = true;
        ranks_.clear(block.size());
        for (uint32_t f = 0; f < block.n_features() && fits_; ++f) {
            if (!is_constant(f)) fits_ = rank(block, f);
        }
        return fits_;
    }
    BlockTotals totals(uint64_t members) const {
        BlockTotals out;
        for (; members != 0; members &= members - 1) {
            const int place = lowest_bit(members);
            out.sum += sums_[place];
            out.weight += weights_[place];
        }
        return out;
    }
    // False if all features are constant in the node, whose totals are given.
    bool find(Block& block, uint64_t members, const BlockTotals& totals, BlockBest& best) {
        best.feature = NO_FEATURE;
        if (simd_ == SIMD_AVX512) find_avx512(block, members, totals, best);
        else NodeSearchAvx2<weighted>(ranks_, sums_, weights_, members, totals).find(best);
        return best.feature != NO_FEATURE;
    }
    // What a candidate that was found does with the members.
    BlockSides sides(Block& block, uint64_t members, const BlockBest& best) const {
        if (simd_ != SIMD_AVX512) return ranks_.sides(best.feature, best.below, members);
        const uint8_t* places = block.pick(best.feature, members).places;
        return {bits_at_avx512(places, best.n_left), places[best.n_left - 1], places[best.n_left]};
    }

private:
    // False if a value is not a number. Of the scan with AVX-512 there are orders anyway.
    bool rank(Block& block, uint32_t feature) {
        if (simd_ != SIMD_AVX512) {
            return block.make_ranks(feature, ranks_.of(feature), ranks_.pitch());
        }
        const BlockOrder& order = block.order(feature);
        ranks_.put(feature, order, block.size());
        return order.n_missing == 0;
    }

    FASTTREE_AVX512 void find_avx512(Block& block, uint64_t members, const BlockTotals& totals,
                                     BlockBest& best) {
        begin_node(members, totals);
        if (n_ == 2) part_two(best);
        else if (n_ <= FEW_ROWS) part(best);
        else if (n_ <= 8) scan<1>(block, members, best);
        else if (n_ <= 16) scan<2>(block, members, best);
        else if (n_ <= 32) scan<4>(block, members, best);
        else scan<8>(block, members, best);
    }
    FASTTREE_AVX512 void begin_node(uint64_t members, const BlockTotals& totals) {
        n_ = static_cast<uint32_t>(__builtin_popcountll(members));
        weight_ = totals.weight;
        _mm512_storeu_si512(places_, _mm512_maskz_compress_epi8(members, all_places()));
        for (uint32_t i = 0; i < n_; ++i) {
            const uint64_t own = static_cast<uint64_t>(sums_[places_[i]]) * weight_;
            const uint64_t share = static_cast<uint64_t>(totals.sum) * weights_[places_[i]];
            terms_[i] = static_cast<int64_t>(own - share);
        }
    }

    // Scores of candidates by D and the weights on the left.
    FASTTREE_AVX512 __m512d scores(__m512i differences, __m512d w_left) const {
        const __m512d d = _mm512_cvtepi64_pd(differences);
        const __m512d w_right = _mm512_sub_pd(_mm512_set1_pd(to_double(weight_)), w_left);
        return _mm512_div_pd(_mm512_mul_pd(d, d), _mm512_mul_pd(w_left, w_right));
    }

    // ---- few rows

    // There is one way to part them.
    FASTTREE_AVX512 void part_two(BlockBest& best) const {
        best.feature = ranks_.separating(places_, 2, 1).feature;
        best.score = score_of(terms_[0], weights_[places_[0]], weight_);
        best.n_left = 1;
    }

    // Bit i of a way to part the rows: row i is in the first set. The last row is not.
    FASTTREE_AVX512 void part(BlockBest& best) const {
        constexpr uint32_t VECTORS = (1u << (FEW_ROWS - 1)) / LANES;
        constexpr uint8_t IN_LANE[] = {0xaa, 0xcc, 0xf0};  // lanes that have the row, by bit
        __m512d scored[VECTORS];
        const uint32_t n_ways = 1u << (n_ - 1);
        for (uint32_t first = 0; first < n_ways; first += LANES) {
            __m512i d = _mm512_setzero_si512(), w_left = d;
            for (uint32_t i = 0; i + 1 < n_; ++i) {
                const uint32_t is_in_all = first >> i & 1;
                const __mmask8 in = i < 3 ? IN_LANE[i] : static_cast<__mmask8>(0 - is_in_all);
                d = _mm512_mask_add_epi64(d, in, d, _mm512_set1_epi64(terms_[i]));
                w_left = _mm512_mask_add_epi64(w_left, in, w_left,
                                               _mm512_set1_epi64(weights_[places_[i]]));
            }
            scored[first / LANES] = scores(d, _mm512_cvtepi64_pd(w_left));
        }
        uint32_t ways = static_cast<uint32_t>(low_bits(n_ways)) & ~1u;  // not tried yet
        while (ways != 0 && best.feature == NO_FEATURE) {
            best.score = MINUS_INFINITY;
            for (uint32_t v = 0; v * LANES < n_ways; ++v) {
                best.score = std::max(best.score, _mm512_mask_reduce_max_pd(
                    static_cast<__mmask8>(ways >> v * LANES), scored[v]));
            }
            uint32_t ties = 0;
            for (uint32_t v = 0; v * LANES < n_ways; ++v) {
                const uint32_t equal = _mm512_cmp_pd_mask(scored[v], _mm512_set1_pd(best.score),
                                                          _CMP_EQ_OQ);
                ties |= equal << v * LANES;
            }
            ties &= ways;
            ways &= ~ties;
            for (; ties != 0; ties &= ties - 1) {
                const uint64_t way = static_cast<uint64_t>(lowest_bit(ties));
                take_way(ranks_.separating(places_, n_, way), way, n_, best);
            }
        }
    }

    // ---- more rows

    // What each lane has found best so far: score, feature and position of the first lane.
    struct BestOfLanes {
        __m512d score;
        __m512i candidate;
    };

    // In vectors of LANES rows.
    template <uint32_t VECTORS>
    FASTTREE_AVX512 void scan(Block& block, uint64_t members, BlockBest& best) const {
        __m512i terms[VECTORS];
        for (uint32_t v = 0; v < VECTORS; ++v) terms[v] = _mm512_loadu_si512(terms_ + v * LANES);
        const __m512i row_at = _mm512_maskz_expand_epi8(members, all_places());
        BestOfLanes found{_mm512_set1_pd(MINUS_INFINITY), _mm512_setzero_si512()};
        for (uint32_t first = 0; first < ranks_.n_features(); first += BlockRanks::FEATURES) {
            uint64_t varying = ranks_.varying(places_, n_, first);
            for (; varying != 0; varying &= varying - 1) {
                const uint32_t feature = first + static_cast<uint32_t>(lowest_bit(varying));
                scan_feature<VECTORS>(block.pick(feature, members), feature, row_at, terms, found);
            }
        }
        best.score = _mm512_reduce_max_pd(found.score);
        if (best.score == MINUS_INFINITY) return;
        const __mmask8 ties =
            _mm512_cmp_pd_mask(found.score, _mm512_set1_pd(best.score), _CMP_EQ_OQ);
        const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        const uint64_t first_of_best =
            _mm512_mask_reduce_min_epu64(ties, _mm512_add_epi64(found.candidate, lane));
        best.feature = static_cast<uint32_t>(first_of_best >> 32);
        best.n_left = static_cast<uint32_t>(first_of_best);
    }
    template <uint32_t VECTORS>
    FASTTREE_AVX512 void scan_feature(const BlockRuns& runs, uint32_t feature, __m512i row_at,
                                      const __m512i* terms, BestOfLanes& found) const {
        const __m512i zero = _mm512_setzero_si512(), last_lane = _mm512_set1_epi64(7);
        const __m512i places = _mm512_loadu_si512(runs.places);
        __m512i rows = _mm512_permutexvar_epi8(places, row_at), d = zero, w_left = zero;
        if constexpr (weighted) {
            const __m512i weights = _mm512_maskz_permutexvar_epi8(
                low_bits(n_), places, _mm512_loadu_si512(weights_));
            w_left = prefix_sums_of_bytes(weights);
        }
        uint64_t candidates = runs.boundaries >> 1;
        for (uint32_t p = 0; p < n_; p += LANES, candidates >>= LANES) {
            const __mmask8 lanes = static_cast<__mmask8>(low_bits(std::min(n_ - p, LANES)));
            const __m512i row = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(rows));
            d = _mm512_add_epi64(
                d, prefix_sums(_mm512_maskz_mov_epi64(lanes, look_up<VECTORS>(terms, row))));
            const __m512d weight = weighted
                ? _mm512_cvtepi64_pd(_mm512_cvtepu8_epi64(_mm512_castsi512_si128(w_left)))
                : counts_from(p + 1);
            const __m512d score = scores(d, weight);
            const __mmask8 better = _mm512_mask_cmp_pd_mask(static_cast<__mmask8>(candidates),
                                                            score, found.score, _CMP_GT_OQ);
            const uint64_t candidate = uint64_t{feature} << 32 | (p + 1);
            found.score = _mm512_mask_mov_pd(found.score, better, score);
            found.candidate =
                _mm512_mask_set1_epi64(found.candidate, better, static_cast<int64_t>(candidate));
            d = _mm512_permutexvar_epi64(last_lane, d);
            rows = _mm512_alignr_epi64(rows, rows, 1);
            if constexpr (weighted) w_left = _mm512_alignr_epi64(w_left, w_left, 1);
        }
    }
    // table[row] of each row.
    template <uint32_t VECTORS>
    FASTTREE_AVX512 static __m512i look_up(const __m512i* table, __m512i row) {
        if constexpr (VECTORS == 1) {
            return _mm512_permutexvar_epi64(row, table[0]);
        } else if constexpr (VECTORS == 2) {
            return _mm512_permutex2var_epi64(table[0], row, table[1]);
        } else {
            constexpr uint32_t HALF = VECTORS / 2;
            const __mmask8 is_high =
                _mm512_test_epi64_mask(row, _mm512_set1_epi64(HALF * LANES));
            return _mm512_mask_mov_epi64(look_up<HALF>(table, row), is_high,
                                         look_up<HALF>(table + HALF, row));
        }
    }

    FASTTREE_AVX512 static __m512i all_places() {
        return _mm512_set_epi64(
            0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
            0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
    }
};

#endif

}  // namespace fasttree
