// The ranks of a block's rows in all features, row by row: one pass over a node's rows tells which
// features are constant there and which separate two sets of its rows.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/core/ties.hpp"
#include "engine/order/block.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

#if FASTTREE_X86

// A feature that separates two sets of rows, and whether the first one is below.
struct SeparatingFeature {
    uint32_t feature;  // NO_FEATURE: there is none
    bool is_below;
};

// The members of a node on the left of a threshold, and rows with the values next to it.
struct BlockSides {
    uint64_t left;
    uint8_t below, above;
};

class BlockRanks {
    AlignedBuffer<uint8_t> ranks_;  // [BLOCK_ROWS, pitch_]; equal values have equal ranks
    uint32_t n_features_ = 0, pitch_ = 0;

public:
    static constexpr uint32_t FEATURES = 64;  // of a vector

    void reserve(uint32_t n_features) {
        n_features_ = n_features;
        pitch_ = (n_features + FEATURES - 1) / FEATURES * FEATURES;
        ranks_.reserve(static_cast<size_t>(BLOCK_ROWS) * pitch_);
    }
    uint32_t n_features() const noexcept { return n_features_; }
    uint32_t pitch() const noexcept { return pitch_; }
    // Those of a feature: of the row at place i item i * pitch().
    uint8_t* of(uint32_t feature) noexcept { return ranks_.get() + feature; }
    // All features are constant in the n rows of a block, until their orders are put here.
    void clear(uint32_t n) noexcept {
        std::fill_n(ranks_.get(), static_cast<size_t>(n) * pitch_, uint8_t{0});
    }
    void put(uint32_t feature, const BlockOrder& order, uint32_t n) noexcept {
        uint8_t* ranks = of(feature);
        uint8_t rank = 0;
        for (uint32_t p = 0; p < n; ++p) {
            rank += order.boundaries >> p & 1;
            ranks[order.order[p] * pitch_] = rank;
        }
    }

    // Of the members, those up to the value of one of them are on the left.
    BlockSides sides(uint32_t feature, uint8_t below, uint64_t members) const noexcept {
        const uint8_t* ranks = ranks_.get() + feature;
        const uint32_t limit = ranks[below * pitch_];
        uint64_t left = 0;
        uint32_t above = ~0u;  // the lowest rank, and its place
        for (; members != 0; members &= members - 1) {
            const uint32_t place = static_cast<uint32_t>(lowest_bit(members));
            const uint32_t rank = ranks[place * pitch_];
            left |= uint64_t{rank <= limit} << place;
            above = std::min(above, rank > limit ? rank << 8 | place : above);
        }
        return {left, below, static_cast<uint8_t>(above)};
    }

    // Of the rows at n places that `set` names by bits, that with the highest value.
    uint8_t highest(uint32_t feature, const uint8_t* places, uint32_t n,
                    uint64_t set) const noexcept {
        const uint8_t* ranks = ranks_.get() + feature;
        uint32_t highest = 0;  // rank, and its place
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t place = places[i], rank = ranks[place * pitch_];
            highest = std::max(highest, set >> i & 1 ? rank << 8 | place : 0);
        }
        return static_cast<uint8_t>(highest);
    }

    // Of the features `first` and the FEATURES - 1 behind it, those that are not constant in the
    // rows at n places.
    FASTTREE_AVX512 uint64_t varying(const uint8_t* places, uint32_t n, uint32_t first) const {
        const __m512i one = row(places[0], first);
        uint64_t found = 0;
        for (uint32_t i = 1; i < n; ++i) {
            found |= _mm512_cmpneq_epu8_mask(row(places[i], first), one);
        }
        return found;
    }
    // The lowest feature in which the rows at those of the n places that `set` names by bits are
    // all below the others, or all above.
    FASTTREE_AVX512 SeparatingFeature separating(const uint8_t* places, uint32_t n,
                                                 uint64_t set) const {
        const __m512i zero = _mm512_setzero_si512(), most = _mm512_set1_epi8(-1);
        for (uint32_t first = 0; first < n_features_; first += FEATURES) {
            __m512i low_in = most, low_out = most, high_in = zero, high_out = zero;
            for (uint32_t i = 0; i < n; ++i) {
                const __m512i ranks = row(places[i], first);
                const __mmask64 in = 0 - (set >> i & 1), out = ~in;
                low_in = _mm512_mask_min_epu8(low_in, in, low_in, ranks);
                high_in = _mm512_mask_max_epu8(high_in, in, high_in, ranks);
                low_out = _mm512_mask_min_epu8(low_out, out, low_out, ranks);
                high_out = _mm512_mask_max_epu8(high_out, out, high_out, ranks);
            }
            const uint64_t below = _mm512_cmplt_epu8_mask(high_in, low_out);
            const uint64_t found = below | _mm512_cmplt_epu8_mask(high_out, low_in);
            if (found == 0) continue;
            const uint32_t lane = static_cast<uint32_t>(lowest_bit(found));
            return {first + lane, (below >> lane & 1) != 0};
        }
        return {NO_FEATURE, false};
    }

    // The ranks of the row at a place in the features `first` and the SOME - 1 behind it.
    static constexpr uint32_t SOME = 16;
    FASTTREE_AVX2 __m128i some(uint8_t place, uint32_t first) const {
        return _mm_load_si128(
            reinterpret_cast<const __m128i*>(ranks_.get() + place * pitch_ + first));
    }

    // The same with AVX2, half of the features at a time.
    FASTTREE_AVX2 SeparatingFeature separating_avx2(const uint8_t* places, uint32_t n,
                                                    uint64_t set) const {
        const __m256i zero = _mm256_setzero_si256(), most = _mm256_set1_epi8(-1);
        for (uint32_t first = 0; first < n_features_; first += HALF) {
            __m256i low_in = most, low_out = most, high_in = zero, high_out = zero;
            for (uint32_t i = 0; i < n; ++i) {
                const __m256i ranks = half(places[i], first);
                if (set >> i & 1) {
                    low_in = _mm256_min_epu8(low_in, ranks);
                    high_in = _mm256_max_epu8(high_in, ranks);
                } else {
                    low_out = _mm256_min_epu8(low_out, ranks);
                    high_out = _mm256_max_epu8(high_out, ranks);
                }
            }
            const uint64_t not_below =
                byte_mask(_mm256_cmpeq_epi8(_mm256_max_epu8(high_in, low_out), high_in));
            const uint64_t not_above =
                byte_mask(_mm256_cmpeq_epi8(_mm256_max_epu8(high_out, low_in), high_out));
            const uint64_t found = ~(not_below & not_above) & low_bits(HALF);
            if (found == 0) continue;
            const uint32_t lane = static_cast<uint32_t>(lowest_bit(found));
            return {first + lane, (not_below >> lane & 1) == 0};
        }
        return {NO_FEATURE, false};
    }

private:
    static constexpr uint32_t HALF = FEATURES / 2;

    FASTTREE_AVX2 __m256i half(uint8_t place, uint32_t first) const {
        return _mm256_load_si256(
            reinterpret_cast<const __m256i*>(ranks_.get() + place * pitch_ + first));
    }
    FASTTREE_AVX512 __m512i row(uint8_t place, uint32_t first) const {
        return _mm512_load_si512(ranks_.get() + place * pitch_ + first);
    }
};

#endif

}  // namespace fasttree
