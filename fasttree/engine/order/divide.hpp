// Dividing the lists of a sparse node between its children: adjacent columns in one go.
//
// Most columns are short, so what counts is the work per column. In vectors the entries of all of
// them are one stream, whatever column they are of; how many of a column were kept is looked up
// afterwards in the numbers kept before each block of 16 entries.
//
// Invariants: stable; an entry's BOUNDARY bit is carried as in order/partition.hpp. The first
// entry of every column has one, so nothing is carried from a column to the next.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/core/entry_bits.hpp"
#include "engine/core/runs.hpp"
#include "engine/order/partition.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

struct ListedColumn {
    uint32_t feature;   // beside bits: see order/sparse_lists.hpp
    uint32_t begin, n;  // its entries, counted from the part's first
    uint32_t max_class_count;      // at least its rows of any one class

    uint32_t end() const { return begin + n; }
    // What a child has of it.
    ListedColumn part(uint32_t begin_, uint32_t n_) const {
        return {feature, begin_, n_, std::min(max_class_count, n_)};
    }
};

class ListDivider {
    struct Block {
        uint32_t before, kept;  // number of entries kept before it; which of its 16 are
    };
    const Simd simd_;
    std::vector<Block> blocks_;

public:
    std::vector<uint32_t> n_kept;  // by column, of the columns divided last

    explicit ListDivider(Simd simd) : simd_(simd) {}

    // Writes those entries of adjacent columns whose side is `kept_side` to `kept`, which may stand
    // before or at the first in memory, and, with_moved, the others to `moved`.
    template <bool with_moved>
    void divide(const uint32_t* part_entries, const ListedColumn* columns, uint32_t n_columns,
                const uint32_t* sides, uint32_t kept_side, uint32_t* kept, uint32_t* moved) {
        const uint32_t* entries = part_entries + columns[0].begin;
        n_kept.resize(n_columns);
#if FASTTREE_X86
        if (simd_ == SIMD_AVX512) {
            const uint32_t n = columns[n_columns - 1].end() - columns[0].begin;
            blocks_.resize(n / BLOCK + 1);
            stream_avx512<with_moved>(entries, n, sides, kept_side, kept, moved);
            count_avx512(columns, n_columns);
            return;
        }
#endif
        for (uint32_t c = 0; c < n_columns; ++c) {
            const uint32_t n = columns[c].n;
            n_kept[c] = divide_portable<with_moved>(entries, n, sides, kept_side, kept, moved);
            entries += n;
            kept += n_kept[c];
            if (with_moved) moved += n - n_kept[c];
        }
    }

private:
    static constexpr uint32_t BLOCK = 16;

    template <bool with_moved>
    static uint32_t divide_portable(const uint32_t* entries, uint32_t n, const uint32_t* sides,
                                    uint32_t kept_side, uint32_t* kept, uint32_t* moved) {
        uint32_t n_kept = 0, n_moved = 0, carry_kept = 0, carry_moved = 0;
        for (uint32_t i = 0; i < n; ++i) {
            const uint32_t entry = entries[i], row = entry & ROW, boundary = entry & BOUNDARY;
            const uint32_t keep = get_bit(sides, row) == kept_side;
            carry_kept |= boundary;
            kept[n_kept] = row | carry_kept;
            carry_kept &= keep - 1;  // consumed by an entry that is kept
            n_kept += keep;
            if constexpr (with_moved) {
                carry_moved |= boundary;
                moved[n_moved] = row | carry_moved;
                carry_moved &= 0 - keep;
                n_moved += 1 - keep;
            }
        }
        return n_kept;
    }

#if FASTTREE_X86
    template <bool with_moved>
    FASTTREE_AVX512 void stream_avx512(const uint32_t* entries, uint32_t n, const uint32_t* sides,
                                       uint32_t kept_side, uint32_t* kept, uint32_t* moved) {
        const __m512i top = _mm512_set1_epi32(BOUNDARY);
        uint32_t n_kept_ = 0, n_moved = 0, pending_kept = 0, pending_moved = 0;
        Block* block = blocks_.data();
        for (uint32_t i = 0; i < n; i += BLOCK, ++block) {
            const uint32_t lanes = n - i < BLOCK ? (1u << (n - i)) - 1 : 0xffffu;
            const __m512i entry = load_entries(entries + i, lanes);
            const __m512i row = rows_of(entry);
            const uint32_t ones = get_bits_avx512(sides, row, lanes);
            const uint32_t keep = kept_side ? ones : lanes & ~ones;
            const uint32_t move = lanes & ~keep;
            const uint32_t boundary = _mm512_movepi32_mask(entry);
            *block = {n_kept_, keep};
            const uint32_t flags = carried<16>(keep, move, boundary, pending_kept);
            const __m512i out = _mm512_mask_or_epi32(row, static_cast<__mmask16>(flags), row, top);
            const uint32_t count = static_cast<uint32_t>(__builtin_popcount(keep));
            _mm512_mask_storeu_epi32(
                kept + n_kept_, static_cast<__mmask16>((1u << count) - 1),
                _mm512_maskz_compress_epi32(static_cast<__mmask16>(keep), out));
            n_kept_ += count;
            if constexpr (with_moved) {
                const uint32_t moved_flags = carried<16>(move, keep, boundary, pending_moved);
                const __m512i other =
                    _mm512_mask_or_epi32(row, static_cast<__mmask16>(moved_flags), row, top);
                _mm512_storeu_si512(
                    moved + n_moved,
                    _mm512_maskz_compress_epi32(static_cast<__mmask16>(move), other));
                n_moved += static_cast<uint32_t>(__builtin_popcount(move));
            }
        }
        if (n % BLOCK == 0) *block = {n_kept_, 0};
    }

    FASTTREE_AVX512 void count_avx512(const ListedColumn* columns, uint32_t n_columns) {
        uint32_t before = 0;
        for (uint32_t c = 0; c < n_columns; ++c) {
            const uint32_t end = columns[c].end() - columns[0].begin;
            const Block block = blocks_[end / BLOCK];
            const uint32_t within = block.kept & ((1u << end % BLOCK) - 1);
            const uint32_t until = block.before + static_cast<uint32_t>(__builtin_popcount(within));
            n_kept[c] = until - before;
            before = until;
        }
    }
#endif
};

}  // namespace fasttree
