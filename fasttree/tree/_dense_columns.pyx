"""Columns of a dense matrix under one strategy: encoded, or taken from a pickle and checked.

Encoding costs O(n) for a column of few distinct values and a radix sort for others.
`engine/columns/` holds the loops.
"""
import numpy as np

from cpython.buffer cimport PyBuffer_FillInfo
from cython.operator cimport dereference as deref
from libc.stddef cimport size_t
from libcpp cimport bool as cbool

from fasttree.engine.columns cimport (
    BITS, COUNTED, RAW, WIDE, BorrowedCodes, DenseEncoder, borrow_codes,
)
from fasttree.engine.core cimport MIN_BIT_COLUMNS, drawn_bits_pay, grouping_pays
from fasttree.engine.simd cimport best_simd
from fasttree.tree._options cimport AUTO, CODES, COUNT
from fasttree.utils._std cimport unique_ptr
from fasttree.utils._typedefs cimport uint8_t, uint32_t


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

    cdef int encode(self, FitOptions options, Leader leader) except -1:
        """Store every column in the way its search reads it."""
        cdef unique_ptr[DenseEncoder] encoder
        with nogil:
            encoder.reset(new DenseEncoder(deref(self.columns), deref(leader.crew), options.simd))
            self.take_steps(options, deref(encoder), leader)
        self.is_listed = options.with_lists
        return 0

    cdef int take_steps(self, FitOptions options, DenseEncoder& encoder,
                        Leader leader) except -1 nogil:
        cdef DenseColumns* columns = self.columns.get()
        cdef Strategy strategy = options.strategy
        cdef uint32_t n_features = <uint32_t> columns.columns.size()
        # Marks by column fall on rows of other nodes, too.
        cdef bint by_column = (self.is_of_one_fit and options.depth_first and not options.is_drawn
                               and not options.with_keys)
        cdef bint are_wide = strategy == COUNT and not options.with_keys  # columns of many values
        if strategy == CODES:
            if drawn_bits_pay(columns.n_rows, n_features) and not columns.has_categories():
                leader.raise_unless(encoder.find_bits(MIN_BIT_COLUMNS))
        elif (strategy == AUTO or strategy == COUNT) and not columns.has_bits():
            leader.raise_unless(encoder.find_bits(1 if strategy == COUNT else MIN_BIT_COLUMNS))
        if strategy == AUTO or strategy == COUNT or strategy == CODES:
            leader.raise_unless(encoder.count(options.with_lists or are_wide))
        if strategy == CODES and grouping_pays(columns.n_rows, n_features, options.n_looked):
            columns.group_codes_of_numbers(options.simd)
        elif strategy == CODES or options.with_keys:
            leader.raise_unless(encoder.keep_codes(strategy == CODES))
        if strategy == CODES:
            columns.keep_drawn_bits()
            columns.begin_copying(options.n_looked)
        if options.with_keys:
            leader.raise_unless(encoder.find_buckets())
        elif are_wide:
            leader.raise_unless(encoder.add_lists(WIDE))
        leader.raise_unless(encoder.interleave(options.with_lists, by_column))
        return 0

    cdef int add_lists(self, Leader leader) except -1:
        """Sort the other columns, which `encode` did not."""
        cdef unique_ptr[DenseEncoder] encoder
        with nogil:
            encoder.reset(new DenseEncoder(deref(self.columns), deref(leader.crew), best_simd()))
            leader.raise_unless(encoder.get().add_lists(RAW))
        self.is_listed = True
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

    cdef int borrow(self, dict made, Strategy strategy, Leader leader) except -1:
        """The reverse; what does not fit together is a ValueError."""
        cdef DenseColumns* columns = self.columns.get()
        cdef BorrowedCodes codes
        cdef unique_ptr[DenseEncoder] encoder
        cdef uint32_t least_bits = 1 if strategy == COUNT else MIN_BIT_COLUMNS
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
            with nogil:
                encoder.reset(new DenseEncoder(deref(columns), deref(leader.crew), best_simd()))
                leader.raise_unless(encoder.get().find_bits(least_bits))
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
        self.check(leader)
        self.arrays = made
        self.borrowed = kept
        return 0

    cdef int check(self, Leader leader) except -1:
        """Compare what is stored with X, whose cells are checked as well."""
        cdef unique_ptr[DenseEncoder] encoder
        cdef cbool is_consistent = False
        with nogil:
            encoder.reset(new DenseEncoder(deref(self.columns), deref(leader.crew), best_simd()))
            leader.raise_unless(encoder.get().compare(is_consistent))
        if not is_consistent:
            raise ValueError("Encoded data hold infinities or categories that do not exist, or "
                             "codes or lists that are not those of their cells.")
        return 0
