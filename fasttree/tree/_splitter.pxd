"""Splitter: the search for a node's best split.

One splitter serves one thread: it has a criterion (a clone of the fit's), the columns of its own
partitioner, a sampler, and a walk through the features that a node looks at.
"""
from fasttree.engine.core cimport FeatureSampler, Node, Split, Totals
from fasttree.engine.grow cimport GrowthRules, NodeStore, Open, SubtreeSplitter
from fasttree.engine.order cimport Counting
from fasttree.engine.scan cimport Scanner
from fasttree.engine.search cimport Division, FeatureWalk, NodeColumns
from fasttree.tree._criterion cimport Criterion
from fasttree.tree._encoding cimport Encoding
from fasttree.tree._options cimport FitOptions
from fasttree.tree._partitioner cimport Partitioner
from fasttree.utils._crew cimport Crew, Leader
from fasttree.utils._interrupt cimport Interrupt, Steps
from fasttree.utils._std cimport unique_ptr, vector
from fasttree.utils._typedefs cimport float64_t, int8_t, intp_t, uint32_t, uint64_t


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
    cdef NodeColumns* columns                # the partitioner's
    cdef Scanner* scanner                    # the criterion's, as is the next one
    cdef SubtreeSplitter* subtree_splitter   # of the subtree opened last
    cdef unique_ptr[FeatureSampler] sampler
    cdef unique_ptr[FeatureWalk] walk
    cdef bint draws                          # nodes look at some of the features only
    cdef GrowthRules rules                   # completed by the builder
    cdef uint64_t seed
    cdef uint32_t current_start, current_end     # node the scanner holds
    cdef const uint32_t* current_rows
    cdef Steps steps

    # The sample is `rows` of the encoding, or all of them, and y and weights are theirs.
    cdef int init(self, Encoding encoding, y, sample_weight,
                  const uint32_t[::1] rows, FitOptions options, Leader leader) except -1
    cdef int settle_options(self, Encoding encoding, FitOptions& options) except -1
    # Encodes what `init` with the same options will read of an encoding that is shared.
    cdef int prepare(self, Encoding encoding, FitOptions options, Leader leader) except -1
    # Gives the memory back that only growth needs.
    cdef int close(self) except -1
    cdef Splitter clone(self)
    cdef int attach(self, Interrupt interrupt) except -1
    # Whether features are read in ascending order.
    cdef bint reads_order(self) except -1

    # Totals may be empty.
    cdef int begin_node(self, const Node& node, const Totals& totals) except -1 nogil
    cdef int node_stats(self, Node& node, const Totals& totals,
                        vector[double]& value) except -1 nogil
    # The best split; 0 if there is none.
    cdef int find_split(self, Node& node, const Totals& totals, Split& best) except -1 nogil
    # Looks at the features of a walk that was begun; flags those that are constant in the node.
    cdef int look(self, const Node& node, Split& best, char* is_constant) except -1 nogil
    # Looks at one feature; 1 if it is constant in the node.
    cdef int evaluate(self, const Node& node, uint32_t feature, Split& best) except -1 nogil
    cdef void settle_threshold(self, Split& best) noexcept nogil
    # Divides a node by the split that was found; returns 1.
    cdef int divide(self, Open& open) except -1 nogil
    # The same but for totals, statistics and values of the children; a crew, if there is one,
    # shares rows.
    cdef int divide_rows(self, Open& open, Crew* crew) except -1 nogil
    # Totals of a part of a node's rows, as if it were a node.
    cdef int totals_of_part(self, const Node& rows, Totals& out) except -1 nogil
    # Statistics and values of both children; returns 1.
    cdef int children_stats(self, Open& open) except -1 nogil
    # Both at once, in a subtree that is grown in one place.
    cdef int split_in_subtree(self, Open& open) except -1 nogil
    # All that is below a node of one, if that is cheaper; else 0.
    cdef bint grow_at_once(self, Node& node, NodeStore& store) except -1 nogil
    cdef int begin_subtree(self, Node& root) except -1 nogil
    # Takes the root of one; returns what splits its nodes.
    cdef SubtreeSplitter* open_subtree(self, Node& root) except NULL nogil

    # Shares of work on what is kept of a node: of this splitter's columns, of the `owner`'s.
    cdef int divide_part(self, uint32_t part, uint32_t n_steps, const Division& division,
                         const FeatureSampler& sampler) except -1 nogil
    cdef int count_share(self, Splitter owner, const Counting& counting, int thread,
                         uint32_t share) except -1 nogil
    # Gives up what is known of a node.
    cdef void forget(self, Node& node) noexcept nogil


cdef class BestSplitter(Splitter):
    pass


cdef class RandomSplitter(Splitter):
    pass
