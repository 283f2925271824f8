"""Isolation forests: scikit-learn's, of fasttree's trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sklearn.ensemble
from scipy.sparse import issparse

from fasttree._config import get_config
from fasttree._sklearn_compat import average_path_length
from fasttree.ensemble._memory import FitMemory
from fasttree.tree._classes import ExtraTreeRegressor
from fasttree.tree._validation import keeps_earlier_fit
from fasttree.utils._finite import SOME_INFINITE
from fasttree.utils._threads import effective_n_threads

if TYPE_CHECKING:
    from typing import Self

    from fasttree._typing import ColumnLike, MatrixLike

__all__ = ["IsolationForest"]


class IsolationForest(sklearn.ensemble.IsolationForest):
    """An isolation forest, which finds outliers.

    Outliers are rows that random splits separate from the others early. This is a drop-in
    replacement for :class:`sklearn.ensemble.IsolationForest` with the same random draws. It
    consists of fasttree's trees and scores rows by one packed copy of them.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_samples : "auto", int or float, default="auto"
        Number of rows that a tree is grown on: an int is that number, a float a fraction of the
        rows; "auto" is 256, or all if there are fewer.
    contamination : "auto" or float, default="auto"
        Share of outliers among the rows of the fit, at most 0.5: it sets the score below which
        `predict` calls a row an outlier. "auto" takes -0.5, the value of the paper.
    max_features : int or float, default=1.0
        Number of columns that a tree is grown on, or the fraction of them.
    bootstrap : bool, default=False
        Whether the rows of a tree are drawn with replacement.
    n_jobs : int or None, default=None
        Number of jobs in fit, threads unless a joblib context says otherwise. None means 1 unless
        in a joblib context, -1 all.
    random_state : int, RandomState instance or None, default=None
        Source of the draws of rows, columns, features and thresholds.
    verbose : int, default=0
        How much a fit prints.
    warm_start : bool, default=False
        Whether a fit keeps the trees of the last one and only adds what `n_estimators` asks for
        beyond them.

    Attributes
    ----------
    estimators_ : list of ExtraTreeRegressor
        The trees.
    estimators_features_ : list of ndarray
        The columns that each tree was grown on.
    estimators_samples_ : list of ndarray
        The rows that each tree was grown on, drawn again at each access.
    max_samples_ : int
        Number of rows that a tree was grown on.
    offset_ : float
        ``decision_function`` is ``score_samples`` less this; below 0 is an outlier.
    estimator_ : ExtraTreeRegressor
        A tree that was not fitted.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all are strings.

    See Also
    --------
    RandomTreesEmbedding : Random trees as a transformer.

    References
    ----------
    F. T. Liu, K. M. Ting and Z.-H. Zhou, "Isolation forest", ICDM 2008.

    Examples
    --------
    >>> from fasttree.ensemble import IsolationForest
    >>> X = [[-1.1], [0.3], [0.5], [100.0]]
    >>> IsolationForest(random_state=0).fit(X).predict([[0.1], [0.0], [90.0]])
    array([ 1,  1, -1])
    """

    @keeps_earlier_fit
    def fit(self, X: MatrixLike, y: object = None, sample_weight: ColumnLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : object, default=None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Rows are drawn in proportion to their weights.

        Returns
        -------
        IsolationForest
            The fitted forest.
        """
        self._memory = FitMemory()
        return super().fit(X, y, sample_weight)

    # What scikit-learn's `fit` and `score_samples` call.

    def _get_estimator(self):
        return ExtraTreeRegressor(max_features=1, splitter="random", random_state=self.random_state)

    def _parallel_args(self):
        if get_config()["sklearn_random_stream"]:  # a setting that the threads would not see
            return {"backend": "sequential"}
        return super()._parallel_args()

    def _compute_chunked_score_samples(self, X):
        if issparse(X) or self._max_features != X.shape[1]:
            return super()._compute_chunked_score_samples(X)
        trees = [estimator.tree_ for estimator in self.estimators_]
        depths = np.zeros((X.shape[0], 1))
        n_threads = effective_n_threads(None, X.shape[0] * len(trees))
        store = self._memory.store(trees, self._path_lengths)
        store.add(X, depths, n_threads, SOME_INFINITE)
        longest = len(trees) * average_path_length([self._max_samples])
        relative = np.ones(X.shape[0]) if longest == 0 else depths[:, 0] / longest
        return 2.0**-relative

    def _path_lengths(self, number):
        """Expected length of the path to a row by the node that it ends in, (n_nodes, 1)."""
        lengths = self._decision_path_lengths[number] + self._average_path_length_per_tree[number]
        return (lengths - 1.0).reshape(-1, 1)
