// The codes of columns, one column after the other, become rows of codes.
//
// Codes are mapped on the way: each column has a table that says what is written of a code. With
// AVX-512, 64 codes are looked up at a time and 16 columns transposed in registers.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/simd/simd.hpp"
#include "engine/simd/transpose.hpp"

namespace fasttree {

struct CodedColumn {
    const uint8_t* codes;   // by place
    const uint8_t* mapped;  // [256]: what each code becomes
};

// For places i in [start, stop) writes what becomes of column k's code to
// out[row_of(i) * stride + k].
template <class RowOf>
void interleave_portable(const CodedColumn* columns, uint32_t n_columns, size_t start, size_t stop,
                         const RowOf& row_of, uint8_t* out, size_t stride) {
    constexpr size_t BLOCK = 256;  // places whose rows stay in a cache
    for (size_t begin = start, end; begin < stop; begin = end) {
        end = std::min(begin + BLOCK, stop);
        for (uint32_t k = 0; k < n_columns; ++k) {
            const uint8_t *const codes = columns[k].codes, *const mapped = columns[k].mapped;
            for (size_t i = begin; i < end; ++i) out[row_of(i) * stride + k] = mapped[codes[i]];
        }
    }
}

#if FASTTREE_X86
// mapped[code] of each code.
FASTTREE_AVX512 inline __m512i map_codes(const uint8_t* mapped, __m512i codes) {
    const auto quarter = [mapped](int i) FASTTREE_AVX512 {
        return _mm512_loadu_si512(mapped + 64 * i);
    };
    const __m512i low = _mm512_permutex2var_epi8(quarter(0), codes, quarter(1));
    const __m512i high = _mm512_permutex2var_epi8(quarter(2), codes, quarter(3));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), low, high);
}

class CodeTile {
    static constexpr uint32_t COLUMNS = 16, ROWS = 64;
    // Lane l of vector k: the codes of row 16 l + k.
    alignas(64) uint8_t rows_[COLUMNS][ROWS / COLUMNS][COLUMNS];

    // Up to 16 columns of the `n` places from `start` on.
    FASTTREE_AVX512 void read(const CodedColumn* columns, uint32_t n_columns, size_t start,
                              uint32_t n) {
        const __mmask64 places = ~uint64_t{0} >> (ROWS - n);
        __m512i a[COLUMNS];
        for (uint32_t k = 0; k < COLUMNS; ++k) {
            a[k] = _mm512_setzero_si512();
            if (k >= n_columns) continue;
            a[k] = map_codes(columns[k].mapped,
                             _mm512_maskz_loadu_epi8(places, columns[k].codes + start));
        }
        transpose_bytes(a, [](const __m512i& x, const __m512i& y, __m512i& low,
                              __m512i& high) FASTTREE_AVX512 {
            low = _mm512_unpacklo_epi8(x, y);
            high = _mm512_unpackhi_epi8(x, y);
        });
        for (uint32_t k = 0; k < COLUMNS; ++k) _mm512_store_si512(rows_[k], a[k]);
    }

public:
    template <class RowOf>
    FASTTREE_AVX512 void interleave(const CodedColumn* columns, uint32_t n_columns, size_t start,
                                    size_t stop, const RowOf& row_of, uint8_t* out, size_t stride) {
        for (; start < stop; start += ROWS) {
            const uint32_t n = static_cast<uint32_t>(std::min<size_t>(ROWS, stop - start));
            for (uint32_t first = 0; first < n_columns; first += COLUMNS) {
                // The last group has columns of the one before, so that it is whole.
                const uint32_t last = std::min(first + COLUMNS, n_columns);
                const uint32_t from = last < COLUMNS ? 0 : last - COLUMNS;
                read(columns + from, last - from, start, n);
                const __mmask16 written = static_cast<__mmask16>((1u << (last - from)) - 1);
                for (uint32_t i = 0; i < n; ++i) {
                    const __m128i row = _mm_load_si128(
                        reinterpret_cast<const __m128i*>(rows_[i % COLUMNS][i / COLUMNS]));
                    uint8_t* const to = out + row_of(start + i) * stride + from;
                    if (n_columns >= COLUMNS) {
                        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), row);
                    } else {
                        _mm_mask_storeu_epi8(to, written, row);
                    }
                }
            }
        }
    }
};
#endif

template <class RowOf>
void interleave_codes(Simd simd, const CodedColumn* columns, uint32_t n_columns, size_t start,
                      size_t stop, const RowOf& row_of, uint8_t* out, size_t stride) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512 && n_columns > 1) {  // to transpose one would take longer
        CodeTile tile;
        tile.interleave(columns, n_columns, start, stop, row_of, out, stride);
        return;
    }
#endif
    interleave_portable(columns, n_columns, start, stop, row_of, out, stride);
}

}  // namespace fasttree
