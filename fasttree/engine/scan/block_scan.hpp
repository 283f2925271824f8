// The scan of a node in a block: all candidates of a feature at once, in vectors.
//
// A `BlockScan` knows the targets of the block's rows by place. It finds the candidate that the
// accumulator's pass would find, by the same expressions over the same integers; where these do
// not fit a vector, vectors choose the few positions whose exact score is worth computing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/order/block.hpp"
#include "engine/score/advance.hpp"
#include "engine/score/binary_gini.hpp"
#include "engine/score/classification.hpp"
#include "engine/score/regression.hpp"
#include "engine/score/screens.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// By default there is none: the block's runs are listed and passed over.
template <class Acc>
struct BlockScan {
    static constexpr bool exists = false;
};

// Whether the numbers of a node are such that vectors hold them.
template <class Acc>
inline bool fits_block_scan(const Acc&) { return true; }

#if FASTTREE_X86

// Bit p - 1: p rows may go left.
inline uint64_t candidate_bits(const BlockRuns& runs, uint32_t leaf) {
    if (runs.n < 2 * leaf) return 0;
    return runs.boundaries >> 1 & low_bits(runs.n - leaf) & ~low_bits(leaf - 1);
}

// The best of up to 8 scored positions, ties to the first.
struct BestOfLanes {
    double score;
    uint32_t position = 0;  // rows on the left; 0: none yet

    FASTTREE_AVX512 void take(__mmask8 lanes, __m512d scores, uint32_t first_position) {
        const double top = _mm512_mask_reduce_max_pd(lanes, scores);
        if (!(top > score)) return;
        const __mmask8 at = _mm512_mask_cmp_pd_mask(lanes, scores, _mm512_set1_pd(top), _CMP_EQ_OQ);
        score = top;
        position = first_position + static_cast<uint32_t>(__builtin_ctz(at));
    }
    bool give(Candidate& best) const {
        if (position == 0) return false;
        best = {score, position, position, position, false, 0.0};
        return true;
    }
};

// Two classes: those of the rows in order are bits, their prefix sums population counts. Counts
// are so small that every product is exact.
template <>
struct BlockScan<BinaryGini<UnitWeights>> {
    static constexpr bool exists = true;
    uint64_t ones = 0;  // bit i: the row at place i is of class 1

    void open(const Targets& t, const uint32_t* rows, uint32_t n) {
        const uint8_t* y = static_cast<const uint8_t*>(t.classes);
        ones = 0;
        for (uint32_t i = 0; i < n; ++i) ones |= uint64_t{y[rows[i]] != 0} << i;
    }

    FASTTREE_AVX512 bool scan(const BinaryGini<UnitWeights>& acc, const BlockRuns& runs,
                              uint32_t leaf, Candidate& best) const {
        const uint64_t candidates = candidate_bits(runs, leaf);
        const __m512i in_order = _mm512_set1_epi64(static_cast<long long>(
            _mm512_bitshuffle_epi64_mask(_mm512_set1_epi64(static_cast<long long>(ones)),
                                         _mm512_loadu_si512(runs.places))));
        const __m512d w = _mm512_set1_pd(to_double(acc.w_total));
        const __m512d t = _mm512_set1_pd(to_double(acc.total));
        const __m512i one = _mm512_set1_epi64(1);
        __m512i n_left = _mm512_setr_epi64(1, 2, 3, 4, 5, 6, 7, 8);
        BestOfLanes found{best.score};
        for (uint32_t p = 0; candidates >> p != 0; p += 8) {
            const __m512i up_to =
                _mm512_sub_epi64(_mm512_sllv_epi64(one, n_left), one);  // 64 shifts to 0 - 1
            const __m512d left = _mm512_cvtepi64_pd(
                _mm512_popcnt_epi64(_mm512_and_si512(in_order, up_to)));
            const __m512d w_left = _mm512_cvtepi64_pd(n_left);
            const __m512d d = _mm512_sub_pd(_mm512_mul_pd(left, w), _mm512_mul_pd(t, w_left));
            const __m512d d2 = _mm512_mul_pd(d, d);
            const __m512d den = _mm512_mul_pd(w_left, _mm512_sub_pd(w, w_left));
            const __mmask8 beating = _mm512_mask_cmp_pd_mask(
                static_cast<__mmask8>(candidates >> p), d2,
                _mm512_mul_pd(_mm512_set1_pd(found.score * SCREEN), den), _CMP_GT_OQ);
            if (beating) found.take(beating, _mm512_div_pd(d2, den), p + 1);
            if (p == 56) break;
            n_left = _mm512_add_epi64(n_left, _mm512_set1_epi64(8));
        }
        return found.give(best);
    }
};

// More classes: a row raises the sum of squares on the left by 2 l + 1 and lowers that on the
// right by 2 r - 1, where l and r are how many of its class are there. Sixteen rows at a time: l
// is the number of the class in the sixteens before and in the lanes below.
template <>
struct BlockScan<Gini<UnitWeights, uint8_t, true>> {
    using Acc = Gini<UnitWeights, uint8_t, true>;
    static constexpr bool exists = true;
    uint8_t classes[BLOCK_ROWS];      // by place
    std::vector<int32_t> before;      // rows of each class in the sixteens before

    void open(const Targets& t, const uint32_t* rows, uint32_t n) {
        const uint8_t* y = static_cast<const uint8_t*>(t.classes);
        for (uint32_t i = 0; i < n; ++i) classes[i] = y[rows[i]];
        before.resize(static_cast<size_t>(t.max_n_classes));
    }

    FASTTREE_AVX512 bool scan(const Acc& acc, const BlockRuns& runs, uint32_t leaf,
                              Candidate& best) {
        const uint64_t candidates = candidate_bits(runs, leaf);
        const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
        const __m512i low = _mm512_set1_epi32(0xffff), last_lane = _mm512_set1_epi32(15);
        __m512i places = _mm512_loadu_si512(runs.places);
        if (runs.n > 16) std::fill(before.begin(), before.end(), 0);
        // Both changes of a row in one lane, left ones in the low half: neither sum exceeds
        // 64 * 64.
        __m512i changes = zero;
        const __m512i all_squares =
            _mm512_set1_epi32(static_cast<int>(acc.squares_total));
        BestOfLanes found{best.score};
        for (uint32_t p = 0; p < BLOCK_ROWS && candidates >> p != 0; p += 16) {
            const uint32_t n = std::min(runs.n - p, 16u);
            const __mmask16 lanes = static_cast<__mmask16>((1u << n) - 1);
            const __m512i c = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(
                _mm512_permutexvar_epi8(places, _mm512_loadu_si512(classes))));
            __m512i l = _mm512_popcnt_epi32(_mm512_conflict_epi32(c));
            if (p > 0) {
                l = _mm512_add_epi32(l, _mm512_mask_i32gather_epi32(zero, lanes, c, before.data(),
                                                                    4));
            }
            if (p + 16 < runs.n) {  // of lanes of one class the last one stays
                _mm512_mask_i32scatter_epi32(before.data(), lanes, c, _mm512_add_epi32(l, one), 4);
            }
            const __m512i total = _mm512_mask_i32gather_epi32(zero, lanes, c, acc.total.data(), 8);
            const __m512i r = _mm512_sub_epi32(total, l);
            const __m512i rise = _mm512_add_epi32(_mm512_slli_epi32(l, 1), one);
            const __m512i fall = _mm512_sub_epi32(_mm512_slli_epi32(r, 1), one);
            __m512i sum = _mm512_maskz_or_epi32(lanes, rise, _mm512_slli_epi32(fall, 16));
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 15));
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 14));
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 12));
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32(sum, zero, 8));
            sum = _mm512_add_epi32(sum, changes);
            changes = _mm512_permutexvar_epi32(last_lane, sum);
            const __m512i left = _mm512_and_si512(sum, low);
            const __m512i right = _mm512_sub_epi32(all_squares, _mm512_srli_epi32(sum, 16));
            take_8(found, static_cast<__mmask8>(candidates >> p), p, to_double(acc.w_total),
                   _mm512_castsi512_si256(left), _mm512_castsi512_si256(right));
            if (candidates >> p > 0xff) {
                take_8(found, static_cast<__mmask8>(candidates >> (p + 8)), p + 8,
                       to_double(acc.w_total), _mm512_extracti64x4_epi64(left, 1),
                       _mm512_extracti64x4_epi64(right, 1));
            }
            places = _mm512_alignr_epi64(places, places, 2);
        }
        return found.give(best);
    }

private:
    // Positions p + 1 to p + 8, of which `lanes` are candidates.
    FASTTREE_AVX512 static void take_8(BestOfLanes& found, __mmask8 lanes, uint32_t p, double w,
                                       __m256i squares_left, __m256i squares_right) {
        const __m512d w_left = _mm512_add_pd(_mm512_set1_pd(p), _mm512_setr_pd(1, 2, 3, 4, 5, 6,
                                                                               7, 8));
        const __m512d w_right = _mm512_sub_pd(_mm512_set1_pd(w), w_left);
        const __m512d left = _mm512_cvtepi32_pd(squares_left);
        const __m512d right = _mm512_cvtepi32_pd(squares_right);
        const __m512d squares =
            _mm512_add_pd(_mm512_mul_pd(left, w_right), _mm512_mul_pd(right, w_left));
        const __m512d bar = _mm512_mul_pd(_mm512_set1_pd(found.score * SCREEN),
                                          _mm512_mul_pd(w_left, w_right));
        lanes = _mm512_mask_cmp_pd_mask(lanes, squares, bar, _CMP_GT_OQ);
        if (!lanes) return;
        found.take(lanes, _mm512_add_pd(_mm512_div_pd(left, w_left),
                                        _mm512_div_pd(right, w_right)), p + 1);
    }
};

// Sums: the screen's scores, then the exact ones of those that may be the best.
template <class Acc>
struct SumsBlockScan {
    static constexpr bool exists = true;
    int64_t sums[BLOCK_ROWS];  // by place

    void open(const Targets& t, const uint32_t* rows, uint32_t n) {
        for (uint32_t i = 0; i < n; ++i) sums[i] = t.sums[rows[i]];
    }

    FASTTREE_AVX512 bool scan(Acc& acc, const BlockRuns& runs, uint32_t leaf, Candidate& best) {
        const Screen<Acc> screen(acc);
        const uint64_t candidates = candidate_bits(runs, leaf);
        const __m512i offsets = _mm512_set1_epi64(screen.offset);
        const __m512i last_lane = _mm512_set1_epi64(7);
        __m512i places = _mm512_loadu_si512(runs.places), left = _mm512_setzero_si512();
        bool found = false;
        for (uint32_t p = 0; p < BLOCK_ROWS && candidates >> p != 0; p += 8) {
            const uint32_t n = std::min(runs.n - p, 8u);
            const __mmask8 lanes = static_cast<__mmask8>((1u << n) - 1);
            const __m512i place = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(places));
            __m512i sum = _mm512_sub_epi64(
                _mm512_mask_i64gather_epi64(offsets, lanes, place, sums, 8), offsets);
            sum = _mm512_add_epi64(prefix_sums(sum), left);
            const __mmask8 beating =
                screen.beating(sum, p + 1, best.score) & static_cast<__mmask8>(candidates >> p);
            if (beating) found |= take(acc, screen, beating, sum, p + 1, best);
            left = _mm512_permutexvar_epi64(last_lane, sum);
            places = _mm512_alignr_epi64(places, places, 1);
        }
        return found;
    }

private:
    // Exact scores of the lanes near the best; lane i has first + i rows on the left.
    FASTTREE_AVX512 static bool take(Acc& acc, const Screen<Acc>& screen, __mmask8 lanes,
                                     __m512i sums, uint32_t first, Candidate& best) {
        const __m512d scores = screen.scores(sums, first);
        const double bar = screen.near(_mm512_mask_reduce_max_pd(lanes, scores));
        int64_t sum[8];
        _mm512_storeu_si512(sum, sums);
        bool found = false;
        for (uint32_t near = _mm512_mask_cmp_pd_mask(lanes, scores, _mm512_set1_pd(bar),
                                                     _CMP_GE_OQ);
             near != 0; near &= near - 1) {
            const uint32_t i = static_cast<uint32_t>(__builtin_ctz(near)), p = first + i;
            acc.w_left = p;
            acc.left1 = sum[i] + screen.offset * p;
            const double score = acc.score();
            if (!(score > best.score)) continue;
            best = {score, p, p, p, false, 0.0};
            found = true;
        }
        return found;
    }
};

template <>
struct BlockScan<SquaredError<UnitWeights, true>> : SumsBlockScan<SquaredError<UnitWeights, true>> {
};
template <>
struct BlockScan<Poisson<UnitWeights, true>> : SumsBlockScan<Poisson<UnitWeights, true>> {};

// Squared error with weights: sums about the node's mean, as in `advance`, tell which positions may
// be the best; their scores are the accumulator's.
template <>
inline bool fits_block_scan(const SquaredError<SampleWeights, true>& acc) {
    return !acc.t.has_negative_weights && acc.w_total < EXACT_COUNT;
}
template <>
struct BlockScan<SquaredError<SampleWeights, true>> {
    using Acc = SquaredError<SampleWeights, true>;
    static constexpr bool exists = true;
    int64_t sums[BLOCK_ROWS], weights[BLOCK_ROWS];  // by place

    void open(const Targets& t, const uint32_t* rows, uint32_t n) {
        for (uint32_t i = 0; i < n; ++i) {
            sums[i] = t.sums[rows[i]];
            weights[i] = t.weights[rows[i]];
        }
    }

    FASTTREE_AVX512 bool scan(Acc& acc, const BlockRuns& runs, uint32_t leaf, Candidate& best) {
        const uint64_t candidates = candidate_bits(runs, leaf);
        const __m512i zero = _mm512_setzero_si512(), last_lane = _mm512_set1_epi64(7);
        const __m512i offset = _mm512_set1_epi64(acc.mean_sum);
        const double w = to_double(acc.w_total);
        const double t = to_double(acc.total1 - acc.mean_sum * acc.w_total);
        __m512i places = _mm512_loadu_si512(runs.places), left = zero, n_left = zero;
        bool found = false;
        for (uint32_t p = 0; p < BLOCK_ROWS && candidates >> p != 0; p += 8) {
            const uint32_t n = std::min(runs.n - p, 8u);
            const __mmask8 lanes = static_cast<__mmask8>((1u << n) - 1);
            const __m512i place = _mm512_cvtepu8_epi64(_mm512_castsi512_si128(places));
            left = _mm512_add_epi64(
                left, prefix_sums(_mm512_mask_i64gather_epi64(zero, lanes, place, sums, 8)));
            n_left = _mm512_add_epi64(
                n_left, prefix_sums(_mm512_mask_i64gather_epi64(zero, lanes, place, weights, 8)));
            const __m512d d = _mm512_cvtepi64_pd(
                _mm512_sub_epi64(left, _mm512_mullo_epi64(offset, n_left)));
            const __m512d wl = _mm512_cvtepi64_pd(n_left);
            const uint32_t beating = fasttree::beating(d, wl, w, t, best.score * SCREEN) &
                                     static_cast<uint32_t>(candidates >> p) & 0xffu;
            if (beating) found |= take(acc, beating, d, wl, w, t, left, n_left, p + 1, best);
            left = _mm512_permutexvar_epi64(last_lane, left);
            n_left = _mm512_permutexvar_epi64(last_lane, n_left);
            places = _mm512_alignr_epi64(places, places, 1);
        }
        return found;
    }

private:
    // Exact scores of the lanes near the best.
    FASTTREE_AVX512 static bool take(Acc& acc, uint32_t lanes, __m512d about_mean, __m512d wl,
                                     double w, double t, __m512i left, __m512i n_left,
                                     uint32_t first, Candidate& best) {
        const __m512d all = _mm512_set1_pd(w);
        const __m512d d = _mm512_sub_pd(_mm512_mul_pd(about_mean, all),
                                        _mm512_mul_pd(_mm512_set1_pd(t), wl));
        const __m512d scores = _mm512_div_pd(_mm512_mul_pd(d, d),
                                             _mm512_mul_pd(wl, _mm512_sub_pd(all, wl)));
        const __mmask8 k = static_cast<__mmask8>(lanes);
        const double bar = _mm512_mask_reduce_max_pd(k, scores) * SCREEN;
        int64_t sum[8], weight[8];
        _mm512_storeu_si512(sum, left);
        _mm512_storeu_si512(weight, n_left);
        bool found = false;
        for (uint32_t near = _mm512_mask_cmp_pd_mask(k, scores, _mm512_set1_pd(bar), _CMP_GE_OQ);
             near != 0; near &= near - 1) {
            const uint32_t i = static_cast<uint32_t>(__builtin_ctz(near)), p = first + i;
            acc.w_left = weight[i];
            acc.left1 = sum[i];
            const double score = acc.score();
            if (!(score > best.score)) continue;
            best = {score, p, p, p, false, 0.0, THRESHOLD};
            found = true;
        }
        return found;
    }
};

#endif

}  // namespace fasttree
