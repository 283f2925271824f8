"""Training-only-once tuning: what cut trees score, from one pass over validation rows.

Limits on depth, rows, decrease of impurity, number of leaves and cost complexity only cut a tree:
the tree grown under them is the top of the tree grown without. A quantity that adds up over
leaves (rows hit, squared error) is therefore known for every setting once it is known for every
node, and a node's follows from the rows that pass through it (Wang and Gupta 2024, algorithm 7,
stops each row at each setting instead; Breiman's cost-complexity cross-validation is the same idea
for one limit).

Quantities have twice the digits of a double (see `engine/prune/wide.hpp`), so that trees which
predict alike score alike, to the last bit, however their leaves are grouped.

Complexity: O(rows + nodes * classes) or O(rows * depth) for the nodes; see `CutSums` for the
settings.
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

from fasttree.engine.core cimport NodeRecord
from fasttree.engine.prune cimport (
    CutSums, CutTree, Setting, Wide, add_class_weights, add_errors, mark_reduced_error,
)
from fasttree.tree.fitted._walk cimport node_pointer
from fasttree.utils._interrupt cimport Interrupt, Poll
from fasttree.utils._typedefs cimport float64_t, intp_t, uint8_t

__all__ = [
    "NO_BUDGET",
    "SETTING_DTYPE",
    "Cuts",
    "class_weights",
    "path_errors",
    "reduced_error_mask",
    "weighted_table",
]


# One setting of the limits in absolute numbers: `Setting` of engine/prune/tuning.hpp.
SETTING_DTYPE = np.dtype(
    [
        ("max_depth", np.int64),
        ("min_samples_split", np.int64),
        ("min_impurity_decrease", np.float64),
        ("max_leaf_nodes", np.int64),
        ("ccp_alpha", np.float64),
    ]
)
# max_leaf_nodes of a setting without one.
NO_BUDGET = np.iinfo(np.int64).max


cdef const float64_t* _weight_pointer(const float64_t[::1] weights) noexcept nogil:
    if weights is None:
        return NULL
    return &weights[0]


cdef Wide* _wide_pointer(object array) except NULL:
    """First number of an array of float64 whose last axis is (high, low)."""
    cdef float64_t[::1] raw = array.reshape(-1)
    return <Wide*> &raw[0]


def class_weights(tree, const intp_t[::1] leaves, const int64_t[::1] codes,
                  const float64_t[::1] sample_weight=None):
    """Return the weight of each class among the rows that pass through each node.

    Parameters
    ----------
    tree : Tree
    leaves : ndarray of shape (n_rows,), dtype=intp
        Each row's leaf.
    codes : ndarray of shape (n_rows,), dtype=int64
        Each row's class, negative if it is none of the tree's.
    sample_weight : ndarray of shape (n_rows,), dtype=float64, or None
        Ones if None.

    Returns
    -------
    ndarray of shape (node_count, n_classes, 2), dtype=float64
        Wide numbers: (high, low).
    """
    _check_rows(tree, leaves, codes.shape[0], sample_weight)
    cdef intp_t n_classes = tree.max_n_classes, n_nodes = tree.node_count
    cdef intp_t n_rows = leaves.shape[0]
    if n_rows and np.max(codes) >= n_classes:
        raise ValueError("A code is not that of a class.")
    out = np.zeros((n_nodes, n_classes, 2))
    cdef Wide* first = _wide_pointer(out)
    cdef const NodeRecord* nodes = node_pointer(tree.nodes)
    cdef Interrupt interrupt = Interrupt()
    cdef Poll steps = interrupt.poll()
    if n_rows:
        with nogil:
            add_class_weights(
                nodes, n_nodes, <const int64_t*> &leaves[0], &codes[0],
                _weight_pointer(sample_weight), n_rows, n_classes, first, steps
            )
        if not steps.go_on(0):
            interrupt.give_up()
    return out


def path_errors(tree, const intp_t[::1] leaves, const float64_t[::1] y, intp_t output,
                bint squared, const float64_t[::1] sample_weight=None):
    """Return the sum of errors at each node of the rows that pass through it.

    Parameters
    ----------
    tree : Tree
        A regression tree.
    leaves : ndarray of shape (n_rows,), dtype=intp
        Each row's leaf.
    y : ndarray of shape (n_rows,), dtype=float64
        Targets.
    output : int
        Which of the tree's outputs predicts them.
    squared : bool
        Squared rather than absolute errors.
    sample_weight : ndarray of shape (n_rows,), dtype=float64, or None
        Ones if None.

    Returns
    -------
    ndarray of shape (node_count, 2), dtype=float64
        Wide numbers: (high, low).
    """
    _check_rows(tree, leaves, y.shape[0], sample_weight)
    cdef const float64_t[:, :, ::1] values = tree.value
    if not 0 <= output < values.shape[1]:
        raise ValueError(f"There is no output {output}.")
    cdef intp_t n_nodes = tree.node_count, n_rows = leaves.shape[0]
    out = np.zeros((n_nodes, 2))
    cdef Wide* first = _wide_pointer(out)
    cdef const NodeRecord* nodes = node_pointer(tree.nodes)
    cdef Interrupt interrupt = Interrupt()
    cdef Poll steps = interrupt.poll()
    if n_rows:
        with nogil:
            add_errors(
                nodes, n_nodes, <const int64_t*> &leaves[0], &y[0],
                _weight_pointer(sample_weight), n_rows,
                &values[0, output, 0], values.shape[1] * values.shape[2], squared, first, steps
            )
        if not steps.go_on(0):
            interrupt.give_up()
    return out


def weighted_table(const float64_t[:, :, ::1] weights, const float64_t[:, ::1] table):
    """Return, for each node, the sum over classes of weight times entry.

    Parameters
    ----------
    weights : ndarray of shape (node_count, n_classes, 2), dtype=float64
        Wide numbers, see `class_weights`.
    table : ndarray of shape (node_count, n_classes), dtype=float64
        What a row of the class is worth at the node.

    Returns
    -------
    ndarray of shape (node_count, 2), dtype=float64
        Wide numbers: (high, low).
    """
    cdef intp_t i, c, n_nodes = weights.shape[0], n_classes = weights.shape[1]
    if table.shape[0] != n_nodes or table.shape[1] != n_classes or weights.shape[2] != 2:
        raise ValueError("The table and the weights must agree in shape.")
    out = np.zeros((n_nodes, 2))
    cdef Wide* sums = _wide_pointer(out)
    cdef const Wide* weight = <const Wide*> &weights[0, 0, 0]
    cdef Interrupt interrupt = Interrupt()
    cdef Poll steps = interrupt.poll()
    with nogil:
        for i in range(n_nodes):
            if not steps.go_on(n_classes):
                interrupt.give_up()
            for c in range(n_classes):
                if weights[i, c, 0] != 0.0 and table[i, c] != 0.0:
                    sums[i].add(weight[i * n_classes + c].times(table[i, c]))
    return out


cdef class Cuts:
    """The trees that settings cut from a tree.

    Parameters
    ----------
    tree : Tree
        Grown under limits as loose as any of the settings', without `ccp_alpha`.
    """

    cdef readonly object tree
    cdef const float64_t[::1] improvement
    cdef CutTree* cut

    def __cinit__(self, tree):
        self.tree = tree
        self.improvement = tree.improvement
        self.cut = new CutTree(node_pointer(tree.nodes), tree.node_count, &self.improvement[0])

    def __dealloc__(self):
        del self.cut

    def sums(self, settings, quantities):
        """Return sums over the leaves of the tree cut by each setting.

        Parameters
        ----------
        settings : ndarray of shape (n_settings,), dtype=SETTING_DTYPE
        quantities : ndarray of shape (n_channels, node_count, 2), dtype=float64
            What each node contributes if it is a leaf; wide numbers.

        Returns
        -------
        ndarray of shape (n_settings, n_channels), dtype=float64
        """
        quantities = np.ascontiguousarray(quantities, dtype=np.float64)
        cdef intp_t n_settings = len(settings), n_channels = len(quantities)
        if quantities.shape != (n_channels, self.tree.node_count, 2):
            raise ValueError(f"quantities has shape {quantities.shape}.")
        out = np.empty((n_settings, n_channels))
        if out.size == 0:
            return out
        cdef const uint8_t[::1] raw = _as_settings(settings)
        cdef float64_t[:, ::1] sums = out
        cdef CutSums* passes = new CutSums(
            self.cut[0], <const Setting*> &raw[0], n_settings, _wide_pointer(quantities),
            n_channels, &sums[0, 0]
        )
        cdef bint has_more = True
        try:
            while has_more:
                with nogil:
                    has_more = passes.step()
                PyErr_CheckSignals()
        finally:
            del passes
        return out

    def n_leaves(self, settings):
        """Return the number of leaves of the tree cut by each setting.

        Parameters
        ----------
        settings : ndarray of shape (n_settings,), dtype=SETTING_DTYPE

        Returns
        -------
        ndarray of shape (n_settings,), dtype=int64
        """
        one = np.zeros((1, self.tree.node_count, 2))
        one[:, :, 0] = 1.0
        return self.sums(settings, one)[:, 0].astype(np.int64)

    def mask(self, setting):
        """Return which nodes a setting makes leaves, or cuts off.

        Parameters
        ----------
        setting : ndarray of shape (1,), dtype=SETTING_DTYPE

        Returns
        -------
        ndarray of shape (node_count,), dtype=bool
            For `prune_tree`.
        """
        cdef const uint8_t[::1] raw = _as_settings(setting)
        is_leaf = np.empty(self.tree.node_count, dtype=bool)
        cdef uint8_t[::1] mask = is_leaf.view(np.uint8)
        with nogil:
            self.cut.mark_leaves((<const Setting*> &raw[0])[0], &mask[0])
        return is_leaf


def reduced_error_mask(tree, quantity):
    """Return which nodes to make leaves so that a sum over leaves is smallest.

    Of equally good trees the smallest is taken.

    Parameters
    ----------
    tree : Tree
    quantity : ndarray of shape (node_count, 2), dtype=float64
        What each node contributes if it is a leaf; wide numbers.

    Returns
    -------
    ndarray of shape (node_count,), dtype=bool
        For `prune_tree`.
    """
    quantity = np.ascontiguousarray(quantity, dtype=np.float64)
    if quantity.shape != (tree.node_count, 2):
        raise ValueError(f"quantity has shape {quantity.shape}.")
    cdef Wide* first = _wide_pointer(quantity)
    cdef const NodeRecord* nodes = node_pointer(tree.nodes)
    cdef intp_t n_nodes = tree.node_count
    is_leaf = np.empty(n_nodes, dtype=bool)
    cdef uint8_t[::1] mask = is_leaf.view(np.uint8)
    with nogil:
        mark_reduced_error(nodes, n_nodes, first, &mask[0])
    return is_leaf


def _as_settings(settings):
    """The bytes of settings that the passes can rely on."""
    settings = np.ascontiguousarray(settings, dtype=SETTING_DTYPE)
    if settings.ndim != 1 or settings.shape[0] == 0:
        raise ValueError(f"settings has shape {settings.shape}.")
    if settings["max_leaf_nodes"].min() < 1:
        raise ValueError("max_leaf_nodes must be at least 1.")
    if np.isnan(settings["min_impurity_decrease"]).any() or np.isnan(settings["ccp_alpha"]).any():
        raise ValueError("A limit is NaN.")
    return settings.view(np.uint8)


def _check_rows(tree, leaves, intp_t n_targets, sample_weight):
    """Raise unless there is a leaf, a target and a weight for each row."""
    if leaves.shape[0] != n_targets or (
        sample_weight is not None and sample_weight.shape[0] != n_targets
    ):
        raise ValueError("Leaves, targets and weights must have the same length.")
    if n_targets and not (0 <= np.min(leaves) and np.max(leaves) < tree.node_count):
        raise ValueError("A leaf is not a node of the tree.")
