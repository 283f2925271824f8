// Which rows of up to 64 entries are of a class, as bits; of two classes, of class 1.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/core/runs.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86

// Looked up by row, or read from the entries themselves.
struct ClassesByRow {
    const uint32_t *entries, *class_bits;

    FASTTREE_AVX512 uint32_t of_16(uint32_t p, uint32_t lanes) const {
        const __m512i entry =
            _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), entries + p);
        const __m512i row = _mm512_and_si512(entry, _mm512_set1_epi32(ROW));
        return get_bits_avx512(class_bits, row, lanes);
    }
};
struct ClassesInEntries {
    const uint32_t* entries;

    FASTTREE_AVX512 uint32_t of_16(uint32_t p, uint32_t lanes) const {
        const __m512i entry =
            _mm512_maskz_loadu_epi32(static_cast<__mmask16>(lanes), entries + p);
        return _mm512_test_epi32_mask(entry, _mm512_set1_epi32(CLASS_1));
    }
};
// Of up to 64 entries from p on.
template <class Classes>
FASTTREE_AVX512 inline uint64_t class_bits_of(const Classes& classes, uint32_t p, uint32_t n) {
    uint64_t ones = 0;
    for (uint32_t i = 0; i < n; i += 16) {
        const uint32_t lanes = static_cast<uint32_t>(low_bits(std::min(n - i, 16u)));
        ones |= uint64_t{classes.of_16(p + i, lanes)} << i;
    }
    return ones;
}

#endif

}  // namespace fasttree
