"""The nodes and values of a tree, in few bytes until somebody wants their arrays.

The trees of a forest are many and seldom looked at: predictions read a packed copy. So a grown tree
keeps what `engine/core/compact_tree.hpp` holds. An array is made when it is first asked for, and
then replaces its part of that; whoever goes through many trees only reads, which keeps nothing.

Complexity: O(n_nodes) to make an array.
"""
import numpy as np

cimport cython

from fasttree.engine.core cimport NodeRecord
from fasttree.engine.grow cimport CategoryLists
from fasttree.utils._typedefs cimport float64_t, uint32_t, uint8_t

from fasttree.tree.fitted._categorical_splits import CategoricalSplits
from fasttree.tree.fitted._tree_state import NODE_DTYPE
from fasttree.utils._zeros import zeros


cdef class TreeMemory:
    """Memory of the trees of a forest; the trees of another process have their own there."""

    def __reduce__(self):
        return TreeMemory, ()


cdef class NodeArrays:
    """Both as arrays.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes,), dtype=NODE_DTYPE, or None
        C-contiguous. None if `compact_nodes` is to be filled.
    values : ndarray of shape (n_nodes, n_outputs, max_n_classes), dtype=float64, or None
        C-contiguous.
    shape : tuple of int
        That of `values`.
    """

    def __init__(self, nodes, values, shape):
        self.nodes, self.values, self.shape = nodes, values, shape

    cdef object read_nodes(self):
        """The array of the nodes, which is not kept if it has to be made."""
        cdef uint8_t[::1] buffer
        with cython.critical_section(self):
            if self.nodes is not None:
                return self.nodes
            nodes = np.empty(self.shape[0], dtype=NODE_DTYPE)
            buffer = nodes.view(np.uint8)
            if self.nodes is not None:  # by another thread meanwhile
                return self.nodes
            self.compact_nodes.get().write(<NodeRecord*> &buffer[0])
            nodes.flags.writeable = False
            return nodes

    cdef object read_values(self):
        """The same for the values."""
        cdef float64_t[::1] buffer
        with cython.critical_section(self):
            if self.values is not None:
                return self.values
            values = zeros(self.shape, self.compact_values.get().n_kept())
            buffer = values.reshape(-1)
            if self.values is not None:
                return self.values
            self.compact_values.get().write(&buffer[0])
            return values

    cdef object keep_nodes(self):
        """The array of the nodes, the same one from now on."""
        with cython.critical_section(self):
            nodes = self.read_nodes()
            if self.nodes is None:
                self.nodes = nodes
                self.compact_nodes.reset(NULL)
            return self.nodes

    cdef object keep_values(self):
        """The same for the values."""
        with cython.critical_section(self):
            values = self.read_values()
            if self.values is None:
                self.values = values
                self.compact_values.reset(NULL)
            return self.values


cdef object as_array(const void* items, size_t n_items, dtype):
    """Copy of `n_items` numbers."""
    cdef Py_ssize_t n_bytes = n_items * np.dtype(dtype).itemsize
    return np.frombuffer((<const char*> items)[:n_bytes], dtype=dtype).copy()


cdef object category_arrays(const CategoryLists& lists, const uint32_t[::1] n_categories):
    """The splits on categories of a tree; None if there are none."""
    if lists.nodes.empty():
        return None
    return CategoricalSplits(
        as_array(lists.nodes.data(), lists.nodes.size(), np.int64),
        as_array(lists.offsets.data(), lists.offsets.size(), np.int64),
        as_array(lists.codes.data(), lists.codes.size(), np.uint32),
        as_array(lists.listed_left.data(), lists.listed_left.size(), np.uint8),
        np.asarray(n_categories))
