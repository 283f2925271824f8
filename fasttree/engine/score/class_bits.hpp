// Which rows of 16 entries are of a class, as bits; of two classes, of class 1.
#pragma once
#include <cstdint>

#include "engine/core/entry_bits.hpp"
#include "engine/core/runs.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86

// Looked up by row, or read from the entries themselves.
struct ClassesByRow {
    const uint32_t *entries, *class_bits;

    FASTTREE_AVX512 uint32_t of_16(uint32_t p, uint32_t lanes) const {
        return bits_of_16(class_bits, entries + p, lanes);
    }
};
struct ClassesInEntries {
    const uint32_t* entries;

    FASTTREE_AVX512 uint32_t of_16(uint32_t p, uint32_t lanes) const {
        const __m512i entry = load_entries(entries + p, lanes);
        return _mm512_test_epi32_mask(entry, _mm512_set1_epi32(CLASS_1));
    }
};

#endif

}  // namespace fasttree
