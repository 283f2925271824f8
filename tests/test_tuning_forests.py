"""Searches over forests against scikit-learn's over the same forests: one fit per fold."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from numpy.testing import assert_array_equal
from scipy.stats import randint
from sklearn import clone, config_context
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_tuning_engine import UNLIMITED
from test_tuning_tables import frame_with_labels

import fasttree
from fasttree.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestQuantileRegressor,
    RandomForestRegressor,
)
from fasttree.ensemble._base import Forest
from fasttree.model_selection import TrainOnceRandomizedSearchCV, TrainOnceSearchCV
from fasttree.tree import EncodedData
from reference.problems import CLASSIFICATION, random_problem
from reference.searches import (
    CLASS_SCORES,
    IRIS,
    NUMBER_SCORES,
    assert_same_results,
    both,
    fit_with_warnings,
)
from reference.tuning import random_limits

FORESTS = {
    (True, "best"): RandomForestClassifier,
    (True, "random"): ExtraTreesClassifier,
    (False, "best"): RandomForestRegressor,
    (False, "random"): ExtraTreesRegressor,
}
EVERY_LIMIT = {
    "max_depth": [2, None],
    "min_impurity_decrease": [0.003, 0.01],
    "max_leaf_nodes": [5, 9],
    "ccp_alpha": [0.0, 0.015],
}

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4)).round(1)
Y = np.column_stack([X[:, 0] + X[:, 1] * X[:, 2], X[:, 3]]) + rng.normal(size=(90, 2)) / 2


def target(kind, n_outputs=1):
    y = Y > 0 if "Classifier" in kind.__name__ else Y
    return y[:, 0] if n_outputs == 1 else y


def assert_equal_results(actual, expected):
    """`cv_results_` agree, scores to the last bit; times aside."""
    assert_same_results(actual, expected)
    for name in expected:
        if "score" in name and not name.endswith("_time"):
            assert_array_equal(actual[name], expected[name], err_msg=name)


def prediction(forest, rows):
    return getattr(forest, "predict_proba", forest.predict)(rows)


def compare(estimator, grid, X, y, params=None, **options):
    """Both searches give the same scores and the same forest; returns fasttree's."""
    (expected, its_error), (actual, error) = both(estimator, grid, X, y, params, **options)
    assert (error, its_error) == (None, None)
    assert_equal_results(actual.cv_results_, expected.cv_results_)
    if hasattr(actual, "best_estimator_"):
        assert actual.best_params_ == expected.best_params_
        assert_array_equal(prediction(actual, X), prediction(expected, X))
    return actual


@pytest.mark.cases(100)
def test_results_are_those_of_grid_search(seed):
    """All limits, classes and numbers, several outputs, weights, missing values, draws of rows,
    columns and thresholds."""
    rng = np.random.default_rng([seed, 81])
    problem = random_problem(seed, rows=(20, 80), **UNLIMITED)
    params, y = dict(problem.params), problem.y
    is_classifier = params["criterion"] in CLASSIFICATION
    kind = FORESTS[is_classifier, params.pop("splitter")]
    params |= {"n_estimators": int(rng.integers(1, 5)), "bootstrap": bool(rng.random() < 0.6)}
    if params["bootstrap"] and rng.random() < 0.3:
        params["max_samples"] = 0.6
    if is_classifier and params["bootstrap"] and rng.random() < 0.3:
        params["class_weight"] = "balanced_subsample"
    weights = {} if problem.sample_weight is None else {"sample_weight": problem.sample_weight}
    forest = kind(**params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = clone(forest).fit(problem.X, y, **weights).estimators_[0].tree_
        except ValueError:
            pytest.skip("no forest grows on this")
    drawn = [random_limits(rng, tree) for _ in range(3)]
    names = [str(name) for name in rng.choice(list(drawn[0]), size=2, replace=False)]
    grid = {name: [one[name] for one in drawn] for name in names}
    grid["n_estimators"] = [int(n) for n in rng.integers(1, 8, size=2)]
    if rng.random() < 0.3:
        grid = [grid, {"n_estimators": [3], "min_samples_leaf": [1, 2]}]
    scores = CLASS_SCORES if is_classifier else NUMBER_SCORES
    scoring = scores[rng.integers(len(scores))] if y.ndim == 1 else None
    (expected, its_error), (actual, error) = both(
        forest,
        grid,
        problem.X,
        y,
        weights,
        scoring=scoring,
        refit=next(iter(scoring)) if isinstance(scoring, (list, dict)) else True,
        cv=[3, KFold(3, shuffle=True, random_state=0), ShuffleSplit(2, random_state=1)][seed % 3],
        return_train_score=bool(rng.random() < 0.3),
    )
    assert (error is None) == (its_error is None), (error, its_error)
    if error is not None:
        return
    assert_equal_results(actual.cv_results_, expected.cv_results_)
    assert actual.best_index_ == expected.best_index_
    assert_array_equal(prediction(actual, problem.X), prediction(expected, problem.X))
    n_groups = (
        1 if isinstance(grid, dict) else 2 + (params.get("min_samples_leaf", 1) not in (1, 2))
    )
    assert actual.n_fits_ <= actual.n_splits_ * (n_groups + 1)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("kind", FORESTS.values())
def test_every_limit_and_number_of_trees_from_one_fit_per_fold(kind, n_outputs):
    forest = kind(max_features=2, random_state=0)
    options = dict(cv=2, return_train_score=True)
    grid = [
        {name: values, "n_estimators": [4, 1], "min_samples_split": [2, 0.2]}
        for name, values in EVERY_LIMIT.items()
    ]
    search = compare(forest, grid, X, target(kind, n_outputs), **options)
    assert len(search.cv_results_["params"]) == 32
    assert search.n_fits_ == 2
    assert len(set(search.cv_results_["mean_train_score"])) > 8


def count(monkeypatch, name):
    """The numbers of trees of the forests that a method is called for."""
    method, called = getattr(Forest, name), []

    def counting(self, *args, **kwargs):
        called.append(self.n_estimators)
        return method(self, *args, **kwargs)

    monkeypatch.setattr(Forest, name, counting)
    return called


@pytest.mark.parametrize("scoring", [None, "roc_auc", ["accuracy", "neg_log_loss"]])
def test_rows_walk_once_per_fold(monkeypatch, scoring):
    """The largest forest is fitted, its leaves are found, and nothing is predicted anew."""
    fits = count(monkeypatch, "_fit")
    walks = count(monkeypatch, "apply")
    sums = count(monkeypatch, "_sums")
    TrainOnceSearchCV(
        RandomForestClassifier(random_state=0),
        {"n_estimators": [2, 5, 4], "max_depth": [1, 2, None]},
        scoring=scoring,
        refit=False,
        cv=3,
    ).fit(X, target(RandomForestClassifier))
    assert (fits, walks, sums) == ([5] * 3, [5] * 3, [])


def test_parameters_that_change_splits_are_fitted():
    grid = {
        "n_estimators": [1, 4],
        "min_samples_leaf": [1, 5],
        "max_features": [1, 2],
        "min_samples_split": [2, 30],
        "random_state": [0, 1],
    }
    search = compare(RandomForestRegressor(), grid, X, target(RandomForestRegressor), cv=2)
    assert search.n_fits_ == 2 * 2 * 2 * 2


def test_forests_are_drawn_alike_from_a_random_state_and_once_per_fold_without():
    grid = {"n_estimators": [1, 4], "max_depth": [1, None]}
    y = target(RandomForestClassifier)
    source = np.random.RandomState(5)
    assert compare(RandomForestClassifier(random_state=source), grid, X, y, cv=2).n_fits_ == 2
    search = TrainOnceSearchCV(RandomForestClassifier(), grid, cv=2).fit(X, y)
    assert search.n_fits_ == 2


def test_scikit_learns_stream_cuts_numbers_of_trees_and_alpha():
    forest = RandomForestClassifier(max_features=2, random_state=0)
    grid = {"n_estimators": [2, 4], "ccp_alpha": [0.0, 0.02], "max_depth": [2, None]}
    with fasttree.config_context(sklearn_random_stream=True):
        search = compare(forest, grid, X, target(RandomForestClassifier), cv=2)
    assert search.n_fits_ == 2 * 2


def test_settings_that_are_not_allowed_fail_alone():
    forest = RandomForestClassifier(random_state=0)
    grid = {"n_estimators": [2, 0, 3.0, "many"], "max_depth": [1, -1]}
    y = target(RandomForestClassifier)
    found = []
    for search in (GridSearchCV, TrainOnceSearchCV):
        with pytest.warns(FitFailedWarning, match="14 fits failed out of a total of 16"):
            found.append(search(forest, grid, cv=2, error_score=-1.0).fit(X, y))
    assert_equal_results(found[1].cv_results_, found[0].cv_results_)
    assert found[1].n_fits_ == 2 + 14


def test_a_fit_that_fails_fails_all_its_settings():
    grid = {"n_estimators": [2, 3], "bootstrap": [True, False]}
    forest = RandomForestRegressor(random_state=0, max_samples=0.5)
    found = []
    for search in (GridSearchCV, TrainOnceSearchCV):
        with pytest.warns(FitFailedWarning, match="4 fits failed out of a total of 8"):
            found.append(search(forest, grid, cv=2, error_score=-9.0).fit(X, Y))
    assert_equal_results(found[1].cv_results_, found[0].cv_results_)
    assert found[1].n_fits_ == 4


@pytest.mark.parametrize("oob_score", [True, lambda y, of_rows: float(np.mean(of_rows))])
def test_scorers_that_look_at_the_forest(oob_score):
    """They are given the forest of the setting: parameters, trees and out-of-bag score."""

    def look(forest, X, y):
        assert len(forest.estimators_) == forest.n_estimators == len(forest)
        depths = [tree.get_depth() + (tree.max_depth or 0) for tree in forest.estimators_]
        return {
            "hits": forest.score(X, y),
            "oob": forest.oob_score_ + forest.oob_decision_function_.sum(),
            "size": sum(depths) + forest.ccp_alpha + (forest.max_leaf_nodes or 0),
            "leaves": forest.apply(X).max() + forest.feature_importances_[0],
        }

    forest = RandomForestClassifier(
        oob_score=oob_score, max_leaf_nodes=9, ccp_alpha=0.01, random_state=0
    )
    grid = [
        {"n_estimators": [8, 12], "max_depth": [1, 3, None]},
        {"n_estimators": [9], "max_leaf_nodes": [None], "ccp_alpha": [0.0]},
    ]
    options = dict(scoring=look, refit="hits", cv=2)
    assert compare(forest, grid, *IRIS, **options).n_fits_ == 2


def test_scorers_with_options_and_weights():
    forest = ExtraTreesClassifier(random_state=0)
    grid = {"n_estimators": [1, 4], "min_samples_split": [2, 60]}
    some = make_scorer(recall_score, labels=[1, 2], average="macro")
    assert compare(forest, grid, *IRIS, cv=3, scoring=some).n_fits_ == 3
    weight = np.arange(150.0)
    with config_context(enable_metadata_routing=True):
        forest.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        weighted = {"hits": some.set_score_request(sample_weight=True)}
        for scoring in (None, weighted):
            options = dict(scoring=scoring, refit=True if scoring is None else "hits", cv=3)
            search = compare(forest, grid, *IRIS, {"sample_weight": weight}, **options)
            assert search.n_fits_ == 3


def test_a_scorer_that_fails():
    def broken(y_true, y_pred):
        raise ValueError("broken")

    options = dict(scoring=make_scorer(broken), cv=2)
    grid = {"n_estimators": [1, 2]}
    with pytest.raises(ValueError, match="broken"):
        TrainOnceSearchCV(RandomForestClassifier(), grid, error_score="raise", **options).fit(*IRIS)
    search, caught = fit_with_warnings(
        TrainOnceSearchCV(RandomForestClassifier(), grid, **options), *IRIS
    )
    assert "Scoring failed" in caught[0][1]
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_rows_that_cannot_be_predicted():
    """Infinite values in the held-out rows of one fold: its scores fail, the other fits."""
    rows = X.copy()
    rows[:3, 0] = np.inf
    grid = {"n_estimators": [1, 2], "max_depth": [1, 2]}
    forest = RandomForestRegressor(random_state=0)
    found = []
    for search in (GridSearchCV, TrainOnceSearchCV):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(search(forest, grid, cv=KFold(30), refit=False).fit(rows, Y[:, 0]))
    assert_equal_results(found[1].cv_results_, found[0].cv_results_)
    assert np.isnan(found[1].cv_results_["split0_test_score"]).all()
    assert found[1].n_fits_ == 30


def test_pipelines():
    pipeline = make_pipeline(StandardScaler(), RandomForestRegressor(random_state=0))
    name = "randomforestregressor"
    grid = {f"{name}__n_estimators": [1, 4], f"{name}__max_depth": [2, None]}
    y = target(RandomForestRegressor)
    assert compare(pipeline, grid, X, y, cv=2).n_fits_ == 2

    def look(pipeline, X, y):
        return pipeline.score(X, y) + pipeline[-1].n_estimators

    assert compare(pipeline, grid, X, y, cv=2, scoring=look).n_fits_ == 2


def test_tables_and_sparse_rows():
    frame, y = frame_with_labels(200)
    grid = {"n_estimators": [1, 4], "max_depth": [2, None]}
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        forest = kind(random_state=0)
        assert compare(forest, grid, frame, pd.Series(y), cv=2).n_fits_ == 2
        assert (
            compare(
                forest, grid, EncodedData(X), target(kind), cv=ShuffleSplit(2, random_state=0)
            ).n_fits_
            == 2
        )
        rows = sp.csr_array(np.where(X > 0, X, 0.0))
        assert compare(forest, grid, rows, target(kind), cv=2).n_fits_ == 2


def test_forests_that_predict_otherwise():
    """A subclass is asked; a forest that keeps more than trees is fitted for every setting."""

    class Contrary(RandomForestClassifier):
        def predict(self, X):
            return 2 - super().predict(-np.asarray(X))

    grid = {"n_estimators": [1, 4], "max_depth": [1, None]}
    assert compare(Contrary(random_state=0), grid, *IRIS, cv=3).n_fits_ == 3
    y = target(RandomForestRegressor)
    forest = RandomForestQuantileRegressor(random_state=0)
    assert compare(forest, grid, X, y, cv=3).n_fits_ == 12
    theirs = sklearn.ensemble.RandomForestRegressor(random_state=0)
    assert compare(theirs, grid, X, y, cv=3).n_fits_ == 12


def test_jobs_change_nothing():
    forest = RandomForestClassifier(random_state=0)
    grid = {"n_estimators": [1, 4], "max_depth": [2, None], "max_features": [1, 2]}
    y = target(RandomForestClassifier)
    alone = TrainOnceSearchCV(forest, grid, cv=2).fit(X, y)
    together = TrainOnceSearchCV(forest, grid, cv=2, n_jobs=2).fit(X, y)
    assert_equal_results(together.cv_results_, alone.cv_results_)


def test_randomized_search():
    draws = {"n_estimators": randint(1, 9), "max_depth": [1, 2, None], "ccp_alpha": [0.0, 0.02]}
    options = dict(n_iter=12, random_state=3, cv=2)
    forest, y = ExtraTreesRegressor(random_state=0), target(ExtraTreesRegressor)
    expected = RandomizedSearchCV(forest, draws, **options).fit(X, y)
    actual = TrainOnceRandomizedSearchCV(forest, draws, **options).fit(X, y)
    assert_equal_results(actual.cv_results_, expected.cv_results_)
    assert actual.n_fits_ == 2
