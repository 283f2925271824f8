cdef extern from "engine/simd/simd.hpp" namespace "fasttree" nogil:
    cdef enum Simd:
        SIMD_PORTABLE
        SIMD_AVX512
    Simd best_simd() noexcept
