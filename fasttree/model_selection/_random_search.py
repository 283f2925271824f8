"""Randomized search with one fit per fold for all settings of the limits that only cut a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import ParameterSampler, RandomizedSearchCV

from fasttree.model_selection._search import TrainOnceMixin, check_names
from fasttree.tree.pruning._settings import SettingTable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from sklearn.base import BaseEstimator

    from fasttree._typing import ErrorScore, Folds, RandomState, Scoring

__all__ = ["TrainOnceRandomizedSearchCV"]


class TrainOnceRandomizedSearchCV(TrainOnceMixin, RandomizedSearchCV):
    """Search settings drawn from distributions with cross-validation, training once per fold.

    A drop-in replacement for :class:`sklearn.model_selection.RandomizedSearchCV` with the same
    draws and results. Thousands of settings of the limits that cut a tree take little longer than
    one, and all numbers of trees of a forest and its limits are scored from one fit per fold, see
    :class:`TrainOnceSearchCV`. Each combination of other parameters is fitted.

    Parameters
    ----------
    estimator : estimator
        A tree of :mod:`fasttree.tree`, a random forest or extra-trees of
        :mod:`fasttree.ensemble`, or a pipeline that ends in one of them.
    param_distributions : dict of str to sequence or distribution, or list of such dicts
        What to draw from: lists uniformly, distributions by their `rvs`.
    n_iter : int, default=10
        Number of settings drawn.
    scoring : str, callable, list, tuple, dict or None, default=None
        One scorer or several, as in :class:`TrainOnceSearchCV`.
    n_jobs : int or None, default=None
        Number of folds and fits done in parallel.
    refit : bool, str or callable, default=True
        Whether, or by which score, to fit the best setting on all rows.
    cv : int, cross-validation generator, iterable or None, default=None
        The folds; None means five.
    verbose : int, default=0
        How much is printed: 1 the number of fits, 2 every fit with its number of settings, 3 their
        best scores.
    pre_dispatch : int or str, default="2*n_jobs"
        Number of jobs handed out ahead.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    error_score : "raise" or number, default=np.nan
        Score of a setting whose fit or scoring fails.
    return_train_score : bool, default=False
        Whether to score the training rows too.

    Attributes
    ----------
    cv_results_ : dict of str to ndarray
        The columns of :class:`~sklearn.model_selection.RandomizedSearchCV`. The time of a fit is
        divided equally among the settings cut from it.
    best_estimator_ : estimator
        The estimator fitted on all rows with the best setting.
    best_score_ : float
        Mean score of the best setting on the held-out folds.
    best_params_ : dict
        The best setting.
    best_index_ : int
        Its position in `cv_results_`; of settings with equal scores, the first.
    n_fits_ : int
        Number of fits on folds.
    scorer_ : callable or dict of callables
        The scorers.
    n_splits_ : int
        Number of folds.
    refit_time_ : float
        Seconds it took to fit `best_estimator_`.
    multimetric_ : bool
        Whether there are several scores.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if `best_estimator_` is a classifier.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if all are strings.

    See Also
    --------
    TrainOnceSearchCV : Every combination of lists of values.

    Examples
    --------
    >>> from scipy.stats import loguniform, randint
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.model_selection import TrainOnceRandomizedSearchCV
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> draws = {"min_samples_split": randint(2, 80), "ccp_alpha": loguniform(1e-4, 0.1)}
    >>> search = TrainOnceRandomizedSearchCV(
    ...     DecisionTreeClassifier(), draws, n_iter=1000, random_state=0
    ... ).fit(X, y)
    >>> len(search.cv_results_["params"]), search.n_fits_
    (1000, 5)
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        n_iter: int = 10,
        scoring: Scoring = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        cv: Folds = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: RandomState = None,
        error_score: ErrorScore = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_distributions,
            n_iter=n_iter,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _candidates(self):
        candidates = ParameterSampler(
            self.param_distributions, self.n_iter, random_state=self.random_state
        )
        check_names(candidates.param_distributions)
        return list(candidates)

    def _setting_table(self, candidates, limits, prefix):
        return SettingTable.of_candidates(candidates, limits, prefix)
