"""Quantile regression forests (N. Meinshausen, "Quantile regression forests", JMLR 7, 2006)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fasttree.ensemble._docs import document_forest
from fasttree.ensemble._forests import RandomForestRegressor
from fasttree.ensemble._leaf_rows import LeafRows
from fasttree.ensemble._oob import warn_of_rows_without_trees

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fasttree._typing import FloatArray, MatrixLike

__all__ = ["RandomForestQuantileRegressor"]


@document_forest("regression")
class RandomForestQuantileRegressor(RandomForestRegressor):
    """A random forest that predicts quantiles of the target.

    The trees are those of :class:`RandomForestRegressor`, but their leaves keep all training
    targets instead of the mean. So any quantile can be predicted after one fit.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RandomForestRegressor : Predicts means.

    Notes
    -----
    The quantile q of the n targets pooled from a row's leaves is the one q (n - 1) places above
    the least, or lies on the line between its neighbours, as in :func:`numpy.quantile`. A row that
    a tree drew k times counts k times, and so does one of weight k without `bootstrap`. With
    weights that are no whole numbers, the quantile is the least target at which it and those below
    have the share q of the weight, as in the paper.

    A fitted forest is larger than one for means by the numbers of the training rows of each tree.

    References
    ----------
    N. Meinshausen, "Quantile regression forests", JMLR 7, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from fasttree.ensemble import RandomForestQuantileRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestQuantileRegressor(random_state=0).fit(X, y)
    >>> low, high = forest.predict(X, quantiles=[0.05, 0.95]).T
    >>> bool(((low <= y) & (y <= high)).mean() > 0.9)
    True
    """

    def _fit(self, X, y, sample_weight):
        data = super()._fit(X, y, sample_weight)
        seeds = [tree.random_state for tree in self.estimators_]
        if self.bootstrap:
            bootstrap = self._bootstrap()
            self._leaf_rows = LeafRows.of(
                self._trees(), data.cells(), data.y, lambda i: bootstrap.counts(seeds[i]), None
            )
        else:
            weights = data.sample_weight
            counts = np.ones(data.n_samples) if weights is None else (weights != 0).astype(float)
            self._leaf_rows = LeafRows.of(
                self._trees(), data.cells(), data.y, lambda i: counts, weights
            )
        return data

    def predict(
        self,
        X: MatrixLike,
        quantiles: ArrayLike | None = None,
        *,
        oob_score: bool = False,
        weighted_leaves: bool = False,
    ) -> FloatArray:
        """Return quantiles of the target, or its mean.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n_samples, n_features)
            The rows, as in `fit`.
        quantiles : float or array-like of shape (n_quantiles,), default=None
            From 0 to 1; None predicts the mean.
        oob_score : bool, default=False
            Whether a row is predicted by those trees only that did not draw it; X must be the rows
            of the fit.
        weighted_leaves : bool, default=False
            Whether all leaves have the same weight, as in the paper, instead of all rows in them.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_quantiles) or (n_samples, n_outputs, ...)
            Quantiles; one axis less for a single number, and one more for several outputs. NaN
            for a row that every tree drew.
        """
        if quantiles is None:
            if oob_score or weighted_leaves:
                raise ValueError("oob_score and weighted_leaves are for quantiles.")
            return super().predict(X)
        wanted = np.asarray(quantiles, dtype=np.float64)
        if wanted.ndim > 1 or wanted.size == 0 or not ((wanted >= 0) & (wanted <= 1)).all():
            raise ValueError(f"quantiles must be numbers from 0 to 1, got {quantiles!r}.")
        rows = self._validate_X_predict(X)
        order = np.argsort(wanted.ravel())
        found = np.empty((rows.shape[0], self.n_outputs_, wanted.size))
        found[:, :, order] = self._leaf_rows.quantiles(
            self._trees(),
            rows,
            wanted.ravel()[order],
            weighted_leaves,
            self._n_walking(rows),
            self._oob_bits(rows) if oob_score else None,
        )
        if oob_score and np.isnan(found).any():
            warn_of_rows_without_trees()
        if wanted.ndim == 0:
            found = found[:, :, 0]
        return found[:, 0] if self.n_outputs_ == 1 else found

    def _oob_bits(self, rows):
        if not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        if rows.shape[0] != self._n_samples:
            raise ValueError(
                f"oob_score=True needs the {self._n_samples} rows of the fit, got {rows.shape[0]}."
            )
        return self._bootstrap().out_of_bag([tree.random_state for tree in self.estimators_])
