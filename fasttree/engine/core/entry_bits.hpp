// Bits of entries: what is kept as a bit per row (which rows go left, or are of a class), or in the
// entries themselves.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/core/runs.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86

// Up to 16 entries: those of `lanes`.
FASTTREE_AVX512 inline __m512i load_entries(const uint32_t* entries, uint32_t lanes) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), entries);
}
FASTTREE_AVX512 inline __m512i rows_of(__m512i entries) {
    return _mm512_and_si512(entries, _mm512_set1_epi32(ROW));
}
// The bits of up to 16 entries.
FASTTREE_AVX512 inline uint32_t bits_of_16(const uint32_t* by_row, const uint32_t* entries,
                                           uint32_t lanes) {
    return get_bits_avx512(by_row, rows_of(load_entries(entries, lanes)), lanes);
}
// Those of rows, and the class of two that entries hold.
struct BitsByRow {
    const uint32_t *entries, *by_row;

    FASTTREE_AVX512 uint32_t of_16(uint32_t p, uint32_t lanes) const {
        return bits_of_16(by_row, entries + p, lanes);
    }
};
struct ClassesInEntries {
    const uint32_t* entries;

    FASTTREE_AVX512 uint32_t of_16(uint32_t p, uint32_t lanes) const {
        return _mm512_test_epi32_mask(load_entries(entries + p, lanes),
                                      _mm512_set1_epi32(CLASS_1));
    }
};
// The bits of up to 64 entries from the p-th on; bits.of_16(p, lanes) gives those of 16.
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
