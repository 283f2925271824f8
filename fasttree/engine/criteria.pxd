"""The search by each criterion."""
from fasttree.engine.core cimport Targets
from fasttree.engine.grow cimport BlockSplitter, DrawnSplitter, KeySplitter
from fasttree.engine.scan cimport Scanner
from fasttree.utils._std cimport unique_ptr


cdef extern from "engine/criteria/searchers.hpp" namespace "fasttree":
    cdef cppclass Searcher:
        unique_ptr[Scanner] scanner
        unique_ptr[BlockSplitter] block_splitter
        unique_ptr[DrawnSplitter] drawn_splitter
        unique_ptr[KeySplitter] key_splitter


cdef extern from "engine/criteria/registry.hpp" namespace "fasttree":
    Searcher make_searcher_by(const char* criterion, const Targets&) except +
