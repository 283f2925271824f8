"""SHAP values of trees and forests: `shap_values`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse
from scipy.special import roots_legendre
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from fasttree._config import get_config
from fasttree.export._path_shap import average, longest_path, path_shap
from fasttree.export._questions import column_names
from fasttree.export._view import view_of
from fasttree.utils._threads import effective_n_threads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sklearn.base import BaseEstimator

    from fasttree._typing import FloatArray, MatrixLike

__all__ = ["ShapValues", "shap_values"]

_DENSE_ROWS = 1024  # of a sparse X at a time
_VALUES = 16


@dataclass(frozen=True, repr=False)
class ShapValues:
    """SHAP values of rows: how much each column moves a prediction away from the average.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_values)
        The values. In classification `n_values` are the classes, for several outputs those of one
        output after the other; in regression with several outputs, the outputs.
    base_values : float or ndarray of shape (n_values,)
        The average prediction over the training rows, in a forest over those that each tree drew.
        A row's values add up to its prediction less the average.
    data : object
        The rows.
    feature_names : list of str
        Names of the columns.

    Examples
    --------
    >>> from fasttree.export import shap_values
    >>> from fasttree.tree import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> found = shap_values(tree, [[1], [4]])
    >>> found.base_values, found.values.tolist()
    (0.5, [[-0.5], [0.5]])
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
    estimator: BaseEstimator,
    X: MatrixLike,
    *,
    feature_names: Sequence[str] | None = None,
) -> ShapValues:
    """Return the exact SHAP values of the predictions for rows.

    They are the path-dependent ones: a feature that is left out is averaged over by the weights of
    the training rows in the tree, as in SHAP's ``TreeExplainer`` with
    ``feature_perturbation="tree_path_dependent"``, whose values they equal. What is explained are
    the fractions of the classes or, in regression, the prediction; of a forest the mean over its
    trees. Columns may hold categories and missing values.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of fasttree's, a random forest or extra-trees; its `n_jobs` says how many
        threads are used.
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
    trees, names, rows, n_jobs = _read(estimator, X, feature_names)
    if min(tree.weighted_n_node_samples.min() for tree in trees) < 0:
        raise ValueError("Nodes of the trees have negative weights, so there are no shares.")
    sizes = trees[0].n_classes.tolist()
    values = np.zeros((*rows.shape, sum(sizes)))
    if not is_classifier(estimator):
        _add_values(values, trees, rows, (slice(None), 0), n_jobs)
        means = _average(trees, (slice(None), 0))
        if len(means) == 1:
            return ShapValues(values[:, :, 0], float(means[0]), X, names)
        return ShapValues(values, means, X, names)
    means = np.concatenate([_average(trees, (k, slice(n))) for k, n in enumerate(sizes)])
    for k, of_output in enumerate(np.split(values, np.cumsum(sizes)[:-1], axis=2)):
        others, last = of_output[:, :, :-1], of_output[:, :, -1]
        _add_values(others, trees, rows, (k, slice(others.shape[2])), n_jobs)
        np.subtract(0.0, others.sum(axis=2), out=last)  # the fractions add up to one
    return ShapValues(values, means, X, names)


def _read(estimator, X, feature_names):
    """The trees, the names of the columns, the cells of the rows and `n_jobs`."""
    # which imports trees, and these their exporters
    from fasttree.ensemble._tasks import ClassifierForest, RegressorForest

    if isinstance(estimator, (ClassifierForest, RegressorForest)):
        check_is_fitted(estimator)
        names = column_names(estimator, feature_names, "x{}")
        return estimator._trees(), names, estimator._validate_X_predict(X), estimator.n_jobs
    view = view_of(estimator, feature_names)
    rows = view.estimator._validate_X_predict(X, True)
    return [view.tree], view.names, rows, view.estimator.n_jobs


def _values_of(tree, which):
    """Some values of each node as a matrix; `which` names outputs and classes."""
    return np.ascontiguousarray(tree.value[:, *which])


def _average(trees, which):
    """The mean over the trees of their average predictions."""
    return np.mean([average(tree, _values_of(tree, which)) for tree in trees], axis=0)


def _add_values(out, trees, rows, which, n_jobs):
    """Add the SHAP values of rows for some values of the nodes, the mean over the trees."""
    simd = get_config()["simd"]
    n_rows = _DENSE_ROWS if issparse(rows) else max(1, rows.shape[0])
    for start in range(0, rows.shape[0], n_rows):
        part = rows[start : start + n_rows]
        part = part.toarray() if issparse(part) else part
        for tree in trees:
            points, weights = _quadrature(longest_path(tree))
            values = _values_of(tree, which)
            n_threads = effective_n_threads(n_jobs, rows.shape[0] * tree.node_count)
            for k in range(0, out.shape[2], _VALUES):  # sums of few values stay in the cache
                some = np.ascontiguousarray(values[:, k : k + _VALUES])
                out[start : start + n_rows, :, k : k + _VALUES] += path_shap(
                    tree, part, points, weights, some, n_threads, simd
                )
    out /= len(trees)


@lru_cache(maxsize=64)  # shared by the trees of a forest; small trees are explained in less time
def _quadrature(n_factors):
    """Points and weights on [0, 1], exact for products of so many factors less one."""
    points, weights = roots_legendre(-(-n_factors // 2))
    points, weights = (points + 1) / 2, weights / 2
    for array in (points, weights):
        array.setflags(write=False)
    return points, weights
