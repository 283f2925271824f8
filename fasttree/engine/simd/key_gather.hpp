// Keys of a column of numbers in a node's rows, side by side.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/simd/gather.hpp"
#include "engine/simd/sorting.hpp"

namespace fasttree {

// Of row r the key of column[r * stride]. True if all, at least one, are the same.
inline bool gather_keys_portable(const float* column, ptrdiff_t stride, const uint32_t* rows,
                                 uint32_t n, uint32_t* keys) {
    uint32_t differ = 0;
    for (uint32_t i = 0; i < n; ++i) {
        keys[i] = float_key(column[static_cast<ptrdiff_t>(rows[i]) * stride]);
        differ |= keys[i] ^ keys[0];
    }
    return differ == 0;
}

#if FASTTREE_X86
FASTTREE_AVX512 inline __m512i float_keys(__m512 x) {
    const __m512i bits = _mm512_castps_si512(_mm512_add_ps(x, _mm512_setzero_ps()));
    const __m512i sign = _mm512_set1_epi32(static_cast<int>(0x80000000u));
    return _mm512_xor_si512(bits, _mm512_or_si512(_mm512_srai_epi32(bits, 31), sign));
}
// Offsets of all rows in `column` are to fit 32 bits, see `simd_of_reads`.
template <Reads reads>
FASTTREE_AVX512 inline bool gather_keys_avx512(const float* column, ptrdiff_t stride,
                                               const uint32_t* rows, uint32_t n, uint32_t* keys) {
    constexpr uint32_t LANES = 16;
    if (n < LANES) {
        const __mmask16 lanes = static_cast<__mmask16>(low_bits(n));
        const __m512i at = _mm512_mullo_epi32(_mm512_maskz_loadu_epi32(lanes, rows),
                                              _mm512_set1_epi32(static_cast<int>(stride)));
        const __m512i key =
            float_keys(_mm512_mask_i32gather_ps(_mm512_setzero_ps(), lanes, at, column, 4));
        _mm512_storeu_si512(keys, key);
        return _mm512_mask_cmpneq_epi32_mask(
                   lanes, key, _mm512_broadcastd_epi32(_mm512_castsi512_si128(key))) == 0;
    }
    const __m512i first = _mm512_set1_epi32(static_cast<int>(
        float_key(column[static_cast<ptrdiff_t>(rows[0]) * stride])));
    uint32_t differ = 0;
    for (uint32_t i = 0; i < n; i += LANES) {
        const uint32_t begin = std::min(i, n - LANES);  // the last ones begin among those before
        const __m512i key = float_keys(load_cells<reads>(column, stride, rows + begin));
        differ |= _mm512_cmpneq_epi32_mask(key, first);
        _mm512_storeu_si512(keys + begin, key);
    }
    return differ == 0;
}
#endif
// `keys` has room for a vector more than n.
inline bool gather_keys(Simd simd, const float* column, ptrdiff_t stride, const uint32_t* rows,
                        uint32_t n, uint32_t* keys, bool gathers = gathers_fast()) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) {
        return gathers ? gather_keys_avx512<GATHERS>(column, stride, rows, n, keys)
                       : gather_keys_avx512<LOADS>(column, stride, rows, n, keys);
    }
#endif
    return gather_keys_portable(column, stride, rows, n, keys);
}

}  // namespace fasttree
