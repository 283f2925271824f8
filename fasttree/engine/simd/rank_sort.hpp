// Sorting a few dozen words by rank: the place of each is the number of smaller ones.
//
// O(n^2), but with AVX-512 eight comparisons are an instruction and none is a branch; up to a
// hundred or so words that beats sorting by exchange several times over.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"

namespace fasttree {

#if FASTTREE_X86
// Writes items[0:n], all different, in ascending order. Both arrays hold n + 8 items.
FASTTREE_AVX512 inline void rank_sort_avx512(const uint64_t* items, uint64_t* sorted, size_t n) {
    const __m512i one = _mm512_set1_epi64(1);
    for (size_t i = 0; i < n; i += 8) {
        const __m512i mine = _mm512_loadu_si512(items + i);
        __m512i rank = _mm512_setzero_si512();
        for (size_t j = 0; j < n; ++j) {
            const __mmask8 is_smaller =
                _mm512_cmplt_epu64_mask(_mm512_set1_epi64(static_cast<int64_t>(items[j])), mine);
            rank = _mm512_mask_add_epi64(rank, is_smaller, rank, one);
        }
        uint64_t place[8];
        _mm512_storeu_si512(place, rank);
        for (size_t k = 0; k < 8 && i + k < n; ++k) sorted[place[k]] = items[i + k];
    }
}
#endif

constexpr size_t RANK_SORT_PADDING = 8;

// `sort_by_key` for items of different payloads. Both arrays hold n + RANK_SORT_PADDING items.
inline uint64_t* sort_by_key(Simd simd, uint64_t* items, uint64_t* scratch, size_t n) {
#if FASTTREE_X86
    constexpr size_t FEW = 2, MANY = 128;  // where ranks pay
    if (simd == SIMD_AVX512 && n > FEW && n <= MANY) {
        rank_sort_avx512(items, scratch, n);
        return scratch;
    }
#endif
    return sort_by_key(items, scratch, n);
}

}  // namespace fasttree
