"""What the modules of kernels share: instruction sets, and what stands behind an array."""
from libc.stdint cimport uint32_t


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    cdef enum Simd:
        SIMD_PORTABLE
        SIMD_AVX2
        SIMD_AVX512
    uint32_t c_GUARD "fasttree::tests::GUARD"
