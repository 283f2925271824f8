// Weights and targets as integers: the grids on which all statistics are summed.
//
// Integers are exact where the data are (counts, integer weights and targets, targets on a
// lattice such as prices in cents); else values are rounded once, to a power-of-two unit with
// sum |value| < 2**62.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstddef>
#include <limits>

#include "../utils/_value.hpp"

namespace fasttree {

constexpr double EXACT = 9007199254740992.0;  // 2**53: doubles hold all integers up to here

// Power of two in which a sum of absolute values stays below 2**61.
inline double power_unit(double sum) {
    return sum > 0.0 ? std::exp2(std::ceil(std::log2(sum)) - 61.0) : 1.0;
}

// Writes w / unit; returns the unit. Positive weights stay positive.
inline double weight_grid(const double* w, size_t n, int64_t* out) {
    bool integers = true;
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
        integers &= w[i] == std::floor(w[i]);
        sum += std::fabs(w[i]);
    }
    const double unit = integers && sum < EXACT ? 1.0 : power_unit(sum);
    for (size_t i = 0; i < n; ++i) {
        out[i] = std::llrint(w[i] / unit);
        if (out[i] == 0 && w[i] > 0.0) out[i] = 1;
    }
    return unit;
}

// y[i * stride] = origin + step * k, k integer, up to the rounding of y itself.
struct Lattice {
    double origin, step;
    bool found;
};

// Greatest common step of the differences, by Euclid's algorithm with a tolerance; gives up
// after a few rows on continuous targets.
inline Lattice find_lattice(const double* y, size_t n, size_t stride, bool through_zero) {
    constexpr double MAX_STEPS = 16777216.0;
    double low = y[0], high = y[0];
    for (size_t i = 0; i < n; ++i) {
        low = std::min(low, y[i * stride]);
        high = std::max(high, y[i * stride]);
    }
    if (through_zero) low = std::min(low, 0.0);
    const double range = high - low;
    const double noise =
        4 * std::numeric_limits<double>::epsilon() * std::max(std::fabs(low), std::fabs(high));
    Lattice lattice{low, range, range > 0.0 && std::isfinite(range)};
    for (int attempt = 0; attempt < 2 && lattice.found; ++attempt) {
        // The second time round checks the rows before the last refinement.
        for (size_t i = 0; i < n; ++i) {
            const double d = y[i * stride] - low;
            double rest = std::fabs(d - std::nearbyint(d / lattice.step) * lattice.step);
            if (rest <= noise) continue;
            double step = lattice.step;
            // Errors grow with the cofactors, which are at most range / step.
            while (rest > 8 * noise * (range / step)) {
                const double next = std::fmod(step, rest);
                step = rest;
                rest = std::min(next, step - next);
            }
            const double n_steps = std::nearbyint(range / step);
            if (attempt > 0 || n_steps > MAX_STEPS || step < 1024 * noise) {
                lattice.found = false;
                break;
            }
            lattice.step = range / n_steps;
        }
    }
    return lattice;
}

struct Grid {
    double centre, unit;
};
static_assert(is_value<Grid>);

// Largest power-of-two grid for deviations of targets of total absolute size `sum`.
// `weights` are the integer weights or null, `w` the weights as given or null.
// Writes weight * (y - centre) / unit.
inline Grid target_grid(const double* y, size_t n, size_t stride, const double* w,
                        const int64_t* weights, double weight_unit, bool centred,
                        bool allow_lattice, int64_t* out) {
    const bool integer_weights = w == nullptr || weight_unit == 1.0;
    bool integers = true;
    double sum = 0.0, absolute = 0.0, weight = 0.0;
    for (size_t i = 0; i < n; ++i) {
        const double target = y[i * stride], wi = w ? w[i] : 1.0;
        integers &= target == std::floor(target);
        sum += wi * target;
        absolute += std::fabs(wi * target);
        weight += wi;
    }
    if (integers && integer_weights && absolute < EXACT) {
        for (size_t i = 0; i < n; ++i) {
            out[i * stride] = (weights ? weights[i] : 1) * static_cast<int64_t>(y[i * stride]);
        }
        return {0.0, 1.0};
    }
    if (integer_weights && allow_lattice) {
        const Lattice lattice = find_lattice(y, n, stride, !centred);
        if (lattice.found) {
            for (size_t i = 0; i < n; ++i) {
                const double k = std::nearbyint((y[i * stride] - lattice.origin) / lattice.step);
                out[i * stride] = (weights ? weights[i] : 1) * static_cast<int64_t>(k);
            }
            return {lattice.origin, lattice.step};
        }
    }
    const double centre = centred && weight != 0.0 ? sum / weight : 0.0;
    absolute = 0.0;
    for (size_t i = 0; i < n; ++i) {
        absolute += std::fabs((w ? w[i] : 1.0) * (y[i * stride] - centre));
    }
    const double unit = power_unit(absolute);
    for (size_t i = 0; i < n; ++i) {
        out[i * stride] = std::llrint((w ? w[i] : 1.0) * (y[i * stride] - centre) / unit);
    }
    return {centre, unit};
}

}  // namespace fasttree
