"""Threads, by one convention: see `_threads.hpp`."""
from libcpp cimport bool as cbool

from fasttree.utils._interrupt cimport Poll


cdef extern from "utils/_threads.hpp" namespace "fasttree" nogil:
    int max_threads() noexcept
    cbool with_openmp() noexcept
    void c_dismiss_threads "fasttree::dismiss_threads"() noexcept

    cdef cppclass Turns:
        Turns(int n) except +
        int take() except +
        void finish(cbool has_failed) except +
        void wait(Poll& poll) except +
