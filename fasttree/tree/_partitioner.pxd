"""Partitioner: the rows of every node and the order of their values.

Nodes own a slice [start, end) of the rows. A partitioner hands a feature of a node to the scan as
runs, and moves the rows of a split node so that its children own contiguous slices.
"""
from fasttree.engine.columns cimport DenseColumns
from fasttree.engine.core cimport Node, Nonzeros, FeatureBound, Runs, Split
from fasttree.engine.grow cimport Block
from fasttree.engine.order cimport DenseSample, DenseWorkspace
from fasttree.engine.simd cimport Simd
from fasttree.tree._encoding cimport DenseColumnsOwner, Encoding
from fasttree.tree._options cimport FitOptions
from fasttree.utils._std cimport shared_ptr, unique_ptr, vector
from fasttree.utils._typedefs cimport uint32_t


cdef class Partitioner:
    cdef readonly uint32_t n_features
    cdef readonly uint32_t n_rows          # of the sample: the root's rows
    cdef bint is_sparse                    # features are nonzeros, not runs
    cdef bint has_lists                    # a node lists the features that it has nonzeros of
    cdef uint32_t least                    # features of fewer nonzeros need not be listed

    # Rows in ascending order; with_lists: keep every column that is not coded in order.
    cdef int init(self, Encoding encoding, const vector[uint32_t]& rows, bint with_lists,
                  FitOptions options) except -1
    # The same rows and columns, scratch of its own.
    cdef Partitioner clone(self)
    # Rows and columns that count tables may be made of.
    cdef const DenseSample* dense_sample(self) noexcept
    # Rows of a node in ascending order; good until the next call.
    cdef const uint32_t* node_rows(self, uint32_t start, uint32_t end) except NULL nogil
    cdef float value(self, uint32_t row, uint32_t feature) noexcept nogil
    cdef bint has_categories(self, uint32_t feature) noexcept nogil

    # Order of a feature in a node: dense columns.
    cdef int runs(self, uint32_t feature, uint32_t start, uint32_t end, Runs* out) except -1 nogil
    cdef uint32_t* scratch(self) noexcept nogil
    # The node as a block, or NULL if the partitioner has none.
    cdef Block* open_block(self, uint32_t start, uint32_t end) noexcept nogil
    # Order of a feature in a node: sparse columns.
    cdef int nonzeros(self, uint32_t feature, const Node& node, Nonzeros* out) except -1 nogil
    cdef int listed_side(self, const Nonzeros& nonzeros, uint32_t n_values_left,
                         bint missing_left, Nonzeros* out) except -1 nogil

    # Features that a node lists, part by part: those in reach.
    cdef uint32_t n_parts(self) noexcept nogil
    # One worth looking at first, or NO_FEATURE, and what its children are told.
    cdef uint32_t promising(self, const Node& node, uint32_t part) noexcept nogil
    cdef void found_promising(self, const Node& node, uint32_t part,
                              uint32_t feature) noexcept nogil
    cdef void begin_part(self, const Node& node, uint32_t part) noexcept nogil
    cdef uint32_t next_feature(self, const FeatureBound& bound) noexcept nogil
    # Rows of the nonzeros of the feature returned last, if they were not sorted yet; else NULL.
    cdef const uint32_t* unsorted(self, uint32_t* n) noexcept nogil
    # Says that at most so many of them are of one class.
    cdef void found_max_class_count(self, uint32_t max_class_count) noexcept nogil
    # Says that the feature returned last is constant in the node, and so below it.
    cdef void found_constant(self) noexcept nogil

    # Moves the node's rows that go left to the front; returns the first position on the right.
    cdef uint32_t split_rows(self, const Split& split, const Node& node) except? 0 nogil
    # Side of each row in the split made last.
    cdef const uint32_t* sides(self) noexcept nogil
    # Restores `sides` of a node whose rows were split at `middle`.
    cdef void restore_sides(self, uint32_t start, uint32_t middle, uint32_t end) noexcept nogil
    # What is kept per node besides the rows is split in parts, between begin_split, which says how
    # many, and end_split, for the children that will be searched. A part of a dense matrix is a
    # feature.
    cdef int begin_split(self, const Node& left, const Node& right, bint with_left,
                         bint with_right) except -1 nogil
    cdef int split_part(self, uint32_t part, const Node& left, const Node& right, bint with_left,
                        bint with_right, const uint32_t* sides) except -1 nogil
    cdef void end_split(self, const Node& left, const Node& right, bint with_left,
                        bint with_right) noexcept nogil


cdef class DensePartitioner(Partitioner):
    cdef DenseColumnsOwner owner
    cdef const DenseColumns* columns       # the owner's
    cdef shared_ptr[DenseSample] sample
    cdef unique_ptr[DenseWorkspace] workspace
    cdef unique_ptr[Block] block
    cdef Simd simd

    cdef int make_workspace(self) except -1
