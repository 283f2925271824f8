"""Scores against one limit: as arrays, and drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn import clone
from sklearn.model_selection import ValidationCurveDisplay
from sklearn.utils import Bunch

from fasttree._sklearn_compat import validate_score_name
from fasttree.model_selection._pipeline import is_cuttable
from fasttree.model_selection._search import TrainOnceSearchCV
from fasttree.tree.pruning._pruning import ccp_pruning_path
from fasttree.tree.pruning._settings import LIMITS, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, Self

    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from fasttree._typing import (
        Array,
        ColumnLike,
        ErrorScore,
        FloatArray,
        Folds,
        Limit,
        MatrixLike,
        Scoring,
        TargetLike,
    )

__all__ = ["TuningCurveDisplay", "tuning_curve"]

# Values of a limit chosen for the user: no more than this many.
_MAX_TICKS = 100


def tuning_curve(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: TargetLike,
    *,
    param_name: Limit = "max_depth",
    param_range: Sequence[Any] | Array | None = None,
    groups: ColumnLike | None = None,
    cv: Folds = None,
    scoring: Scoring = None,
    n_jobs: int | None = None,
    error_score: ErrorScore = np.nan,
    fit_params: Mapping[str, Any] | None = None,
) -> Bunch:
    """Score a tree on training and held-out rows against one of its limits.

    One tree is fitted per fold, and cut by every value.

    Parameters
    ----------
    estimator : estimator
        A tree of :mod:`fasttree.tree`.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    param_name : {"max_depth", "min_samples_split", "min_impurity_decrease", "max_leaf_nodes", \
            "ccp_alpha"}, default="max_depth"
        The limit.
    param_range : array-like of shape (n_ticks,) or None, default=None
        Its values. None takes up to 100 of those at which the tree of all rows changes.
    groups : array-like of shape (n_samples,), default=None
        Groups that the splitter keeps together.
    cv : int, cross-validation generator, iterable or None, default=None
        The folds; None means five.
    scoring : str, callable or None, default=None
        The scorer; None takes the estimator's own.
    n_jobs : int or None, default=None
        Number of folds done in parallel.
    error_score : "raise" or number, default=np.nan
        Score where a fit or the scorer fails.
    fit_params : dict or None, default=None
        Passed to fit, such as `sample_weight`.

    Returns
    -------
    Bunch
        `param_range` of shape (n_ticks,), `train_scores` and `test_scores` of shape
        (n_ticks, n_folds).

    Raises
    ------
    ValueError
        If `param_name` is not such a limit, `param_range` no list of values, or the estimator not
        such a tree.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.model_selection import tuning_curve
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = tuning_curve(DecisionTreeClassifier(), X, y, param_name="max_leaf_nodes")
    >>> curve.param_range
    array([2, 3, 4, 5, 6, 7, 8, 9])
    >>> curve.test_scores.shape
    (8, 5)
    """
    if param_name not in LIMITS:
        raise ValueError(f"param_name must be one of {', '.join(LIMITS)}, got {param_name!r}.")
    if not is_cuttable(estimator):
        raise ValueError(
            f"A tuning curve is cut from a tree of fasttree's; {type(estimator).__name__} is none."
        )
    fit_params = fit_params or {}
    if param_range is None:
        param_range = _ticks(estimator, X, y, param_name, fit_params)
    elif np.iterable(param_range) and not isinstance(param_range, str):
        param_range = list(param_range)
    if np.ndim(param_range) != 1:
        raise ValueError(
            f"param_range must be a list of values of {param_name}, got {param_range!r}."
        )
    search = TrainOnceSearchCV(
        estimator,
        {param_name: list(param_range)},
        scoring=scoring,
        cv=cv,
        n_jobs=n_jobs,
        refit=False,
        error_score=error_score,
        return_train_score=True,
    )
    if groups is not None:
        fit_params = {**fit_params, "groups": groups}
    search.fit(X, y, **fit_params)
    train_scores, test_scores = (
        np.column_stack(
            [search.cv_results_[f"split{k}_{part}_score"] for k in range(search.n_splits_)]
        )
        for part in ("train", "test")
    )
    param_range = np.asarray(param_range)
    return Bunch(param_range=param_range, train_scores=train_scores, test_scores=test_scores)


def _ticks(estimator, X, y, param_name, fit_params):
    """Values of a limit at which the tree of all rows changes, ascending."""
    whole = clone(estimator).set_params(**{param_name: UNLIMITED[param_name]})
    tree = whole.fit(X, y, **fit_params)._tree_estimator().tree_
    is_inner = tree.children_left >= 0
    if param_name == "max_depth":
        ticks = np.arange(1, max(tree.max_depth, 1) + 1)
    elif param_name == "max_leaf_nodes":
        ticks = np.arange(2, max(tree.n_leaves, 2) + 1)
        if len(ticks) > _MAX_TICKS:
            ticks = np.unique(np.geomspace(2, tree.n_leaves, _MAX_TICKS).round().astype(np.intp))
    elif param_name == "min_samples_split":
        ticks = np.unique(np.append(tree.n_node_samples[is_inner] + 1, 2))
    elif param_name == "min_impurity_decrease":
        ticks = np.unique(np.append(np.maximum(tree.improvement[is_inner], 0.0), 0.0))
    else:
        ticks = np.unique(np.maximum(ccp_pruning_path(tree)[0], 0.0))
    if len(ticks) > _MAX_TICKS:
        ticks = ticks[np.linspace(0, len(ticks) - 1, _MAX_TICKS).round().astype(np.intp)]
    return ticks


class TuningCurveDisplay(ValidationCurveDisplay):
    """Curve of training and held-out scores against one limit of a tree.

    Use :meth:`from_estimator`, or :func:`tuning_curve` for the numbers alone. All parameters are
    stored as attributes.

    Parameters
    ----------
    param_name : str
        The limit.
    param_range : array-like of shape (n_ticks,)
        Its values.
    train_scores : ndarray of shape (n_ticks, n_folds)
        Scores on the training rows.
    test_scores : ndarray of shape (n_ticks, n_folds)
        Scores on the held-out rows.
    score_name : str or None, default=None
        Label of the vertical axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure they belong to.
    lines_, fill_between_, errorbar_ : list of matplotlib artists or None
        What was drawn, depending on the style.

    See Also
    --------
    tuning_curve : The numbers.
    sklearn.model_selection.ValidationCurveDisplay : The same for any estimator, by fitting every
        value.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.model_selection import TuningCurveDisplay
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> TuningCurveDisplay.from_estimator(DecisionTreeClassifier(), X, y)
    <...>
    """

    def __init__(
        self,
        *,
        param_name: Limit,
        param_range: Array,
        train_scores: FloatArray,
        test_scores: FloatArray,
        score_name: str | None = None,
    ) -> None:
        super().__init__(
            param_name=param_name,
            param_range=param_range,
            train_scores=train_scores,
            test_scores=test_scores,
            score_name=score_name,
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: MatrixLike,
        y: TargetLike,
        *,
        param_name: Limit = "max_depth",
        param_range: Sequence[Any] | Array | None = None,
        groups: ColumnLike | None = None,
        cv: Folds = None,
        scoring: Scoring = None,
        n_jobs: int | None = None,
        error_score: ErrorScore = np.nan,
        fit_params: Mapping[str, Any] | None = None,
        ax: Axes | None = None,
        negate_score: bool = False,
        score_name: str | None = None,
        score_type: Literal["test", "train", "both"] = "both",
        std_display_style: Literal["errorbar", "fill_between"] | None = "fill_between",
        line_kw: dict[str, Any] | None = None,
        fill_between_kw: dict[str, Any] | None = None,
        errorbar_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Compute a tuning curve and draw it.

        Parameters
        ----------
        estimator : estimator
            A tree of :mod:`fasttree.tree`.
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        param_name : {"max_depth", "min_samples_split", "min_impurity_decrease", \
                "max_leaf_nodes", "ccp_alpha"}, default="max_depth"
            The limit.
        param_range : array-like of shape (n_ticks,) or None, default=None
            Its values; see :func:`tuning_curve` for None.
        groups : array-like of shape (n_samples,), default=None
            Groups that the splitter keeps together.
        cv : int, cross-validation generator, iterable or None, default=None
            The folds; None means five.
        scoring : str, callable or None, default=None
            The scorer; None takes the estimator's own.
        n_jobs : int or None, default=None
            Number of folds done in parallel.
        error_score : "raise" or number, default=np.nan
            Score where a fit or the scorer fails.
        fit_params : dict or None, default=None
            Passed to fit, such as `sample_weight`.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        negate_score : bool, default=False
            Whether to draw the scores with the other sign, as for losses.
        score_name : str or None, default=None
            Label of the vertical axis; None infers it from `scoring`.
        score_type : {"test", "train", "both"}, default="both"
            Which scores to draw.
        std_display_style : {"errorbar", "fill_between"} or None, default="fill_between"
            How the deviation over the folds is drawn.
        line_kw, fill_between_kw, errorbar_kw : dict, default=None
            Passed to matplotlib's functions of these names.

        Returns
        -------
        TuningCurveDisplay
            The display, drawn.
        """
        score_name = validate_score_name(score_name, scoring, negate_score)
        curve = tuning_curve(
            estimator,
            X,
            y,
            param_name=param_name,
            param_range=param_range,
            groups=groups,
            cv=cv,
            scoring=scoring,
            n_jobs=n_jobs,
            error_score=error_score,
            fit_params=fit_params,
        )
        display = cls(param_name=param_name, score_name=score_name, **curve)
        return display.plot(
            ax=ax,
            negate_score=negate_score,
            score_type=score_type,
            std_display_style=std_display_style,
            line_kw=line_kw,
            fill_between_kw=fill_between_kw,
            errorbar_kw=errorbar_kw,
        )
