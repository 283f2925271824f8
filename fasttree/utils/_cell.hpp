// Categories in float32 cells: the code of a category is the payload of a quiet NaN.
//
// A column that mixes numbers, categories and missing values is then a float32 column like any
// other: it is sliced, shared between threads and walked by the same code, and a comparison with a
// threshold is false for categories and missing values, as it has to be. Codes are only ever moved
// and compared as bits; nothing computes with them, so none is rounded. Invariant: in a column
// declared to hold categories a cell that is not a number is MISSING_BITS, or
// MISSING_BITS + 1 + code. In other columns every NaN is a missing value, whatever its payload.
#pragma once
#include <cstdint>
#include <cstring>

namespace fasttree {

constexpr uint32_t MISSING_BITS = 0x7fc00000u;
constexpr uint32_t MAX_CATEGORIES = 0x3ffffdu;    // codes 0 .. MAX_CATEGORIES - 1
constexpr uint32_t UNSEEN_CATEGORY = MAX_CATEGORIES; // a category that the fit did not see
constexpr uint32_t NO_CATEGORY = 0xffffffffu;

inline uint32_t float_bits(float x) noexcept {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float float_of_bits(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Code of the category in a cell of a column with categories; NO_CATEGORY for numbers and missing
// values.
inline uint32_t category_of(float x) {
    const uint32_t code = float_bits(x) - (MISSING_BITS + 1);
    return code <= UNSEEN_CATEGORY ? code : NO_CATEGORY;
}
inline uint32_t category_bits(uint32_t code) { return MISSING_BITS + 1 + code; }
inline float category_cell(uint32_t code) { return float_of_bits(category_bits(code)); }

}  // namespace fasttree
