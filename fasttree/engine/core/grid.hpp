// Weights and targets as integers: the grids on which all statistics are summed.
//
// Integers are exact where the data are (counts, weights that are multiples of a power of two,
// integer targets, targets on a lattice such as prices in cents); else values are rounded once, to
// a power-of-two unit with sum |value| < 2**62. The grid does not depend on the order of the rows.
// Weights and targets of any size will do: where products of them might overflow or vanish, they
// are scaled by a power of two first, which is exact and undone in the grown tree.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstddef>
#include <limits>

#include "utils/_value.hpp"

namespace fasttree {

constexpr double EXACT = 9007199254740992.0;  // 2**53: doubles hold all integers up to here

// Sums of weights between 2**-64 and 2**64 and targets between 2**-200 and 2**200 are used as they
// are: no product of a weight, two targets and 2**61 leaves the range of doubles.
constexpr int WEIGHT_EXPONENT = 64, TARGET_EXPONENT = 200;

// Exponent of the power of two to divide by, so that what is at most `largest` becomes ordinary.
inline int excess_exponent(double largest, int ordinary) noexcept {
    if (largest == 0.0) return 0;
    const int exponent = std::ilogb(largest);
    return std::abs(exponent) <= ordinary ? 0 : exponent;
}

// The least and the greatest of some numbers, of which there are some.
struct Extent {
    double low, high;
};
static_assert(is_value<Extent>);

inline Extent extent_of(const double* values, size_t n) noexcept {
    constexpr size_t LANES = 8;  // that do not wait for one another
    double low[LANES], high[LANES];
    std::fill_n(low, LANES, values[0]);
    std::fill_n(high, LANES, values[0]);
    const auto take = [&](size_t lane, double value) {
        low[lane] = std::min(low[lane], value);
        high[lane] = std::max(high[lane], value);
    };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t lane = 0; lane < LANES; ++lane) take(lane, values[i + lane]);
    }
    for (; i < n; ++i) take(0, values[i]);
    return {*std::min_element(low, low + LANES), *std::max_element(high, high + LANES)};
}

inline double largest_magnitude(const double* values, size_t n) noexcept {
    if (n == 0) return 0.0;
    const Extent extent = extent_of(values, n);
    return std::max(std::fabs(extent.low), std::fabs(extent.high));
}

// Power of two in which a sum of absolute values stays below 2**n_bits. Every double is a multiple
// of the smallest one.
inline double power_unit(double sum, double n_bits = 61.0) {
    return sum > 0.0 ? std::exp2(std::max(std::ceil(std::log2(sum)) - n_bits, -1074.0)) : 1.0;
}

// The sum of number(i) over n rows, whatever their order: every number is cut to a multiple of a
// power of two, at most n / 2**60 of the largest number, and the multiples are summed exactly.
template <class Number>
double sum_in_any_order(size_t n, Number number) {
    double largest = 0.0;
    for (size_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(number(i)));
    const double unit = power_unit(largest, 61.0 - std::ceil(std::log2(n)));
    int64_t sum = 0;
    for (size_t i = 0; i < n; ++i) sum += static_cast<int64_t>(number(i) / unit);
    return static_cast<double>(sum) * unit;
}

// Whether a number below EXACT is an integer, without a call.
inline bool is_integer(double x) noexcept {
    return std::fabs(x) < EXACT && x == static_cast<double>(static_cast<int64_t>(x));
}

// The largest power of two of which all weights are multiples; 0 if the sum of the multiples, that
// of the weights being `sum`, is too large to be exact in doubles.
inline double common_unit(const double* w, size_t n, double sum) {
    constexpr int DIGITS = std::numeric_limits<double>::digits;
    int lowest = std::numeric_limits<double>::max_exponent - 1;
    for (size_t i = 0; i < n; ++i) {
        if (w[i] == 0.0) continue;
        int exponent;
        const double mantissa = std::frexp(std::fabs(w[i]), &exponent);
        const int n_zeros = __builtin_ctzll(static_cast<uint64_t>(std::ldexp(mantissa, DIGITS)));
        lowest = std::min(lowest, exponent - DIGITS + n_zeros);
        if (std::ldexp(sum, -lowest) >= EXACT) return 0.0;
    }
    return std::ldexp(1.0, lowest);
}

struct WeightGrid {
    double unit;
    double magnitude;   // sum of absolute weights; infinite: there is no grid
    int64_t total;      // in units
    bool has_negative;
};
static_assert(is_value<WeightGrid>);

// Writes w / unit. No weight but zero becomes zero. Squares of sums, added up over the outputs,
// stay below 2**124.
inline WeightGrid weight_grid(const double* w, size_t n, int n_outputs, int64_t* out) {
    WeightGrid grid{1.0, 0.0, 0, false};
    bool integers = true;
    for (size_t i = 0; i < n; ++i) {
        integers &= is_integer(w[i]);
        grid.has_negative |= w[i] < 0.0;
        grid.magnitude += std::fabs(w[i]);
    }
    if (!integers || grid.magnitude >= EXACT) {
        grid.magnitude = sum_in_any_order(n, [&](size_t i) { return std::fabs(w[i]); });
        if (!std::isfinite(grid.magnitude)) return grid;
        grid.unit = common_unit(w, n, grid.magnitude);
        if (grid.unit == 0.0) {
            const double spread = std::max(0.0, std::ceil(std::log2(n_outputs / 4.0) / 2));
            grid.unit = power_unit(grid.magnitude, 61.0 - spread);
        }
    }
    if (grid.unit == 1.0 && integers) {
        for (size_t i = 0; i < n; ++i) grid.total += out[i] = static_cast<int64_t>(w[i]);
        return grid;
    }
    for (size_t i = 0; i < n; ++i) {
        out[i] = std::llrint(w[i] / grid.unit);
        if (out[i] == 0 && w[i] != 0.0) out[i] = w[i] > 0.0 ? 1 : -1;
        grid.total += out[i];
    }
    return grid;
}

// y[i] = origin + step * k, k integer, up to the rounding of y itself.
struct Lattice {
    double origin, step;
    bool found;
};

constexpr double MAX_STEPS = 16777216.0;  // of a lattice

// Greatest common step of the differences, by Euclid's algorithm with a tolerance; gives up
// after a few rows on continuous targets.
inline Lattice find_lattice(const double* y, size_t n, bool through_zero) {
    auto [low, high] = extent_of(y, n);
    if (through_zero) low = std::min(low, 0.0);
    const double range = high - low;
    const double noise =
        4 * std::numeric_limits<double>::epsilon() * std::max(std::fabs(low), std::fabs(high));
    Lattice lattice{low, range, range > 0.0 && std::isfinite(range)};
    for (int attempt = 0; attempt < 2 && lattice.found; ++attempt) {
        // The second time round checks the rows before the last refinement.
        for (size_t i = 0; i < n; ++i) {
            const double d = y[i] - low;
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
            // No row refines it any further: a rest, half a step at most, is within the tolerance.
            // The second time round checks them all.
            constexpr double MORE_THAN_HALF = 0.51;
            if (8 * noise * (range / lattice.step) >= MORE_THAN_HALF * lattice.step) break;
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
// Writes weight * (y - centre) / unit. The centre lies among the targets, whatever the signs of
// the weights.
inline Grid target_grid(const double* y, size_t n, const double* w,
                        const int64_t* weights, double weight_unit, bool centred,
                        bool allow_lattice, int64_t* out) {
    if (w == nullptr) weight_unit = 1.0;
    bool exact_weights = true, integers = true;
    double absolute = 0.0, weight = 0.0;
    // A weight too small for the grid counts as one unit of it, here as among the integers.
    const auto weight_of = [&](size_t i) {
        if (w == nullptr) return 1.0;
        const bool is_raised = w[i] != 0.0 && std::fabs(w[i]) <= weight_unit / 2;
        return is_raised ? std::copysign(weight_unit, w[i]) : w[i];
    };
    for (size_t i = 0; i < n; ++i) {
        const double target = y[i], wi = std::fabs(weight_of(i));
        exact_weights = exact_weights && (!w || weights[i] * weight_unit == w[i]);
        integers = integers && target == std::floor(target);
        absolute += std::fabs(wi * target);
        weight += wi;
    }
    const auto times_weight = [&](size_t i, double whole) {
        return (weights ? weights[i] : 1) * static_cast<int64_t>(whole);
    };
    if (integers && exact_weights && absolute / weight_unit < EXACT) {
        for (size_t i = 0; i < n; ++i) out[i] = times_weight(i, y[i]);
        return {0.0, weight_unit};
    }
    if (exact_weights && allow_lattice) {
        const Lattice lattice = find_lattice(y, n, !centred);
        constexpr double MOST = 2305843009213693952.0;  // 2**61
        if (lattice.found && weight / weight_unit * MAX_STEPS < MOST) {
            for (size_t i = 0; i < n; ++i) {
                out[i] = times_weight(i, std::nearbyint((y[i] - lattice.origin) / lattice.step));
            }
            return {lattice.origin, lattice.step * weight_unit};
        }
    }
    double centre = 0.0;
    if (centred && weight != 0.0) {
        if (w) weight = sum_in_any_order(n, [&](size_t i) { return std::fabs(weight_of(i)); });
        centre = sum_in_any_order(n, [&](size_t i) { return std::fabs(weight_of(i)) * y[i]; })
                 / weight;
    }
    const double unit = power_unit(sum_in_any_order(
        n, [&](size_t i) { return std::fabs(weight_of(i) * (y[i] - centre)); }));
    for (size_t i = 0; i < n; ++i) {
        out[i] = std::llrint(weight_of(i) * (y[i] - centre) / unit);
    }
    return {centre, unit};
}

}  // namespace fasttree
