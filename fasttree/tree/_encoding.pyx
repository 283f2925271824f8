"""Encodings of dense and sparse matrices; `_dense_columns` makes those of a dense one."""
import threading

import numpy as np

from cython.operator cimport dereference as deref
from libc.stddef cimport ptrdiff_t
from scipy.sparse import issparse

from fasttree.engine.columns cimport BITS, COUNTED, RAW, WIDE, SparseData
from fasttree.engine.core cimport ROW, filtering_pays
from fasttree.engine.order cimport UNSORTED
from fasttree.engine.simd cimport best_simd
from fasttree.tree._options cimport AUTO, CODES, COUNT, PRESORT, SORT
from fasttree.utils._crew cimport lead
from fasttree.utils._std cimport make_shared

from fasttree.table._bit_matrix import BitMatrix
from fasttree.utils._finite import SOME_INFINITE, value_kind
from fasttree.utils._threads import effective_n_threads

# How columns may be stored under each strategy.
STORAGES = {AUTO: (RAW, COUNTED, BITS), COUNT: (COUNTED, WIDE, BITS), PRESORT: (RAW,),
            SORT: (RAW,)}


def encoding_of(X, n_categories=None, is_shared=False, check=None):
    """Return the encoding of a matrix, nothing of it made yet.

    Parameters
    ----------
    X : ndarray, CSC matrix or BitMatrix of shape (n_rows, n_features), float32
        A sparse matrix has sorted indices and no duplicates. Bits are zeros and ones, or codes in
        columns of categories; they are for a search of all columns in one fit.
    n_categories : ndarray of shape (n_features,), uint32, or None
        Number of categories that each column may hold, as cells of `_cell.hpp`; 0 for columns
        of numbers. None if there are numbers only.
    is_shared : bool, default=False
        Whether several fits are to read it.
    check : callable or None
        Of a dense X for one fit: called without arguments once X is encoded, unless that told that
        all cells are finite numbers. It may raise.
    """
    if check is not None and (is_shared or issparse(X)):
        raise ValueError("Only a dense matrix for one fit is checked once it is encoded.")
    if issparse(X):
        return SparseEncoding(X, n_categories, is_shared)
    return DenseEncoding(X, n_categories, is_shared, check)


def unpickled_encoding(X, n_categories, is_shared, made):
    """Return the encoding that a pickle holds, with what was made of it when it was pickled.

    Raises ValueError if its parts are not those of an encoding.
    """
    try:
        is_matrix = X.format == "csc" if issparse(X) else isinstance(X, np.ndarray) and X.ndim == 2
        if not is_matrix or X.dtype != np.float32:
            raise ValueError("Encoded data are a float32 matrix, dense or CSC.")
        encoding = encoding_of(X, n_categories, is_shared)
        encoding.borrow(made, effective_n_threads(None, X.size))
        return encoding
    except (TypeError, AttributeError, LookupError, OverflowError) as error:
        raise ValueError(f"These are no encoded data: {error}") from error


def arrays_of(thing):
    """The arrays in containers, those of sparse matrices among them."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif issparse(thing):
        yield from (thing.data, thing.indices, thing.indptr)
    elif isinstance(thing, (tuple, list, dict)):
        for part in thing.values() if isinstance(thing, dict) else thing:
            yield from arrays_of(part)


cdef class Encoding:
    """A matrix as the engine reads it (abstract); see `encoding_of`."""

    def __init__(self, X, const uint32_t[::1] n_categories, is_shared):
        if X.shape[0] > ROW:
            raise ValueError(f"A tree can be grown on {ROW} rows at most, got {X.shape[0]}.")
        self.X = X
        self.n_rows = <uint32_t> X.shape[0]
        self.n_features = <uint32_t> X.shape[1]
        self.n_categories = n_categories
        self.is_shared = is_shared
        if n_categories is not None and len(n_categories) != X.shape[1]:
            raise ValueError("The numbers of categories are not those of the columns.")

    def __reduce__(self):
        return unpickled_encoding, (self.X, self.category_counts, self.is_shared, self.made())

    def made(self):
        """What was made of X so far and pickles hold, as arrays."""
        raise TypeError(f"{type(self).__name__} is abstract")

    def borrow(self, made, n_threads):
        """Take what `made` says of another encoding of the same X, and check both."""
        raise TypeError(f"{type(self).__name__} is abstract")

    def prepare(self, n_threads):
        """Make now what a search of all features needs."""
        raise TypeError(f"{type(self).__name__} is abstract")

    @property
    def n_bytes(self):
        """Bytes of what a pickle holds: X, codes and lists."""
        return sum(array.nbytes for array in arrays_of((self.X, self.made())))

    @property
    def category_counts(self):
        """ndarray of shape (n_features,) or None: categories that each column may hold."""
        return None if self.n_categories is None else np.asarray(self.n_categories)


cdef class DenseEncoding(Encoding):
    """A dense matrix, of any memory order, or with bits."""

    def __init__(self, X, n_categories, is_shared, check=None):
        is_of_bits = isinstance(X, BitMatrix)
        if not is_of_bits and (X.strides[0] % 4 or X.strides[1] % 4):
            X = np.ascontiguousarray(X)
        super().__init__(X, n_categories, is_shared)
        self.cells = X.cells if is_of_bits else X
        self.words = X.words if is_of_bits else None
        self.check = check
        if is_shared:
            self.owners = {}
            self.lock = threading.RLock()

    cdef DenseColumnsOwner make_owner(self):
        """Columns of all rows, of which nothing is made."""
        cdef DenseColumnsOwner owner = DenseColumnsOwner()
        cdef DenseColumns* columns
        cdef const float32_t* cells = NULL
        cdef ptrdiff_t row_stride = 0, column_stride = 0
        cdef uint32_t i
        if self.cells is not None:
            cells = &self.cells[0, 0]
            row_stride, column_stride = self.cells.strides[0] // 4, self.cells.strides[1] // 4
        owner.columns = make_shared[DenseColumns](cells, row_stride, column_stride, self.n_rows,
                                                  self.n_features)
        columns = owner.columns.get()
        if self.n_categories is not None:
            for i in range(self.n_features):
                columns.columns[i].n_categories = self.n_categories[i]
        if self.words is not None:
            columns.take_bits(&self.words[0, 0], <vector[uint32_t]> self.X.columns)
        return owner

    cdef DenseColumnsOwner encoded(self, Rows& rows, FitOptions options, Leader leader):
        """Encoded columns: those that all fits share, or of the rows named; none name all rows."""
        cdef DenseColumnsOwner owner
        cdef Strategy strategy = options.strategy
        cdef bint with_keys = options.with_keys
        if not self.is_shared:
            owner = self.make_owner()
            owner.columns.get().rows.swap(rows)
            owner.is_of_one_fit = True
            owner.encode(options, leader)
            if self.check is not None and not owner.columns.get().are_finite():
                self.check(leader)
            owner.columns.get().rows.swap(rows)  # the one sample that reads the columns owns them
            return owner
        with self.lock:
            # A signal's handler that fits meanwhile finds none and makes its own.
            owner = self.owners.pop((strategy, with_keys), None)
            if owner is None:
                owner = self.make_owner()
                owner.encode(options, leader)
            elif options.with_lists and not owner.is_listed:
                owner.add_lists(leader)
            self.owners[strategy, with_keys] = owner
        return owner

    def made(self):
        if not self.is_shared:
            return {}
        with self.lock:
            return {strategy: (<DenseColumnsOwner> owner).made()
                    for (strategy, with_keys), owner in self.owners.items()
                    if not with_keys and strategy != CODES}

    def borrow(self, made, n_threads):
        lead(n_threads, self._borrow, (made,))

    def _borrow(self, Leader leader, made):
        cdef DenseColumnsOwner owner
        if not made:
            self.make_owner().check(leader)
        for strategy, arrays in made.items():
            if not np.isin(arrays["storage"], STORAGES[strategy]).all():
                raise ValueError("Encoded data are not stored as their strategy demands.")
            owner = self.make_owner()
            owner.borrow(arrays, strategy, leader)
            self.owners[strategy, False] = owner

    def prepare(self, n_threads):
        lead(n_threads, self._prepare, ())

    def _prepare(self, Leader leader):
        cdef Rows rows
        cdef FitOptions options
        options.strategy = AUTO
        options.with_lists = True
        options.with_keys = False
        options.n_threads = leader.crew.get().size()
        options.simd = best_simd()
        self.encoded(rows, options, leader)

    cdef int fill_lists(self, DenseSample* sample, DenseColumns* columns,
                        FitOptions options, Leader leader) except -1:
        """Give a sample its lists: those of its own fit, or copies of the shared ones."""
        cdef bint filtered = filtering_pays(columns.rows.size(), sample.rows.size())
        if not self.is_shared:
            sample.take_lists(columns[0])
            return 0
        with nogil:
            leader.raise_unless(sample.copy_lists(filtered, options.simd, deref(leader.crew)))
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
        self.row_features = make_shared[RowFeatures]()
        if is_shared:
            self.sorted = make_shared[SortedNonzeros](
                &self.values[0], &self.indices[0], &self.indptr[0], self.n_rows, self.n_features)

    @property
    def n_sorted(self):
        """Number of columns that a fit has sorted for all of them."""
        if not self.is_shared:
            return 0
        return sum(self.sorted.get().has_sorted(f) for f in range(self.n_features))

    def made(self):
        return {}  # the matrix is all there is to read; columns are sorted as fits need them

    def borrow(self, made, n_threads):
        if made or self.n_categories is not None:
            raise ValueError("Nothing but the matrix is kept of a sparse encoding.")
        used = np.asarray(self.values)[np.newaxis, :self.indptr[self.n_features]]
        if value_kind(used, n_threads) == SOME_INFINITE:
            raise ValueError("Encoded data hold infinities.")

    def prepare(self, int n_threads):
        pass
