"""The walk of rows through a packed tree, for tests alone."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libcpp.vector cimport vector

import numpy as np

from kernels._shared cimport Simd


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    void c_walk_block "fasttree::tests::walk_block"(
        Simd simd, const void* packed, uint32_t n_nodes, const float* x, Py_ssize_t n_rows,
        Py_ssize_t n_cols, ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t* words) except +
    void c_walk_by_row_keys "fasttree::tests::walk_by_row_keys"(
        Simd simd, const void* packed, uint32_t n_nodes, const float* x, Py_ssize_t n_rows,
        Py_ssize_t n_cols, ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t* words) except +
    void c_walk_questions "fasttree::tests::walk_questions"(
        Simd simd, const void* packed, uint32_t n_nodes, const float* x, Py_ssize_t n_rows,
        Py_ssize_t n_cols, ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t* words) except +
    void question_exits "fasttree::tests::question_exits"(
        const void* packed, uint32_t n_nodes, const double* n_rows, vector[uint32_t]& exits,
        vector[uint32_t]& first_exits) except +
    void c_rows_of_nodes "fasttree::tests::rows_of_nodes"(
        const void* packed, uint32_t n_nodes, const int64_t* n_samples, double* out) except +


ctypedef void (*Walk)(
    Simd simd, const void* packed, uint32_t n_nodes, const float* x, Py_ssize_t n_rows,
    Py_ssize_t n_cols, ptrdiff_t row_stride, ptrdiff_t col_stride, uint32_t* words) except +


cdef walk_rows(Walk walk, Simd simd, nodes, const float[:, :] X):
    """The words of the leaves of rows in a packed tree."""
    cdef const uint8_t[::1] packed = nodes.view(np.uint8)
    cdef uint32_t[::1] words = np.empty(X.shape[0] + 1, np.uint32)
    walk(simd, &packed[0], len(nodes), &X[0, 0], X.shape[0], X.shape[1],
         X.strides[0] // 4, X.strides[1] // 4, &words[0])
    return np.asarray(words)[:-1]


def walk_block(Simd simd, nodes, const float[:, :] X):
    """As a forest asks for them, in vectors."""
    return walk_rows(c_walk_block, simd, nodes, X)


def walk_by_row_keys(Simd simd, nodes, const float[:, :] X):
    """As a forest asks for them, by keys of rows."""
    return walk_rows(c_walk_by_row_keys, simd, nodes, X)


def walk_questions(Simd simd, nodes, const float[:, :] X):
    """As a single tree asks for them."""
    return walk_rows(c_walk_questions, simd, nodes, X)


def question_blocks(nodes, const double[::1] n_rows):
    """Where the exits of each block of a packed tree lead."""
    cdef const uint8_t[::1] packed = nodes.view(np.uint8)
    cdef vector[uint32_t] exits, first_exits
    question_exits(&packed[0], len(nodes), &n_rows[0], exits, first_exits)
    return np.split(np.array(exits, np.uint32), np.array(first_exits, np.int64)[1:])


def rows_of_nodes(nodes, const int64_t[::1] n_samples):
    """How many rows came to each packed node, if so many came to the leaves of these words."""
    cdef const uint8_t[::1] packed = nodes.view(np.uint8)
    cdef double[::1] out = np.empty(len(nodes))
    c_rows_of_nodes(&packed[0], len(nodes), &n_samples[0], &out[0])
    return np.asarray(out)
