"""Prediction: rows walk from the root to their leaves.

A `Walker` is filled once from the nodes of a tree. It refuses nodes that form no tree, and packs
the others (see `engine/predict/walk.hpp`), so a walk ends inside the arrays whatever the tree came
from. Later only the numbers of rows in the nodes are read again, which tell what is fast. Rows are
dense in any memory layout, or CSR; they are walked in blocks on threads.

Invariant: nodes form a binary tree rooted at 0, and a child's id is larger than its parent's.

Complexity: O(depth) per row. For sparse rows, O(features) once and O(nonzeros) on top; never more
than a few rows are made dense, in the columns that the tree reads.
"""
import numpy as np
from scipy.sparse import issparse

from fasttree._config import get_config

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libcpp.utility cimport move

from fasttree.engine.predict cimport (
    LEVELS_PER_BLOCK, CategoryRows, NodeError, NumberRows, QuestionBlocks, RowNodes, SparseRows,
    WalkStatus, check_nodes, make_question_blocks, name_slots, pack_nodes, rows_of_nodes, walk_rows,
)
from fasttree.engine.simd cimport simd_allowed
from fasttree.utils._interrupt cimport STEPS_PER_LOOK

ctypedef fused index_t:
    int32_t
    int64_t

cdef enum:
    # Starting a thread costs about as much as this many node visits.
    VISITS_PER_THREAD = 1 << 16
    # With so many rows, blocks of questions are worth making.
    ROWS_PER_NODE = 4
    BYTES_PER_STEP = 16

cdef str _error_text(NodeError error):
    if error == NodeError.half_leaf:
        return "a node has one child only"
    if error == NodeError.child_range:
        return "a child's id is out of range or not larger than its parent's"
    if error == NodeError.shared_child:
        return "a node is the child of two"
    if error == NodeError.unreachable:
        return "a node is nobody's child"
    if error == NodeError.feature_range:
        return "a split's feature is out of range"
    if error == NodeError.leaf_feature:
        return "the feature of a leaf is not -2"
    if error == NodeError.threshold_nan:
        return "a split's threshold is NaN"
    return "there are too many nodes or features"


cdef const NodeRecord* node_pointer(object nodes) except NULL:
    """First record of a C-contiguous array of NODE_DTYPE that is not empty."""
    cdef const uint8_t[::1] raw = nodes.view(np.uint8)
    return <const NodeRecord*> &raw[0]


cdef class Walker:
    """Finds the leaves of rows.

    Parameters
    ----------
    n_features : int
        Number of columns of the rows.
    """

    def __cinit__(self, intp_t n_features):
        self.n_features = n_features
        self.node_count = 0
        self.n_leaves = 0
        self.max_depth = 0

    cdef int fill(self, NodeArrays arrays, object label_splits) except -1:
        """Check nodes, at least one, and the `CategoricalSplits` that belong to them or None. They
        are packed when they are first walked."""
        self.check(arrays.read_nodes(), label_splits)
        self.arrays, self.label_splits = arrays, label_splits
        return 0

    cdef int take(self, NodeArrays arrays, object label_splits, intp_t max_depth,
                  intp_t n_leaves) except -1:
        """`fill` with nodes that were grown, of which these numbers are known."""
        self.arrays, self.label_splits = arrays, label_splits
        self.node_count, self.max_depth, self.n_leaves = arrays.shape[0], max_depth, n_leaves
        return 0

    cdef int check(self, object nodes, object label_splits) except -1:
        cdef intp_t n_nodes = nodes.shape[0], n_leaves = 0, depth = 0
        cdef NodeError error = check_nodes(node_pointer(nodes), n_nodes, self.n_features,
                                           n_leaves, depth)
        if error != NodeError.none:
            raise ValueError(f"The nodes do not form a tree: {_error_text(error)}.")
        if label_splits is not None:
            label_splits.check_nodes(nodes["feature"], nodes["left_child"])
        self.n_leaves = n_leaves
        self.max_depth = depth
        self.node_count = n_nodes
        return 0

    cdef int pack(self) except -1:
        """Pack the nodes, unless they are. They are checked again: their owner may have changed
        them."""
        cdef vector[WalkNode] packed
        cdef unique_ptr[CategorySides] sides
        with cython.critical_section(self):
            if not self.nodes.empty():
                return 0
            label_splits = self.label_splits
            nodes = self.arrays.read_nodes()
            self.check(nodes, label_splits)
            packed = pack_nodes(node_pointer(nodes), self.node_count)
            if label_splits is not None:
                self.mark_categories(node_pointer(nodes), label_splits, packed, sides)
            if self.nodes.empty():  # another thread may have been let in, and been first
                self.nodes.swap(packed)
                self.category_sides.swap(sides)
                self.label_splits = None
        return 0

    cdef bint has_blocks(self, bint making_pays) except -1:
        """Whether the packed nodes are in blocks, into which they are put if that pays."""
        cdef vector[double] n_rows
        cdef QuestionBlocks blocks
        with cython.critical_section(self):
            if not self.blocks.blocks.empty():
                return True
            if not making_pays:
                return False
            records = self.arrays.read_nodes()
            if len(records) != self.node_count:
                raise ValueError("The length of the tree's array of nodes has changed.")
            n_rows = rows_of_nodes(self.nodes.data(), self.nodes.size(), node_pointer(records))
            blocks = make_question_blocks(self.nodes.data(), n_rows)
            if self.blocks.blocks.empty():  # another thread may have been let in, and been first
                self.blocks = move(blocks)
        return True

    cdef int mark_categories(self, const NodeRecord* nodes, object label_splits,
                             vector[WalkNode]& packed, unique_ptr[CategorySides]& sides) except -1:
        """Replace the thresholds of packed nodes that split on categories by their tests."""
        cdef const int64_t[::1] ids = label_splits.nodes
        cdef const int64_t[::1] offsets = label_splits.offsets
        cdef const uint32_t[::1] codes = label_splits.codes
        cdef const uint8_t[::1] listed_left = label_splits.listed_left
        sides.reset(new CategorySides(
            &offsets[0], ids.shape[0], &codes[0] if codes.shape[0] else NULL, &listed_left[0]))
        sides.get().mark(nodes, self.node_count, &ids[0], packed)
        return 0

    cdef int check_rows(self, object X) except -1:
        """Raise unless X is a matrix that the tree can walk."""
        if self.node_count == 0:
            raise ValueError("The tree is empty: it has not been fitted.")
        self.pack()
        if issparse(X):
            if X.format != "csr":
                raise ValueError(f"X should be in CSR sparse format, got {type(X)}.")
            if self.category_sides.get() != NULL:
                raise ValueError("The tree splits on categories, which a sparse X does not hold.")
        elif not isinstance(X, np.ndarray):
            raise ValueError(f"X should be in np.ndarray format, got {type(X)}.")
        if X.dtype != np.float32:
            raise ValueError(f"X.dtype should be np.float32, got {X.dtype}.")
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(
                f"X should have two dimensions and {self.n_features} columns, "
                f"got shape {X.shape}."
            )
        return 0

    cdef bint walk(self, object X, const char* records, size_t size, object out, int n_threads,
                   int accepted) except -1:
        """Write the leaf's record (its id if `records` is NULL) of every row of X.

        Returns False if X is dense and holds what is not accepted.
        """
        if X.shape[0] == 0:
            return True
        cdef LeafTable table
        table.records = records
        table.size = size
        cdef uint8_t[::1] target = out.reshape(-1).view(np.uint8)
        if not issparse(X):
            if not X.flags.aligned:  # a field of packed records
                X = X.copy()
            return self.walk_dense(X, table, <char*> &target[0], n_threads, accepted)
        if X.indptr.shape[0] != X.shape[0] + 1:
            raise ValueError("The CSR matrix does not have a row pointer per row.")
        if X.indices.dtype == np.int32 and X.indptr.dtype == np.int32:
            _walk_sparse[int32_t](self, X.data, X.indices, X.indptr, table, <char*> &target[0],
                                  n_threads)
        else:
            _walk_sparse[int64_t](
                self, X.data, X.indices.astype(np.int64, copy=False),
                X.indptr.astype(np.int64, copy=False), table, <char*> &target[0], n_threads
            )
        return True

    cdef bint walk_dense(self, const float32_t[:, :] X, LeafTable table, char* out, int n_threads,
                         int accepted) except -1:
        cdef CategoryRows rows
        cdef RowNodes made
        cdef size_t n_levels = self.max_depth + 1
        rows.sides = self.category_sides.get()
        rows.x = &X[0, 0] if X.shape[1] else NULL
        rows.n_cols = X.shape[1]
        rows.row_stride = X.strides[0] // <intp_t> sizeof(float32_t)
        rows.col_stride = X.strides[1] // <intp_t> sizeof(float32_t)
        rows.accepted = accepted
        rows.n_nodes = <uint32_t> self.node_count
        rows.n_rows = X.shape[0]
        rows.simd = simd_allowed(get_config()["simd"])
        rows.blocks = NULL
        rows.made = NULL
        if (rows.sides == NULL and rows.fit_blocks()
                and self.has_blocks(rows.n_rows >= ROWS_PER_NODE * self.node_count)):
            rows.blocks = &self.blocks
            n_levels = n_levels // LEVELS_PER_BLOCK + 1
        elif rows.sides == NULL and rows.keys_pay():
            rows.make_nodes(self.nodes.data(), made)
            rows.made = &made
        cdef WalkStatus status
        cdef intp_t start, end, step
        n_threads = self.worthwhile_threads(X.shape[0], n_threads)
        step = self.rows_per_check(n_levels, X.shape[1], table.size, n_threads)
        for start in range(0, X.shape[0], step):
            end = min(start + step, X.shape[0])
            with nogil:
                if rows.sides == NULL:
                    status = walk_rows[NumberRows](rows, self.nodes.data(), table, start, end,
                                                   n_threads, out)
                else:
                    status = walk_rows(rows, self.nodes.data(), table, start, end, n_threads, out)
            if status != WalkStatus.done:
                return False
            PyErr_CheckSignals()
        return True

    cdef intp_t rows_per_check(self, size_t n_levels, intp_t n_values, size_t record_size,
                               int n_threads) noexcept:
        """Rows to walk between two looks for Ctrl-C: a row takes a step per level, or per block of
        questions, and others to read its values, which are checked in vectors, and to write its
        record."""
        cdef size_t n_bytes = n_values * sizeof(float32_t) + record_size
        cdef size_t steps = n_levels + n_bytes // BYTES_PER_STEP
        return max(1, <intp_t> (n_threads * STEPS_PER_LOOK // steps))

    cdef int worthwhile_threads(self, intp_t n_rows, int n_threads) noexcept:
        """No more threads than have work that repays starting them."""
        cdef intp_t n_useful = n_rows * min(self.max_depth + 1, 16) // VISITS_PER_THREAD
        return max(1, min(<intp_t> n_threads, n_useful))


cdef int _walk_sparse(
    Walker walker, const float32_t[::1] data, const index_t[::1] indices, const index_t[::1] indptr,
    LeafTable table, char* out, int n_threads
) except -1:
    """The walk of the rows of a CSR matrix."""
    cdef SparseRows[index_t] rows
    cdef vector[int32_t] slot
    cdef vector[uint32_t] is_asked
    cdef vector[WalkNode] nodes
    cdef intp_t n_rows = indptr.shape[0] - 1
    cdef intp_t start, end, i, step
    cdef WalkStatus status

    if indptr[0] < 0 or indptr[n_rows] > min(data.shape[0], indices.shape[0]):
        raise ValueError("The row pointers of the CSR matrix are out of range.")
    for i in range(n_rows):
        if indptr[i + 1] < indptr[i]:
            raise ValueError("The row pointers of the CSR matrix decrease.")

    rows.n_slots = name_slots(walker.nodes, walker.n_features, nodes, slot, is_asked)
    rows.is_asked = is_asked.data()
    rows.slot = slot.data()
    rows.n_features = walker.n_features
    rows.data = &data[0] if data.shape[0] else NULL
    rows.indices = &indices[0] if indices.shape[0] else NULL
    rows.indptr = &indptr[0]
    n_threads = walker.worthwhile_threads(n_rows, n_threads)
    # Nonzeros are looked at one by one.
    step = walker.rows_per_check(walker.max_depth + 1, indptr[n_rows] // n_rows * BYTES_PER_STEP,
                                 table.size, n_threads)
    for start in range(0, n_rows, step):
        end = min(start + step, n_rows)
        with nogil:
            status = walk_rows(rows, nodes.data(), table, start, end, n_threads, out)
        if status != WalkStatus.done:
            raise ValueError("A column index of the CSR matrix is out of range.")
        PyErr_CheckSignals()
    return 0
