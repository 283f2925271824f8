"""The walk of rows through a packed tree, for tests alone."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint8_t, uint32_t

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
