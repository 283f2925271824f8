// Features of a few rows in vectors of 32 bytes, see row_lanes.hpp. A vector that none of a node's
// rows is in, and none behind it, is not read.
#pragma once
#include <cstdint>
#include <limits>

#include "engine/simd/avx2.hpp"
#include "engine/simd/row_lanes.hpp"
#include "engine/simd/sides_avx2.hpp"

namespace fasttree {

#if FASTTREE_X86
template <>
struct RowLanes<SIMD_AVX2> {
    using Mask = uint64_t;
    static constexpr uint32_t ROWS = 64;

    FASTTREE_AVX2 static Extremes extremes(const float* cells, Mask rows, uint32_t n_missing) {
        constexpr float INF = std::numeric_limits<float>::infinity();
        const __m256 none = _mm256_set1_ps(INF), negative = _mm256_set1_ps(-0.0f);
        __m256 high = _mm256_set1_ps(-INF), low = none;
        for (; rows != 0; rows >>= 8, cells += 8) {
            const __m256 x = _mm256_loadu_ps(cells), own = lanes(rows);
            low = _mm256_min_ps(low, _mm256_blendv_ps(none, x, own));
            high = _mm256_max_ps(high, _mm256_blendv_ps(_mm256_xor_ps(none, negative), x, own));
        }
        // Both at once: the lowest is the largest of the negatives.
        low = _mm256_xor_ps(low, negative);
        __m256 most = _mm256_max_ps(_mm256_permute2f128_ps(low, high, 0x20),
                                    _mm256_permute2f128_ps(low, high, 0x31));
        most = _mm256_max_ps(most, _mm256_permute_ps(most, 0x4e));
        most = _mm256_max_ps(most, _mm256_permute_ps(most, 0xb1));
        return {-_mm256_cvtss_f32(most), _mm_cvtss_f32(_mm256_extractf128_ps(most, 1)), n_missing};
    }
    FASTTREE_AVX2 static Mask up_to(const float* cells, Mask rows, float top) {
        const __m256 tops = _mm256_set1_ps(top);
        Mask left = 0;
        for (uint32_t i = 0; i < ROWS && rows >> i != 0; i += 8) {
            left |= bits(_mm256_cmp_ps(_mm256_loadu_ps(cells + i), tops, _CMP_LE_OQ)) << i;
        }
        return rows & left;
    }
    FASTTREE_AVX2 static Mask without_number(const float* cells, Mask rows) {
        Mask without = 0;
        for (uint32_t i = 0; i < ROWS && rows >> i != 0; i += 8) {
            const __m256 x = _mm256_loadu_ps(cells + i);
            without |= bits(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)) << i;
        }
        return rows & without;
    }
    static float float_up_to(double x) { return fasttree::float_up_to(x); }

    FASTTREE_AVX2 static Mask not_zero(const uint8_t* bytes, Mask rows) {
        return rows & ~equal_of_64(bytes, _mm256_setzero_si256());
    }
    FASTTREE_AVX2 static void alike(const uint8_t* classes, Mask rows, Mask* out) {
        for (uint32_t i = 0; i < ROWS && rows >> i != 0; ++i) {
            out[i] =
                rows & equal_of_64(classes, _mm256_set1_epi8(static_cast<char>(classes[i])));
        }
    }
    template <class Item>
    FASTTREE_AVX2 static void pick(const Item* items, Mask rows, Item* out) {
        for (; rows != 0; rows &= rows - 1) *out++ = items[lowest_bit(rows)];
    }
    FASTTREE_AVX2 static Mask spread(Mask bits, Mask rows) {
        return _pdep_u64(bits, rows);
    }
    FASTTREE_AVX2 static int64_t sum(const int64_t* items, Mask rows) {
        __m256i sums = _mm256_setzero_si256();
        const __m256i to_top = _mm256_setr_epi64x(63, 62, 61, 60);
        for (; rows != 0; rows >>= 4, items += 4) {
            const __m256i own = _mm256_sllv_epi64(_mm256_set1_epi64x(rows), to_top);
            const __m256i x = _mm256_maskload_epi64(reinterpret_cast<const long long*>(items), own);
            sums = _mm256_add_epi64(sums, x);
        }
        const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums),
                                          _mm256_extracti128_si256(sums, 1));
        return _mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1);
    }

private:
    FASTTREE_AVX2 static Mask bits(__m256 lanes) {
        return static_cast<uint32_t>(_mm256_movemask_ps(lanes));
    }
    // The highest bits of the lanes say whether one of the 8 lowest rows is there.
    FASTTREE_AVX2 static __m256 lanes(Mask rows) {
        const __m256i to_top = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
        return _mm256_castsi256_ps(
            _mm256_sllv_epi32(_mm256_set1_epi32(static_cast<int>(rows)), to_top));
    }
};
#endif

}  // namespace fasttree
