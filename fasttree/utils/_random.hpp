// Random numbers keyed by what they are for.
//
// A draw is a hash of its key, so it depends on neither threads nor the order of traversal
// (splitmix64's finaliser, Steele, Lea and Flood 2014). `XorShift` is scikit-learn's stream.
#pragma once
#include <cstdint>

namespace fasttree {

inline uint64_t mix(uint64_t key, uint64_t value) noexcept {
    uint64_t z = key + 0x9e3779b97f4a7c15u * (value + 1);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// Uniform on {0, ..., n - 1}.
inline uint32_t below(uint64_t random, uint32_t n) {
    return static_cast<uint32_t>(static_cast<unsigned __int128>(random) * n >> 64);
}

// Uniform on [0, 1).
inline double unit_interval(uint64_t random) {
    return static_cast<double>(random >> 11) * 0x1.0p-53;
}

class XorShift {
    uint32_t state_;

public:
    explicit XorShift(uint32_t seed = 0) : state_(seed) {}
    uint32_t next() {
        if (state_ == 0) state_ = 1;
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_ & 0x7fffffffu;
    }
    uint32_t integer(uint32_t low, uint32_t high) { return low + next() % (high - low); }
    double uniform(double low, double high) {
        return (high - low) * static_cast<double>(next()) / 2147483647.0 + low;
    }
};

}  // namespace fasttree
