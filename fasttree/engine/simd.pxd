"""Instruction sets and what is written once for each."""
cdef extern from "engine/simd/simd.hpp" namespace "fasttree" nogil:
    cdef enum Simd:
        SIMD_PORTABLE
        SIMD_AVX2
        SIMD_AVX512
    Simd best_simd() noexcept
    Simd best_simd(Simd at_most) noexcept


cdef inline Simd simd_allowed(str setting):
    """The best instruction set of this machine under a setting of `config_context`."""
    if setting == "portable":
        return SIMD_PORTABLE
    return best_simd(SIMD_AVX2 if setting == "avx2" else SIMD_AVX512)
