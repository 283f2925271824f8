// The sides of rows that have a code each: of a split on a column of few values.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "engine/columns/column.hpp"
#include "engine/core/split.hpp"
#include "engine/order/partition.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/interleave.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_cell.hpp"

namespace fasttree {

class CodeSides {
    const uint8_t* codes_;  // that of a row is codes_[row * stride_]
    size_t stride_;
    size_t n_bytes_;        // that may be read from codes_ on
    uint8_t is_left_[MAX_COUNTED + 1] = {};
    uint32_t n_codes_;

public:
    // `codes` is [n_rows, stride]; the split's column is number `column.slot`.
    CodeSides(const Split& split, const Column& column, const uint8_t* codes, size_t n_rows,
              size_t stride)
        : codes_(codes + column.slot), stride_(stride), n_bytes_(n_rows * stride - column.slot),
          n_codes_(static_cast<uint32_t>(column.values.size()) + 1) {
        const float* const values = column.values.data();
        const uint32_t n_numbers = column.n_numbers();
        const float* const above =
            split.question != THRESHOLD ? values
            : std::upper_bound(values, values + n_numbers, split.threshold,
                               [](double threshold, float value) { return threshold < value; });
        std::fill(is_left_, is_left_ + (above - values), uint8_t{1});
        std::fill(is_left_ + (above - values), is_left_ + n_numbers, uint8_t{0});
        for (uint32_t c = n_numbers; c + 1 < n_codes_; ++c) {
            is_left_[c] = split.category_goes_left(category_of(values[c]));
        }
        is_left_[n_codes_ - 1] = split.missing_left;
    }

    bool operator()(uint32_t row) const { return is_left_[codes_[row * stride_]]; }

    // Writes the rows that go left to `left_out`, which may be `rows`, the others to `right_out`,
    // and returns how many go left. `right_out` has room for PADDING rows more.
    uint32_t separate(Simd simd, const uint32_t* rows, uint32_t n, uint32_t* left_out,
                      uint32_t* right_out, bool gathers = gathers_fast()) const {
#if FASTTREE_X86
        constexpr size_t MOST = std::numeric_limits<int32_t>::max();  // of an index
        if (simd == SIMD_AVX512 && gathers && n_bytes_ >= READ && n_bytes_ <= MOST) {
            return separate_avx512(rows, n, left_out, right_out);
        }
#endif
        uint32_t n_left = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t row = rows[i], is_left = (*this)(row);
            left_out[n_left] = row;
            right_out[i - n_left] = row;
            n_left += is_left;
        }
        return n_left;
    }

    // Puts the sides of rows [begin, end) into `bits`, whatever nodes they are of. `codes` are
    // those of the column alone.
    void mark(Simd simd, const CodedColumn& codes, uint32_t begin, uint32_t end,
              uint32_t* bits) const {
        if (begin >= end) return;
#if FASTTREE_X86
        if (simd == SIMD_AVX512) return mark_avx512(codes, begin, end, bits);
#endif
        BitWriter writer(bits, begin);
        for (uint32_t row = begin; row < end; ++row) {
            writer.put(row, is_left_[codes.mapped[codes.codes[row]]]);
        }
    }

private:
    static constexpr size_t READ = sizeof(uint32_t);  // bytes that a lane reads of the codes

#if FASTTREE_X86
    // Bit c: code c goes left.
    FASTTREE_AVX512 __m512i bits_of_codes() const {
        alignas(64) uint64_t words[8] = {};
        for (uint32_t c = 0; c < n_codes_; c += 64) {
            const uint64_t lanes = low_bits(std::min(n_codes_ - c, 64u));
            const __m512i is_left = _mm512_maskz_loadu_epi8(lanes, is_left_ + c);
            words[c / 64] = _mm512_test_epi8_mask(is_left, is_left);
        }
        return _mm512_load_si512(words);
    }
    FASTTREE_AVX512 void mark_avx512(const CodedColumn& codes, uint32_t begin, uint32_t end,
                                     uint32_t* bits) const {
        constexpr uint32_t ROWS = 32;  // of a word
        alignas(64) uint64_t words[4];  // bit c: code c goes left
        for (uint32_t c = 0; c < MAX_COUNTED; c += 64) {
            const __m512i is_left = map_codes(is_left_, _mm512_loadu_si512(codes.mapped + c));
            words[c / 64] = _mm512_test_epi8_mask(is_left, is_left);
        }
        const __m256i is_left = _mm256_load_si256(reinterpret_cast<const __m256i*>(words));
        const __m256i bit_of = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
        for (uint32_t row = begin / ROWS * ROWS; row < end; row += ROWS) {
            const uint64_t before = row < begin ? low_bits(begin - row) : 0;
            const uint32_t lanes =
                static_cast<uint32_t>(low_bits(std::min(end - row, ROWS)) & ~before);
            const __m256i code = _mm256_maskz_loadu_epi8(lanes, codes.codes + row);
            const __m256i byte = _mm256_permutexvar_epi8(
                _mm256_and_si256(_mm256_srli_epi16(code, 3), _mm256_set1_epi8(31)), is_left);
            const __m256i bit =
                _mm256_shuffle_epi8(bit_of, _mm256_and_si256(code, _mm256_set1_epi8(7)));
            uint32_t& word = bits[row / ROWS];
            word = (word & ~lanes) | _mm256_mask_test_epi8_mask(lanes, byte, bit);
        }
    }
    FASTTREE_AVX512 uint32_t separate_avx512(const uint32_t* rows, uint32_t n, uint32_t* left_out,
                                             uint32_t* right_out) const {
        constexpr uint32_t LANES = 16;
        const __m512i is_left = bits_of_codes();
        const __m512i stride = _mm512_set1_epi32(static_cast<int>(stride_));
        // The last codes are read with bytes in front of them: nothing behind all codes is read.
        const __m512i last_read = _mm512_set1_epi32(static_cast<int>(n_bytes_ - READ));
        const __m512i one = _mm512_set1_epi32(1), within = _mm512_set1_epi32(31);
        uint32_t n_left = 0;
        for (uint32_t i = 0; i < n; i += LANES) {
            const __mmask16 lanes = static_cast<__mmask16>(low_bits(std::min(n - i, LANES)));
            const __m512i row = _mm512_maskz_loadu_epi32(lanes, rows + i);
            const __m512i at = _mm512_mullo_epi32(row, stride);
            const __m512i from = _mm512_min_epu32(at, last_read);
            const __m512i read = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, from,
                                                             codes_, 1);
            const __m512i bits_before = _mm512_slli_epi32(_mm512_sub_epi32(at, from), 3);
            const __m512i code = _mm512_and_si512(_mm512_srlv_epi32(read, bits_before),
                                                  _mm512_set1_epi32(0xff));
            const __m512i word =
                _mm512_permutexvar_epi32(_mm512_srli_epi32(code, 5), is_left);
            const __m512i bit = _mm512_sllv_epi32(one, _mm512_and_si512(code, within));
            const __mmask16 left = _mm512_mask_test_epi32_mask(lanes, word, bit);
            const __mmask16 right = static_cast<__mmask16>(lanes & ~left);
            const uint32_t count = static_cast<uint32_t>(__builtin_popcount(left));
            _mm512_mask_storeu_epi32(left_out + n_left, static_cast<__mmask16>(low_bits(count)),
                                     _mm512_maskz_compress_epi32(left, row));
            _mm512_storeu_si512(right_out + (i - n_left), _mm512_maskz_compress_epi32(right, row));
            n_left += count;
        }
        return n_left;
    }
#endif
};

}  // namespace fasttree
