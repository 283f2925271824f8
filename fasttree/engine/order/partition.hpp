// Stable partition of rows and of sorted entries by a go-left bit per row.
//
// Complexity O(n). There is a branch on the data only where nearly all entries are boundaries, as
// in continuous columns, and, with AVX-512, on whether 64 entries all go to one side: most do where
// one child gets nearly all rows. A partitioned list stays sorted; an entry's BOUNDARY bit is
// carried over the entries that left its list: it says whether any boundary lay since the entry's
// new predecessor. Rows are entries without boundaries.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/core/entry_bits.hpp"
#include "engine/core/runs.hpp"
#include "engine/simd/avx2.hpp"
#include "engine/simd/bits.hpp"
#include "engine/simd/simd.hpp"

namespace fasttree {

constexpr uint32_t PADDING = 16;  // entries that a vector may write past the end of scratch

// Where a separation stands: how many went left, and boundaries to carry.
struct Separated {
    uint32_t n_left = 0, carry_left = 0, carry_right = 0;
};

// Writes the entries of entries[i:n] that go left to `left_out`, which may be `entries`, the
// others to `right_out`, and returns how many of entries[0:n] go left. A half that nobody will read
// is not written. Outputs other than `entries` have room for PADDING entries more.
template <bool with_left, bool with_right>
inline uint32_t separate_portable(const uint32_t* entries, uint32_t n, const uint32_t* go_left,
                                  uint32_t* left_out, uint32_t* right_out, uint32_t i = 0,
                                  const Separated& before = {}) {
    uint32_t l = before.n_left, r = i - l;
    uint32_t carry_left = before.carry_left, carry_right = before.carry_right;
    for (; i < n; ++i) {
        const uint32_t entry = entries[i];
        const uint32_t left = get_bit(go_left, entry & ROW);
        if constexpr (with_left) {
            carry_left |= entry & BOUNDARY;
            left_out[l] = (entry & ~BOUNDARY) | carry_left;
            carry_left &= left - 1;  // consumed by an entry that went left
        }
        if constexpr (with_right) {
            carry_right |= entry & BOUNDARY;
            right_out[r] = (entry & ~BOUNDARY) | carry_right;
            carry_right &= 0 - left;
        }
        l += left;
        r += 1 - left;
    }
    return l;
}

#if FASTTREE_X86
// Bits of `boundary` moved up to the next kept position: a run of dropped positions that holds
// a boundary carries into the kept one above it. Bit 0 stands for what came before the block.
template <int lanes>
inline uint32_t carried(uint32_t kept, uint32_t dropped, uint32_t boundary, uint32_t& pending) {
    const uint32_t d = dropped << 1 | 1, b = boundary << 1 | pending;
    const uint32_t sum = d + (b & d);
    pending = sum >> (lanes + 1);
    return (sum >> 1 | boundary) & kept;
}

// Whether a few looks at the entries meet boundaries only.
FASTTREE_AVX2 inline bool has_few_ties_avx2(const uint32_t* entries, uint32_t n) {
    constexpr uint32_t LOOKS = 4;
    uint32_t boundaries = 0xff;
    for (uint32_t i = 0; i < LOOKS && n >= 8; ++i) {
        boundaries &= top_bits_8(load_8(entries + (n - 8) / LOOKS * i));
    }
    return boundaries == 0xff;
}

// `few_ties`: it is worth a branch whether 8 entries are all boundaries.
template <bool with_left, bool with_right, bool few_ties>
FASTTREE_AVX2 inline uint32_t separate_avx2(const uint32_t* entries, uint32_t n,
                                            const uint32_t* go_left, uint32_t* left_out,
                                            uint32_t* right_out) {
    const __m256i top = _mm256_set1_epi32(static_cast<int>(BOUNDARY));
    uint32_t n_left = 0, pending_left = 0, pending_right = 0, i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256i entry = load_8(entries + i);
        const uint32_t left = get_bits_avx2(go_left, entries + i, ROW), right = left ^ 0xff;
        const uint32_t boundary = top_bits_8(entry);
        __m256i flagged = entry;
        if (few_ties && boundary == 0xff) {  // no entry is equal to the one before it
            pending_left = right >> 7;
            pending_right = left >> 7;
        } else {
            const uint32_t to_left = carried<8>(left, right, boundary, pending_left);
            const uint32_t to_right = carried<8>(right, left, boundary, pending_right);
            const __m256i flags = _mm256_and_si256(lanes_of_8(to_left | to_right), top);
            flagged = _mm256_or_si256(entry, flags);
        }
        if constexpr (with_left) store_8(left_out + n_left, compressed_8(flagged, left));
        if constexpr (with_right) store_8(right_out + (i - n_left), compressed_8(flagged, right));
        n_left += static_cast<uint32_t>(__builtin_popcount(left));
    }
    return separate_portable<with_left, with_right>(
        entries, n, go_left, left_out, right_out, i,
        {n_left, pending_left ? BOUNDARY : 0, pending_right ? BOUNDARY : 0});
}

// `few_ties`: it is worth a branch whether 16 entries are all boundaries.
template <bool with_left, bool with_right, bool few_ties>
class Separation {
    static constexpr uint32_t LANES = 16, STEP = 64;
    const uint32_t *const entries_, *const go_left_;
    uint32_t *const left_out_, *const right_out_;
    const bool gathers_;
    uint32_t n_left_ = 0, pending_left_ = 0, pending_right_ = 0;

    FASTTREE_AVX512 FASTTREE_INLINE uint32_t load_bits(const uint32_t* entries) const {
        uint32_t bits = 0;
        for (int i = LANES - 1; i >= 0; --i) bits = bits * 2 + get_bit(go_left_, entries[i] & ROW);
        return bits;
    }
    // The entries of `lanes` from the i-th on, of which those of `left` go left.
    FASTTREE_AVX512 FASTTREE_INLINE void take(uint32_t i, uint32_t lanes, uint32_t left) {
        const __m512i top = _mm512_set1_epi32(BOUNDARY);
        const __m512i entry = load_entries(entries_ + i, lanes);
        const uint32_t right = lanes & ~left;
        const uint32_t boundary = _mm512_movepi32_mask(entry);
        const uint32_t count = static_cast<uint32_t>(__builtin_popcount(left));
        __m512i to_left = entry, to_right = entry;
        if (few_ties && boundary == lanes) {  // no entry is equal to the one before it
            pending_left_ = right >> 15;
            pending_right_ = left >> 15;
        } else {
            const uint32_t flags = carried<16>(left, right, boundary, pending_left_);
            to_left = _mm512_mask_or_epi32(entry, static_cast<__mmask16>(flags), entry, top);
            const uint32_t others = carried<16>(right, left, boundary, pending_right_);
            to_right = _mm512_mask_or_epi32(entry, static_cast<__mmask16>(others), entry, top);
        }
        if constexpr (with_left) {
            // A whole vector ends where entries have been read.
            const uint32_t written = lanes == 0xffffu ? lanes : (1u << count) - 1;
            _mm512_mask_storeu_epi32(
                left_out_ + n_left_, static_cast<__mmask16>(written),
                _mm512_maskz_compress_epi32(static_cast<__mmask16>(left), to_left));
        }
        if constexpr (with_right) {
            _mm512_storeu_si512(
                right_out_ + (i - n_left_),
                _mm512_maskz_compress_epi32(static_cast<__mmask16>(right), to_right));
        }
        n_left_ += count;
    }
    // STEP entries from the i-th on, which all go to one side: to out[at], if it is written.
    template <bool is_written>
    FASTTREE_AVX512 FASTTREE_INLINE void move(uint32_t i, uint32_t* out, uint32_t at,
                                              uint32_t& pending, uint32_t& pending_there) const {
        __m512i all = _mm512_setzero_si512();
        for (uint32_t k = 0; k < STEP; k += LANES) {
            const __m512i entry = _mm512_loadu_si512(entries_ + i + k);
            all = _mm512_or_si512(all, entry);
            if constexpr (is_written) _mm512_storeu_si512(out + at + k, entry);
        }
        if constexpr (is_written) {
            if (pending) out[at] |= BOUNDARY;
        }
        pending = 0;
        pending_there |= _mm512_movepi32_mask(all) != 0;
    }

public:
    Separation(const uint32_t* entries, const uint32_t* go_left, uint32_t* left_out,
               uint32_t* right_out, bool gathers)
        : entries_(entries), go_left_(go_left), left_out_(left_out), right_out_(right_out),
          gathers_(gathers) {}

    // Which of 16 entries from the i-th on go left; of those of `lanes`, if they are the last ones.
    FASTTREE_AVX512 FASTTREE_INLINE uint32_t of_16(uint32_t i, uint32_t lanes) const {
        if (!gathers_ && lanes == 0xffffu) return load_bits(entries_ + i);
        return bits_of_16(go_left_, entries_ + i, lanes);
    }
    FASTTREE_AVX512 uint32_t run(uint32_t n) {
        uint32_t i = 0;
        for (; n - i >= STEP; i += STEP) {
            const uint64_t left = bits_of_64(*this, i, STEP);
            if (left == ~uint64_t{0}) {
                move<with_left>(i, left_out_, n_left_, pending_left_, pending_right_);
                n_left_ += STEP;
            } else if (left == 0) {
                move<with_right>(i, right_out_, i - n_left_, pending_right_, pending_left_);
            } else {
                for (uint32_t k = 0; k < STEP; k += LANES) {
                    take(i + k, 0xffffu, static_cast<uint32_t>(left >> k & 0xffffu));
                }
            }
        }
        for (; i < n; i += LANES) {
            const uint32_t lanes = static_cast<uint32_t>(low_bits(std::min(n - i, LANES)));
            take(i, lanes, of_16(i, lanes));
        }
        return n_left_;
    }
};

// Whether a few looks at the entries meet boundaries only.
FASTTREE_AVX512 inline bool has_few_ties(const uint32_t* entries, uint32_t n) {
    constexpr uint32_t LOOKS = 4;
    uint32_t boundaries = 0xffffu;
    for (uint32_t i = 0; i < LOOKS && n >= 16; ++i) {
        boundaries &= _mm512_movepi32_mask(_mm512_loadu_si512(entries + (n - 16) / LOOKS * i));
    }
    return boundaries == 0xffffu;
}
#endif

// `gathers`: with AVX-512, bits of lists with ties are gathered, not loaded. Those of other lists
// always are, as less is done beside.
template <bool with_left, bool with_right>
inline uint32_t separate(Simd simd, const uint32_t* entries, uint32_t n, const uint32_t* go_left,
                         uint32_t* left_out, uint32_t* right_out, bool gathers = gathers_fast()) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512 && has_few_ties(entries, n)) {
        Separation<with_left, with_right, true> all(entries, go_left, left_out, right_out, true);
        return all.run(n);
    }
    if (simd == SIMD_AVX512) {
        Separation<with_left, with_right, false> all(entries, go_left, left_out, right_out,
                                                     gathers);
        return all.run(n);
    }
    if (simd == SIMD_AVX2) {
        return has_few_ties_avx2(entries, n)
            ? separate_avx2<with_left, with_right, true>(entries, n, go_left, left_out, right_out)
            : separate_avx2<with_left, with_right, false>(entries, n, go_left, left_out,
                                                          right_out);
    }
#endif
    return separate_portable<with_left, with_right>(entries, n, go_left, left_out, right_out);
}

// Moves the entries that go left to the front of entries[0:n], returns their number. A half that
// nobody will read (the child is a leaf) is not written. `scratch` holds those right and PADDING.
inline uint32_t partition(Simd simd, uint32_t* entries, uint32_t n, const uint32_t* go_left,
                          uint32_t* scratch, bool with_left = true, bool with_right = true,
                          bool gathers = gathers_fast()) {
    const auto separated = [&](auto& way) {
        return way(simd, entries, n, go_left, entries, scratch, gathers);
    };
    if (!with_right) return separated(separate<true, false>);
    const uint32_t n_left =
        with_left ? separated(separate<true, true>) : separated(separate<false, true>);
    std::memcpy(entries + n_left, scratch, (n - n_left) * sizeof(uint32_t));
    return n_left;
}

}  // namespace fasttree
