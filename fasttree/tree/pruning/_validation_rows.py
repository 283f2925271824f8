"""Validation rows dropped down a fitted tree, and what is summed over them at each node."""

from functools import cached_property
from itertools import repeat

import numpy as np

from fasttree.tree._validation import within_doubles
from fasttree.tree.pruning._tuning import Cuts, class_weights, path_losses, weighted_table

__all__ = ["ValidationRows", "class_codes", "node_losses"]


class ValidationRows:
    """Validation rows dropped down a fitted tree.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
        None if X is not to be had; scorers that are called then say why.
    original : callable or None, default=None
        Returns the rows as the user passed them, if X is encoded or transformed.
    put_tree : callable or None, default=None
        Puts a cut tree where the estimator stands, in a pipeline, for scorers that are called.

    Attributes
    ----------
    stands_alone : bool
        Whether the estimator is no part of a pipeline.
    is_plain : bool
        Whether the one pass can read the rows. If not, the scorers say what is wrong.
    codes : ndarray of shape (n_samples,), dtype=int64, or None
        Positions of the rows' classes, -1 for a class that the tree does not know. None in
        regression, with several outputs, or if the classes cannot be compared.
    """

    def __init__(self, estimator, X, y, original=None, put_tree=None):
        inner = estimator._tree_estimator()
        self.estimator, self.X, self.raw_y = estimator, X, y
        self.tree = inner.tree_
        self.is_classifier = hasattr(inner, "classes_")
        self.classes = inner.classes_ if self.is_classifier else None
        self.codes = None
        self.y = np.asarray(y)
        self.is_plain = self._read_targets() and self._find_leaves()
        self._original, self._put_tree = original, put_tree
        self._sums = {}  # what was summed before

    @property
    def stands_alone(self):
        return self._put_tree is None

    @cached_property
    def original_X(self):
        return self.X if self._original is None else self._original()

    def cut(self, mask, limits):
        """The estimator, or the pipeline that it stands in, with its tree cut by the mask."""
        cut = self.estimator._cut(self.tree, mask, limits, copy=True)
        return cut if self._put_tree is None else self._put_tree(cut)

    @cached_property
    def cuts(self):
        return Cuts(self.tree)

    def _read_targets(self):
        """Whether the targets are of the kind that the passes read."""
        y, n_outputs = self.y, self.tree.n_outputs
        if y.shape[:1] in ((), (0,)):
            return False
        if self.is_classifier:
            if y.ndim != 1 or n_outputs != 1:
                return False
            self.codes = class_codes(y, self.classes)
            return self.codes is not None
        if y.dtype.kind not in "fiu" or y.ndim > 2 or y.size != len(y) * n_outputs:
            return False
        self.y = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), n_outputs)
        return bool(np.isfinite(self.y).all())

    def _find_leaves(self):
        """Whether X can be predicted; if not, the scorer says what is wrong."""
        if self.X is None:
            return False
        try:
            self.leaves = self.estimator.apply(self.X)
        except (TypeError, ValueError):
            return False
        return len(self.leaves) == len(self.y)

    def _known(self, key, summed):
        if key not in self._sums:
            self._sums[key] = summed()
        return self._sums[key]

    # ---- classes

    @cached_property
    def probabilities(self):
        """What each node predicts: shares of the classes."""
        return self.tree.value[:, 0, : len(self.classes)]

    @cached_property
    def labels(self):
        """The class that each node predicts."""
        return np.argmax(self.probabilities, axis=1)

    def class_weights(self, weight):
        """Weight of each class at each node, as wide numbers."""
        return self._known(
            ("classes", _key(weight)),
            lambda: class_weights(self.tree, self.leaves, self.codes, weight),
        )

    def totals(self, weight):
        """Weight of each class among the rows; None if there is a row of another class."""
        if self.codes.min() < 0:
            return None
        return np.bincount(self.codes, weight, minlength=len(self.classes)).astype(np.float64)

    # ---- numbers

    def losses(self, loss, weight, parameter=0.0):
        """Sums of losses at each node, a channel per output; see `path_losses`."""
        return self._known(
            (loss, parameter, _key(weight)),
            lambda: np.array(
                [
                    path_losses(self.tree, self.leaves, y, k, loss, weight, parameter)
                    for k, y in enumerate(np.ascontiguousarray(self.y.T))
                ]
            ),
        )


def _key(weight):
    return None if weight is None else weight.tobytes()


def class_codes(y, classes):
    """Return positions of labels among the classes, -1 for others; None if they do not compare."""
    if y.dtype == object:
        position = {label: code for code, label in enumerate(classes.tolist())}
        return np.fromiter(map(position.get, y.tolist(), repeat(-1)), np.int64, len(y))
    try:
        codes = np.searchsorted(classes, y)
    except TypeError:
        return None
    codes[codes == len(classes)] = 0
    return np.where(classes[codes] == y, codes, -1).astype(np.int64)


@within_doubles
def node_losses(estimator, X, y, sample_weight=None):
    """Return the error of each node on the rows that pass through it.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X, y : array-like
        Validation rows.
    sample_weight : ndarray of shape (n_samples,), dtype=float64, or None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (node_count, 2), dtype=float64
        Weight of wrong classes, summed over outputs, or sum of absolute errors with the
        absolute_error criterion and of squared errors else; wide numbers.
    """
    inner = estimator._tree_estimator()
    tree, leaves, y = inner.tree_, estimator.apply(X), np.asarray(y)
    y = y.reshape(len(y), -1)
    if y.shape[1] != tree.n_outputs:
        raise ValueError(f"y has {y.shape[1]} outputs, but fit saw {tree.n_outputs}.")
    if hasattr(inner, "classes_"):
        classes = inner.classes_ if tree.n_outputs > 1 else [inner.classes_]
        weights = [
            class_weights(tree, leaves, class_codes(y[:, k], classes[k]), sample_weight)
            for k in range(tree.n_outputs)
        ]
        labels = np.argmax(tree.value, axis=2)
        is_wrong = labels[:, :, None] != np.arange(tree.max_n_classes)
        table = is_wrong.reshape(tree.node_count, -1).astype(np.float64)
    else:
        y = y.astype(np.float64)
        if not np.isfinite(y).all():
            raise ValueError("The validation targets must be finite numbers.")
        loss = "squared" if inner._criterion_type().squares_errors else "absolute"
        weights = [
            path_losses(tree, leaves, column, k, loss, sample_weight)[:, None]
            for k, column in enumerate(np.ascontiguousarray(y.T))
        ]
        table = np.ones((tree.node_count, tree.n_outputs))
    return weighted_table(np.concatenate(weights, axis=1), table)
