"""The search by each criterion."""
from fasttree.engine.core cimport Targets
from fasttree.engine.grow cimport BlockSplitter, DrawnSplitter
from fasttree.engine.scan cimport Scanner
from fasttree.utils._std cimport unique_ptr


cdef extern from "engine/criteria/searchers.hpp" namespace "fasttree":
    cdef cppclass Searcher:
        unique_ptr[Scanner] scanner
        unique_ptr[BlockSplitter] block_splitter
        unique_ptr[DrawnSplitter] drawn_splitter

    Searcher make_gini(const Targets&) except +
    Searcher make_entropy(const Targets&) except +
    Searcher make_chi_square(const Targets&) except +
    Searcher make_squared_error(const Targets&) except +
    Searcher make_poisson(const Targets&) except +
    Searcher make_absolute_error(const Targets&) except +
    Searcher make_target_split(const Targets&) except +
