"""How a tree is to be grown: none of it, but for `replay`, changes the tree."""
from fasttree.engine.simd cimport Simd
from fasttree.utils._typedefs cimport uint32_t


cdef enum Strategy:  # by which rows get in the order of a feature
    AUTO              # whichever is cheapest
    PRESORT
    COUNT
    SORT
    CODES             # as they are, and codes of few values, for questions that are drawn


cdef struct FitOptions:
    Strategy strategy
    bint replay           # scikit-learn's draws, ties and scores
    bint depth_first
    int n_threads
    Simd simd
    # Of the columns, by the features that nodes look at; the splitter's.
    bint with_lists       # columns that are not coded are kept in order
    bint is_drawn         # questions are drawn, not searched for
    uint32_t n_looked     # features that a node looks at
    bint with_keys        # nodes read keys of all columns
    uint32_t least        # columns of fewer nonzeros split no node
