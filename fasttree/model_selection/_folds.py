"""One fit on one fold, and the scores of all settings that are cut from it.

Results have the form of scikit-learn's `_fit_and_score`, a dict per setting, so that whatever
reads its results reads these.
"""

import time
from dataclasses import dataclass
from functools import partial
from numbers import Number
from traceback import format_exc

import numpy as np
from joblib.logger import short_format_time
from sklearn import clone

from fasttree._sklearn_compat import (
    MultimetricScorer,
    check_method_params,
    fit_and_score,
    safe_indexing,
    safe_split,
)
from fasttree.model_selection._forest_scores import ForestRows, score_cut_forests
from fasttree.model_selection._pipeline import SharedSteps, put_tree, tree_within
from fasttree.tree.pruning._cut_scores import score_cuts
from fasttree.tree.pruning._settings import LIMITS, UNLIMITED, SettingTable
from fasttree.tree.pruning._tuning import NO_BUDGET
from fasttree.tree.pruning._validation_rows import ValidationRows

__all__ = ["Fold", "Task"]

_UNLIMITED = SettingTable([{}], UNLIMITED).numbers(n_samples=1)


@dataclass(frozen=True)
class Fold:
    """The rows of one split."""

    number: int
    n_splits: int
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Task:
    """What is the same for all folds and fits."""

    estimator: object
    X: object
    encoded: object  # EncodedData of X, or None
    y: object
    candidates: list  # parameters of each setting
    table: object  # SettingTable of the settings
    n_trees: object  # of each setting of a forest; None for a tree
    prefix: str  # before the names of the tree's parameters
    cut: tuple  # names of the limits that are cut
    scorer: object
    fit_params: dict
    score_params: dict
    return_train_score: bool
    error_score: object
    verbose: int

    def evaluate(self, groups, fold):
        """Fit a tree or forest per group of settings on a fold; score the settings cut from it.

        Parameters
        ----------
        groups : list of (dict, ndarray of intp)
            Parameters that settings share, and the settings. Between groups only parameters of
            the tree differ: what a pipeline does before it is done once.
        fold : Fold

        Returns
        -------
        list of list of dict
            For each group and setting `test_scores`, `fit_time`, `score_time`, `fit_error`,
            `n_test_samples`, and `train_scores` if they are asked for.
        """
        data = self.X if self.encoded is None else self.encoded
        rows = {
            "test": (fold.test, *safe_split(self.estimator, data, self.y, fold.test, fold.train)),
            "train": (fold.train, *safe_split(self.estimator, data, self.y, fold.train)),
        }
        shared = SharedSteps()
        return [self._evaluate(params, members, fold, rows, shared) for params, members in groups]

    def _evaluate(self, params, members, fold, rows, shared):
        """Fit once and score the settings cut from it."""
        start = time.perf_counter()
        settings = self._settings(members, len(fold.train))
        fit_params = check_method_params(self.X, params=self.fit_params, indices=fold.train)
        estimator = clone(self.estimator).set_params(
            **clone(params, safe=False), **self._loosest(settings, members)
        )
        error = None
        try:
            shared.fit(estimator, *rows["train"][1:], fit_params)
        except Exception:
            if self.error_score == "raise":
                raise
            error = format_exc()
        fit_time = time.perf_counter() - start

        def scores_of(part):
            if error is not None:
                return [self._failed()] * len(members)
            return self._scores(estimator, settings, members, rows[part], shared, part)

        start = time.perf_counter()
        test_scores = scores_of("test")
        score_time = time.perf_counter() - start if error is None else 0.0
        common = {
            "fit_error": error,
            "fit_time": fit_time / len(members),
            "score_time": score_time / len(members),
            "n_test_samples": len(fold.test),
        }
        results = [{"test_scores": scores, **common} for scores in test_scores]
        if self.return_train_score:
            for result, scores in zip(results, scores_of("train")):
                result["train_scores"] = scores
        if self.verbose > 1:
            seconds = fit_time + score_time
            print(self._line(params, results, fold, seconds))  # noqa: T201 (verbose asks for it)
        return results

    def evaluate_one(self, member, fold):
        """The same for a setting that is not cut but fitted, as scikit-learn does it."""
        result = fit_and_score(
            clone(self.estimator),
            self.X,
            self.y,
            scorer=self.scorer,
            train=fold.train,
            test=fold.test,
            parameters=self.candidates[member],
            fit_params=self.fit_params,
            score_params=self.score_params,
            return_train_score=self.return_train_score,
            return_n_test_samples=True,
            return_times=True,
            error_score=self.error_score,
            verbose=self.verbose,
            split_progress=(fold.number, fold.n_splits),
            candidate_progress=(member, len(self.candidates)),
        )
        return [[result]]

    def _settings(self, members, n_samples):
        """The settings in absolute numbers; limits that are not cut do not limit."""
        settings = self.table.numbers(n_samples)[members]
        for name in set(LIMITS) - set(self.cut):
            settings[name] = _UNLIMITED[name]
        return settings

    def _loosest(self, settings, members):
        """Parameters of the fit that all settings can be cut from."""
        growth = ("max_depth", "min_samples_split", "min_impurity_decrease")
        budget = settings["max_leaf_nodes"].max()
        if any((settings[name] != settings[name][0]).any() for name in growth):
            budget = NO_BUDGET  # which leaves a budget allows depends on the other limits
        depth = settings["max_depth"].max()
        loosest = {
            "max_depth": None if depth == np.iinfo(np.int64).max else int(depth),
            "min_samples_split": int(settings["min_samples_split"].min()),
            "min_impurity_decrease": float(settings["min_impurity_decrease"].min()),
            "max_leaf_nodes": None if budget == NO_BUDGET else int(budget),
            "ccp_alpha": 0.0,
        }
        loosest = {name: loosest[name] for name in self.cut}
        if self.n_trees is not None:
            loosest["n_estimators"] = int(self.n_trees[members].max())
        return {self.prefix + name: limit for name, limit in loosest.items()}

    def _scores(self, estimator, settings, members, rows, shared, part):
        """A number, or a dict of them, for each setting."""
        indices, X, y = rows
        original = partial(safe_indexing, self.X, indices)  # what scorers that are called are given
        try:
            X_of_tree = shared.transform(estimator, X, part)
        except Exception:  # scorers that are called meet it again
            X_of_tree = None
        tree = tree_within(estimator)[1]
        where, put = (tree, X_of_tree, y, original), partial(put_tree, estimator)
        how = (
            lambda i: self._cut_parameters(members[i]),
            self.scorer,
            check_method_params(self.X, params=self.score_params, indices=indices),
            self.error_score,
        )
        if self.n_trees is not None:
            return score_cut_forests(ForestRows(*where, put), settings, self.n_trees[members], *how)
        trees = ValidationRows(*where, None if tree is estimator else put)
        scores, _ = score_cuts(trees, settings, *how)
        if not isinstance(scores, dict):
            return scores.tolist()
        columns = [column.tolist() for column in scores.values()]
        return [dict(zip(scores, row)) for row in zip(*columns)]

    def _cut_parameters(self, member):
        """What a setting says of the parameters that are cut, by their names in the tree."""
        tree, params = tree_within(self.estimator)[1], self.candidates[member]
        return {name: params.get(self.prefix + name, getattr(tree, name)) for name in self.free}

    @property
    def free(self):
        """Names of the parameters, in the tree or forest, that take no fits of their own."""
        return self.cut if self.n_trees is None else (*self.cut, "n_estimators")

    def _failed(self):
        if isinstance(self.scorer, MultimetricScorer):
            return dict.fromkeys(self.scorer._scorers, self.error_score)
        return self.error_score

    def _line(self, params, results, fold, seconds):
        """What is printed about a fit and its settings."""
        message = ", ".join(f"{name}={params[name]}" for name in sorted(params))
        message += f"{'; ' if params else ''}{len(results)} settings"
        if self.verbose > 2:
            message += f", {_best_scores([result['test_scores'] for result in results])}"
        time_ = short_format_time(seconds).strip()
        return f"[CV {fold.number + 1}/{fold.n_splits}] END {message}, total time={time_}"


def _best_scores(scores):
    """The best score of each scorer on a fold, in words."""
    if isinstance(scores[0], Number):
        return f"best score={np.nanmax(scores):.3f}"
    best = {name: np.nanmax([score[name] for score in scores]) for name in scores[0]}
    return "best " + ", ".join(f"{name}={score:.3f}" for name, score in best.items())
