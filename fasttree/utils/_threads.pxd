"""Threads, by one convention: see `_threads.hpp`."""
from libcpp cimport bool as cbool

from fasttree.utils._typedefs cimport uint32_t


cdef extern from "utils/_threads.hpp" namespace "fasttree" nogil:
    const int PARTS_OF_A_THREAD
    uint32_t guided_begin(uint32_t n, uint32_t part, uint32_t n_parts, uint32_t n_threads) noexcept
    int max_threads() noexcept
    cbool with_openmp() noexcept
    void c_dismiss_threads "fasttree::dismiss_threads"() noexcept
