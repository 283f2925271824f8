// Sorting in lanes: vectors of 16 words each, of which the first words are to be in ascending
// order, the second words, and so on. Batcher's odd-even merge sort: the comparisons do not depend
// on the data.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "engine/simd/simd.hpp"

namespace fasttree {

// Which vectors are compared, one pair after the other, to sort N of them, a power of two.
template <uint32_t N>
struct SortingNetwork {
    struct Pair {
        uint8_t low, high;
    };

    template <class Visit>
    static constexpr void visit(const Visit& compare) {
        for (uint32_t merged = 1; merged < N; merged *= 2) {
            for (uint32_t step = merged; step >= 1; step /= 2) {
                for (uint32_t begin = step % merged; begin + step < N; begin += 2 * step) {
                    for (uint32_t i = begin; i < begin + step && i + step < N; ++i) {
                        if (i / (2 * merged) == (i + step) / (2 * merged)) compare(i, i + step);
                    }
                }
            }
        }
    }
    static constexpr size_t size() {
        size_t n = 0;
        visit([&n](uint32_t, uint32_t) { ++n; });
        return n;
    }
    static constexpr std::array<Pair, size()> pairs() {
        std::array<Pair, size()> out{};
        size_t n = 0;
        visit([&](uint32_t low, uint32_t high) {
            out[n++] = {static_cast<uint8_t>(low), static_cast<uint8_t>(high)};
        });
        return out;
    }
};

#if FASTTREE_X86

template <uint32_t N, size_t... I>
FASTTREE_AVX2 FASTTREE_INLINE inline void sort_lanes(__m256i* words, std::index_sequence<I...>) {
    constexpr auto PAIRS = SortingNetwork<N>::pairs();
    __m256i lower;
    // A list and no fold: compilers limit how deep an expression may be.
    (void)std::initializer_list<int>{
        (lower = _mm256_min_epu16(words[PAIRS[I].low], words[PAIRS[I].high]),
         words[PAIRS[I].high] = _mm256_max_epu16(words[PAIRS[I].low], words[PAIRS[I].high]),
         words[PAIRS[I].low] = lower, 0)...};
}
// Sorts N vectors of words without signs.
template <uint32_t N>
FASTTREE_AVX2 inline void sort_lanes(__m256i* words) {
    __m256i held[N];
    for (uint32_t i = 0; i < N; ++i) held[i] = words[i];
    sort_lanes<N>(held, std::make_index_sequence<SortingNetwork<N>::size()>());
    for (uint32_t i = 0; i < N; ++i) words[i] = held[i];
}

#endif

}  // namespace fasttree
