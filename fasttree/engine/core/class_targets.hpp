// Classes of a fit as the engine reads them (`core/targets.hpp`).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/core/targets.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86
FASTTREE_AVX512 inline void class_bits_avx512(const uint8_t* classes, size_t n, uint8_t of_class,
                                              uint32_t* out) noexcept {
    constexpr size_t LANES = 64;
    const __m512i own = _mm512_set1_epi8(static_cast<char>(of_class));
    for (size_t start = 0; start < n; start += LANES) {
        const size_t size = std::min(LANES, n - start);
        const __mmask64 lanes = low_bits(static_cast<uint32_t>(size));
        const __m512i here = _mm512_maskz_loadu_epi8(lanes, classes + start);
        const uint64_t bits = _mm512_mask_cmpeq_epi8_mask(lanes, here, own);
        out[start / 32] = static_cast<uint32_t>(bits);
        if (size > 32) out[start / 32 + 1] = static_cast<uint32_t>(bits >> 32);
    }
}
#endif

// A bit per row that says whether it is of a class.
inline void class_bits(Simd simd, const uint8_t* classes, size_t n, uint8_t of_class,
                       uint32_t* out) noexcept {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return class_bits_avx512(classes, n, of_class, out);
#endif
    constexpr size_t WORD = 32;
    for (size_t start = 0; start < n; start += WORD) {
        const size_t size = std::min(WORD, n - start);
        uint32_t word = 0;
        for (size_t k = 0; k < size; ++k) {
            word |= uint32_t{classes[start + k] == of_class} << k;
        }
        out[start / WORD] = word;
    }
}

// The weight of a row and that of its class 1 of two in one word. False if they do not fit.
inline bool class_records(const uint8_t* classes, const int64_t* weights, size_t n,
                          uint32_t* out) noexcept {
    static_assert((MAX_RECORD_WEIGHT & (MAX_RECORD_WEIGHT - 1)) == 0);
    uint64_t bits = 0;  // of all weights
    for (size_t i = 0; i < n; ++i) {
        bits |= static_cast<uint64_t>(weights[i]);
        out[i] = static_cast<uint32_t>(weights[i]) * (1 + (uint32_t{classes[i]} << RECORD_BITS));
    }
    return bits < static_cast<uint64_t>(MAX_RECORD_WEIGHT);
}

}  // namespace fasttree
