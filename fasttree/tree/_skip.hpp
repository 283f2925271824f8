// Moving along runs without looking at positions that cannot matter.
//
// A row moved from the right child to the left raises sum l_c^2 / w_L by at most 2 and
// sum r_c^2 / w_R by at most 1. So after a position whose score is short of the best by g, the
// next g / 3 positions need no score: their rows are counted, and the sums of squares made up for
// at the end. Most columns of many-class data are far from the best one: they are counted through.
#pragma once
#include <algorithm>
#include <cstdint>

#include "_advance.hpp"
#include "_classification.hpp"

namespace fasttree {

// Adds entries to the class counts and brings the squares up to date.
template <class Class>
inline void add_all(Gini<UnitWeights, Class, true>& acc, const uint32_t* entries, uint32_t n) {
    int64_t* left = acc.left.data();
    for (uint32_t i = 0; i < n; ++i) ++left[acc.y[entries[i] & ROW]];
    int64_t squares_left = 0, squares_right = 0;
    for (int c = 0; c < acc.stride; ++c) {
        const int64_t l = left[c], r = acc.total[c] - l;
        acc.right[c] = r;
        squares_left += l * l;
        squares_right += r * r;
    }
    acc.squares_left[0] = squares_left;
    acc.squares_right[0] = squares_right;
    acc.w_left += n;
}

// See advance().
template <class Class>
inline uint32_t advance(Gini<UnitWeights, Class, true>& acc, const uint32_t* entries, uint32_t p,
                        uint32_t last, double best) {
    constexpr double RISE = 3.0 + 1e-9;
    const uint32_t worthwhile = 8 + 2 * static_cast<uint32_t>(acc.stride);
    while (p < last) {
        const double gap = acc.w_left > 0 ? best - acc.score() : 0.0;
        const double skip = std::min(gap / RISE, static_cast<double>(last - p));
        if (skip > worthwhile) {
            const uint32_t n = static_cast<uint32_t>(skip);
            add_all(acc, entries + p, n);
            p += n;
            if (p == last) break;
        }
        const uint32_t next = std::min(last, p + worthwhile);
        const uint32_t found = advance_portable(acc, entries, p, next, best);
        if (found <= next) return found;
        p = next;
    }
    return last + 1;
}

}  // namespace fasttree
