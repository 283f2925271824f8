// What is kept as a bit per row, looked up for entries: which of them go left, or are of a class.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/core/runs.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86

// Those of `lanes` of 16 entries; others are not read.
FASTTREE_AVX512 inline __m512i load_entries(const uint32_t* entries, uint32_t lanes) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), entries);
}
FASTTREE_AVX512 inline __m512i rows_of(__m512i entries) {
    return _mm512_and_si512(entries, _mm512_set1_epi32(ROW));
}
FASTTREE_AVX512 inline uint32_t bits_of_16(const uint32_t* by_row, const uint32_t* entries,
                                           uint32_t lanes) {
    return get_bits_avx512(by_row, rows_of(load_entries(entries, lanes)), lanes);
}
// Of up to 64 entries from the p-th on, of 16 of which bits.of_16(p, lanes) are those.
template <class Bits>
FASTTREE_AVX512 FASTTREE_INLINE inline uint64_t bits_of_64(const Bits& bits, uint32_t p,
                                                           uint32_t n) {
    uint64_t out = 0;
    for (uint32_t i = 0; i < n; i += 16) {
        const uint32_t lanes = static_cast<uint32_t>(low_bits(std::min(n - i, 16u)));
        out |= uint64_t{bits.of_16(p + i, lanes)} << i;
    }
    return out;
}

#endif

}  // namespace fasttree
