// Codes of a column that has few distinct values, in the order in which they become known.
//
// A hash table of cells as they are, bit by bit: -0 and +0, or two kinds of NaN, have slots of
// their own but share a code. O(1) per cell. Invariant: an empty slot holds bits that belong
// elsewhere, so that one comparison tells whether a cell is in its place.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"

namespace fasttree {

class FewValues {
    static constexpr int LOG_SLOTS = 10;
    static constexpr uint32_t SLOTS = 1u << LOG_SLOTS, NONE = 0xffffffffu;
    struct Slot {
        uint32_t bits, code;
    };
    static constexpr uint32_t FACTOR = 0x9e3779b1u;
    static uint32_t place(uint32_t bits) { return bits * FACTOR >> (32 - LOG_SLOTS); }

    std::vector<Slot> slots_ = std::vector<Slot>(SLOTS, Slot{0, NONE});
    uint32_t n_used_ = 0;

public:
    std::vector<uint32_t> keys;  // of the codes
    bool too_many = false;

    FewValues() { slots_[place(0)].bits = 1; }

    // Takes the values for too many, and forgets them.
    void give_up() {
        slots_ = std::vector<Slot>();
        keys = std::vector<uint32_t>();
        too_many = true;
    }

    bool has_given_up() const { return slots_.empty(); }

    // Codes of keys that others have met, as if cells of them were read.
    void learn(const std::vector<uint32_t>& met, bool has_categories, uint32_t most,
               uint8_t* codes) {
        for (size_t i = 0; i < met.size() && !too_many; ++i) {
            encode_other(float_bits(key_cell(met[i])), has_categories, most, codes, i);
        }
    }

    // Codes of the cells cell(0) to cell(n - 1). Nothing is coded once there are more than `most`
    // values.
    template <class Cell>
    void encode(const Cell& cell, size_t n, bool has_categories, uint32_t most, uint8_t* codes) {
        if (too_many) return;
        const Slot* slots = slots_.data();
        for (size_t i = 0; i < n; ++i) {
            // A loop without a call keeps its variables in registers.
            uint32_t bits = 0;
            for (; i < n; ++i) {
                bits = float_bits(cell(i));
                const Slot slot = slots[place(bits)];
                if (slot.bits != bits) break;
                codes[i] = static_cast<uint8_t>(slot.code);
            }
            if (i == n) break;
            if (!encode_other(bits, has_categories, most, codes, i)) return;
        }
    }
    // The same of cells that are side by side.
    void encode(Simd simd, const float* cells, size_t n, bool has_categories, uint32_t most,
                uint8_t* codes, bool gathers = gathers_fast()) {
#if FASTTREE_X86
        if (simd == SIMD_AVX512 && gathers) {
            return encode_avx512(cells, n, has_categories, most, codes);
        }
#endif
        encode([=](size_t i) { return cells[i]; }, n, has_categories, most, codes);
    }

private:
#if FASTTREE_X86
    FASTTREE_AVX512 void encode_avx512(const float* cells, size_t n, bool has_categories,
                                       uint32_t most, uint8_t* codes) {
        if (too_many) return;
        constexpr size_t LANES = 16;
        const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26,
                                                28, 30);
        const __m512i odds = _mm512_add_epi32(evens, _mm512_set1_epi32(1));
        const Slot* const slots = slots_.data();
        for (size_t i = 0; i < n; i += LANES) {
            const auto here = static_cast<__mmask16>(low_bits(std::min(n - i, LANES)));
            const __m512i bits = _mm512_maskz_loadu_epi32(here, cells + i);
            const __m512i places = _mm512_srli_epi32(
                _mm512_mullo_epi32(bits, _mm512_set1_epi32(static_cast<int>(FACTOR))),
                32 - LOG_SLOTS);
            const __m512i low =
                _mm512_i32gather_epi64(_mm512_castsi512_si256(places), slots, sizeof(Slot));
            const __m512i high =
                _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(places, 1), slots, sizeof(Slot));
            const __m512i bits_there = _mm512_permutex2var_epi32(low, evens, high);
            const __m512i codes_there = _mm512_permutex2var_epi32(low, odds, high);
            _mm_mask_storeu_epi8(codes + i, here, _mm512_cvtepi32_epi8(codes_there));
            // Cells of other bits than in their slot: a new value may be several of them.
            uint32_t others = _mm512_mask_cmpneq_epi32_mask(here, bits_there, bits);
            for (; others != 0; others &= others - 1) {
                const size_t at = i + lowest_bit(others);
                if (!encode_other(float_bits(cells[at]), has_categories, most, codes, at)) return;
            }
        }
    }
#endif
    // Codes cell `at`, whose bits are not in their place. False if its value is one too many.
    bool encode_other(uint32_t bits, bool has_categories, uint32_t most, uint8_t* codes,
                      size_t at) {
        const Slot* slot = find_or_insert(bits, has_categories, most);
        too_many = slot == nullptr;
        if (!too_many) codes[at] = static_cast<uint8_t>(slot->code);
        return !too_many;
    }
    // Whether cells of different bits may have the key.
    static bool has_several_bit_patterns(uint32_t key) {
        return key == MISSING_KEY || key == float_key(0.0f);
    }
    // The slot of a cell that is not in its place; null: more than `most` values.
    const Slot* find_or_insert(uint32_t bits, bool has_categories, uint32_t most) {
        uint32_t at = place(bits);
        for (; slots_[at].code != NONE; at = (at + 1) % SLOTS) {
            if (slots_[at].bits == bits) return &slots_[at];
        }
        if (++n_used_ > SLOTS / 2) return nullptr;
        const uint32_t key = cell_key(float_of_bits(bits), has_categories);
        size_t code = keys.size();
        if (has_several_bit_patterns(key)) {
            code = std::find(keys.begin(), keys.end(), key) - keys.begin();
        }
        if (code == keys.size()) {
            if (code == most) return nullptr;
            keys.push_back(key);
        }
        slots_[at] = {bits, static_cast<uint32_t>(code)};
        return &slots_[at];
    }
};

}  // namespace fasttree
