"""Charts of fitted estimators: importances with their spread, and fronts of optimal trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fasttree.export._content import PALETTE
from fasttree.export._questions import column_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from fasttree._typing import (
        FloatArray,
        IntArray,
        MatrixLike,
        RandomState,
        Scoring,
        TargetLike,
    )
    from fasttree.optimal import OptimalDecisionTreeClassifier

__all__ = ["ImportancesDisplay", "ParetoFrontDisplay"]


class ImportancesDisplay:
    """A bar chart of the importances of features, with their spread.

    Use :meth:`from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    importances : ndarray of shape (n_features, n_repeats)
        The importance of each feature in each repetition.
    feature_names : list of str
        Names of the features.
    name : str
        Label of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure they belong to.
    bars_ : matplotlib BarContainer
        The bars, from the bottom to the top.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.export import ImportancesDisplay
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    >>> ImportancesDisplay.from_estimator(tree, X, y, random_state=0)
    <...>
    """

    def __init__(self, *, importances: FloatArray, feature_names: Sequence[str], name: str) -> None:
        self.importances, self.feature_names, self.name = importances, feature_names, name

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: MatrixLike | None = None,
        y: TargetLike | None = None,
        *,
        n_repeats: int = 10,
        scoring: Scoring = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        feature_names: Sequence[str] | None = None,
        max_shown: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Measure the importance of each feature and draw it.

        With X and y it is the loss of score when the values of the feature are permuted, and the
        spread is that of the repetitions. Without, it is the share of the feature in the decrease
        of impurity, and the spread is that of the trees of a forest; one tree has none. Bars are
        means, and the lines on them reach one standard deviation to each side.

        Parameters
        ----------
        estimator : estimator
            A fitted tree or forest.
        X : array-like or table of shape (n_samples, n_features), default=None
            Rows to permute, preferably held-out ones.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets.
        n_repeats : int, default=10
            Number of permutations of each feature.
        scoring : str, callable or None, default=None
            The scorer; None takes the estimator's own.
        random_state : int, RandomState instance or None, default=None
            Source of the permutations.
        n_jobs : int or None, default=None
            Number of features permuted in parallel.
        feature_names : array-like of shape (n_features,), default=None
            Names of the features; None takes those of the fit, or numbers them.
        max_shown : int, default=20
            Number of features to draw, the most important ones.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        ImportancesDisplay
            The display, drawn.
        """
        check_is_fitted(estimator)
        if (X is None) != (y is None):
            raise ValueError("Give both X and y, or neither.")
        if X is None:
            found = _importances_of_trees(estimator)
            name = "Share of the decrease of impurity"
        else:
            from sklearn.inspection import permutation_importance  # imports much

            found = permutation_importance(
                estimator,
                X,
                y,
                scoring=scoring,
                n_repeats=n_repeats,
                random_state=random_state,
                n_jobs=n_jobs,
            ).importances
            name = "Loss of score when permuted"
        names = column_names(estimator, feature_names)
        display = cls(importances=found, feature_names=names, name=name)
        return display.plot(ax=ax, max_shown=max_shown)

    def plot(self, *, ax: Axes | None = None, max_shown: int = 20) -> Self:
        """Draw the importances, the greatest at the top.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        max_shown : int, default=20
            Number of features to draw, the most important ones.

        Returns
        -------
        ImportancesDisplay
            The display, drawn.
        """
        import matplotlib.pyplot as plt

        means, spread = self.importances.mean(axis=1), self.importances.std(axis=1)
        shown = np.argsort(means, kind="stable")[-max_shown:]
        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 1 + 0.28 * len(shown)), layout="constrained")
        self.bars_ = ax.barh(
            [self.feature_names[j] for j in shown],
            means[shown],
            xerr=spread[shown] if self.importances.shape[1] > 1 else None,
            color=PALETTE[0],
            ecolor="#566172",
            capsize=3,
        )
        ax.set_xlabel(self.name)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _importances_of_trees(estimator):
    """The importances in each tree, (n_features, n_trees); 0 for columns that it did not draw."""
    trees = np.ravel(getattr(estimator, "estimators_", [estimator]))
    columns = getattr(estimator, "estimators_features_", [slice(None)] * len(trees))
    found = np.zeros((estimator.n_features_in_, len(trees)))
    for j, (tree, drawn) in enumerate(zip(trees, columns)):
        np.add.at(found[:, j], drawn, tree.feature_importances_)
    return found


class ParetoFrontDisplay:
    """A chart of the errors of the optimal trees of every size.

    Use :meth:`from_estimator`. All parameters are stored as attributes.

    Parameters
    ----------
    n_leaves : ndarray of shape (n_trees,)
        Sizes of the trees.
    train_errors : ndarray of shape (n_trees,)
        Their weighted error rates on the rows of the fit.
    lower_bounds : ndarray of shape (n_trees,)
        Proven bounds of these.
    test_errors : ndarray of shape (n_trees,) or None, default=None
        Error rates on other rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure they belong to.
    lines_ : list of matplotlib Line2D
        The curves: of the rows of the fit, then of the others.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from fasttree.export import ParetoFrontDisplay
    >>> from fasttree.optimal import OptimalDecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = OptimalDecisionTreeClassifier(max_depth=2, pareto_front=True).fit(X, y)
    >>> ParetoFrontDisplay.from_estimator(tree)
    <...>
    """

    def __init__(
        self,
        *,
        n_leaves: IntArray,
        train_errors: FloatArray,
        lower_bounds: FloatArray,
        test_errors: FloatArray | None = None,
    ) -> None:
        self.n_leaves, self.train_errors = n_leaves, train_errors
        self.lower_bounds, self.test_errors = lower_bounds, test_errors

    @classmethod
    def from_estimator(
        cls,
        estimator: OptimalDecisionTreeClassifier,
        X: MatrixLike | None = None,
        y: TargetLike | None = None,
        *,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the front of an optimal tree.

        Parameters
        ----------
        estimator : OptimalDecisionTreeClassifier
            Fitted with ``pareto_front=True``.
        X : array-like or table of shape (n_samples, n_features), default=None
            Rows that were held out; the errors of every tree on them are drawn too.
        y : array-like of shape (n_samples,), default=None
            Their labels.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        ParetoFrontDisplay
            The display, drawn.
        """
        check_is_fitted(estimator, "pareto_front_", msg="Fit with pareto_front=True first.")
        if (X is None) != (y is None):
            raise ValueError("Give both X and y, or neither.")
        front, test_errors = estimator.pareto_front_, None
        if X is not None:
            sizes = front["n_leaves"].tolist()
            trees = (
                estimator.from_front(max_leaf_nodes=size, complexity_penalty=0.0) for size in sizes
            )
            test_errors = np.array([1 - tree.score(X, y) for tree in trees])
        display = cls(
            n_leaves=front["n_leaves"],
            train_errors=front["error"],
            lower_bounds=front["lower_bound"],
            test_errors=test_errors,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw error rates against numbers of leaves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.

        Returns
        -------
        ParetoFrontDisplay
            The display, drawn.
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        options: dict[str, Any] = dict(marker="o", drawstyle="steps-post")
        label = "training rows"
        self.lines_ = ax.plot(
            self.n_leaves, self.train_errors, color=PALETTE[0], label=label, **options
        )
        if not np.array_equal(self.lower_bounds, self.train_errors):
            ax.fill_between(
                self.n_leaves,
                self.lower_bounds,
                self.train_errors,
                step="post",
                alpha=0.2,
                label="not proven",
            )
        if self.test_errors is not None:
            label = "held-out rows"
            self.lines_ += ax.plot(
                self.n_leaves, self.test_errors, color=PALETTE[1], label=label, **options
            )
        ax.set(xlabel="Number of leaves", ylabel="Error rate")
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
