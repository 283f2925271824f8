"""Partitioner of a sparse matrix: lists of nonzeros, or extraction column by column."""
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr, unique_ptr
from libcpp.vector cimport vector

from fasttree.tree._engine cimport DenseData, Node, Nonzeros, Split
from fasttree.tree._partitioner cimport Partitioner
from fasttree.utils._simd cimport Simd
from fasttree.utils._typedefs cimport int32_t, int64_t, uint32_t


cdef extern from "_sparse.hpp" namespace "fasttree" nogil:
    cdef cppclass SparseData:
        vector[uint32_t] rows
        vector[uint32_t] position
        SparseData(const float* values, const int32_t* indices, const int64_t* indptr,
                   uint32_t n_rows, uint32_t n_features) except +
        void add_row(uint32_t row) except +
        void allocate_lists(uint32_t n_parts, uint32_t least) except +
        void allocate_positions() except +
        cbool has_lists()
        uint32_t n_parts()
        cbool is_sorted()
        float value(uint32_t row, uint32_t feature)

    cdef cppclass SparseWorkspace:
        SparseWorkspace(SparseData& data, Simd simd) except +
        const uint32_t* sides()
        const uint32_t* node_rows(uint32_t start, uint32_t end) except +
        uint32_t split_rows(const Split& split, const Node& node) except +
        void mark_halves(uint32_t start, uint32_t middle, uint32_t end)
        Nonzeros nonzeros(uint32_t feature, const Node& node) except +
        Nonzeros listed_side(const Nonzeros& nonzeros, uint32_t n_values_left,
                             cbool missing_left) except +
        void sort_part(uint32_t part) except +
        void begin_part(const Node& node, uint32_t part)
        cbool next_column(uint32_t least)
        uint32_t feature()
        void drop_column()
        uint32_t begin_split(const Node& left, const Node& right, cbool with_left,
                             cbool with_right) except +
        void split_part(uint32_t part, const Node& left, const Node& right, cbool with_left,
                        cbool with_right, const uint32_t* sides) except +
        void end_split(const Node& left, const Node& right, cbool with_left, cbool with_right)


cdef class SparsePartitioner(Partitioner):
    cdef tuple arrays                      # what the data points into
    cdef shared_ptr[SparseData] data
    cdef unique_ptr[SparseWorkspace] workspace
    cdef shared_ptr[DenseData] no_columns
    cdef Simd simd

    cdef int sort_columns(self, int n_threads) except -1
    cdef int sort_part(self, uint32_t part) except -1 nogil
