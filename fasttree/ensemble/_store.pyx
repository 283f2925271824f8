"""The packed copy of a forest that predictions read; `forest_walk.hpp` holds the loops.

Invariant: the arrays are checked when they come from outside, so every walk ends inside them.

Complexity: O(nodes) to pack, O(trees * depth) per row to predict.
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t

from fasttree._config import get_config

from fasttree.engine.core cimport NodeRecord
from fasttree.engine.predict cimport (
    CategorySides, DenseRows, ForestNodes, PackedForest, RecordTable, RowsTaken, WalkNode,
    WalkStatus, add_forest, pack_nodes
)
from fasttree.engine.simd cimport Simd, simd_allowed
from fasttree.tree.fitted._walk cimport node_pointer
from fasttree.utils._interrupt cimport STEPS_PER_LOOK
from fasttree.utils._std cimport make_shared, shared_ptr, vector
from fasttree.utils._typedefs cimport float32_t, float64_t, intp_t, uint8_t

WALK_DTYPE = np.dtype([("threshold", np.float32), ("feature", np.int32), ("child", np.uint32)])

cdef enum:
    # Starting a thread costs about as much as this many node visits.
    VISITS_PER_THREAD = 1 << 16
    # Levels that many rows descend in a step's time: they walk side by side, and few to the bottom.
    LEVELS_PER_STEP = 8


cdef class ForestStore:
    """Trees packed for prediction: a row's result is the sum of its leaves' records.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes,), dtype=WALK_DTYPE
        The trees' packed nodes, one tree after the other; leaves number their records.
    roots : ndarray of shape (n_trees + 1,), dtype=int64
        Where each tree begins, and the number of nodes.
    records : ndarray of shape (n_records, width), dtype=float64
        What leaves predict, each once.
    n_features : int
        Number of columns of the rows.
    max_depth : int
        Depth of the deepest leaf.
    """

    cdef readonly object nodes
    cdef readonly object roots
    cdef readonly object records
    cdef readonly intp_t n_features
    cdef readonly intp_t max_depth
    cdef PackedForest forest
    cdef vector[shared_ptr[CategorySides]] sides
    cdef vector[const CategorySides*] tree_sides   # null if a tree asks about numbers only
    cdef const uint8_t[::1] node_bytes   # keep the buffers alive
    cdef const int64_t[::1] root_buffer
    cdef const float64_t[:, ::1] record_buffer

    def __init__(self, nodes, roots, records, n_features, max_depth):
        self.attach(nodes, roots, records, n_features, max_depth)
        self.check()

    cdef int attach(self, nodes, roots, records, n_features, max_depth) except -1:
        cdef size_t i
        nodes, records = _checked(nodes, 1, WALK_DTYPE), _checked(records, 2, np.float64)
        self.nodes, self.roots, self.records = nodes, _checked(roots, 1, np.int64), records
        self.n_features, self.max_depth = n_features, max_depth
        self.node_bytes = nodes.view(np.uint8)
        self.root_buffer = self.roots
        self.record_buffer = records
        self.forest.nodes = <const WalkNode*> &self.node_bytes[0]
        self.forest.roots = &self.root_buffer[0]
        self.forest.records = &self.record_buffer[0, 0]
        self.forest.width = records.shape[1]
        self.forest.n_trees = self.root_buffer.shape[0] - 1
        self.tree_sides.resize(self.forest.n_trees)
        for i in range(self.sides.size()):
            self.tree_sides[i] = self.sides[i].get()
        self.forest.sides = self.tree_sides.data()
        return 0

    cdef int check(self) except -1:
        """Raise unless the arrays hold trees without splits on categories."""
        cdef intp_t i, n_trees = self.root_buffer.shape[0] - 1
        cdef bint is_sound = self.root_buffer[0] == 0 and (
            self.root_buffer[n_trees] == len(self.nodes))
        for i in range(n_trees):
            is_sound = is_sound and self.root_buffer[i] < self.root_buffer[i + 1] and (
                self.forest.is_sound(self.root_buffer[i], self.root_buffer[i + 1],
                                     self.n_features, self.record_buffer.shape[0]))
        if not is_sound:
            raise ValueError("The packed nodes do not form trees.")
        return 0

    @staticmethod
    def of(trees, tables):
        """Return the store of some trees.

        Parameters
        ----------
        trees : list of Tree
            At least one.
        tables : iterable of ndarray of shape (node_count, width), dtype=float64
            For each tree what its nodes predict.

        Returns
        -------
        ForestStore

        Raises
        ------
        ValueError
            If the trees do not read as many features, or do not predict as many numbers.
        """
        cdef ForestStore store = ForestStore.__new__(ForestStore)
        cdef shared_ptr[RecordTable] records
        cdef shared_ptr[CategorySides] sides
        cdef vector[WalkNode] packed
        cdef const double[:, ::1] table
        cdef const NodeRecord* source
        cdef uint8_t[::1] target
        cdef intp_t width = 0
        parts, sizes = [], [0]
        for tree, values in zip(trees, tables):
            table = np.ascontiguousarray(values)
            if records.get() == NULL:
                width = table.shape[1]
                records = make_shared[RecordTable](<size_t> width)
            if tree.n_features != trees[0].n_features or table.shape[1] != width:
                raise ValueError("The trees of a forest must read the same features and predict "
                                 "the same number of values.")
            nodes = tree.read_nodes()
            source = node_pointer(nodes)
            packed = pack_nodes(source, table.shape[0])
            sides = shared_ptr[CategorySides]()
            if tree.label_splits is not None:
                sides = mark_categories(source, table.shape[0], tree.label_splits, packed)
            records.get().number_leaves(packed, &table[0, 0])
            part = np.empty(packed.size(), dtype=WALK_DTYPE)
            target = part.view(np.uint8)
            copy_nodes(packed, &target[0])
            parts.append(part)
            sizes.append(packed.size())
            store.sides.push_back(sides)
        table = <const double[:records.get().size(), :table.shape[1]]> records.get().data()
        store.attach(np.concatenate(parts), np.cumsum(sizes), np.array(table),
                     trees[0].n_features, max(tree.max_depth for tree in trees))
        return store

    @property
    def with_categories(self):
        """bool: whether a tree splits on categories."""
        cdef size_t i
        return any([self.tree_sides[i] != NULL for i in range(self.forest.n_trees)])

    def arrays(self):
        """Return the arguments that make the store again, if it asks about numbers only."""
        return self.nodes, self.roots, self.records, self.n_features, self.max_depth

    def leaf_values(self, Py_ssize_t tree, const intp_t[:] left, const intp_t[:] right):
        """Return the records of a tree's leaves in the order of their ids.

        Parameters
        ----------
        tree : int
            Number of the tree.
        left, right : ndarray of shape (node_count,), dtype=intp
            Children of its nodes by id, larger than the node's; -1 at leaves.

        Returns
        -------
        ndarray of shape (n_leaves, width), dtype=float64
        """
        cdef const WalkNode* nodes = self.forest.nodes + self.root_buffer[tree]
        cdef intp_t i, n = left.shape[0], n_packed = (
            self.root_buffer[tree + 1] - self.root_buffer[tree])
        cdef uint32_t first, is_flipped
        cdef vector[uint32_t] place = vector[uint32_t](n)  # of a node in the packed tree
        numbers = []
        if n != n_packed:
            raise ValueError("The packed tree does not have the tree's nodes.")
        for i in range(n):
            if left[i] < 0:
                if nodes[place[i]].feature != -1:
                    raise ValueError("The packed tree does not have the tree's leaves.")
                numbers.append(nodes[place[i]].child)
                continue
            if not (i < left[i] < n and i < right[i] < n) or nodes[place[i]].feature == -1:
                raise ValueError("The packed tree does not have the tree's splits.")
            is_flipped = nodes[place[i]].child >> 31
            first = nodes[place[i]].child & 0x7fffffff
            place[left[i]] = first + is_flipped
            place[right[i]] = first + 1 - is_flipped
        return self.records[numbers]

    def add(self, X, double[:, ::1] out, int n_threads, int accepted,
            const uint32_t[:, ::1] takes=None, int64_t[::1] n_taken=None):
        """Add the records of every row's leaves, in the order of the trees.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), dtype=float32
            The rows.
        out : ndarray of shape (n_samples, width), dtype=float64
            The sums.
        n_threads : int
            At most; the sums do not depend on it.
        accepted : {ALL_FINITE, SOME_MISSING, SOME_INFINITE}
            What X may hold.
        takes : ndarray of shape (n_trees, n_words), dtype=uint32, or None
            A bit per row that says whether the tree is to take it; None: it takes all.
        n_taken : ndarray of shape (n_samples,), dtype=int64
            With `takes`, the number of trees that took each row is added.

        Returns
        -------
        bool
            False if X holds what is not accepted.
        """
        cdef const float32_t[:, :] cells = X if X.flags.aligned else X.copy()
        cdef DenseRows rows
        cdef intp_t start, end, n_rows = cells.shape[0], n_trees = self.forest.n_trees
        cdef intp_t visits = n_trees * (self.max_depth + 1)
        cdef RowsTaken taken
        cdef ForestNodes made
        cdef ForestNodes* used = NULL
        cdef WalkStatus status
        cdef Simd simd = simd_allowed(get_config()["simd"])
        if cells.shape[1] != self.n_features or out.shape[0] != n_rows or (
                out.shape[1] != self.record_buffer.shape[1]):
            raise ValueError(
                f"X has {cells.shape[1]} columns and the result shape {out.shape[0]} x "
                f"{out.shape[1]}, for {n_rows} rows, {self.n_features} features and records of "
                f"{self.record_buffer.shape[1]} numbers.")
        if n_rows == 0:
            return True
        taken.bits = NULL
        if takes is not None:
            if takes.shape[0] != n_trees or takes.shape[1] * 32 < n_rows or (
                    n_taken is None or n_taken.shape[0] != n_rows):
                raise ValueError("The bits must name the rows of every tree.")
            taken.bits, taken.n_words = &takes[0, 0], takes.shape[1]
            taken.n_trees_of = &n_taken[0]
        rows.x = &cells[0, 0]
        rows.n_cols = cells.shape[1]
        rows.row_stride = cells.strides[0] // <intp_t> sizeof(float32_t)
        rows.col_stride = cells.strides[1] // <intp_t> sizeof(float32_t)
        rows.accepted = accepted
        if takes is None and ForestNodes.pays(self.forest, simd, n_rows, rows.n_cols):
            used = &made
        n_threads = <int> max(1, min(<intp_t> n_threads, n_rows * visits // VISITS_PER_THREAD))
        step = max(1, <intp_t> (n_threads * LEVELS_PER_STEP * STEPS_PER_LOOK // visits))
        for start in range(0, n_rows, step):
            end = min(start + <intp_t> step, n_rows)
            with nogil:
                status = add_forest(self.forest, rows, taken, start, end, simd, n_threads, used,
                                    &out[0, 0])
            if status != WalkStatus.done:
                return False
            PyErr_CheckSignals()
        return True


def subtree_sums(const intp_t[:] left, const intp_t[:] right, const double[::1] of_leaves):
    """Return for every node of a tree the sum over its leaves, the children's added up.

    Parameters
    ----------
    left, right : ndarray of shape (node_count,), dtype=intp
        Children, whose ids are larger than the node's; -1 at leaves.
    of_leaves : ndarray of shape (n_leaves,), dtype=float64
        The leaves' numbers, by id.

    Returns
    -------
    ndarray of shape (node_count,), dtype=float64
    """
    cdef intp_t i, n = left.shape[0], n_leaves = of_leaves.shape[0]
    sums = np.empty(n)
    cdef double[::1] total = sums
    for i in range(n - 1, -1, -1):
        if left[i] >= 0:
            if not (i < left[i] < n and i < right[i] < n):
                raise ValueError("The nodes do not form a tree: a child's id is out of range.")
            total[i] = total[left[i]] + total[right[i]]
        else:
            n_leaves -= 1
            if n_leaves < 0:
                raise ValueError("There are more leaves than numbers.")
            total[i] = of_leaves[n_leaves]
    return sums


def _checked(array, ndim, dtype):
    """`array`, if it is what a store holds."""
    if not isinstance(array, np.ndarray) or array.ndim != ndim or array.dtype != dtype or (
            not array.flags.c_contiguous or array.size == 0):
        raise ValueError(f"A forest's arrays must be filled, C-contiguous and of type {dtype}.")
    return array


cdef shared_ptr[CategorySides] mark_categories(
        const NodeRecord* nodes, intp_t n_nodes, label_splits,
        vector[WalkNode]& packed) except *:
    """Mark the packed nodes that split on categories; return their tests."""
    cdef const int64_t[::1] ids = label_splits.nodes
    cdef const int64_t[::1] offsets = label_splits.offsets
    cdef const uint32_t[::1] codes = label_splits.codes
    cdef const uint8_t[::1] listed_left = label_splits.listed_left
    cdef shared_ptr[CategorySides] sides = make_shared[CategorySides](
        &offsets[0], <size_t> ids.shape[0], &codes[0] if codes.shape[0] else NULL,
        &listed_left[0])
    sides.get().mark(nodes, n_nodes, &ids[0], packed)
    return sides


cdef int copy_nodes(const vector[WalkNode]& packed, uint8_t* target) except -1:
    cdef const uint8_t* source = <const uint8_t*> packed.data()
    cdef size_t i
    for i in range(packed.size() * sizeof(WalkNode)):
        target[i] = source[i]
    return 0
