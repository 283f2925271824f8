"""Columns of any kind as 0/1 columns, each of which is one split that a tree can make.

A 0/1 column tells which side a row goes to: 1 is right. A numeric column with few distinct values
gives one 0/1 column per gap between neighbouring values, others one per quantile; a column with
missing values gives each of them twice, missing left and missing right, and the split of missing
against present. Categories are split one against the rest; at a threshold they go with the missing
values, as everywhere in fasttree.

Complexity: one sort per column, O(n log n), and n bytes per split.
"""

from dataclasses import dataclass

import numpy as np

from fasttree.table._encoder import category_codes

__all__ = ["Splits", "binarize"]

NO_CATEGORY = -1


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
        Largest value that goes left; -inf for a category.
    category : ndarray of shape (n_splits,), dtype=intp
        Code of the category that goes left, NO_CATEGORY for a threshold.
    missing_go_to_left : ndarray of shape (n_splits,), dtype=int8
        Whether missing values go left; -1 where the column has none.
    is_exhaustive : bool
        Whether every split that tells the rows apart is there, so that the best tree over the
        splits is the best tree over X.
    """

    columns: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    category: np.ndarray
    missing_go_to_left: np.ndarray
    is_exhaustive: bool


def binarize(X, n_thresholds, n_categories=None, rival=None):
    """Return the candidate splits of a float32 matrix.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype=float32
        The rows; NaN is missing, or a category.
    n_thresholds : int
        Most thresholds per column, and most categories.
    n_categories : ndarray of shape (n_features,), default=None
        Numbers of categories of the columns, if some have any.
    rival : GreedyRival, default=None
        Gives splits of a column to add where not all are taken.

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
            category=np.full(n_features, NO_CATEGORY),
            missing_go_to_left=np.full(n_features, -1, dtype=np.int8),
            is_exhaustive=True,
        )
    parts = []  # (feature, thresholds, categories, where missing values go, columns)
    is_exhaustive = True
    for feature in range(n_features):
        column = X[:, feature]
        if is_binary[feature]:
            goes_right = column.astype(np.uint8)[None]
            parts.append((feature, np.array([0.5]), np.array([NO_CATEGORY]), -1, goes_right))
            continue
        is_complete, chosen = _threshold_splits(feature, column, n_thresholds, rival)
        parts += chosen
        is_exhaustive &= is_complete
        if n_categories is not None and n_categories[feature]:
            is_complete, chosen = _category_splits(feature, column, n_thresholds, rival)
            parts += chosen
            is_exhaustive &= is_complete
    sizes = [len(thresholds) for _, thresholds, *_ in parts]
    features, thresholds, categories, missing_left, columns = zip(*parts, strict=True)
    return Splits(
        columns=np.concatenate(columns).view(np.uint8),
        feature=np.repeat(np.array(features, dtype=np.intp), sizes),
        threshold=np.concatenate(thresholds),
        category=np.concatenate(categories),
        missing_go_to_left=np.repeat(np.array(missing_left, dtype=np.int8), sizes),
        is_exhaustive=is_exhaustive,
    )


def _threshold_splits(feature, column, n_thresholds, rival):
    """Whether all splits between numbers are there, and these."""
    is_other = np.isnan(column)
    thresholds, is_complete = _thresholds(np.sort(column[~is_other]), n_thresholds)
    if not is_complete and rival is not None:
        thresholds = np.union1d(thresholds, rival.thresholds(feature))
    no_categories = np.full(len(thresholds), NO_CATEGORY)
    goes_right = column > thresholds[:, None]  # False for missing values and categories
    if not is_other.any():
        return is_complete, [(feature, thresholds, no_categories, -1, goes_right)]
    return is_complete, [
        (feature, thresholds, no_categories, 1, goes_right),
        (feature, thresholds, no_categories, 0, goes_right | is_other),
        (feature, np.array([np.inf]), np.array([NO_CATEGORY]), 0, is_other[None]),
    ]


def _category_splits(feature, column, n_categories, rival):
    """Whether all categories are split from the rest, and the splits of the most frequent ones."""
    codes, is_missing = category_codes(column)
    categories, counts = np.unique(codes[codes >= 0], return_counts=True)
    is_complete = len(categories) <= n_categories
    if not is_complete:
        frequent = categories[np.argsort(-counts, kind="stable")[:n_categories]]
        categories = frequent if rival is None else np.union1d(frequent, rival.categories(feature))
    missing_left = 0 if is_missing.any() else -1
    thresholds = np.full(len(categories), -np.inf)
    return is_complete, [
        (feature, thresholds, categories, missing_left, codes != categories[:, None])
    ]


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
