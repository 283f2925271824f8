// The impurity and score formulas, each in one place.
//
// Scores rank the candidate splits of a node; larger is better, and a score is one double
// expression over integer statistics (tree/README.rst, promise 1). Swapping the two children leaves
// every score unchanged, bit for bit.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/simd/simd.hpp"

namespace fasttree {

using wide_t = __int128;

constexpr double LOG_2 = 0.693147180559945309417232121458;
constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double MINUS_INFINITY = -INFINITE;

// x log2 x over a count or an integer weight.
inline double xlog2x(double x) { return x > 0.0 ? x * std::log2(x) : 0.0; }

// Exact integers up to 2**127 as doubles; symmetric in the sign.
inline double to_double(int64_t v) { return static_cast<double>(v); }
inline double to_double(wide_t v) {
    const bool negative = v < 0;
    const unsigned __int128 u = negative ? -static_cast<unsigned __int128>(v)
                                         : static_cast<unsigned __int128>(v);
    const double high = static_cast<double>(static_cast<uint64_t>(u >> 64));
    const double low = static_cast<double>(static_cast<uint64_t>(u));
    const double magnitude = high * 18446744073709551616.0 + low;
    return negative ? -magnitude : magnitude;
}

// Between-children sum of squares times the node weight: D^2 / (w_L w_R) with
// D = S_L w_R - S_R w_L = S_L w - S w_L. D is formed exactly, so nothing cancels deep in the
// tree, where S_L^2 / w_L + S_R^2 / w_R has lost its digits.
// `Integer` holds D: 64 bits do where sums and weights are small.
template <class Integer = wide_t>
FASTTREE_INLINE inline double separation(int64_t left, int64_t w_left, int64_t total,
                                         int64_t w_total) {
    const double d = to_double(static_cast<Integer>(left) * w_total
                               - static_cast<Integer>(total) * w_left);
    return d * d / (to_double(w_left) * to_double(w_total - w_left));
}

// 1 - sum_c p_c^2, of the sum of the squares of the class weights.
inline double gini(double squares, double weight) { return 1.0 - squares / (weight * weight); }

// Impurities of one output, added to the sum over the outputs before it in the order in which
// scikit-learn adds them.
inline double add_gini(double sum, const int64_t* counts, int64_t n_classes, double weight) {
    double squares = 0.0;
    for (int64_t c = 0; c < n_classes; ++c) {
        const double count = to_double(counts[c]);
        squares += count * count;
    }
    return sum + gini(squares, weight);
}

// Entropy: -sum_c p_c log2 p_c; log2 as ln(p) / ln(2), like scikit-learn.
inline double add_entropy(double sum, const int64_t* counts, int64_t n_classes, double weight) {
    for (int64_t c = 0; c < n_classes; ++c) {
        if (counts[c] > 0) {
            const double p = to_double(counts[c]) / weight;
            sum -= p * (std::log(p) / LOG_2);
        }
    }
    return sum;
}

}  // namespace fasttree
