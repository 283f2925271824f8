"""Threads, by one convention: see `_threads.hpp`."""
from libcpp cimport bool as cbool


cdef extern from "utils/_threads.hpp" namespace "fasttree" nogil:
    const int PARTS_OF_A_THREAD
    int max_threads() noexcept
    cbool with_openmp() noexcept
    void c_dismiss_threads "fasttree::dismiss_threads"() noexcept
