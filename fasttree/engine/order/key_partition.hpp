// Stable partition of a node's rows, and their labels if there are any, by their keys: those up to
// a limit go left.
#pragma once
#include <cstdint>
#include <cstring>

#include "engine/core/keys.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// Room for what goes right: that of a vector more than there are rows.
struct PartitionScratch {
    uint32_t* rows;
    Label* labels;
};
static_assert(is_value<PartitionScratch>);

// From the i-th row on, of those before which l went left.
inline uint32_t partition_keys_portable(const uint32_t* keys, uint32_t limit, uint32_t n,
                                        uint32_t* rows, Label* labels,
                                        const PartitionScratch& right, uint32_t i = 0,
                                        uint32_t l = 0) {
    uint32_t r = i - l;
    for (; i < n; ++i) {
        const uint32_t is_left = keys[i] <= limit, row = rows[i];
        rows[l] = row;
        right.rows[r] = row;
        if (labels != nullptr) {
            const Label label = labels[i];
            labels[l] = label;
            right.labels[r] = label;
        }
        l += is_left;
        r += 1 - is_left;
    }
    std::memcpy(rows + l, right.rows, r * sizeof(uint32_t));
    if (labels != nullptr) std::memcpy(labels + l, right.labels, r * sizeof(Label));
    return l;
}

#if FASTTREE_X86
FASTTREE_AVX512 inline uint32_t partition_keys_avx512(const uint32_t* keys, uint32_t limit,
                                                      uint32_t n, uint32_t* rows, Label* labels,
                                                      const PartitionScratch& right) {
    const __m512i bar = _mm512_set1_epi32(static_cast<int>(limit));
    uint32_t l = 0, r = 0;
    for (uint32_t i = 0; i < n; i += 16) {
        const uint32_t lanes = n - i < 16 ? (1u << (n - i)) - 1 : 0xffffu;
        const __mmask16 k = static_cast<__mmask16>(lanes);
        const __mmask16 is_left = _mm512_mask_cmple_epu32_mask(
            k, _mm512_maskz_loadu_epi32(k, keys + i), bar);
        const __mmask16 is_right = static_cast<__mmask16>(lanes & ~is_left);
        const uint32_t n_left = static_cast<uint32_t>(__builtin_popcount(is_left));
        const __mmask16 room = static_cast<__mmask16>((1u << n_left) - 1);
        const __m512i row = _mm512_maskz_loadu_epi32(k, rows + i);
        _mm512_mask_storeu_epi32(rows + l, room, _mm512_maskz_compress_epi32(is_left, row));
        _mm512_storeu_si512(right.rows + r, _mm512_maskz_compress_epi32(is_right, row));
        if (labels != nullptr) {
            const __m256i label = _mm256_maskz_loadu_epi16(k, labels + i);
            _mm256_mask_storeu_epi16(labels + l, room, _mm256_maskz_compress_epi16(is_left, label));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(right.labels + r),
                                _mm256_maskz_compress_epi16(is_right, label));
        }
        l += n_left;
        r += static_cast<uint32_t>(__builtin_popcount(is_right));
    }
    std::memcpy(rows + l, right.rows, r * sizeof(uint32_t));
    if (labels != nullptr) std::memcpy(labels + l, right.labels, r * sizeof(Label));
    return l;
}
#endif

#if FASTTREE_X86
FASTTREE_AVX2 inline uint32_t partition_keys_avx2(const uint32_t* keys, uint32_t limit, uint32_t n,
                                                  uint32_t* rows, Label* labels,
                                                  const PartitionScratch& right) {
    const __m256i bar = _mm256_set1_epi32(static_cast<int>(limit));
    uint32_t i = 0, l = 0;
    for (; i + 8 <= n; i += 8) {
        const uint32_t is_left = top_bits_8(are_at_most(load_8(keys + i), bar));
        const uint32_t is_right = is_left ^ 0xff, r = i - l;
        const __m256i row = load_8(rows + i);
        store_8(rows + l, compressed_8(row, is_left));
        store_8(right.rows + r, compressed_8(row, is_right));
        if (labels != nullptr) {
            const __m128i label = _mm_loadu_si128(reinterpret_cast<const __m128i*>(labels + i));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(labels + l), compressed_8(label, is_left));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(right.labels + r),
                             compressed_8(label, is_right));
        }
        l += static_cast<uint32_t>(__builtin_popcount(is_left));
    }
    return partition_keys_portable(keys, limit, n, rows, labels, right, i, l);
}
#endif

// Whether all keys, at least one, are the same.
inline bool are_equal_portable(const uint32_t* keys, uint32_t n) {
    uint32_t differ = 0;
    for (uint32_t i = 0; i < n; ++i) differ |= keys[i] ^ keys[0];
    return differ == 0;
}
#if FASTTREE_X86
FASTTREE_AVX512 inline bool are_equal_avx512(const uint32_t* keys, uint32_t n) {
    const __m512i first = _mm512_set1_epi32(static_cast<int>(keys[0]));
    for (uint32_t i = 0; i < n; i += 16) {
        const uint32_t lanes = n - i < 16 ? (1u << (n - i)) - 1 : 0xffffu;
        const __m512i key = _mm512_loadu_si512(keys + i);
        if (_mm512_mask_cmpneq_epu32_mask(static_cast<__mmask16>(lanes), key, first)) return false;
    }
    return true;
}
FASTTREE_AVX2 inline bool are_equal_avx2(const uint32_t* keys, uint32_t n) {
    const __m256i first = _mm256_set1_epi32(static_cast<int>(keys[0]));
    for (uint32_t i = 0; i < n; i += 8) {
        const uint32_t lanes = n - i < 8 ? (1u << (n - i)) - 1 : 0xffu;
        if (~top_bits_8(_mm256_cmpeq_epi32(load_8(keys + i), first)) & lanes) return false;
    }
    return true;
}
#endif
inline bool are_equal(Simd simd, const uint32_t* keys, uint32_t n) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return are_equal_avx512(keys, n);
    if (simd == SIMD_AVX2) return are_equal_avx2(keys, n);
#endif
    return are_equal_portable(keys, n);
}

// Returns how many go left. `labels` may be null.
inline uint32_t partition_keys(Simd simd, const uint32_t* keys, uint32_t limit, uint32_t n,
                               uint32_t* rows, Label* labels, const PartitionScratch& right) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) {
        return partition_keys_avx512(keys, limit, n, rows, labels, right);
    }
    if (simd == SIMD_AVX2) return partition_keys_avx2(keys, limit, n, rows, labels, right);
#endif
    return partition_keys_portable(keys, limit, n, rows, labels, right);
}

}  // namespace fasttree
