// Stable partition of rows and of sorted entries by a go-left bit per row.
//
// Complexity O(n) without a branch on the data. A partitioned list stays sorted; an entry's
// BOUNDARY bit is carried over the entries that left its list: it says whether any boundary lay
// since the entry's new predecessor. Rows are entries without boundaries.
#pragma once
#include <cstdint>
#include <cstring>

#include "engine/core/runs.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

constexpr uint32_t PADDING = 16;  // entries that a vector may write past the end of scratch

// Moves the entries that go left to the front of entries[0:n], returns their number. A half that
// nobody will read (the child is a leaf) is not written. `scratch` holds n + PADDING entries.
template <bool with_left, bool with_right>
inline uint32_t partition_portable(uint32_t* entries, uint32_t n, const uint32_t* go_left,
                                   uint32_t* scratch) {
    uint32_t l = 0, r = 0, carry_left = 0, carry_right = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t entry = entries[i];
        const uint32_t left = get_bit(go_left, entry & ROW);
        if constexpr (with_left) {
            carry_left |= entry & BOUNDARY;
            entries[l] = (entry & ROW) | carry_left;
            carry_left &= left - 1;  // consumed by an entry that went left
        }
        if constexpr (with_right) {
            carry_right |= entry & BOUNDARY;
            scratch[r] = (entry & ROW) | carry_right;
            carry_right &= 0 - left;
        }
        l += left;
        r += 1 - left;
    }
    if constexpr (with_right) std::memcpy(entries + l, scratch, r * sizeof(uint32_t));
    return l;
}

#if FASTTREE_X86
// Bits of `boundary` moved up to the next kept position: a run of dropped positions that holds
// a boundary carries into the kept one above it. Bit 0 stands for what came before the block.
inline uint32_t carried(uint32_t kept, uint32_t dropped, uint32_t boundary, uint32_t& pending) {
    const uint32_t d = dropped << 1 | 1, b = boundary << 1 | pending;
    const uint32_t sum = d + (b & d);
    pending = sum >> 17;
    return (sum >> 1 | boundary) & kept;
}

template <bool with_left, bool with_right>
FASTTREE_AVX512 inline uint32_t partition_avx512(uint32_t* entries, uint32_t n,
                                                 const uint32_t* go_left, uint32_t* scratch) {
    const __m512i row_mask = _mm512_set1_epi32(ROW), top = _mm512_set1_epi32(BOUNDARY);
    uint32_t l = 0, r = 0, pending_left = 0, pending_right = 0;
    for (uint32_t i = 0; i < n; i += 16) {
        const uint32_t lanes = n - i < 16 ? (1u << (n - i)) - 1 : 0xffffu;
        const __mmask16 k = static_cast<__mmask16>(lanes);
        const __m512i entry = _mm512_maskz_loadu_epi32(k, entries + i);
        const __m512i row = _mm512_and_si512(entry, row_mask);
        const uint32_t left = get_bits_avx512(go_left, row, lanes);
        const uint32_t right = lanes & ~left;
        const uint32_t boundary = _mm512_movepi32_mask(entry);
        if constexpr (with_left) {
            const uint32_t flags = carried(left, right, boundary, pending_left);
            const __m512i out = _mm512_mask_or_epi32(row, static_cast<__mmask16>(flags), row, top);
            const __m512i packed = _mm512_maskz_compress_epi32(static_cast<__mmask16>(left), out);
            const uint32_t count = static_cast<uint32_t>(__builtin_popcount(left));
            _mm512_mask_storeu_epi32(entries + l, static_cast<__mmask16>((1u << count) - 1),
                                     packed);
        }
        if constexpr (with_right) {
            const uint32_t flags = carried(right, left, boundary, pending_right);
            const __m512i out = _mm512_mask_or_epi32(row, static_cast<__mmask16>(flags), row, top);
            _mm512_storeu_si512(scratch + r,
                                _mm512_maskz_compress_epi32(static_cast<__mmask16>(right), out));
        }
        l += static_cast<uint32_t>(__builtin_popcount(left));
        r += static_cast<uint32_t>(__builtin_popcount(right));
    }
    if constexpr (with_right) std::memcpy(entries + l, scratch, r * sizeof(uint32_t));
    return l;
}
#endif

template <bool with_left, bool with_right>
inline uint32_t partition_as(Simd simd, uint32_t* entries, uint32_t n, const uint32_t* go_left,
                             uint32_t* scratch) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512)
        return partition_avx512<with_left, with_right>(entries, n, go_left, scratch);
#endif
    return partition_portable<with_left, with_right>(entries, n, go_left, scratch);
}

inline uint32_t partition(Simd simd, uint32_t* entries, uint32_t n, const uint32_t* go_left,
                          uint32_t* scratch, bool with_left = true, bool with_right = true) {
    if (with_left && with_right)
        return partition_as<true, true>(simd, entries, n, go_left, scratch);
    if (with_left) return partition_as<true, false>(simd, entries, n, go_left, scratch);
    return partition_as<false, true>(simd, entries, n, go_left, scratch);
}

}  // namespace fasttree
