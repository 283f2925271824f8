// The random numbers of NumPy's RandomState, in blocks: the Mersenne Twister of Matsumoto and
// Nishimura, "Mersenne twister: a 623-dimensionally equidistributed uniform pseudo-random number
// generator", 1998. The loops have no branch, so that compilers make vectors of them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fasttree {

class MersenneTwister {
public:
    static constexpr uint32_t BLOCK = 624;

    explicit MersenneTwister(uint32_t seed) noexcept {
        for (uint32_t i = 0; i < BLOCK; ++i) {
            state_[i] = seed;
            seed = 1812433253u * (seed ^ seed >> 30) + i + 1;
        }
    }
    // The next BLOCK numbers of 32 bits.
    void next(uint32_t* out) noexcept {
        constexpr uint32_t AHEAD = 397, BEHIND = BLOCK - AHEAD;
        for (uint32_t i = 0; i < BEHIND; ++i) {
            state_[i] = state_[i + AHEAD] ^ twisted(state_[i], state_[i + 1]);
        }
        for (uint32_t i = BEHIND; i < BLOCK - 1; ++i) {
            state_[i] = state_[i - BEHIND] ^ twisted(state_[i], state_[i + 1]);
        }
        state_[BLOCK - 1] = state_[AHEAD - 1] ^ twisted(state_[BLOCK - 1], state_[0]);
        for (uint32_t i = 0; i < BLOCK; ++i) out[i] = tempered(state_[i]);
    }

private:
    uint32_t state_[BLOCK];

    static uint32_t twisted(uint32_t high, uint32_t low) noexcept {
        const uint32_t word = (high & 0x80000000u) | (low & 0x7fffffffu);
        return word >> 1 ^ (0u - (low & 1u) & 0x9908b0dfu);
    }
    static uint32_t tempered(uint32_t word) noexcept {
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c5680u;
        word ^= word << 15 & 0xefc60000u;
        return word ^ word >> 18;
    }
};

// Adds how often each of {0, ..., n - 1} is drawn by RandomState(seed).randint(0, n, n_draws): as
// many bits of a number are kept as n - 1 has; those that are larger are no draws.
inline void count_draws(uint32_t seed, uint32_t n, size_t n_draws, int64_t* counts) noexcept {
    const uint32_t last = n - 1;
    if (last == 0) {
        counts[0] += static_cast<int64_t>(n_draws);
        return;
    }
    const uint32_t mask = ~uint32_t{0} >> __builtin_clz(last);
    MersenneTwister random(seed);
    uint32_t block[MersenneTwister::BLOCK];
    while (n_draws > 0) {
        random.next(block);
        uint32_t n_kept = 0;
        for (uint32_t number : block) {  // no branch: it would be a coin toss
            const uint32_t drawn = number & mask;
            block[n_kept] = drawn;
            n_kept += drawn <= last;
        }
        n_kept = static_cast<uint32_t>(std::min<size_t>(n_kept, n_draws));
        for (uint32_t i = 0; i < n_kept; ++i) ++counts[block[i]];
        n_draws -= n_kept;
    }
}

}  // namespace fasttree
