"""Keys of cells, sorts, lists of nonzeros, and nodes by their keys, for tests alone."""
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from kernels._shared cimport KeyBuckets, Simd, c_GUARD


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    uint32_t float_key(float x)
    uint32_t cell_key(float x, cbool has_categories)
    float key_cell(uint32_t key)
    uint32_t outer_key(float x)
    float outer_value(uint32_t key)
    float category_cell(uint32_t code)
    uint32_t c_MISSING_KEY "fasttree::MISSING_KEY"
    uint32_t c_FIRST_CATEGORY_KEY "fasttree::FIRST_CATEGORY_KEY"
    cbool c_insertion_sort "fasttree::insertion_sort"(uint64_t* items, size_t n, size_t budget)
    uint64_t* c_sort_by_key "fasttree::sort_by_key"(
        Simd simd, uint64_t* items, uint64_t* scratch, size_t n)
    size_t c_RANK_SORT_PADDING "fasttree::RANK_SORT_PADDING"
    uint32_t c_KEY_PADDING "fasttree::KEY_PADDING"
    cdef cppclass NodeStats:
        double weight, impurity
        cbool pure
    cdef cppclass NodeClasses:
        void take(Simd simd, const uint16_t* labels, uint32_t n)
        void take_rest(const NodeClasses& node, const NodeClasses& part)
        NodeStats stats(double weight_unit)
        void shares(double* out, size_t n)
    cbool c_are_equal "fasttree::are_equal"(Simd simd, const uint32_t* keys, uint32_t n)
    cbool c_gather_keys "fasttree::gather_keys"(
        Simd simd, const float* column, ptrdiff_t stride, const uint32_t* rows, uint32_t n,
        uint32_t* keys, cbool gathers)
    void c_near_keys "fasttree::near_keys"(
        Simd simd, const KeyBuckets& buckets, uint32_t limit, uint32_t* keys)
    cdef cppclass Neighbours:
        uint32_t n_left
        uint32_t below
        uint32_t above
    Neighbours c_neighbours "fasttree::neighbours"(
        Simd simd, const uint32_t* keys, uint32_t n, uint32_t limit)
    uint32_t c_partition_keys "fasttree::tests::partition_keys"(
        Simd simd, const uint32_t* keys, uint32_t limit, uint32_t n, uint32_t* rows,
        uint16_t* labels)
    cdef cppclass SparseView:
        const float* values
        const int32_t* rows
        uint32_t n
        float value(uint32_t row)


cdef extern from "columns.hpp" namespace "fasttree::tests" nogil:
    uint32_t c_sort_by_keys "fasttree::tests::sort_by_keys"(
        vector[uint32_t] keys, const uint32_t* rows, uint32_t* entries) except +


cdef extern from "kernels.hpp" namespace "fasttree::tests" nogil:
    void c_sort_lanes "fasttree::tests::sort_lanes"(uint16_t* words, uint32_t n) except +
    uint32_t c_sorted_nonzeros "fasttree::tests::sorted_nonzeros"(
        Simd simd, const SparseView& column, cbool positive, const uint32_t* here,
        uint32_t* entries)
    cdef cppclass SparseData "fasttree::SparseData":
        SparseData(const float* values, const int32_t* indices, const int64_t* indptr,
                   uint32_t n_rows, uint32_t n_features)
    void c_present_features "fasttree::tests::present_features"(
        const SparseData& data, const uint32_t* rows, uint32_t n_first, uint32_t n,
        uint32_t n_looks, uint8_t* may_hold, uint8_t* is_in_every)


MISSING_KEY, FIRST_CATEGORY_KEY = c_MISSING_KEY, c_FIRST_CATEGORY_KEY
KEY_PADDING = c_KEY_PADDING
GUARD = c_GUARD


# ---- keys

def float_keys(const float[::1] x):
    cdef Py_ssize_t i
    return np.array([float_key(x[i]) for i in range(len(x))], np.uint32)


def cell_keys(const float[::1] x, cbool has_categories):
    cdef Py_ssize_t i
    return np.array([cell_key(x[i], has_categories) for i in range(len(x))], np.uint32)


def key_cells(const uint32_t[::1] keys):
    """As bits: NaN would lose its payload on the way through a Python float."""
    cdef float[::1] cells = np.empty(len(keys), np.float32)
    cdef Py_ssize_t i
    for i in range(len(keys)):
        cells[i] = key_cell(keys[i])
    return np.asarray(cells).view(np.uint32)


def outer_keys(const float[::1] x):
    return np.array([outer_key(value) for value in x], np.uint32)


def outer_values(const uint32_t[::1] keys):
    return np.array([outer_value(key) for key in keys], np.float32)


def category_cells(codes):
    cdef float[::1] cells = np.empty(len(codes), np.float32)
    for i, code in enumerate(codes):
        cells[i] = category_cell(code)
    return np.asarray(cells)


# ---- sorts

def insertion_sort(uint64_t[::1] items, size_t budget):
    """In place; whether that took at most ``budget`` moves."""
    return c_insertion_sort(&items[0], len(items), budget)


def sort_by_key(Simd simd, const uint64_t[::1] items):
    cdef size_t n = len(items)
    cdef uint64_t[::1] first = np.append(items, np.full(c_RANK_SORT_PADDING + 1, GUARD, np.uint64))
    cdef uint64_t[::1] scratch = np.full(n + c_RANK_SORT_PADDING + 1, GUARD, np.uint64)
    cdef uint64_t* result = c_sort_by_key(simd, &first[0], &scratch[0], n)
    assert first[n] == GUARD and scratch[n] == GUARD
    return np.asarray(<uint64_t[:n + 1]>result)[:n].copy()


def sort_by_keys(vector[uint32_t] keys, const uint32_t[::1] rows=None):
    """(entries of the rows with these keys, or of the first ones; how many are not numbers)."""
    cdef size_t n = keys.size()
    cdef const uint32_t* some = NULL
    cdef uint32_t[::1] entries = np.full(n + 1, c_GUARD, np.uint32)
    if rows is not None:
        some = &rows[0]
    n_missing = c_sort_by_keys(keys, some, &entries[0])
    assert entries[n] == c_GUARD
    return np.asarray(entries)[:n], n_missing


def sort_lanes(const uint16_t[:, ::1] words):
    """Vectors of 16 words, 8, 16, 32 or 64 of them, with each lane in ascending order; AVX2."""
    cdef uint16_t[:, ::1] out = np.array(words)
    c_sort_lanes(&out[0, 0], <uint32_t> out.shape[0])
    return np.asarray(out)


# ---- nonzeros

def sorted_nonzeros(Simd simd, const float[::1] values, const int32_t[::1] rows,
                    const uint32_t[::1] here):
    """Entries of the rows that ``here`` has a bit of, from the outside in."""
    cdef uint32_t n = len(values)
    cdef uint32_t[::1] entries = np.empty(n + 1, np.uint32)
    cdef SparseView column
    column.values, column.rows, column.n = &values[0], &rows[0], n
    cdef cbool positive = np.all(np.asarray(values) >= 0)
    n = c_sorted_nonzeros(simd, column, positive, &here[0], &entries[0])
    return np.asarray(entries[:n])


def present_features(X, const uint32_t[::1] rows, uint32_t n_first, uint32_t n_looks):
    """What is listed of two nodes, one after the other; X is a CSC matrix with a nonzero."""
    cdef const float[::1] values = X.data
    cdef const int32_t[::1] indices = X.indices.astype(np.int32)
    cdef const int64_t[::1] indptr = X.indptr.astype(np.int64)
    cdef uint8_t[:, ::1] may_hold = np.empty((2, X.shape[1]), np.uint8)
    cdef uint8_t[::1] is_in_every = np.empty(2, np.uint8)
    cdef SparseData* data = new SparseData(&values[0], &indices[0], &indptr[0], X.shape[0],
                                           X.shape[1])
    c_present_features(data[0], &rows[0], n_first, len(rows), n_looks, &may_hold[0, 0],
                       &is_in_every[0])
    del data
    return np.asarray(may_hold, bool), np.asarray(is_in_every, bool)


# ---- nodes by keys

def are_equal(Simd simd, const uint32_t[::1] keys, uint32_t n):
    """Whether the first n keys, padded, are the same."""
    return c_are_equal(simd, &keys[0], n)


def gather_keys(Simd simd, const float[:] column, const uint32_t[::1] rows, gathers):
    """(keys, whether they are the same), as `gather` reads cells."""
    cdef uint32_t[::1] keys = np.zeros(len(rows) + c_KEY_PADDING, np.uint32)
    cdef ptrdiff_t stride = column.strides[0] // <ptrdiff_t>sizeof(float)
    are_same = c_gather_keys(simd, &column[0], stride, &rows[0], len(rows), &keys[0],
                             gathers)
    return np.asarray(keys[:len(rows)]), are_same


def near_keys(Simd simd, const uint8_t[::1] buckets, const uint32_t[::1] last_keys, n_buckets,
              const float[::1] x, const uint32_t[::1] rows, uint32_t limit):
    """Keys that stand for those next to a limit; without x: buckets are values."""
    cdef KeyBuckets k
    cdef uint32_t n = len(rows)
    cdef uint32_t[::1] keys = np.append(np.zeros(n, np.uint32), np.uint32(GUARD))
    k.buckets, k.n, k.n_buckets, k.last_keys = &buckets[0], n, n_buckets, &last_keys[0]
    k.cells = NULL
    if x is not None:
        k.cells, k.stride, k.rows = &x[0], 1, &rows[0]
    c_near_keys(simd, k, limit, &keys[0])
    assert keys[n] == GUARD
    return np.asarray(keys[:n])


def neighbours(Simd simd, const uint32_t[::1] keys, uint32_t n, uint32_t limit):
    """(number of keys up to a limit, a position of the largest, of the smallest beyond); padded."""
    cdef Neighbours found = c_neighbours(simd, &keys[0], n, limit)
    return found.n_left, found.below, found.above


def partition_keys(Simd simd, const uint32_t[::1] keys, uint32_t limit, rows, labels):
    """(rows, labels or None, number on the left)."""
    cdef uint32_t n = len(rows), n_left
    cdef uint32_t[::1] all_rows = np.append(rows, GUARD).astype(np.uint32)
    cdef uint16_t[::1] all_labels = np.append(labels, 9).astype(np.uint16)
    cdef uint16_t* first_label = NULL
    if len(labels) > 0:
        first_label = &all_labels[0]
    n_left = c_partition_keys(simd, &keys[0], limit, n, &all_rows[0], first_label)
    assert all_rows[n] == GUARD and all_labels[len(labels)] == 9
    return np.asarray(all_rows[:n]), np.asarray(all_labels[:len(labels)]), n_left


# ---- classes of a node

def node_classes(Simd simd, const uint16_t[::1] labels, uint32_t n_classes):
    """(weight, impurity, whether there is one class, share of each class) of labels by class."""
    cdef NodeClasses classes
    classes.take(simd, &labels[0], len(labels))
    return values_of_classes(classes, n_classes)


cdef values_of_classes(const NodeClasses& classes, uint32_t n_classes):
    cdef double[::1] shares = np.full(n_classes, np.nan)
    classes.shares(&shares[0], n_classes)
    stats = classes.stats(0.5)
    return stats.weight, stats.impurity, stats.pure, np.asarray(shares)


def rest_of_classes(Simd simd, const uint16_t[::1] labels, const uint16_t[::1] part,
                    uint32_t n_classes):
    """`node_classes` of a node's labels without those of a part, found by subtraction."""
    cdef NodeClasses node, own, rest
    node.take(simd, &labels[0], len(labels))
    own.take(simd, &part[0], len(part))
    rest.take_rest(node, own)
    return values_of_classes(rest, n_classes)
