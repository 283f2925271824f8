"""Columns of a dense matrix under one strategy: encoded, or taken from a pickle and checked.

Encoding costs O(n) for a column of few distinct values and a radix sort for others.
`engine/columns/` holds the loops.
"""
import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo
from cpython.exc cimport PyErr_CheckSignals
from cython.operator cimport dereference as deref
from cython.parallel cimport prange, threadid
from libc.stddef cimport size_t

from fasttree.engine.columns cimport (
    BITS, COMPARED_TOGETHER, COUNTED, MAX_COUNTED, RAW, TILE, WIDE, BorrowedCodes,
    are_consistent, borrow_codes,
)
from fasttree.engine.core cimport MIN_BIT_COLUMNS, drawn_bits_pay, grouping_pays
from fasttree.engine.simd cimport SortBuffers, best_simd
from fasttree.tree._options cimport AUTO, CODES, COUNT
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport uint8_t, uint32_t


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
        cdef Simd simd = options.simd
        cdef int part, n_parts, n_threads = options.n_threads
        cdef uint32_t step, n_steps, n_features = <uint32_t> columns.columns.size()
        columns.begin_encoding(n_threads)
        n_parts = columns.n_parts()
        if strategy == CODES:
            if drawn_bits_pay(columns.n_rows, n_features) and not columns.has_categories():
                self.find_bits(strategy, options.simd, n_threads)
        elif (strategy == AUTO or strategy == COUNT) and not columns.has_bits():
            self.find_bits(strategy, options.simd, n_threads)
        if strategy == AUTO or strategy == COUNT or strategy == CODES:
            if columns.rows.size() <= MAX_COUNTED:
                self.count_few(n_threads)
            else:
                self.count(n_threads)
        if strategy == CODES and grouping_pays(columns.n_rows, n_features, options.n_looked):
            columns.group_codes_of_numbers(simd)
        elif strategy == CODES or with_keys:
            self.keep_codes(strategy == CODES, n_threads)
        if strategy == CODES:
            columns.keep_drawn_bits()
            columns.begin_copying(options.n_looked)
        if with_keys:
            self.find_buckets(n_threads)
        elif strategy == COUNT:
            self.add_lists(WIDE, n_threads)
        columns.begin_interleaving()
        n_steps = columns.n_interleaving_steps()
        for step in range(n_steps):
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="dynamic"):
                columns.interleave(simd, part, step, n_steps)
            poll()
        columns.end_interleaving()
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
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="dynamic"):
                columns.read_bits(simd, part, step, n_steps)
            poll()
        columns.settle_bits()
        return 0

    cdef int keep_codes(self, bint of_numbers, int n_threads) except -1:
        """Keep the codes of the columns of few values, column by column."""
        cdef DenseColumns* columns = self.columns.get()
        cdef int f, n_features = <int> columns.columns.size()
        for f in prange(n_features, nogil=True, num_threads=n_threads, schedule="dynamic"):
            if of_numbers:
                columns.keep_codes_of_numbers(f)
            else:
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

    cdef int find_buckets(self, int n_threads) except -1:
        """Find limits between buckets of the other columns."""
        cdef DenseColumns* columns = self.columns.get()
        cdef vector[SortBuffers] buffers = vector[SortBuffers](n_threads)
        cdef vector[uint32_t] rest = columns.unlisted()
        cdef int i
        for i in prange(<int> rest.size(), nogil=True, num_threads=n_threads,
                        schedule="dynamic"):
            columns.find_buckets(rest[i], buffers[threadid()])
            if threadid() == 0:
                poll()
        return 0

    cdef int add_lists(self, Storage storage, int n_threads) except -1:
        """Sort the other columns, as many at a time as a cache line holds cells of a row."""
        cdef DenseColumns* columns = self.columns.get()
        cdef vector[SortBuffers] buffers = vector[SortBuffers](n_threads)
        cdef vector[uint32_t] rest = columns.unlisted()
        cdef int part, i, n_parts = columns.n_parts()
        cdef size_t first = 0, last, n_columns = rest.size()
        cdef size_t batch_size = max(16, n_threads)
        while first < n_columns:
            last = min(first + batch_size, n_columns)
            columns.begin_lists(rest, first, last, buffers)
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="dynamic"):
                columns.gather_keys(rest, first, last, part)
            for i in prange(<int> (last - first), nogil=True, num_threads=n_threads,
                            schedule="dynamic"):
                columns.sort(rest[first + i], storage, buffers[threadid()])
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
