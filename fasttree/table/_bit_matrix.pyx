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

# Cells that a thread packs between two looks for Ctrl-C.
cdef enum:
    CELLS_PER_LOOK = 1 << 24

MIN_COLUMNS = MIN_BIT_COLUMNS

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
    cdef uint64_t[:, ::1] words = words_for(X)
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
    """Return the bits of a sparse matrix of ones, or None if it is something else.

    Parameters
    ----------
    X : CSC or CSR matrix
        The matrix, its pointers checked; so are the indices of a CSR matrix.
    n_threads : int, default=1
        Number of threads.

    Returns
    -------
    BitMatrix or None
        None also if indices are out of range or in no order, a place is named twice, or lists of
        the nonzeros take no more memory.
    """
    n_nonzeros = int(X.indptr[-1])
    if not sparse_bits_pay(X.shape[0], X.shape[1], n_nonzeros):
        return None
    indices, starts, data = X.indices, X.indptr, X.data
    # The first other number ends the reading soon.
    piece = 1 << 16
    if not all((data[i : min(i + piece, n_nonzeros)] == 1).all()
               for i in range(0, n_nonzeros, piece)):
        return None
    if X.format == "csc" and not 0 <= indices.min() <= indices.max() < X.shape[0]:
        return None
    kind = np.int64 if np.int64 in (indices.dtype, starts.dtype) else np.int32
    words = words_for(X)
    if put_ones(X.format == "csr", np.ascontiguousarray(indices, kind),
                np.ascontiguousarray(starts, kind), words, X.shape[1], n_steps_of(X, n_threads),
                n_threads) != n_nonzeros:
        return None
    return BitMatrix(words, range(X.shape[1]))


cdef words_for(X):
    return np.empty((X.shape[0], (X.shape[1] + 63) // 64), dtype=np.uint64)


cdef size_t n_steps_of(X, int n_threads) except 0:
    return 1 + <size_t> X.shape[0] * <size_t> X.shape[1] // n_threads // CELLS_PER_LOOK


cdef inline size_t begin_of(size_t n_rows, size_t piece, size_t n_pieces) noexcept nogil:
    return n_rows * piece // n_pieces


def put_ones(bint by_row, const Index[::1] indices, const Index[::1] starts,
             uint64_t[:, ::1] words, uint32_t n_columns, size_t n_steps, int n_threads):
    """Set the bits of a sparse matrix of ones; return how many there are."""
    cdef size_t n_rows = words.shape[0], n_pieces = n_steps * n_threads, step, piece
    cdef size_t n_ones = 0
    cdef int part
    for step in range(n_steps):
        for part in prange(n_threads, nogil=True, num_threads=n_threads, schedule="static"):
            piece = step * n_threads + part
            if by_row:
                n_ones += put_ones_of_rows(&indices[0], &starts[0], n_columns,
                                           begin_of(n_rows, piece, n_pieces),
                                           begin_of(n_rows, piece + 1, n_pieces), &words[0, 0])
            else:
                n_ones += put_ones_of_columns(&indices[0], &starts[0], n_columns,
                                              begin_of(n_rows, piece, n_pieces),
                                              begin_of(n_rows, piece + 1, n_pieces), &words[0, 0])
        PyErr_CheckSignals()
    return n_ones
