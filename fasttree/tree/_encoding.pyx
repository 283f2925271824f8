"""Encodings of dense and sparse matrices; `engine/columns/` holds the loops.

Encoding costs O(n) for a column of few distinct values and a radix sort for others.
"""
import threading

import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.exc cimport PyErr_CheckSignals
from cython.operator cimport dereference as deref
from cython.parallel cimport prange, threadid
from libc.stddef cimport ptrdiff_t, size_t
from scipy.sparse import issparse

from fasttree.engine.columns cimport (
    BITS, COMPARED_TOGETHER, COUNTED, KEYED, MAX_COUNTED, RAW, TILE, WIDE, BorrowedCodes,
    SparseData, are_consistent, borrow_codes,
)
from fasttree.engine.core cimport MIN_BIT_COLUMNS, AlignedBuffer, filtering_pays
from fasttree.engine.order cimport UNSORTED
from fasttree.engine.simd cimport SortBuffers, best_simd
from fasttree.tree._options cimport AUTO, CODES, COUNT, PRESORT, SORT
from fasttree.utils._std cimport make_shared
from fasttree.utils._typedefs cimport uint8_t

from fasttree.utils._finite import SOME_INFINITE, value_kind
from fasttree.utils._threads import effective_n_threads

# How columns may be stored under each strategy.
STORAGES = {AUTO: (RAW, COUNTED, BITS), COUNT: (COUNTED, WIDE, BITS), PRESORT: (RAW,),
            SORT: (RAW,)}


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


cdef int poll() except -1 nogil:
    """Let a signal interrupt what takes long."""
    with gil:
        PyErr_CheckSignals()
    return 0


cdef const void* checked(dict made, name, dtype, size, list kept) except? NULL:
    """The items of an array that was unpickled; they stay where they are if they are aligned."""
    array = made[name]
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != (size,):
        raise ValueError(f"The {name} of encoded data have not the form that they should have.")
    array = np.require(array, requirements=["C", "A"])
    kept.append(array)
    return <const void*> <size_t> array.ctypes.data


cdef class Encoding:
    """A matrix as the engine reads it (abstract); see `encoding_of`."""

    def __init__(self, X, const uint32_t[::1] n_categories, is_shared):
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


cdef class ColumnsMemory:
    """Memory of encoded columns for NumPy, read-only; it stays as long as arrays refer to it."""
    cdef shared_ptr[DenseColumns] owner
    cdef const void* items
    cdef Py_ssize_t n_bytes

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, <void*> self.items, self.n_bytes, 1, flags)


cdef class DenseColumnsOwner:

    cdef int encode(self, FitOptions options) except -1:
        """Store every column in the way its search reads it."""
        cdef DenseColumns* columns = self.columns.get()
        cdef Strategy strategy = options.strategy
        cdef bint with_keys = options.with_keys
        cdef int part, n_parts, n_threads = options.n_threads
        cdef uint32_t step, n_steps
        columns.begin_encoding(n_threads)
        n_parts = columns.n_parts()
        if (strategy == AUTO or strategy == COUNT) and not with_keys:
            self.find_bits(strategy, options.simd, n_threads)
        if strategy == AUTO or strategy == COUNT or strategy == CODES:
            if columns.rows.size() <= MAX_COUNTED:
                self.count_few(n_threads)
            else:
                self.count(n_threads)
        if strategy == CODES:
            return self.keep_codes(n_threads)
        if with_keys:
            self.add_lists(KEYED, n_threads)
        elif strategy == COUNT:
            self.add_lists(WIDE, n_threads)
        columns.begin_interleaving()
        n_steps = columns.n_interleaving_steps()
        for step in range(n_steps):
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="static"):
                columns.interleave(part, step, n_steps)
            poll()
        columns.end_interleaving(with_keys)
        return 0

    cdef int find_bits(self, Strategy strategy, Simd simd, int n_threads) except -1:
        """Store columns of two values as bits, if there are enough of them."""
        cdef DenseColumns* columns = self.columns.get()
        cdef int part, n_parts = columns.n_parts()
        cdef uint32_t least = 1 if strategy == COUNT else MIN_BIT_COLUMNS
        cdef uint32_t step, n_steps = columns.n_bit_steps()
        if not columns.begin_bits(least):
            return 0
        for step in range(n_steps):
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="static"):
                columns.read_bits(simd, part, step, n_steps)
            poll()
        columns.settle_bits(least)
        return 0

    cdef int keep_codes(self, int n_threads) except -1:
        """Keep the codes of the columns of few values, column by column."""
        cdef DenseColumns* columns = self.columns.get()
        cdef int f, n_features = <int> columns.columns.size()
        for f in prange(n_features, nogil=True, num_threads=n_threads, schedule="static"):
            columns.keep_codes(f)
            if threadid() == 0:
                poll()
        columns.end_counting()
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
                poll()
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
                poll()
        return 0

    cdef int add_lists(self, Storage storage, int n_threads) except -1:
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
                columns.sort(rest[first + i], keys.get() + <size_t> i * n_rows, storage,
                             buffers[threadid()])
                if threadid() == 0:
                    poll()
            first = last
        self.is_listed = storage == RAW
        return 0

    cdef object view(self, const void* items, size_t n_bytes, dtype):
        """An array of the columns' own memory."""
        cdef ColumnsMemory memory = ColumnsMemory()
        if n_bytes == 0:
            return np.empty(0, dtype)
        memory.owner = self.columns
        memory.items = items
        memory.n_bytes = n_bytes
        return np.frombuffer(memory, dtype)

    cdef dict made(self):
        """Codes and lists as arrays, the same ones each time: joblib maps an array once."""
        cdef DenseColumns* columns = self.columns.get()
        cdef size_t n_rows = columns.n_rows, n_features = columns.columns.size()
        if self.arrays is None:
            values = [self.view(columns.columns[f].values.data(), 4 * columns.columns[f].n_coded(),
                                np.float32)
                      for f in range(n_features)]
            self.arrays = {
                "storage": np.array([columns.columns[f].storage for f in range(n_features)],
                                    np.uint8),
                "n_values": np.array([len(of_column) for of_column in values], np.uint32),
                "values": np.concatenate(values),
                "codes": self.view(columns.codes.get(), n_rows * columns.n_counted, np.uint8),
                "wide_codes": self.view(columns.wide_codes.get(), 4 * n_rows * columns.n_wide,
                                        np.uint32),
            }
        if self.is_listed and "lists" not in self.arrays:
            self.arrays["lists"] = [
                self.view(columns.columns[f].list.get(), 4 * n_rows, np.uint32)
                for f in range(n_features) if columns.columns[f].storage == RAW
            ]
        return dict(self.arrays)

    cdef int borrow(self, dict made, Strategy strategy, int n_threads) except -1:
        """The reverse; what does not fit together is a ValueError."""
        cdef DenseColumns* columns = self.columns.get()
        cdef BorrowedCodes codes
        cdef list kept = []
        cdef uint32_t f, n_raw = 0
        cdef size_t n_rows = columns.n_rows, n_features = columns.columns.size()
        codes.storage = <const uint8_t*> checked(made, "storage", np.uint8, n_features, kept)
        codes.n_values = <const uint32_t*> checked(made, "n_values", np.uint32, n_features, kept)
        storage, n_values = kept
        codes.values = <const float*> checked(made, "values", np.float32, sum(n_values.tolist()),
                                              kept)
        codes.codes = <const uint8_t*> checked(
            made, "codes", np.uint8, n_rows * np.count_nonzero(storage == COUNTED), kept)
        codes.wide_codes = <const uint32_t*> checked(
            made, "wide_codes", np.uint32, n_rows * np.count_nonzero(storage == WIDE), kept)
        if BITS in storage:
            columns.begin_encoding(n_threads)
            self.find_bits(strategy, best_simd(), n_threads)
            columns.begin_encoding(1)
        if not borrow_codes(codes, deref(columns)):
            raise ValueError("A column of encoded data is not stored as its cells demand, or has "
                             "more values than it can have.")
        if "lists" in made:
            lists = dict(enumerate(made["lists"]))
            self.is_listed = True
            for f in range(n_features):
                if columns.columns[f].storage == RAW:
                    columns.columns[f].list.borrow(
                        <const uint32_t*> checked(lists, n_raw, np.uint32, n_rows, kept), n_rows)
                    n_raw += 1
        self.check(n_threads)
        self.arrays = made
        self.borrowed = kept
        return 0

    cdef int check(self, int n_threads) except -1:
        """Compare what is stored with X, whose cells are checked as well."""
        cdef DenseColumns* columns = self.columns.get()
        cdef int n_features = <int> columns.columns.size(), tile = <int> COMPARED_TOGETHER
        cdef int first, n_wrong = 0
        cdef uint32_t step, n_steps = columns.n_steps(n_features)
        for step in range(n_steps):
            for first in prange(0, n_features, tile, nogil=True, num_threads=n_threads,
                                schedule="dynamic"):
                n_wrong += not are_consistent(deref(columns), first,
                                              min(first + tile, n_features), step, n_steps)
            poll()
            if n_wrong > 0:
                raise ValueError("Encoded data hold infinities or categories that do not exist, "
                                 "or codes or lists that are not those of their cells.")
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
            self.lock = threading.RLock()

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

    cdef DenseColumnsOwner encoded(self, const vector[uint32_t]& rows, FitOptions options):
        cdef DenseColumnsOwner owner
        cdef Strategy strategy = options.strategy
        cdef bint with_keys = options.with_keys
        cdef int n_threads = options.n_threads
        if not self.is_shared:
            owner = self.make_owner(&rows)
            owner.encode(options)
            if options.with_lists:
                owner.add_lists(RAW, n_threads)
            return owner
        with self.lock:
            # A signal's handler that fits meanwhile finds none and makes its own.
            owner = self.owners.pop((strategy, with_keys), None)
            if owner is None:
                owner = self.make_owner(NULL)
                owner.encode(options)
            if options.with_lists and not owner.is_listed:
                owner.add_lists(RAW, n_threads)
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
        cdef DenseColumnsOwner owner
        if not made:
            self.make_owner(NULL).check(n_threads)
        for strategy, arrays in made.items():
            if not np.isin(arrays["storage"], STORAGES[strategy]).all():
                raise ValueError("Encoded data are not stored as their strategy demands.")
            owner = self.make_owner(NULL)
            owner.borrow(arrays, strategy, n_threads)
            self.owners[strategy, False] = owner

    def prepare(self, int n_threads):
        cdef vector[uint32_t] rows
        cdef FitOptions options
        options.strategy = AUTO
        options.with_lists = True
        options.with_keys = False
        options.n_threads = n_threads
        options.simd = best_simd()
        self.encoded(rows, options)

    cdef int fill_lists(self, DenseSample* sample, DenseColumns* columns,
                        FitOptions options) except -1:
        """Give a sample its lists: those of its own fit, or copies of the shared ones."""
        cdef vector[SortBuffers] buffers = vector[SortBuffers](options.n_threads)
        cdef vector[uint32_t] is_in
        cdef bint filtered = filtering_pays(columns.rows.size(), sample.rows.size())
        cdef int f
        if not self.is_shared:
            sample.take_lists(columns[0])
            return 0
        is_in = sample.bits()
        for f in prange(<int> self.n_features, nogil=True, num_threads=options.n_threads,
                        schedule="dynamic"):
            if filtered:
                sample.filter_list(f, is_in.data(), options.simd)
            else:
                sample.sort_list(f, buffers[threadid()])
            if threadid() == 0:
                poll()
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
