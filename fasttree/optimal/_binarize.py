"""Columns of any kind as 0/1 columns, each of which is one split that a tree can make.

A 0/1 column tells which side a row goes to: 1 is right. A numeric column with few distinct values
gives one 0/1 column per gap between neighbouring values, others one per quantile; a column with
missing values gives each of them twice, missing left and missing right, and the split of missing
against present.

Complexity: one sort per column, O(n log n), and n bytes per split.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["Splits", "binarize"]


@dataclass(frozen=True)
class Splits:
    """Candidate splits and what they do to the rows.

    Parameters
    ----------
    columns : ndarray of shape (n_splits, n_samples), dtype=uint8
        1 where a split sends a row right.
    feature : ndarray of shape (n_splits,), dtype=intp
        Column of X that a split reads.
    threshold : ndarray of shape (n_splits,), dtype=float64
        Largest value that goes left.
    missing_go_to_left : ndarray of shape (n_splits,), dtype=int8
        Whether missing values go left; -1 where the column has none.
    is_exhaustive : bool
        Whether every split that tells the rows apart is there, so that the best tree over the
        splits is the best tree over X.
    """

    columns: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_go_to_left: np.ndarray
    is_exhaustive: bool


def binarize(X, n_thresholds, more_thresholds=None):
    """Return the candidate splits of a float32 matrix.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype=float32
        The rows; NaN is missing.
    n_thresholds : int
        Most thresholds per column.
    more_thresholds : function of int, default=None
        Gives thresholds of a column to add where not all gaps are taken.

    Returns
    -------
    Splits
    """
    is_binary = ((X == 0) | (X == 1)).all(axis=0)
    n_features = X.shape[1]
    if is_binary.all():
        return Splits(
            columns=np.ascontiguousarray(X.T, dtype=np.uint8),
            feature=np.arange(n_features),
            threshold=np.full(n_features, 0.5),
            missing_go_to_left=np.full(n_features, -1, dtype=np.int8),
            is_exhaustive=True,
        )
    parts = []
    is_exhaustive = True
    for feature in range(n_features):
        column = X[:, feature]
        if is_binary[feature]:
            parts.append((feature, np.array([0.5]), -1, column.astype(np.uint8)[None]))
            continue
        is_missing = np.isnan(column)
        thresholds, is_complete = _thresholds(np.sort(column[~is_missing]), n_thresholds)
        is_exhaustive &= is_complete
        if not is_complete and more_thresholds is not None:
            thresholds = np.union1d(thresholds, more_thresholds(feature))
        goes_right = column > thresholds[:, None]  # False for missing values
        if not is_missing.any():
            parts.append((feature, thresholds, -1, goes_right))
            continue
        parts.append((feature, thresholds, 1, goes_right))
        parts.append((feature, thresholds, 0, goes_right | is_missing))
        parts.append((feature, np.array([np.inf]), 0, is_missing[None]))
    sizes = [len(thresholds) for _, thresholds, _, _ in parts]

    def stacked(values, dtype):
        return np.repeat(np.array(values, dtype=dtype), sizes)

    return Splits(
        columns=np.concatenate([columns for *_, columns in parts]).view(np.uint8),
        feature=stacked([feature for feature, *_ in parts], np.intp),
        threshold=np.concatenate([thresholds for _, thresholds, _, _ in parts]),
        missing_go_to_left=stacked([left for _, _, left, _ in parts], np.int8),
        is_exhaustive=is_exhaustive,
    )


def _thresholds(values, n_thresholds):
    """Midpoints of neighbours in a sorted column: all, or those nearest to even ranks."""
    starts = np.flatnonzero(values[1:] > values[:-1]) + 1  # where a new value begins
    is_complete = len(starts) <= n_thresholds
    if not is_complete:
        ranks = np.arange(1, n_thresholds + 1) * (len(values) / (n_thresholds + 1))
        above = np.clip(np.searchsorted(starts, ranks), 1, len(starts) - 1)
        is_nearer_below = ranks - starts[above - 1] <= starts[above] - ranks
        starts = np.unique(starts[above - is_nearer_below])
    low, high = values[starts - 1].astype(np.float64), values[starts].astype(np.float64)
    return low / 2 + high / 2, is_complete
