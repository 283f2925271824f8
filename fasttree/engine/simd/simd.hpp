// Instruction sets, chosen at run time. Kernels for one are compiled with FASTTREE_AVX512 and
// called only where `best_simd` finds it; each has a portable twin with the same result.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#define FASTTREE_X86 1
#include <immintrin.h>
#define FASTTREE_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512bitalg," \
                          "avx512cd,avx512vbmi,avx512vbmi2,bmi2,popcnt")))
#else
#define FASTTREE_X86 0
#endif

namespace fasttree {

// AVX-512 as of Ice Lake and Zen 4.
enum Simd { SIMD_PORTABLE = 0, SIMD_AVX512 = 1 };

inline Simd best_simd() noexcept {
#if FASTTREE_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bitalg")
        && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi")
        && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2")) {
        return SIMD_AVX512;
    }
#endif
    return SIMD_PORTABLE;
}

}  // namespace fasttree
