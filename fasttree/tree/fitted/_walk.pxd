"""The packed copy of a tree that predictions read: contract of `Walker`."""
from libc.stdint cimport int32_t, int64_t, uint32_t

from fasttree.engine.core cimport NodeRecord
from fasttree.engine.predict cimport CategorySides, LeafTable, QuestionBlocks, WalkNode
from fasttree.utils._std cimport unique_ptr, vector
from fasttree.tree.fitted._node_arrays cimport NodeArrays
from fasttree.utils._typedefs cimport float32_t, intp_t, uint8_t


cdef class Walker:
    cdef readonly intp_t n_features
    cdef readonly intp_t node_count
    cdef readonly intp_t n_leaves
    cdef readonly intp_t max_depth
    cdef NodeArrays arrays
    cdef object label_splits         # CategoricalSplits, or None; until it is walked
    # Once it is walked:
    cdef vector[WalkNode] nodes
    cdef unique_ptr[CategorySides] category_sides   # null if no node splits on categories
    cdef QuestionBlocks blocks                       # once many rows are walked

    cdef int fill(self, NodeArrays arrays, object label_splits) except -1
    cdef int take(self, NodeArrays arrays, object label_splits, intp_t max_depth,
                  intp_t n_leaves) except -1
    cdef int check(self, object nodes, object label_splits) except -1
    cdef int pack(self) except -1
    cdef bint has_blocks(self, bint making_pays) except -1
    cdef int mark_categories(self, const NodeRecord* nodes, object label_splits,
                             vector[WalkNode]& packed, unique_ptr[CategorySides]& sides) except -1
    cdef int check_rows(self, object X) except -1
    cdef bint walk(self, object X, const char* records, size_t size, object out, int n_threads,
                   int accepted) except -1
    cdef bint walk_dense(self, const float32_t[:, :] X, LeafTable table, char* out, int n_threads,
                         int accepted) except -1
    cdef intp_t rows_per_check(self, size_t n_levels, intp_t n_values, size_t record_size,
                               int n_threads) noexcept
    cdef int worthwhile_threads(self, intp_t n_rows, int n_threads) noexcept


cdef const NodeRecord* node_pointer(object nodes) except NULL
