// The buckets of a column of many values: ranges of values, each with about as many rows as the
// others. A byte per row says in which bucket its value is.
//
// Limits between buckets come from the values of a sample of the rows. How well they divide the
// others costs or saves time; what is in a bucket is exact. A value is in one bucket, one of very
// many rows in a bucket of its own.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/core/keys.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"
#include "utils/_random.hpp"

namespace fasttree {

// Rows of a sample for limits, and the i-th of them among n rows.
constexpr uint32_t BUCKET_SAMPLE = 8192;
inline uint32_t bucket_sample_row(uint32_t i, uint32_t n) {
    return n <= BUCKET_SAMPLE ? i : below(mix(0, i), n);
}

class Buckets {
    static constexpr uint32_t BLOCK = 16, N_BLOCKS = MAX_BUCKETS / BLOCK;
    static constexpr uint32_t MANY = 8;  // times the rows of a bucket
    // The largest key (simd/sorting.hpp) of each bucket, and padding. Behind the buckets of numbers
    // all are the largest key of a number, but for OTHERS.
    uint32_t last_[MAX_BUCKETS + KEY_PADDING];
    uint32_t last_of_block_[N_BLOCKS];
    uint32_t n_ = 0;

public:
    // Of what is not a number.
    static constexpr uint8_t OTHERS = MAX_BUCKETS - 1;

    // From the keys of a sample, ascending.
    Buckets(const uint32_t* keys, uint32_t n) {
        while (n > 0 && keys[n - 1] >= FIRST_CATEGORY_KEY) --n;
        uint32_t n_in_bucket = 0, most = n / OTHERS + 1;
        const uint32_t very_many = MANY * most;
        for (uint32_t i = 0, end; i < n; i = end) {
            end = i + 1;
            while (end < n && keys[end] == keys[i]) ++end;
            const bool is_alone = end - i > very_many;
            if (n_in_bucket > 0 && n_in_bucket + (end - i) > most && n_ + 1 < OTHERS) {
                last_[n_++] = keys[i - 1];
                n_in_bucket = 0;
                most = (n - i) / (OTHERS - n_) + 1;  // what is left, among the buckets left
            }
            if (is_alone && n_ + 1 < OTHERS && keys[i] > lowest_in(n_)) {
                last_[n_++] = keys[i] - 1;  // for what is between this value and the one before
            }
            n_in_bucket += end - i;
            if (is_alone && end == n && n_ + 1 < OTHERS) last_[n_++] = keys[i];
        }
        std::fill(last_ + n_, last_ + OTHERS, FIRST_CATEGORY_KEY - 1);
        std::fill(last_ + OTHERS, last_ + MAX_BUCKETS + KEY_PADDING, NO_KEY);
        ++n_;
        for (uint32_t b = 0; b < N_BLOCKS; ++b) last_of_block_[b] = last_[b * BLOCK + BLOCK - 1];
    }

    // Buckets of numbers.
    uint32_t n() const noexcept { return n_; }
    // The largest key in each, padded.
    const uint32_t* last_keys() const noexcept { return last_; }

    uint8_t of(uint32_t key) const {
        uint32_t bucket = 0;  // all before hold less
        for (uint32_t step = MAX_BUCKETS / 2; step > 0; step /= 2) {
            bucket += last_[bucket + step - 1] < key ? step : 0;
        }
        return static_cast<uint8_t>(bucket);
    }
    // Of n keys.
    void find(Simd simd, const uint32_t* keys, uint32_t n, uint8_t* out) const {
#if FASTTREE_X86
        if (simd == SIMD_AVX512) return find_avx512(keys, n, out);
#endif
        for (uint32_t i = 0; i < n; ++i) out[i] = of(keys[i]);
    }

private:
    // The lowest key that the i-th bucket may hold.
    uint32_t lowest_in(uint32_t i) const { return i > 0 ? last_[i - 1] + 1 : 0; }

#if FASTTREE_X86
    // The same search in 16 lanes: for the block in a register, then in the block.
    FASTTREE_AVX512 void find_avx512(const uint32_t* keys, uint32_t n, uint8_t* out) const {
        const __m512i blocks = _mm512_loadu_si512(last_of_block_);
        for (uint32_t i = 0; i < n; i += 16) {
            const uint32_t size = std::min(n - i, 16u);
            const __mmask16 lanes = static_cast<__mmask16>((1u << size) - 1);
            const __m512i key = _mm512_maskz_loadu_epi32(lanes, keys + i);
            __m512i bucket = _mm512_setzero_si512();
            for (int step = BLOCK / 2; step > 0; step /= 2) {
                const __m512i at = _mm512_add_epi32(bucket, _mm512_set1_epi32(step - 1));
                bucket = move_up(bucket, step, _mm512_permutexvar_epi32(at, blocks), key);
            }
            bucket = _mm512_slli_epi32(bucket, 4);
            for (int step = BLOCK / 2; step > 0; step /= 2) {
                const __m512i at = _mm512_add_epi32(bucket, _mm512_set1_epi32(step - 1));
                bucket = move_up(bucket, step, _mm512_i32gather_epi32(at, last_, 4), key);
            }
            _mm_mask_storeu_epi8(out + i, lanes, _mm512_cvtepi32_epi8(bucket));
        }
    }
    FASTTREE_AVX512 FASTTREE_INLINE static __m512i move_up(__m512i bucket, int step,
                                                           __m512i limit, __m512i key) {
        return _mm512_mask_add_epi32(bucket, _mm512_cmplt_epu32_mask(limit, key), bucket,
                                     _mm512_set1_epi32(step));
    }
#endif
};

}  // namespace fasttree
