"""TreeBuilder: the order in which nodes are grown, and on which threads."""
from libcpp cimport bool as cbool

from fasttree.engine.core cimport Node, Split
from fasttree.engine.grow cimport GrowthRules, NodeStore, NodeWriter, Open
from fasttree.engine.order cimport Deferred
from fasttree.tree._splitter cimport Splitter
from fasttree.utils._interrupt cimport Turns
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport float64_t, intp_t, uint32_t


cdef class TreeBuilder:
    cdef readonly Splitter splitter
    cdef readonly intp_t min_samples_split
    cdef readonly intp_t min_samples_leaf
    cdef readonly float64_t min_weight_leaf
    cdef readonly intp_t max_depth
    cdef readonly float64_t min_impurity_decrease

    cdef GrowthRules rules
    cdef int n_threads
    cdef list crew                    # splitters, one per thread; crew[0] is `splitter`
    cdef vector[void*] workers        # the same, for code without the GIL
    cdef NodeStore store
    cdef vector[NodeStore] subtrees

    cdef int write_subtree(self, NodeWriter& writer, int i) except -1 nogil
    cdef int make_root(self, Node& root) except -1 nogil
    cdef int search(self, Splitter splitter, Node& node, Split& split, Node& left,
                    Node& right, double* improvement) except -1 nogil
    cdef int find_in_parallel(self, Node& node, Split& best) except -1 nogil
    cdef int evaluate_share(self, int thread, Turns& turns, const Node& node, Split& best,
                            char* is_constant) except -1 nogil
    cdef int wait(self, int thread, Turns& turns) except -1 nogil
    cdef int search_part(self, int thread, const Node& node, uint32_t part,
                         Split& best) except -1 nogil
    cdef int take_best(self, vector[Split]& best_of, Split& best) except -1 nogil
    cdef int split_lists(self, Splitter splitter, const Node& left, const Node& right,
                         int n_threads) except -1 nogil
    cdef int grow(self) except -1
    cdef bint as_grown(self)


cdef class DepthFirstTreeBuilder(TreeBuilder):
    cdef int grow_subtree(self, Splitter splitter, NodeStore& store, Node root,
                          uint32_t defer_below, vector[Deferred]& deferred) except -1 nogil
    cdef int grow_share(self, int thread, Turns& turns, vector[Deferred]& deferred,
                        const vector[int]& order) except -1 nogil
    cdef int grow_deferred(self, int thread, Deferred& deferred, int subtree) except -1 nogil


cdef class BestFirstTreeBuilder(TreeBuilder):
    cdef readonly intp_t max_leaf_nodes

    cdef int open_node(self, Node& node, Open& out) except -1 nogil
