// `advance` in vectors of 8 and 4 positions, or `advance_to_best` if `to_best`; see advance.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/core/runs.hpp"
#include "engine/score/advance_portable.hpp"
#include "engine/score/best_passed.hpp"
#include "engine/score/binary_gini.hpp"
#include "engine/score/regression.hpp"
#include "engine/simd/avx2.hpp"

namespace fasttree {

#if FASTTREE_X86

// Lanes (bits) of 4 positions whose D^2 exceeds `bar` w_L w_R, where D = l w - t w_L.
FASTTREE_AVX2 inline uint32_t beating_4(__m256d l, __m256d w_left, double w, double t, double bar) {
    const __m256d total = _mm256_set1_pd(w);
    const __m256d d =
        _mm256_sub_pd(_mm256_mul_pd(l, total), _mm256_mul_pd(_mm256_set1_pd(t), w_left));
    const __m256d den = _mm256_mul_pd(w_left, _mm256_sub_pd(total, w_left));
    const __m256d is_better = _mm256_cmp_pd(
        _mm256_mul_pd(d, d), _mm256_mul_pd(_mm256_set1_pd(bar), den), _CMP_GT_OQ);
    return static_cast<uint32_t>(_mm256_movemask_pd(is_better));
}
// The same of 8 positions.
FASTTREE_AVX2 inline uint32_t beating_8(__m256i l, __m256i w_left, double w, double t, double bar) {
    const uint32_t low = beating_4(_mm256_cvtepi32_pd(_mm256_castsi256_si128(l)),
                                   _mm256_cvtepi32_pd(_mm256_castsi256_si128(w_left)), w, t, bar);
    const uint32_t high =
        beating_4(_mm256_cvtepi32_pd(_mm256_extracti128_si256(l, 1)),
                  _mm256_cvtepi32_pd(_mm256_extracti128_si256(w_left, 1)), w, t, bar);
    return low | high << 4;
}

// As `take_lanes`, of 8 positions.
template <class Acc>
FASTTREE_AVX2 inline double take_lanes_avx2(BestPassed<Acc>& top, uint32_t p, uint32_t found,
                                            __m256i left, __m256i w_left) {
    alignas(32) int32_t sums[8], weights[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(sums), left);
    _mm256_store_si256(reinterpret_cast<__m256i*>(weights), w_left);
    return top.take_found(p, found, sums, weights);
}

// The classes of 8 entries' rows, as bits.
struct ClassesByRowAvx2 {
    const uint32_t *entries, *class_bits;

    FASTTREE_AVX2 uint32_t of_8(uint32_t p) const {
        return get_bits_avx2(class_bits, entries + p, ROW);
    }
    uint32_t of(uint32_t p) const { return get_bit(class_bits, entries[p] & ROW); }
};
struct ClassesInEntriesAvx2 {
    const uint32_t* entries;

    FASTTREE_AVX2 uint32_t of_8(uint32_t p) const {
        static_assert(CLASS_1 == BOUNDARY >> 1);
        return top_bits_8(_mm256_slli_epi32(load_8(entries + p), 1));
    }
    uint32_t of(uint32_t p) const { return entries[p] / CLASS_1 & 1; }
};
template <class Classes>
FASTTREE_AVX2 inline uint64_t class_bits_avx2(const Classes& classes, uint32_t p, uint32_t n) {
    uint64_t ones = 0;
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) ones |= uint64_t{classes.of_8(p + i)} << i;
    for (; i < n; ++i) ones |= uint64_t{classes.of(p + i)} << i;
    return ones;
}

// As `may_beat_among`.
FASTTREE_AVX2 inline bool may_beat_among_avx2(const BinaryGini<UnitWeights>& acc, uint32_t n,
                                              uint32_t ones, double bar) {
    const double l0 = to_double(acc.left), n0 = to_double(acc.w_left), l1 = l0 + ones;
    return beating_4(_mm256_setr_pd(l0, l0, l1, l1),
                     _mm256_setr_pd(n0, n0 + (n - ones), n0 + ones, n0 + n),
                     to_double(acc.w_total), to_double(acc.total), bar) != 0;
}

// How many of the bits of a byte are set, up to each.
FASTTREE_AVX2 inline __m256i prefix_counts_8(uint32_t bits) {
    const __m256i up_to = _mm256_setr_epi32(1, 3, 7, 15, 31, 63, 127, 255);
    const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                                            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i those = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), up_to);
    const __m256i low = _mm256_and_si256(those, _mm256_set1_epi32(15));
    return _mm256_add_epi32(_mm256_shuffle_epi8(counts, low),
                            _mm256_shuffle_epi8(counts, _mm256_srli_epi32(those, 4)));
}

// Loops below do not wait for what a vector finds: if that is nothing, its last lane goes on.

template <bool to_best, class Classes>
FASTTREE_AVX2 inline uint32_t advance_avx2(BinaryGini<UnitWeights>& acc, const Classes& classes,
                                           uint32_t p, uint32_t last, double best) {
    constexpr uint32_t BLOCK = 64;
    const uint32_t* entries = classes.entries;
    const __m256i from_one = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8);
    const double w = to_double(acc.w_total), t = to_double(acc.total);
    double bar = best * SCREEN;
    BestPassed top(acc, last, best);
    while (p < last) {
        const uint32_t n = std::min(last - p, BLOCK);
        uint64_t ones = class_bits_avx2(classes, p, n);
        const uint32_t n_ones = static_cast<uint32_t>(__builtin_popcountll(ones));
        if (!may_beat_among_avx2(acc, n, n_ones, bar)) {
            acc.left += n_ones;
            acc.w_left += n;
            p += n;
            continue;
        }
        const uint32_t end = p + n;
        for (; p + 8 <= end; ones >>= 8) {
            const uint32_t boundary = top_bits_8(load_8(entries + p + 1));
            const __m256i left = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(acc.left)),
                                                  prefix_counts_8(ones & 0xff));
            const __m256i n_left =
                _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(acc.w_left)), from_one);
            uint32_t found = beating_8(left, n_left, w, t, bar) & boundary;
            if (to_best && found) {
                bar = SCREEN * take_lanes_avx2(top, p, std::exchange(found, 0), left, n_left);
            }
            if (found) {
                const uint32_t taken = static_cast<uint32_t>(__builtin_ctz(found)) + 1;
                acc.left += __builtin_popcountll(ones & low_bits(taken));
                acc.w_left += taken;
                return p + taken;
            }
            acc.left += __builtin_popcountll(ones & 0xff);
            acc.w_left += 8;
            p += 8;
        }
        for (; p < end; ones >>= 1) {
            acc.left += ones & 1;
            ++acc.w_left;
            if (!(entries[++p] & BOUNDARY) || !acc.may_beat(top.score())) continue;
            if (!to_best) return p;
            top.take(p, acc.left, acc.w_left);
        }
    }
    return to_best ? top.go_back() : last + 1;
}

FASTTREE_AVX2 inline __m256i records_of_8(const uint32_t* records, const uint32_t* entries) {
    int of[8];
    for (int i = 0; i < 8; ++i) of[i] = static_cast<int>(records[entries[i] & ROW]);
    return _mm256_setr_epi32(of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7]);
}
FASTTREE_AVX2 inline uint32_t lane_of_8(__m256i lanes, uint32_t i) {
    const __m256i at = _mm256_set1_epi32(static_cast<int>(i));
    return static_cast<uint32_t>(
        _mm256_cvtsi256_si32(_mm256_permutevar8x32_epi32(lanes, at)));
}
template <bool to_best>
FASTTREE_AVX2 inline uint32_t advance_avx2(BinaryGini<SampleWeights>& acc, const uint32_t* entries,
                                           uint32_t p, uint32_t last, double best) {
    const __m256i half = _mm256_set1_epi32((1 << RECORD_BITS) - 1);
    const double w = to_double(acc.w_total), t = to_double(acc.total);
    double bar = best * SCREEN;
    BestPassed top(acc, last, best);
    for (; p + 8 <= last; p += 8) {
        const __m256i sums = prefix_sums_8(
            records_of_8(reinterpret_cast<const uint32_t*>(acc.t.records), entries + p));
        const uint32_t boundary = top_bits_8(load_8(entries + p + 1));
        const __m256i left = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(acc.left)),
                                              _mm256_srli_epi32(sums, RECORD_BITS));
        const __m256i n = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(acc.w_left)),
                                           _mm256_and_si256(sums, half));
        uint32_t found = beating_8(left, n, w, t, bar) & boundary;
        if (to_best && found) {
            bar = SCREEN * take_lanes_avx2(top, p, std::exchange(found, 0), left, n);
        }
        if (found) {
            const uint32_t at = static_cast<uint32_t>(__builtin_ctz(found));
            acc.left = lane_of_8(left, at);
            acc.w_left = lane_of_8(n, at);
            return p + at + 1;
        }
        acc.left = static_cast<uint32_t>(_mm256_extract_epi32(left, 7));
        acc.w_left = static_cast<uint32_t>(_mm256_extract_epi32(n, 7));
    }
    return to_best ? advance_to_best_portable(top, acc, entries, p, last)
                   : advance_portable(acc, entries, p, last, best);
}

FASTTREE_AVX2 inline __m256i values_of_4(const int64_t* values, const uint32_t* entries) {
    return _mm256_setr_epi64x(values[entries[0] & ROW], values[entries[1] & ROW],
                              values[entries[2] & ROW], values[entries[3] & ROW]);
}
FASTTREE_AVX2 inline int64_t lane_of_4(__m256i lanes, uint32_t i) {
    alignas(32) int64_t of[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(of), lanes);
    return of[i];
}

// Squared error without weights: sums about the node's mean, rounded, as those of its Screen.
FASTTREE_AVX2 inline uint32_t advance_avx2(SquaredError<UnitWeights, true>& acc,
                                           const uint32_t* entries, uint32_t p, uint32_t last,
                                           double best) {
    const int64_t offset = acc.mean_sum;
    const __m256i offsets = _mm256_set1_epi64x(offset);
    const __m256d from_one = _mm256_setr_pd(1, 2, 3, 4);
    const double w = to_double(acc.w_total), bar = best * SCREEN;
    const double t = to_double(acc.total1 - offset * acc.w_total);
    __m256i left = _mm256_set1_epi64x(acc.left1 - offset * acc.w_left);  // at p
    for (; p + 4 <= last; p += 4) {
        const uint32_t boundary = static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(entries + p + 1)))));
        const __m256i sums = prefix_sums_4(
            _mm256_sub_epi64(values_of_4(acc.t.sums, entries + p), offsets));
        left = _mm256_add_epi64(left, sums);
        const __m256d n = _mm256_add_pd(_mm256_set1_pd(to_double(acc.w_left)), from_one);
        const uint32_t found = beating_4(to_doubles_4(left), n, w, t, bar) & boundary;
        if (found) {
            const uint32_t at = static_cast<uint32_t>(__builtin_ctz(found));
            acc.w_left += at + 1;
            acc.left1 = lane_of_4(left, at) + offset * acc.w_left;
            return p + at + 1;
        }
        left = _mm256_permute4x64_epi64(left, 0xff);
        acc.w_left += 4;
    }
    acc.left1 = lane_of_4(left, 0) + offset * acc.w_left;
    return advance_portable(acc, entries, p, last, best);
}

// The same with weights: a record per row holds its weight below its sum.
FASTTREE_AVX2 inline uint32_t advance_avx2(SquaredError<SampleWeights, true>& acc,
                                           const uint32_t* entries, uint32_t p, uint32_t last,
                                           double best) {
    const int64_t offset = acc.mean_sum;
    const double w = to_double(acc.w_total), bar = best * SCREEN;
    const double t = to_double(acc.total1 - offset * acc.w_total);
    const bool in_records = acc.t.sum_records != nullptr;
    for (; p + 4 <= last; p += 4) {
        int64_t left[4], n[4];
        double about_mean[4];
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t row = entries[p + i] & ROW;
            int64_t sum, weight;
            if (in_records) {
                sum = acc.t.sum_records[row] >> SUM_RECORD_BITS;
                weight = acc.t.sum_records[row] & ((1 << SUM_RECORD_BITS) - 1);
            } else {
                sum = acc.t.sums[row];
                weight = acc.t.weights[row];
            }
            left[i] = (i == 0 ? acc.left1 : left[i - 1]) + sum;
            n[i] = (i == 0 ? acc.w_left : n[i - 1]) + weight;
            about_mean[i] = to_double(left[i] - offset * n[i]);
        }
        const uint32_t boundary = static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(entries + p + 1)))));
        const __m256d n_left = _mm256_setr_pd(to_double(n[0]), to_double(n[1]), to_double(n[2]),
                                              to_double(n[3]));
        const uint32_t found =
            beating_4(_mm256_loadu_pd(about_mean), n_left, w, t, bar) & boundary;
        if (found) {
            const uint32_t at = static_cast<uint32_t>(__builtin_ctz(found));
            acc.left1 = left[at];
            acc.w_left = n[at];
            return p + at + 1;
        }
        acc.left1 = left[3];
        acc.w_left = n[3];
    }
    return advance_portable(acc, entries, p, last, best);
}

#endif

}  // namespace fasttree
