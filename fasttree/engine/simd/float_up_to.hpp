// The largest float that is not above a double: the same floats are up to both.
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

}  // namespace fasttree
