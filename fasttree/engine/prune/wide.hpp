// Sums with twice the digits of a double (Dekker 1971; Knuth, TAOCP 4.2.2).
//
// Sums of ordinary numbers are exact, so they do not depend on how terms are grouped, and a sum
// from which most is taken away again keeps its digits. Needs strict IEEE arithmetic.
#pragma once
#include "utils/_value.hpp"

namespace fasttree {

struct Wide {
    double high = 0.0, low = 0.0;  // the number is their sum; |low| is below half a digit of high

    void add(double x) noexcept {
        const double sum = high + x, part = sum - high;
        set(sum, low + ((high - (sum - part)) + (x - part)));
    }
    void add(const Wide& x) noexcept {
        const double sum = high + x.high, part = sum - high;
        const double lost = (high - (sum - part)) + (x.high - part);
        const double low_sum = low + x.low, low_part = low_sum - low;
        const double low_lost = (low - (low_sum - low_part)) + (x.low - low_part);
        set(sum, lost + low_sum);
        set(high, low + low_lost);
    }
    void subtract(const Wide& x) { add(Wide{-x.high, -x.low}); }

    // This number times a double.
    Wide times(double x) const noexcept {
        const double product = high * x;
        const Split a(high), b(x);
        const double lost =
            ((a.high * b.high - product) + a.high * b.low + a.low * b.high) + a.low * b.low;
        Wide result;
        result.set(product, lost + low * x);
        return result;
    }

    double value() const { return high + low; }

  private:
    // A double as the sum of two of 26 bits.
    struct Split {
        double high, low;
        explicit Split(double x) {
            const double scaled = 134217729.0 * x;  // 2^27 + 1
            high = scaled - (scaled - x);
            low = x - high;
        }
    };
    void set(double sum, double rest) {  // |sum| >= |rest|
        high = sum + rest;
        low = rest - (high - sum);
    }
};
static_assert(is_value<Wide>);

// A number whose sums a double holds, with the interface of a wide one.
struct Count {
    double number = 0.0;

    Count() = default;
    explicit Count(const Wide& x) : number(x.high) {}
    void add(const Count& x) noexcept { number += x.number; }
    void subtract(const Count& x) { number -= x.number; }
    double value() const { return number; }
};

}  // namespace fasttree
