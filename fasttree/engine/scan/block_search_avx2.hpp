// The search of `block_search.hpp` with AVX2: of few rows in vectors of 4 ways to part them.
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
    const int64_t weight_;
    uint32_t n_ = 0;
    uint8_t places_[BLOCK_ROWS];
    int64_t terms_[BLOCK_ROWS];  // by place, of the node's rows

public:
    NodeSearchAvx2(const BlockRanks& ranks, const int64_t* sums, const uint8_t* weights,
                   uint64_t members, const BlockTotals& totals)
        : ranks_(ranks), weights_(weights), weight_(totals.weight) {
        for (; members != 0; members &= members - 1) {
            const int place = lowest_bit(members);
            const uint64_t own = static_cast<uint64_t>(sums[place]) * totals.weight;
            const uint64_t share = static_cast<uint64_t>(totals.sum) * weights[place];
            places_[n_++] = static_cast<uint8_t>(place);
            terms_[place] = static_cast<int64_t>(own - share);
        }
    }

    FASTTREE_AVX2 void find(BlockBest& best) const {
        if (n_ == 2) part_two(best);
        else if (n_ <= FEW_ROWS) part(best);
        else if (n_ <= 8) search_lanes<8>(best);
        else if (n_ <= 16) search_lanes<16>(best);
        else if (n_ <= 32) search_lanes<32>(best);
        else search_lanes<64>(best);
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

    // There is one way to part them.
    FASTTREE_AVX2 void part_two(BlockBest& best) const {
        const SeparatingFeature found = ranks_.separating_avx2(places_, n_, 1);
        best.feature = found.feature;
        best.score = score_of(terms_[places_[0]], weights_[places_[0]], weight_);
        best.n_left = 1;
        best.below = places_[found.is_below ? 0 : 1];
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
                const SeparatingFeature found = ranks_.separating_avx2(places_, n_, way);
                if (!take_way(found, way, n_, best)) continue;
                best.below = ranks_.highest(found.feature, places_, n_,
                                            found.is_below ? way : ~way);
            }
        }
    }
};

#endif

}  // namespace fasttree
