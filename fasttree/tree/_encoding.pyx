"""Encodings of dense and sparse matrices; `engine/columns/` holds the loops.

Encoding costs O(n) for a column of few distinct values and a radix sort for others.
"""
import threading

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange, threadid
from libc.stddef cimport ptrdiff_t, size_t
from scipy.sparse import issparse

from fasttree.engine.columns cimport MAX_COUNTED, SparseData, TILE
from fasttree.engine.core cimport AlignedBuffer, filtering_pays
from fasttree.engine.order cimport UNSORTED
from fasttree.engine.simd cimport SortBuffers
from fasttree.tree._options cimport AUTO, COUNT
from fasttree.utils._std cimport make_shared


def encoding_of(X, n_categories=None, is_shared=False):
    """Return the encoding of a matrix, nothing of it made yet.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (n_rows, n_features), float32
        A sparse matrix has sorted indices and no duplicates.
    n_categories : ndarray of shape (n_features,), uint32, or None
        Number of categories that each column may hold, as cells of `_cell.hpp`; 0 for columns
        of numbers. None if there are numbers only.
    is_shared : bool, default=False
        Whether several fits are to read it.
    """
    return (SparseEncoding if issparse(X) else DenseEncoding)(X, n_categories, is_shared)


cdef class Encoding:
    """A matrix as the engine reads it (abstract); see `encoding_of`."""

    def __init__(self, X, const uint32_t[::1] n_categories, is_shared):
        self.X = X
        self.n_rows = <uint32_t> X.shape[0]
        self.n_features = <uint32_t> X.shape[1]
        self.n_categories = n_categories
        self.is_shared = is_shared

    @property
    def category_counts(self):
        """ndarray of shape (n_features,) or None: categories that each column may hold."""
        return None if self.n_categories is None else np.asarray(self.n_categories)


cdef class DenseColumnsOwner:

    cdef int encode(self, Strategy strategy, int n_threads) except -1:
        """Store every column in the way its search reads it."""
        cdef DenseColumns* columns = self.columns.get()
        cdef int part, n_parts
        cdef uint32_t step, n_steps
        columns.begin_encoding(n_threads)
        n_parts = columns.n_parts()
        if strategy == AUTO or strategy == COUNT:
            if columns.rows.size() <= MAX_COUNTED:
                self.count_few(n_threads)
            else:
                self.count(n_threads)
        if strategy == COUNT:
            self.add_lists(True, n_threads)
        columns.begin_interleaving()
        n_steps = columns.n_steps(columns.n_counted + columns.n_wide)
        for step in range(n_steps):
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="static"):
                columns.interleave(part, step, n_steps)
            self.poll()
        columns.end_interleaving()
        return 0

    cdef int count(self, int n_threads) except -1:
        """Code the columns of few values, as many at a time as threads have shares in."""
        cdef DenseColumns* columns = self.columns.get()
        cdef int n_features = <int> columns.columns.size()
        cdef int first = 0, last, share, f, n_shares
        cdef uint32_t step, n_steps = columns.n_steps(TILE)
        while first < n_features:
            last = min(first + <int> TILE * max(1, n_threads // <int> columns.n_parts()),
                       n_features)
            n_shares = columns.begin_counting(first, last)
            for step in range(n_steps):
                for share in prange(n_shares, nogil=True, num_threads=n_threads,
                                    schedule="dynamic"):
                    columns.count(share, step, n_steps)
                self.poll()
            for f in prange(first, last, nogil=True, num_threads=n_threads, schedule="static"):
                columns.settle_codes(f)
            first = last
        return 0

    cdef int count_few(self, int n_threads) except -1:
        """The same for few rows."""
        cdef DenseColumns* columns = self.columns.get()
        cdef int n_features = <int> columns.columns.size(), tile = <int> TILE
        cdef int first
        for first in prange(0, n_features, tile, nogil=True, num_threads=n_threads,
                            schedule="dynamic"):
            columns.count_few(first, min(first + tile, n_features))
            if threadid() == 0:
                self.poll()
        return 0

    cdef int add_lists(self, bint widened, int n_threads) except -1:
        """Sort the other columns, as many at a time as find room."""
        cdef DenseColumns* columns = self.columns.get()
        cdef vector[SortBuffers] buffers = vector[SortBuffers](n_threads)
        cdef AlignedBuffer[uint32_t] keys
        cdef vector[uint32_t] rest = columns.unlisted()
        cdef int part, i, n_parts = columns.n_parts()
        cdef size_t first = 0, last, n_columns = rest.size(), n_rows = columns.rows.size()
        cdef size_t n_batches = (n_columns + max(16, n_threads) - 1) // max(16, n_threads)
        cdef size_t batch_size = 0 if n_batches == 0 else (n_columns + n_batches - 1) // n_batches
        keys.reserve(batch_size * n_rows)
        while first < n_columns:
            last = min(first + batch_size, n_columns)
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="static"):
                columns.gather_keys(rest, first, last, part, keys.get())
            for i in prange(<int> (last - first), nogil=True, num_threads=n_threads,
                            schedule="dynamic"):
                columns.sort(rest[first + i], keys.get() + <size_t> i * n_rows, widened,
                             buffers[threadid()])
                if threadid() == 0:
                    self.poll()
            first = last
        self.is_listed = not widened
        return 0

    cdef int poll(self) except -1 nogil:
        """Let a signal interrupt the fit."""
        with gil:
            PyErr_CheckSignals()
        return 0


cdef class DenseEncoding(Encoding):
    """A dense matrix, of any memory order."""

    def __init__(self, X, n_categories, is_shared):
        if X.strides[0] % 4 or X.strides[1] % 4:
            X = np.ascontiguousarray(X)
        super().__init__(X, n_categories, is_shared)
        self.cells = X
        if is_shared:
            self.owners = {}
            self.lock = threading.Lock()

    cdef DenseColumnsOwner make_owner(self, const vector[uint32_t]* rows):
        """Columns of which nothing is made; of all rows if none are named."""
        cdef DenseColumnsOwner owner = DenseColumnsOwner()
        cdef DenseColumns* columns
        cdef uint32_t i
        owner.columns = make_shared[DenseColumns](
            &self.cells[0, 0], <ptrdiff_t> (self.cells.strides[0] // 4),
            <ptrdiff_t> (self.cells.strides[1] // 4), self.n_rows, self.n_features)
        columns = owner.columns.get()
        if rows != NULL:
            columns.take_rows(rows[0])
        else:
            columns.rows.resize(self.n_rows)
            for i in range(self.n_rows):
                columns.rows[i] = i
        if self.n_categories is not None:
            for i in range(self.n_features):
                columns.columns[i].n_categories = self.n_categories[i]
        return owner

    cdef DenseColumnsOwner encoded(self, const vector[uint32_t]& rows, Strategy strategy,
                                   bint with_lists, int n_threads):
        cdef DenseColumnsOwner owner
        if not self.is_shared:
            owner = self.make_owner(&rows)
            owner.encode(strategy, n_threads)
            if with_lists:
                owner.add_lists(False, n_threads)
            return owner
        with self.lock:
            owner = self.owners.get(strategy)
            if owner is None:
                owner = self.make_owner(NULL)
                owner.encode(strategy, n_threads)
                self.owners[strategy] = owner
            if with_lists and not owner.is_listed:
                owner.add_lists(False, n_threads)
        return owner

    cdef int fill_lists(self, DenseSample* sample, DenseColumns* columns,
                        int n_threads) except -1:
        """Give a sample its lists: those of its own fit, or copies of the shared ones."""
        cdef vector[SortBuffers] buffers = vector[SortBuffers](n_threads)
        cdef vector[uint32_t] is_in
        cdef bint filtered = filtering_pays(columns.rows.size(), sample.rows.size())
        cdef int f
        if not self.is_shared:
            sample.take_lists(columns[0])
            return 0
        is_in = sample.bits()
        for f in prange(<int> self.n_features, nogil=True, num_threads=n_threads,
                        schedule="dynamic"):
            if filtered:
                sample.filter_list(f, is_in.data())
            else:
                sample.sort_list(f, buffers[threadid()])
        return 0


cdef class SparseEncoding(Encoding):
    """A CSC matrix, checked."""

    def __init__(self, X, n_categories, is_shared):
        cdef SparseData* matrix
        super().__init__(X, n_categories, is_shared)
        if len(X.indptr) != X.shape[1] + 1 or len(X.indices) != len(X.data):
            raise ValueError("The arrays of the CSC matrix do not have the lengths they should.")
        if X.shape[1] >= UNSORTED:
            raise ValueError(f"A sparse matrix may have {UNSORTED - 1} columns, got {X.shape[1]}.")
        self.indptr = np.ascontiguousarray(X.indptr, dtype=np.int64)
        if len(X.data) > 0:
            self.values = np.ascontiguousarray(X.data, dtype=np.float32)
            self.indices = np.ascontiguousarray(X.indices, dtype=np.int32)
        else:  # pointers need something to point to
            self.values = np.zeros(1, dtype=np.float32)
            self.indices = np.zeros(1, dtype=np.int32)
        matrix = new SparseData(&self.values[0], &self.indices[0], &self.indptr[0], self.n_rows,
                                self.n_features)
        try:
            is_valid = matrix.is_valid(len(X.data))
        finally:
            del matrix
        if not is_valid:
            raise ValueError("The indices or column pointers of the CSC matrix are out of range, "
                             "or its indices are not in ascending order.")
