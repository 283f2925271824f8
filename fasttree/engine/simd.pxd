"""Instruction sets and what is written once for each."""
cdef extern from "engine/simd/simd.hpp" namespace "fasttree" nogil:
    cdef enum Simd:
        SIMD_PORTABLE
        SIMD_AVX512
    Simd best_simd() noexcept


cdef extern from "engine/simd/sorting.hpp" namespace "fasttree" nogil:
    cdef cppclass SortBuffers:
        pass
