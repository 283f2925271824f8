"""Splitter: the search for a node's best split.

One splitter serves one thread: it owns a criterion (a clone of the fit's), a partitioner view and
a sampler. `find_split` looks at the features the sampler names, one scan per feature.
"""
from libcpp cimport bool as cbool

from fasttree.engine.core cimport Candidate, FeatureSampler, Limits, Node, Split
from fasttree.engine.grow cimport GrowthRules, NodeStore
from fasttree.engine.order cimport CountTables
from fasttree.engine.scan cimport Scanner
from fasttree.tree._criterion cimport Criterion
from fasttree.tree._encoding cimport Encoding
from fasttree.tree._options cimport FitOptions
from fasttree.tree._partitioner cimport Partitioner
from fasttree.utils._interrupt cimport Interrupt, Poll
from fasttree.utils._std cimport unique_ptr, vector
from fasttree.utils._typedefs cimport float64_t, int8_t, intp_t, uint8_t, uint32_t, uint64_t


cdef class Splitter:
    cdef readonly Criterion criterion
    cdef readonly intp_t max_features
    cdef readonly intp_t min_samples_leaf
    cdef readonly float64_t min_weight_leaf
    cdef readonly object random_state
    cdef const int8_t[::1] monotonic_cst
    cdef readonly bint with_monotonic_cst
    cdef readonly bint category_sets

    cdef Partitioner partitioner
    cdef Scanner* scanner
    cdef unique_ptr[FeatureSampler] sampler
    cdef unique_ptr[CountTables] tables      # dense columns only
    cdef CountTables* node_tables            # where the node's table is: own, or the master's
    cdef int scratch_table
    cdef bint draws                          # nodes look at some of the features only
    cdef GrowthRules rules                   # completed by the builder
    cdef bint count_forced
    cdef bint with_blocks
    cdef uint64_t seed
    cdef uint32_t current_start, current_end     # node the scanner holds
    cdef const uint32_t* current_rows
    cdef Interrupt interrupt                 # shared by the fit's threads
    cdef Poll steps
    cdef vector[double] left_value, right_value  # of the children of the node split last

    # The sample is `rows` of the encoding, or all of them, and y and weights are theirs.
    cdef int init(self, Encoding encoding, const float64_t[:, ::1] y,
                  const float64_t[::1] sample_weight, const uint32_t[::1] rows,
                  FitOptions options) except -1
    cdef Partitioner make_partitioner(self, Encoding encoding, const vector[uint32_t]& rows,
                                      FitOptions options)
    cdef int attach(self) except -1
    cdef Splitter clone(self)
    cdef void share_tables(self, CountTables* tables) noexcept nogil
    cdef bint searches_lists(self)

    cdef int begin_node(self, const Node& node) except -1 nogil
    cdef int node_stats(self, Node& node, vector[double]& value) except -1 nogil
    # A share of the features' counts, in the node's table.
    cdef int fill_table(self, const Node& node, uint32_t share, uint32_t n_shares) except -1 nogil
    cdef int find_split(self, Node& node, Split& best) except -1 nogil
    # The same of the features that the node lists.
    cdef int find_listed(self, const Node& node, Split& best) except -1 nogil
    cdef int search_part(self, const Node& node, uint32_t part, Split& best) except -1 nogil
    cdef int pass_tables(self, Node& node, Node& left, Node& right, bint with_left,
                         bint with_right, int n_threads) except -1 nogil
    cdef int fill_and_subtract(self, const Node& larger, const Node& smaller, uint32_t share,
                               uint32_t n_shares) except -1 nogil
    cdef void settle_threshold(self, Split& best) noexcept nogil
    cdef int check(self, Poll& steps) except -1 nogil
    # Counts steps; raises if the fit is to be given up.
    cdef int poll(self, uint64_t steps) except -1 nogil
    # Looks at one feature; 1 if it is constant in the node.
    cdef int evaluate(self, const Node& node, uint32_t feature, Split& best) except -1 nogil
    cdef int divide(self, const Node& node, const Split& split, Node& left,
                    Node& right) except -1 nogil
    cdef void take_rules(self, const GrowthRules& rules) noexcept nogil
    # Whether the node's subtree is grown as a block.
    cdef bint is_block(self, const Node& node) noexcept nogil
    # Grows what is below a node of few rows at once; 0 if that is not to be.
    cdef int grow_block(self, NodeStore& store, const Node& node) except -1 nogil


cdef class BestSplitter(Splitter):
    pass


# Of a feature in a node.
cdef struct Extremes:
    float low
    float high
    uint32_t n_missing


cdef class RandomSplitter(Splitter):
    cdef vector[float] cells          # of a column with categories in the node

    cdef Extremes extremes_of(self, const Node& node, uint32_t feature) noexcept nogil
    # Draw a question; 1 if the feature is constant in the node.
    cdef int draw_threshold(self, const Node& node, uint32_t feature, const Extremes& extremes,
                            Split& out) noexcept nogil
    cdef int draw_category(self, const Node& node, uint32_t feature, Split& out) except -1 nogil
    cdef int scan_sides(self, const Node& node, uint32_t feature, const Split& drawn,
                        const Limits& limits, Candidate& candidate) except -1 nogil
