// The targets of all outputs as integers, and for many outputs as numbers of single precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/grid.hpp"
#include "engine/core/targets.hpp"

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
    const size_t stride = static_cast<size_t>(n_outputs);
    std::vector<double> targets(BLOCK * n);
    std::vector<int64_t> on_grid(BLOCK * n);
    for (int first = 0; first < n_outputs; first += BLOCK) {
        const int size = std::min(BLOCK, n_outputs - first);
        for (size_t i = 0; i < n; ++i) {
            for (int k = 0; k < size; ++k) targets[k * n + i] = y[i * stride + first + k];
        }
        for (int k = 0; k < size; ++k) put_on_grid(&targets[k * n], &on_grid[k * n], first + k);
        for (size_t i = 0; i < n; ++i) {
            for (int k = 0; k < size; ++k) sums[i * stride + first + k] = on_grid[k * n + i];
        }
    }
}

// Writes (sums - weight * centre) * unit, rows of whole vectors, and the centres: the means, so
// that single precision loses nothing to a large one, or 0 if weights are negative, where a mean
// may be as large as it likes and nothing is screened.
inline void rough_sums(const int64_t* sums, size_t n, int n_outputs, const int64_t* weights,
                       bool has_negative_weights, const double* units, int64_t* centres,
                       float* rough) noexcept {
    const size_t stride = static_cast<size_t>(n_outputs), width = padded(n_outputs);
    std::fill_n(centres, stride, 0);
    if (!has_negative_weights) {
        int64_t weight = 0;
        for (size_t i = 0; i < n; ++i) {
            weight += weights ? weights[i] : 1;
            for (size_t k = 0; k < stride; ++k) centres[k] += sums[i * stride + k];
        }
        for (size_t k = 0; k < stride; ++k) centres[k] = weight > 0 ? centres[k] / weight : 0;
    }
    for (size_t i = 0; i < n; ++i) {
        const int64_t weight = weights ? weights[i] : 1;
        for (size_t k = 0; k < stride; ++k) {
            const int64_t centred = sums[i * stride + k] - centres[k] * weight;
            rough[i * width + k] = static_cast<float>(static_cast<double>(centred) * units[k]);
        }
    }
}

}  // namespace fasttree
