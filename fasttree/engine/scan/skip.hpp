// Moving along runs without looking at positions that cannot matter.
//
// A stretch of rows is counted by class first, which costs a fraction of scoring its positions.
// The counts bound every score within it; where that is below the best so far, none of its
// positions need a score. Most columns of many-class data are far from the best one: they are
// counted through.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/score/advance.hpp"
#include "engine/score/classification.hpp"

namespace fasttree {

// Adds the classes of n entries to `counts`. Long stretches are counted in tables that take turns:
// rows of one class often follow each other, and each would wait for the one before.
template <class Acc>
inline void count_classes(const Acc& acc, const uint32_t* entries, uint32_t n, int64_t* counts) {
    constexpr uint32_t TABLES = 4, CLASSES = 64;
    uint32_t i = 0;
    if (n >= TABLES * CLASSES && acc.stride <= static_cast<int>(CLASSES)) {
        uint32_t tables[TABLES][CLASSES] = {};
        for (; i + TABLES <= n; i += TABLES) {
            for (uint32_t k = 0; k < TABLES; ++k) ++tables[k][acc.y[entries[i + k] & ROW]];
        }
        for (const auto& table : tables) {
            for (int c = 0; c < acc.stride; ++c) counts[c] += table[c];
        }
    }
    for (; i < n; ++i) ++counts[acc.y[entries[i] & ROW]];
}

// Moves n rows from right to left if no position from the first to behind the last scores more
// than `best`; leaves the accumulator as it was if one might.
//
// Let l, r be the class counts left and right, L, R the sums of their squares, d the counts of the
// stretch. After j of its rows, e of each class with 0 <= e <= d and sum e = j,
//     sum (l + e)^2 = L + sum e (2 l + e) <= L + j a,    a = max 2 l + d over classes with d > 0,
//     sum (r - e)^2 = R - sum e (2 r - e) <= R - j b,    b = min 2 r - d over the same,
// so the score is at most (L + j a) / (w_L + j) + (R - j b) / (w_R - j). Either term is monotonic
// in j, hence no larger than at one of the ends. Sums are exact, quotients have slack.
template <class Class>
inline bool skip(Gini<UnitWeights, Class, true>& acc, const uint32_t* entries, uint32_t n,
                 double best) {
    constexpr double SLACK = 1 - 1e-12;
    if (n >= acc.w_total - acc.w_left) return false;
    int64_t* left = acc.left.data();
    count_classes(acc, entries, n, left);
    int64_t squares_left = 0, squares_right = 0, a = 0, b = INT64_MAX;
    for (int c = 0; c < acc.stride; ++c) {
        const int64_t l = left[c], r = acc.total[c] - l, r_before = acc.right[c];
        squares_left += l * l;
        squares_right += r * r;
        if (r == r_before) continue;
        a = std::max(a, l + acc.total[c] - r_before);
        b = std::min(b, r + r_before);
    }
    const auto rate = [](int64_t squares, int64_t w) {
        return w > 0 ? to_double(squares) / to_double(w) : 0.0;
    };
    const int64_t w_left = acc.w_left, w_right = acc.w_total - w_left;
    const double most_left = std::max(rate(acc.squares_left, w_left),
                                      rate(acc.squares_left + n * a, w_left + n));
    const double most_right = std::max(rate(acc.squares_right, w_right),
                                       rate(acc.squares_right - n * b, w_right - n));
    if (most_left + most_right > best * SLACK) {
        for (int c = 0; c < acc.stride; ++c) left[c] = acc.total[c] - acc.right[c];
        return false;
    }
    for (int c = 0; c < acc.stride; ++c) acc.right[c] = acc.total[c] - left[c];
    acc.squares_left = squares_left;
    acc.squares_right = squares_right;
    acc.w_left += n;
    return true;
}

// See advance(). Stretches are as long as the score seems to stay low: a row changes it by about
// what two rows of a child have in common.
template <class Class>
inline uint32_t advance(Gini<UnitWeights, Class, true>& acc, const uint32_t* entries, uint32_t p,
                        uint32_t last, double best) {
    if (!(best > 0.0)) return advance_portable(acc, entries, p, last, best);
    const uint32_t shortest = 8 + static_cast<uint32_t>(acc.stride);
    double ease = 0.7;  // halved when a stretch was too long
    while (p < last) {
        const double w_left = to_double(acc.w_left), w_right = to_double(acc.w_total) - w_left;
        const double left = w_left > 0.0 ? to_double(acc.squares_left) / w_left : 0.0;
        const double right = to_double(acc.squares_right) / w_right;
        const double same_right = right / w_right;
        const double change = w_left > 0.0 ? left / w_left + same_right : 2.0 * same_right;
        const double stretch = std::min(ease * (best - left - right) / change, last - p + 0.0);
        if (stretch >= shortest) {
            const uint32_t n = static_cast<uint32_t>(stretch);
            if (skip(acc, entries + p, n, best)) {
                p += n;
                continue;
            }
            ease *= 0.5;
        }
        const uint32_t next = std::min(last, p + shortest);
        const uint32_t found = advance_portable(acc, entries, p, next, best);
        if (found <= next) return found;
        p = next;
    }
    return last + 1;
}

}  // namespace fasttree
