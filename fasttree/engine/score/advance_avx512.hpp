// `advance` in vectors of 16 and 8 positions, or `advance_to_best` if `to_best`; see advance.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/core/entry_bits.hpp"
#include "engine/core/runs.hpp"
#include "engine/score/best_passed.hpp"
#include "engine/score/binary_gini.hpp"
#include "engine/score/regression.hpp"
#include "engine/score/screens.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86

// Takes those of 16 or 8 positions behind p that are found, by the lanes of sums and weights;
// returns the best score.
template <class Lane, class Acc>
FASTTREE_AVX512 inline double take_lanes(BestPassed<Acc>& top, uint32_t p, uint32_t found,
                                         __m512i left, __m512i w_left) {
    alignas(64) Lane sums[64 / sizeof(Lane)], weights[64 / sizeof(Lane)];
    _mm512_store_si512(sums, left);
    _mm512_store_si512(weights, w_left);
    return top.take_found(p, found, sums, weights);
}

// Lanes (bits) of 8 positions whose D^2 exceeds `bar` w_L w_R, where D = l w - t w_L.
FASTTREE_AVX512 inline uint32_t beating(__m512d l, __m512d w_left, double w, double t, double bar) {
    const __m512d total = _mm512_set1_pd(w);
    const __m512d d =
        _mm512_sub_pd(_mm512_mul_pd(l, total), _mm512_mul_pd(_mm512_set1_pd(t), w_left));
    const __m512d den = _mm512_mul_pd(w_left, _mm512_sub_pd(total, w_left));
    return _mm512_cmp_pd_mask(_mm512_mul_pd(d, d), _mm512_mul_pd(_mm512_set1_pd(bar), den),
                              _CMP_GT_OQ);
}

// The same of 16 positions.
FASTTREE_AVX512 inline uint32_t beating_of_16(__m512i l, __m512i w_left, double w, double t,
                                              double bar) {
    const uint32_t low = beating(_mm512_cvtepi32_pd(_mm512_castsi512_si256(l)),
                                 _mm512_cvtepi32_pd(_mm512_castsi512_si256(w_left)), w, t, bar);
    const uint32_t high =
        beating(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(l, 1)),
                _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(w_left, 1)), w, t, bar);
    return low | high << 8;
}

// Whether the next n rows, of which so many are of class 1, may hold a position that beats `bar`,
// whatever their order. The score is convex in the class weights on the left: no position has a
// higher one than the best of those with all rows of a class on the left or none.
FASTTREE_AVX512 inline bool may_beat_among(const BinaryGini<UnitWeights>& acc, uint32_t n,
                                           uint32_t ones, double bar) {
    const double l0 = to_double(acc.left), n0 = to_double(acc.w_left), l1 = l0 + ones;
    const __m256d l = _mm256_setr_pd(l0, l0, l1, l1);
    const __m256d n_left = _mm256_setr_pd(n0, n0 + (n - ones), n0 + ones, n0 + n);
    return beating(_mm512_broadcast_f64x4(l), _mm512_broadcast_f64x4(n_left),
                   to_double(acc.w_total), to_double(acc.total), bar) != 0;
}

// Two classes: the classes of the rows are bits, their prefix sums population counts. A bound
// passes over 64 positions, the others are looked at 16 at a time.
template <bool to_best, class Classes>
FASTTREE_AVX512 inline uint32_t advance_avx512(BinaryGini<UnitWeights>& acc,
                                               const Classes& classes, uint32_t p, uint32_t last,
                                               double best) {
    constexpr uint32_t BLOCK = 64;
    const uint32_t* entries = classes.entries;
    const __m512i one = _mm512_set1_epi32(1);
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i up_to = _mm512_sub_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(2), lane), one);
    const double w = to_double(acc.w_total), t = to_double(acc.total);
    double bar = best * SCREEN;
    BestPassed top(acc, last, best);
    while (p < last) {
        const uint32_t n = std::min(last - p, BLOCK);
        uint64_t ones = bits_of_64(classes, p, n);
        const uint32_t n_ones = static_cast<uint32_t>(__builtin_popcountll(ones));
        if (!may_beat_among(acc, n, n_ones, bar)) {
            acc.left += n_ones;
            acc.w_left += n;
            p += n;
            continue;
        }
        for (const uint32_t end = p + n; p < end; ones >>= 16) {
            const uint32_t lanes = static_cast<uint32_t>(low_bits(std::min(end - p, 16u)));
            const uint32_t boundary = _mm512_movepi32_mask(load_entries(entries + p + 1, lanes));
            const __m512i prefix = _mm512_popcnt_epi32(
                _mm512_and_si512(_mm512_set1_epi32(static_cast<int>(ones & 0xffff)), up_to));
            const __m512i left =
                _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(acc.left)), prefix);
            const __m512i n_left =
                _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(acc.w_left) + 1), lane);
            uint32_t found = beating_of_16(left, n_left, w, t, bar) & boundary & lanes;
            if (to_best && found) {
                bar = SCREEN * take_lanes<int32_t>(top, p, std::exchange(found, 0), left, n_left);
            }
            const uint32_t taken = found ? static_cast<uint32_t>(__builtin_ctz(found)) + 1
                                         : static_cast<uint32_t>(__builtin_popcount(lanes));
            acc.left += __builtin_popcountll(ones & low_bits(taken));
            acc.w_left += taken;
            p += taken;
            if (found) return p;
        }
    }
    return to_best ? top.go_back() : last + 1;
}

// Lanes added up from the first to each.
FASTTREE_AVX512 inline __m512i prefix_sums_of_16(__m512i lanes) {
    const __m512i zero = _mm512_setzero_si512();
    lanes = _mm512_add_epi32(lanes, _mm512_alignr_epi32(lanes, zero, 15));
    lanes = _mm512_add_epi32(lanes, _mm512_alignr_epi32(lanes, zero, 14));
    lanes = _mm512_add_epi32(lanes, _mm512_alignr_epi32(lanes, zero, 12));
    return _mm512_add_epi32(lanes, _mm512_alignr_epi32(lanes, zero, 8));
}

// Two classes with weights, 16 positions at a time: one record per row holds both sums' terms.
template <bool to_best>
FASTTREE_AVX512 inline uint32_t advance_avx512(BinaryGini<SampleWeights>& acc,
                                               const uint32_t* entries, uint32_t p, uint32_t last,
                                               double best) {
    const __m512i half = _mm512_set1_epi32((1 << RECORD_BITS) - 1);
    const double w = to_double(acc.w_total), t = to_double(acc.total);
    double bar = best * SCREEN;
    BestPassed top(acc, last, best);
    while (p < last) {
        const uint32_t lanes = last - p < 16 ? (1u << (last - p)) - 1 : 0xffffu;
        const __mmask16 k = static_cast<__mmask16>(lanes);
        const __m512i row = rows_of(load_entries(entries + p, lanes));
        const uint32_t boundary = _mm512_movepi32_mask(load_entries(entries + p + 1, lanes));
        const __m512i sums = prefix_sums_of_16(
            _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), k, row, acc.t.records, 4));
        const __m512i left = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(acc.left)),
                                              _mm512_srli_epi32(sums, RECORD_BITS));
        const __m512i n = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(acc.w_left)),
                                           _mm512_and_si512(sums, half));
        uint32_t found = beating_of_16(left, n, w, t, bar) & boundary & lanes;
        if (to_best && found) {
            bar = SCREEN * take_lanes<int32_t>(top, p, std::exchange(found, 0), left, n);
        }
        const uint32_t taken = found ? static_cast<uint32_t>(__builtin_ctz(found)) + 1
                                     : static_cast<uint32_t>(__builtin_popcount(lanes));
        const __m512i at = _mm512_set1_epi32(static_cast<int>(taken - 1));
        acc.left = _mm512_cvtsi512_si32(_mm512_permutexvar_epi32(at, left));
        acc.w_left = _mm512_cvtsi512_si32(_mm512_permutexvar_epi32(at, n));
        p += taken;
        if (found) return p;
    }
    return to_best ? top.go_back() : last + 1;
}

// values[row] of 8 entries, those of `lanes` at least. Full vectors are loaded number by number,
// which many processors do faster than they gather.
FASTTREE_AVX512 inline __m512i values_of_rows(const int64_t* values, const uint32_t* entries,
                                              uint32_t lanes) {
    if (lanes == 0xff) {
        const auto value = [=](uint32_t i) FASTTREE_INLINE { return values[entries[i] & ROW]; };
        return _mm512_setr_epi64(value(0), value(1), value(2), value(3), value(4), value(5),
                                 value(6), value(7));
    }
    const __mmask8 k = static_cast<__mmask8>(lanes);
    const __m256i row =
        _mm256_and_si256(_mm256_maskz_loadu_epi32(k, entries), _mm256_set1_epi32(ROW));
    return _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), k, row, values, 8);
}

// Sums of targets and of weights up to each of 8 entries.
struct SumsOfLanes {
    __m512i left, n;
};
FASTTREE_AVX512 inline SumsOfLanes sums_of_rows(const Targets& t, const uint32_t* entries,
                                                uint32_t lanes) {
    if (t.sum_records == nullptr) {
        return {prefix_sums(values_of_rows(t.sums, entries, lanes)),
                prefix_sums(values_of_rows(t.weights, entries, lanes))};
    }
    const __m512i both = prefix_sums(values_of_rows(t.sum_records, entries, lanes));
    return {_mm512_srai_epi64(both, SUM_RECORD_BITS),
            _mm512_and_si512(both, _mm512_set1_epi64((1 << SUM_RECORD_BITS) - 1))};
}

// Squared error with weights, 8 positions at a time. Sums are about the node's mean, as those of
// its Screen without weights.
template <bool to_best>
FASTTREE_AVX512 inline uint32_t advance_avx512(SquaredError<SampleWeights, true>& acc,
                                               const uint32_t* entries, uint32_t p, uint32_t last,
                                               double best) {
    const __m512i offset = _mm512_set1_epi64(acc.mean_sum);
    const double w = to_double(acc.w_total);
    const double t = to_double(acc.total1 - acc.mean_sum * acc.w_total);
    double bar = best * SCREEN;
    BestPassed top(acc, last, best);
    __m512i left = _mm512_set1_epi64(acc.left1), n = _mm512_set1_epi64(acc.w_left);  // at p
    uint32_t found = 0;
    while (p < last && !found) {
        const uint32_t lanes = last - p < 8 ? (1u << (last - p)) - 1 : 0xffu;
        const __mmask8 k = static_cast<__mmask8>(lanes);
        const uint32_t boundary =
            _mm256_movepi32_mask(_mm256_maskz_loadu_epi32(k, entries + p + 1));
        const SumsOfLanes sums = sums_of_rows(acc.t, entries + p, lanes);
        left = _mm512_add_epi64(left, sums.left);
        n = _mm512_add_epi64(n, sums.n);
        const __m512i about_mean = _mm512_sub_epi64(left, _mm512_mullo_epi64(offset, n));
        found = beating(_mm512_cvtepi64_pd(about_mean), _mm512_cvtepi64_pd(n), w, t, bar) &
                boundary & lanes;
        if (to_best && found) {
            bar = SCREEN * take_lanes<int64_t>(top, p, std::exchange(found, 0), left, n);
        }
        const uint32_t taken = found ? static_cast<uint32_t>(__builtin_ctz(found)) + 1
                                     : static_cast<uint32_t>(__builtin_popcount(lanes));
        const __m512i at = _mm512_set1_epi64(taken - 1);
        left = _mm512_permutexvar_epi64(at, left);
        n = _mm512_permutexvar_epi64(at, n);
        p += taken;
    }
    if (to_best) return top.go_back();
    acc.left1 = _mm_cvtsi128_si64(_mm512_castsi512_si128(left));
    acc.w_left = _mm_cvtsi128_si64(_mm512_castsi512_si128(n));
    return found ? p : last + 1;
}

// Criteria of sums, 8 positions at a time.
template <bool to_best, class Acc>
FASTTREE_AVX512 inline uint32_t advance_sums_avx512(Acc& acc, const uint32_t* entries, uint32_t p,
                                                    uint32_t last, double best) {
    const Screen<Acc> screen(acc);
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i last_lane = _mm512_set1_epi64(7), offsets = _mm512_set1_epi64(screen.offset);
    __m512i left = _mm512_set1_epi64(acc.left1 - screen.offset * acc.w_left);  // at p
    BestPassed top(acc, last, best);
    while (p < last) {
        const uint32_t lanes = last - p < 8 ? (1u << (last - p)) - 1 : 0xffu;
        const __mmask8 k = static_cast<__mmask8>(lanes);
        const uint32_t boundary =
            _mm256_movepi32_mask(_mm256_maskz_loadu_epi32(k, entries + p + 1));
        __m512i sum = _mm512_maskz_sub_epi64(
            k, values_of_rows(acc.t.sums, entries + p, lanes), offsets);
        sum = _mm512_add_epi64(prefix_sums(sum), left);
        const uint32_t first = static_cast<uint32_t>(acc.w_left) + 1;
        uint32_t found = screen.beating(sum, first, best) & boundary & lanes;
        if constexpr (to_best) {
            if (found) {
                const __m512i n = _mm512_add_epi64(_mm512_set1_epi64(first), lane);
                const __m512i sums = _mm512_add_epi64(sum, _mm512_mullo_epi64(offsets, n));
                best = take_lanes<int64_t>(top, p, std::exchange(found, 0), sums, n);
            }
        }
        const uint32_t taken = found ? static_cast<uint32_t>(__builtin_ctz(found)) + 1
                                     : static_cast<uint32_t>(__builtin_popcount(lanes));
        acc.w_left += taken;
        p += taken;
        if (found) {
            const __m512i at = _mm512_permutexvar_epi64(_mm512_set1_epi64(taken - 1), sum);
            acc.left1 = _mm_cvtsi128_si64(_mm512_castsi512_si128(at)) + screen.offset * acc.w_left;
            return p;
        }
        left = _mm512_permutexvar_epi64(last_lane, sum);
    }
    if constexpr (to_best) return top.go_back();
    acc.left1 = _mm_cvtsi128_si64(_mm512_castsi512_si128(left)) + screen.offset * acc.w_left;
    return last + 1;
}

template <bool to_best>
FASTTREE_AVX512 inline uint32_t advance_avx512(SquaredError<UnitWeights, true>& acc,
                                               const uint32_t* entries, uint32_t p, uint32_t last,
                                               double best) {
    return advance_sums_avx512<to_best>(acc, entries, p, last, best);
}

#endif

}  // namespace fasttree
