"""What modules of kernels share: instruction sets, what stands behind an array, keys."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint32_t, uint8_t


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    cdef enum Simd:
        SIMD_PORTABLE
        SIMD_AVX2
        SIMD_AVX512
    uint32_t c_GUARD "fasttree::tests::GUARD"
    cdef cppclass KeyBuckets:
        const uint8_t* buckets
        uint32_t n
        uint32_t n_buckets
        const uint32_t* last_keys
        const float* cells
        ptrdiff_t stride
        const uint32_t* rows
