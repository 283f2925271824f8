"""Partitioner of dense columns; `engine/order/dense_workspace.hpp` holds the loops.

Dividing a node costs O(n) per list kept.
"""
from cython.operator cimport dereference as deref
from libcpp.utility cimport move

from fasttree.engine.core cimport subtree_size
from fasttree.engine.search cimport DenseNodeColumns, KeyedNodeColumns
from fasttree.tree._encoding cimport DenseEncoding
from fasttree.tree._options cimport AUTO, COUNT
from fasttree.utils._std cimport make_shared


cdef class Partitioner:
    """Rows of the nodes (abstract)."""

    cdef int init(self, Encoding encoding, Rows& rows,
                  FitOptions options, Leader leader) except -1:
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef int prepare(self, Encoding encoding, FitOptions options, Leader leader) except -1:
        return 0  # nodes encode what they read

    cdef int put_classes(self, const uint32_t* class_bits, Leader leader) except -1:
        return 0  # there are no lists that hold them

    cdef int attach(self, Scanner& scanner) except -1:
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef Partitioner clone(self):
        raise TypeError(f"{type(self).__name__} is abstract")


cdef class DensePartitioner(Partitioner):
    """Partitioner of a dense matrix."""

    cdef int init(self, Encoding encoding, Rows& rows,
                  FitOptions options, Leader leader) except -1:
        cdef DenseEncoding dense = <DenseEncoding?> encoding
        self.options = options
        self.n_features = dense.n_features
        self.owner = dense.encoded(rows, options, leader)
        self.data = self.owner.columns.get()
        with nogil:
            self.sample = make_shared[DenseSample](deref(self.data), move(rows),
                                                   deref(leader.crew))
        self.n_rows = <uint32_t> self.sample.get().rows.size()
        if options.with_lists:
            dense.fill_lists(self.sample.get(), self.owner.columns.get(), options, leader)
        return 0

    cdef int prepare(self, Encoding encoding, FitOptions options, Leader leader) except -1:
        cdef Rows all_rows
        if encoding.is_shared:
            (<DenseEncoding?> encoding).encoded(all_rows, options, leader)
        return 0

    cdef int put_classes(self, const uint32_t* class_bits, Leader leader) except -1:
        if self.options.with_lists:
            with nogil:
                leader.raise_unless(self.sample.get().put_classes(class_bits, deref(leader.crew)))
        return 0

    cdef int attach(self, Scanner& scanner) except -1:
        cdef bint count_forced = self.options.strategy == COUNT
        cdef bint with_blocks = self.options.strategy == AUTO and self.options.depth_first
        cdef bint in_one_place = self.options.is_drawn
        cdef KeyedNodeColumns* keyed
        if self.options.with_keys:
            with nogil:
                keyed = new KeyedNodeColumns(deref(self.sample), scanner, self.options.simd)
            self.columns.reset(keyed)
            in_one_place = keyed.has_labels() and not self.options.replay
        else:
            self.columns.reset(new DenseNodeColumns(
                deref(self.sample), scanner, self.options.simd, count_forced, with_blocks,
                not self.options.depth_first))
        if in_one_place and self.options.n_threads == 1:
            self.columns.get().block_rows = self.n_rows
        elif in_one_place and self.options.depth_first:
            self.columns.get().block_rows = subtree_size(self.n_rows, self.options.n_threads)
        return 0

    cdef Partitioner clone(self):
        cdef DensePartitioner other = DensePartitioner()
        other.options = self.options
        other.n_features = self.n_features
        other.n_rows = self.n_rows
        other.owner = self.owner
        other.data = self.data
        other.sample = self.sample
        return other
