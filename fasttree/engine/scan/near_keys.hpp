// The keys of the rows in some buckets of a node, and the rows next to a threshold.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/core/keys.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "engine/simd/sorting.hpp"

namespace fasttree {

// Calls for the position of each row in the buckets of `is_open`, a bit each, ascending.
template <class Visit>
inline void visit_open_portable(const KeyBuckets& k, const uint32_t* is_open, const Visit& visit) {
    for (uint32_t i = 0; i < k.n; ++i) {
        const uint32_t bucket = k.buckets[i];
        if (is_open[bucket / 32] >> bucket % 32 & 1) visit(i);
    }
}
#if FASTTREE_X86
template <class Visit>
FASTTREE_AVX512 inline void visit_open_avx512(const KeyBuckets& k, const uint32_t* is_open,
                                              const Visit& visit) {
    constexpr uint32_t LANES = 64;
    const __m512i words = _mm512_broadcast_i64x4(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(is_open)));
    const __m512i bits = _mm512_set1_epi64(static_cast<int64_t>(0x8040201008040201u));
    for (uint32_t i = 0; i < k.n; i += LANES) {
        const __mmask64 lanes = low_bits(std::min(k.n - i, LANES));
        const __m512i bucket = _mm512_maskz_loadu_epi8(lanes, k.buckets + i);
        const __m512i place = _mm512_and_si512(_mm512_srli_epi16(bucket, 3), _mm512_set1_epi8(31));
        const __m512i word = _mm512_permutexvar_epi8(place, words);
        const __m512i bit =
            _mm512_shuffle_epi8(bits, _mm512_and_si512(bucket, _mm512_set1_epi8(7)));
        for (uint64_t open = _mm512_mask_test_epi8_mask(lanes, word, bit); open != 0;
             open &= open - 1) {
            visit(i + static_cast<uint32_t>(__builtin_ctzll(open)));
        }
    }
}
template <class Visit>
FASTTREE_AVX2 inline void visit_open_avx2(const KeyBuckets& k, const uint32_t* is_open,
                                          const Visit& visit) {
    constexpr uint32_t LANES = 32;
    const __m128i* const words = reinterpret_cast<const __m128i*>(is_open);
    const __m256i low = _mm256_broadcastsi128_si256(_mm_loadu_si128(words));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128(words + 1));
    const __m256i bits = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
    for (uint32_t i = 0; i < k.n; i += LANES) {
        const __m256i bucket = load_32_bytes(k.buckets + i);
        const __m256i place = _mm256_and_si256(_mm256_srli_epi16(bucket, 3), _mm256_set1_epi8(15));
        const __m256i word = _mm256_blendv_epi8(_mm256_shuffle_epi8(low, place),
                                                _mm256_shuffle_epi8(high, place), bucket);
        const __m256i bit =
            _mm256_shuffle_epi8(bits, _mm256_and_si256(bucket, _mm256_set1_epi8(7)));
        const __m256i is_set = _mm256_cmpeq_epi8(_mm256_and_si256(word, bit), bit);
        for (uint32_t open = static_cast<uint32_t>(_mm256_movemask_epi8(is_set)) &
                             static_cast<uint32_t>(low_bits(std::min(k.n - i, LANES)));
             open != 0; open &= open - 1) {
            visit(i + static_cast<uint32_t>(__builtin_ctz(open)));
        }
    }
}
#endif
template <class Visit>
inline void visit_open(Simd simd, const KeyBuckets& k, const uint32_t* is_open,
                       const Visit& visit) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return visit_open_avx512(k, is_open, visit);
    if (simd == SIMD_AVX2) return visit_open_avx2(k, is_open, visit);
#endif
    visit_open_portable(k, is_open, visit);
}

// Keys of the rows in open buckets in the high halves of items, their positions in the low ones.
// Returns their number.
inline uint32_t take_open(Simd simd, const KeyBuckets& k, const uint32_t* is_open,
                          uint64_t* items) {
    uint32_t n = 0;
    visit_open(simd, k, is_open, [&](uint32_t i) { items[n++] = pack(k.key(i), i); });
    return n;
}

// The largest bucket up to a limit that holds a row of the node, or 0, and the smallest beyond, or
// the last.
struct NextBuckets {
    uint8_t below, above;
};
inline NextBuckets next_buckets_portable(const uint8_t* buckets, uint32_t n, uint8_t limit) {
    uint8_t below = 0, above = MAX_BUCKETS - 1;
    for (uint32_t i = 0; i < n; ++i) {
        if (buckets[i] <= limit) below = std::max(below, buckets[i]);
        else above = std::min(above, buckets[i]);
    }
    return {below, above};
}
#if FASTTREE_X86
FASTTREE_AVX512 inline uint64_t largest_of_words(__m512i bytes) {
    const __m512i low = _mm512_and_si512(bytes, _mm512_set1_epi16(0xff));
    const __m512i most = _mm512_max_epu16(low, _mm512_srli_epi16(bytes, 8));
    const __m512i halves = _mm512_max_epu16(_mm512_and_si512(most, _mm512_set1_epi32(0xffff)),
                                            _mm512_srli_epi32(most, 16));
    return _mm512_reduce_max_epu32(halves);
}
FASTTREE_AVX512 inline NextBuckets next_buckets_avx512(const uint8_t* buckets, uint32_t n,
                                                       uint8_t limit) {
    constexpr uint32_t LANES = 64;
    const __m512i bar = _mm512_set1_epi8(static_cast<char>(limit)), ones = _mm512_set1_epi8(-1);
    __m512i below = _mm512_setzero_si512(), above = below;  // complements of those beyond
    for (uint32_t i = 0; i < n; i += LANES) {
        const __mmask64 lanes = low_bits(std::min(n - i, LANES));
        const __m512i bucket = _mm512_maskz_loadu_epi8(lanes, buckets + i);
        const __mmask64 is_left = _mm512_mask_cmple_epu8_mask(lanes, bucket, bar);
        below = _mm512_mask_max_epu8(below, is_left, below, bucket);
        above = _mm512_mask_max_epu8(above, lanes & ~is_left, above,
                                     _mm512_xor_si512(bucket, ones));
    }
    return {static_cast<uint8_t>(largest_of_words(below)),
            static_cast<uint8_t>(~largest_of_words(above))};
}
FASTTREE_AVX2 inline NextBuckets next_buckets_avx2(const uint8_t* buckets, uint32_t n,
                                                   uint8_t limit) {
    const __m256i bar = _mm256_set1_epi8(static_cast<char>(limit));
    __m256i below = _mm256_setzero_si256(), above = _mm256_set1_epi8(-1);
    uint32_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i bucket = load_32_bytes(buckets + i);
        const __m256i is_left = _mm256_cmpeq_epi8(_mm256_max_epu8(bucket, bar), bar);
        below = _mm256_max_epu8(below, _mm256_and_si256(is_left, bucket));
        above = _mm256_min_epu8(above, _mm256_or_si256(is_left, bucket));
    }
    alignas(32) uint8_t lowest[32], highest[32];
    _mm256_store_si256(reinterpret_cast<__m256i*>(highest), below);
    _mm256_store_si256(reinterpret_cast<__m256i*>(lowest), above);
    NextBuckets out = next_buckets_portable(buckets + i, n - i, limit);
    for (uint32_t lane = 0; lane < 32; ++lane) {
        out.below = std::max(out.below, highest[lane]);
        out.above = std::min(out.above, lowest[lane]);
    }
    return out;
}
#endif
inline NextBuckets next_buckets(Simd simd, const uint8_t* buckets, uint32_t n, uint8_t limit) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return next_buckets_avx512(buckets, n, limit);
    if (simd == SIMD_AVX2) return next_buckets_avx2(buckets, n, limit);
#endif
    return next_buckets_portable(buckets, n, limit);
}

// Keys that stand for those of the rows next to a threshold that was found: of rows in the buckets
// beside it their own, of others 0 or NO_KEY, as they are on its left or right.
inline void near_keys(Simd simd, const KeyBuckets& k, uint32_t limit, uint32_t* keys) {
    const uint8_t* const buckets = k.buckets;
    const uint32_t n = k.n;
    if (k.are_values()) {
        call(simd, [=]() FASTTREE_INLINE {
            for (uint32_t i = 0; i < n; ++i) keys[i] = buckets[i];
        });
        return;
    }
    const uint32_t* last = std::lower_bound(k.last_keys, k.last_keys + k.n_buckets, limit);
    const uint8_t bucket = static_cast<uint8_t>(last - k.last_keys);
    call(simd, [=]() FASTTREE_INLINE {
        for (uint32_t i = 0; i < n; ++i) keys[i] = buckets[i] > bucket ? NO_KEY : 0;
    });
    const NextBuckets next = next_buckets(simd, buckets, n, bucket);
    const bool is_inside = limit < *last;
    uint32_t is_open[MAX_BUCKETS / 32] = {};
    put_bit(is_open, next.below, true);
    if (!is_inside) put_bit(is_open, next.above, true);
    visit_open(simd, k, is_open, [&](uint32_t i) { keys[i] = k.key(i); });
}

// Where the rows next to a threshold are.
struct Neighbours {
    uint32_t n_left;        // rows of keys up to the limit
    uint32_t below, above;  // positions of a largest key on the left, of a smallest on the right
};

inline Neighbours neighbours_portable(const uint32_t* keys, uint32_t n, uint32_t limit) {
    Neighbours out{0, 0, 0};
    bool has_below = false, has_above = false;
    for (uint32_t i = 0; i < n; ++i) {
        if (keys[i] <= limit) {
            ++out.n_left;
            if (!has_below || keys[i] > keys[out.below]) out.below = i;
            has_below = true;
        } else {
            if (!has_above || keys[i] < keys[out.above]) out.above = i;
            has_above = true;
        }
    }
    return out;
}
#if FASTTREE_X86
FASTTREE_AVX512 inline uint32_t find_key_avx512(const uint32_t* keys, uint32_t n, uint32_t key) {
    const __m512i wanted = _mm512_set1_epi32(static_cast<int>(key));
    for (uint32_t i = 0; i < n; i += 16) {
        const uint32_t at = _mm512_cmpeq_epu32_mask(_mm512_loadu_si512(keys + i), wanted);
        if (at) return i + static_cast<uint32_t>(__builtin_ctz(at));
    }
    return 0;
}
FASTTREE_AVX512 inline Neighbours neighbours_avx512(const uint32_t* keys, uint32_t n,
                                                    uint32_t limit) {
    const __m512i bar = _mm512_set1_epi32(static_cast<int>(limit));
    __m512i below = _mm512_setzero_si512(), above = _mm512_set1_epi32(-1);
    Neighbours out{0, 0, 0};
    for (uint32_t i = 0; i < n; i += 16) {
        const uint32_t lanes = n - i < 16 ? (1u << (n - i)) - 1 : 0xffffu;
        const __m512i key = _mm512_loadu_si512(keys + i);
        const uint32_t left = _mm512_mask_cmple_epu32_mask(static_cast<__mmask16>(lanes), key, bar);
        out.n_left += static_cast<uint32_t>(__builtin_popcount(left));
        below = _mm512_mask_max_epu32(below, static_cast<__mmask16>(left), below, key);
        above = _mm512_mask_min_epu32(above, static_cast<__mmask16>(lanes & ~left), above, key);
    }
    out.below = find_key_avx512(keys, n, _mm512_reduce_max_epu32(below));
    out.above = find_key_avx512(keys, n, _mm512_reduce_min_epu32(above));
    return out;
}
FASTTREE_AVX2 inline uint32_t find_key_avx2(const uint32_t* keys, uint32_t n, uint32_t key) {
    const __m256i wanted = _mm256_set1_epi32(static_cast<int>(key));
    for (uint32_t i = 0; i < n; i += 8) {
        const uint32_t at = top_bits_8(_mm256_cmpeq_epi32(load_8(keys + i), wanted));
        if (at) return i + static_cast<uint32_t>(__builtin_ctz(at));
    }
    return 0;
}
FASTTREE_AVX2 inline Neighbours neighbours_avx2(const uint32_t* keys, uint32_t n, uint32_t limit) {
    const __m256i bar = _mm256_set1_epi32(static_cast<int>(limit));
    __m256i below = _mm256_setzero_si256(), above = _mm256_set1_epi32(-1);
    alignas(32) uint32_t highest[8], lowest[8];
    uint32_t n_left = 0, most = 0, least = NO_KEY, i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i key = load_8(keys + i), is_left = are_at_most(key, bar);
        n_left += static_cast<uint32_t>(__builtin_popcount(top_bits_8(is_left)));
        below = _mm256_max_epu32(below, _mm256_and_si256(is_left, key));
        above = _mm256_min_epu32(above, _mm256_or_si256(is_left, key));
    }
    store_8(highest, below);
    store_8(lowest, above);
    for (uint32_t lane = 0; lane < 8; ++lane) {
        most = std::max(most, highest[lane]);
        least = std::min(least, lowest[lane]);
    }
    for (; i < n; ++i) {
        n_left += keys[i] <= limit;
        if (keys[i] <= limit) most = std::max(most, keys[i]);
        else least = std::min(least, keys[i]);
    }
    return {n_left, find_key_avx2(keys, n, most), find_key_avx2(keys, n, least)};
}
#endif
inline Neighbours neighbours(Simd simd, const uint32_t* keys, uint32_t n, uint32_t limit) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return neighbours_avx512(keys, n, limit);
    if (simd == SIMD_AVX2) return neighbours_avx2(keys, n, limit);
#endif
    return neighbours_portable(keys, n, limit);
}

}  // namespace fasttree
