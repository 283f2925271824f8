// The search of `block_search.hpp` in vectors of 4 candidates.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/order/block.hpp"
#include "engine/order/block_ranks.hpp"
#include "engine/scan/block_best.hpp"
#include "engine/scan/block_lanes_avx2.hpp"
#include "engine/simd/avx2.hpp"

namespace fasttree {

#if FASTTREE_X86

// One node, of sums and weights by place.
template <bool weighted>
class NodeSearchAvx2 {
    static constexpr uint32_t LANES = 4;

    const BlockRanks& ranks_;
    const uint8_t* const weights_;
    uint32_t n_ = 0;
    int64_t weight_ = 0;
    uint8_t places_[BLOCK_ROWS];
    int64_t terms_[BLOCK_ROWS];  // by place, of the node's rows

    struct BestOfLanes {
        __m256d score;
        __m256i candidate;
    };

public:
    NodeSearchAvx2(const BlockRanks& ranks, const int64_t* sums, const uint8_t* weights,
                   uint64_t members)
        : ranks_(ranks), weights_(weights) {
        int64_t sum = 0;
        for (uint64_t rest = members; rest != 0; rest &= rest - 1) {
            const int place = lowest_bit(rest);
            places_[n_++] = static_cast<uint8_t>(place);
            sum += sums[place];
            weight_ += weights[place];
        }
        for (uint32_t i = 0; i < n_; ++i) {
            const uint8_t place = places_[i];
            const uint64_t own = static_cast<uint64_t>(sums[place]) * weight_;
            const uint64_t share = static_cast<uint64_t>(sum) * weights[place];
            terms_[place] = static_cast<int64_t>(own - share);
        }
    }

    FASTTREE_AVX2 void find(Block& block, uint64_t members, BlockBest& best) const {
        if (n_ <= FEW_ROWS) part(best);
        else if (n_ <= 8) search_lanes<8>(best);
        else if (n_ <= 16) search_lanes<16>(best);
        else if (n_ <= 32) search_lanes<32>(best);
        else scan(block, members, best);
    }

private:
    template <uint32_t N>
    FASTTREE_AVX2 void search_lanes(BlockBest& best) const {
        LaneSearchAvx2<weighted, N>(ranks_, places_, n_, terms_, weights_, weight_).find(best);
    }

    FASTTREE_AVX2 __m256d scores(__m256i differences, __m256d w_left) const {
        const __m256d d = to_doubles_4(differences);
        const __m256d w_right =
            _mm256_sub_pd(_mm256_set1_pd(static_cast<double>(weight_)), w_left);
        return _mm256_div_pd(_mm256_mul_pd(d, d), _mm256_mul_pd(w_left, w_right));
    }

    // Bit i of a way to part the rows: row i is in the first set. The last row is not.
    FASTTREE_AVX2 void part(BlockBest& best) const {
        alignas(32) double scored[1u << (FEW_ROWS - 1)];
        const uint32_t n_ways = 1u << (n_ - 1);
        for (uint32_t first = 0; first < n_ways; first += LANES) {
            __m256i d = _mm256_setzero_si256(), w_left = d;
            for (uint32_t i = 0; i + 1 < n_; ++i) {
                const __m256i in = i == 0   ? _mm256_setr_epi64x(0, -1, 0, -1)
                                   : i == 1 ? _mm256_setr_epi64x(0, 0, -1, -1)
                                            : _mm256_set1_epi64x(-int64_t{first >> i & 1});
                const uint8_t place = places_[i];
                d = _mm256_add_epi64(d, _mm256_and_si256(in, _mm256_set1_epi64x(terms_[place])));
                w_left = _mm256_add_epi64(
                    w_left, _mm256_and_si256(in, _mm256_set1_epi64x(weights_[place])));
            }
            _mm256_store_pd(scored + first, scores(d, to_doubles_4(w_left)));
        }
        uint32_t ways = static_cast<uint32_t>(low_bits(n_ways)) & ~1u;  // not tried yet
        while (ways != 0 && best.feature == NO_FEATURE) {
            best.score = MINUS_INFINITY;
            uint32_t ties = 0;
            for (uint32_t rest = ways; rest != 0; rest &= rest - 1) {
                const int way = lowest_bit(rest);
                if (scored[way] > best.score) ties = 0;
                if (scored[way] >= best.score) ties |= 1u << way;
                best.score = std::max(best.score, scored[way]);
            }
            ways &= ~ties;
            for (; ties != 0; ties &= ties - 1) {
                const uint64_t way = static_cast<uint64_t>(lowest_bit(ties));
                take_way(ranks_.separating_avx2(places_, n_, way), way, n_, best);
            }
        }
    }

    FASTTREE_AVX2 void scan(Block& block, uint64_t members, BlockBest& best) const {
        BestOfLanes found{_mm256_set1_pd(MINUS_INFINITY), _mm256_setzero_si256()};
        for (uint32_t first = 0; first < ranks_.n_features(); first += BlockRanks::FEATURES) {
            uint64_t varying = ranks_.varying_avx2(places_, n_, first);
            for (; varying != 0; varying &= varying - 1) {
                const uint32_t feature = first + static_cast<uint32_t>(lowest_bit(varying));
                scan_feature(block.pick(feature, members), feature, found);
            }
        }
        alignas(32) double score[LANES];
        alignas(32) uint64_t candidate[LANES];
        _mm256_store_pd(score, found.score);
        _mm256_store_si256(reinterpret_cast<__m256i*>(candidate), found.candidate);
        best.score = *std::max_element(score, score + LANES);
        if (best.score == MINUS_INFINITY) return;
        uint64_t first_of_best = ~uint64_t{0};
        for (uint32_t i = 0; i < LANES; ++i) {
            if (score[i] == best.score) first_of_best = std::min(first_of_best, candidate[i] + i);
        }
        best.feature = static_cast<uint32_t>(first_of_best >> 32);
        best.n_left = static_cast<uint32_t>(first_of_best);
    }
    FASTTREE_AVX2 void scan_feature(const BlockRuns& runs, uint32_t feature,
                                    BestOfLanes& found) const {
        const uint8_t* places = runs.places;
        const __m256i bit_of_lane = _mm256_setr_epi64x(1, 2, 4, 8);
        __m256i before = _mm256_setzero_si256();
        int64_t w_before = 0;
        uint64_t candidates = runs.boundaries >> 1;
        for (uint32_t p = 0; candidates != 0; p += LANES, candidates >>= LANES) {
            const __m256i d = _mm256_add_epi64(before, prefix_sums_4(terms_of(places + p, n_ - p)));
            const __m256d w_left = weighted ? weights_to(places + p, n_ - p, w_before)
                                            : _mm256_add_pd(_mm256_set1_pd(p),
                                                            _mm256_setr_pd(1, 2, 3, 4));
            const __m256d score = scores(d, w_left);
            const __m256i is_candidate = _mm256_cmpeq_epi64(
                _mm256_and_si256(_mm256_set1_epi64x(static_cast<int64_t>(candidates)), bit_of_lane),
                bit_of_lane);
            const __m256d better =
                _mm256_and_pd(_mm256_castsi256_pd(is_candidate),
                              _mm256_cmp_pd(score, found.score, _CMP_GT_OQ));
            const uint64_t candidate = uint64_t{feature} << 32 | (p + 1);
            found.score = _mm256_blendv_pd(found.score, score, better);
            found.candidate = _mm256_blendv_epi8(
                found.candidate, _mm256_set1_epi64x(static_cast<int64_t>(candidate)),
                _mm256_castpd_si256(better));
            before = _mm256_permute4x64_epi64(d, 0xff);
        }
    }
    // Of the next 4 rows, or of the last n.
    FASTTREE_AVX2 __m256i terms_of(const uint8_t* places, uint32_t n) const {
        if (n >= LANES) {
            return _mm256_setr_epi64x(terms_[places[0]], terms_[places[1]], terms_[places[2]],
                                      terms_[places[3]]);
        }
        return _mm256_setr_epi64x(terms_[places[0]], n > 1 ? terms_[places[1]] : 0,
                                  n > 2 ? terms_[places[2]] : 0, 0);
    }
    FASTTREE_AVX2 __m256d weights_to(const uint8_t* places, uint32_t n, int64_t& before) const {
        double sums[LANES] = {};
        for (uint32_t i = 0; i < std::min(n, LANES); ++i) {
            before += weights_[places[i]];
            sums[i] = static_cast<double>(before);
        }
        return _mm256_loadu_pd(sums);
    }
};

#endif

}  // namespace fasttree
