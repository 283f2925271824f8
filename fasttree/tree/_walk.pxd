"""The packed copy of a tree that predictions read: contract of `Walker`."""
from libc.stdint cimport int32_t, int64_t, uint32_t

from fasttree.utils._std cimport unique_ptr, vector
from ..utils._typedefs cimport float32_t, float64_t, intp_t, uint8_t


cdef extern from "engine/core/node_record.hpp" namespace "fasttree" nogil:
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


cdef extern from "engine/predict/walk.hpp" namespace "fasttree" nogil:
    cdef cppclass WalkNode:
        float32_t threshold
        int32_t feature
        uint32_t child

    cdef cppclass LeafTable:
        const char* records
        size_t size


cdef extern from "engine/predict/walk_categories.hpp" namespace "fasttree" nogil:
    cdef cppclass LabelSides:
        LabelSides(const int64_t* offsets, size_t n_tests, const uint32_t* codes,
                   const uint8_t* listed_left) except +
        void mark(const NodeRecord* nodes, intp_t n_nodes, const int64_t* ids,
                  vector[WalkNode]& packed) except +


cdef class Walker:
    cdef readonly intp_t n_features
    cdef readonly intp_t node_count
    cdef readonly intp_t n_leaves
    cdef readonly intp_t max_depth
    cdef object unpacked             # (nodes, label splits) until they are first walked, then None
    cdef vector[WalkNode] nodes
    cdef unique_ptr[LabelSides] label_sides   # null if no node splits on labels

    cdef int fill(self, object nodes, object label_splits) except -1
    cdef int check(self, object nodes, object label_splits) except -1
    cdef int pack(self) except -1
    cdef int mark_labels(self, const NodeRecord* nodes, object label_splits,
                         vector[WalkNode]& packed, unique_ptr[LabelSides]& sides) except -1
    cdef int check_rows(self, object X) except -1
    cdef bint walk(self, object X, const char* records, size_t size, object out, int n_threads,
                   int accepted) except -1
    cdef bint walk_dense(self, const float32_t[:, :] X, LeafTable table, char* out, int n_threads,
                         int accepted) except -1
    cdef intp_t rows_per_check(self, intp_t n_values, size_t record_size, int n_threads) noexcept
    cdef int worthwhile_threads(self, intp_t n_rows, int n_threads) noexcept


cdef const NodeRecord* node_pointer(object nodes) except NULL
