// Features of a few rows, a lane per row: a feature's cells are vectors, a node is a mask of the
// rows. By instruction set, all with the same results (those of AVX2: row_lanes_avx2.hpp):
//     extremes        of some rows' cells, all of them numbers
//     up_to           those of some rows whose cells are up to `top`
//     without_number  those of some rows whose cells are not numbers
//     float_up_to     the largest float that is not above x
//     not_zero        those of some rows whose bytes are not 0
//     alike           of each row those of its class
//     pick            moves the items of some rows to the front of `out`
//     spread          the lowest bits to the places of some rows
//     sum             of the items of some rows
// Rows are the bits of a mask; `ROWS` of them fit, and all may read the items of as many.
#pragma once
#include <cstdint>
#include <limits>

#include "engine/simd/bits.hpp"
#include "engine/simd/float_up_to.hpp"
#include "engine/simd/gather.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

constexpr uint32_t ROW_PADDING = 16;  // items behind those picked, which vectors may touch

// Without vectors a row is looked at after the other.
template <Simd simd>
struct RowLanes {
    using Mask = uint64_t;
    static constexpr uint32_t ROWS = 64;

    static Extremes extremes(const float* cells, Mask rows, uint32_t n_missing) {
        constexpr float INF = std::numeric_limits<float>::infinity();
        Extremes out{INF, -INF, n_missing};
        for (; rows != 0; rows &= rows - 1) {
            const float x = cells[lowest_bit(rows)];
            out.low = x < out.low ? x : out.low;
            out.high = x > out.high ? x : out.high;
        }
        return out;
    }
    static Mask up_to(const float* cells, Mask rows, float top) {
        return find(rows, [=](int row) { return cells[row] <= top; });
    }
    static Mask without_number(const float* cells, Mask rows) {
        return find(rows, [=](int row) { return cells[row] != cells[row]; });
    }
    static float float_up_to(double x) { return fasttree::float_up_to(x); }
    static Mask not_zero(const uint8_t* bytes, Mask rows) {
        return find(rows, [=](int row) { return bytes[row] != 0; });
    }
    static void alike(const uint8_t* classes, Mask rows, Mask* out) {
        for (uint32_t i = 0; i < ROWS && rows >> i != 0; ++i) {
            out[i] = find(rows, [=](int row) { return classes[row] == classes[i]; });
        }
    }
    template <class Item>
    static void pick(const Item* items, Mask rows, Item* out) {
        for (; rows != 0; rows &= rows - 1) *out++ = items[lowest_bit(rows)];
    }
    static Mask spread(Mask bits, Mask rows) {
        Mask out = 0;
        for (; rows != 0; rows &= rows - 1, bits >>= 1) out |= bits & 1 ? rows & -rows : 0;
        return out;
    }
    static int64_t sum(const int64_t* items, Mask rows) {
        int64_t sum = 0;
        for (; rows != 0; rows &= rows - 1) sum += items[lowest_bit(rows)];
        return sum;
    }

private:
    template <class Is>
    static Mask find(Mask rows, const Is& is) {
        Mask found = 0;
        for (; rows != 0; rows &= rows - 1) {
            found |= is(lowest_bit(rows)) ? rows & -rows : 0;
        }
        return found;
    }
};

#if FASTTREE_X86
template <>
struct RowLanes<SIMD_AVX512> {
    using Mask = uint32_t;
    static constexpr uint32_t ROWS = 32;

    FASTTREE_AVX512 static Extremes extremes(const float* cells, uint32_t rows,
                                             uint32_t n_missing) {
        const __mmask16 front = static_cast<__mmask16>(rows);
        const __mmask16 back = static_cast<__mmask16>(rows >> 16);
        const __m512 none = _mm512_set1_ps(-std::numeric_limits<float>::infinity());
        const __m512 x = _mm512_loadu_ps(cells), y = _mm512_loadu_ps(cells + ROWS / 2);
        const __m512 highs = _mm512_max_ps(_mm512_mask_mov_ps(none, front, x),
                                           _mm512_mask_mov_ps(none, back, y));
        const __m512 negatives = _mm512_max_ps(_mm512_mask_mov_ps(none, front, negative(x)),
                                               _mm512_mask_mov_ps(none, back, negative(y)));
        return extremes_of(negatives, highs, n_missing);
    }
    FASTTREE_AVX512 static uint32_t up_to(const float* cells, uint32_t rows, float top) {
        const __m512 tops = _mm512_set1_ps(top);
        const uint32_t front = _mm512_cmp_ps_mask(_mm512_loadu_ps(cells), tops, _CMP_LE_OQ);
        const uint32_t back =
            _mm512_cmp_ps_mask(_mm512_loadu_ps(cells + ROWS / 2), tops, _CMP_LE_OQ);
        return rows & (front | back << 16);
    }
    FASTTREE_AVX512 static uint32_t without_number(const float* cells, uint32_t rows) {
        const __m512 x = _mm512_loadu_ps(cells), y = _mm512_loadu_ps(cells + ROWS / 2);
        const uint32_t front = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
        const uint32_t back = _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q);
        return rows & (front | back << 16);
    }
    FASTTREE_AVX512 static float float_up_to(double x) {
        return _mm_cvtss_f32(_mm_cvt_roundsd_ss(_mm_setzero_ps(), _mm_set_sd(x),
                                                _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
    }
    FASTTREE_AVX512 static uint32_t not_zero(const uint8_t* bytes, uint32_t rows) {
        const __m256i all = _mm256_maskz_loadu_epi8(rows, bytes);
        return _mm256_test_epi8_mask(all, all);
    }
    FASTTREE_AVX512 static void alike(const uint8_t* classes, uint32_t rows, uint32_t* out) {
        const __m256i all = _mm256_maskz_loadu_epi8(rows, classes);
        for (uint32_t i = 0; i < ROWS && rows >> i != 0; ++i) {
            out[i] = rows & _mm256_cmpeq_epi8_mask(all, _mm256_set1_epi8(
                static_cast<char>(classes[i])));
        }
    }
    // The sums of the squared class counts on either side.
    FASTTREE_AVX512 static void sum_squares(const uint32_t* alike, uint32_t left, uint32_t right,
                                            int64_t& squares_left, int64_t& squares_right) {
        const __m512i lefts = _mm512_set1_epi32(static_cast<int>(left));
        const __m512i rights = _mm512_set1_epi32(static_cast<int>(right));
        __m512i sums = _mm512_setzero_si512();
        // A row counts those of its class on its side; on the right in the upper half of a lane.
        for (uint32_t i = 0; i < ROWS; i += 16) {
            const __mmask16 l = static_cast<__mmask16>(left >> i);
            const __mmask16 r = static_cast<__mmask16>(right >> i);
            const __m512i own = _mm512_maskz_and_epi32(l | r, _mm512_loadu_si512(alike + i),
                                                       _mm512_mask_mov_epi32(lefts, r, rights));
            const __m512i n = _mm512_popcnt_epi32(own);
            sums = _mm512_add_epi32(sums, _mm512_mask_slli_epi32(n, r, n, 16));
        }
        const uint32_t both = static_cast<uint32_t>(_mm512_reduce_add_epi32(sums));
        squares_left = both & 0xffff;
        squares_right = both >> 16;
    }
    FASTTREE_AVX512 static void pick(const uint32_t* items, uint32_t rows, uint32_t* out) {
        const uint32_t n_front = static_cast<uint32_t>(__builtin_popcount(rows & 0xffff));
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(static_cast<__mmask16>(rows),
                                                             _mm512_loadu_si512(items)));
        _mm512_storeu_si512(out + n_front, _mm512_maskz_compress_epi32(
            static_cast<__mmask16>(rows >> 16), _mm512_loadu_si512(items + 16)));
    }
    FASTTREE_AVX512 static void pick(const uint8_t* items, uint32_t rows, uint8_t* out) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_maskz_compress_epi8(
            rows, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(items))));
    }
    FASTTREE_AVX512 static void pick(const int64_t* items, uint32_t rows, int64_t* out) {
        for (uint32_t i = 0; i < ROWS; i += 8) {
            const __mmask8 own = static_cast<__mmask8>(rows >> i);
            _mm512_storeu_si512(out,
                                _mm512_maskz_compress_epi64(own, _mm512_loadu_si512(items + i)));
            out += __builtin_popcount(own);
        }
    }
    FASTTREE_AVX512 static uint32_t spread(uint32_t bits, uint32_t rows) {
        return _pdep_u32(bits, rows);
    }
    FASTTREE_AVX512 static int64_t sum(const int64_t* items, uint32_t rows) {
        __m512i sum = _mm512_setzero_si512();
        for (uint32_t i = 0; i < ROWS; i += 8) {
            sum = _mm512_add_epi64(
                sum, _mm512_maskz_loadu_epi64(static_cast<__mmask8>(rows >> i), items + i));
        }
        return _mm512_reduce_add_epi64(sum);
    }
};
#endif

}  // namespace fasttree
