"""The nodes of a tree while it grows."""
from libc.stddef cimport size_t
from libcpp cimport bool as cbool

from fasttree.engine.core cimport Limits, Node, NodeRecord, Split
from fasttree.engine.simd cimport Simd
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
        cbool sklearn_rules
        cbool category_sets
        cbool is_terminal(const Node& node) noexcept
        double improvement(const Node& node, const Node& left, const Node& right) noexcept
        cbool accepts(double improvement) noexcept
        void make_children(const Node& node, const Split& split, uint32_t middle, Node& left,
                           Node& right) noexcept
        Limits limits_of(const Node& node, uint32_t feature) noexcept
        void clip(const Node& node, vector[double]& value) noexcept


cdef extern from "engine/grow/block.hpp" namespace "fasttree" nogil:
    const uint32_t BLOCK_ROWS

    cdef cppclass BlockSource:
        pass

    cdef cppclass Block:
        Block(BlockSource& source, Simd simd, uint32_t n_rows, uint32_t n_features) except +
        void open(uint32_t start, uint32_t end, const uint32_t* rows) noexcept


cdef extern from "engine/grow/nodes.hpp" namespace "fasttree" nogil:
    cdef cppclass NodeStore:
        NodeStore() noexcept
        NodeStore(size_t value_size) except +
        uint32_t append(const Node& node, const vector[double]& value) except +
        void set_split(uint32_t record, const Split& split, uint32_t left) except +
        void begin_subtree(const NodeStore& main, uint32_t record) except +
        void set_missing_side(uint32_t record, cbool left) noexcept
        void set_subtree(uint32_t record, int subtree) noexcept

    cdef cppclass Open:            # a node of the frontier of best-first growth
        Node node
        Split split
        Node left
        Node right
        vector[double] left_value
        vector[double] right_value
        double improvement
        cbool is_leaf
        void take_values(const vector[double]& left, const vector[double]& right) except +

    cdef cppclass Frontier:
        Frontier(const NodeStore& store, cbool sklearn_rules) except +
        void push(Open& node) except +
        Open pop() noexcept
        cbool empty() noexcept

    size_t count_nodes(const NodeStore& main, const vector[NodeStore]& subtrees) noexcept

    cdef cppclass CategoryLists:
        vector[int64_t] nodes
        vector[int64_t] offsets
        vector[uint32_t] codes
        vector[uint8_t] listed_left

    cdef cppclass NodeWriter:
        NodeWriter(const NodeStore& main, const vector[NodeStore]& subtrees, NodeRecord* nodes,
                   double* values) except +
        void write_main(cbool as_grown) except +
        void write_subtree(int i) except +
        int max_depth() noexcept
        CategoryLists category_lists() except +
