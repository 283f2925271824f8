"""The nodes and values of a tree: contract of `NodeArrays`."""
from fasttree.engine.core cimport CompactNodes, CompactValues
from fasttree.engine.grow cimport CategoryLists, NodeStores
from fasttree.utils._shared_blocks cimport SharedBlocks
from fasttree.utils._std cimport unique_ptr
from fasttree.utils._typedefs cimport uint32_t


# Of the trees of a fit.
cdef class TreeMemory:
    cdef NodeStores stores         # of those that grow
    cdef SharedBlocks blocks       # of those that are grown, in few bytes


cdef class NodeArrays:
    # Each is an array, or in few bytes until somebody wants to keep the array.
    cdef unique_ptr[CompactNodes] compact_nodes
    cdef unique_ptr[CompactValues] compact_values
    cdef object nodes            # NODE_DTYPE[n_nodes]
    cdef object values           # float64[n_nodes, n_outputs, max_n_classes], C-contiguous
    cdef tuple shape             # of `values`

    cdef object read_nodes(self)
    cdef object read_values(self)
    cdef object keep_nodes(self)
    cdef object keep_values(self)


cdef object category_arrays(const CategoryLists& lists, const uint32_t[::1] n_categories)
