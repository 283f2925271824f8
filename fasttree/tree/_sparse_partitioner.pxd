"""Partitioners of a sparse matrix: nonzeros listed per node, or extracted column by column."""
from libcpp cimport bool as cbool

from fasttree.tree._encoding cimport Encoding, SparseEncoding
from fasttree.tree._engine cimport DenseColumns, DenseSample, Node, Nonzeros, Reach, Split
from fasttree.tree._options cimport FitOptions
from fasttree.tree._partitioner cimport Partitioner
from fasttree.engine.simd cimport Simd
from fasttree.utils._std cimport shared_ptr, unique_ptr, vector
from fasttree.utils._typedefs cimport int32_t, int64_t, uint32_t


cdef extern from "engine/columns/sparse.hpp" namespace "fasttree" nogil:
    cdef cppclass SparseData:
        vector[uint32_t] rows
        void take_rows(vector[uint32_t] sample) except +
        float value(uint32_t row, uint32_t feature) noexcept

    Nonzeros list_side "fasttree::listed_side"(const Nonzeros& nonzeros, uint32_t n_values_left,
                                               cbool missing_left,
                                               vector[uint32_t]& listed) except +


cdef extern from "engine/order/sparse_lists.hpp" namespace "fasttree" nogil:
    cdef cppclass ListData(SparseData):
        ListData(const float* values, const int32_t* indices, const int64_t* indptr,
                 uint32_t n_rows, uint32_t n_features) except +
        void make_parts(uint32_t n_parts, uint32_t least) except +
        uint32_t n_parts() noexcept
        cbool is_listed() noexcept

    cdef cppclass ListWorkspace:
        ListWorkspace(ListData& data, Simd simd) except +
        void list_part(uint32_t part) except +
        void begin_part(const Node& node, uint32_t part) noexcept
        cbool next_column(const Reach& reach) noexcept
        uint32_t feature() noexcept
        const uint32_t* unsorted(uint32_t& n) noexcept
        void set_peak(uint32_t peak) noexcept
        uint32_t promising(const Node& node, uint32_t part) noexcept
        void set_promising(const Node& node, uint32_t part, uint32_t feature) noexcept
        void drop_column() noexcept
        const uint32_t* sides() noexcept
        void mark_halves(uint32_t start, uint32_t middle, uint32_t end) noexcept
        Nonzeros nonzeros(uint32_t feature, const Node& node) except +
        uint32_t split_rows(const Split& split, const Node& node) except +
        uint32_t begin_split(const Node& left, const Node& right, cbool with_left,
                             cbool with_right) except +
        void split_part(uint32_t part, const Node& left, const Node& right, cbool with_left,
                        cbool with_right, const uint32_t* sides) except +
        void end_split(const Node& left, const Node& right, cbool with_left,
                       cbool with_right) noexcept


cdef extern from "engine/order/extraction.hpp" namespace "fasttree" nogil:
    cdef cppclass ExtractionData(SparseData):
        vector[uint32_t] position
        ExtractionData(const float* values, const int32_t* indices, const int64_t* indptr,
                       uint32_t n_rows, uint32_t n_features) except +
        void map_rows() except +

    cdef cppclass Extraction:
        Extraction(ExtractionData& data, Simd simd) except +
        const uint32_t* node_rows(uint32_t start, uint32_t end) except +
        Nonzeros nonzeros(uint32_t feature, uint32_t start, uint32_t end) except +
        uint32_t split_rows(const Split& split, uint32_t start, uint32_t end) except +


# What both strategies share.
cdef class SparsePartitioner(Partitioner):
    cdef SparseEncoding encoding
    cdef SparseData* matrix                   # owned by the derived class
    cdef shared_ptr[DenseColumns] no_columns
    cdef shared_ptr[DenseSample] no_sample
    cdef vector[uint32_t] listed
    cdef Simd simd

    cdef int take(self, Encoding encoding, const vector[uint32_t]& rows,
                  FitOptions options) except -1
    cdef int share(self, SparsePartitioner other) except -1


cdef class ListPartitioner(SparsePartitioner):
    cdef shared_ptr[ListData] data
    cdef unique_ptr[ListWorkspace] workspace

    cdef int list_columns(self, int n_threads) except -1
    cdef int list_part(self, uint32_t part) except -1 nogil


cdef class ExtractionPartitioner(SparsePartitioner):
    cdef shared_ptr[ExtractionData] data
    cdef unique_ptr[Extraction] workspace
