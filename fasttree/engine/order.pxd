"""The rows of a node and the order of their values: lists, extraction, count tables."""
from libcpp cimport bool as cbool

from fasttree.engine.columns cimport DenseColumns, SparseData
from fasttree.engine.core cimport (
    AlignedBuffer, Counts, FeatureBound, FeatureSampler, Node, Nonzeros, Runs, Split,
)
from fasttree.engine.grow cimport BlockSource
from fasttree.engine.scan cimport Scanner
from fasttree.engine.simd cimport Simd, SortBuffers
from fasttree.utils._interrupt cimport Poll
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport int32_t, int64_t, uint32_t


cdef extern from "engine/order/sample.hpp" namespace "fasttree" nogil:
    cdef cppclass DenseSample:
        const DenseColumns& data
        vector[uint32_t] rows
        DenseSample(const DenseColumns& data, vector[uint32_t] rows) except +
        cbool has_list(uint32_t feature) noexcept
        void take_lists(DenseColumns& columns) noexcept
        vector[uint32_t] bits() except +
        void filter_list(uint32_t feature, const uint32_t* is_in) except +
        void sort_list(uint32_t feature, SortBuffers& buffers) except +

    cdef cppclass DenseWorkspace(BlockSource):
        vector[uint32_t] go_left
        AlignedBuffer[uint32_t] scratch
        DenseWorkspace(DenseSample& sample, Simd simd) except +
        Runs runs(uint32_t feature, uint32_t start, uint32_t end) except +
        uint32_t split_rows(const Split& split, uint32_t start, uint32_t end) except +
        void split_list(uint32_t feature, uint32_t start, uint32_t end, cbool with_left,
                        cbool with_right, const uint32_t* sides) noexcept
        void mark_halves(uint32_t start, uint32_t middle, uint32_t end) noexcept


cdef extern from "engine/order/count_tables.hpp" namespace "fasttree" nogil:
    cdef cppclass TableCells:
        pass

    cdef cppclass Deferred:
        Node node
        vector[uint32_t] known
        TableCells table

    vector[int] largest_first(const vector[Deferred]& deferred) except +

    cdef cppclass CountTables:
        CountTables(const DenseSample& sample, const Scanner& scanner, cbool forced) except +
        cbool counts(uint32_t feature, uint32_t n) noexcept
        cbool any(uint32_t n) noexcept
        int acquire() except +
        void release(int table) noexcept
        TableCells give(int table) noexcept
        int take(TableCells& cells) except +
        void fill(int table, uint32_t start, uint32_t end, const FeatureSampler& sampler,
                  uint32_t n_chosen, uint32_t share, uint32_t n_shares, Poll& poll) except +
        void fill_one(int table, uint32_t feature, uint32_t start, uint32_t end) except +
        cbool subtraction_pays(uint32_t n_larger, uint32_t n_smaller, cbool both) noexcept
        void subtract(int table, int sibling, uint32_t n, const FeatureSampler& sampler,
                      uint32_t share, uint32_t n_shares) except +
        Counts view(int table, uint32_t feature, uint32_t n) except +


cdef extern from "engine/order/sparse_lists.hpp" namespace "fasttree" nogil:
    const uint32_t UNSORTED

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
        cbool next_column(const FeatureBound& bound) noexcept
        uint32_t feature() noexcept
        const uint32_t* unsorted(uint32_t& n) noexcept
        void set_max_class_count(uint32_t max_class_count) noexcept
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
