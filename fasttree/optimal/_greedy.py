"""The greedy tree within the same limits: a source of candidate splits, and a mark to reach."""

from dataclasses import replace

import numpy as np

from fasttree.tree import DecisionTreeClassifier
from fasttree.tree._encoding import encoding_of

__all__ = ["GreedyRival"]


class GreedyRival:
    """A greedy tree, grown when it is first asked for.

    Parameters
    ----------
    estimator : OptimalDecisionTreeClassifier
        Its `min_samples_leaf`, `min_weight_fraction_leaf` and `n_classes_` are used.
    X, codes, weights : ndarrays
        The training rows, classes and integer weights.
    max_depth, max_leaf_nodes : int
        Limits of the tree.
    n_categories : ndarray of shape (n_features,) or None
        Numbers of categories of the columns.
    """

    def __init__(self, estimator, X, codes, weights, max_depth, max_leaf_nodes, n_categories):
        self.data = X, codes, weights
        self.n_categories = n_categories
        self.n_classes = estimator.n_classes_
        self.limits = {
            "max_depth": max(1, max_depth),
            "max_leaf_nodes": max_leaf_nodes if max_leaf_nodes < 2**max_depth else None,
            "min_samples_leaf": estimator.min_samples_leaf,
            "min_weight_fraction_leaf": estimator.min_weight_fraction_leaf,
        }
        self.can_split = max_depth > 0 and max_leaf_nodes > 1
        self.tree = None

    def grow(self):
        """Make `tree` the greedy tree, if the limits allow it a split."""
        if self.tree is not None or not self.can_split:
            return
        greedy = DecisionTreeClassifier(**self.limits)
        X, codes, weights = self.data
        data = greedy._read_data(X, codes, weights, check_input=False)
        # The rows without weight, which are not among these, may have taken a class with them.
        greedy.n_classes_ = np.array([self.n_classes], dtype=np.intp)
        encoding = encoding_of(data.encoding.X, self.n_categories)
        codes = codes.astype(np.float64)[:, None]
        self.tree = greedy._grow(replace(data, encoding=encoding, y=codes))

    def thresholds(self, feature):
        """Thresholds of the greedy tree on a column, missing against present aside."""
        self.grow()
        if self.tree is None:
            return np.empty(0)
        thresholds = self.tree.threshold[self.tree.feature == feature]
        return thresholds[np.isfinite(thresholds)]

    def categories(self, feature):
        """Codes of the categories of a column that the greedy tree splits from the rest."""
        self.grow()
        if self.tree is None or self.tree.label_splits is None:
            return np.empty(0, dtype=np.uint32)
        splits = self.tree.label_splits
        return splits.codes[self.tree.feature[splits.nodes] == feature]

    def error(self):
        """Weight of the rows that the greedy tree errs on."""
        X, codes, weights = self.data
        predicted = self.tree.value[:, 0].argmax(axis=1)
        return int(weights[predicted[self.tree.apply(X)] != codes].sum())
