// What a split can score at most if it separates few rows from the others.
//
// A threshold on a sparse feature separates some of its nonzeros from all other rows of the node.
// With an upper bound on the score of separating k rows, columns of too few nonzeros need not be
// looked at: in text nearly all. Bounds grow with k, up to half the node. Of a column that is
// looked at, a bound on separating any subset of its rows may tell that their order does not
// matter. Bounds only screen, with slack for rounding, so they cannot change a tree.
//
// Notation: W weight of the node, v <= k w_max <= W / 2 weight of the rows separated.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/core/entry_bits.hpp"
#include "engine/core/nonzeros.hpp"
#include "engine/score/absolute_error.hpp"
#include "engine/score/binary_gini.hpp"
#include "engine/score/classification.hpp"
#include "engine/score/regression.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

constexpr double SLACK = 1e-12;

// begin(acc, rows, n) takes a node; bound(acc, k, v) is the bound.
template <class Acc>
struct SubsetScoreBound {
    static constexpr bool exists = false;
};

// Class 1 weighs t. The rows separated are all of class 1, at most t of them, or all of class 0:
// D = v (W - t) or D = v t.
template <class Weights>
struct SubsetScoreBound<BinaryGini<Weights>> {
    static constexpr bool exists = true;

    void begin(const BinaryGini<Weights>&, const uint32_t*, uint32_t) {}
    double bound(const BinaryGini<Weights>& acc, double, double v) const {
        const double w = to_double(acc.w_total), ones = to_double(acc.total), zeros = w - ones;
        const double v1 = std::min(v, ones), v0 = std::min(v, zeros);
        return std::max(v1 * zeros * zeros / (w - v1), v0 * ones * ones / (w - v0)) * (1 + SLACK);
    }
};

// sum l_c^2 <= v^2 and sum t_c l_c >= v t_min, for l the class weights separated and t the node's:
// sum l_c^2 / v + sum (t_c - l_c)^2 / (W - v) <= v + (sum t_c^2 - 2 v t_min + v^2) / (W - v).
template <class Weights, class Class, bool single_output>
struct SubsetScoreBound<Gini<Weights, Class, single_output>> {
    using Acc = Gini<Weights, Class, single_output>;
    static constexpr bool exists = true;
    double sum_squares = 0.0, sum_smallest = 0.0;  // over outputs

    void begin(const Acc& acc, const uint32_t*, uint32_t) {
        sum_squares = to_double(acc.squares_total);
        sum_smallest = 0.0;
        for (int k = 0; k < acc.outputs(); ++k) {
            int64_t smallest = acc.w_total;
            for (int c = 0; c < acc.stride; ++c) {
                const int64_t t = acc.total[k * acc.stride + c];
                if (t > 0) smallest = std::min(smallest, t);
            }
            sum_smallest += to_double(smallest);
        }
    }
    double bound(const Acc& acc, double, double v) const {
        const double n_outputs = acc.outputs(), w = to_double(acc.w_total);
        const double rest = sum_squares - 2.0 * v * sum_smallest + n_outputs * v * v;
        return (n_outputs * v + rest / (w - v)) * (1 + SLACK);
    }
};

// What a split tells about an output is at most the entropy of the sides themselves.
template <class Weights, class Class, bool single_output>
struct SubsetScoreBound<Entropy<Weights, Class, single_output>> {
    using Acc = Entropy<Weights, Class, single_output>;
    static constexpr bool exists = true;
    double unsplit = 0.0;

    void begin(const Acc& acc, const uint32_t*, uint32_t) {
        unsplit = -acc.outputs() * xlog2x(to_double(acc.w_total));
        for (int64_t weight : acc.total) unsplit += xlog2x(to_double(weight));
    }
    double bound(const Acc& acc, double, double v) const {
        const double w = to_double(acc.w_total);
        const double sides = xlog2x(w) - xlog2x(v) - xlog2x(w - v);
        return unsplit + acc.outputs() * (sides + SLACK * xlog2x(w));
    }
};

// D = W sum e over the rows separated, e = s - w S / W, and (sum e)^2 <= v sum e^2 / w by Cauchy
// and Schwarz: D^2 / (v (W - v)) <= W^2 min(k max e^2 / w, sum e^2 / w of the node) / (W - v).
template <class Weights, bool single_output>
struct SubsetScoreBound<SquaredError<Weights, single_output>> {
    using Acc = SquaredError<Weights, single_output>;
    static constexpr bool exists = true;
    std::vector<double> largest, sum;  // of e^2 / w, by output

    void begin(const Acc& acc, const uint32_t* rows, uint32_t n) {
        const int n_outputs = acc.outputs();
        const double w = to_double(acc.w_total);
        largest.assign(n_outputs, 0.0);
        sum.assign(n_outputs, 0.0);
        for (int k = 0; k < n_outputs; ++k) {
            const double mean = to_double(acc.total(k)) / w;
            for (uint32_t i = 0; i < n; ++i) {
                const size_t place = static_cast<size_t>(rows[i]) * n_outputs + k;
                const double s = to_double(acc.t.sums[place]);
                const double weight = to_double(acc.w[rows[i]]), part = mean * weight;
                const double e = std::fabs(s - part) + SLACK * (std::fabs(s) + std::fabs(part));
                largest[k] = std::max(largest[k], e * e / weight);
                sum[k] += e * e / weight;
            }
        }
    }
    double bound(const Acc& acc, double n, double v) const {
        const double w = to_double(acc.w_total);
        double score = 0.0;
        for (int k = 0; k < acc.outputs(); ++k) {
            const double unit = single_output ? 1.0 : acc.t.sum_unit[k];
            score += unit * unit * std::min(n * largest[k], sum[k]);
        }
        return score * w * w / (w - v) * (1 + SLACK);
    }
};

// Let m be the median of the others. The node's rows have no more error about their own median than
// about m, so a split saves at most the separated rows' errors about m, v |y - m| at most. At least
// (W - v) / 2 of the node's weight is at m or below, and as much at m or above.
template <class Weights>
struct SubsetScoreBound<AbsoluteError<Weights>> {
    using Acc = AbsoluteError<Weights>;
    static constexpr bool exists = true;
    double total = 0.0;                       // error of the node, over outputs
    std::vector<std::vector<double>> before;  // by output: weight before each place in its order

    void begin(const Acc& acc, const uint32_t*, uint32_t n) {
        total = 0.0;
        before.resize(acc.n_outputs);
        for (int k = 0; k < acc.n_outputs; ++k) {
            const auto& order = acc.orders[k];
            bool exact;
            const double median = to_double(order.levels[acc.median_place(order, exact)]);
            double error = 0.0;
            int64_t weight = 0;
            before[k].resize(n);
            for (uint32_t i = 0; i < n; ++i) {
                const int64_t w = acc.w[order.rows[i]];
                before[k][i] = to_double(weight);
                weight += w;
                error += to_double(w) * std::fabs(to_double(order.levels[i]) - median);
            }
            total += error * acc.scale(k);
        }
    }
    double bound(const Acc& acc, double, double v) const {
        const double w = to_double(acc.w_total);
        const double least = (w - v) / 2 * (1 - SLACK), most = (w + v) / 2 * (1 + SLACK);
        double farthest = 0.0;
        for (int k = 0; k < acc.n_outputs; ++k) {
            const auto& levels = acc.orders[k].levels;
            const auto &from = before[k].begin(), &to = before[k].end();
            // The first place that ends behind `least`, the last one that begins up to `most`.
            const auto low = levels[std::lower_bound(from + 1, to, least) - from - 1];
            const auto high = levels[std::upper_bound(from, to, most) - from - 1];
            const double reach = std::max(to_double(levels.back()) - to_double(low),
                                          to_double(high) - to_double(levels.front()));
            farthest += reach * acc.scale(k);
        }
        return v * farthest * (1 + SLACK) - total * (1 - SLACK);
    }
};

// Whether separating any of some rows from the others of the node may score more than `score`,
// whatever their order: the entries of a column that has not been sorted. `max_class_count`: see
// FeatureBound; lowered if known.
template <class Acc>
struct SubsetBound {
    static constexpr bool exists = false, has_max_class_count = false;
};

// Rows of class 1 of two.
#if FASTTREE_X86
FASTTREE_AVX512 inline uint32_t count_ones_avx512(const uint32_t* class_bits,
                                                  const uint32_t* entries, uint32_t n) {
    constexpr uint32_t LANES = 16;
    uint32_t ones = 0;
    for (uint32_t i = 0; i < n; i += LANES) {
        const uint32_t lanes = static_cast<uint32_t>(low_bits(std::min(n - i, LANES)));
        const uint32_t of_class_1 = bits_of_16(class_bits, entries + i, lanes);
        ones += static_cast<uint32_t>(__builtin_popcount(of_class_1));
    }
    return ones;
}
#endif
inline uint32_t count_ones(const Targets& t, const uint32_t* entries, uint32_t n) {
#if FASTTREE_X86
    if (t.simd == SIMD_AVX512) return count_ones_avx512(t.class_bits, entries, n);
#endif
    uint32_t ones = 0;
    for (uint32_t i = 0; i < n; ++i) ones += get_bit(t.class_bits, entries[i] & ROW);
    return ones;
}

// D^2 / (w_L w_R) is convex in the class weights separated, so it is largest where each class is
// separated as a whole or not at all.
template <class Weights>
struct SubsetBound<BinaryGini<Weights>> {
    static constexpr bool exists = true, has_max_class_count = false;

    bool may_beat(const BinaryGini<Weights>& acc, const uint32_t* entries, uint32_t n,
                  double score, uint32_t&) {
        int64_t ones = 0, all = 0;
        if constexpr (Weights::weighted) {
            for (uint32_t i = 0; i < n; ++i) {
                const uint32_t row = entries[i] & ROW;
                const int64_t weight = acc.w[row];
                ones += acc.y[row] ? weight : 0;
                all += weight;
            }
        } else {
            ones = count_ones(acc.t, entries, n);
            all = n;
        }
        const auto most = [&acc](int64_t class_1, int64_t w) {
            if (w == 0 || w == acc.w_total) return 0.0;
            return separation(class_1, w, acc.total, acc.w_total);
        };
        const double pure = std::max(most(ones, ones), most(0, all - ones));
        return !(std::max(pure, most(ones, all)) * (1 + SLACK) <= score);
    }
};

// Let d be the class weights of the rows, V their sum, t the node's, g = sum t_c^2 / W. The score
//     sum e_c^2 / v + sum (t_c - e_c)^2 / (W - v)
// of separating e, v in all, is convex in e, so it is largest where each class is separated as a
// whole or not at all. Less g it is the mean, weighted by e, of
//     e_c + q_c v / (W - v),   q_c = g - 2 t_c + e_c,
// so no more than the largest of these: at v = V if q_c > 0, else at the least v there is, d_c.
// They are not negative, as W + g >= 2 t_c, so separating nothing or all of the node is no
// exception.
template <class Weights, class Class>
struct SubsetBound<Gini<Weights, Class, true>> {
    using Acc = Gini<Weights, Class, true>;
    static constexpr bool exists = true, has_max_class_count = !Weights::weighted;
    std::vector<int64_t> weights;  // by class, all 0 between calls

    bool may_beat(const Acc& acc, const uint32_t* entries, uint32_t n, double score,
                  uint32_t& max_class_count) {
        weights.resize(acc.stride);
        int64_t all = 0, largest = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t row = entries[i] & ROW;
            const int64_t weight = acc.w[row];
            weights[acc.y[row]] += weight;
            all += weight;
        }
        const double w = to_double(acc.w_total), v = to_double(all);
        const double mean = to_double(acc.squares_total) / w, gain = score - mean;
        const double slack = SLACK * (std::fabs(score) + w) * w;
        bool may = false;
        const auto take = [&](size_t c) {
            const double d = to_double(weights[c]);
            const double q = mean - 2.0 * to_double(acc.total[c]) + d;
            const double separated = q > 0.0 ? v : d;
            may |= d > 0.0 && !((d - gain) * (w - separated) + q * separated <= -slack);
            largest = std::max(largest, weights[c]);
            weights[c] = 0;
        };
        if (n < static_cast<uint32_t>(acc.stride)) {
            for (uint32_t i = 0; i < n; ++i) take(acc.y[entries[i] & ROW]);
        } else {
            for (int c = 0; c < acc.stride; ++c) take(c);
        }
        if constexpr (has_max_class_count) max_class_count = static_cast<uint32_t>(largest);
        return may;
    }
};

// As in SubsetScoreBound, D^2 <= W^2 v sum e^2 / w over the rows; the slack covers the sum's
// rounding.
template <class Weights>
struct SubsetBound<SquaredError<Weights, true>> {
    using Acc = SquaredError<Weights, true>;
    static constexpr bool exists = true, has_max_class_count = false;

    bool may_beat(const Acc& acc, const uint32_t* entries, uint32_t n, double score,
                  uint32_t&) {
        const double w = to_double(acc.w_total), mean = to_double(acc.total(0)) / w;
        constexpr double ROUNDING = 2.3e-16;
        int64_t rest = acc.w_total;
        double sum = 0.0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t row = entries[i] & ROW;
            const double s = to_double(acc.t.sums[row]);
            const double weight = to_double(acc.w[row]), part = mean * weight;
            const double e = std::fabs(s - part) + SLACK * (std::fabs(s) + std::fabs(part));
            sum += e * e / weight;
            rest -= acc.w[row];
        }
        return !(sum * w * w * (1 + SLACK + n * ROUNDING) <= score * to_double(rest));
    }
};

// Fewest rows, at most half the node's and one, that must be separated to score at least `score`.
template <class Acc>
class SeparationBound {
    SubsetScoreBound<Acc> bound_;
    double w_max_ = 1.0;
    bool holds_ = SubsetScoreBound<Acc>::exists;
    bool begun_ = false;

public:
    explicit SeparationBound(const Targets& targets) {
        if (targets.weights == nullptr) return;
        holds_ &= !targets.has_negative_weights;
        int64_t largest = 0;
        for (size_t row = 0; row < targets.n_rows; ++row) {
            largest = std::max(largest, targets.weights[row]);
        }
        w_max_ = to_double(largest);
    }
    void begin_node() { begun_ = false; }
    // Whether the weights are such that there are bounds.
    bool holds() const { return holds_; }

    FeatureBound feature_bound(const Acc& acc, const uint32_t* rows, uint32_t n, double score) {
        FeatureBound out;
        out.least = least(acc, rows, n, score);
        if constexpr (SubsetBound<Acc>::has_max_class_count) {
            out.rows = to_double(acc.w_total);
            out.mean = to_double(acc.squares_total) / out.rows;
            out.gain = score - out.mean - SLACK * (std::fabs(score) + out.rows);
        }
        return out;
    }

private:
    uint32_t least(const Acc& acc, const uint32_t* rows, uint32_t n, double score) {
        if constexpr (SubsetScoreBound<Acc>::exists) {
            if (!holds_) return 1;
            if (!begun_) bound_.begin(acc, rows, n);
            begun_ = true;
            const double w = to_double(acc.w_total);
            uint32_t low = 1, high = n / 2 + 1;
            while (low < high) {
                const uint32_t k = low + (high - low) / 2;
                const double v = k * w_max_;
                if (v > w / 2 || bound_.bound(acc, k, v) >= score) high = k;
                else low = k + 1;
            }
            return low;
        }
        return 1;
    }
};

}  // namespace fasttree
