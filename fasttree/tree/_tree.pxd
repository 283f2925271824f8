"""The fitted tree: contract of `Tree`."""
from fasttree.utils._typedefs cimport intp_t
from fasttree.tree.fitted._node_arrays cimport NodeArrays
from fasttree.tree.fitted._walk cimport Walker


cdef class Tree:
    # Filled once, by set_nodes, take or __setstate__, and then fixed except for the values.
    cdef readonly intp_t n_features
    cdef readonly intp_t n_outputs
    cdef readonly intp_t max_n_classes
    cdef readonly intp_t max_depth
    cdef readonly intp_t node_count
    cdef object _n_classes       # intp[n_outputs]
    cdef NodeArrays _arrays      # of shape (node_count, n_outputs, max_n_classes)
    cdef object _label_splits    # CategoricalSplits, or None
    cdef Walker _walker          # with a checked copy of _nodes

    cdef int take(self, NodeArrays arrays, intp_t max_depth, intp_t n_leaves,
                  label_splits) except -1
    cdef int _fill(self, nodes, values, max_depth, label_splits) except -1
    cdef int _hold(self, NodeArrays arrays, Walker walker, label_splits) except -1
