"""The fitted tree: its arrays, prediction, and what can be derived from them.

`Tree` has scikit-learn's array attributes and methods. The node arrays are read-only views of one
array of `NODE_DTYPE`; `value` can be written in place and is read at every call. Both are made when
they are first asked for (`NodeArrays`). Arrays that come from outside are checked; predictions are
the work of a `Walker`, which has its own copy of the nodes.

Invariant: nodes form a binary tree rooted at 0, and a child's id is larger than its parent's.
Complexity: predictions and decision paths take O(depth) per row, all else O(node_count).
"""
import numpy as np
from scipy.sparse import csr_array

from libc.stdint cimport int64_t

from fasttree.utils._typedefs cimport float32_t, float64_t, uint8_t

from fasttree._sklearn_compat import align_sparse_interface
from fasttree.tree.fitted._categorical_splits import CategoricalSplits
from fasttree.tree.fitted._derived import add_partial_dependence, feature_importances
from fasttree.tree.fitted._paths import parents_and_depths, paths_to
from fasttree.tree.fitted._tree_state import (
    FORMAT_VERSION,
    NODE_DTYPE,
    _check_n_classes,
    _check_node_ndarray,
    _check_size,
    _check_value_ndarray,
    _checked_nodes,
    _checked_values,
    packed_nodes,
)
from fasttree.utils._finite import SOME_INFINITE

__all__ = ["NODE_DTYPE", "TREE_LEAF", "TREE_UNDEFINED", "Tree"]

TREE_LEAF, TREE_UNDEFINED = -1, -2
FLOAT64, INTP = np.dtype(np.float64), np.dtype(np.intp)

cdef class Tree:
    """A fitted binary decision tree as arrays, one entry per node.

    Node 0 is the root. A split sends a row left if the value of its feature is at most the
    threshold, or if it is in a set of categories; a missing value goes where `missing_go_to_left`
    says.

    Parameters
    ----------
    n_features : int
        Number of columns of the data.
    n_classes : ndarray of shape (n_outputs,), dtype=intp
        Number of classes of each output; 1 in regression.
    n_outputs : int
        Number of outputs.

    Attributes
    ----------
    n_features, n_outputs, max_n_classes : int
        The sizes the tree was made with.
    n_classes : ndarray of shape (n_outputs,), dtype=intp
        Number of classes of each output.
    node_count, capacity : int
        Number of nodes.
    nodes : ndarray of shape (node_count,), dtype=NODE_DTYPE
        The nodes; the arrays below, `value` aside, are views of its fields.
    n_leaves : int
        Number of leaves.
    max_depth : int
        Depth of the deepest leaf; the root's is 0.
    children_left, children_right : ndarray of shape (node_count,), dtype=intp
        Ids of the children, larger than the node's own; -1 (`TREE_LEAF`) at a leaf.
    feature : ndarray of shape (node_count,), dtype=intp
        Column that the node splits on; -2 (`TREE_UNDEFINED`) at a leaf.
    threshold : ndarray of shape (node_count,), dtype=float64
        Largest value that goes left; -2 at a leaf, -inf at a split on categories.
    split_kind : ndarray of shape (node_count,), dtype=int8
        -1 at a leaf, 0 at a threshold, 1 at a split on categories.
    left_cat_bitset : ndarray of shape (node_count, n_words), dtype=uint32
        Bit ``code % 32`` of word ``code // 32`` says that a split on categories sends that category
        left; made at each access, with a bit for every category of the column that has most.
    label_splits : CategoricalSplits or None
        The splits on categories.
    missing_go_to_left : ndarray of shape (node_count,), dtype=uint8
        1 where missing values go left.
    impurity : ndarray of shape (node_count,), dtype=float64
        Impurity of the node's training rows.
    improvement : ndarray of shape (node_count,), dtype=float64
        Weighted decrease of impurity by the split, as in `min_impurity_decrease`; 0 at a leaf.
    n_node_samples : ndarray of shape (node_count,), dtype=intp
        Number of training rows in the node.
    weighted_n_node_samples : ndarray of shape (node_count,), dtype=float64
        Their total weight.
    value : ndarray of shape (node_count, n_outputs, max_n_classes), dtype=float64
        What the node predicts: fractions of the classes, or the target's mean or median. The
        only array that can be written to.

    Examples
    --------
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1]).tree_
    >>> tree.children_left, tree.threshold
    (array([ 1, -1, -1]), array([ 2.5, -2. , -2. ]))
    """

    def __cinit__(self, n_features, object n_classes, n_outputs):
        cdef const intp_t[::1] sizes
        cdef intp_t k
        _check_size(n_features, "n_features")
        _check_size(n_outputs, "n_outputs")
        n_classes = np.array(_check_n_classes(n_classes, INTP))
        if n_outputs < 1 or n_classes.shape[0] != n_outputs:
            raise ValueError(
                f"n_classes must have one entry per output, got {len(n_classes)} for {n_outputs}."
            )
        sizes = n_classes
        self.max_n_classes = 1
        for k in range(n_outputs):
            if sizes[k] < 1:
                raise ValueError("Each output must have at least one class.")
            self.max_n_classes = max(self.max_n_classes, sizes[k])
        n_classes.flags.writeable = False
        self.n_features = n_features
        self.n_outputs = n_outputs
        self.node_count = 0
        self.max_depth = 0
        self._walker = Walker(n_features)
        self._n_classes = n_classes
        shape = (0, n_outputs, self.max_n_classes)
        self._arrays = NodeArrays(np.empty(0, dtype=NODE_DTYPE), np.empty(shape), shape)

    def set_nodes(self, nodes, values, max_depth, label_splits=None):
        """Fill the tree. The arrays become its own.

        Parameters
        ----------
        nodes : ndarray of shape (node_count,), dtype=NODE_DTYPE
            The nodes in their final order: a child's id is larger than its parent's.
        values : ndarray of shape (node_count, n_outputs, max_n_classes), dtype=float64
            What each node predicts, C-contiguous.
        max_depth : int
            Depth of the deepest leaf.
        label_splits : CategoricalSplits, default=None
            The splits on categories, if there are any.

        Raises
        ------
        ValueError
            If the arrays do not describe a tree, or the tree was filled before.
        """
        nodes = _check_node_ndarray(nodes, NODE_DTYPE)
        shape = (nodes.shape[0], self.n_outputs, self.max_n_classes)
        values = _check_value_ndarray(values, FLOAT64, shape)
        if nodes.shape[0] == 0:
            raise ValueError("A tree has at least one node.")
        self._fill(nodes, values, max_depth, label_splits)

    cdef int _fill(self, nodes, values, max_depth, label_splits) except -1:
        """`set_nodes` with arrays that have been checked."""
        if self.node_count:
            raise ValueError("The tree has been filled already.")
        cdef Walker walker = Walker(self.n_features)
        cdef NodeArrays arrays = NodeArrays(nodes, values, values.shape)
        walker.fill(arrays, label_splits)
        if walker.max_depth != max_depth:
            raise ValueError(f"max_depth is {max_depth}, but the nodes have {walker.max_depth}.")
        nodes.flags.writeable = False
        return self._hold(arrays, walker, label_splits)

    cdef int take(self, NodeArrays arrays, intp_t max_depth, intp_t n_leaves,
                  label_splits) except -1:
        """`set_nodes` with nodes that were grown."""
        cdef Walker walker = Walker(self.n_features)
        if self.node_count:
            raise ValueError("The tree has been filled already.")
        walker.take(arrays, label_splits, max_depth, n_leaves)
        return self._hold(arrays, walker, label_splits)

    cdef int _hold(self, NodeArrays arrays, Walker walker, label_splits) except -1:
        self._arrays = arrays
        self._label_splits = label_splits
        self._walker = walker
        self.max_depth = walker.max_depth
        self.node_count = walker.node_count
        return 0

    def read_nodes(self):
        """Return `nodes`, which are made anew if nobody has asked for that array yet: it takes
        memory as long as it is used only.

        Returns
        -------
        ndarray of shape (node_count,), dtype=NODE_DTYPE
            Read-only.
        """
        return self._arrays.read_nodes()

    def read_values(self):
        """Return `value`, in the same way.

        Returns
        -------
        ndarray of shape (node_count, n_outputs, max_n_classes), dtype=float64
            Not to be written to.
        """
        return self._arrays.read_values()

    # ---- arrays

    @property
    def nodes(self):
        return self._arrays.keep_nodes()

    @property
    def label_splits(self):
        return self._label_splits

    @property
    def split_kind(self):
        kinds = np.where(self.children_left == TREE_LEAF, -1, 0).astype(np.int8)
        if self._label_splits is not None:
            kinds[self._label_splits.nodes] = 1
        return kinds

    @property
    def left_cat_bitset(self):
        if self._label_splits is None:
            return np.zeros((self.node_count, 0), dtype=np.uint32)
        return self._label_splits.left_bitset(self.feature)

    @property
    def n_classes(self):
        return self._n_classes

    @property
    def capacity(self):
        return self.node_count

    @property
    def n_leaves(self):
        return self._walker.n_leaves

    @property
    def children_left(self):
        return self.nodes["left_child"]

    @property
    def children_right(self):
        return self.nodes["right_child"]

    @property
    def feature(self):
        return self.nodes["feature"]

    @property
    def threshold(self):
        return self.nodes["threshold"]

    @property
    def impurity(self):
        return self.nodes["impurity"]

    @property
    def n_node_samples(self):
        return self.nodes["n_node_samples"]

    @property
    def weighted_n_node_samples(self):
        return self.nodes["weighted_n_node_samples"]

    @property
    def missing_go_to_left(self):
        return self.nodes["missing_go_to_left"]

    @property
    def value(self):
        return self._arrays.keep_values()[:]

    @property
    def improvement(self):
        improvement = np.zeros(self.node_count)
        split = np.flatnonzero(self.children_left != TREE_LEAF)
        left, right = self.children_left[split], self.children_right[split]
        weight, impurity = self.weighted_n_node_samples, self.impurity
        improvement[split] = (weight[split] / weight[0]) * (
            impurity[split]
            - weight[right] / weight[split] * impurity[right]
            - weight[left] / weight[split] * impurity[left]
        )
        return improvement

    # ---- pickle and copy

    def __reduce__(self):
        return (Tree, (self.n_features, self._n_classes, self.n_outputs), self.__getstate__())

    def __reduce_ex__(self, protocol):
        tree, arguments, state = self.__reduce__()
        return (tree, arguments, state | {"nodes": packed_nodes(self._arrays.read_nodes())})

    def __getstate__(self):
        state = {
            "format_version": FORMAT_VERSION,
            "max_depth": self.max_depth,
            "node_count": self.node_count,
            "nodes": self._arrays.read_nodes(),
            "values": self._arrays.read_values(),
        }
        if self._label_splits is not None:
            state["label_splits"] = self._label_splits.state()
        return state

    def __setstate__(self, state):
        nodes = _checked_nodes(state)
        shape = (nodes.shape[0], self.n_outputs, self.max_n_classes)
        values = _checked_values(state, shape, self._n_classes)
        label_splits = None
        if "label_splits" in state:
            label_splits = CategoricalSplits.from_state(state["label_splits"], self.n_features)
        if nodes.shape[0]:
            self._fill(nodes, values, state["max_depth"], label_splits)

    # ---- prediction

    def apply(self, X, int n_threads=1, int accepted=SOME_INFINITE):
        """Return the id of the leaf of each row.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features), dtype=float32
            The rows.
        n_threads : int, default=1
            Number of threads.
        accepted : {ALL_FINITE, SOME_MISSING, SOME_INFINITE}, default=SOME_INFINITE
            What a dense X may hold, as `fasttree.utils._finite` names it; looked at on the way.

        Returns
        -------
        ndarray of shape (n_samples,), dtype=intp, or None
            Ids of leaves; None if X holds what is not accepted.
        """
        self._walker.check_rows(X)
        out = np.empty(X.shape[0], dtype=np.intp)
        return out if self._walker.walk(X, NULL, sizeof(intp_t), out, n_threads, accepted) else None

    def lookup(self, X, table, int n_threads=1, int accepted=SOME_INFINITE):
        """Return, for each row, the entry of its leaf in a table.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features), dtype=float32
            The rows.
        table : ndarray of shape (node_count, ...)
            One entry per node, of any dtype but object.
        n_threads : int, default=1
            Number of threads.
        accepted : {ALL_FINITE, SOME_MISSING, SOME_INFINITE}, default=SOME_INFINITE
            What a dense X may hold, as in :meth:`apply`.

        Returns
        -------
        ndarray of shape (n_samples, ...) or None
            ``table[tree.apply(X)]``, without the ids in between; None if X holds what is not
            accepted.
        """
        self._walker.check_rows(X)
        if table.shape[0] != self.node_count:
            raise ValueError(f"The table has {table.shape[0]} entries for {self.node_count} nodes.")
        if table.dtype.hasobject or table.dtype.itemsize == 0:
            raise ValueError(f"The table must hold numbers or categories, not {table.dtype}.")
        table = np.ascontiguousarray(table)
        out = np.empty((X.shape[0],) + table.shape[1:], dtype=table.dtype)
        cdef size_t size = table.nbytes // table.shape[0]
        if size == 0:
            return out
        cdef const uint8_t[::1] records = table.reshape(-1).view(np.uint8)
        cdef const char* first = <const char*> &records[0]
        return out if self._walker.walk(X, first, size, out, n_threads, accepted) else None

    def predict(self, X, int n_threads=1):
        """Return the value of the leaf of each row.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features), dtype=float32
            The rows.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        ndarray of shape (n_samples, max_n_classes) if there is one output, else \
                (n_samples, n_outputs, max_n_classes)
            Values of leaves.
        """
        values = self._arrays.read_values()
        return self.lookup(X, values[:, 0] if self.n_outputs == 1 else values, n_threads)

    def decision_path(self, X, int n_threads=1):
        """Return which nodes each row passes through.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features), dtype=float32
            The rows.
        n_threads : int, default=1
            Number of threads.

        Returns
        -------
        CSR matrix or array of shape (n_samples, node_count)
            Ones where the row passes through the node, root and leaf included.
        """
        leaves = self.apply(X, n_threads)
        step = self._walker.rows_per_check(
            self.max_depth + 1, 0, self.max_depth * sizeof(int64_t), n_threads)
        nodes = self._arrays.read_nodes()
        indptr, indices = paths_to(leaves, nodes["left_child"], nodes["right_child"], step,
                                   n_threads)
        data = np.ones(indices.shape[0], dtype=np.intp)
        path = csr_array((data, indices, indptr), shape=(leaves.shape[0], self.node_count))
        return align_sparse_interface(path)

    # ---- what follows from the arrays

    def compute_node_depths(self):
        """Return the depth of each node; the root's is 1.

        Returns
        -------
        ndarray of shape (node_count,), dtype=int64
            Depths.
        """
        nodes = self._arrays.read_nodes()
        return parents_and_depths(nodes["left_child"], nodes["right_child"])[1]

    def compute_feature_importances(self, normalize=True):
        """Return the total decrease of impurity that each feature's splits brought.

        Parameters
        ----------
        normalize : bool, default=True
            Whether to divide by the sum, so that the importances add up to 1.

        Returns
        -------
        ndarray of shape (n_features,), dtype=float64
            Importances; all 0 for a tree without a split.
        """
        if self.node_count == 0:
            return np.zeros(self.n_features)
        return feature_importances(self._arrays.read_nodes(), self.n_features, normalize)

    def compute_partial_dependence(
        self, const float32_t[:, ::1] X, const intp_t[::1] target_features, float64_t[::1] out
    ):
        """Add the partial dependence of the first output's first value on some features.

        At a split on a target feature the row goes to its child; at any other split to both,
        weighted by the children's shares of the training weight. A missing value goes as in
        prediction.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_target_features), dtype=float32, C-contiguous
            Values of the target features.
        target_features : ndarray of shape (n_target_features,), dtype=intp
            Their column numbers.
        out : ndarray of shape (n_samples,), dtype=float64
            The result is added to it.

        Raises
        ------
        ValueError
            If shapes do not agree, a feature does not exist, or the weights of the leaves that a
            row reaches do not sum to 1.
        """
        if X.shape[1] != target_features.shape[0] or X.shape[0] != out.shape[0]:
            raise ValueError(
                f"X has shape ({X.shape[0]}, {X.shape[1]}) for {target_features.shape[0]} target "
                f"features and {out.shape[0]} results."
            )
        if self.node_count == 0:
            raise ValueError("The tree is empty: it has not been fitted.")
        add_partial_dependence(self.nodes, self.value, self._label_splits, self.n_features, X,
                               target_features, out)
