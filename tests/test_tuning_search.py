"""TrainOnceSearchCV against GridSearchCV over the same estimator, grid and folds."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import clone, config_context
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
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
from reference.trees import assert_same
from reference.tuning import random_limits

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)

CLASS_SCORES = [
    None,
    "accuracy",
    "balanced_accuracy",
    "neg_log_loss",
    "neg_brier_score",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "roc_auc_ovr",
    ["accuracy", "f1_macro", "neg_log_loss"],
    {"hits": "accuracy", "correlation": "matthews_corrcoef"},
]
NUMBER_SCORES = [
    None,
    "r2",
    "neg_mean_squared_error",
    "neg_root_mean_squared_error",
    "neg_mean_absolute_error",
    "neg_max_error",
    ["neg_mean_absolute_error", "r2"],
]


def both(estimator, grid, X, y, fit_params=None, **options):
    """GridSearchCV and TrainOnceSearchCV, fitted; each with the error it raised instead, if any."""
    found = []
    for search in (GridSearchCV, TrainOnceSearchCV):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes without a row, scores that failed
            try:
                found.append(
                    (search(estimator, grid, **options).fit(X, y, **fit_params or {}), None)
                )
            except ValueError as error:
                found.append((None, error))
    return found


def assert_same_results(actual, expected, scale=1.0):
    """`cv_results_` agree: keys in order, parameters, scores; times aside.

    `scale`: of the targets' squares, for errors of targets that are far from 1.
    """
    assert list(actual) == list(expected)
    for name, column in expected.items():
        if name == "params":
            assert actual[name] == column
        elif name.startswith("param_"):
            assert actual[name].dtype == column.dtype
            assert_array_equal(actual[name].mask, column.mask)
            assert actual[name].compressed().tolist() == column.compressed().tolist()
        elif name.startswith("rank_"):
            assert actual[name].dtype == column.dtype
        elif not name.endswith("_time"):
            assert_allclose(actual[name], column, rtol=1e-12, atol=1e-12 * scale, err_msg=name)


def random_grid(rng, tree):
    """One or two products of up to three limits, now and then with a parameter that is fitted."""

    def product():
        drawn = [random_limits(rng, tree) for _ in range(int(rng.integers(1, 5)))]
        names = rng.choice(list(drawn[0]), size=rng.integers(1, 4), replace=False)
        grid = {str(name): [one[name] for one in drawn] for name in names}
        if "min_samples_split" in grid and rng.random() < 0.5:
            grid["min_samples_split"].append(float(rng.uniform(0.01, 0.4)))
        if rng.random() < 0.2:
            grid["min_samples_leaf"] = [1, 3, 0.05]
        return grid

    return product() if rng.random() < 0.7 else [product(), product()]


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


def fit_with_warnings(search, X, y):
    """The fitted search and the texts of the warnings that it gave, with their categories."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    return search, [(one.category, str(one.message)) for one in caught]


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


def test_a_setting_that_is_not_allowed_fails_alone():
    grid = {"max_depth": [2, -1], "min_samples_split": [2, 1.5, "many"]}
    expected, actual = (
        fit_with_warnings(search(DecisionTreeClassifier(), grid, error_score=-1.0), *IRIS)
        for search in (GridSearchCV, TrainOnceSearchCV)
    )
    for _, caught in (expected, actual):
        ((category, text),) = caught
        assert category is FitFailedWarning
        assert "25 fits failed out of a total of 30" in text
    assert_same_results(actual[0].cv_results_, expected[0].cv_results_)
    assert actual[0].best_params_ == {"max_depth": 2, "min_samples_split": 2}
    with pytest.raises(ValueError, match="min_samples_split"):
        TrainOnceSearchCV(DecisionTreeClassifier(), grid, error_score="raise").fit(*IRIS)
    with pytest.raises(ValueError, match="All the 5 fits failed"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [0]}).fit(*IRIS)


def test_a_fit_that_fails_fails_all_its_settings():
    """One fold has negative targets, which poisson does not take."""
    X, y = np.arange(30.0)[:, None], np.arange(30.0)
    y[3] = -1.0
    grid = {"criterion": ["poisson", "squared_error"], "max_depth": [1, 2, 3]}
    expected, actual = (
        fit_with_warnings(search(DecisionTreeRegressor(), grid, cv=3), X, y)
        for search in (GridSearchCV, TrainOnceSearchCV)
    )
    assert [category for category, _ in actual[1]] == [category for category, _ in expected[1]]
    assert "6 fits failed out of a total of 18" in actual[1][0][1]
    assert_same_results(actual[0].cv_results_, expected[0].cv_results_)
    assert actual[0].best_params_["criterion"] == "squared_error"


def test_classes_that_a_fold_does_not_train_on():
    """Each fold holds a class of its own out: scores are zero or fail, as in GridSearchCV."""
    X, y = IRIS
    for scoring in ("accuracy", "neg_log_loss", "f1_macro", "balanced_accuracy"):
        (expected, _), (actual, _) = both(
            DecisionTreeClassifier(), {"max_depth": [1, 2]}, X, y, scoring=scoring, cv=KFold(3)
        )
        assert_same_results(actual.cv_results_, expected.cv_results_)


@pytest.mark.parametrize("scoring", ["r2", "neg_log_loss"])
def test_scores_with_special_cases_are_scikit_learns(scoring):
    """Folds of one row, and targets that do not vary."""
    if scoring == "r2":
        estimator, X, y = DecisionTreeRegressor(), np.arange(6.0)[:, None], [1.0, 1, 1, 1, 2, 3]
    else:
        estimator, X, y = DecisionTreeClassifier(), np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    for cv in (KFold(6), KFold(2)):
        (expected, _), (actual, _) = both(
            estimator, {"max_depth": [1, 2]}, X, y, scoring=scoring, cv=cv
        )
        assert_same_results(actual.cv_results_, expected.cv_results_)


def test_refit_by_a_function_and_not_at_all():
    def simplest(results):
        return int(np.argmin(results["param_max_depth"]))

    grid = {"max_depth": [5, 2, 3]}
    search = TrainOnceSearchCV(DecisionTreeClassifier(), grid, refit=simplest).fit(*IRIS)
    assert search.best_params_ == {"max_depth": 2}
    assert search.best_estimator_.get_depth() == 2
    assert not hasattr(search, "best_score_")
    search = TrainOnceSearchCV(DecisionTreeClassifier(), grid, refit=False).fit(*IRIS)
    assert not hasattr(search, "best_estimator_")
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    with pytest.raises(AttributeError, match="predict"):
        search.predict(IRIS[0])
    with pytest.raises(ValueError, match="refit must be set"):
        TrainOnceSearchCV(DecisionTreeClassifier(), grid, scoring=["accuracy", "f1_macro"]).fit(
            *IRIS
        )


def test_a_scorer_may_look_at_parameters():
    """A function of the user's is called for every setting, even if trees are the same."""

    def frugal(estimator, X, y):
        return estimator.score(X, y) - 0.01 * estimator.max_depth

    grid = {"max_depth": [3, 9, 20]}
    (expected, _), (actual, _) = both(
        DecisionTreeClassifier(random_state=0), grid, *IRIS, scoring=frugal
    )
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert len(set(actual.cv_results_["mean_test_score"])) == 3


def test_limits_of_the_estimator_hold_where_a_setting_does_not_name_them():
    """The fit that is shared has looser ones; a scorer sees those of the setting."""

    def look(tree, X, y):
        return tree.ccp_alpha + tree.min_samples_split + (tree.max_leaf_nodes or 0)

    tree = DecisionTreeClassifier(ccp_alpha=0.01, max_leaf_nodes=4)
    grid = [{"max_depth": [1, 2]}, {"min_samples_split": [30], "ccp_alpha": [0.0]}]
    (expected, _), (actual, _) = both(tree, grid, *IRIS, scoring=look)
    assert_same_results(actual.cv_results_, expected.cv_results_)


def test_a_scorer_that_returns_several_scores():
    def scores(estimator, X, y):
        hits = estimator.predict(X) == y
        return {"hits": hits.mean(), "misses": -(~hits).mean()}

    (expected, _), (actual, _) = both(
        DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, *IRIS, scoring=scores, refit="hits"
    )
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert actual.multimetric_
    assert actual.best_score_ == expected.best_score_


@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_a_scorer_that_fails(error_score):
    def broken(y_true, y_pred):
        raise ValueError("broken")

    options = dict(scoring=make_scorer(broken), error_score=error_score, cv=3)
    search = TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, **options)
    if error_score == "raise":
        with pytest.raises(ValueError, match="broken"):
            search.fit(*IRIS)
        return
    search, caught = fit_with_warnings(search, *IRIS)
    assert "Scoring failed" in caught[0][1]
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_scorers_with_options():
    """An option that the one pass does not know is left to scikit-learn."""
    scoring = {
        "count": make_scorer(accuracy_score, normalize=False),
        "loss": make_scorer(accuracy_score, greater_is_better=False),
        "f": make_scorer(sklearn.metrics.f1_score, average="macro", labels=[0, 2]),
    }
    for one in scoring.values():
        (expected, _), (actual, _) = both(
            DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, *IRIS, scoring=one
        )
        assert_same_results(actual.cv_results_, expected.cv_results_)


def test_a_subclass_that_predicts_otherwise():
    class Contrary(DecisionTreeClassifier):
        def predict(self, X, check_input=True):
            return (super().predict(X, check_input) + 1) % 3

    (expected, _), (actual, _) = both(Contrary(), {"max_depth": [1, 2, 3]}, *IRIS)
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert actual.best_score_ < 0.4


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


def test_time_of_a_fit_is_shared():
    search = TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2, 3, 4]}, cv=3).fit(
        *IRIS
    )
    times = search.cv_results_["mean_fit_time"]
    assert (times > 0).all()
    assert (times == times[0]).all()


@pytest.mark.parametrize("verbose", [0, 1, 2, 3])
@pytest.mark.parametrize("scoring", ["accuracy", ["accuracy", "f1_macro"]])
def test_what_is_printed(capsys, verbose, scoring):
    """A line per fit, however many settings are cut from it."""
    grid = {"max_depth": [1, 2, 3], "criterion": ["gini", "entropy"]}
    options = dict(verbose=verbose, scoring=scoring, refit="accuracy", cv=2)
    search = TrainOnceSearchCV(DecisionTreeClassifier(), grid, **options).fit(*IRIS)
    lines = capsys.readouterr().out.splitlines()
    header = "Scoring 6 candidates on 2 folds each, totalling 4 fits"
    assert lines[:1] == [header][:verbose]
    lines = [line.rpartition(", total time=")[0] for line in lines[1:]]
    names = ["score"] if scoring == "accuracy" else scoring
    expected = []
    for criterion in grid["criterion"]:
        of_fit = search.cv_results_["param_criterion"] == criterion
        for k in range(2):
            line = f"[CV {k + 1}/2] END criterion={criterion}; 3 settings"
            if verbose > 2:
                scores = (search.cv_results_[f"split{k}_test_{name}"][of_fit] for name in names)
                best = (f"{name}={max(of):.3f}" for name, of in zip(names, scores))
                line += f", best {', '.join(best)}"
            expected.append(line)
    assert lines == (expected if verbose > 1 else [])


class Recorder:
    """A callback of scikit-learn's kind that writes down what it is called for."""

    def __init__(self):
        self.seen, self.n_subtasks = [], {}

    def setup(self, estimator, context):
        self.seen.append(("setup", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(("begin", context.task_name))
        self.n_subtasks[context.task_name] = context.max_subtasks

    def on_fit_task_end(self, estimator, context):
        self.seen.append(("end", context.task_name))

    def teardown(self, estimator, context):
        self.seen.append(("teardown", context.task_name))


@pytest.mark.parametrize("fails", [False, True])
def test_callbacks_see_a_task_per_fold(fails):
    """As GridSearchCV's, with a task per fit of a fold instead of one per setting."""
    grid = {"max_depth": [1, 2, 3], "criterion": ["gini", "entropy"]}
    if fails:
        grid["max_leaf_nodes"] = [-1]
    recorders = Recorder(), Recorder()
    for search, recorder in zip((GridSearchCV, TrainOnceSearchCV), recorders):
        one = search(DecisionTreeClassifier(), grid, cv=2, error_score="raise")
        one.set_callbacks(recorder)
        if fails:
            with pytest.raises(ValueError, match="max_leaf_nodes"):
                one.fit(*IRIS)
        else:
            one.fit(*IRIS)
    (theirs, of_theirs), (ours, of_ours) = ((one.seen, one.n_subtasks) for one in recorders)
    if fails:
        assert ours[-2:] == [("end", "fold-evaluation"), ("teardown", "fit")]
        return
    assert of_ours["search"] == 4
    assert of_ours["fit"] == of_theirs["fit"]
    assert ours.count(("begin", "fold-evaluation")) == ours.count(("end", "fold-evaluation")) == 4
    others = [
        [entry for entry in seen if not entry[1].endswith("-evaluation")] for seen in (ours, theirs)
    ]
    assert others[0] == others[1]


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


# ---- errors


def test_an_empty_grid_is_an_error():
    with pytest.raises(ValueError, match="empty"):
        TrainOnceSearchCV(DecisionTreeClassifier(), []).fit(*IRIS)
    with pytest.raises(ValueError, match="max_depth"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": []}).fit(*IRIS)
    one = TrainOnceSearchCV(DecisionTreeClassifier(max_depth=2), {}).fit(*IRIS)
    assert one.best_params_ == {}
    assert one.best_estimator_.get_depth() == 2


@pytest.mark.parametrize("scoring", ["neg_log_loss", ["r2", "roc_auc"]])
def test_probabilities_of_a_regressor_are_an_error(scoring):
    search = TrainOnceSearchCV(
        DecisionTreeRegressor(), {"max_depth": [1]}, scoring=scoring, refit="r2"
    )
    with pytest.raises(ValueError, match="DecisionTreeRegressor does not have"):
        search.fit(*DIABETES)


def test_parameters_that_do_not_exist_are_an_error():
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"depth": [1]}).fit(*IRIS)
    with pytest.raises(ValueError, match="'error_score' parameter"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, error_score="no").fit(*IRIS)


def test_splitters_that_contradict_themselves_are_an_error():
    class Liar(KFold):
        def get_n_splits(self, X=None, y=None, groups=None):
            return 7

    with pytest.raises(ValueError, match="disagree"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=Liar(3)).fit(*IRIS)
    with pytest.raises(ValueError, match="no splits"):
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}, cv=[]).fit(*IRIS)
