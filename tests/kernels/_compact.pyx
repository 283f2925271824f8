"""The values of a grown tree in few bytes, for tests alone."""
from libc.stddef cimport size_t
from libcpp cimport bool as cbool

import numpy as np


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    size_t count_kept(const double* values, size_t n)
    cdef cppclass SharedBlocks:
        SharedBlocks()
    cdef cppclass CompactValues:
        CompactValues(size_t n_nodes, size_t width, size_t n_kept, SharedBlocks& memory) except +
        size_t n_kept()
        size_t put(size_t node, size_t start, const double* values)
        void write(double* out)
        cbool scale(int exponent)


def compact_values(const double[:, ::1] values, int exponent):
    """The values of nodes, put in one by one, scaled and read again; whether they are finite, and
    how many numbers are kept."""
    cdef size_t node, start = 0, n_nodes = values.shape[0], width = values.shape[1]
    cdef SharedBlocks memory
    cdef CompactValues* compact = new CompactValues(
        n_nodes, width, count_kept(&values[0, 0], n_nodes * width), memory)
    out = np.zeros((n_nodes, width))
    cdef double[:, ::1] target = out
    try:
        for node in range(n_nodes):
            start = compact.put(node, start, &values[node, 0])
        are_finite = compact.scale(exponent)
        compact.write(&target[0, 0])
        return out, are_finite, compact.n_kept()
    finally:
        del compact
