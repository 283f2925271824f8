"""Bits of rows, entries divided by them, matrices of bits, orders of blocks, for tests alone."""
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from kernels._shared cimport Simd, c_GUARD


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    uint64_t c_low_bits "fasttree::low_bits"(uint32_t n)
    uint32_t c_BOUNDARY "fasttree::BOUNDARY"
    uint32_t c_PADDING "fasttree::PADDING"
    uint32_t c_partition "fasttree::partition"(
        Simd simd, uint32_t* entries, uint32_t n, const uint32_t* go_left, uint32_t* scratch,
        cbool with_left, cbool with_right, cbool gathers)
    uint32_t c_keep_left "fasttree::separate<true, false>"(
        Simd simd, const uint32_t* entries, uint32_t n, const uint32_t* go_left,
        uint32_t* left_out, uint32_t* right_out, cbool gathers)
    cdef cppclass ListedColumn:
        uint32_t feature, begin, n, max_class_count
    cdef cppclass ListDivider:
        ListDivider(Simd simd)
        vector[uint32_t] n_kept
        void divide_all "divide<true>"(
            const uint32_t* entries, const ListedColumn* columns, uint32_t n_columns,
            const uint32_t* sides, uint32_t kept_side, uint32_t* kept, uint32_t* moved)
        void divide_kept "divide<false>"(
            const uint32_t* entries, const ListedColumn* columns, uint32_t n_columns,
            const uint32_t* sides, uint32_t kept_side, uint32_t* kept, uint32_t* moved)
    cdef cppclass BlockOrder:
        uint8_t[64] order
        uint64_t boundaries
        uint32_t n_missing
    cdef cppclass BlockRuns:
        uint8_t[64] places
        uint64_t boundaries
        uint32_t n, n_missing
    void c_order_codes "fasttree::order_codes"(
        Simd simd, const uint8_t* codes, uint32_t n, uint32_t n_numbers, BlockOrder& out)
    void c_order_bits "fasttree::order_bits"(
        Simd simd, uint64_t bits, uint32_t n, cbool are_numbers, BlockOrder& out)
    void c_transpose_bits "fasttree::transpose_bits"(Simd simd, uint64_t* square)
    cdef cppclass BoolMatrix:
        const uint8_t* cells
        ptrdiff_t row_stride, column_stride
        uint32_t n_columns
    void c_pack_bools "fasttree::pack_bools"(
        Simd simd, const BoolMatrix& X, size_t begin, size_t end, uint64_t* words)
    size_t put_ones_of_rows(const int32_t* columns, const int32_t* starts, uint32_t n_columns,
                            size_t begin, size_t end, uint64_t* words)
    size_t put_ones_of_columns(const int32_t* rows, const int32_t* starts, const uint32_t* columns,
                               uint32_t n_columns, size_t begin, size_t end, uint64_t* words)
    cdef cppclass FloatMatrix:
        const float* cells
        ptrdiff_t row_stride, column_stride
        uint32_t n_rows, n_columns
    void c_pick "fasttree::pick"(
        Simd simd, const BlockOrder& feature, uint64_t members, uint32_t n, BlockRuns& out)


cdef extern from "kernels.hpp" namespace "fasttree::tests" nogil:
    void c_get_bits "fasttree::tests::get_bits"(
        Simd simd, const uint32_t* words, const uint32_t* places, uint32_t n, uint8_t* out)
    void c_put_bits "fasttree::tests::put_bits"(
        cbool with_writer, uint32_t* words, const uint32_t* places, const uint8_t* bits, uint32_t n)


cdef extern from "columns.hpp" namespace "fasttree::tests" nogil:
    cbool c_find_bits "fasttree::tests::find_bits"(
        Simd simd, const FloatMatrix& X, const uint32_t* n_categories, uint32_t n_parts,
        uint32_t least, vector[uint32_t]& columns, vector[float]& low, vector[float]& high,
        vector[uint64_t]& words) except +


BOUNDARY = c_BOUNDARY
GUARD = c_GUARD


# ---- bits

def low_bits(uint32_t n):
    return c_low_bits(n)


def get_bits(Simd simd, const uint32_t[::1] words, const uint32_t[::1] places):
    cdef uint8_t[::1] out = np.full(len(places) + 1, 7, np.uint8)
    c_get_bits(simd, &words[0], &places[0], len(places), &out[0])
    return np.asarray(out)[:-1]


def put_bits(cbool with_writer, uint32_t[::1] words, const uint32_t[::1] places,
             const uint8_t[::1] bits):
    c_put_bits(with_writer, &words[0], &places[0], &bits[0], len(places))


# ---- entries

def partition(Simd simd, cbool gathers, entries, const uint32_t[::1] sides, cbool with_left,
              cbool with_right):
    """(entries on the left, entries on the right), None for the half that is not written."""
    cdef uint32_t n = len(entries), n_left
    cdef uint32_t[::1] all_entries = np.append(entries, np.uint32(GUARD)).astype(np.uint32)
    cdef uint32_t[::1] scratch = np.full(n + c_PADDING + 1, GUARD, np.uint32)
    n_left = c_partition(simd, &all_entries[0], n, &sides[0], &scratch[0], with_left, with_right,
                         gathers)
    assert all_entries[n] == GUARD and scratch[n + c_PADDING] == GUARD
    left, right = np.split(np.asarray(all_entries[:n]), [n_left])
    return n_left, left if with_left else None, right if with_right else None


def keep_left(Simd simd, cbool gathers, entries, const uint32_t[::1] sides):
    """The entries on the left, written elsewhere."""
    cdef uint32_t n = len(entries), n_kept
    cdef const uint32_t[::1] all_entries = np.append(entries, np.uint32(GUARD)).astype(np.uint32)
    cdef uint32_t[::1] kept = np.full(n + c_PADDING + 1, GUARD, np.uint32)
    n_kept = c_keep_left(simd, &all_entries[0], n, &sides[0], &kept[0], NULL, gathers)
    assert kept[n_kept + c_PADDING] == GUARD
    return np.asarray(kept[:n_kept])


def divide(Simd simd, entries, sizes, begin, sides, uint32_t kept_side, cbool with_moved,
           cbool in_place):
    """(kept entries, moved ones or None, number kept by column) of columns from ``begin`` on."""
    cdef uint32_t n = sum(sizes), at = begin, n_columns = len(sizes), i
    cdef uint32_t[::1] all_entries = np.append(entries, np.uint32(GUARD)).astype(np.uint32)
    cdef uint32_t[::1] apart = np.full(n + 1, GUARD, np.uint32)
    cdef uint32_t[::1] moved = np.full(n + c_PADDING + 1, GUARD, np.uint32)
    cdef const uint32_t[::1] sides_ = sides
    cdef uint32_t* kept = &all_entries[at] if in_place else &apart[0]
    cdef vector[ListedColumn] columns
    columns.resize(n_columns)
    for i in range(n_columns):
        columns[i].begin, columns[i].n = at, sizes[i]
        at += columns[i].n
    divider = new ListDivider(simd)
    if with_moved:
        divider.divide_all(&all_entries[0], columns.data(), n_columns, &sides_[0], kept_side,
                           kept, &moved[0])
    else:
        divider.divide_kept(&all_entries[0], columns.data(), n_columns, &sides_[0], kept_side,
                            kept, NULL)
    n_kept = list(divider.n_kept)
    del divider
    assert all_entries[len(entries)] == apart[n] == moved[n + c_PADDING] == GUARD
    kept_entries = np.asarray(<uint32_t[:n + 1]>kept)[:sum(n_kept)].copy()
    return kept_entries, np.asarray(moved[:n - sum(n_kept)]) if with_moved else None, n_kept


# ---- matrices of bits

def transpose_bits(Simd simd, const uint64_t[::1] square):
    cdef uint64_t[::1] out = np.array(square)
    c_transpose_bits(simd, &out[0])
    return np.asarray(out)


def find_bits(Simd simd, const float[:, :] X, const uint32_t[::1] n_categories, uint32_t n_parts,
              uint32_t least):
    """(column, -1 if there is none; low; high) by bit, words by row; None if there are too few."""
    cdef FloatMatrix matrix
    cdef vector[uint32_t] columns
    cdef vector[float] low, high
    cdef vector[uint64_t] words
    matrix.cells = &X[0, 0]
    matrix.row_stride = X.strides[0] // <ptrdiff_t>sizeof(float)
    matrix.column_stride = X.strides[1] // <ptrdiff_t>sizeof(float)
    matrix.n_rows, matrix.n_columns = X.shape[0], X.shape[1]
    if not c_find_bits(simd, matrix, &n_categories[0], n_parts, least, columns, low, high,
                       words):
        return None
    return (np.array(columns, np.uint32).view(np.int32), np.array(low, np.float32),
            np.array(high, np.float32), np.array(words, np.uint64).reshape(X.shape[0], -1))


def pack_bools(Simd simd, const uint8_t[:, :] X, size_t begin, size_t end):
    """Words of all rows, of which these are packed."""
    cdef BoolMatrix matrix
    cdef uint64_t[:, ::1] words = np.full((X.shape[0], (X.shape[1] + 63) // 64), GUARD, np.uint64)
    matrix.cells = &X[0, 0]
    matrix.row_stride, matrix.column_stride = X.strides[0], X.strides[1]
    matrix.n_columns = X.shape[1]
    c_pack_bools(simd, matrix, begin, end, &words[0, 0])
    return np.asarray(words)


def put_ones(cbool by_row, const int32_t[::1] indices, const int32_t[::1] starts, n_rows,
             const uint32_t[::1] columns, size_t begin, size_t end):
    """The same of a sparse matrix, and how many ones there are."""
    cdef uint32_t n_columns = len(columns)
    cdef uint64_t[:, ::1] words = np.full((n_rows, (n_columns + 63) // 64), GUARD, np.uint64)
    cdef size_t n_ones
    if by_row:
        n_ones = put_ones_of_rows(&indices[0], &starts[0], n_columns, begin, end, &words[0, 0])
    else:
        n_ones = put_ones_of_columns(&indices[0], &starts[0], &columns[0], n_columns, begin, end,
                                     &words[0, 0])
    return np.asarray(words), n_ones


# ---- blocks of at most 64 rows

def order_codes(Simd simd, const uint8_t[::1] codes, uint32_t n_numbers):
    cdef BlockOrder order
    c_order_codes(simd, &codes[0], len(codes), n_numbers, order)
    return np.array(<uint8_t[:64]>order.order)[:len(codes)], order.boundaries, order.n_missing


def order_bits(Simd simd, uint64_t bits, uint32_t n, cbool are_numbers):
    cdef BlockOrder order
    c_order_bits(simd, bits, n, are_numbers, order)
    return np.array(<uint8_t[:64]>order.order)[:n], order.boundaries, order.n_missing


def pick(Simd simd, const uint8_t[::1] order, uint64_t boundaries, uint32_t n_missing,
         uint64_t members):
    cdef BlockOrder feature
    cdef BlockRuns runs
    for i in range(len(order)):
        feature.order[i] = order[i]
    feature.boundaries, feature.n_missing = boundaries, n_missing
    c_pick(simd, feature, members, len(order), runs)
    return np.array(<uint8_t[:64]>runs.places)[:runs.n], runs.boundaries, runs.n_missing
