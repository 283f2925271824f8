"""How a tree is to be grown: none of it, but for `sklearn_rules`, changes the tree."""
from fasttree.engine.simd cimport Simd


cdef enum Strategy:  # by which rows get in the order of a feature
    AUTO              # whichever is cheapest
    PRESORT
    COUNT
    SORT


cdef struct FitOptions:
    Strategy strategy
    bint sklearn_rules    # scikit-learn's draws, ties and scores
    bint depth_first
    int n_threads
    Simd simd
