"""Scores of cut trees against scikit-learn's scorers, called on each cut tree."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    d2_pinball_score,
    d2_tweedie_score,
    fbeta_score,
    get_scorer,
    make_scorer,
    mean_pinball_loss,
    mean_tweedie_deviance,
    precision_score,
    recall_score,
    roc_auc_score,
    top_k_accuracy_score,
)
from sklearn.model_selection import GridSearchCV
from test_tuning_engine import as_settings, integer_tree

from fasttree.model_selection import TrainOnceSearchCV
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.tree.pruning import _cut_scores
from fasttree.tree.pruning._tuning import Cuts
from reference.problems import random_weights
from reference.tuning import leaves_below, naive_cut, random_limits

AVERAGED = ("f1", "jaccard", "precision", "recall")
PROBABILITIES = ("predict_proba",)

ANY_CLASSES = {
    name: get_scorer(name)
    for name in (
        "accuracy",
        "balanced_accuracy",
        "matthews_corrcoef",
        "neg_log_loss",
        "neg_brier_score",
        "d2_log_loss_score",
        "d2_brier_score",
        *(f"{one}_{average}" for one in AVERAGED for average in ("micro", "macro", "weighted")),
    )
}
TWO_CLASSES = ANY_CLASSES | {
    "f2": make_scorer(fbeta_score, beta=2),
    "precision_1": make_scorer(precision_score, zero_division=1.0),
    "best_1": make_scorer(top_k_accuracy_score, k=1, response_method="predict_proba"),
    **{name: get_scorer(name) for name in (*AVERAGED, "roc_auc", "average_precision")},
}
MANY_CLASSES = ANY_CLASSES | {
    "f_half": make_scorer(fbeta_score, beta=0.5, average="macro", zero_division=0),
    "best_1": make_scorer(top_k_accuracy_score, k=1, response_method="predict_proba"),
    "average_precision_weighted": make_scorer(
        get_scorer("average_precision")._score_func,
        response_method="predict_proba",
        average="weighted",
    ),
    **{
        name: get_scorer(name)
        for name in ("top_k_accuracy", "average_precision", "roc_auc_ovr", "roc_auc_ovr_weighted")
    },
}
UNWEIGHTED = {name: get_scorer(name) for name in ("roc_auc_ovo", "roc_auc_ovo_weighted")}
SEVERAL_NUMBERS = {
    "pinball": make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False),
    "d2_pinball": make_scorer(d2_pinball_score, alpha=0.2),
    **{
        name: get_scorer(name)
        for name in (
            "r2",
            "explained_variance",
            "d2_absolute_error_score",
            "neg_mean_absolute_error",
            "neg_mean_absolute_percentage_error",
            "neg_mean_squared_error",
            "neg_median_absolute_error",
            "neg_root_mean_squared_error",
        )
    },
}
DEVIANCES = {
    **{f"deviance_{p}": make_scorer(mean_tweedie_deviance, power=p) for p in (-1, 0, 1.5, 3)},
    **{f"d2_{p}": make_scorer(d2_tweedie_score, power=p) for p in (0, 1, 1.5, 2)},
    **{
        name: get_scorer(name)
        for name in (
            "neg_mean_gamma_deviance",
            "neg_mean_poisson_deviance",
            "neg_mean_squared_log_error",
            "neg_root_mean_squared_log_error",
        )
    },
}


def called(model, scorers, grid, X, y, sample_weight):
    """The scores by definition: each scorer on each cut tree; None where it raises."""
    scores = {name: [] for name in scorers}
    for params in grid:
        cut = model.prune(**params)
        for name, scorer in scorers.items():
            try:
                scores[name].append(scorer(cut, X, y, sample_weight=sample_weight))
            except ValueError:
                scores[name].append(None)
    return scores


def compare(model, scorers, rng, X, y, sample_weight):
    """`tune` returns the scores by definition, or raises where a scorer does."""
    grid = [random_limits(rng, model.tree_) for _ in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # undefined scores
        expected = called(model, scorers, grid, X, y, sample_weight)
        lists = [{name: [value] for name, value in params.items()} for params in grid]
        for name, scorer in scorers.items():
            try:
                scores = model.tune(X, y, lists, scorer, sample_weight=sample_weight).scores
            except ValueError:
                assert None in expected[name] or np.isnan(expected[name]).all(), name
                continue
            assert_allclose(scores, expected[name], rtol=1e-11, atol=1e-12, err_msg=name)


@pytest.mark.cases(200)
def test_scores_of_classes(seed):
    """Two classes or more, ties, weights with zeros, names and numbers, now and then a class
    without a row."""
    rng = np.random.default_rng([seed, 70])
    n_rows, n_classes = int(rng.integers(10, 90)), int(rng.choice([2, 2, 3, 5]))
    X = rng.integers(0, rng.choice([3, 20]), (2 * n_rows, 3)).astype(np.float32)
    codes = np.minimum(X[:, 0] % n_classes, rng.integers(0, n_classes, 2 * n_rows)).astype(int)
    if rng.random() < 0.8:
        codes[:n_classes] = codes[n_rows : n_rows + n_classes] = np.arange(n_classes)
    y = codes if rng.random() < 0.7 else np.array(["ant", "bee", "cat", "dog", "eel"])[codes]
    weight = random_weights(rng, n_rows, exact=False)
    model = DecisionTreeClassifier(criterion=str(rng.choice(["gini", "entropy"])))
    model.fit(X[n_rows:], y[n_rows:])
    if not set(y[:n_rows]) <= set(model.classes_):
        return
    scorers = TWO_CLASSES if n_classes == 2 else MANY_CLASSES
    if n_classes > 2 and weight is None:
        scorers = scorers | UNWEIGHTED
    compare(model, scorers, rng, X[:n_rows], y[:n_rows], weight)


@pytest.mark.cases(200)
def test_scores_of_numbers(seed):
    """One output or two, ties, weights with zeros; counts and positive targets for deviances."""
    rng = np.random.default_rng([seed, 71])
    n_rows = int(rng.integers(2, 90))
    X = rng.integers(0, rng.choice([3, 50]), (2 * n_rows, 3)).astype(np.float32)
    kind = rng.choice(["any", "counts", "positive"])
    mean = np.exp(X[:, 0] / X[:, 0].max(initial=1.0))
    y = {
        "any": rng.normal(size=2 * n_rows) * rng.choice([1e-3, 1.0, 1e4]),
        "counts": rng.poisson(mean).astype(float),
        "positive": rng.gamma(1.0, mean) + 1e-3,
    }[kind]
    if kind == "any" and rng.random() < 0.3:
        y = np.column_stack([y, np.rint(X[:, 1] + rng.normal(size=2 * n_rows))])
    weight = random_weights(rng, n_rows, exact=False)
    model = DecisionTreeRegressor(
        criterion=str(rng.choice(["squared_error", "absolute_error"])),
        min_samples_leaf=int(rng.choice([1, 5])),
    ).fit(X[n_rows:], y[n_rows:])
    scorers = SEVERAL_NUMBERS if kind == "any" else SEVERAL_NUMBERS | DEVIANCES
    compare(model, scorers, rng, X[:n_rows], y[:n_rows], weight)


@pytest.fixture
def no_calls(monkeypatch):
    """A score that needs a prediction fails."""

    def refuse(*args):
        pytest.fail("a scorer was called")

    monkeypatch.setattr(_cut_scores, "_scores_by_call", refuse)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_classes_need_no_prediction(no_calls, n_classes, weighted):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes, :2], y[y < n_classes]
    model = DecisionTreeClassifier().fit(X, y)
    weight = np.random.default_rng(0).random(len(y)) if weighted else None
    scorers = TWO_CLASSES if n_classes == 2 else MANY_CLASSES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # classes that are not predicted
        for scorer in scorers.values():
            model.tune(X, y, scoring=scorer, sample_weight=weight)
        if n_classes > 2 and not weighted:
            for scorer in UNWEIGHTED.values():
                model.tune(X, y, scoring=scorer)


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_numbers_need_no_prediction(no_calls, weighted):
    X, y = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor().fit(X, y)
    weight = np.random.default_rng(0).random(len(y)) if weighted else None
    for scorer in (SEVERAL_NUMBERS | DEVIANCES).values():
        model.tune(X, y, {"max_depth": [1, 2, 9]}, scorer, sample_weight=weight)


@pytest.mark.cases(100)
def test_areas_and_medians_follow_the_definition(seed):
    """All limits at once; few distinct values, so that leaves tie."""
    tree, rng = integer_tree(seed, 60)
    settings_of = [random_limits(rng, tree) for _ in range(30)]
    values = rng.integers(0, 4, tree.node_count).astype(float)
    positive, negative = (weights_of_nodes(tree, rng) for _ in range(2))
    cuts, settings = Cuts(tree), as_settings(settings_of)
    roc = cuts.areas(settings, "roc", values, positive, negative)
    precision = cuts.areas(settings, "precision", values, positive, negative)
    for i, limits in enumerate(settings_of):
        leaves = leaves_below(tree, naive_cut(tree, **limits), 0)
        p, n, v = positive[leaves, 0], negative[leaves, 0], values[leaves]
        higher = (v[:, None] > v) + 0.5 * (v[:, None] == v)
        assert roc[i] == pytest.approx(p @ higher @ n / (p.sum() * n.sum()), rel=1e-13)
        at_least = v >= v[:, None]
        share = (at_least @ p) / np.maximum(at_least @ (p + n), 1e-300)
        assert precision[i] == pytest.approx(p @ share / p.sum(), rel=1e-13)


def weights_of_nodes(tree, rng):
    """Weights that add up, as wide numbers; integers or not, some zero, the root's positive."""
    weights = np.zeros((tree.node_count, 2))
    scale = rng.choice([1.0, 0.1])
    for i in reversed(range(tree.node_count)):
        if tree.children_left[i] < 0:
            weights[i, 0] = scale * rng.integers(0, 4)
        else:
            children = [tree.children_left[i], tree.children_right[i]]
            weights[i, 0] = weights[children, 0].sum()
    if weights[0, 0] == 0:
        node = 0
        while node >= 0:
            weights[node, 0] += 1.0
            node = tree.children_left[node]
    return weights


def test_several_scorers_at_once(no_calls):
    """Each from its pass; `refit` names the one that chooses."""
    X, y = load_iris(return_X_y=True)
    scoring = ["accuracy", "roc_auc_ovr", "neg_log_loss", "f1_macro"]
    grid = {"max_depth": [1, 2, 3, 4], "min_samples_split": [2, 30]}
    options = dict(scoring=scoring, refit="roc_auc_ovr")
    expected = GridSearchCV(DecisionTreeClassifier(), grid, **options).fit(X, y)
    actual = TrainOnceSearchCV(DecisionTreeClassifier(), grid, **options).fit(X, y)
    for name in scoring:
        key = f"mean_test_{name}"
        assert_allclose(actual.cv_results_[key], expected.cv_results_[key], rtol=1e-12)
    assert actual.best_params_ == expected.best_params_


def test_only_unknown_scorers_are_called(monkeypatch):
    """Beside one that is not known, the others still come from their pass."""
    seen = []
    by_call = _cut_scores._scores_by_call

    def watched(rows, settings, members, with_setting, scorer, *args):
        seen.append((list(scorer._scorers), len(members)))
        return by_call(rows, settings, members, with_setting, scorer, *args)

    monkeypatch.setattr(_cut_scores, "_scores_by_call", watched)
    scoring = {
        "area": "roc_auc_ovr",
        "two_labels": make_scorer(recall_score, labels=[0, 2], average="macro"),
    }
    search = TrainOnceSearchCV(
        DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, scoring=scoring, refit=False, cv=2
    )
    search.fit(*load_iris(return_X_y=True))
    assert seen == [(["two_labels"], 3)] * 2
    assert np.isfinite(search.cv_results_["mean_test_two_labels"]).all()


def test_only_trees_for_which_a_score_is_not_defined_are_called(monkeypatch):
    """A leaf without events predicts zero, where the Poisson deviance is not defined."""
    X, y = np.arange(20.0)[:, None], np.repeat([0.0, 1.0, 2.0, 4.0], 5)
    model = DecisionTreeRegressor().fit(X, y)
    members = []
    by_call = _cut_scores._scores_by_call

    def watched(rows, settings, some, *args):
        members.append(some.tolist())
        return by_call(rows, settings, some, *args)

    monkeypatch.setattr(_cut_scores, "_scores_by_call", watched)
    with pytest.raises(ValueError, match="strictly positive y_pred"):
        model.tune(X, y, {"max_depth": [1, 2, 3]}, "neg_mean_poisson_deviance")
    search = TrainOnceSearchCV(
        DecisionTreeRegressor(),
        {"max_depth": [1, 2, 3]},
        scoring="neg_mean_poisson_deviance",
        cv=[(np.arange(20), np.arange(20))],
        refit=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two scores failed
        search.fit(X, y)
    assert members == [[1, 2]] * 2
    scores = search.cv_results_["mean_test_score"]
    assert_array_equal(np.isnan(scores), [False, True, True])


def test_options_that_scikit_learn_refuses():
    """The error is scikit-learn's own."""
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier().fit(X, y)
    for scorer in ("roc_auc", "f1", make_scorer(roc_auc_score, multi_class="ovr")):
        with pytest.raises(ValueError):
            model.tune(X, y, {"max_depth": [1]}, scorer)
        with pytest.raises(ValueError):
            get_scorer(scorer)(model, X, y) if isinstance(scorer, str) else scorer(model, X, y)


def test_undefined_precision_is_warned_of_once():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 0], [5, 2, 5])
    model = DecisionTreeClassifier().fit(X, y)
    grid = {"min_samples_split": [2, 12, 13]}
    with pytest.warns(UndefinedMetricWarning, match="Precision is undefined") as caught:
        result = model.tune(X, y, grid, "precision")
    assert [warning.filename for warning in caught] == [__file__]
    assert result.scores[2] == 0.0
    scorer = make_scorer(precision_score, zero_division=1)
    assert model.tune(X, y, grid, scorer).scores[2] == 1.0
    flipped = DecisionTreeClassifier().fit(X, 1 - y)
    assert flipped.tune(X, 1 - y, grid, "precision").scores[2] == 10 / 12  # no warning


def test_many_predictions_are_warned_of_once():
    X, y = load_iris(return_X_y=True)
    scorer = make_scorer(recall_score, labels=[0, 2], average="macro")
    grid = {"max_depth": [1, 2, 3], "min_samples_split": list(range(2, 40))}
    with pytest.warns(UserWarning, match="up to 114 of them") as caught:
        DecisionTreeClassifier().fit(X, y).tune(X, y, grid, scorer)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    search = TrainOnceSearchCV(DecisionTreeClassifier(), grid, scoring=scorer, cv=3)
    with pytest.warns(UserWarning, match="up to 342 of them") as caught:
        search.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_names_of_pass_scorers_are_told_from_functions():
    """A scorer whose method is not that of its function is called: here hits of probabilities."""
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier().fit(X, y)
    odd = make_scorer(get_scorer("neg_log_loss")._score_func)  # of labels
    with pytest.raises(ValueError):
        model.tune(X, y, {"max_depth": [1]}, odd)
