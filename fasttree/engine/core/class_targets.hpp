// Classes of a fit as the engine reads them (`core/targets.hpp`).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/core/targets.hpp"

namespace fasttree {

// A bit per row that says whether it is of class 1 of two.
inline void class_bits(const uint8_t* classes, size_t n, uint32_t* out) noexcept {
    constexpr size_t WORD = 32;
    for (size_t start = 0; start < n; start += WORD) {
        const size_t size = std::min(WORD, n - start);
        uint32_t word = 0;
        for (size_t k = 0; k < size; ++k) word |= uint32_t{classes[start + k]} << k;
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
