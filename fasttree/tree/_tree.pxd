"""The fitted tree: contract of `NodeRecord` and `Tree`."""
from libc.stdint cimport int32_t, int64_t, uint32_t
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from ..utils._typedefs cimport float32_t, float64_t, intp_t, uint8_t


cdef extern from "_walk.hpp" namespace "fasttree" nogil:
    # One record of NODE_DTYPE; see the header for the fields.
    cdef struct NodeRecord:
        intp_t left_child
        intp_t right_child
        intp_t feature
        float64_t threshold
        float64_t impurity
        intp_t n_node_samples
        float64_t weighted_n_node_samples
        uint8_t missing_go_to_left

    cdef cppclass WalkNode:
        float32_t threshold
        int32_t feature
        uint32_t child

    cdef cppclass LeafTable:
        const char* records
        size_t size


cdef extern from "_walk_labels.hpp" namespace "fasttree" nogil:
    cdef cppclass LabelSides:
        LabelSides(const int64_t* offsets, size_t n_tests, const uint32_t* codes,
                   const uint8_t* listed_left) except +
        void mark(const NodeRecord* nodes, intp_t n_nodes, const int64_t* ids,
                  vector[WalkNode]& packed) except +


cdef class Tree:
    # Filled once, by set_nodes or __setstate__, and then fixed except for the numbers in `_values`.
    cdef readonly intp_t n_features
    cdef readonly intp_t n_outputs
    cdef readonly intp_t max_n_classes
    cdef readonly intp_t max_depth
    cdef readonly intp_t node_count
    cdef object _n_classes       # intp[n_outputs]
    cdef object _nodes           # NODE_DTYPE[node_count], read-only
    cdef object _values          # float64[node_count, n_outputs, max_n_classes], C-contiguous
    cdef intp_t _n_leaves
    cdef object _label_splits    # LabelSplits, or None
    cdef vector[WalkNode] _packed  # checked copy of _nodes: what every walk reads
    cdef unique_ptr[LabelSides] _label_sides  # what it asks of labels

    cdef int _set_label_splits(self, const NodeRecord* nodes, intp_t n_nodes,
                               label_splits) except -1
    cdef int _check_rows(self, object X) except -1
    cdef int _walk(self, object X, const char* records, size_t size, object out,
                   int n_threads) except -1
    cdef int _walk_dense(self, const float32_t[:, :] X, LeafTable table, char* out,
                         int n_threads) except -1
    cdef intp_t _rows_per_check(self) noexcept
    cdef int _worthwhile_threads(self, intp_t n_rows, int n_threads) noexcept
    cdef tuple _parents_and_depths(self)
