"""What the estimators do with a fitted tree that is larger than wanted: cut it, or tune the cut.

A cut tree is the tree that a fit with the tighter limits would have grown, node for node, so an
estimator carries the limits it was cut to as its parameters.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted, column_or_1d

from fasttree._config import get_config
from fasttree._sklearn_compat import check_sample_weight, validate_parameter_constraints
from fasttree.tree._validation import within_doubles
from fasttree.tree.pruning._cut_scores import check_scorer, score_cuts, warn_of_predictions
from fasttree.tree.pruning._pruning import prune_tree
from fasttree.tree.pruning._settings import LIMITS, SettingTable
from fasttree.tree.pruning._tuning import NO_BUDGET, Cuts, reduced_error_mask
from fasttree.tree.pruning._validation_rows import ValidationRows, class_codes, node_losses

if TYPE_CHECKING:
    from typing import Any, Self

    from fasttree._typing import ColumnLike, Grid, MatrixLike, Scoring, TargetLike

__all__ = ["TunableMixin", "TuningResult", "default_grid"]

# The paper's grid of min_samples_split: this many steps of this share of the rows.
_N_STEPS, _STEP = 200, 0.0002


@dataclass(frozen=True, repr=False)
class TuningResult:
    """The result of `tune`: all settings, their scores and the best one.

    Attributes
    ----------
    params : sklearn.model_selection.ParameterGrid
        The settings: a sequence of dicts.
    scores : ndarray of shape (n_settings,)
        Score of each on the validation rows; greater is better.
    n_leaves : ndarray of shape (n_settings,), dtype=int64
        Number of leaves of the tree that each cuts.
    best_index : int
        Position of the best score; of equal scores, of the fewest leaves, then the first.
    best_params : dict
        The setting there.
    best_score : float
        Its score.
    estimator : estimator
        With the tree cut by the best setting.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier().fit(X[::2], y[::2])
    >>> result = tree.tune(X[1::2], y[1::2], {"max_depth": [1, 2, 3]})
    >>> result.scores.round(2), result.n_leaves
    (array([0.67, 0.95, 0.96]), array([2, 3, 5]))
    >>> result.best_params, result.estimator.get_depth()
    ({'max_depth': 3}, 3)
    """

    params: ParameterGrid
    scores: np.ndarray
    n_leaves: np.ndarray
    best_index: int
    best_params: dict[str, Any]
    best_score: float
    estimator: Any

    def __repr__(self) -> str:
        return (
            f"TuningResult(best_params={self.best_params}, best_score={self.best_score}, "
            f"n_settings={len(self.scores)})"
        )


class TunableMixin:
    """`prune`, `tune` and `reduced_error_prune`."""

    def _tree_estimator(self):
        """The estimator that holds `tree_`."""
        return self

    def _copy(self):
        """A copy that can be given another tree."""
        return copy.copy(self)

    def _assume_tree(self, tree, limits):
        self.tree_ = tree
        for name, value in limits.items():
            setattr(self, name, value)

    def prune(self, *, copy: bool = True, **limits: float | None) -> Self:
        """Cut the fitted tree by tighter limits.

        The result is what a fit with these limits would have grown.

        Parameters
        ----------
        copy : bool, default=True
            Cut a copy and leave this estimator as it is; False cuts this one.
        **limits : dict
            Any of `max_depth`, `min_samples_split`, `min_impurity_decrease`, `max_leaf_nodes` and
            `ccp_alpha`; the others stay as they are. Fractions of rows refer to the training
            rows.

        Returns
        -------
        estimator
            With the cut tree, and the limits as parameters.

        Raises
        ------
        TypeError
            If something else than these limits is named.
        ValueError
            If a limit is looser than the one that the tree was grown with, or the tree was
            pruned, or grown with `max_leaf_nodes`, in a way that the limits depend on.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from fasttree.tree import DecisionTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = DecisionTreeClassifier().fit(X, y)
        >>> tree.prune(max_depth=2).get_n_leaves(), tree.get_n_leaves()
        (3, 9)
        """
        check_is_fitted(self)
        unknown = set(limits) - set(LIMITS)
        if unknown:
            raise TypeError(
                f"prune() takes only limits that cut a tree ({', '.join(LIMITS)}), "
                f"got {', '.join(sorted(unknown))}."
            )
        settings = _checked_settings(self, [{name: [value] for name, value in limits.items()}])
        tree = self._tree_estimator().tree_
        return self._cut(tree, Cuts(tree).mask(settings), limits, copy)

    def _cut(self, tree, mask, limits, copy):
        """This estimator, or a copy, with a tree cut where the mask says, and other limits."""
        estimator = self._copy() if copy else self
        estimator._assume_tree(prune_tree(tree, mask), limits)
        return estimator

    def tune(
        self,
        X_val: MatrixLike,
        y_val: TargetLike,
        param_grid: Grid | None = None,
        scoring: Scoring = None,
        *,
        sample_weight: ColumnLike | None = None,
        copy: bool = True,
    ) -> TuningResult:
        """Find the limits under which the fitted tree scores best on validation rows, and cut it.

        All settings are scored in one pass over the rows and one over the nodes; the scores are
        those of trees fitted anew with each setting.

        Parameters
        ----------
        X_val : array-like of shape (n_samples, n_features)
            Validation rows, not used in fit.
        y_val : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        param_grid : dict of str to sequence, list of such dicts, or None, default=None
            Values of `max_depth`, `min_samples_split`, `min_impurity_decrease`, `max_leaf_nodes`
            and `ccp_alpha` to combine. None combines all depths from 1 to the tree's with 200
            values of `min_samples_split`, from 2 to 4% of the training rows.
        scoring : str, callable or None, default=None
            A scorer; None takes the estimator's own, accuracy or R2.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the validation rows.
        copy : bool, default=True
            Cut a copy and leave this estimator as it is; False cuts this one.

        Returns
        -------
        TuningResult
            The settings, their scores and numbers of leaves, the best of them, and an estimator
            with the tree cut by it and its limits as parameters.

        Raises
        ------
        ValueError
            If the grid is empty, names a parameter that fit has to know or a limit that is looser
            than the tree was grown with, if the validation rows hold classes or columns that fit
            did not see, or if the scorer asks a regressor for probabilities.

        References
        ----------
        H. Wang and G. Gupta, "Superfast selection for decision tree algorithms", 2024.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import train_test_split
        >>> from fasttree.tree import DecisionTreeClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> X, X_val, y, y_val = train_test_split(X, y, random_state=0)
        >>> result = DecisionTreeClassifier().fit(X, y).tune(X_val, y_val)
        >>> len(result.scores)
        1600
        >>> result.estimator.get_depth() == result.best_params["max_depth"]
        True
        """
        check_is_fitted(self)
        scorer = check_scoring(self, scoring)
        check_scorer(self, scorer)
        params = _as_grid(default_grid(self) if param_grid is None else param_grid)
        settings = _checked_settings(self, params.param_grid)
        rows = ValidationRows(self, X_val, y_val)
        _check_targets(self, y_val, rows.codes)
        warn_of_predictions(scorer, len(settings))
        score_params = {}
        if sample_weight is not None:
            score_params["sample_weight"] = _check_validation_weights(sample_weight, X_val)
        scores, n_leaves = score_cuts(
            rows, settings, params.__getitem__, scorer, score_params, "raise"
        )
        best = _first_best(scores, n_leaves)
        mask = rows.cuts.mask(settings[best : best + 1])
        estimator = self._cut(rows.tree, mask, params[best], copy)
        return TuningResult(
            params, scores, n_leaves, best, params[best], float(scores[best]), estimator
        )

    def reduced_error_prune(
        self,
        X_val: MatrixLike,
        y_val: TargetLike,
        sample_weight: ColumnLike | None = None,
        *,
        copy: bool = True,
    ) -> Self:
        """Cut the fitted tree to the subtree with the smallest error on validation rows.

        Of equally good subtrees the smallest is taken. The error is the number of wrong classes,
        or the sum of squared errors (of absolute errors if the criterion is "absolute_error").
        The result is not the tree of any limits, so parameters stay as they are.

        Parameters
        ----------
        X_val : array-like of shape (n_samples, n_features)
            Validation rows, not used in fit.
        y_val : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the validation rows.
        copy : bool, default=True
            Cut a copy and leave this estimator as it is; False cuts this one.

        Returns
        -------
        estimator
            With the cut tree.

        Raises
        ------
        ValueError
            If the validation rows hold classes or columns that fit did not see.

        References
        ----------
        J. R. Quinlan, "Simplifying decision trees", International Journal of Man-Machine Studies
        27(3), 1987.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from fasttree.tree import DecisionTreeClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> tree = DecisionTreeClassifier().fit(X[::2], y[::2])
        >>> tree.get_n_leaves(), tree.reduced_error_prune(X[1::2], y[1::2]).get_n_leaves()
        (12, 5)
        """
        check_is_fitted(self)
        _check_targets(self, y_val)
        if sample_weight is not None:
            sample_weight = _check_validation_weights(sample_weight, X_val, dtype=np.float64)
        tree = self._tree_estimator().tree_
        mask = reduced_error_mask(tree, node_losses(self, X_val, y_val, sample_weight))
        return self._cut(tree, mask, {}, copy)


def _check_validation_weights(sample_weight, X_val, dtype=None):
    """Return weights of validation rows as an array."""
    weights = within_doubles(check_sample_weight)(sample_weight, X_val, dtype=dtype)
    if not weights.sum():
        raise ValueError("sample_weight of the validation rows sums to zero.")
    return weights


def _first_best(scores, n_leaves):
    """Position of the largest score; of equal ones, of the fewest leaves, then the first."""
    if np.isnan(scores).all():
        raise ValueError("The score of every setting is NaN.")
    best = np.flatnonzero(scores == np.nanmax(scores))
    return int(best[np.argmin(n_leaves[best])])


def _as_grid(param_grid):
    """The settings as a sequence; at least one, each with a limit and nothing else."""
    params = ParameterGrid(param_grid)
    if not all(params.param_grid) or not params.param_grid:
        raise ValueError("param_grid is empty: name at least one limit and its values.")
    for name in {name for grid in params.param_grid for name in grid}:
        if name not in LIMITS:
            raise ValueError(
                f"{name!r} cannot be tuned by cutting a fitted tree, only {', '.join(LIMITS)} "
                "can. TrainOnceSearchCV takes other parameters too, and fits anew for them."
            )
    return params


def default_grid(estimator):
    """Return the paper's grid for a fitted tree: every depth times 200 numbers of rows.

    Parameters
    ----------
    estimator : estimator
        Fitted.

    Returns
    -------
    dict of str to sequence
        `max_depth` from 1 to the tree's, `min_samples_split` in steps of 0.02% of the rows.
    """
    inner = estimator._tree_estimator()
    steps = np.ceil(np.arange(_N_STEPS) * (_STEP * inner._n_fit_rows)).astype(np.int64)
    lowest = max(2, _own_setting(estimator)["min_samples_split"][0])
    return {
        "max_depth": range(1, max(1, inner.tree_.max_depth) + 1),
        "min_samples_split": np.maximum(lowest, steps).tolist(),
    }


def _limits_of(estimator):
    return {name: getattr(estimator, name) for name in LIMITS}


def _own_setting(estimator):
    """The limits that the estimator's tree was grown or cut with."""
    inner = estimator._tree_estimator()
    return SettingTable([{}], _limits_of(inner)).numbers(inner._n_fit_rows)


def _checked_settings(estimator, grids):
    """Return settings in absolute numbers, if cutting the estimator's tree gives their trees.

    Raises
    ------
    ValueError
        If a value is not allowed or cannot be had by cutting.
    """
    inner = estimator._tree_estimator()
    table = SettingTable(grids, _limits_of(inner))
    if not table.is_valid.all():
        for params in [*ParameterGrid(grids), _limits_of(inner)]:
            validate_parameter_constraints(
                inner._parameter_constraints, params, caller_name=type(estimator).__name__
            )
    if get_config()["sklearn_random_stream"] and any(set(grid) - {"ccp_alpha"} for grid in grids):
        raise ValueError(
            "With sklearn_random_stream=True a tree depends on its limits in more ways than "
            "cutting can follow; only ccp_alpha can be cut."
        )
    settings = table.numbers(inner._n_fit_rows)
    _check_looseness(inner.tree_, _own_setting(estimator), settings)
    return settings


def _check_looseness(tree, grown, settings):
    """Raise unless every setting's tree is a cut of the one grown with the limits `grown`."""
    if grown["ccp_alpha"][0] != 0.0:
        if (settings != grown).any():
            raise ValueError(
                "The tree was pruned with ccp_alpha; other limits cannot be read from what is "
                "left. Fit with ccp_alpha=0 first."
            )
        settings["ccp_alpha"] = 0.0  # done already
    budget = grown["max_leaf_nodes"][0]
    if tree.n_leaves < budget:
        budget = NO_BUDGET
    elif not (
        (settings["max_depth"] >= tree.max_depth)
        & (settings["min_samples_split"] == grown["min_samples_split"])
        & (settings["min_impurity_decrease"] == grown["min_impurity_decrease"])
    ).all():
        raise ValueError(
            f"The tree was grown best-first up to max_leaf_nodes={budget}; which of its nodes "
            "other limits would have kept is not known. Fit with max_leaf_nodes=None first."
        )
    depth = grown["max_depth"][0] if tree.max_depth >= grown["max_depth"][0] else np.inf
    for name, looser, limit in (
        ("max_depth", settings["max_depth"] > depth, depth),
        (
            "min_samples_split",
            settings["min_samples_split"] < grown["min_samples_split"],
            grown["min_samples_split"][0],
        ),
        (
            "min_impurity_decrease",
            settings["min_impurity_decrease"] < grown["min_impurity_decrease"],
            grown["min_impurity_decrease"][0],
        ),
        ("max_leaf_nodes", settings["max_leaf_nodes"] > budget, budget),
    ):
        if looser.any():
            raise ValueError(
                f"{name} is to be looser than the {name}={limit} that the tree was grown with, "
                "which cutting cannot do. Fit again."
            )


@within_doubles
def _check_targets(estimator, y_val, codes=None):
    """Raise if there are classes that fit did not see, or targets that are no numbers.

    `codes` are the positions of the classes, if they are known.
    """
    if y_val is None:
        raise ValueError("y_val must hold the targets of the validation rows, got None.")
    inner = estimator._tree_estimator()
    if not hasattr(inner, "classes_"):
        np.asarray(y_val, dtype=np.float64)
        return
    if codes is not None and codes.min(initial=0) >= 0:
        return
    y_val = np.asarray(y_val)
    columns = zip(y_val.T, inner.classes_)
    if inner.n_outputs_ == 1:
        columns = [(column_or_1d(y_val), inner.classes_)]
    for labels, classes in columns:
        codes = class_codes(labels, classes)
        if codes is None or codes.min(initial=0) < 0:
            unseen = [label for label in np.unique(labels).tolist() if label not in classes]
            raise ValueError(f"y_val holds classes that fit did not see: {unseen}.")
