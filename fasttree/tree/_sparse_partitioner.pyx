"""Partitioner of a sparse matrix; `_sparse.hpp` holds the loops.

Lists cost a sort of every column once and O(nonzeros of the node) per split; extraction costs
the shorter of a walk over the column and a search of it per feature looked at.
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from cython.operator cimport dereference as deref
from cython.parallel cimport prange, threadid
from libcpp.vector cimport vector

from fasttree.tree._engine cimport NO_FEATURE
from fasttree.utils._typedefs cimport float32_t, float64_t

# Parts of the lists per thread: they may turn out to be of unequal work.
cdef int PARTS_PER_THREAD = 4


cdef class SparsePartitioner(Partitioner):
    """Partitioner of a CSC matrix with sorted indices and no duplicates."""

    cdef int init(self, object X, const float64_t[::1] sample_weight, str strategy,
                  bint with_lists, int n_threads, Simd simd) except -1:
        cdef const float32_t[::1] values = X.data
        cdef const int32_t[::1] indices
        cdef const int64_t[::1] indptr
        cdef SparseData* data
        cdef uint32_t i
        _check_csc(X)
        indices = np.ascontiguousarray(X.indices, dtype=np.int32)
        indptr = np.ascontiguousarray(X.indptr, dtype=np.int64)
        if values.shape[0] == 0:  # pointers to something
            values = np.zeros(1, dtype=np.float32)
            indices = np.zeros(1, dtype=np.int32)
        self.arrays = (values, indices, indptr)
        self.simd = simd
        self.is_sparse = True
        self.no_columns.reset(new DenseData(NULL, 0, 0, 0, 0))
        self.n_features = <uint32_t> X.shape[1]
        data = new SparseData(&values[0], &indices[0], &indptr[0], <uint32_t> X.shape[0],
                              self.n_features)
        self.data.reset(data)
        for i in range(<uint32_t> X.shape[0]):
            if sample_weight is None or sample_weight[i] != 0.0:
                data.add_row(i)
        self.n_rows = <uint32_t> data.rows.size()
        if strategy == "sort" or (strategy == "auto" and not with_lists):
            data.allocate_positions()
        else:
            self.has_lists = True
            data.allocate_lists(1 if n_threads == 1 else PARTS_PER_THREAD * n_threads, self.least)
        self.workspace.reset(new SparseWorkspace(deref(data), simd))
        if self.has_lists:
            self.sort_columns(n_threads)
        return 0

    cdef int sort_columns(self, int n_threads) except -1:
        """Sort all columns, a few million nonzeros at a time on each thread."""
        cdef int part, n_parts = <int> self.data.get().n_parts()
        cdef list crew = [self] + [self.clone() for _ in range(n_threads - 1)]
        cdef vector[void*] workers
        for worker in crew:
            workers.push_back(<void*> worker)
        while not self.data.get().is_sorted():
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="dynamic"):
                (<SparsePartitioner> workers[threadid()]).sort_part(part)
            PyErr_CheckSignals()
        return 0

    cdef int sort_part(self, uint32_t part) except -1 nogil:
        self.workspace.get().sort_part(part)
        return 0

    cdef Partitioner clone(self):
        cdef SparsePartitioner other = SparsePartitioner()
        other.arrays = self.arrays
        other.simd = self.simd
        other.is_sparse = True
        other.has_lists = self.has_lists
        other.least = self.least
        other.n_features = self.n_features
        other.n_rows = self.n_rows
        other.data = self.data
        other.no_columns = self.no_columns
        other.workspace.reset(new SparseWorkspace(deref(self.data.get()), self.simd))
        return other

    cdef const DenseData* dense_columns(self) noexcept:
        return self.no_columns.get()

    cdef const uint32_t* node_rows(self, uint32_t start, uint32_t end) except NULL nogil:
        return self.workspace.get().node_rows(start, end)

    cdef float value(self, uint32_t row, uint32_t feature) noexcept nogil:
        return self.data.get().value(row, feature)

    cdef int nonzeros(self, uint32_t feature, const Node& node, Nonzeros* out) except -1 nogil:
        out[0] = self.workspace.get().nonzeros(feature, node)
        return 0

    cdef int listed_side(self, const Nonzeros& nonzeros, uint32_t n_values_left,
                         bint missing_left, Nonzeros* out) except -1 nogil:
        out[0] = self.workspace.get().listed_side(nonzeros, n_values_left, missing_left)
        return 0

    cdef uint32_t n_parts(self) noexcept nogil:
        return self.data.get().n_parts() if self.has_lists else self.n_features

    cdef void begin_part(self, const Node& node, uint32_t part) noexcept nogil:
        self.workspace.get().begin_part(node, part)

    cdef uint32_t next_feature(self, uint32_t least) noexcept nogil:
        if not self.workspace.get().next_column(least):
            return NO_FEATURE
        return self.workspace.get().feature()

    cdef void found_constant(self) noexcept nogil:
        self.workspace.get().drop_column()

    cdef uint32_t split_rows(self, const Split& split, const Node& node) except? 0 nogil:
        return self.workspace.get().split_rows(split, node)

    cdef const uint32_t* sides(self) noexcept nogil:
        return self.workspace.get().sides()

    cdef void restore_sides(self, uint32_t start, uint32_t middle, uint32_t end) noexcept nogil:
        self.workspace.get().mark_halves(start, middle, end)

    cdef int begin_split(self, const Node& left, const Node& right, bint with_left,
                         bint with_right) except -1 nogil:
        return <int> self.workspace.get().begin_split(left, right, with_left, with_right)

    cdef int split_part(self, uint32_t part, const Node& left, const Node& right, bint with_left,
                        bint with_right, const uint32_t* sides) except -1 nogil:
        self.workspace.get().split_part(part, left, right, with_left, with_right, sides)
        return 0

    cdef void end_split(self, const Node& left, const Node& right, bint with_left,
                        bint with_right) noexcept nogil:
        self.workspace.get().end_split(left, right, with_left, with_right)


def _check_csc(X):
    """Raise ValueError if the arrays of a CSC matrix contradict each other."""
    X.check_format(full_check=False)
    if X.indices.size and not 0 <= X.indices.min() <= X.indices.max() < X.shape[0]:
        raise ValueError("A row index of the CSC matrix is out of range.")
    if np.any(np.diff(X.indptr) < 0):
        raise ValueError("The column pointers of the CSC matrix decrease.")
