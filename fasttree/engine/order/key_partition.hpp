// Stable partition of a node's rows, and their labels if there are any, by their keys: those up to
// a limit go left.
#pragma once
#include <cstdint>
#include <cstring>

#include "engine/core/keys.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

// Room for what goes right: that of a vector more than there are rows.
struct PartitionScratch {
    uint32_t* rows;
    Label* labels;
};
static_assert(is_value<PartitionScratch>);

inline uint32_t partition_keys_portable(const uint32_t* keys, uint32_t limit, uint32_t n,
                                        uint32_t* rows, Label* labels,
                                        const PartitionScratch& right) {
    uint32_t l = 0, r = 0;
    for (uint32_t i = 0; i < n; ++i) {
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
#endif
inline bool are_equal(Simd simd, const uint32_t* keys, uint32_t n) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return are_equal_avx512(keys, n);
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
#endif
    return partition_keys_portable(keys, limit, n, rows, labels, right);
}

}  // namespace fasttree
