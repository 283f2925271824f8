// Codes of a column that has few distinct values, in order of appearance.
//
// A hash table of cells as they are, bit by bit: -0 and +0, or two kinds of NaN, have slots of
// their own but share a code. O(1) per cell.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../utils/_sorting.hpp"

namespace fasttree {

class FewValues {
    static constexpr int LOG_SLOTS = 10;
    static constexpr uint32_t SLOTS = 1u << LOG_SLOTS, NONE = 0xffffffffu;
    struct Slot {
        uint32_t bits, code;
    };
    std::vector<Slot> slots_ = std::vector<Slot>(SLOTS, Slot{0, NONE});
    uint32_t n_used_ = 0;

public:
    std::vector<uint32_t> keys;  // of the codes

    // Codes of n cells, `stride` apart or at the given rows; false: more than `most` values.
    bool encode(const float* column, ptrdiff_t stride, const uint32_t* rows, size_t n,
                bool with_labels, uint32_t most, uint8_t* codes) {
        const Slot* slots = slots_.data();
        for (size_t i = 0; i < n; ++i) {
            const float cell = column[static_cast<ptrdiff_t>(rows[i]) * stride];
            uint32_t bits;
            std::memcpy(&bits, &cell, sizeof bits);
            uint32_t at = bits * 0x9e3779b1u >> (32 - LOG_SLOTS);
            while (slots[at].bits != bits || slots[at].code == NONE) {
                if (slots[at].code != NONE) at = (at + 1) % SLOTS;
                else if (!insert(at, bits, cell_key(cell, with_labels), most)) return false;
            }
            codes[i] = static_cast<uint8_t>(slots[at].code);
        }
        return true;
    }

    // The codes in ascending order of their keys.
    std::vector<uint8_t> ascending() const {
        std::vector<uint8_t> order(keys.size());
        for (size_t c = 0; c < order.size(); ++c) order[c] = static_cast<uint8_t>(c);
        std::sort(order.begin(), order.end(),
                  [this](uint8_t a, uint8_t b) { return keys[a] < keys[b]; });
        return order;
    }

private:
    // Whether cells of different bits may have the key.
    static bool comes_in_guises(uint32_t key) {
        return key == MISSING_KEY || key == float_key(0.0f);
    }

    bool insert(uint32_t at, uint32_t bits, uint32_t key, uint32_t most) {
        if (++n_used_ > SLOTS / 2) return false;
        size_t code = keys.size();
        if (comes_in_guises(key)) {
            code = std::find(keys.begin(), keys.end(), key) - keys.begin();
        }
        if (code == keys.size()) {
            if (code == most) return false;
            keys.push_back(key);
        }
        slots_[at] = {bits, static_cast<uint32_t>(code)};
        return true;
    }
};

}  // namespace fasttree
