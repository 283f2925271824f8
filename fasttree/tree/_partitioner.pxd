"""Partitioner: the rows of every node and the order of their values.

Nodes own a slice [start, end) of the rows. A partitioner hands a feature of a node to the scan as
runs, and moves the rows of a split node so that its children own contiguous slices.
"""
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr, unique_ptr

from fasttree.tree._engine cimport Block, DenseData, DenseWorkspace, Runs, Split
from fasttree.utils._simd cimport Simd
from fasttree.utils._typedefs cimport float32_t, float64_t, uint8_t, uint32_t


cdef class Partitioner:
    cdef readonly uint32_t n_features
    cdef readonly uint32_t n_rows          # of positive weight: the root's rows

    # n_categories: labels that each column may hold, or None.
    cdef int init(self, object X, const float64_t[::1] sample_weight, str strategy,
                  bint with_lists, int n_threads, Simd simd,
                  const uint32_t[::1] n_categories) except -1
    # The same rows and columns, scratch of its own.
    cdef Partitioner clone(self)
    cdef const uint32_t* rows(self) noexcept nogil
    cdef float value(self, uint32_t row, uint32_t feature) noexcept nogil
    cdef bint with_labels(self, uint32_t feature) noexcept nogil
    cdef uint32_t* scratch(self) noexcept nogil
    # The node as a block, or NULL if the partitioner has none.
    cdef Block* open_block(self, uint32_t start, uint32_t end) noexcept nogil
    # Side of each row in the split made last.
    cdef const uint32_t* sides(self) noexcept nogil
    cdef int runs(self, uint32_t feature, uint32_t start, uint32_t end, Runs* out) except -1 nogil
    cdef uint32_t split_rows(self, const Split& split, uint32_t start, uint32_t end) noexcept nogil
    # Restores `sides` of a node whose rows were split at `middle`.
    cdef void restore_sides(self, uint32_t start, uint32_t middle, uint32_t end) noexcept nogil
    # Splits what is kept of a feature besides the rows, for the children that will be searched.
    cdef void split_feature(self, uint32_t feature, uint32_t start, uint32_t end, bint with_left,
                            bint with_right, const uint32_t* sides) noexcept nogil


cdef class DensePartitioner(Partitioner):
    cdef const float32_t[:, :] X
    cdef shared_ptr[DenseData] data
    cdef unique_ptr[DenseWorkspace] workspace
    cdef unique_ptr[Block] block

    cdef int make_workspace(self) except -1
    cdef Simd simd

    cdef int encode(self, str strategy, bint with_lists, int n_threads) except -1
    cdef int poll(self) except -1 nogil
