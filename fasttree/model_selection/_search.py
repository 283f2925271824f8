"""Grid search with one fit per fold for all settings of the limits that only cut trees, and of the
number of trees in a forest.

Which settings share a fit is decided here, what is done on a fold in _folds.py. Scorers, routing
of metadata, the form of the results and the choice of the best setting are GridSearchCV's own.

Complexity: folds x combinations of the other parameters in fits; for the settings see _tuning.pyx
and, of forests, ensemble/_cut.py.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from joblib import delayed
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import indexable

from fasttree._config import get_config
from fasttree._sklearn_compat import (
    MultimetricScorer,
    check_method_params,
    fit_context,
    insert_error_scores,
    report_fit_failures,
)
from fasttree.model_selection._folds import Fold, Task
from fasttree.model_selection._forest_scores import numbers_of_trees
from fasttree.model_selection._pipeline import (
    is_cuttable,
    is_cuttable_forest,
    replaces_tree,
    tree_within,
)
from fasttree.tree import EncodedData
from fasttree.tree._validation import keeps_earlier_fit
from fasttree.tree.pruning._cut_scores import check_scorer, warn_of_predictions
from fasttree.tree.pruning._settings import LIMITS, SettingTable, params_key
from fasttree.utils._parallel import Parallel

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from sklearn.base import BaseEstimator

    from fasttree._typing import ErrorScore, Folds, Grid, MatrixLike, Scoring, TargetLike

__all__ = ["TrainOnceMixin", "TrainOnceSearchCV"]


class TrainOnceMixin:
    """The fit of a search that trains once per fold; the search itself says which settings."""

    # Of scikit-learn's searches, which have no types.
    estimator: Any
    refit: Any
    scoring: Any
    _candidates: Callable[[], list[dict[str, Any]]]
    _get_routed_params_for_fit: Callable[..., Any]
    _get_scorers: Callable[..., Any]
    _init_callback_context: Callable[..., Any]

    @keeps_earlier_fit
    @fit_context(prefer_skip_nested_validation=False)  # the estimator is checked when it fits
    def fit(self, X: MatrixLike, y: TargetLike | None = None, **params: Any) -> Self:
        """Score all settings on all folds and fit the best one on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            The targets.
        **params : dict of str to object
            Passed to the estimator's fit, the scorer and the splitter: `sample_weight`,
            `groups`, and what metadata routing asks for. Arrays with one entry per row are split
            with the folds.

        Returns
        -------
        self
            The fitted search.
        """
        scorer, refit_metric = self._get_scorers()
        check_scorer(self.estimator, scorer)
        candidates = self._candidates()
        X, y = indexable(X, y)
        params = check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        metadata = {name: params[name] for name in ("sample_weight",) if name in params} or None
        context = self._init_callback_context(max_subtasks=1 + (self.refit is not False))
        context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=metadata)

        names = set().union(*candidates)
        encoded = self._encoded(X, names)
        task = self._make_task(X, encoded, y, candidates, names, scorer, routed)
        folds = self._make_folds(X, y, routed)
        results = self._search(task, folds, context)
        if callable(self.scoring) and self.multimetric_:
            refit_metric = self.refit
        self._choose(results, refit_metric)
        if self.refit:
            self._fit_best(X, encoded, y, routed.estimator.fit, context, metadata)
        self.scorer_ = scorer._scorers if isinstance(scorer, MultimetricScorer) else scorer
        self.cv_results_ = results
        context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=metadata)
        return self

    def _encoded(self, X, names):
        """X encoded for all fits, or None where they have to read it for themselves: because
        settings differ in how, or because it is for each of them to say what is wrong with it."""
        reading = {"categorical_features", "missing_values"}
        if not is_cuttable(self.estimator) or reading & names:
            return None
        if isinstance(X, EncodedData):
            return X
        try:
            return EncodedData.borrowed(
                X, **{name: getattr(self.estimator, name) for name in reading}
            )
        except (TypeError, ValueError):
            return None

    def _make_task(self, X, encoded, y, candidates, names, scorer, routed):
        cut, table, n_trees = (), None, None
        prefix, tree = tree_within(self.estimator)
        if tree is not None and not replaces_tree(prefix, names):
            cut = ("ccp_alpha",) if get_config()["sklearn_random_stream"] else LIMITS
            limits = {name: getattr(tree, name) for name in LIMITS}
            table = self._setting_table(candidates, limits, prefix)
            if is_cuttable_forest(tree):
                name = f"{prefix}n_estimators"
                n_trees = numbers_of_trees(candidates, name, tree.n_estimators)
        return Task(
            estimator=clone(self.estimator),
            X=X,
            encoded=encoded,
            y=y,
            candidates=list(candidates),
            table=table,
            n_trees=n_trees,
            prefix=prefix,
            cut=cut,
            scorer=scorer,
            fit_params=routed.estimator.fit,
            score_params=routed.scorer.score,
            return_train_score=self.return_train_score,
            error_score=self.error_score,
            verbose=self.verbose,
        )

    def _make_folds(self, X, y, routed):
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self.n_splits_ = cv.get_n_splits(X, y, **routed.splitter.split)
        splits = list(cv.split(X, y, **routed.splitter.split))
        if len(splits) != self.n_splits_:
            raise ValueError(
                f"cv.split and cv.get_n_splits disagree: {len(splits)} and {self.n_splits_} splits."
            )
        if not splits:
            raise ValueError("There are no splits to fit on: the cv iterator is empty.")
        return [Fold(i, len(splits), train, test) for i, (train, test) in enumerate(splits)]

    def _search(self, task, folds, context):
        """Score all settings on all folds; returns what becomes `cv_results_`."""
        together, alone = _shared_fits(task)
        groups = [group for job in together for group in job]
        if task.n_trees is None:
            n_cut = sum(len(members) for _, members in groups)
            warn_of_predictions(task.scorer, n_cut * len(folds) * (1 + self.return_train_score))
        self.n_fits_ = len(folds) * (len(groups) + len(alone))
        if self.verbose > 0:
            print(  # noqa: T201 (verbose asks for it)
                f"Scoring {len(task.candidates)} candidates on {len(folds)} folds each, "
                f"totalling {self.n_fits_} fits"
            )
        jobs = [(task.evaluate, job, fold) for job in together for fold in folds]
        parts = [[members for _, members in job] for _, job, _ in jobs]
        jobs += [(task.evaluate_one, member, fold) for member in alone for fold in folds]
        parts += [[[member]] for member in alone for _ in folds]
        found = self._run(jobs, context)

        out = [None] * (len(task.candidates) * len(folds))
        for (_, _, fold), groups, results_of_groups in zip(jobs, parts, found):
            for members, results in zip(groups, results_of_groups):
                for member, result in zip(members, results):
                    out[member * len(folds) + fold.number] = result
        report_fit_failures(out, self.error_score)
        if callable(self.scoring):
            insert_error_scores(out, self.error_score)
        self.multimetric_ = isinstance(out[0]["test_scores"], dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(out[0]["test_scores"])
        return self._format_results(task.candidates, len(folds), out)

    def _run(self, jobs, context):
        """The results of jobs, each a function and two arguments; callbacks see a task per job."""
        context = context.subcontext(
            task_name="search", max_subtasks=len(jobs), sequential_subtasks=False
        )
        context.call_on_fit_task_begin(estimator=self)
        if getattr(self, "_skl_callbacks", None):
            # Made beforehand: what is sent to workers must not change meanwhile.
            tasks = [context.subcontext("fold-evaluation", task_id=i) for i in range(len(jobs))]
            calls = [delayed(_watched)(self, at, *job) for at, job in zip(tasks, jobs)]
        else:
            calls = [delayed(call)(*arguments) for call, *arguments in jobs]
        found = Parallel(n_jobs=self.n_jobs, pre_dispatch=self.pre_dispatch)(calls)
        context.call_on_fit_task_end(estimator=self)
        return found

    def _format_results(self, candidate_params, n_splits, out, more_results=None):
        """GridSearchCV's, with the columns of parameters filled at once."""
        unnamed = [{}] * len(candidate_params)
        results = super()._format_results(unnamed, n_splits, out, more_results)
        columns = {**_parameter_columns(candidate_params), "params": candidate_params}
        ordered = {}
        for name, column in results.items():
            ordered.update(columns if name == "params" else {name: column})
        return ordered

    def _choose(self, results, refit_metric):
        if not self.refit and self.multimetric_:
            return
        self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
        if not callable(self.refit):
            self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _fit_best(self, X, encoded, y, fit_params, context, metadata):
        data = X if encoded is None else encoded
        self.best_estimator_ = clone(self.estimator).set_params(
            **clone(self.best_params_, safe=False)
        )
        context = context.subcontext(task_name="refit-with-best-params")
        with context.propagate_callback_context(self.best_estimator_):
            context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=metadata)
            start = time.time()
            if y is None:
                self.best_estimator_.fit(data, **fit_params)
            else:
                self.best_estimator_.fit(data, y, **fit_params)
            self.refit_time_ = time.time() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=metadata)


class TrainOnceSearchCV(TrainOnceMixin, GridSearchCV):
    """Search a parameter grid with cross-validation, training once per fold.

    A drop-in replacement for :class:`sklearn.model_selection.GridSearchCV` with the same results.
    Settings that differ only in `max_depth`, `min_samples_split`, `min_impurity_decrease`,
    `max_leaf_nodes` and `ccp_alpha` are cut from one tree, which is fitted once per fold with the
    loosest of these limits. Each combination of other parameters has a fit of its own. For a
    forest the same is true, and `n_estimators` needs no fits either. If a pipeline ends in a tree
    or a forest, its other steps are fitted once per fold and combination of their parameters.
    Settings with an invalid value, and all settings of other estimators, are fitted as in
    GridSearchCV.

    Parameters
    ----------
    estimator : estimator
        A tree of :mod:`fasttree.tree`, a random forest or extra-trees of
        :mod:`fasttree.ensemble`, or a pipeline that ends in one of them.
    param_grid : dict of str to sequence, or list of such dicts
        The values to combine; a list is a union of grids.
    scoring : str, callable, list, tuple, dict or None, default=None
        One scorer or several; None takes the estimator's own. For a tree nearly all of
        scikit-learn's are computed for all settings in one pass, see :ref:`scores-from-one-pass`;
        any other scorer is called once per tree that differs, and many calls are warned of. For a
        forest scorers are called once per setting.
    n_jobs : int or None, default=None
        Number of folds and fits done in parallel. None means 1 unless in a joblib context, -1
        all processors.
    refit : bool, str or callable, default=True
        Whether to fit the best setting on all rows; with several scorers, the name of the one
        that says which is best; or a function from `cv_results_` to the index of the best.
    cv : int, cross-validation generator, iterable or None, default=None
        The folds; None means five.
    verbose : int, default=0
        How much is printed: 1 the number of fits, 2 every fit with its number of settings, 3 their
        best scores.
    pre_dispatch : int or str, default="2*n_jobs"
        Number of jobs handed out ahead.
    error_score : "raise" or number, default=np.nan
        Score of a setting whose fit or scoring fails.
    return_train_score : bool, default=False
        Whether to score the training rows too.

    Attributes
    ----------
    cv_results_ : dict of str to ndarray
        The columns of :class:`~sklearn.model_selection.GridSearchCV`. The time of a fit is
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
    fasttree.tree.DecisionTreeClassifier.tune : Tunes a fitted tree on validation rows.
    TuningCurveDisplay : Plots scores against one limit.

    Notes
    -----
    The scores are those of GridSearchCV for an int `random_state`, or where it has no effect;
    those of forests to the last bit.
    With ``random_state=None`` and random draws, GridSearchCV grows another tree or forest for
    every setting; here the settings of a fold share one. Under ``sklearn_random_stream=True`` only
    `ccp_alpha` is cut, since scikit-learn's draws depend on the other limits, and a forest's
    numbers of trees need no fits.

    References
    ----------
    H. Wang and G. Gupta, "Superfast selection for decision tree algorithms", 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.model_selection import TrainOnceSearchCV
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"max_depth": range(1, 6), "min_samples_split": range(2, 42)}
    >>> search = TrainOnceSearchCV(DecisionTreeClassifier(), grid).fit(X, y)
    >>> len(search.cv_results_["params"]), search.n_fits_
    (200, 5)
    >>> search.best_params_
    {'max_depth': 4, 'min_samples_split': 2}

    Forests of 1 to 20 trees, of two depths:

    >>> from fasttree.ensemble import RandomForestClassifier
    >>> grid = {"n_estimators": range(1, 21), "max_depth": [2, None]}
    >>> search = TrainOnceSearchCV(RandomForestClassifier(random_state=0), grid).fit(X, y)
    >>> len(search.cv_results_["params"]), search.n_fits_
    (40, 5)
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        param_grid: Grid,
        *,
        scoring: Scoring = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        cv: Folds = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: ErrorScore = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _candidates(self):
        candidates = ParameterGrid(self.param_grid)
        if not candidates.param_grid:
            raise ValueError("param_grid is empty: there is no setting to score.")
        check_names(candidates.param_grid)
        return candidates

    def _setting_table(self, candidates, limits, prefix):
        return SettingTable(candidates.param_grid, limits, prefix)


def check_names(grids):
    """Raise unless all parameters of grids or distributions are named by strings."""
    names = set().union(*grids)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"Parameters are named by strings, got {sorted(names, key=str)}.")


def _watched(search, context, call, *arguments):
    """Do a job; callbacks see when it begins and ends."""
    context.call_on_fit_task_begin(estimator=search)
    try:
        return call(*arguments)
    finally:
        context.call_on_fit_task_end(estimator=search)


def _shared_fits(task):
    """Which settings are cut from one fit, and which are fitted alone.

    Returns
    -------
    together : list of list of (dict, ndarray of intp)
        Shared parameters and the settings, grouped by parameters of the steps before the tree.
    alone : list of int
        Settings.
    """
    if not task.cut:
        return [], list(range(len(task.candidates)))
    is_valid, jobs = task.table.is_valid, {}
    if task.n_trees is not None:
        is_valid = is_valid & (task.n_trees > 0)
    for params, members in task.table.groups(task.free):
        before = {name: params[name] for name in params if not name.startswith(task.prefix)}
        key = params_key(before if task.prefix else params)
        members = members[is_valid[members]]
        if len(members):
            jobs.setdefault(key, []).append((params, members))
    return list(jobs.values()), np.flatnonzero(~is_valid).tolist()


def _parameter_columns(candidates):
    """Columns of `cv_results_` with the parameters, masked where a candidate has none."""
    columns = {}
    for name in dict.fromkeys(name for params in candidates for name in params):
        present = [i for i, params in enumerate(candidates) if name in params]
        values = [candidates[i][name] for i in present]
        try:
            array = np.array(values)
        except ValueError:  # sequences of different lengths
            array = None
        if array is None or array.dtype.kind == "U" or array.ndim != 1:
            array = np.empty(len(values), dtype=object)
            for i, value in enumerate(values):
                array[i] = value
        column = np.ma.masked_all(len(candidates), dtype=array.dtype)
        column[present] = array
        columns[f"param_{name}"] = column
    return columns
