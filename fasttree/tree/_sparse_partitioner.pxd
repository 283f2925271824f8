"""Partitioners of a sparse matrix: nonzeros listed per node, or extracted column by column."""
from fasttree.engine.order cimport Extraction, ExtractionData, ListData, ListWorkspace
from fasttree.engine.simd cimport Simd
from fasttree.tree._encoding cimport Encoding, SparseEncoding
from fasttree.tree._options cimport FitOptions
from fasttree.tree._partitioner cimport Partitioner
from fasttree.utils._crew cimport Leader
from fasttree.utils._std cimport shared_ptr, unique_ptr
from fasttree.utils._typedefs cimport uint32_t


# What both strategies share.
cdef class SparsePartitioner(Partitioner):
    cdef SparseEncoding encoding
    cdef Simd simd

    cdef int refer(self, Encoding encoding, FitOptions options) except -1
    cdef int share(self, SparsePartitioner other) except -1


cdef class ListPartitioner(SparsePartitioner):
    cdef shared_ptr[ListData] data
    cdef unique_ptr[ListWorkspace] workspace

    cdef int list_columns(self, Leader leader) except -1


cdef class ExtractionPartitioner(SparsePartitioner):
    cdef shared_ptr[ExtractionData] data
    cdef unique_ptr[Extraction] workspace

    cdef int make_workspace(self) except -1
