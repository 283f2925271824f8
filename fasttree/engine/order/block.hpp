// Small subtrees without lists: a node of at most 64 rows becomes a block in which sets of rows
// are machine words.
//
// The block keeps, per feature, the order of its rows, made once. Any node inside the block is a
// word of membership bits, and its runs are the members picked out of that order: nothing is
// partitioned, sorted or counted below the block's root. Complexity O(64) bits per node and
// feature, a few instructions with AVX-512.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "engine/columns/bit_columns.hpp"
#include "engine/core/runs.hpp"
#include "engine/core/split.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"
#include "utils/_aligned_buffer.hpp"

namespace fasttree {

constexpr uint32_t BLOCK_ROWS = 64;

// The rows of a block in ascending order of one feature.
struct BlockOrder {
    uint8_t order[BLOCK_ROWS];  // place in Block::rows of the first, second, ... row
    uint64_t boundaries;        // bit p: the value of the p-th differs from the one before
    uint32_t n_missing;         // the last ones are not numbers
};

// Order of n codes, equal ones by place. Codes from `n_numbers` on are not numbers.
inline void order_codes_portable(const uint8_t* codes, uint32_t n, uint32_t n_numbers,
                                 BlockOrder& out) {
    uint16_t items[BLOCK_ROWS];
    for (uint32_t i = 0; i < n; ++i) items[i] = static_cast<uint16_t>(codes[i] << 8 | i);
    std::sort(items, items + n);
    out.boundaries = 0;
    out.n_missing = 0;
    for (uint32_t p = 0; p < n; ++p) {
        out.order[p] = items[p] & 0xff;
        if (p == 0 || items[p] >> 8 != items[p - 1] >> 8) out.boundaries |= uint64_t{1} << p;
        out.n_missing += items[p] >> 8 >= static_cast<int>(n_numbers);
    }
}

// Order of n rows of a column of two values, given by bits.
inline void order_bits_portable(uint64_t bits, uint32_t n, uint8_t* order) {
    for (uint64_t zeros = ~bits & low_bits(n); zeros != 0; zeros &= zeros - 1) {
        *order++ = static_cast<uint8_t>(lowest_bit(zeros));
    }
    for (; bits != 0; bits &= bits - 1) *order++ = static_cast<uint8_t>(lowest_bit(bits));
}

// A node of the block: its rows in ascending order of a feature.
struct BlockRuns {
    uint8_t places[BLOCK_ROWS];  // in Block::rows; the last n_missing are missing
    uint64_t boundaries;         // bit p: the value of the p-th differs from the one before
    uint32_t n, n_missing;
    const uint32_t* rows;        // Block::rows

    bool is_constant() const { return boundaries >> 1 == 0; }
    // Two categories, of which one may be the missing values.
    bool are_two_categories() const {
        return n_missing == n && __builtin_popcountll(boundaries >> 1) == 1;
    }
    uint32_t row(uint32_t p) const { return rows[places[p]]; }
};

// Picks the members out of the feature's order.
inline void pick_portable(const BlockOrder& feature, uint64_t members, uint32_t n,
                          BlockRuns& out) {
    uint64_t boundary = 0;
    out.boundaries = 0;
    out.n = out.n_missing = 0;
    for (uint32_t p = 0; p < n; ++p) {
        const uint8_t place = feature.order[p];
        const uint64_t member = members >> place & 1;
        boundary |= feature.boundaries >> p & 1;
        out.places[out.n] = place;
        out.boundaries |= (boundary & member) << (out.n & 63);
        boundary &= member - 1;
        out.n += static_cast<uint32_t>(member);
        out.n_missing += member & (p >= n - feature.n_missing);
    }
}

#if FASTTREE_X86
// A row's place is the number of smaller codes and of equal ones before it.
FASTTREE_AVX512 inline void order_codes_avx512(const uint8_t* codes, uint32_t n,
                                               uint32_t n_numbers, BlockOrder& out) {
    const uint64_t all = low_bits(n);
    const __m512i code = _mm512_maskz_loadu_epi8(all, codes);
    out.boundaries = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const __m512i own = _mm512_set1_epi8(static_cast<char>(codes[i]));
        const uint64_t smaller = _mm512_mask_cmplt_epu8_mask(all, code, own);
        const uint64_t before = _mm512_mask_cmpeq_epu8_mask((uint64_t{1} << i) - 1, code, own);
        const int p = __builtin_popcountll(smaller) + __builtin_popcountll(before);
        out.order[p] = static_cast<uint8_t>(i);
        out.boundaries |= static_cast<uint64_t>(before == 0) << p;
    }
    out.n_missing = 0;
    if (n_numbers < 256) {
        out.n_missing = static_cast<uint32_t>(__builtin_popcountll(_mm512_mask_cmpge_epu8_mask(
            all, code, _mm512_set1_epi8(static_cast<char>(n_numbers)))));
    }
}

FASTTREE_AVX512 inline void order_bits_avx512(uint64_t bits, uint32_t n, uint8_t* order) {
    alignas(64) static constexpr auto PLACES = [] {
        std::array<uint8_t, BLOCK_ROWS> places{};
        for (uint32_t i = 0; i < BLOCK_ROWS; ++i) places[i] = static_cast<uint8_t>(i);
        return places;
    }();
    const __m512i places = _mm512_load_si512(PLACES.data());
    const uint64_t zeros = ~bits & low_bits(n), n_zeros = __builtin_popcountll(zeros);
    _mm512_storeu_si512(order, _mm512_maskz_compress_epi8(zeros, places));
    _mm512_mask_storeu_epi8(order + n_zeros, low_bits(n - n_zeros),
                            _mm512_maskz_compress_epi8(bits, places));
}

// Bits at the first n places.
FASTTREE_AVX512 inline uint64_t bits_at_avx512(const uint8_t* places, uint32_t n) {
    constexpr uint32_t LANES = 8;
    const __m512i one = _mm512_set1_epi64(1);
    __m512i bits = _mm512_setzero_si512();
    for (uint32_t p = 0; p < n; p += LANES) {
        const __mmask8 lanes = static_cast<__mmask8>(low_bits(std::min(n - p, LANES)));
        const __m512i place = _mm512_cvtepu8_epi64(
            _mm_loadl_epi64(reinterpret_cast<const __m128i*>(places + p)));
        bits = _mm512_or_si512(bits, _mm512_maskz_sllv_epi64(lanes, one, place));
    }
    return static_cast<uint64_t>(_mm512_reduce_or_epi64(bits));
}

FASTTREE_AVX512 inline void pick_avx512(const BlockOrder& feature, uint64_t members, uint32_t n,
                                        BlockRuns& out) {
    const uint64_t all = low_bits(n);
    const __m512i order = _mm512_loadu_si512(feature.order);
    const uint64_t kept = _mm512_mask_bitshuffle_epi64_mask(
        all, _mm512_set1_epi64(static_cast<long long>(members)), order);
    // A run of dropped positions that holds a boundary carries it to the kept one above.
    const uint64_t dropped = all & ~kept;
    const uint64_t flags = (dropped + (feature.boundaries & dropped)) | feature.boundaries;
    out.boundaries = _pext_u64(flags, kept);
    _mm512_storeu_si512(out.places, _mm512_maskz_compress_epi8(kept, order));
    out.n = static_cast<uint32_t>(__builtin_popcountll(kept));
    out.n_missing = static_cast<uint32_t>(
        __builtin_popcountll(kept & ~low_bits(n - feature.n_missing)));
}
#endif

#if FASTTREE_X86
// As with AVX-512, in vectors of half as many codes; a block of up to that many rows has one.
FASTTREE_AVX2 inline void order_codes_avx2(const uint8_t* codes, uint32_t n, uint32_t n_numbers,
                                           BlockOrder& out) {
    constexpr uint32_t HALF = 32;
    alignas(32) uint8_t padded[2 * HALF] = {};
    std::copy(codes, codes + n, padded);
    const __m256i* const halves = reinterpret_cast<const __m256i*>(padded);
    const __m256i low = _mm256_load_si256(halves), high = _mm256_load_si256(halves + 1);
    const uint64_t all = low_bits(n);
    const auto at_least = [&](__m256i bar) FASTTREE_AVX2 {
        uint64_t lanes = byte_mask(_mm256_cmpeq_epi8(_mm256_max_epu8(low, bar), low));
        if (n > HALF) {
            lanes |= byte_mask(_mm256_cmpeq_epi8(_mm256_max_epu8(high, bar), high)) << HALF;
        }
        return lanes & all;
    };
    const auto equal = [&](__m256i bar) FASTTREE_AVX2 {
        uint64_t lanes = byte_mask(_mm256_cmpeq_epi8(low, bar));
        if (n > HALF) lanes |= byte_mask(_mm256_cmpeq_epi8(high, bar)) << HALF;
        return lanes;
    };
    out.boundaries = 0;
    for (uint32_t i = 0; i < n; ++i) {
        const __m256i own = _mm256_set1_epi8(static_cast<char>(padded[i]));
        const uint64_t smaller = all & ~at_least(own), before = equal(own) & low_bits(i);
        const int p = __builtin_popcountll(smaller) + __builtin_popcountll(before);
        out.order[p] = static_cast<uint8_t>(i);
        out.boundaries |= static_cast<uint64_t>(before == 0) << p;
    }
    out.n_missing = 0;
    if (n_numbers < 256) {
        out.n_missing = static_cast<uint32_t>(__builtin_popcountll(
            at_least(_mm256_set1_epi8(static_cast<char>(n_numbers)))));
    }
}

// Flags go in the top bits of places, which are packed 8 at a time.
FASTTREE_AVX2 inline void pick_avx2(const BlockOrder& feature, uint64_t members, uint32_t n,
                                    BlockRuns& out) {
    const __m256i words = _mm256_set1_epi64x(static_cast<int64_t>(members));
    const __m256i bits = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
    const __m256i low = _mm256_set1_epi8(7);
    uint64_t kept = 0;
    for (uint32_t p = 0; p < n; p += 32) {
        const __m256i order =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(feature.order + p));
        const __m256i within = _mm256_and_si256(order, low);
        const __m256i place = _mm256_and_si256(_mm256_srli_epi16(order, 3), low);
        const __m256i bit = _mm256_shuffle_epi8(bits, within);
        const __m256i is_in = _mm256_and_si256(_mm256_shuffle_epi8(words, place), bit);
        kept |= uint64_t{static_cast<uint32_t>(
                    _mm256_movemask_epi8(_mm256_cmpeq_epi8(is_in, bit)))} << p;
    }
    kept &= low_bits(n);
    const uint64_t dropped = low_bits(n) & ~kept;
    const uint64_t flags = (dropped + (feature.boundaries & dropped)) | feature.boundaries;
    out.n = 0;
    out.boundaries = 0;
    for (uint32_t p = 0; p < n; p += 8) {
        const uint32_t own = kept >> p & 0xff, flagged = flags >> p & own;
        const __m128i places = places_of_byte(own);
        const __m128i order =
            _mm_loadl_epi64(reinterpret_cast<const __m128i*>(feature.order + p));
        const __m128i bit = _mm_shuffle_epi8(_mm256_castsi256_si128(bits), places);
        const __m128i is_flagged = _mm_cmpeq_epi8(
            _mm_and_si128(_mm_set1_epi8(static_cast<char>(flagged)), bit), bit);
        const uint32_t n_own = static_cast<uint32_t>(__builtin_popcount(own));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out.places + out.n),
                         _mm_shuffle_epi8(order, places));
        out.boundaries |= (static_cast<uint64_t>(_mm_movemask_epi8(is_flagged)) & low_bits(n_own))
                          << (out.n & 63);
        out.n += n_own;
    }
    out.n_missing = static_cast<uint32_t>(
        __builtin_popcountll(kept & ~low_bits(n - feature.n_missing)));
}
#endif

inline void order_codes(Simd simd, const uint8_t* codes, uint32_t n, uint32_t n_numbers,
                        BlockOrder& out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return order_codes_avx512(codes, n, n_numbers, out);
    if (simd == SIMD_AVX2) return order_codes_avx2(codes, n, n_numbers, out);
#endif
    order_codes_portable(codes, n, n_numbers, out);
}

inline void order_bits(Simd simd, uint64_t bits, uint32_t n, bool are_numbers, BlockOrder& out) {
    const uint32_t n_zeros = n - static_cast<uint32_t>(__builtin_popcountll(bits));
    out.boundaries = 1 | (n_zeros < n ? uint64_t{1} << n_zeros : 0);
    out.n_missing = are_numbers ? 0 : n;
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return order_bits_avx512(bits, n, out.order);
#endif
    order_bits_portable(bits, n, out.order);
}

inline void pick(Simd simd, const BlockOrder& feature, uint64_t members, uint32_t n,
                 BlockRuns& out) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return pick_avx512(feature, members, n, out);
    if (simd == SIMD_AVX2) return pick_avx2(feature, members, n, out);
#endif
    pick_portable(feature, members, n, out);
}

class Block;

// Where a block's columns come from.
class BlockSource {
public:
    virtual ~BlockSource() = default;
    virtual void make_order(const Block& block, uint32_t feature, BlockOrder& out) = 0;
    // Numbers in the order of the values, that of the row at place i in ranks[i * pitch]. False if
    // a value is not a number.
    virtual bool make_ranks(const Block& block, uint32_t feature, uint8_t* ranks,
                            size_t pitch) = 0;
    virtual Runs values_of(uint32_t feature) const = 0;  // a column, without entries
    // Where the value of a row is, if it is a number.
    virtual const float* number_of(uint32_t row, uint32_t feature) const = 0;
    virtual const BitColumns& bits() const = 0;
};

// The block of one thread.
class Block {
    BlockSource& source_;
    const Simd simd_;
    std::vector<BlockOrder> orders_;   // [n_features]
    std::vector<uint8_t> is_made_;     // orders are made when first looked at
    AlignedBuffer<uint8_t> place_;     // of a row of the block in `rows`
    BlockRuns picked_;
    uint32_t picked_feature_ = NO_FEATURE;  // what it holds
    uint64_t picked_members_ = 0;
    uint32_t entries_[BLOCK_ROWS];
    std::vector<uint64_t> planes_;     // of columns of two values: the bits of all rows, by place

public:
    bool searches_bits = false;        // nodes look at all columns of two values together
    uint32_t start = 0, end = 0;       // positions of its rows
    uint32_t rows[BLOCK_ROWS];         // ascending

    Block(BlockSource& source, Simd simd, uint32_t n_rows, uint32_t n_features)
        : source_(source), simd_(simd), orders_(n_features), is_made_(n_features),
          planes_(source.bits().n_bits()) {
        place_.reserve(n_rows);
    }

    uint32_t n_features() const { return static_cast<uint32_t>(orders_.size()); }
    const BitColumns& bits() const { return source_.bits(); }
    uint64_t plane(uint32_t bit) const { return planes_[bit]; }
    uint32_t size() const { return end - start; }
    uint64_t all() const { return low_bits(size()); }

    // The rows of positions [first, last), ascending.
    void open(uint32_t first, uint32_t last, const uint32_t* their_rows) noexcept {
        start = first;
        end = last;
        picked_feature_ = NO_FEATURE;
        for (uint32_t i = 0; i < size(); ++i) {
            rows[i] = their_rows[i];
            place_[rows[i]] = static_cast<uint8_t>(i);
        }
        std::fill(is_made_.begin(), is_made_.end(), 0);
        make_planes();
    }

    // Rows of the members, ascending; returns their number.
    uint32_t rows_of(uint64_t members, uint32_t* out) const {
        uint32_t n = 0;
        for (; members != 0; members &= members - 1) out[n++] = rows[__builtin_ctzll(members)];
        return n;
    }
    // A node in the order of a feature, valid until the next call.
    const BlockRuns& pick(uint32_t feature, uint64_t members) {
        if (feature == picked_feature_ && members == picked_members_) return picked_;
        fasttree::pick(simd_, order(feature), members, size(), picked_);
        picked_.rows = rows;
        picked_feature_ = feature;
        picked_members_ = members;
        return picked_;
    }
    // The runs picked last, listed; valid until the next call.
    Runs list(uint32_t feature) {
        Runs out = source_.values_of(feature);
        out.entries = entries_;
        out.n = picked_.n;
        out.n_missing = picked_.n_missing;
        for (uint32_t p = 0; p < out.n; ++p) {
            const uint32_t boundary = picked_.boundaries >> p & 1 ? BOUNDARY : 0;
            entries_[p] = picked_.row(p) | boundary;
        }
        return out;
    }
    const float* number_of(uint32_t row, uint32_t feature) const {
        return source_.number_of(row, feature);
    }
    // The order of all rows.
    const BlockOrder& order(uint32_t feature) {
        if (!is_made_[feature]) source_.make_order(*this, feature, orders_[feature]);
        is_made_[feature] = 1;
        return orders_[feature];
    }
    // See BlockSource.
    bool make_ranks(uint32_t feature, uint8_t* ranks, size_t pitch) {
        return source_.make_ranks(*this, feature, ranks, pitch);
    }
    // Members that a split sends left.
    uint64_t left_members(const Split& split, uint64_t members) {
        const BlockRuns& feature = pick(split.feature, members);
        uint64_t left = 0;
        const uint32_t n_numbers = feature.n - feature.n_missing;
        if (split.question != THRESHOLD) {
            const Runs listed = list(split.feature);
            for (uint32_t p = n_numbers; p < feature.n; ++p) {
                if (split.goes_left(listed.value(p))) left |= bit(feature.places[p]);
            }
            return left;
        }
        for (uint32_t p = 0; p < split.n_values_left; ++p) left |= bit(feature.places[p]);
        if (split.missing_left) {
            for (uint32_t p = n_numbers; p < feature.n; ++p) left |= bit(feature.places[p]);
        }
        return left;
    }
    // An order from sorted entries.
    void take_entries(const uint32_t* entries, uint32_t n_missing, BlockOrder& out) const {
        out.boundaries = 0;
        out.n_missing = n_missing;
        for (uint32_t p = 0; p < size(); ++p) {
            out.order[p] = place_[entries[p] & ROW];
            out.boundaries |= static_cast<uint64_t>(entries[p] >> 31) << p;
        }
    }
    // Ranks from sorted entries.
    void take_ranks(const uint32_t* entries, uint8_t* ranks, size_t pitch) const {
        uint8_t rank = 0;
        for (uint32_t p = 0; p < size(); ++p) {
            rank += entries[p] >> 31;
            ranks[place_[entries[p] & ROW] * pitch] = rank;
        }
    }

private:
    static uint64_t bit(uint8_t place) { return uint64_t{1} << place; }

    void make_planes() noexcept {
        const BitRows bits = source_.bits().rows();
        for (uint32_t w = 0; w < bits.n_words; ++w) {
            uint64_t* square = &planes_[w * ROW_WORD];
            std::fill_n(square, ROW_WORD, 0);
            for (uint32_t i = 0; i < size(); ++i) square[i] = bits.row(rows[i])[w];
            transpose_bits(simd_, square);
        }
    }
};

}  // namespace fasttree
