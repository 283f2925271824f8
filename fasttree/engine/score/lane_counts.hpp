// What goes left in each lane of `LaneDraws`, of the targets of a node in the order of its rows.
//     begin      a node that the accumulator holds
//     count      counts some of them, whose lanes on the left are given
//     end        after all of them
//     place      gives a lane's left child to the accumulator, for its score alone
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/score/binary_gini.hpp"
#include "engine/score/classification.hpp"
#include "engine/score/regression.hpp"
#include "engine/simd/lane_draws.hpp"

namespace fasttree {

// By default there are none, and features are looked at one by one.
template <class Acc>
struct LaneCounts {
    static constexpr bool exists = false;
};

#if FASTTREE_X86
template <>
struct LaneCounts<BinaryGini<UnitWeights>> {
    using Acc = BinaryGini<UnitWeights>;
    static constexpr bool exists = true;
    int32_t ones[LANES];

    void begin(const Acc&) { std::fill_n(ones, LANES, 0); }
    FASTTREE_AVX512 void count(const uint8_t* classes, uint32_t n, const uint16_t* left) {
        const __m512i one = _mm512_set1_epi32(1);
        __m512i sum = _mm512_loadu_si512(ones);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t own = classes[i] ? left[i] : 0;
            sum = _mm512_mask_add_epi32(sum, static_cast<__mmask16>(own), sum, one);
        }
        _mm512_storeu_si512(ones, sum);
    }
    void end() {}
    void place(Acc& acc, uint32_t lane) const { acc.left = ones[lane]; }
};

// Class by class: a node of few rows holds few classes.
template <>
struct LaneCounts<Gini<UnitWeights, uint8_t, true>> {
    using Acc = Gini<UnitWeights, uint8_t, true>;
    static constexpr bool exists = true;
    std::vector<int32_t> counts;       // [class of the node, lane] on the left
    std::vector<int32_t> totals;       // of the node's classes
    uint8_t number[256];               // of a class among those of the node
    int64_t squares_left[LANES], squares_right[LANES];

    void begin(const Acc& acc) {
        totals.clear();
        for (int c = 0; c < acc.stride; ++c) {
            number[c] = static_cast<uint8_t>(totals.size());
            if (acc.total[c] != 0) totals.push_back(static_cast<int32_t>(acc.total[c]));
        }
        counts.assign(totals.size() * LANES, 0);
    }
    FASTTREE_AVX512 void count(const uint8_t* classes, uint32_t n, const uint16_t* left) {
        const __m512i one = _mm512_set1_epi32(1);
        for (uint32_t i = 0; i < n; ++i) {
            int32_t* own = &counts[size_t{number[classes[i]]} * LANES];
            const __m512i l = _mm512_loadu_si512(own);
            _mm512_storeu_si512(own, _mm512_mask_add_epi32(l, left[i], l, one));
        }
    }
    FASTTREE_AVX512 void end() {
        __m512i l_low = _mm512_setzero_si512(), l_high = l_low, r_low = l_low, r_high = l_low;
        for (size_t k = 0; k < totals.size(); ++k) {
            const __m512i l = _mm512_loadu_si512(&counts[k * LANES]);
            const __m512i r = _mm512_sub_epi32(_mm512_set1_epi32(totals[k]), l);
            const __m512i l_odd = _mm512_srli_epi64(l, 32), r_odd = _mm512_srli_epi64(r, 32);
            l_low = _mm512_add_epi64(l_low, _mm512_mul_epu32(l, l));
            r_low = _mm512_add_epi64(r_low, _mm512_mul_epu32(r, r));
            l_high = _mm512_add_epi64(l_high, _mm512_mul_epu32(l_odd, l_odd));
            r_high = _mm512_add_epi64(r_high, _mm512_mul_epu32(r_odd, r_odd));
        }
        interleave(l_low, l_high, squares_left);
        interleave(r_low, r_high, squares_right);
    }
    void place(Acc& acc, uint32_t lane) const {
        acc.squares_left = squares_left[lane];
        acc.squares_right = squares_right[lane];
    }

private:
    FASTTREE_AVX512 static void interleave(__m512i even, __m512i odd, int64_t* out) {
        int64_t parts[2][LANES / 2];
        _mm512_storeu_si512(parts[0], even);
        _mm512_storeu_si512(parts[1], odd);
        for (uint32_t i = 0; i < LANES; ++i) out[i] = parts[i % 2][i / 2];
    }
};

template <>
struct LaneCounts<SquaredError<UnitWeights, true>> {
    using Acc = SquaredError<UnitWeights, true>;
    static constexpr bool exists = true;
    int64_t sums[LANES];

    void begin(const Acc&) { std::fill_n(sums, LANES, 0); }
    FASTTREE_AVX512 void count(const int64_t* targets, uint32_t n, const uint16_t* left) {
        __m512i low = _mm512_loadu_si512(sums), high = _mm512_loadu_si512(sums + 8);
        for (uint32_t i = 0; i < n; ++i) {
            const __m512i target = _mm512_set1_epi64(targets[i]);
            low = _mm512_mask_add_epi64(low, static_cast<__mmask8>(left[i]), low, target);
            high = _mm512_mask_add_epi64(high, static_cast<__mmask8>(left[i] >> 8), high, target);
        }
        _mm512_storeu_si512(sums, low);
        _mm512_storeu_si512(sums + 8, high);
    }
    void end() {}
    void place(Acc& acc, uint32_t lane) const { acc.left1 = sums[lane]; }
};
#endif

}  // namespace fasttree
