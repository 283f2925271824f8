"""Split and feature selection as functions: the best split of one column, the score of each.

Superfast selection (Wang & Gupta 2024, Algorithms 2 and 4) on its own, without a tree: a column
of n rows and N distinct values costs O(n + N C) where it is counted, else a radix sort of its
values. Both functions grow a tree of one split per column, so they find what a node would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import narwhals
import numpy as np
from scipy.sparse import issparse

from fasttree.tree._classes import (
    CRITERIA_CLF,
    CRITERIA_REG,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)
from fasttree.tree._encoding import encoding_of
from fasttree.tree._task import infer_task, without_objects

if TYPE_CHECKING:
    from fasttree._typing import (
        CategoricalFeatures,
        CategoricalSplit,
        ClassificationCriterion,
        ColumnLike,
        FloatArray,
        MatrixLike,
        MissingValues,
        RegressionCriterion,
        TargetLike,
    )

__all__ = ["ColumnSplit", "best_split", "feature_scores"]


@dataclass(frozen=True)
class ColumnSplit:
    """The best split of a column.

    Attributes
    ----------
    score : float
        What the split is worth, as `feature_scores` reports it; 0 if the column cannot be split.
    threshold : float
        Numbers up to it go left; inf if the split is between numbers and the rest, -inf if it is
        on categories, NaN if the column cannot be split.
    labels : tuple or None
        The categories that go left, if the split is on categories.
    missing_left : bool
        Whether missing values go left; at a threshold, categories go with them.
    impurity : float
        Impurity of all rows.
    children_impurity : float
        Mean impurity of the sides, weighted by their weights. The paper's heuristic for
        information gain is this with the opposite sign, in nats where entropy is in bits.
    n_left : int
        Number of rows that go left.

    Examples
    --------
    >>> from fasttree.tree import best_split
    >>> split = best_split([1, 2, 3, None], [0, 0, 1, 1])
    >>> split.threshold, split.missing_left, split.n_left
    (2.5, False, 2)
    """

    score: float
    threshold: float
    labels: tuple | None
    missing_left: bool
    impurity: float
    children_impurity: float
    n_left: int


def best_split(
    x: ColumnLike,
    y: TargetLike,
    *,
    criterion: ClassificationCriterion | RegressionCriterion | None = None,
    sample_weight: ColumnLike | None = None,
    categorical_split: CategoricalSplit = "equality",
    missing_values: MissingValues = None,
) -> ColumnSplit:
    """Find the best split of one column.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        The column: numbers, categories and missing values, as the estimators read them.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The target.
    criterion : str, default=None
        A criterion of the estimators. None takes "gini" or "squared_error", whichever the target
        calls for.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    categorical_split : {"equality", "subset"}, default="equality"
        Whether to split off one category or the best set of categories, which with more than two
        classes is found by a heuristic.
    missing_values : float, str, array-like of these, or None, default=None
        Values that are missing besides None, NaN, NA, NaT and the empty string.

    Returns
    -------
    ColumnSplit
        The split and its score.

    Examples
    --------
    >>> from fasttree.tree import best_split
    >>> best_split([1.0, 2.0, 3.0, "unknown"], [0, 0, 1, 1]).threshold
    2.5
    """
    y = without_objects(y)
    stump = _stump(y, criterion, categorical_split=categorical_split, missing_values=missing_values)
    data = stump._read_data(_as_table(x), y, sample_weight)
    tree, score = _split_column(stump, data, 0)
    if tree.node_count == 1:
        impurity = float(tree.impurity[0])
        return ColumnSplit(score, float("nan"), None, False, impurity, impurity, 0)
    labels = None
    if tree.label_splits is not None:
        known = data.table_encoder.categories[0]
        labels = tuple(known[code] for code in tree.label_splits.codes_going_left(0, 0))
    weights = tree.weighted_n_node_samples
    return ColumnSplit(
        score=score,
        threshold=float(tree.threshold[0]),
        labels=labels,
        missing_left=bool(tree.missing_go_to_left[0]),
        impurity=float(tree.impurity[0]),
        children_impurity=float(weights[1:] / weights[0] @ tree.impurity[1:]),
        n_left=int(tree.n_node_samples[1]),
    )


def feature_scores(
    X: MatrixLike,
    y: TargetLike,
    *,
    criterion: ClassificationCriterion | RegressionCriterion | None = None,
    sample_weight: ColumnLike | None = None,
    categorical_features: CategoricalFeatures = "from_dtype",
    categorical_split: CategoricalSplit = "equality",
    missing_values: MissingValues = None,
) -> FloatArray:
    """Score every column by its best split.

    The score is the decrease of impurity. For "chi2" it is chi-square divided by the weight, for
    "label_split" the information gain, in bits, about the two classes that the target is divided
    into. The function can be used as ``SelectKBest(score_func=feature_scores)``.

    Parameters
    ----------
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        The columns, as the estimators read them.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The target.
    criterion : str, default=None
        A criterion of the estimators. None takes "gini" or "squared_error", whichever the target
        calls for.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that hold categories only, see :class:`DecisionTreeClassifier`.
    categorical_split : {"equality", "subset"}, default="equality"
        Whether to split off one category or the best set of categories, which with more than two
        classes is found by a heuristic.
    missing_values : float, str, array-like of these, or None, default=None
        Values that are missing besides None, NaN, NA, NaT and the empty string.

    Returns
    -------
    ndarray of shape (n_features,), dtype=float64
        Scores; 0 for columns that cannot be split.

    Examples
    --------
    >>> from fasttree.tree import feature_scores
    >>> feature_scores([[1.0, "a"], [2.0, "b"], [3.0, "a"], [4.0, "b"]], [0, 0, 1, 1])
    array([0.5, 0. ])
    """
    y = without_objects(y)
    stump = _stump(
        y,
        criterion,
        categorical_features=categorical_features,
        categorical_split=categorical_split,
        missing_values=missing_values,
    )
    data = stump._read_data(X, y, sample_weight)
    n_features = data.encoding.n_features
    return np.array([_split_column(stump, data, j)[1] for j in range(n_features)])


def _stump(y, criterion, **params):
    """An estimator that makes one split, with valid parameters."""
    if criterion is None:
        is_classification = infer_task(y) == "classification"
    else:
        is_classification = criterion in CRITERIA_CLF
        if criterion not in CRITERIA_CLF | CRITERIA_REG:
            raise ValueError(
                f"criterion must be one of {', '.join(CRITERIA_CLF | CRITERIA_REG)}, got "
                f"{criterion!r}."
            )
    stump = (DecisionTreeClassifier if is_classification else DecisionTreeRegressor)(
        max_depth=1, random_state=0, **params
    )
    if criterion is not None:
        stump.set_params(criterion=criterion)
    stump._validate_params()
    return stump


def _as_table(x):
    """A column as a table of one column."""
    series = narwhals.from_native(x, pass_through=True, series_only=True)
    if isinstance(series, narwhals.Series):
        return series.alias(series.name or "x").to_frame().to_native()
    if isinstance(x, list | tuple):
        return [[cell] for cell in x]
    x = np.asarray(x)
    if x.ndim != 1:
        raise ValueError(f"x must be one column, got an array of shape {x.shape}.")
    return x[:, None]


def _split_column(stump, data, j):
    """The tree of one split of column j, and its score."""
    X, counts = data.encoding.X, data.encoding.category_counts
    column = X[:, [j]].toarray() if issparse(X) else X[:, j : j + 1]
    column = column if data.rows is None else column[data.rows]
    encoding = encoding_of(column, None if counts is None else counts[j : j + 1])
    tree = stump._grow(replace(data, encoding=encoding, rows=None))
    if tree.node_count == 1:
        return tree, 0.0
    score = stump._criterion_type().split_score
    return tree, score(tree, column, data.y, data.sample_weight)
