"""A tree that threads grow, who leave parts of it to each other, for tests alone."""
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t
from libcpp.vector cimport vector

import numpy as np


cdef extern from "subtrees.hpp" namespace "fasttree::tests" nogil:
    cdef cppclass GrownTree:
        vector[uint32_t] left, right, n_rows
        vector[double] values
        vector[int64_t] asked
        vector[uint32_t] categories
        size_t n_subtrees
    GrownTree c_grow "fasttree::tests::grow_on_threads"(
        uint32_t n, int n_threads, uint32_t defer_below, uint32_t gives, uint32_t fails,
        size_t width) except +
    int c_look_while_waiting "fasttree::tests::look_while_waiting"(int grows, int most) except +


def grow(uint32_t n, int n_threads, uint32_t defer_below, uint32_t gives, uint32_t fails,
         size_t width):
    """(arrays of the tree by their names, number of subtrees); IndexError from row `fails`."""
    cdef GrownTree tree
    with nogil:
        tree = c_grow(n, n_threads, defer_below, gives, fails, width)
    arrays = {
        "left": np.array(tree.left),
        "right": np.array(tree.right),
        "n_rows": np.array(tree.n_rows),
        "values": np.array(tree.values).reshape(-1, width),
        "asked": np.array(tree.asked),
        "categories": np.array(tree.categories),
    }
    return arrays, tree.n_subtrees


def look_while_waiting(int grows, int most):
    """Looks of a fit that is given up at the last of them, while thread `grows` grows a subtree."""
    cdef int n_looks
    with nogil:
        n_looks = c_look_while_waiting(grows, most)
    return n_looks
