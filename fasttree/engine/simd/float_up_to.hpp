// The largest float that is not above a double (the same floats are up to both), and how many of
// some ascending values are up to a float.
#pragma once
#include <cstdint>

#include "utils/_cell.hpp"

namespace fasttree {

// Without a branch, since about half of all doubles are rounded up.
inline float float_up_to(double x) {
    const float nearest = static_cast<float>(x);
    const uint32_t bits = float_bits(nearest), is_above = static_cast<double>(nearest) > x;
    // Bits hold the sign, then the size.
    return float_of_bits(bits >> 31 ? bits + is_above : bits - is_above);
}

// How many of n ascending values are up to `top`, n at least 1: halves are taken without a branch.
inline uint32_t count_up_to(const float* values, uint32_t n, float top) {
    uint32_t first = 0;
    for (; n > 1; n -= n / 2) {
        const uint32_t is_up_to = values[first + n / 2 - 1] <= top;
        first += n / 2 * is_up_to;
    }
    return first + (values[first] <= top);
}

}  // namespace fasttree
