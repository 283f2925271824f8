"""TrainOnceSearchCV against GridSearchCV over the same estimator, grid and folds."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import clone, config_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_tuning_engine import UNLIMITED

import fasttree
import fasttree.tree
from fasttree.model_selection import TrainOnceSearchCV
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
)
from fasttree.tree.pruning import _cut_scores
from reference.problems import CLASSIFICATION, random_problem
from reference.searches import (
    CLASS_SCORES,
    DIABETES,
    IRIS,
    NUMBER_SCORES,
    assert_same_results,
    both,
    random_grid,
)
from reference.trees import assert_same

# ---- results


@pytest.mark.cases(250)
def test_results_are_those_of_grid_search(seed):
    """Both tasks, weights, missing values, string labels, several outputs, all limits."""
    rng = np.random.default_rng([seed, 66])
    problem = random_problem(seed, rows=(20, 120), **UNLIMITED)
    y, tree = problem.y, problem.fit(fasttree.tree).tree_
    is_classifier = problem.params["criterion"] in CLASSIFICATION
    if is_classifier and rng.random() < 0.3 and not problem.params.get("class_weight"):
        y = np.array(["ant", "bee", "cat", "dog", "eel"])[y]
    scores = CLASS_SCORES if is_classifier else NUMBER_SCORES
    scoring = scores[rng.integers(len(scores))]
    several = isinstance(scoring, (list, dict))
    grid = random_grid(rng, tree)
    estimator = problem.estimator(fasttree.tree)
    weighted = problem.sample_weight is not None
    (expected, its_error), (actual, error) = both(
        estimator,
        grid,
        problem.X,
        y,
        {"sample_weight": problem.sample_weight} if weighted else {},
        scoring=scoring,
        refit=next(iter(scoring)) if several else True,
        cv=[3, KFold(4, shuffle=True, random_state=0), ShuffleSplit(2, random_state=1)][seed % 3],
        return_train_score=bool(rng.random() < 0.4),
    )
    assert (error is None) == (its_error is None), (error, its_error)
    if error is not None:
        return
    scale = 1.0 if is_classifier else max(1.0, np.abs(np.asarray(y, dtype=float)).max() ** 2)
    assert_same_results(actual.cv_results_, expected.cv_results_, scale)
    whole = clone(estimator).set_params(
        **{name: v for name, v in actual.best_params_.items() if name == "min_samples_leaf"}
    )
    whole.fit(problem.X, y, **({"sample_weight": problem.sample_weight} if weighted else {}))
    limits = {name: v for name, v in actual.best_params_.items() if name in UNLIMITED}
    assert_same(actual.best_estimator_.tree_, whole.prune(**limits).tree_)
    if actual.best_index_ == expected.best_index_:  # scores an ulp apart may change places
        assert_same(actual.best_estimator_.tree_, expected.best_estimator_.tree_)
    elif not several:
        column = expected.cv_results_["mean_test_score"]
        assert_allclose(column[actual.best_index_], column.max(), rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.cases(60)
def test_sparse_tables(seed):
    """CSR, CSC and COO, arrays and matrices: the scores of GridSearchCV, the tree of a refit."""
    rng = np.random.default_rng([seed, 67])
    problem = random_problem(seed, rows=(20, 100), **UNLIMITED)
    X = np.where(rng.random(problem.X.shape) < 0.6, 0.0, np.nan_to_num(problem.X)).astype(
        np.float32
    )
    kinds = [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.coo_array]
    X = kinds[seed // 10 % 4](X.astype(np.float32))
    estimator = problem.estimator(fasttree.tree)
    grid = random_grid(rng, clone(estimator).fit(X, problem.y).tree_)
    (expected, its_error), (actual, error) = both(estimator, grid, X, problem.y, cv=3)
    assert (error is None) == (its_error is None), (error, its_error)
    if error is not None:
        return
    assert_same_results(actual.cv_results_, expected.cv_results_)
    limits = {name: v for name, v in actual.best_params_.items() if name in UNLIMITED}
    others = {name: v for name, v in actual.best_params_.items() if name not in UNLIMITED}
    whole = clone(estimator).set_params(**others).fit(X, problem.y)
    assert_same(actual.best_estimator_.tree_, whole.prune(**limits).tree_)


@pytest.mark.parametrize("scoring", [*CLASS_SCORES[:8], "f1"])
def test_unweighted_scores_are_equal_to_the_last_bit(scoring):
    """Hence ranks and the best setting are GridSearchCV's, ties and all."""
    X, y = IRIS[0][20:], IRIS[1][20:]
    if scoring == "f1":
        X, y = X[30:], y[30:] - 1
    grid = {"max_depth": [1, 2, 3, 4, 5], "min_samples_split": list(range(2, 40, 2))}
    (expected, _), (actual, _) = both(
        DecisionTreeClassifier(), grid, X[:, :2], y, scoring=scoring, cv=4
    )
    if scoring not in ("neg_log_loss", "neg_brier_score"):  # a mean of logarithms rounds
        for name in ("mean_test_score", "rank_test_score", "split3_test_score"):
            assert_array_equal(actual.cv_results_[name], expected.cv_results_[name])
    assert actual.best_index_ == expected.best_index_
    assert actual.best_score_ == pytest.approx(expected.best_score_, rel=1e-12)


# ---- how much is fitted


def passes(monkeypatch):
    """Counts, by name, of fits, of passes for scores and of calls of scorers."""
    counts = {"fits": 0, "passes": 0, "calls": 0}
    fit = fasttree.tree.BaseDecisionTree._fit
    in_passes, by_call = _cut_scores._scores_in_passes, _cut_scores._scores_by_call

    def counting_fit(self, *args, **kwargs):
        counts["fits"] += 1
        return fit(self, *args, **kwargs)

    def counting_passes(*args):
        counts["passes"] += 1
        return in_passes(*args)

    def counting_calls(*args):
        counts["calls"] += 1
        return by_call(*args)

    monkeypatch.setattr(fasttree.tree.BaseDecisionTree, "_fit", counting_fit)
    monkeypatch.setattr(_cut_scores, "_scores_in_passes", counting_passes)
    monkeypatch.setattr(_cut_scores, "_scores_by_call", counting_calls)
    return counts


@pytest.mark.parametrize(
    "scoring",
    ["accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score", "f1_macro", None],
)
def test_common_scores_of_classes_need_one_pass(monkeypatch, scoring):
    counts = passes(monkeypatch)
    grid = {"max_depth": [1, 2, 3], "ccp_alpha": [0.0, 0.01], "max_leaf_nodes": [None, 4]}
    TrainOnceSearchCV(DecisionTreeClassifier(), grid, scoring=scoring).fit(*IRIS)
    assert counts == {"fits": 6, "passes": 5, "calls": 0}


@pytest.mark.parametrize("scoring", [score for score in NUMBER_SCORES if score != "neg_max_error"])
def test_common_scores_of_numbers_need_one_pass(monkeypatch, scoring):
    counts = passes(monkeypatch)
    grid = [
        {"max_depth": [1, 2, 3]},
        {"min_samples_split": [2, 30], "criterion": ["absolute_error"]},
    ]
    search = TrainOnceSearchCV(DecisionTreeRegressor(), grid, scoring=scoring, refit=False).fit(
        *DIABETES
    )
    assert counts == {"fits": 10, "passes": 10, "calls": 0}
    assert search.n_fits_ == 10


def test_parameters_that_change_splits_are_fitted(monkeypatch):
    counts = passes(monkeypatch)
    grid = {
        "criterion": ["gini", "entropy"],
        "min_samples_leaf": [1, 5],
        "max_depth": [1, 2, 3, None],
        "min_samples_split": [2, 10, 0.2],
    }
    (expected, _), (actual, _) = both(DecisionTreeClassifier(), grid, *IRIS)
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert actual.n_fits_ == 5 * 4
    assert counts["fits"] == 5 * 4 + 1 + 5 * 48 + 1


@pytest.mark.parametrize(
    "estimator",
    [DecisionTree(), DecisionTree(task="classification"), ExtraTreeClassifier(random_state=3)],
)
def test_other_trees(monkeypatch, estimator):
    counts = passes(monkeypatch)
    grid = {"max_depth": [1, 2, None], "max_leaf_nodes": [None, 3], "ccp_alpha": [0.0, 0.02]}
    X, y = IRIS[0], np.array(["a", "b", "c"])[IRIS[1]]
    actual = TrainOnceSearchCV(estimator, grid, cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    assert counts["fits"] == 5
    expected = GridSearchCV(estimator, grid, cv=KFold(4, shuffle=True, random_state=0)).fit(X, y)
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert_array_equal(actual.predict(X), expected.predict(X))


def test_other_estimators_are_fitted_as_in_grid_search():
    grid = {"max_depth": [1, 2]}
    (expected, _), (actual, _) = both(RandomForestClassifier(5, random_state=0), grid, *IRIS, cv=2)
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert actual.n_fits_ == 4


@pytest.mark.parametrize("draws", [False, True])
def test_scikit_learns_stream_cuts_only_alpha(monkeypatch, draws):
    counts = passes(monkeypatch)
    estimator = DecisionTreeClassifier(random_state=0, max_features=2 if draws else None)
    grid = {"max_depth": [2, 4], "max_leaf_nodes": [None, 4], "ccp_alpha": [0.0, 0.01, 0.05]}
    with fasttree.config_context(sklearn_random_stream=True):
        actual = TrainOnceSearchCV(estimator, grid).fit(*IRIS)
        assert counts["fits"] == 5 * 4 + 1
        expected = GridSearchCV(estimator, grid).fit(*IRIS)
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert_same(actual.best_estimator_.tree_, expected.best_estimator_.tree_)


# ---- a search of scikit-learn's kind


@pytest.mark.parametrize("stream", [False, True])
def test_jobs_change_nothing(stream):
    grid = {"max_depth": [1, 2, None], "min_samples_leaf": [1, 4]}
    estimator = DecisionTreeClassifier(max_features=1, random_state=0)
    with fasttree.config_context(sklearn_random_stream=stream):
        alone = TrainOnceSearchCV(estimator, grid).fit(*IRIS)
        together = TrainOnceSearchCV(estimator, grid, n_jobs=2).fit(*IRIS)
    assert_same_results(together.cv_results_, alone.cv_results_)


def test_frames_groups_and_names():
    X = pd.DataFrame(IRIS[0], columns=list("abcd"))
    y = pd.Series(IRIS[1], index=np.arange(150) + 1000)
    groups = np.arange(150) % 7
    (expected, _), (actual, _) = both(
        DecisionTreeClassifier(),
        {"max_depth": [1, 2, 3]},
        X,
        y,
        {"groups": groups},
        cv=GroupKFold(3),
    )
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert actual.feature_names_in_.tolist() == list("abcd")
    assert actual.n_features_in_ == 4
    assert actual.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("several", [False, True])
def test_metadata_routing(several):
    rng = np.random.default_rng(0)
    X, y = IRIS
    with config_context(enable_metadata_routing=True):
        scoring = get_scorer("accuracy").set_score_request(sample_weight="score_weight")
        plain = get_scorer("balanced_accuracy").set_score_request(sample_weight=False)
        if several:
            scoring = {"weighted": scoring, "plain": plain}
        estimator = DecisionTreeClassifier(max_features=2, random_state=1)
        estimator.set_fit_request(sample_weight=True)
        (expected, its_error), (actual, error) = both(
            estimator,
            {"max_depth": [1, 2, 3], "min_samples_split": [2, 60]},
            X,
            y,
            {"sample_weight": rng.random(150), "score_weight": rng.random(150)},
            scoring=scoring,
            refit="weighted" if several else True,
        )
        assert (its_error, error) == (None, None)
        assert_same_results(actual.cv_results_, expected.cv_results_)
        with pytest.raises(TypeError, match="unexpected"):
            TrainOnceSearchCV(estimator, {"max_depth": [1]}).fit(X, y, metadata=1)


@pytest.mark.parametrize("is_requested", [None, True])
@pytest.mark.parametrize("has_steps", [False, True])
def test_weights_are_routed_to_the_score_of_a_tree(is_requested, has_steps):
    X, y = IRIS
    weight = np.random.default_rng(0).random(150)
    with config_context(enable_metadata_routing=True):
        estimator = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=True)
        estimator.set_score_request(sample_weight=is_requested)
        prefix = ""
        if has_steps:
            scaler = StandardScaler().set_fit_request(sample_weight=True)
            estimator, prefix = make_pipeline(scaler, estimator), "decisiontreeclassifier__"
        grid = {f"{prefix}max_depth": [1, 2, 3]}
        theirs, ours = (
            search(estimator, grid, error_score="raise")
            for search in (GridSearchCV, TrainOnceSearchCV)
        )
        if is_requested is None:
            for search in (theirs, ours):
                with pytest.raises(UnsetMetadataPassedError, match="DecisionTreeClassifier.score"):
                    search.fit(X, y, sample_weight=weight)
            return
        theirs.fit(X, y, sample_weight=weight)
        ours.fit(X, y, sample_weight=weight)
        assert_same_results(ours.cv_results_, theirs.cv_results_)


def test_it_is_a_grid_search():
    search = TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=3)
    assert isinstance(search, GridSearchCV)
    assert clone(search).get_params()["param_grid"] == {"max_depth": [1, 2]}
    with pytest.raises(NotFittedError):
        search.predict(IRIS[0])
    search.fit(*IRIS)
    again = pickle.loads(pickle.dumps(search))
    assert_array_equal(again.predict_proba(IRIS[0]), search.predict_proba(IRIS[0]))
    assert again.score(*IRIS) == search.score(*IRIS)
