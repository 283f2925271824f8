"""TreeBuilder: the order in which nodes are grown, and on which threads."""
from libc.stddef cimport size_t

from fasttree.engine.core cimport Node, Totals
from fasttree.engine.grow cimport (
    Deferred, Frontier, GrowthRules, NodeStore, NodeWriter, Open, Subtrees
)
from fasttree.tree._encoding cimport Encoding
from fasttree.tree._options cimport FitOptions
from fasttree.tree._splitter cimport Splitter
from fasttree.tree._tree cimport Tree
from fasttree.tree.fitted._node_arrays cimport TreeMemory
from fasttree.tree.growth._splitter_crew cimport SplitterCrew
from fasttree.utils._crew cimport CrewWork, Leader
from fasttree.utils._std cimport unique_ptr
from fasttree.utils._typedefs cimport float64_t, intp_t, uint32_t


cdef class TreeBuilder:
    cdef readonly Splitter splitter
    cdef readonly intp_t min_samples_split
    cdef readonly intp_t min_samples_leaf
    cdef readonly float64_t min_weight_leaf
    cdef readonly intp_t max_depth
    cdef readonly float64_t min_impurity_decrease
    cdef readonly size_t n_subtrees   # that were left to other threads in the last build
    cdef readonly size_t n_beside     # those that were grown beside large nodes

    cdef GrowthRules rules
    cdef SplitterCrew crew            # of the build
    cdef bint gives_back              # memory of rows that have been grown
    cdef NodeStore store
    cdef Subtrees subtrees            # grown by whichever thread is free
    # A small child that is divided with the search of the other one, and left to others then.
    cdef Node sibling
    cdef bint is_sibling_left

    # All that subclasses differ in.
    cdef unique_ptr[Frontier] make_frontier(self) except *

    cdef FitOptions options(self, int n_threads, str strategy, bint replay, str simd) except *
    cdef int write(self, Tree tree, Encoding encoding, TreeMemory memory,
                   bint as_grown) except -1
    cdef int make_root(self, Node& root) except -1 nogil
    cdef int grow(self) except -1
    cdef int grow_on_threads(self, Frontier& frontier, const Node& root) except -1 nogil
    # Of pieces in order, the longest first.
    cdef int share_out(self, int n, CrewWork work, void* shared) except -1 nogil

    # Grows what is below `root`; nodes of up to `defer_below` rows are left to others, and large
    # ones to threads that have none.
    cdef int grow_below(self, Splitter splitter, NodeStore& store, Frontier& frontier,
                        const Node& root, uint32_t defer_below) except -1 nogil
    # May take the totals.
    cdef int put(self, Splitter splitter, NodeStore& store, Frontier& frontier, const Node& node,
                 Totals& totals, Open& open, uint32_t defer_below) except -1 nogil
    cdef int expand(self, Splitter splitter, NodeStore& store, Open& open,
                    bint is_ranked) except -1 nogil
    cdef int find(self, Splitter splitter, Open& open) except -1 nogil
    cdef int hand_down(self, Splitter splitter, Open& open, bint is_ranked) except -1 nogil
    # Whether a node that is not left to another thread, or with its table, reads one.
    cdef bint reads_table(self, Splitter splitter, const Node& node,
                          bint may_be_deferred) noexcept nogil

    # Leaves what is below a node to another thread.
    cdef int defer(self, Splitter splitter, NodeStore& store, const Node& node,
                   bint with_table) except -1 nogil
    # The same of a child of a large node, with its table if that pays.
    cdef int leave(self, Splitter splitter, NodeStore& store, const Node& node) except -1 nogil
    cdef int grow_subtrees(self, int thread) except -1 nogil
    cdef int grow_smallest_subtree(self, int thread) except -1 nogil
    cdef int grow_subtree(self, int thread, Deferred& deferred) except -1 nogil


cdef class DepthFirstTreeBuilder(TreeBuilder):
    pass


cdef class BestFirstTreeBuilder(TreeBuilder):
    cdef readonly intp_t max_leaf_nodes
