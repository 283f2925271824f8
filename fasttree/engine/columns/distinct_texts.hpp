// Codes of the distinct texts of a column, in order of appearance.
//
// Texts lie one after another in memory, with offsets, as Arrow keeps them. A hash table holds
// them by a word and their length: a text of up to eight bytes is its word, so most are compared
// without a look at their bytes. O(1) per text, plus its length if that is more.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace fasttree {

class DistinctTexts {
public:
    struct Text {
        const char* chars;
        size_t size;
    };
    std::vector<Text> texts;  // of the codes; they point into the columns

    // Codes of n texts from `first` on; -1 where `valid`, if there is such a bitmap, has a 0.
    template <class Offset>
    void encode(const Offset* offsets, const char* chars, const uint8_t* valid, size_t first,
                size_t n, int32_t* codes) {
        const char* end = chars + offsets[first + n];
        for (size_t i = 0; i < n; ++i) {
            const size_t row = first + i;
            if (valid != nullptr && (valid[row / 8] >> row % 8 & 1) == 0) {
                codes[i] = -1;
                continue;
            }
            const size_t start = static_cast<size_t>(offsets[row]);
            codes[i] = code({chars + start, static_cast<size_t>(offsets[row + 1]) - start}, end);
        }
    }

private:
    static constexpr uint64_t FACTOR = 0x9e3779b97f4a7c15u;
    static constexpr int32_t NONE = -1;
    struct Slot {
        uint64_t word;
        Text text;
        int32_t code;
    };
    std::vector<Slot> slots_ = std::vector<Slot>(256, Slot{0, {nullptr, 0}, NONE});
    int log_slots_ = 8;

    static uint64_t load(const char* from) {
        uint64_t x;
        std::memcpy(&x, from, sizeof x);
        return x;
    }
    // The bytes of up to eight, no more; without a branch on the size, which is hard to predict.
    static uint64_t first_bytes(Text text, const char* end) {
        uint64_t word = 0;
        if (end - text.chars < 8) {
            if (text.size > 0) std::memcpy(&word, text.chars, text.size);
            return word;
        }
        const int half = 4 * (8 - static_cast<int>(text.size));  // 64 bits cannot be shifted out
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        return load(text.chars) >> half >> half << half << half;
#else
        return load(text.chars) << half << half >> half >> half;
#endif
    }
    // The bytes of a text of up to eight, so that texts of one size are equal if their words are;
    // a hash of a longer one. Nothing is read from `end` on.
    static uint64_t word_of(Text text, const char* end) {
        if (text.size <= 8) return first_bytes(text, end);
        const char *chars = text.chars, *last = chars + text.size - 8;
        uint64_t word = load(last);
        for (; chars < last; chars += 8) {
            word = (word ^ load(chars)) * FACTOR;
            word ^= word >> 32;
        }
        return word;
    }
    static bool equal(const Slot& slot, uint64_t word, Text text) {
        return slot.word == word && slot.text.size == text.size
               && (text.size <= 8 || std::memcmp(slot.text.chars, text.chars, text.size) == 0);
    }
    size_t place(uint64_t word, size_t size) const {
        return static_cast<size_t>((word + size) * FACTOR >> (64 - log_slots_));
    }

    int32_t code(Text text, const char* end) {
        const uint64_t word = word_of(text, end);
        size_t at = place(word, text.size);
        while (slots_[at].code != NONE) {
            if (equal(slots_[at], word, text)) return slots_[at].code;
            at = (at + 1) % slots_.size();
        }
        slots_[at] = {word, text, static_cast<int32_t>(texts.size())};
        texts.push_back(text);
        if (2 * texts.size() > slots_.size()) grow();
        return static_cast<int32_t>(texts.size()) - 1;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size(), Slot{0, {nullptr, 0}, NONE});
        old.swap(slots_);
        ++log_slots_;
        for (const Slot& slot : old) {
            if (slot.code == NONE) continue;
            size_t at = place(slot.word, slot.text.size);
            while (slots_[at].code != NONE) at = (at + 1) % slots_.size();
            slots_[at] = slot;
        }
    }
};

}  // namespace fasttree
