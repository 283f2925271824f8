"""The nodes of a tree while it grows."""
from libc.stddef cimport size_t
from libcpp cimport bool as cbool

from fasttree.engine.core cimport (
    CompactNodes, CompactValues, FeatureSampler, Limits, Node, NodeStats, Split, Ties, Totals
)
from fasttree.engine.order cimport Block, DenseSample, TableCells
from fasttree.engine.search cimport KeyedNodeColumns
from fasttree.utils._crew cimport Crew
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport int64_t, int8_t, uint32_t, uint8_t


cdef extern from "engine/grow/rules.hpp" namespace "fasttree" nogil:
    cdef cppclass GrowthRules:
        int64_t max_depth
        int64_t min_samples_split
        int64_t min_samples_leaf
        double min_weight_leaf
        double min_impurity_decrease
        double epsilon
        double root_weight
        const int8_t* monotonic_cst
        Ties ties
        cbool category_sets
        cbool is_terminal(const Node& node) noexcept
        double improvement(const NodeStats& node, const NodeStats& left,
                           const NodeStats& right) noexcept
        cbool accepts(double improvement) noexcept
        void make_children(const Node& node, const Split& split, uint32_t middle, Node& left,
                           Node& right) noexcept
        Limits limits_of(const Node& node, uint32_t feature) noexcept
        Limits common_limits() noexcept
        void clip(const Node& node, vector[double]& value) noexcept


cdef extern from "engine/grow/nodes.hpp" namespace "fasttree" nogil:
    cdef cppclass NodeStore:
        NodeStore() noexcept
        uint32_t append(const Node& node, const vector[double]& value) except +
        void set_split(uint32_t record, const Split& split, uint32_t left) except +
        void finish() noexcept

    cdef cppclass SubtreeStores:
        size_t size() noexcept


cdef extern from "engine/grow/node_writer.hpp" namespace "fasttree" nogil:
    size_t count_nodes(const NodeStore& main, const SubtreeStores& subtrees) noexcept
    size_t count_values(const NodeStore& main, const SubtreeStores& subtrees) noexcept

    cdef cppclass CategoryLists:
        vector[int64_t] nodes
        vector[int64_t] offsets
        vector[uint32_t] codes
        vector[uint8_t] listed_left

    cdef cppclass NodeWriter:
        NodeWriter(const NodeStore& main, const SubtreeStores& subtrees, CompactNodes& nodes,
                   CompactValues& values) except +
        int n_turns() noexcept
        void write_subtree(int turn) except +
        void write_main(cbool as_grown) except +
        int max_depth() noexcept
        CategoryLists category_lists() except +


cdef extern from "engine/grow/node_stores.hpp" namespace "fasttree" nogil:
    cdef cppclass NodeStores:
        NodeStores() noexcept
        void take(size_t value_size, NodeStore& out) except +
        void give_back(NodeStore& store) except +


cdef extern from "engine/grow/frontier.hpp" namespace "fasttree" nogil:
    cdef cppclass Open:
        Node node
        Node left
        Node right
        Totals totals
        Totals left_totals
        Totals right_totals
        Split split
        vector[double] left_value
        vector[double] right_value
        double improvement
        cbool is_leaf
        const Node& smaller() noexcept
        Totals& smaller_totals() noexcept
        void settle_totals() except +

    cdef cppclass Frontier:
        cbool is_ranked() noexcept
        void put(Open& open) except +
        cbool take(Open& open) noexcept
        cbool take_largest(uint32_t least, Node& node) noexcept

    cdef cppclass Stack(Frontier):
        Stack() except +

    cdef cppclass Heap(Frontier):
        Heap(NodeStore& store, Ties ties, int64_t n_splits) except +


cdef extern from "engine/grow/subtree_splitter.hpp" namespace "fasttree" nogil:
    cdef cppclass SubtreeSplitter:
        cbool split(const GrowthRules& rules, FeatureSampler& sampler, Open& open) except +
        cbool grow(const GrowthRules& rules, FeatureSampler& sampler, const Node& node,
                   NodeStore& store) except +


cdef extern from "engine/grow/block_splitter.hpp" namespace "fasttree" nogil:
    cdef cppclass BlockSplitter(SubtreeSplitter):
        void open(Block& block) except +


cdef extern from "engine/grow/drawn_splitter.hpp" namespace "fasttree" nogil:
    cdef cppclass DrawnSplitter(SubtreeSplitter):
        void open(DenseSample& sample, const Node& root, uint32_t n_looked) except +


cdef extern from "engine/grow/key_splitter.hpp" namespace "fasttree" nogil:
    cdef cppclass KeySplitter(SubtreeSplitter):
        void open(KeyedNodeColumns& columns) except +


cdef extern from "engine/grow/subtrees.hpp" namespace "fasttree" nogil:
    cdef cppclass Deferred:
        Node node
        vector[double] value
        vector[uint32_t] known
        TableCells table
        NodeStore* store

    cdef cppclass Subtrees:
        Subtrees() noexcept
        const SubtreeStores& stores() noexcept
        cbool empty() noexcept
        void put(Deferred& deferred, NodeStore& store) except +
        cbool is_wanted() noexcept
        cbool take(int thread, Crew& crew, Deferred& out) except +
        cbool take_smallest(Deferred& out) except +
        size_t n_beside() noexcept
        void finish() except +
        void stop() except +
        void clear() noexcept
