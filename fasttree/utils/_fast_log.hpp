// Logarithms for screens: within 1e-10 of the natural logarithm, some four times as fast.
//
// x = 2^e m with m in [1, 2); a table gives log c and 1 / c for the centre c of m's interval, a
// polynomial the rest.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace fasttree {

class FastLog {
    static constexpr int BITS = 8;
    double inverse_[1 << BITS], log_[1 << BITS];

public:
    static constexpr double ERROR = 1e-10;

    FastLog() {
        for (int i = 0; i < 1 << BITS; ++i) {
            const double centre = 1.0 + (i + 0.5) / (1 << BITS);
            inverse_[i] = 1.0 / centre;
            log_[i] = std::log(centre);
        }
    }
    // x positive, finite and normal.
    __attribute__((always_inline)) inline double operator()(double x) const {
        uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        const int exponent = static_cast<int>(bits >> 52) - 1023;
        const int i = static_cast<int>(bits >> (52 - BITS) & ((1 << BITS) - 1));
        bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
        double m;
        std::memcpy(&m, &bits, sizeof m);
        const double r = m * inverse_[i] - 1.0;  // |r| < 2^-9
        const double series = r * (1.0 - r * (0.5 - r * (1.0 / 3.0 - r * 0.25)));
        return exponent * 0.693147180559945309417 + log_[i] + series;
    }
};

}  // namespace fasttree
