// Counting of rows in series: rows of a class that have most of their codes in common, as many
// records of a log have. A row is counted by itself only where its codes differ from those of the
// row that began the series; where they do not, all rows of the series are counted at once.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>

#include "engine/core/cells.hpp"
#include "engine/score/binary_gini.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86

// Features whose codes are within 64 bytes of a row.
template <class Acc>
class CodeSeries {
    using Cell = typename Acc::Cell;
    static constexpr bool is_binary = std::is_same_v<Acc, BinaryGini<UnitWeights>>;
    static constexpr uint32_t SLOTS = 64, CLASSES = 64;
    static constexpr uint32_t GROUP = 64, LONGEST = 255;  // rows; of a series, to count in bytes
    static constexpr uint32_t APART = 4;  // for one code that differs, within a series
    static constexpr size_t MOST_CODES = GROUP * SLOTS / APART + SLOTS;  // and what a vector writes

    const Acc& acc_;
    const size_t n_bytes_;              // of a cell
    const uint8_t* const codes_;        // those of row r begin at codes_[r * stride_]
    const size_t stride_;
    char* const cells_;
    uint64_t slots_ = 0;                // that hold a code of the features, as bits
    size_t tables_[SLOTS];              // of the features in `cells_`, by slot
    alignas(64) uint8_t numbers_[SLOTS];           // of the slots
    uint32_t n_rows_[CLASSES] = {};                // of the series, by class
    alignas(64) uint8_t first_[CLASSES][SLOTS];    // codes of the rows that began them
    alignas(64) uint8_t n_apart_[CLASSES][SLOTS];  // rows whose code differs from that
    // Codes that differ, of the rows of a group.
    uint8_t of_class_[MOST_CODES], in_slot_[MOST_CODES], code_[MOST_CODES];

public:
    // Whether to look for series among so many rows.
    static bool pays(const Acc& acc, uint32_t n_rows) {
        constexpr uint32_t MANY_ROWS = 1024;
        return acc.t.simd == SIMD_AVX512 && n_rows >= MANY_ROWS
               && static_cast<uint32_t>(acc.t.max_n_classes) <= CLASSES;
    }
    // Whether to look for them in so many features.
    static bool pays(uint32_t n_features) {
        constexpr uint32_t MANY_FEATURES = 16;
        return n_features >= MANY_FEATURES;
    }
    // How many of the features are within 64 bytes of the first one's code.
    static uint32_t n_within(const CountedFeature* features, uint32_t n_features) {
        uint32_t n = 1;
        while (n < n_features && features[n].slot - features[0].slot < SLOTS) ++n;
        return n;
    }
    CodeSeries(const Acc& acc, const uint8_t* codes, size_t stride, const CountedFeature* features,
               uint32_t n_features, char* cells)
        : acc_(acc), n_bytes_(acc.cell_size() * sizeof(Cell)), codes_(codes + features[0].slot),
          stride_(stride), cells_(cells) {
        std::iota(numbers_, numbers_ + SLOTS, uint8_t{0});
        for (uint32_t f = 0; f < n_features; ++f) {
            const uint32_t slot = features[f].slot - features[0].slot;
            slots_ |= uint64_t{1} << slot;
            tables_[slot] = features[f].offset;
        }
    }

    // Adds rows to the tables until too few of them continue a series; returns how many it added.
    uint32_t count(const uint32_t* rows, uint32_t n) {
        constexpr uint32_t MOST_NEW = GROUP / 2;
        uint32_t i = 0;
        for (uint32_t n_new = 0; i < n && n_new <= MOST_NEW; i += GROUP) {
            n_new = count_group(rows + i, std::min(n - i, GROUP));
        }
        for (int c = 0; c < acc_.t.max_n_classes; ++c) end_series(static_cast<uint8_t>(c));
        return std::min(i, n);
    }

private:
    // Returns how many rows began a series. Cells are added to once all of them have been looked
    // at: how many codes a row adds cannot be predicted.
    FASTTREE_AVX512 uint32_t count_group(const uint32_t* rows, uint32_t n) {
        const int most_apart = __builtin_popcountll(slots_) / int{APART};
        const __m512i slot_numbers = _mm512_load_si512(numbers_), one = _mm512_set1_epi8(1);
        uint32_t n_new = 0, n_codes = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint8_t c = acc_.y[rows[i]];
            const __m512i codes = _mm512_maskz_loadu_epi8(slots_, codes_ + rows[i] * stride_);
            const bool is_open = n_rows_[c] > 0 && n_rows_[c] < LONGEST;
            const __mmask64 apart =
                is_open ? _mm512_mask_cmpneq_epi8_mask(slots_, codes, _mm512_load_si512(first_[c]))
                        : slots_;
            const int n_apart = __builtin_popcountll(apart);
            if (n_apart > most_apart) {
                end_series(c);
                _mm512_store_si512(first_[c], codes);
                _mm512_store_si512(n_apart_[c], _mm512_setzero_si512());
                n_rows_[c] = 1;
                ++n_new;
                continue;
            }
            ++n_rows_[c];
            const __m512i before = _mm512_load_si512(n_apart_[c]);
            _mm512_store_si512(n_apart_[c], _mm512_mask_add_epi8(before, apart, before, one));
            _mm512_storeu_si512(of_class_ + n_codes, _mm512_set1_epi8(static_cast<char>(c)));
            _mm512_storeu_si512(in_slot_ + n_codes,
                                _mm512_maskz_compress_epi8(apart, slot_numbers));
            _mm512_storeu_si512(code_ + n_codes, _mm512_maskz_compress_epi8(apart, codes));
            n_codes += static_cast<uint32_t>(n_apart);
        }
        for (uint32_t k = 0; k < n_codes; ++k) {
            cell(of_class_[k], in_slot_[k], code_[k]) += step(of_class_[k]);
        }
        return n_new;
    }
    // What a row of class c adds to the cell of its value.
    static Cell step(uint8_t c) {
        if constexpr (is_binary) return (uint64_t{1} << 32) + c;
        return 1;
    }
    Cell& cell(uint8_t c, uint8_t slot, uint8_t code) const {
        char* const of_value = cells_ + tables_[slot] + code * n_bytes_;
        return reinterpret_cast<Cell*>(of_value)[is_binary ? 0 : c];
    }
    void end_series(uint8_t c) {
        const uint32_t n_rows = n_rows_[c];
        if (n_rows == 0) return;
        for (uint64_t slots = slots_; slots != 0; slots &= slots - 1) {
            const uint8_t slot = static_cast<uint8_t>(lowest_bit(slots));
            cell(c, slot, first_[c][slot]) += (n_rows - n_apart_[c][slot]) * step(c);
        }
        n_rows_[c] = 0;
    }
};

#endif

}  // namespace fasttree
