"""Columns of zeros and ones, a bit per cell; `engine/columns/bit_matrix.hpp` holds the loops."""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange
from libc.stddef cimport size_t

from fasttree.engine.columns cimport (
    BoolMatrix, pack_bools, put_ones_of_columns, put_ones_of_rows,
)
from fasttree.engine.core cimport MIN_BIT_COLUMNS, sparse_bits_pay
from fasttree.engine.simd cimport Simd, best_simd
from fasttree.utils._typedefs cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from fasttree.utils._finite import ALL_FINITE, value_kind

# Cells that a thread packs between two looks for Ctrl-C.
cdef enum:
    CELLS_PER_LOOK = 1 << 24

MIN_COLUMNS = MIN_BIT_COLUMNS
FLOATS_PER_NONZERO = 2  # take as much memory as a number and its index

ctypedef fused Index:
    int32_t
    int64_t


class BitMatrix:
    """A matrix that holds bits in some columns, or all.

    Parameters
    ----------
    words : ndarray of shape (n_rows, n_words), dtype=uint64
        The bits: that of the i-th of `columns` is bit i % 64 of word i // 64.
    columns : sequence of int
        The columns of bits, ascending.
    cells : ndarray of shape (n_rows, n_others), dtype=float32, or None
        The other columns, in their order.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and columns.
    size : int
        Number of cells.
    """

    def __init__(self, words, columns, cells=None):
        self.words, self.columns, self.cells = words, columns, cells
        n_others = 0 if cells is None else cells.shape[1]
        self.shape = len(words), len(columns) + n_others
        self.size = self.shape[0] * self.shape[1]

    def holds(self):
        """Which columns of bits hold zeros, and which ones, as two masks."""
        all_set, any_set = common_bits(self.words)
        return ~self._by_column(all_set), self._by_column(any_set)

    def _by_column(self, words):
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        return bits[:len(self.columns)].astype(bool)


def common_bits(const uint64_t[:, ::1] words):
    """Words of the bits that all rows have, and of those that any has."""
    cdef Py_ssize_t row, w, n_words = words.shape[1]
    cdef uint64_t[::1] all_set = np.full(n_words, ~np.uint64(0))
    cdef uint64_t[::1] any_set = np.zeros(n_words, np.uint64)
    for row in range(words.shape[0]):
        for w in range(n_words):
            all_set[w] &= words[row, w]
            any_set[w] |= words[row, w]
    return np.asarray(all_set), np.asarray(any_set)


def bits_of_bools(X, int n_threads=1):
    """Return the bits of a matrix of bools.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), dtype=bool
        The matrix, of any memory layout.
    n_threads : int, default=1
        Number of threads.
    """
    cdef const uint8_t[:, :] cells = X.view(np.uint8)
    cdef uint64_t[:, ::1] words = words_for(X.shape[0], X.shape[1])
    cdef BoolMatrix matrix
    cdef size_t n_rows = X.shape[0], step, n_steps
    cdef int part
    cdef Simd simd = best_simd()
    matrix.cells = &cells[0, 0]
    matrix.row_stride, matrix.column_stride = cells.strides[0], cells.strides[1]
    matrix.n_columns = <uint32_t> X.shape[1]
    n_steps = n_steps_of(X, n_threads)
    for step in range(n_steps):
        for part in prange(n_threads, nogil=True, num_threads=n_threads, schedule="static"):
            pack_bools(simd, matrix, begin_of(n_rows, step * n_threads + part, n_steps * n_threads),
                       begin_of(n_rows, step * n_threads + part + 1, n_steps * n_threads),
                       &words[0, 0])
        PyErr_CheckSignals()
    return BitMatrix(np.asarray(words), range(X.shape[1]))


def bits_of_sparse(X, int n_threads=1):
    """Return a sparse matrix as one with bits, or None if it is better left as it is.

    Parameters
    ----------
    X : CSC or CSR matrix
        The matrix, its pointers checked; so are the indices of a CSR matrix.
    n_threads : int, default=1
        Number of threads.

    Returns
    -------
    BitMatrix or None
        Columns of ones become bits, others, of a CSC matrix, floats. None if they take more memory
        than lists of nonzeros, if there are missing or infinite numbers, or if the indices are out
        of range, in no order, or named twice.
    """
    by_row, n_nonzeros = X.format == "csr", int(X.indptr[-1])
    if not sparse_bits_pay(X.shape[0], X.shape[1], n_nonzeros):
        return None
    indices, starts, data = X.indices, X.indptr, X.data
    kind = np.int64 if np.int64 in (indices.dtype, starts.dtype) else np.int32
    indices, starts = np.ascontiguousarray(indices, kind), np.ascontiguousarray(starts, kind)
    if by_row:
        columns = np.arange(X.shape[1] if (data[:n_nonzeros] == 1).all() else 0, dtype=np.uint32)
        n_ones = n_nonzeros
    else:
        columns = columns_of_ones(data, starts)
        n_ones = int((starts[columns + 1] - starts[columns]).sum())
        if len(indices) and not 0 <= indices.min() <= indices.max() < X.shape[0]:
            return None
    n_others = X.shape[1] - len(columns)
    if not sparse_bits_pay(X.shape[0], len(columns), n_ones) or (
            n_others * X.shape[0] > FLOATS_PER_NONZERO * (n_nonzeros - n_ones)):
        return None
    words = words_for(X.shape[0], len(columns))
    if n_ones != put_ones(by_row, indices, starts, columns, words, n_steps_of(X, n_threads),
                          n_threads):
        return None
    if n_others == 0:
        return BitMatrix(words, columns)
    cells = dense_columns(data, indices, starts, np.setdiff1d(np.arange(X.shape[1]), columns),
                          X.shape[0])
    return None if value_kind(cells) != ALL_FINITE else BitMatrix(words, columns, cells)


def columns_of_ones(data, starts):
    """The columns of a CSC matrix that hold nothing but ones besides zeros."""
    is_one = (data[:starts[-1]] == 1).view(np.uint8)
    are_ones = np.ones(len(starts) - 1, dtype=bool)
    with_nonzeros = np.flatnonzero(starts[1:] > starts[:-1])
    if len(with_nonzeros):
        are_ones[with_nonzeros] = np.minimum.reduceat(is_one, starts[with_nonzeros])
    return np.flatnonzero(are_ones).astype(np.uint32)


def dense_columns(data, indices, starts, columns, n_rows):
    """Columns of a CSC matrix as floats."""
    cells = np.zeros((n_rows, len(columns)), dtype=np.float32, order="F")
    with np.errstate(over="ignore"):
        for place, f in enumerate(columns):
            own = slice(starts[f], starts[f + 1])
            cells[indices[own], place] = data[own]
    return cells


cdef words_for(n_rows, n_columns):
    return np.empty((n_rows, (n_columns + 63) // 64), dtype=np.uint64)


cdef size_t n_steps_of(X, int n_threads) except 0:
    return 1 + <size_t> X.shape[0] * <size_t> X.shape[1] // n_threads // CELLS_PER_LOOK


cdef inline size_t begin_of(size_t n_rows, size_t piece, size_t n_pieces) noexcept nogil:
    return n_rows * piece // n_pieces


def put_ones(bint by_row, const Index[::1] indices, const Index[::1] starts,
             const uint32_t[::1] columns, uint64_t[:, ::1] words, size_t n_steps, int n_threads):
    """Set the bits of columns of ones of a sparse matrix, by row of all; return how many there
    are."""
    cdef size_t n_rows = words.shape[0], n_pieces = n_steps * n_threads, step, piece
    cdef size_t n_ones = 0
    cdef uint32_t n_columns = <uint32_t> columns.shape[0]
    cdef int part
    for step in range(n_steps):
        for part in prange(n_threads, nogil=True, num_threads=n_threads, schedule="static"):
            piece = step * n_threads + part
            if by_row:
                n_ones += put_ones_of_rows(&indices[0], &starts[0], n_columns,
                                           begin_of(n_rows, piece, n_pieces),
                                           begin_of(n_rows, piece + 1, n_pieces), &words[0, 0])
            else:
                n_ones += put_ones_of_columns(&indices[0], &starts[0], &columns[0], n_columns,
                                              begin_of(n_rows, piece, n_pieces),
                                              begin_of(n_rows, piece + 1, n_pieces), &words[0, 0])
        PyErr_CheckSignals()
    return n_ones
