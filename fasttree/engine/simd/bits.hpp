// A bit per row. 100,000 rows fit the first-level cache, where a byte per row would not.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/simd/simd.hpp"

namespace fasttree {

inline uint32_t get_bit(const uint32_t* words, uint32_t i) { return words[i >> 5] >> (i & 31) & 1; }

inline void put_bit(uint32_t* words, uint32_t i, uint32_t bit) {
    uint32_t& word = words[i >> 5];
    word = (word & ~(1u << (i & 31))) | bit << (i & 31);
}

#if FASTTREE_X86
// The bits at 16 places, of `lanes` only.
FASTTREE_AVX512 inline uint32_t get_bits_avx512(const uint32_t* words, __m512i i, uint32_t lanes) {
    const __m512i word = _mm512_i32gather_epi32(_mm512_srli_epi32(i, 5), words, 4);
    const __m512i within = _mm512_and_si512(i, _mm512_set1_epi32(31));
    return _mm512_mask_test_epi32_mask(static_cast<__mmask16>(lanes), word,
                                       _mm512_sllv_epi32(_mm512_set1_epi32(1), within));
}
#endif

// Puts bits at ascending places, none below `first`; each word is read and written once.
class BitWriter {
    uint32_t* words_;
    uint32_t at_, word_;

public:
    explicit BitWriter(uint32_t* words, uint32_t first = 0)
        : words_(words), at_(first >> 5), word_(words[at_]) {}
    ~BitWriter() { words_[at_] = word_; }
    BitWriter(const BitWriter&) = delete;

    void put(uint32_t i, uint32_t bit) {
        if (i >> 5 != at_) {
            words_[at_] = word_;
            at_ = i >> 5;
            word_ = words_[at_];
        }
        word_ = (word_ & ~(1u << (i & 31))) | bit << (i & 31);
    }
};

// The n lowest bits, n at most 64.
inline uint64_t low_bits(uint32_t n) { return n < 64 ? (uint64_t{1} << n) - 1 : ~uint64_t{0}; }

// The place of the lowest bit that is set; there is one.
inline int lowest_bit(uint64_t bits) { return __builtin_ctzll(bits); }

inline std::vector<uint32_t> make_bits(uint32_t n) { return std::vector<uint32_t>(n / 32 + 1); }

}  // namespace fasttree
