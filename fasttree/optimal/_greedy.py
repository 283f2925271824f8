"""The greedy tree within the same limits: a source of candidate splits, and a mark to reach."""

from functools import cached_property

import numpy as np

from fasttree.tree import DecisionTreeClassifier

__all__ = ["GreedyRival"]


class GreedyRival:
    """A greedy tree, grown when it is first asked for.

    Parameters
    ----------
    estimator : OptimalDecisionTreeClassifier
        Its `min_samples_leaf` and `min_weight_fraction_leaf` are used.
    X, codes, weights : ndarrays
        The training rows, classes and integer weights.
    max_depth, max_leaf_nodes : int
        Limits of the tree.
    """

    def __init__(self, estimator, X, codes, weights, max_depth, max_leaf_nodes):
        self.data = X, codes, weights
        self.limits = {
            "max_depth": max(1, max_depth),
            "max_leaf_nodes": max_leaf_nodes if max_leaf_nodes < 2**max_depth else None,
            "min_samples_leaf": estimator.min_samples_leaf,
            "min_weight_fraction_leaf": estimator.min_weight_fraction_leaf,
        }
        self.can_split = max_depth > 0 and max_leaf_nodes > 1
        self.tree = None

    @cached_property
    def fitted(self):
        X, codes, weights = self.data
        return DecisionTreeClassifier(**self.limits).fit(X, codes, sample_weight=weights)

    def grow(self):
        """Make `tree` the greedy tree, if the limits allow it a split."""
        if self.can_split:
            self.tree = self.fitted.tree_

    def thresholds(self, feature):
        """Thresholds of the greedy tree on a column, missing against present aside."""
        if not self.can_split:
            return np.empty(0)
        self.grow()
        thresholds = self.tree.threshold[self.tree.feature == feature]
        return thresholds[np.isfinite(thresholds)]

    def error(self):
        """Weight of the rows that the greedy tree errs on."""
        X, codes, weights = self.data
        return int(weights[self.fitted.predict(X) != codes].sum())
