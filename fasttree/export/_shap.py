"""SHAP values of trees: `shap_values`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse
from scipy.special import roots_legendre
from sklearn.base import is_classifier

from fasttree.export._path_shap import path_shap
from fasttree.export._view import view_of
from fasttree.tree import DecisionTree
from fasttree.utils._threads import effective_n_threads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sklearn.base import BaseEstimator

    from fasttree._typing import FloatArray, MatrixLike

__all__ = ["ShapValues", "shap_values"]

_DENSE_ROWS = 1024  # of a sparse X at a time
_LANES = 4


@dataclass(frozen=True, repr=False)
class ShapValues:
    """SHAP values of rows: how much each column moves a prediction away from the average.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_values)
        The values. In classification `n_values` are the classes, for several outputs those of one
        output after the other; in regression with several outputs, the outputs.
    base_values : float or ndarray of shape (n_values,)
        The average prediction over the training rows. A row's values add up to its prediction less
        the average.
    data : object
        The rows.
    feature_names : list of str
        Names of the columns.
    """

    values: FloatArray
    base_values: float | FloatArray
    data: Any
    feature_names: list[str]

    def explanation(self) -> Any:
        """Return SHAP's `Explanation` of these values, for its plots; needs the package shap.

        Returns
        -------
        shap.Explanation
            With an array of the rows' cells as its data.
        """
        import shap

        data = self.data.toarray() if issparse(self.data) else np.asarray(self.data)
        base_values = np.broadcast_to(
            self.base_values, (len(self.values), *self.values.shape[2:])
        ).copy()
        return shap.Explanation(
            self.values, base_values=base_values, data=data, feature_names=self.feature_names
        )


def shap_values(
    decision_tree: BaseEstimator,
    X: MatrixLike,
    *,
    feature_names: Sequence[str] | None = None,
) -> ShapValues:
    """Return the exact SHAP values of the predictions for rows.

    They are the path-dependent ones: a feature that is left out is averaged over by the weights of
    the training rows in the tree, as in SHAP's ``TreeExplainer`` with
    ``feature_perturbation="tree_path_dependent"``, whose values they equal. What is explained are
    the fractions of the classes or, in regression, the prediction. Columns may hold categories and
    missing values.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of fasttree's; its `n_jobs` says how many threads are used.
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        The rows, as in `predict`.
    feature_names : array-like of shape (n_features,), default=None
        Names of the columns; None takes those of the fit, or x0, x1 and so on.

    Returns
    -------
    ShapValues
        The values and their base.

    Raises
    ------
    ValueError
        If nodes have negative weights, which are no shares of anything.

    Notes
    -----
    Shapley's average over subsets is an integral over [0, 1] of a polynomial, which a quadrature
    of half as many points as there are features on a path gives exactly. A row takes time
    proportional to the number of nodes times these points.

    Examples
    --------
    >>> from fasttree.export import shap_values
    >>> from fasttree.tree import DecisionTreeRegressor
    >>> rows = [["red", 1], ["blue", 1], ["red", 2], ["blue", 2]]
    >>> tree = DecisionTreeRegressor().fit(rows, [0.0, 1.0, 4.0, 5.0])
    >>> found = shap_values(tree, rows[:2])
    >>> float(found.base_values), found.values.tolist()
    (2.5, [[-0.5, -2.0], [0.5, -2.0]])
    """
    view = view_of(decision_tree, feature_names)
    estimator = (
        decision_tree.estimator_ if isinstance(decision_tree, DecisionTree) else decision_tree
    )
    tree = view.tree
    if tree.weighted_n_node_samples.min() < 0:
        raise ValueError("The nodes of the tree have negative weights, so there are no shares.")
    rows = estimator._validate_X_predict(X, True)
    values = tree.value
    if is_classifier(estimator):
        values = values[:, np.arange(tree.max_n_classes) < tree.n_classes[:, None]]
    values = np.ascontiguousarray(values.reshape(tree.node_count, -1))
    points, weights = _quadrature(_longest_path(tree))
    step = _DENSE_ROWS if issparse(rows) else max(1, rows.shape[0])
    n_threads = effective_n_threads(estimator.n_jobs, rows.shape[0] * tree.node_count)
    found = [
        path_shap(tree, _dense(rows[start : start + step]), points, weights, values, n_threads)
        for start in range(0, rows.shape[0], step)
    ]
    found = np.concatenate(found) if found else np.zeros((0, tree.n_features, values.shape[1]))
    base = _average(tree, values)
    if values.shape[1] == 1 and not is_classifier(estimator):
        found, base = found[:, :, 0], float(base[0])
    return ShapValues(found, base, X, view.names)


def _dense(rows):
    return rows.toarray() if issparse(rows) else rows


def _longest_path(tree):
    """Largest number of features on a path, 1 at least."""
    left, right, features = tree.children_left, tree.children_right, tree.feature
    longest = 1
    stack = [(0, frozenset())]
    while stack:
        node, on_path = stack.pop()
        if left[node] < 0:
            longest = max(longest, len(on_path))
            continue
        on_path = on_path | {features[node]}
        stack += [(left[node], on_path), (right[node], on_path)]
    return longest


def _quadrature(n_factors):
    """Points and weights on [0, 1], padded to whole vectors, exact for products of so many less
    one."""
    points, weights = roots_legendre(-(-n_factors // 2))
    n_padded = -(-len(points) // _LANES) * _LANES - len(points)
    points = np.concatenate([(points + 1) / 2, np.full(n_padded, 0.5)])
    return points, np.concatenate([weights / 2, np.zeros(n_padded)])


def _average(tree, values):
    """The average of the leaves' values by the shares of the training weight."""
    share = np.zeros(tree.node_count)
    share[0] = 1.0
    weight = tree.weighted_n_node_samples
    for node in np.flatnonzero(tree.children_left >= 0):
        for child in (tree.children_left[node], tree.children_right[node]):
            share[child] = share[node] * weight[child] / weight[node] if weight[node] > 0 else 0.0
    is_leaf = tree.children_left < 0
    return share[is_leaf] @ values[is_leaf]
