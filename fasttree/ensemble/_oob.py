"""Out-of-bag predictions of a forest and the importances that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from fasttree._warnings import warn_user
from fasttree.ensemble._bootstrap import MAX_SEED
from fasttree.utils._parallel import Parallel
from fasttree.utils._threads import effective_n_threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from fasttree._typing import MatrixLike, RandomState, TargetLike
    from fasttree.ensemble._bootstrap import Bootstrap
    from fasttree.ensemble._memory import FitMemory

__all__ = ["OutOfBagMixin", "warn_of_rows_without_trees"]


class OutOfBagMixin:
    """What a forest does with the rows that its trees did not draw."""

    # Of the forest:
    bootstrap: bool
    n_jobs: int | None
    n_outputs_: int
    estimators_: list[Any]
    _n_samples: int
    _memory: FitMemory
    _bootstrap: Callable[[], Bootstrap]
    _trees: Callable[[], list[Any]]
    _loss: Callable[..., Any]
    _target_numbers: Callable[..., Any]
    _validate_X_predict: Callable[..., Any]

    def oob_permutation_importances(
        self,
        X: MatrixLike | None = None,
        y: TargetLike | None = None,
        *,
        n_repeats: int = 5,
        random_state: RandomState = None,
    ) -> Bunch:
        """Return how much worse the trees predict rows they did not draw with a feature permuted.

        Each tree predicts its out-of-bag rows, then again with the values of one feature permuted
        among them; the increase of the error rate, or of the mean squared error, is averaged over
        the trees. Unlike `feature_importances_` this does not favour features of many values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            The rows of the fit, for a forest that was loaded or copied; one that was just fitted
            has them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets.
        n_repeats : int, default=5
            Number of permutations of each feature in each tree.
        random_state : int, RandomState instance or None, default=None
            Source of the permutations.

        Returns
        -------
        Bunch
            `importances_mean` and `importances_std` of shape (n_features,), `importances` of shape
            (n_features, n_repeats).

        Raises
        ------
        ValueError
            If the forest draws no rows, if `n_repeats` is below 1, or if `X` and `y` are missing
            where they are needed, or are not of the fit's numbers of rows and columns, or hold
            infinities or other classes.

        References
        ----------
        L. Breiman, "Random forests", Machine Learning 45, 2001, section 10.
        """
        check_is_fitted(self)
        if not self.bootstrap:
            raise ValueError("Out of bag estimation only available if bootstrap=True")
        rows_of_fit, targets = self._fit_rows(X, y)
        bootstrap = self._bootstrap()
        seeds = [estimator.random_state for estimator in self.estimators_]
        return _permutation_importances(
            self._trees(),
            lambda number: np.flatnonzero(bootstrap.counts(seeds[number]) == 0),
            rows_of_fit,
            lambda rows, values: self._loss(targets[rows], values),
            n_repeats,
            check_random_state(random_state).randint(MAX_SEED),
            self.n_jobs,
        )

    def _fit_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        """The rows of the fit as float32, dense or CSR, and its targets as float64 columns."""
        if (X is None) != (y is None):
            raise ValueError("Pass both X and y, or neither.")
        if X is not None:
            X, y = self._validate_X_predict(X), np.asarray(y)
            if y.size != self._n_samples * self.n_outputs_ or X.shape[0] != self._n_samples:
                raise ValueError(f"X and y must be the {self._n_samples} rows of the fit.")
            return X, self._target_numbers(y.reshape(X.shape[0], -1))
        if self._memory.data is None:
            raise ValueError("The forest was loaded or copied: pass X and y of its fit.")
        return self._memory.data.cells(), self._memory.data.y

    def _set_oob_score_and_attributes(self, data, bootstrap):
        """Predict every row by the trees that did not draw it, and score the predictions."""
        y_type = type_of_target(data.y)
        if y_type == "unknown" or (
            isinstance(self, ClassifierMixin) and y_type == "multiclass-multioutput"
        ):
            raise ValueError(
                "The type of target cannot be used to compute OOB estimates. Got "
                f"{y_type} while only the following are supported: continuous, "
                "continuous-multioutput, binary, multiclass, multilabel-indicator."
            )
        takes = bootstrap.out_of_bag([tree.random_state for tree in self.estimators_])
        n_trees = np.zeros(data.n_samples, dtype=np.int64)
        sums = self._sums(data.cells(), takes=takes, n_taken=n_trees)
        self._score_oob(data.y, _means_out_of_bag(sums, n_trees))


def warn_of_rows_without_trees():
    """Say that every tree drew some of the rows."""
    warn_user(
        "Some inputs do not have OOB scores. This probably means too few trees were used to "
        "compute any reliable OOB estimates."
    )


def _means_out_of_bag(sums, n_trees):
    """Return the mean over each row's out-of-bag trees; warn if a row has none.

    Parameters
    ----------
    sums : ndarray of shape (n_samples, ...)
        Sum over the trees, divided in place.
    n_trees : ndarray of shape (n_samples,)
        Number of trees.
    """
    if (n_trees == 0).any():
        warn_of_rows_without_trees()
        n_trees = np.maximum(n_trees, 1)
    sums /= n_trees.reshape(-1, *[1] * (sums.ndim - 1))
    return sums


def _permutation_importances(trees, rows_of, X, loss_of, n_repeats, seed, n_jobs):
    """Return how much worse trees predict their out-of-bag rows with a feature permuted.

    Parameters
    ----------
    trees : list of Tree
        The trees.
    rows_of : callable
        From the number of a tree to its out-of-bag rows.
    X : ndarray or CSC matrix of shape (n_samples, n_features), dtype=float32
        The training rows.
    loss_of : callable
        From rows and the values (n, n_outputs, max_n_classes) of their leaves to a mean loss.
    n_repeats : int
        Number of permutations of each feature.
    seed : int
        Root of the draws; a tree's depend on its number and on nothing else.
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    Bunch
        As of :func:`sklearn.inspection.permutation_importance`.

    Raises
    ------
    ValueError
        If `n_repeats` is below 1.
    """
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats}.")

    def of_tree(number):
        tree, rows = trees[number], rows_of(number)
        return _of_tree(tree, rows, X, loss_of, n_repeats, np.random.default_rng([seed, number]))

    n_threads = effective_n_threads(n_jobs)
    jobs = (delayed(of_tree)(number) for number in range(len(trees)))
    if n_threads == 1:
        per_tree = [function(*args) for function, args, _ in jobs]
    else:
        per_tree = Parallel(n_threads, require="sharedmem")(jobs)
    importances = np.mean(per_tree, axis=0)
    return Bunch(
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        importances=importances,
    )


def _of_tree(tree, rows, X, loss_of, n_repeats, source):
    """Increases of a tree's loss, of shape (n_features, n_repeats); 0 for a feature that it does
    not ask about."""
    out = np.zeros((tree.n_features, n_repeats))
    if not len(rows):
        return out
    cells = X[rows].toarray(order="F") if issparse(X) else np.asfortranarray(X[rows])
    nodes, values = tree.read_nodes(), tree.read_values()
    loss = loss_of(rows, tree.lookup(cells, values))
    for feature in np.unique(nodes["feature"][nodes["left_child"] >= 0]):
        column = cells[:, feature].copy()
        for repeat in range(n_repeats):
            cells[:, feature] = source.permutation(column)
            out[feature, repeat] = loss_of(rows, tree.lookup(cells, values)) - loss
        cells[:, feature] = column
    return out
