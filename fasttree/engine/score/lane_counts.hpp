// What goes left in each lane of `LaneDraws`, of the targets of a node in the order of its rows.
//     open       for an instruction set and so many features
//     begin      a node that the accumulator holds
//     count      counts some of them, whose lanes on the left are given
//     end        after all of them
//     best       those of some lanes that may have the best score of them, or share it; each has a
//                row on either side
//     place      gives a lane's left child to the accumulator, for its score alone
//     fill       the cell of a lane's left child
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/score/binary_gini.hpp"
#include "engine/score/classification.hpp"
#include "engine/score/lane_counts_avx2.hpp"
#include "engine/score/regression.hpp"
#include "engine/simd/lane_draws.hpp"

namespace fasttree {

// How lanes are read: by which instruction set, and how many of them are features.
struct LaneVectors {
    Simd simd = SIMD_PORTABLE;
    uint32_t n_lanes = 0;

    void open(Simd simd_, uint32_t n_lanes_) {
        simd = simd_;
        n_lanes = n_lanes_;
    }
};

// By default there are none, and features are looked at one by one.
template <class Acc>
struct LaneCounts : LaneVectors {
    static constexpr bool exists = false;
};

#if FASTTREE_X86
// Scores of lanes, at most and at least.
struct LaneBounds {
    double most[LANES], least[LANES];

    FASTTREE_AVX512 uint32_t best(uint32_t lanes) const {
        const __mmask8 low = static_cast<__mmask8>(lanes), high = static_cast<__mmask8>(lanes >> 8);
        const __m512d none = _mm512_set1_pd(MINUS_INFINITY);
        const __m512d top = _mm512_set1_pd(_mm512_reduce_max_pd(
            _mm512_max_pd(_mm512_mask_loadu_pd(none, low, least),
                          _mm512_mask_loadu_pd(none, high, least + 8))));
        return _mm512_mask_cmp_pd_mask(low, _mm512_loadu_pd(most), top, _CMP_GE_OQ)
               | _mm512_mask_cmp_pd_mask(high, _mm512_loadu_pd(most + 8), top, _CMP_GE_OQ) << 8;
    }
};
// What SCREEN leaves out of a score, on either side of it.
FASTTREE_AVX512 inline void bound_scores(__m512d scores, double* most, double* least) {
    _mm512_storeu_pd(most, _mm512_mul_pd(scores, _mm512_set1_pd(2.0 - SCREEN)));
    _mm512_storeu_pd(least, _mm512_mul_pd(scores, _mm512_set1_pd(SCREEN)));
}
// Of `separation`, whose D is rounded here: it may cancel.
FASTTREE_AVX512 inline void bound_separations(__m512d left, __m512d w_left, double total,
                                              double w_total, double* most, double* least) {
    constexpr double ROUNDING = 0x1p-50;
    const __m512d w = _mm512_set1_pd(w_total);
    const __m512d a = _mm512_mul_pd(left, w), b = _mm512_mul_pd(_mm512_set1_pd(total), w_left);
    const __m512d error = _mm512_mul_pd(_mm512_add_pd(_mm512_abs_pd(a), _mm512_abs_pd(b)),
                                        _mm512_set1_pd(ROUNDING));
    const __m512d d = _mm512_abs_pd(_mm512_sub_pd(a, b));
    const __m512d d_most = _mm512_add_pd(d, error);
    const __m512d d_least = _mm512_max_pd(_mm512_sub_pd(d, error), _mm512_setzero_pd());
    const __m512d unit =
        _mm512_div_pd(_mm512_set1_pd(1.0), _mm512_mul_pd(w_left, _mm512_sub_pd(w, w_left)));
    const __m512d above = _mm512_mul_pd(unit, _mm512_set1_pd(2.0 - SCREEN));
    const __m512d below = _mm512_mul_pd(unit, _mm512_set1_pd(SCREEN));
    _mm512_storeu_pd(most, _mm512_mul_pd(_mm512_mul_pd(d_most, d_most), above));
    _mm512_storeu_pd(least, _mm512_mul_pd(_mm512_mul_pd(d_least, d_least), below));
}
FASTTREE_AVX512 inline __m512d lane_numbers(const int32_t* counts) {
    return _mm512_cvtepi32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(counts)));
}
FASTTREE_AVX512 inline __m512d lane_numbers(const int64_t* sums) {
    return _mm512_cvtepi64_pd(_mm512_loadu_si512(sums));
}
template <class Sum>
FASTTREE_AVX512 inline uint32_t best_separations_avx512(const Sum* left, const int32_t* n_left,
                                                        int64_t total, int64_t w_total,
                                                        uint32_t lanes) {
    LaneBounds bounds;
    for (uint32_t i = 0; i < LANES; i += 8) {
        bound_separations(lane_numbers(left + i), lane_numbers(n_left + i), to_double(total),
                          to_double(w_total), bounds.most + i, bounds.least + i);
    }
    return bounds.best(lanes);
}
template <class Sum>
inline uint32_t best_separations(Simd simd, const Sum* left, const int32_t* n_left, int64_t total,
                                 int64_t w_total, uint32_t lanes) {
    if (simd == SIMD_AVX512) {
        return best_separations_avx512(left, n_left, total, w_total, lanes);
    }
    return best_separations_avx2(left, n_left, total, w_total, lanes);
}

template <>
struct LaneCounts<BinaryGini<UnitWeights>> : LaneVectors {
    using Acc = BinaryGini<UnitWeights>;
    static constexpr bool exists = true;
    int32_t ones[LANES];

    void begin(const Acc&, const uint8_t*, uint32_t) { std::fill_n(ones, LANES, 0); }
    void count(const uint8_t* classes, uint32_t n, const uint16_t* left) {
        if (simd == SIMD_AVX512) return count_avx512(classes, n, left);
        count_lane_ones_avx2(classes, n, left, n_lanes, ones);
    }
    FASTTREE_AVX512 void count_avx512(const uint8_t* classes, uint32_t n, const uint16_t* left) {
        const __m512i one = _mm512_set1_epi32(1);
        __m512i sum = _mm512_loadu_si512(ones);
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t own = classes[i] ? left[i] : 0;
            sum = _mm512_mask_add_epi32(sum, static_cast<__mmask16>(own), sum, one);
        }
        _mm512_storeu_si512(ones, sum);
    }
    void end() {}
    uint32_t best(const Acc& acc, uint32_t lanes, const int32_t* n_left) const {
        return best_separations(simd, ones, n_left, acc.total, acc.w_total, lanes);
    }
    void place(Acc& acc, uint32_t lane) const { acc.left = ones[lane]; }
    void fill(const Acc&, uint32_t lane, uint32_t n_left, uint64_t* cell) const {
        cell[0] = (uint64_t{n_left} << 32) + static_cast<uint32_t>(ones[lane]);
    }
};

// Class by class: a node of few rows holds few classes, which are numbered as they appear.
template <>
struct LaneCounts<Gini<UnitWeights, uint8_t, true>> : LaneVectors {
    using Acc = Gini<UnitWeights, uint8_t, true>;
    static constexpr bool exists = true;
    static constexpr uint32_t MOST_CLASSES = 256;
    std::vector<int32_t> counts;       // [number, lane] on the left
    std::vector<int32_t> totals;       // by number, of the node
    uint8_t number[MOST_CLASSES] = {};      // of a class that the node holds
    uint8_t classes_of[MOST_CLASSES] = {};  // by number
    int64_t squares_left[LANES], squares_right[LANES];

    void begin(const Acc& acc, const uint8_t* classes, uint32_t n) {
        const uint32_t most = static_cast<uint32_t>(acc.stride);
        uint32_t n_classes = 0;
        if (n >= most) {
            for (uint32_t c = 0; c < most; ++c) number[c] = classes_of[c] = static_cast<uint8_t>(c);
            n_classes = most;
        } else {
            // What is in `number` of other classes does not matter.
            for (uint32_t i = 0; i < n; ++i) {
                const uint8_t c = classes[i];
                const uint32_t k = number[c];
                const bool is_new = k >= n_classes || classes_of[k] != c;
                classes_of[n_classes] = c;
                number[c] = static_cast<uint8_t>(is_new ? n_classes : k);
                n_classes += is_new;
            }
        }
        counts.assign(size_t{n_classes} * LANES, 0);
        totals.resize(n_classes);
        for (uint32_t k = 0; k < n_classes; ++k) {
            totals[k] = static_cast<int32_t>(acc.total[classes_of[k]]);
        }
    }
    void count(const uint8_t* classes, uint32_t n, const uint16_t* left) {
        if (simd == SIMD_AVX512) return count_avx512(classes, n, left);
        count_classes_avx2(classes, number, n, left, n_lanes, counts.data());
    }
    FASTTREE_AVX512 void count_avx512(const uint8_t* classes, uint32_t n, const uint16_t* left) {
        const __m512i one = _mm512_set1_epi32(1);
        for (uint32_t i = 0; i < n; ++i) {
            int32_t* own = &counts[size_t{number[classes[i]]} * LANES];
            const __m512i l = _mm512_loadu_si512(own);
            _mm512_storeu_si512(own, _mm512_mask_add_epi32(l, left[i], l, one));
        }
    }
    void end() {
        if (simd == SIMD_AVX512) return end_avx512();
        sum_squares_avx2(counts.data(), totals.data(), totals.size(), n_lanes, squares_left,
                         squares_right);
    }
    FASTTREE_AVX512 void end_avx512() {
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
    uint32_t best(const Acc& acc, uint32_t lanes, const int32_t* n_left) const {
        if (simd == SIMD_AVX512) return best_avx512(acc, lanes, n_left);
        return best_ginis_avx2(squares_left, squares_right, n_left, acc.w_total, lanes);
    }
    FASTTREE_AVX512 uint32_t best_avx512(const Acc& acc, uint32_t lanes,
                                         const int32_t* n_left) const {
        const __m512d w = _mm512_set1_pd(to_double(acc.w_total));
        LaneBounds bounds;
        for (uint32_t i = 0; i < LANES; i += 8) {
            const __m512d w_left = lane_numbers(n_left + i);
            const __m512d l = _mm512_div_pd(lane_numbers(squares_left + i), w_left);
            const __m512d r =
                _mm512_div_pd(lane_numbers(squares_right + i), _mm512_sub_pd(w, w_left));
            bound_scores(_mm512_add_pd(l, r), bounds.most + i, bounds.least + i);
        }
        return bounds.best(lanes);
    }
    void place(Acc& acc, uint32_t lane) const {
        acc.squares_left = squares_left[lane];
        acc.squares_right = squares_right[lane];
    }
    void fill(const Acc& acc, uint32_t lane, uint32_t, int32_t* cell) const {
        std::fill_n(cell, acc.stride, 0);
        for (size_t k = 0; k < totals.size(); ++k) cell[classes_of[k]] = counts[k * LANES + lane];
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
struct LaneCounts<SquaredError<UnitWeights, true>> : LaneVectors {
    using Acc = SquaredError<UnitWeights, true>;
    static constexpr bool exists = true;
    int64_t sums[LANES];

    void begin(const Acc&, const int64_t*, uint32_t) { std::fill_n(sums, LANES, 0); }
    void count(const int64_t* targets, uint32_t n, const uint16_t* left) {
        if (simd == SIMD_AVX512) return count_avx512(targets, n, left);
        sum_targets_avx2(targets, n, left, n_lanes, sums);
    }
    FASTTREE_AVX512 void count_avx512(const int64_t* targets, uint32_t n, const uint16_t* left) {
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
    uint32_t best(const Acc& acc, uint32_t lanes, const int32_t* n_left) const {
        return best_separations(simd, sums, n_left, acc.total1, acc.w_total, lanes);
    }
    void place(Acc& acc, uint32_t lane) const { acc.left1 = sums[lane]; }
    void fill(const Acc&, uint32_t lane, uint32_t n_left, int64_t* cell) const {
        cell[0] = n_left;
        cell[1] = sums[lane];
    }
};
#endif

}  // namespace fasttree
