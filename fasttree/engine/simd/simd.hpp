// Instruction sets, chosen at run time, of trees and optimal trees alike.
//
// Kernels for one are compiled with FASTTREE_AVX2 or FASTTREE_AVX512, or in a file of their own
// with the flags that meson gives it (optimal/meson.build), and called only where `has_simd` finds
// it. Each has a portable twin with the same result.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define FASTTREE_X86 1
#include <cpuid.h>
#include <immintrin.h>
#define FASTTREE_AVX2 \
    __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define FASTTREE_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg," \
                          "avx512cd,avx512vbmi,avx512vbmi2,gfni,bmi2,popcnt")))
#else
#define FASTTREE_X86 0
#endif

namespace fasttree {

// AVX2 as of Haswell and Zen, without fused multiplication, which would round otherwise; AVX-512 as
// of Ice Lake and Zen 4.
enum Simd { SIMD_PORTABLE, SIMD_AVX2, SIMD_AVX512 };

#if FASTTREE_X86
// Whether this processor counts leading zeros; not every compiler has a name for it.
inline bool has_lzcnt() noexcept {
    static const bool has_it = [] {
        constexpr unsigned LZCNT = 1u << 5;
        unsigned a, b, c = 0, d;
        return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & LZCNT);
    }();
    return has_it;
}
#endif

// Whether this machine runs it.
inline bool has_simd(Simd simd) noexcept {
#if FASTTREE_X86
    if (simd == SIMD_AVX2) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")
               && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")
               && has_lzcnt();
    }
    if (simd == SIMD_AVX512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
               && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
               && __builtin_cpu_supports("avx512vpopcntdq")
               && __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512cd")
               && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2")
               && __builtin_cpu_supports("gfni") && __builtin_cpu_supports("bmi2");
    }
#endif
    return simd == SIMD_PORTABLE;
}

// Whether AVX-512's gathering instructions take less time than a load per lane on a processor of
// Intel's: as of Sapphire Rapids, the first with AVX512-FP16; virtual machines may hide that, but
// not the model, which is in the signature. Those before are slowed down by the repair of
// CVE-2022-40982.
constexpr bool gathers_fast(bool has_fp16, unsigned signature) noexcept {
    constexpr unsigned FAMILY_AND_MODEL = 0xfff0ff0;
    constexpr unsigned SAPPHIRE_RAPIDS = 0x806f0, EMERALD_RAPIDS = 0xc06f0;
    constexpr unsigned GRANITE_RAPIDS = 0xa06d0, GRANITE_RAPIDS_D = 0xa06e0;
    const unsigned model = signature & FAMILY_AND_MODEL;
    return has_fp16 || model == SAPPHIRE_RAPIDS || model == EMERALD_RAPIDS
           || model == GRANITE_RAPIDS || model == GRANITE_RAPIDS_D;
}
static_assert(gathers_fast(false, 0x806f8) && gathers_fast(false, 0xc06f2));
static_assert(gathers_fast(false, 0xa06d1) && gathers_fast(true, 0xb06f2));
static_assert(!gathers_fast(false, 0x606a6));  // Ice Lake

// The same of this processor; AMD's gather more slowly than they load.
inline bool gathers_fast() noexcept {
#if FASTTREE_X86
    static const bool is_fast = [] {
        constexpr unsigned FP16 = 1u << 23;
        unsigned a = 0, b, c, d = 0;
        if (!__builtin_cpu_is("intel")) return false;
        const bool has_fp16 = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & FP16);
        return __get_cpuid(1, &a, &b, &c, &d) && gathers_fast(has_fp16, a);
    }();
    return is_fast;
#else
    return false;
#endif
}

// Calls a loop that the compiler vectorises by itself: FASTTREE_INLINE makes it
// a part of either, FASTTREE_IVDEP says that its steps do not depend on each other.
#if FASTTREE_X86
#define FASTTREE_INLINE __attribute__((always_inline))
#ifdef __clang__  // which has no such promise, and looks at run time
#define FASTTREE_IVDEP
#else
#define FASTTREE_IVDEP _Pragma("GCC ivdep")
#endif
#define FASTTREE_RESTRICT __restrict__
template <class Loop>
FASTTREE_AVX2 inline void call_avx2(const Loop& loop) { loop(); }
template <class Loop>
FASTTREE_AVX512 inline void call_avx512(const Loop& loop) { loop(); }
#else
#define FASTTREE_INLINE
#define FASTTREE_IVDEP
#define FASTTREE_RESTRICT
#endif
template <class Loop>
inline void call(Simd simd, const Loop& loop) {
#if FASTTREE_X86
    if (simd == SIMD_AVX512) return call_avx512(loop);
    if (simd == SIMD_AVX2) return call_avx2(loop);
#endif
    loop();
}
// The same where the loop itself is written for one.
template <Simd simd, class Loop>
inline void call_in(const Loop& loop) {
#if FASTTREE_X86
    if constexpr (simd == SIMD_AVX512) return call_avx512(loop);
    if constexpr (simd == SIMD_AVX2) return call_avx2(loop);
#endif
    loop();
}

// Asks for what will be read soon, where the next address does not tell by itself.
constexpr uint32_t ROWS_AHEAD = 4;
FASTTREE_INLINE inline void prefetch(const void* items, size_t n_bytes) {
#if FASTTREE_X86
    constexpr size_t CACHE_LINE = 64;
    const char* const first = static_cast<const char*>(items);
    const size_t skew = reinterpret_cast<uintptr_t>(items) % CACHE_LINE;
    for (size_t i = 0; i < skew + n_bytes; i += CACHE_LINE) __builtin_prefetch(first - skew + i);
#endif
}

// to += from, n items that do not overlap.
template <class Item>
FASTTREE_INLINE inline void add_all(const Item* from, Item* to, size_t n) {
    FASTTREE_IVDEP
    for (size_t i = 0; i < n; ++i) to[i] += from[i];
}

// The best that this machine has, up to one.
inline Simd best_simd(Simd at_most = SIMD_AVX512) noexcept {
    int simd = at_most;
    while (!has_simd(static_cast<Simd>(simd))) --simd;
    return static_cast<Simd>(simd);
}

}  // namespace fasttree
