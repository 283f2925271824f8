"""What every writer of code and rules reads: the trees of a fitted estimator, split by split.

Two facts are settled here once. `predict` rounds numbers to float32 before it compares them, other
languages compare doubles: `boundary` is the double at which the rounding crosses a threshold. And
a split is nested by `steps` so that the nesting stays below the logarithm of the number of leaves,
however deep the tree is, for compilers and databases limit it.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from fasttree.export._questions import column_names
from fasttree.table._encoder import table_encoder
from fasttree.tree._auto import DecisionTree
from fasttree.tree._base import BaseDecisionTree

__all__ = ["FittedView", "Split", "boundary", "view_of"]

# What lies beyond the largest float32, as far as rounding is concerned.
BEYOND_FLOAT32 = 2.0**128


@dataclass(frozen=True)
class Split:
    """The question that an inner node asks.

    Attributes
    ----------
    feature : int
        Position of the column.
    at_most : float or None
        Numbers go left if they are at most this, a float32; None at a split on categories, where
        numbers go right.
    codes : ndarray or None
        Codes of the categories that the split lists; None at a threshold, where all categories go
        where missing values go.
    listed_left : bool
        Whether the listed categories go left; those not listed, unknown ones too, go to the other
        side.
    missing_left : bool
        Whether missing values go left.
    """

    feature: int
    at_most: float | None
    codes: np.ndarray | None
    listed_left: bool
    missing_left: bool


@dataclass(frozen=True)
class FittedView:
    """A fitted estimator as writers see it.

    Attributes
    ----------
    estimator : BaseDecisionTree
        The estimator, that inside a `DecisionTree`.
    tree : Tree
        Its tree.
    names : list of str
        Names of the columns.
    columns : list of ColumnEncoder or None
        What the fit learned about the columns of a table; None if it was a matrix of numbers.
    classes : list of ndarray or None
        The class labels of each output, dates as texts; None in regression.
    """

    estimator: BaseDecisionTree
    tree: object
    names: list
    columns: list | None
    classes: list | None

    @property
    def n_outputs(self):
        return self.tree.n_outputs

    def categories_of(self, feature):
        """The categories of a column; none in a matrix of numbers."""
        return [] if self.columns is None else self.columns[feature].categories

    def holds_numbers(self, feature):
        return self.columns is None or not self.columns[feature].is_category

    def splits(self):
        """The split of each node as a list, None for leaves."""
        tree = self.tree
        found = [None] * tree.node_count
        tests = {}
        if tree.label_splits is not None:
            side = tree.label_splits
            limits = side.offsets.tolist()
            for i, node in enumerate(side.nodes.tolist()):
                tests[node] = side.codes[limits[i] : limits[i + 1]], bool(side.listed_left[i])
        at_most = _float32_at_most(tree.threshold).tolist()
        features, missing_left = tree.feature.tolist(), tree.missing_go_to_left.tolist()
        for node in np.flatnonzero(tree.children_left >= 0).tolist():
            codes, listed_left = tests.get(node, (None, False))
            threshold = at_most[node] if codes is None else None
            found[node] = Split(
                features[node], threshold, codes, listed_left, bool(missing_left[node])
            )
        return found

    def leaves(self):
        """The ids of the leaves, ascending."""
        return np.flatnonzero(self.tree.children_left < 0).tolist()

    def predictions(self):
        """What `predict` returns at each node, as lists with an item per output: class labels as
        Python's objects, or floats."""
        value = self.tree.value
        if self.classes is None:
            return value[:, :, 0].tolist()
        codes = value.argmax(axis=2)
        labels = [classes.tolist() for classes in self.classes]
        return [[labels[k][code] for k, code in enumerate(row)] for row in codes.tolist()]

    def chain(self):
        """The tree as a chain: steps, each a node, the side that leaves the chain there and the
        chain of that side, and the leaf at the end.

        Whoever leaves goes to the side with fewer leaves. So chains inside chains are at most
        log2(number of leaves) deep.
        """
        tree = self.tree
        left, right = tree.children_left.tolist(), tree.children_right.tolist()
        n_leaves = [1] * tree.node_count
        for node in range(tree.node_count - 1, -1, -1):  # children have larger ids
            if left[node] >= 0:
                n_leaves[node] = n_leaves[left[node]] + n_leaves[right[node]]

        def follow(node):
            steps = []
            while left[node] >= 0:
                leaves_left = n_leaves[left[node]] <= n_leaves[right[node]]
                out, stay = left[node], right[node]
                if not leaves_left:
                    out, stay = stay, out
                steps.append((node, leaves_left, follow(out)))
                node = stay
            return steps, node

        return follow(0)


def view_of(estimator, feature_names=None):
    """Return the view of a fitted tree.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of fasttree's.
    feature_names : array-like of str, default=None
        Names of the columns; None takes those of the fit, or x0, x1 and so on.
    """
    if not isinstance(estimator, BaseDecisionTree | DecisionTree):
        hint = " A forest holds trees in estimators_." if hasattr(estimator, "estimators_") else ""
        raise TypeError(f"A fitted tree of fasttree is expected, got {estimator!r:.80}.{hint}")
    check_is_fitted(estimator)
    if isinstance(estimator, DecisionTree):
        estimator = estimator.estimator_
    classes = None
    if is_classifier(estimator):
        classes = estimator.classes_ if estimator.n_outputs_ > 1 else [estimator.classes_]
        classes = list(map(_without_dates, classes))
    encoder = table_encoder(estimator)
    return FittedView(
        estimator,
        estimator.tree_,
        column_names(estimator, feature_names, "x{}"),
        None if encoder is None else encoder.columns,
        classes,
    )


def _without_dates(labels):
    """Class labels, dates and durations as texts: other languages have no common type for them."""
    return np.array(list(map(str, labels))) if labels.dtype.kind in "Mm" else labels


def _float32_at_most(thresholds):
    """The largest float32 that is not above each threshold, as float64."""
    with np.errstate(over="ignore"):
        rounded = thresholds.astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded.astype(np.float64) > thresholds, below, rounded).astype(np.float64)


def boundary(at_most):
    """Return where doubles stop being at most a float32 once they are rounded to float32.

    Parameters
    ----------
    at_most : float
        A float32 that is not infinite.

    Returns
    -------
    limit : float
        Midpoint between `at_most` and the next float32, which a double holds exactly.
    is_inclusive : bool
        Whether the midpoint itself is rounded down: ties go to the even one of the two.
    """
    low = np.float32(at_most)
    with np.errstate(over="ignore"):
        high = float(np.nextafter(low, np.float32(np.inf)))
    limit = (float(low) + min(high, BEYOND_FLOAT32)) / 2
    return limit, not low.view(np.uint32) & 1
