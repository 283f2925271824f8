// Moving along runs without looking at positions that cannot matter.
//
// The class counts at a position bound every score within a stretch of rows behind it. Where that
// is below the best so far, none of its positions need a score, and its rows are only counted by
// class. Most columns of many-class data are far from the best one: they are counted through. In a
// large node of nearly one class, with AVX-512, rows of this class that follow each other are one
// step, up to 64 of them.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/score/advance.hpp"
#include "engine/score/classification.hpp"

namespace fasttree {

// The largest l_c / w_l - r_c / w_r of all classes, l and r being their counts left and right.
inline double largest_difference(const int64_t* left, const int64_t* right, int n_classes,
                                 double per_left, double per_right) {
    double largest = MINUS_INFINITY;
    for (int c = 0; c < n_classes; ++c) {
        largest = std::max(largest,
                           to_double(left[c]) * per_left - to_double(right[c]) * per_right);
    }
    return largest;
}
#if FASTTREE_X86
FASTTREE_AVX512 inline double largest_difference_avx512(const int64_t* left, const int64_t* right,
                                                        int n_classes, double per_left,
                                                        double per_right) {
    __m512d largest = _mm512_set1_pd(MINUS_INFINITY);
    for (int c = 0; c < n_classes; c += 8) {
        const uint32_t n = static_cast<uint32_t>(std::min(8, n_classes - c));
        const __mmask8 lanes = static_cast<__mmask8>(low_bits(n));
        const __m512d l = _mm512_cvtepi64_pd(_mm512_maskz_loadu_epi64(lanes, left + c));
        const __m512d r = _mm512_cvtepi64_pd(_mm512_maskz_loadu_epi64(lanes, right + c));
        const __m512d difference = _mm512_sub_pd(_mm512_mul_pd(l, _mm512_set1_pd(per_left)),
                                                 _mm512_mul_pd(r, _mm512_set1_pd(per_right)));
        largest = _mm512_mask_max_pd(largest, lanes, largest, difference);
    }
    return _mm512_reduce_max_pd(largest);
}
#endif

// Whether a position may score more than `best` from here on until n rows have gone to the left,
// fewer than there are on the right, whatever their classes.
//
// With e rows of each class moved, the score
//     sum (l + e)^2 / (w_l + sum e) + sum (r - e)^2 / (w_r - sum e)
// is convex in e, as squares over a linear function are. Where e >= 0 and sum e <= n it is at most
// the largest of its values at the corners: no row moved, or n of one class.
template <class Class>
inline bool may_beat_within(const Gini<UnitWeights, Class, true>& acc, uint32_t n, double best) {
    constexpr double SLACK = 1 - 1e-12;
    const double squares_left = to_double(acc.squares_left), w_left = to_double(acc.w_left);
    const double squares_right = to_double(acc.squares_right);
    const double w_right = to_double(acc.w_total - acc.w_left);
    const double here = (w_left > 0.0 ? squares_left / w_left : 0.0) + squares_right / w_right;
    if (here > best * SLACK) return true;
    const double per_left = 1.0 / (w_left + n), per_right = 1.0 / (w_right - n);
    double difference;
#if FASTTREE_X86
    if (acc.t.simd == SIMD_AVX512) {
        difference = largest_difference_avx512(acc.left.data(), acc.right.data(), acc.stride,
                                               per_left, per_right);
    } else
#endif
        difference = largest_difference(acc.left.data(), acc.right.data(), acc.stride, per_left,
                                        per_right);
    const double moved = to_double(int64_t{n}) * n;
    const double there = (squares_left + moved) * per_left + (squares_right + moved) * per_right
                         + 2.0 * n * difference;
    return there > best * SLACK;
}

// Moves n rows from right to left if no position from the first to behind the last scores more
// than `best`; leaves the accumulator as it was if one might.
template <class Class>
inline bool skip(Gini<UnitWeights, Class, true>& acc, const uint32_t* entries, uint32_t n,
                 double best) {
    if (n >= acc.w_total - acc.w_left || may_beat_within(acc, n, best)) return false;
    acc.count_rows(entries, n, acc.left.data());
    acc.w_left += n;
    acc.settle_left();
    return true;
}

#if FASTTREE_X86
// Moves n rows of class c, fewer than the right side has, to the left, unless one of these
// positions may score more than `best`; the first does not. In the number of rows moved the score
// is convex, so the last position decides. With no row on the left yet the limit of the score is
// the node's own, which no split is below.
template <class Class>
inline bool skip_class(Gini<UnitWeights, Class, true>& acc, size_t c, uint32_t n, double best) {
    const int64_t squares_left = acc.squares_left, squares_right = acc.squares_right;
    acc.template move_squares<int64_t>(acc.left[c], acc.right[c], n, 1);
    acc.w_left += n;
    if (acc.may_beat(best)) {
        acc.squares_left = squares_left;
        acc.squares_right = squares_right;
        acc.w_left -= n;
        return false;
    }
    acc.left[c] += n;
    acc.right[c] -= n;
    return true;
}

// See advance(), of a node with a class of nearly all rows. Of 64 rows those of this class that
// follow each other are one step, each of the others is one.
template <class Class>
inline uint32_t advance_by_class(Gini<UnitWeights, Class, true>& acc, const uint32_t* entries,
                                 uint32_t p, uint32_t last, double best) {
    constexpr uint32_t BLOCK = 64;
    const size_t c = static_cast<size_t>(acc.common.of_node());
    bool is_below = false;  // whether position p is known not to score more than `best`
    while (last - p >= BLOCK) {
        const uint32_t end = p + BLOCK;
        uint64_t others = ~acc.common.among(entries + p, BLOCK);
        // Loop invariant: the lowest bits of `others` are those of entries[p:end].
        while (p < end) {
            const uint32_t n_common =
                others == 0 ? end - p : static_cast<uint32_t>(lowest_bit(others));
            const uint32_t n = std::max(n_common, 1u);
            is_below = n_common > 0 && (is_below || !acc.may_beat(best))
                       && skip_class(acc, c, n, best);
            if (!is_below) {
                const uint32_t found = advance_portable(acc, entries, p, p + n, best);
                if (found <= p + n) return found;
            }
            p += n;
            others = n < BLOCK ? others >> n : 0;
        }
    }
    return advance_portable(acc, entries, p, last, best);
}
#endif

// See advance(). Unless nearly all rows are of a class, stretches are twice as long as the one
// skipped before, or a fraction of one that may hold a better position, until the next ones would
// be too short; these are looked at.
template <class Class>
inline uint32_t advance(Gini<UnitWeights, Class, true>& acc, const uint32_t* entries, uint32_t p,
                        uint32_t last, double best) {
#if FASTTREE_X86
    if (acc.common.of_node() >= 0) return advance_by_class(acc, entries, p, last, best);
#endif
    constexpr uint32_t MOST_LOOKS = 8;  // times the shortest stretch
    const uint32_t shortest = 16 + static_cast<uint32_t>(acc.stride);
    uint32_t stretch = 16 * shortest, n_looks = 1;
    while (last - p >= shortest) {
        const uint32_t n = std::min(stretch, last - p);
        if (skip(acc, entries + p, n, best)) {
            p += n;
            stretch = 2 * n;
            n_looks = 1;
            continue;
        }
        stretch = n / 4;
        if (stretch >= shortest) continue;
        const uint32_t next = p + std::min(n_looks * shortest, last - p);
        const uint32_t found = advance_portable(acc, entries, p, next, best);
        if (found <= next) return found;
        p = next;
        stretch = shortest;
        n_looks = std::min(2 * n_looks, MOST_LOOKS);
    }
    return advance_portable(acc, entries, p, last, best);
}

}  // namespace fasttree
