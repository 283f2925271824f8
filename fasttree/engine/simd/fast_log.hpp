// Logarithms for screens: within 1e-10 of the natural logarithm, some four times as fast.
//
// x = 2^e m with m in [1, 2); a table gives log c and 1 / c for the centre c of m's interval, a
// polynomial the rest.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/simd/simd.hpp"

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

#if FASTTREE_X86
// The same of 8 numbers: x = 2^e m with m in [0.75, 1.5), log m = 2 artanh((m - 1) / (m + 1)).
// Not above 0: NaN or minus infinity.
FASTTREE_AVX512 inline __m512d fast_log_avx512(__m512d x) {
    const __m512d one = _mm512_set1_pd(1.0);
    const __m512d m = _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
    const __m512d floor = _mm512_getexp_pd(x);
    const __m512d e = _mm512_mask_add_pd(floor, _mm512_cmp_pd_mask(m, one, _CMP_LT_OQ), floor, one);
    const __m512d t = _mm512_div_pd(_mm512_sub_pd(m, one), _mm512_add_pd(m, one));  // |t| <= 1/5
    const __m512d z = _mm512_mul_pd(t, t);
    __m512d series = _mm512_set1_pd(2.0 / 13.0);
    for (double term : {2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0}) {
        series = _mm512_fmadd_pd(series, z, _mm512_set1_pd(term));
    }
    return _mm512_fmadd_pd(e, _mm512_set1_pd(0.693147180559945309417), _mm512_mul_pd(t, series));
}
#endif

}  // namespace fasttree
