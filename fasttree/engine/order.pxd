"""The rows of a node and the order of their values: lists, extraction, count tables."""
from libc.stddef cimport size_t
from libcpp cimport bool as cbool

from fasttree.engine.columns cimport DenseColumns, RowFeatures, Rows, SortedNonzeros, SparseData
from fasttree.engine.core cimport FeatureSampler, Node, Nonzeros, Split
from fasttree.engine.simd cimport Simd
from fasttree.utils._crew cimport Crew
from fasttree.utils._interrupt cimport Poll
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport int32_t, int64_t, uint32_t


cdef extern from "engine/order/sample.hpp" namespace "fasttree" nogil:
    void weighted_rows[Weight](size_t n, const Weight* weights, const uint32_t* rows,
                               Rows& out) except +

    cdef cppclass DenseSample:
        const DenseColumns& data
        Rows rows
        DenseSample(const DenseColumns& data, Rows rows, Crew& crew) except +
        cbool put_classes(const uint32_t* class_bits, Crew& crew) except +
        void take_lists(DenseColumns& columns) noexcept
        cbool copy_lists(cbool filtered, Simd simd, Crew& crew) except +


cdef extern from "engine/order/block.hpp" namespace "fasttree" nogil:
    cdef cppclass Block:
        pass


cdef extern from "engine/order/count_tables.hpp" namespace "fasttree" nogil:
    cdef cppclass TableCells:
        pass

    cdef cppclass Counting:
        int table
        uint32_t n_shares

    cdef cppclass CountTables:
        void release(int table) noexcept
        TableCells give(int table) noexcept
        int take(TableCells& cells) except +
        Counting begin_node(Node& node, uint32_t n_threads) except +
        void count(const Counting& counting, const FeatureSampler& sampler, int thread,
                   uint32_t share, Poll& poll) except +
        void end_counting(const Counting& counting) noexcept
        Counting hand_down(const Node& node, Node& left, Node& right, cbool with_left,
                           cbool with_right, uint32_t n_threads) except +


cdef extern from "engine/order/sparse_lists.hpp" namespace "fasttree" nogil:
    const uint32_t UNSORTED

    cdef cppclass ListData(SparseData):
        SortedNonzeros* sorted
        ListData(const float* values, const int32_t* indices, const int64_t* indptr,
                 uint32_t n_rows, uint32_t n_features) except +
        void make_parts(uint32_t n_parts, uint32_t least) except +
        uint32_t n_parts() noexcept
        cbool is_listed() noexcept

    cdef cppclass ListWorkspace:
        ListWorkspace(ListData& data, Simd simd) except +
        void list_part(uint32_t part) except +


cdef extern from "engine/order/extraction.hpp" namespace "fasttree" nogil:
    cdef cppclass ExtractionData(SparseData):
        vector[uint32_t] position
        ExtractionData(const float* values, const int32_t* indices, const int64_t* indptr,
                       uint32_t n_rows, uint32_t n_features) except +
        void map_rows() except +

    cdef cppclass Extraction:
        Extraction(ExtractionData& data, const RowFeatures& row_features, Simd simd) except +
        Nonzeros nonzeros(uint32_t feature, uint32_t start, uint32_t end) except +
        uint32_t split_rows(const Split& split, uint32_t start, uint32_t end) except +
