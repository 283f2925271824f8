// 16-byte vectors of 8-, 16- or 32-bit counters as plain loops, which compilers turn into the
// vector instructions every target has.
#pragma once

#include <type_traits>

namespace fasttree::optimal::portable {

template <class T>
struct Vec {
    using Counter = T;
    static constexpr int kLanes = 16 / sizeof(T);
    static constexpr int kTileRows = 2;
    static constexpr int kTileVectors = 2;
    static constexpr int kMirrorChunks = 8;
    static constexpr int kRootVectors = 1;
    struct Reg {
        alignas(16) T lane[kLanes];
    };

    template <class Op>
    static Reg map(const Reg& a, const Reg& b, Op op) {
        Reg out;
        for (int k = 0; k < kLanes; ++k) out.lane[k] = op(a.lane[k], b.lane[k]);
        return out;
    }
    static Reg load(const T* p) {
        Reg out;
        for (int k = 0; k < kLanes; ++k) out.lane[k] = p[k];
        return out;
    }
    static void store(T* p, const Reg& a) {
        for (int k = 0; k < kLanes; ++k) p[k] = a.lane[k];
    }
    static Reg set1(T a) {
        Reg out;
        for (int k = 0; k < kLanes; ++k) out.lane[k] = a;
        return out;
    }
    static Reg zero() { return set1(0); }
    static Reg bit_and(const Reg& a, const Reg& b) {
        return map(a, b, [](T x, T y) { return static_cast<T>(x & y); });
    }
    static Reg add(const Reg& a, const Reg& b) {
        return map(a, b, [](T x, T y) { return static_cast<T>(x + y); });
    }
    static Reg sub(const Reg& a, const Reg& b) {
        return map(a, b, [](T x, T y) { return static_cast<T>(x - y); });
    }
    static Reg max(const Reg& a, const Reg& b) {
        return map(a, b, [](T x, T y) { return x > y ? x : y; });
    }
    static Reg min(const Reg& a, const Reg& b) {
        return map(a, b, [](T x, T y) { return x < y ? x : y; });
    }
    static Reg popcount(const Reg& a) {
        using U = std::make_unsigned_t<T>;
        constexpr U ones = static_cast<U>(~U{0});
        constexpr U pairs = ones / 3, quads = ones / 5, bytes = ones / 17;
        Reg out;
        for (int k = 0; k < kLanes; ++k) {
            U x = static_cast<U>(a.lane[k]);
            x = static_cast<U>(x - ((x >> 1) & pairs));
            x = static_cast<U>((x & quads) + ((x >> 2) & quads));
            x = static_cast<U>((x + (x >> 4)) & bytes);
            if constexpr (sizeof(T) >= 2) x = static_cast<U>(x + (x >> 8));
            if constexpr (sizeof(T) == 4) x = static_cast<U>(x + (x >> 16));
            out.lane[k] = static_cast<T>(x & 63);
        }
        return out;
    }
    // a where both x >= low and y >= low, else b.
    static Reg select_if_both(const Reg& x, const Reg& y, const Reg& low, const Reg& a,
                              const Reg& b) {
        Reg out;
        for (int k = 0; k < kLanes; ++k) {
            const bool both = (x.lane[k] >= low.lane[k]) & (y.lane[k] >= low.lane[k]);
            out.lane[k] = both ? a.lane[k] : b.lane[k];
        }
        return out;
    }
};

#include "simd_scalar_parts.hpp"
#include "simd_scalar_blocks.hpp"

}  // namespace fasttree::optimal::portable
