"""The training rows in the leaves of a forest, for quantiles; `leaf_quantiles.hpp` holds the loops.

Complexity: O(trees * (apply + n log n)) to list the rows, O(m log m) per prediction for the m
training rows that share its leaves.
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t

from fasttree.engine.predict cimport ListedRows, leaf_quantiles
from fasttree.utils._typedefs cimport intp_t

cdef intp_t ROWS_AT_A_TIME = 4096


class LeafRows:
    """The training rows in each leaf of each tree.

    Parameters
    ----------
    first_node : ndarray of shape (n_trees + 1,), dtype=int64
        Where the nodes of each tree begin among those of all.
    starts : ndarray of shape (n_nodes + 1,), dtype=int64
        Where the rows of each node begin among those of all.
    rows : ndarray of shape (n_listed,), dtype=uint32
        Numbers of training rows.
    counts : ndarray of shape (n_listed,), dtype=uint32
        How often the tree drew them.
    row_weights : ndarray of shape (n_samples,), dtype=float64, or None
        Weights of training rows; None: all alike.
    ranks : ndarray of shape (n_outputs, n_samples), dtype=uint32
        Places of the rows' targets in ascending order.
    targets : ndarray of shape (n_outputs, n_samples), dtype=float64
        The targets in that order.

    Raises
    ------
    ValueError
        If the arrays do not belong together.
    """

    _DTYPES = {"first_node": np.int64, "starts": np.int64, "rows": np.uint32, "counts": np.uint32,
               "row_weights": np.float64, "ranks": np.uint32, "targets": np.float64}

    def __init__(self, first_node, starts, rows, counts, row_weights, ranks, targets):
        arrays = (first_node, starts, rows, counts, row_weights, ranks, targets)
        self.__setstate__(dict(zip(self._DTYPES, arrays)))

    @classmethod
    def of(cls, trees, X, y, counts_of, row_weights):
        """List the rows of some trees.

        Parameters
        ----------
        trees : list of Tree
        X : ndarray or CSR matrix of shape (n_samples, n_features), dtype=float32
            The training rows.
        y : ndarray of shape (n_samples, n_outputs), dtype=float64
            Their targets.
        counts_of : callable
            From the number of a tree to how often it drew each row.
        row_weights : ndarray of shape (n_samples,), dtype=float64, or None
        """
        first_node = np.cumsum([0] + [tree.node_count for tree in trees])
        sizes, rows, counts = [], [], []
        for number, tree in enumerate(trees):
            drawn = counts_of(number)
            members = np.flatnonzero(drawn)
            leaves = tree.apply(X)[members]
            order = np.argsort(leaves, kind="stable")
            sizes.append(np.bincount(leaves, minlength=tree.node_count))
            rows.append(members[order].astype(np.uint32))
            counts.append(drawn[members[order]].astype(np.uint32))
            PyErr_CheckSignals()
        order = np.argsort(y.T, axis=1, kind="stable")
        ranks = np.empty(order.shape, dtype=np.uint32)
        np.put_along_axis(ranks, order, np.arange(len(y), dtype=np.uint32)[None], axis=1)
        targets = np.take_along_axis(np.ascontiguousarray(y.T), order, axis=1)
        starts = np.cumsum(np.concatenate([[0], *sizes]))
        return cls(first_node, starts, np.concatenate(rows), np.concatenate(counts), row_weights,
                   ranks, targets)

    def __getstate__(self):
        return vars(self)

    def __setstate__(self, state):
        if set(state) != set(self._DTYPES):
            raise ValueError(f"The rows of leaves are described by {', '.join(self._DTYPES)}.")
        for name, dtype in self._DTYPES.items():
            array = state[name]
            if name == "row_weights" and array is None:
                continue
            n_dims = 2 if name in ("ranks", "targets") else 1
            if not isinstance(array, np.ndarray) or array.ndim != n_dims or (
                    array.dtype != dtype or not array.flags.c_contiguous or array.size == 0):
                raise ValueError(f"{name} must be a C-contiguous array of {np.dtype(dtype)}.")
        vars(self).update(state)
        n_rows = self.targets.shape[1]
        if (
            len(self.rows) != len(self.counts)
            or self.ranks.shape != self.targets.shape
            or (self.row_weights is not None and len(self.row_weights) != n_rows)
            or self.rows.max() >= n_rows
            or self.ranks.max() >= n_rows
            or not _is_ascending(self.first_node, len(self.starts) - 1)
            or not _is_ascending(self.starts, len(self.rows))
        ):
            raise ValueError("The rows of the leaves and the targets do not belong together.")

    def quantiles(self, trees, X, const double[::1] quantiles, bint weighs_leaves, int n_threads,
                  const uint32_t[:, ::1] takes=None):
        """Return quantiles of the targets in the leaves of rows.

        Parameters
        ----------
        trees : list of Tree
            Those whose rows are listed.
        X : ndarray or CSR matrix of shape (n_samples, n_features), dtype=float32
        quantiles : ndarray of shape (n_quantiles,), dtype=float64
            In ascending order.
        weighs_leaves : bool
            Whether every leaf weighs the same, instead of every row in it.
        n_threads : int
        takes : ndarray of shape (n_trees, n_words), dtype=uint32, or None
            A bit per row that says whether the tree is to take it; None: it takes all.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs, n_quantiles), dtype=float64
            NaN for a row that no tree takes.
        """
        cdef ListedRows data
        cdef const int64_t[::1] first_node = self.first_node, starts = self.starts
        cdef const uint32_t[::1] rows = self.rows, counts = self.counts
        cdef const uint32_t[:, ::1] ranks = self.ranks
        cdef const double[:, ::1] targets = self.targets
        cdef const double[::1] row_weights
        cdef const int64_t[:, ::1] leaves
        cdef double[:, :, ::1] out
        cdef const uint32_t* bits = NULL
        cdef size_t n_words = 0
        cdef intp_t start, n_rows = X.shape[0]
        if np.any(np.diff(self.first_node) != [tree.node_count for tree in trees]):
            raise ValueError("The trees of the forest were exchanged: fit it again.")
        result = np.empty((n_rows, ranks.shape[0], quantiles.shape[0]))
        out = result
        data.n_trees = len(trees)
        data.first_node, data.starts = &first_node[0], &starts[0]
        data.rows, data.counts = &rows[0], &counts[0]
        data.ranks, data.targets = &ranks[0, 0], &targets[0, 0]
        data.n_outputs, data.n_training_rows = ranks.shape[0], ranks.shape[1]
        data.row_weights = NULL
        data.is_counted = True
        if takes is not None:
            if takes.shape[0] != len(trees) or takes.shape[1] * 32 < n_rows:
                raise ValueError("The bits must name the rows of every tree.")
            bits, n_words = &takes[0, 0], takes.shape[1]
        if self.row_weights is not None:
            row_weights = self.row_weights
            data.row_weights = &row_weights[0]
            data.is_counted = (self.row_weights == np.rint(self.row_weights)).all()
        for start in range(0, n_rows if result.size else 0, ROWS_AT_A_TIME):
            part = X[start:start + ROWS_AT_A_TIME]
            leaves = np.array([tree.apply(part, n_threads) for tree in trees], dtype=np.int64)
            with nogil:
                leaf_quantiles(
                    data, &leaves[0, 0], bits, n_words, start, leaves.shape[1], &quantiles[0],
                    quantiles.shape[0], weighs_leaves, n_threads, &out[start, 0, 0])
            PyErr_CheckSignals()
        return result


def _is_ascending(offsets, last):
    return offsets[0] == 0 and offsets.max() == last and bool((np.diff(offsets) >= 0).all())
