// The targets of all outputs as integers, and for many outputs as numbers of single precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "engine/core/grid.hpp"
#include "engine/core/targets.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// target_grid for every output of [n, n_outputs] targets. Outputs are taken in blocks, so that rows
// are read and written by cache lines.
inline void target_sums(const double* y, size_t n, int n_outputs, const double* w,
                        const int64_t* weights, double weight_unit, bool centred,
                        bool allow_lattice, int64_t* sums, double* centres, double* units) {
    const auto put_on_grid = [&](const double* from, int64_t* to, int output) {
        const Grid grid =
            target_grid(from, n, w, weights, weight_unit, centred, allow_lattice, to);
        centres[output] = grid.centre;
        units[output] = grid.unit;
    };
    if (n_outputs == 1) return put_on_grid(y, sums, 0);
    constexpr int BLOCK = 8;
    constexpr size_t AHEAD = 16;  // rows
    const size_t stride = static_cast<size_t>(n_outputs);
    std::vector<double> targets(BLOCK * n);
    std::vector<int64_t> on_grid(BLOCK * n);
    for (int first = 0; first < n_outputs; first += BLOCK) {
        const int size = std::min(BLOCK, n_outputs - first);
        const auto place = [&](size_t i) { return std::min(i, n - 1) * stride + first; };
        for (size_t i = 0; i < n; ++i) {
            prefetch(y + place(i + AHEAD), size * sizeof(double));
            for (int k = 0; k < size; ++k) targets[k * n + i] = y[place(i) + k];
        }
        for (int k = 0; k < size; ++k) put_on_grid(&targets[k * n], &on_grid[k * n], first + k);
        for (size_t i = 0; i < n; ++i) {
            prefetch(sums + place(i + AHEAD), size * sizeof(int64_t));
            for (int k = 0; k < size; ++k) sums[place(i) + k] = on_grid[k * n + i];
        }
    }
}

// The same of the rows that have weight, as if there were no others, whose sums are 0. Weights are
// factors of the targets if `is_weighted`.
inline void target_sums_of_used(const double* y, size_t n, int n_outputs, const double* w,
                                const int64_t* weights, bool is_weighted, double weight_unit,
                                bool centred, bool allow_lattice, int64_t* sums, double* centres,
                                double* units) {
    const auto sum = [&](const double* y_, size_t n_, const double* w_, const int64_t* weights_,
                         int64_t* sums_) {
        target_sums(y_, n_, n_outputs, is_weighted ? w_ : nullptr,
                    is_weighted ? weights_ : nullptr, weight_unit, centred, allow_lattice, sums_,
                    centres, units);
    };
    if (w == nullptr || std::find(w, w + n, 0.0) == w + n) return sum(y, n, w, weights, sums);
    const size_t stride = static_cast<size_t>(n_outputs);
    std::vector<double> y_used, w_used;
    std::vector<int64_t> weights_used;
    for (size_t i = 0; i < n; ++i) {
        if (w[i] == 0.0) continue;
        y_used.insert(y_used.end(), y + i * stride, y + (i + 1) * stride);
        w_used.push_back(w[i]);
        weights_used.push_back(weights[i]);
    }
    std::vector<int64_t> sums_used(y_used.size());
    sum(y_used.data(), w_used.size(), w_used.data(), weights_used.data(), sums_used.data());
    std::fill_n(sums, n * stride, 0);
    const int64_t* next = sums_used.data();
    for (size_t i = 0; i < n; ++i) {
        if (w[i] == 0.0) continue;
        std::copy_n(next, stride, sums + i * stride);
        next += stride;
    }
}

// The sum of a row and its weight in one word. False if they do not fit.
inline bool sum_records(const int64_t* sums, const int64_t* weights, size_t n,
                        int64_t* out) noexcept {
    bool fits = true;
    for (size_t i = 0; i < n; ++i) {
        fits &= weights[i] >= 0 && weights[i] < MAX_SUM_RECORD_WEIGHT;
        fits &= std::abs(sums[i]) < MAX_RECORD_SUM;
        out[i] = static_cast<int64_t>(static_cast<uint64_t>(sums[i]) << SUM_RECORD_BITS)
                 + weights[i];
    }
    return fits;
}

// Writes (sums - weight * centre) * unit * scale to `rough` and the lengths of its rows to
// `lengths`; returns the scale, a power of two that makes the largest number about 1. The centres
// are the means, so that single precision loses nothing to a large one. A row of `rough` has
// padded(n_outputs) numbers; the caller has set them to zero, and those past n_outputs stay so.
inline double rough_sums(const int64_t* sums, size_t n, int n_outputs, const int64_t* weights,
                         const double* units, int64_t* centres, float* rough,
                         float* lengths) noexcept {
    constexpr int MAX_EXPONENT = 1000;  // of a scale that is finite, whatever the targets
    const size_t stride = static_cast<size_t>(n_outputs), width = padded(n_outputs);
    const auto weight_of = [&](size_t i) { return weights ? weights[i] : int64_t{1}; };
    const auto centred = [&](size_t i, size_t k) {
        return static_cast<double>(sums[i * stride + k] - centres[k] * weight_of(i)) * units[k];
    };
    std::fill_n(centres, stride, 0);
    int64_t weight = 0;
    for (size_t i = 0; i < n; ++i) {
        weight += weight_of(i);
        for (size_t k = 0; k < stride; ++k) centres[k] += sums[i * stride + k];
    }
    for (size_t k = 0; k < stride; ++k) centres[k] = weight > 0 ? centres[k] / weight : 0;
    double largest = 0.0;
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < stride; ++k) largest = std::max(largest, std::fabs(centred(i, k)));
    }
    const int exponent = largest > 0.0 ? -std::ilogb(largest) : 0;
    const double scale = std::ldexp(1.0, std::min(exponent, MAX_EXPONENT));
    for (size_t i = 0; i < n; ++i) {
        double squares = 0.0;
        for (size_t k = 0; k < stride; ++k) {
            const double number = centred(i, k) * scale;
            rough[i * width + k] = static_cast<float>(number);
            squares += number * number;
        }
        lengths[i] = static_cast<float>(std::sqrt(squares));
    }
    return scale;
}

}  // namespace fasttree
