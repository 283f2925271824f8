"""Partitioner: the rows of every node and the order of their values.

Nodes own a slice [start, end) of the rows. What threads share of a fit is made by `init`; what each
owns, the columns of its nodes (engine/search/node_columns.hpp), by `attach`.
"""
from fasttree.engine.columns cimport DenseColumns, Rows
from fasttree.engine.order cimport DenseSample
from fasttree.engine.scan cimport Scanner
from fasttree.engine.search cimport NodeColumns
from fasttree.tree._dense_columns cimport DenseColumnsOwner
from fasttree.tree._encoding cimport Encoding
from fasttree.tree._options cimport FitOptions
from fasttree.utils._crew cimport Leader
from fasttree.utils._std cimport shared_ptr, unique_ptr
from fasttree.utils._typedefs cimport uint32_t


cdef class Partitioner:
    cdef readonly uint32_t n_features
    cdef readonly uint32_t n_rows          # of the sample: the root's rows
    cdef unique_ptr[NodeColumns] columns

    # Rows in ascending order, which it takes.
    cdef int init(self, Encoding encoding, Rows& rows,
                  FitOptions options, Leader leader) except -1
    # Encodes what samples of an encoding that is shared will read.
    cdef int prepare(self, Encoding encoding, FitOptions options, Leader leader) except -1
    # Puts classes, given as bits by row, where scans read them from; once in a fit.
    cdef int put_classes(self, const uint32_t* class_bits, Leader leader) except -1
    cdef int attach(self, Scanner& scanner) except -1
    # The same rows and columns for another thread, to be attached.
    cdef Partitioner clone(self)


cdef class DensePartitioner(Partitioner):
    cdef DenseColumnsOwner owner
    cdef const DenseColumns* data          # the owner's
    cdef shared_ptr[DenseSample] sample
    cdef FitOptions options
