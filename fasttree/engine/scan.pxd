"""The search of one feature in one node."""
from libcpp cimport bool as cbool

from fasttree.engine.core cimport NodeStats, Totals
from fasttree.utils._interrupt cimport Poll
from fasttree.utils._typedefs cimport uint32_t, uint64_t


cdef extern from "engine/scan/scanner.hpp" namespace "fasttree" nogil:
    cdef cppclass Scanner:
        void watch(Poll* poll) noexcept
        uint64_t work(uint32_t n) noexcept
        void write_totals(Totals& out) except +
        const uint32_t* classes_of_entries() noexcept
        void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out) except +
        void node_value(double* value) except +
        cbool stats_follow_totals() noexcept
