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
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.tree.pruning._cut_scores import ValidationRows, score_cuts
from fasttree.tree.pruning._settings import LIMITS, UNLIMITED, SettingTable
from fasttree.tree.pruning._tuning import NO_BUDGET

__all__ = ["Fold", "Task", "is_cuttable"]

_UNLIMITED = SettingTable([{}], UNLIMITED).numbers(n_samples=1)

_OWN_FITS = (DecisionTree.fit, DecisionTreeClassifier.fit, DecisionTreeRegressor.fit)


def is_cuttable(estimator):
    """Whether the estimator is a tree of fasttree's, with its fit."""
    return getattr(type(estimator), "fit", None) in _OWN_FITS


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
    cut: tuple  # names of the limits that are cut
    scorer: object
    fit_params: dict
    score_params: dict
    return_train_score: bool
    error_score: object
    verbose: int

    def evaluate(self, params, members, fold):
        """Fit once on a fold and score the settings cut from it.

        Parameters
        ----------
        params : dict
            Parameters that these settings share.
        members : ndarray of intp
            The settings.
        fold : Fold

        Returns
        -------
        list of dict
            For each setting `test_scores`, `fit_time`, `score_time`, `fit_error`,
            `n_test_samples`, and `train_scores` if they are asked for.
        """
        start = time.perf_counter()
        data = self.X if self.encoded is None else self.encoded
        train = safe_split(self.estimator, data, self.y, fold.train)
        test = safe_split(self.estimator, data, self.y, fold.test, fold.train)
        settings = self._settings(members, len(fold.train))
        fit_params = check_method_params(self.X, params=self.fit_params, indices=fold.train)
        estimator = clone(self.estimator).set_params(
            **clone(params, safe=False), **self._loosest(settings)
        )
        error = None
        try:
            estimator.fit(*train, **fit_params)
        except Exception:
            if self.error_score == "raise":
                raise
            error = format_exc()
        fit_time = time.perf_counter() - start

        def scores_of(rows, indices):
            if error is not None:
                return [self._failed()] * len(members)
            return self._scores(estimator, settings, members, rows, indices)

        start = time.perf_counter()
        test_scores = scores_of(test, fold.test)
        score_time = time.perf_counter() - start if error is None else 0.0
        common = {
            "fit_error": error,
            "fit_time": fit_time / len(members),
            "score_time": score_time / len(members),
            "n_test_samples": len(fold.test),
        }
        results = [{"test_scores": scores, **common} for scores in test_scores]
        if self.return_train_score:
            for result, scores in zip(results, scores_of(train, fold.train)):
                result["train_scores"] = scores
        if self.verbose > 1:
            for member, result in zip(members, results):
                print(self._line(member, result, fold))  # noqa: T201 (verbose asks for it)
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
        return [result]

    def _settings(self, members, n_samples):
        """The settings in absolute numbers; limits that are not cut do not limit."""
        settings = self.table.numbers(n_samples)[members]
        for name in set(LIMITS) - set(self.cut):
            settings[name] = _UNLIMITED[name]
        return settings

    def _loosest(self, settings):
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
        return {name: loosest[name] for name in self.cut}

    def _scores(self, estimator, settings, members, rows, indices):
        """A number, or a dict of them, for each setting."""
        original = None  # what scorers that are called are given
        if self.encoded is not None:
            original = partial(safe_indexing, self.X, indices)
        scores, _ = score_cuts(
            ValidationRows(estimator, *rows, original),
            settings,
            lambda i: self.candidates[members[i]],
            self.scorer,
            check_method_params(self.X, params=self.score_params, indices=indices),
            self.error_score,
        )
        if not isinstance(scores, dict):
            return scores.tolist()
        columns = [column.tolist() for column in scores.values()]
        return [dict(zip(scores, row)) for row in zip(*columns)]

    def _failed(self):
        if isinstance(self.scorer, MultimetricScorer):
            return dict.fromkeys(self.scorer._scorers, self.error_score)
        return self.error_score

    def _line(self, member, result, fold):
        """What GridSearchCV prints about a setting on a fold."""
        progress = f" {fold.number + 1}/{fold.n_splits}" if self.verbose > 2 else ""
        if self.verbose > 9:
            progress += f"; {member + 1}/{len(self.candidates)}"
        params = self.candidates[member]
        message = ", ".join(f"{name}={params[name]}" for name in sorted(params)) + ";"
        if self.verbose > 2:
            message += _score_text(result["test_scores"], result.get("train_scores"))
        message += f" total time={short_format_time(result['fit_time'] + result['score_time'])}"
        head = f"[CV{progress}] END "
        return head + "." * (80 - len(head) - len(message)) + message


def _score_text(test, train):
    """The scores of a setting on a fold, as GridSearchCV writes them."""
    if isinstance(test, Number):
        both = "" if train is None else f"train={train:.3f}, "
        return f", score=({both}test={test:.3f})" if both else f", score={test:.3f}"
    return "".join(
        f" {name}: ({'' if train is None else f'train={train[name]:.3f}, '}test={test[name]:.3f})"
        for name in sorted(test)
    )
