// What AVX2 does not have: lanes packed by a mask, masks from bits, counts of 64 bits as doubles.
#pragma once
#include <array>
#include <cstdint>

#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

#if FASTTREE_X86

// The places of the bits that are set in a byte, ascending.
struct PlacesOfByte {
    alignas(64) std::array<std::array<uint8_t, 8>, 256> places{};

    constexpr PlacesOfByte() {
        for (uint32_t bits = 0; bits < 256; ++bits) {
            uint32_t n = 0;
            for (uint8_t i = 0; i < 8; ++i) {
                if (bits >> i & 1) places[bits][n++] = i;
            }
        }
    }
};
inline constexpr PlacesOfByte PLACES_OF_BYTE;

FASTTREE_AVX2 inline __m128i places_of_byte(uint32_t bits) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(PLACES_OF_BYTE.places[bits].data()));
}

// The 8 lanes whose bits are set, packed at the bottom.
FASTTREE_AVX2 inline __m256i compressed_8(__m256i lanes, uint32_t bits) {
    return _mm256_permutevar8x32_epi32(lanes, _mm256_cvtepu8_epi32(places_of_byte(bits)));
}

// 8 lanes, all ones where a bit is set.
FASTTREE_AVX2 inline __m256i lanes_of_8(uint32_t bits) {
    const __m256i bit_of_lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i all = _mm256_set1_epi32(static_cast<int>(bits));
    return _mm256_cmpeq_epi32(_mm256_and_si256(all, bit_of_lane), bit_of_lane);
}

// 32 bytes, all ones where a bit is set.
FASTTREE_AVX2 inline __m256i bytes_of_32(uint32_t bits) {
    const __m256i byte_of_bit = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202,
                                                   0x0303030303030303);
    const __m256i bit_of_byte = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
    const __m256i all =
        _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), byte_of_bit);
    return _mm256_cmpeq_epi8(_mm256_and_si256(all, bit_of_byte), bit_of_byte);
}

FASTTREE_AVX2 inline __m256i load_8(const uint32_t* items) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(items));
}
FASTTREE_AVX2 inline __m256i load_32_bytes(const uint8_t* items) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(items));
}
FASTTREE_AVX2 inline void store_32_bytes(uint8_t* items, __m256i bytes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(items), bytes);
}
FASTTREE_AVX2 inline void store_8(uint32_t* items, __m256i lanes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(items), lanes);
}
// The highest bit of each of 32 bytes.
FASTTREE_AVX2 inline uint64_t byte_mask(__m256i bytes) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(bytes));
}
// The highest bit of each of 8 lanes.
FASTTREE_AVX2 inline uint32_t top_bits_8(__m256i lanes) {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

// 4 integers as doubles, rounded once: both halves are exact.
FASTTREE_AVX2 inline __m256d to_doubles_4(__m256i lanes) {
    const __m256i odd = _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7);
    const __m256i two_to_52 = _mm256_set1_epi64x(0x4330000000000000);
    const __m128i high = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(lanes, odd));
    const __m256i low = _mm256_blend_epi32(lanes, two_to_52, 0xaa);
    return _mm256_add_pd(
        _mm256_mul_pd(_mm256_cvtepi32_pd(high), _mm256_set1_pd(4294967296.0)),
        _mm256_sub_pd(_mm256_castsi256_pd(low), _mm256_castsi256_pd(two_to_52)));
}

// 8 lanes of 16 bits, packed like `compressed_8`.
FASTTREE_AVX2 inline __m128i compressed_8(__m128i lanes, uint32_t bits) {
    const __m128i places = places_of_byte(bits), low = _mm_add_epi8(places, places);
    return _mm_shuffle_epi8(lanes, _mm_unpacklo_epi8(low, _mm_add_epi8(low, _mm_set1_epi8(1))));
}

// All ones where a <= b, without signs.
FASTTREE_AVX2 inline __m256i are_at_most(__m256i a, __m256i b) {
    return _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), b);
}

FASTTREE_AVX2 inline uint32_t sum_of_8(__m256i lanes) {
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
    return static_cast<uint32_t>(_mm_cvtsi128_si32(sum));
}
// Lanes added up from the first to each.
FASTTREE_AVX2 inline __m256i prefix_sums_8(__m256i lanes) {
    lanes = _mm256_add_epi32(lanes, _mm256_slli_si256(lanes, 4));
    lanes = _mm256_add_epi32(lanes, _mm256_slli_si256(lanes, 8));
    const __m256i of_half = _mm256_permutevar8x32_epi32(lanes, _mm256_set1_epi32(3));
    return _mm256_add_epi32(lanes, _mm256_blend_epi32(_mm256_setzero_si256(), of_half, 0xf0));
}
FASTTREE_AVX2 inline __m256i prefix_sums_4(__m256i lanes) {
    lanes = _mm256_add_epi64(lanes, _mm256_slli_si256(lanes, 8));
    const __m256i of_half = _mm256_permute4x64_epi64(lanes, 0x55);
    return _mm256_add_epi64(lanes, _mm256_blend_epi32(_mm256_setzero_si256(), of_half, 0xf0));
}

FASTTREE_AVX2 inline __m256d prefix_sums_4(__m256d lanes) {
    const __m256d zero = _mm256_setzero_pd();
    lanes = _mm256_add_pd(lanes, _mm256_unpacklo_pd(zero, lanes));
    return _mm256_add_pd(lanes, _mm256_blend_pd(zero, _mm256_permute4x64_pd(lanes, 0x55), 0xc));
}
FASTTREE_AVX2 inline __m128i prefix_sums_4(__m128i lanes) {
    lanes = _mm_add_epi32(lanes, _mm_slli_si128(lanes, 4));
    return _mm_add_epi32(lanes, _mm_slli_si128(lanes, 8));
}

// The bits of 8 entries' rows: loads take less time than a gather.
FASTTREE_AVX2 FASTTREE_INLINE inline uint32_t get_bits_avx2(
    const uint32_t* words, const uint32_t* entries, uint32_t mask) {
    uint32_t bits = 0;
    for (int i = 7; i >= 0; --i) bits = bits * 2 + get_bit(words, entries[i] & mask);
    return bits;
}

#endif

}  // namespace fasttree
