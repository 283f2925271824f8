"""The search of a node: which features, read from what."""
from libcpp cimport bool as cbool

from fasttree.engine.core cimport (
    FeatureSampler, Limits, Node, SharedScore, Split, Ties, Totals
)
from fasttree.engine.order cimport (
    Block, CountTables, DenseSample, Extraction, ListWorkspace
)
from fasttree.engine.scan cimport Scanner
from fasttree.engine.simd cimport Simd
from fasttree.utils._crew cimport Crew
from fasttree.utils._interrupt cimport Poll
from fasttree.utils._std cimport unique_ptr, vector
from fasttree.utils._typedefs cimport uint32_t


cdef extern from "engine/search/feature_walk.hpp" namespace "fasttree" nogil:
    cdef cppclass FeatureWalk:
        uint32_t n_shares() noexcept
        cbool is_settled(uint32_t share) noexcept
        void begin(const Node& node, const uint32_t* rows) except +
        void begin_share(const Node& node, uint32_t share, SharedScore& found) except +
        double to_beat(double own) noexcept
        void report(double score) noexcept
        uint32_t next(const Split& best) except +
        void looked(cbool is_constant, const Split& best) except +
        uint32_t end() noexcept
        uint32_t end_shares(const Node& node, const vector[char]& is_constant) except +


cdef extern from "engine/search/walk_shares.hpp" namespace "fasttree" nogil:
    const int NO_LIST

    cdef cppclass WalkShare:
        uint32_t share
        uint32_t segment
        int list

    cdef cppclass WalkShares:
        WalkShares() except +
        WalkShares(uint32_t n_shares, const vector[uint32_t]& lists, uint32_t n_cut,
                   uint32_t n_threads) except +
        int size() noexcept
        const WalkShare& operator[](int i) noexcept
        const vector[uint32_t]& lists() noexcept
        void begin(int i) noexcept
        void end(int i) noexcept
        void sort_lists() except +


cdef extern from "engine/search/node_columns.hpp" namespace "fasttree" nogil:
    cdef cppclass Division:
        Node left
        Node right
        cbool with_left
        cbool with_right
        const uint32_t* sides
        uint32_t n_threads
        const vector[uint32_t]* lists
        cbool is_by_list
        uint32_t n_segments
        uint32_t n_cut_parts() noexcept
        cbool is_cut(uint32_t list) noexcept
        uint32_t part_of(uint32_t list) noexcept

    cdef cppclass NodeColumns:
        CountTables tables
        vector[uint32_t] listed_features
        unique_ptr[Block] block
        uint32_t block_rows
        void begin_share(const WalkShare& share, const CountTables& of_node) noexcept
        void end_share() noexcept
        cbool fits_block(const Node& node) noexcept
        void open_block(Node& node) except +
        unique_ptr[FeatureWalk] make_walk(FeatureSampler& sampler, Scanner& scanner, Poll& poll,
                                          const Limits& limits) except +
        uint32_t n_lists_in_segments(uint32_t n_threads) except +
        void finish_rows(uint32_t start, uint32_t end) noexcept
        const uint32_t* rows(const Node& node) except +
        void begin_node(const Node& node, const uint32_t* rows, const Totals& totals) except +
        float value(uint32_t row, uint32_t feature) noexcept
        cbool scan(const Node& node, uint32_t feature, const Limits& limits, double to_beat,
                   Split& best) except +
        uint32_t divide_rows(const Split& split, const Node& node, Crew* crew) except +
        const uint32_t* sides() noexcept
        uint32_t begin_division(Division& division) except +
        void divide_part(uint32_t part, const Division& division,
                         const FeatureSampler& sampler) except +
        void end_division(const Division& division) noexcept


cdef extern from "engine/search/drawn_look.hpp" namespace "fasttree" nogil:
    cbool look_at_drawn(NodeColumns& columns, FeatureSampler& sampler, const Ties& ties,
                        const Node& node, uint32_t feature, Limits limits, Split& best) except +


cdef extern from "engine/search/dense_columns.hpp" namespace "fasttree" nogil:
    cdef cppclass DenseNodeColumns(NodeColumns):
        DenseNodeColumns(DenseSample& sample, Scanner& scanner, Simd simd, cbool count_forced,
                         cbool with_blocks, cbool keeps_sides) except +


cdef extern from "engine/search/keyed_columns.hpp" namespace "fasttree" nogil:
    cdef cppclass KeyedNodeColumns(NodeColumns):
        KeyedNodeColumns(DenseSample& sample, Scanner& scanner, Simd simd) except +
        cbool has_labels() noexcept


cdef extern from "engine/search/sparse_columns.hpp" namespace "fasttree" nogil:
    cdef cppclass ListedNodeColumns(NodeColumns):
        ListedNodeColumns(ListWorkspace& workspace, Scanner& scanner) except +

    cdef cppclass ExtractedNodeColumns(NodeColumns):
        ExtractedNodeColumns(Extraction& workspace, Scanner& scanner) except +
