"""SplitterCrew: the splitters of a fit's threads."""
from fasttree.engine.core cimport Node, SharedScore, Split, Totals
from fasttree.engine.grow cimport GrowthRules, Open
from fasttree.engine.order cimport Counting
from fasttree.engine.search cimport Division, WalkShares
from fasttree.tree._splitter cimport Splitter
from fasttree.utils._crew cimport CrewWork, Leader, Stage
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport uint32_t


# The search of a large node.
cdef struct Walk:
    Open* open
    SharedScore* found
    Split* best_of                    # by thread
    char* is_constant                 # by feature
    Stage* handed_down                # pieces of what the parent leaves to the node: come first


# The totals of a node, by part of its rows.
cdef struct TotalsInParts:
    const Node* node
    int n_parts
    Totals* of_part


cdef class SplitterCrew:
    cdef Splitter splitter            # of the thread that leads
    cdef list splitters               # one per thread
    cdef vector[void*] workers        # the same, for code without the GIL
    cdef readonly int n_threads
    cdef Leader leader
    cdef WalkShares shares            # of walks through the features of large nodes
    # What a large node leaves to its children, until it has been divided and counted.
    cdef Division division
    cdef Counting counting
    cdef uint32_t n_steps             # of a part of the division
    cdef bint is_handing_down

    cdef int close(self) except -1
    cdef int share_out(self, int n, CrewWork work, void* owner, void* shared) except -1 nogil
    cdef int take_rules(self, const GrowthRules& rules) except -1 nogil
    # Whether threads share what is done of a node.
    cdef bint is_large(self, const Node& node) noexcept nogil
    # Rows of the largest node that is not.
    cdef uint32_t largest_subtree(self) noexcept nogil
    # Whether they share the search of its split.
    cdef bint searches(self, const Node& node) noexcept nogil

    cdef int search_share(self, int thread, int i, Walk& walk) except -1 nogil
    cdef int divide_part(self, int thread, int part) except -1 nogil
    cdef void end_handing_down(self) noexcept nogil

    # What a splitter does of a node alone.
    cdef int find_split(self, Open& open) except -1 nogil
    cdef int divide(self, Open& open) except -1 nogil
    # Totals of a node's rows; none if the criterion has none.
    cdef int count_totals(self, const Node& node, Totals& out) except -1 nogil
    # Divides what is kept of a node, in so many parts, and counts tables of its children: now, or
    # in the search of a child, which must come next.
    cdef int hand_down(self, Division& division, Counting& counting, int n_parts,
                       uint32_t n_steps, bint is_child_next) except -1 nogil
