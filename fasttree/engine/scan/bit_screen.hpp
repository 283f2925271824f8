// Which of the columns of two values may be the best split of a node: scores of all of them in
// vectors, from their cells (bit_cells.hpp).
//
// Scores here round differently from the accumulator's. The screen never passes over a column
// that, by the accumulator's, would be the best, or as good.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/impurity.hpp"
#include "engine/score/binary_gini.hpp"
#include "engine/score/classification.hpp"
#include "engine/score/regression.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// By default there is none, and all columns are scanned. `fits` says whether doubles hold the
// numbers of the node that the accumulator holds; `scores` gives n_set, the rows whose bit is set,
// and scores, of some of the bits; both are arrays of n_bits.
template <class Acc>
struct BitScores {
    static constexpr bool exists = false;
};

constexpr int64_t MOST_IN_DOUBLES = int64_t{1} << 26;  // squares of such counts are exact

template <>
struct BitScores<BinaryGini<UnitWeights>> {
    static constexpr bool exists = true;
    static bool fits(const BinaryGini<UnitWeights>& acc) { return acc.w_total < MOST_IN_DOUBLES; }

    FASTTREE_INLINE static void score(const BinaryGini<UnitWeights>& acc, const uint64_t* items,
                                      size_t n_bits, double* n_set, double* scores) {
        const double w = to_double(acc.w_total), t = to_double(acc.total);
        FASTTREE_IVDEP
        for (size_t b = 0; b < n_bits; ++b) {
            const double n = static_cast<int32_t>(items[b] >> 32);
            const double ones = static_cast<int32_t>(items[b]);
            const double d = ones * w - t * n;
            n_set[b] = n;
            scores[b] = d * d / (n * (w - n));
        }
    }
};

template <>
struct BitScores<Gini<UnitWeights, uint8_t, true>> {
    using Acc = Gini<UnitWeights, uint8_t, true>;
    static constexpr bool exists = true;
    static bool fits(const Acc& acc) { return acc.w_total < MOST_IN_DOUBLES; }

    FASTTREE_INLINE static void score(const Acc& acc, const int32_t* items, size_t n_bits,
                                      double* n_set, double* scores) {
        constexpr size_t LANES = 64;
        const double w = to_double(acc.w_total);
        const size_t n_classes = acc.total.size();
        for (size_t first = 0; first < n_bits; first += LANES) {
            double n[LANES] = {}, set[LANES] = {}, clear[LANES] = {};
            for (size_t c = 0; c < n_classes; ++c) {
                if (acc.total[c] == 0) continue;
                const double total = to_double(acc.total[c]);
                const int32_t* counts = items + c * n_bits + first;
                FASTTREE_IVDEP
                for (size_t b = 0; b < LANES; ++b) {
                    const double l = counts[b], r = total - l;
                    n[b] += l;
                    set[b] += l * l;
                    clear[b] += r * r;
                }
            }
            FASTTREE_IVDEP
            for (size_t b = 0; b < LANES; ++b) {
                n_set[first + b] = n[b];
                scores[first + b] = set[b] / n[b] + clear[b] / (w - n[b]);
            }
        }
    }
};

// Sums about the node's mean, as in screens.hpp.
template <>
struct BitScores<SquaredError<UnitWeights, true>> {
    using Acc = SquaredError<UnitWeights, true>;
    static constexpr bool exists = true;
    static bool fits(const Acc& acc) { return acc.w_total < MOST_IN_DOUBLES; }

    FASTTREE_INLINE static void score(const Acc& acc, const int64_t* items, size_t n_bits,
                                      double* n_set, double* scores) {
        const int64_t offset = acc.mean_sum;
        const double w = to_double(acc.w_total), t = to_double(acc.total1 - offset * acc.w_total);
        FASTTREE_IVDEP
        for (size_t b = 0; b < n_bits; ++b) {
            const double n = static_cast<double>(items[b]);
            const double d =
                static_cast<double>(items[n_bits + b] - offset * items[b]) * w - t * n;
            n_set[b] = n;
            scores[b] = d * d / (n * (w - n));
        }
    }
};

// Scratch of one thread.
class BitScreen {
    std::vector<double> n_set_, scores_;

public:
    // Appends the bits that may score as much as the best of them and at least `floor`, ascending.
    // Children have at least `leaf` rows.
    template <class Acc>
    void find(const Acc& acc, const typename Acc::Cell* items, uint32_t n_bits, uint32_t leaf,
              double floor, std::vector<uint32_t>& out) {
        n_set_.resize(n_bits);
        scores_.resize(n_bits);
        double* const n_set = n_set_.data();
        double* const scores = scores_.data();
        const double least = std::max(leaf, 1u), most = to_double(acc.w_total) - least;
        double top = floor;
        call(acc.t.simd, [&]() FASTTREE_INLINE {
            constexpr size_t LANES = 8;
            double tops[LANES];
            std::fill_n(tops, LANES, floor);
            BitScores<Acc>::score(acc, items, n_bits, n_set, scores);
            FASTTREE_IVDEP
            for (size_t b = 0; b < n_bits; ++b) {
                const bool fills_leaves = (n_set[b] >= least) & (n_set[b] <= most);
                scores[b] = fills_leaves ? scores[b] : MINUS_INFINITY;
            }
            for (size_t first = 0; first < n_bits; first += LANES) {
                const double* some = scores + first;
                FASTTREE_IVDEP
                for (size_t k = 0; k < LANES; ++k) tops[k] = some[k] > tops[k] ? some[k] : tops[k];
            }
            top = *std::max_element(tops, tops + LANES);
        });
        if (top == MINUS_INFINITY) return;
        const double bar = top * SCREEN;
        for (uint32_t b = 0; b < n_bits; ++b) {
            if (scores[b] >= bar) out.push_back(b);
        }
    }
};

}  // namespace fasttree
