"""Forests: scikit-learn's replayed, on data of every kind, and their prediction."""

import io
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fasttree
import fasttree.ensemble
from fasttree.ensemble import (
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from fasttree.ensemble._bootstrap import Bootstrap
from fasttree.export import shap_values
from fasttree.tree import DecisionTreeClassifier, EncodedData
from reference.forests import X, assert_same_forest, each_forest, prediction, refitted, y
from reference.problems import random_problem
from reference.trees import assert_same

rng = np.random.default_rng(1)

# ---- scikit-learn's forests


def replay(name, problem, parameters):
    """A forest of fasttree's on scikit-learn's stream and scikit-learn's, fitted alike."""
    fitted = []
    for module, stream in ((fasttree.ensemble, True), (sklearn.ensemble, False)):
        forest = getattr(module, name)(**parameters)
        with fasttree.config_context(sklearn_random_stream=stream), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fitted.append(forest.fit(problem.X, problem.y, sample_weight=problem.sample_weight))
    return fitted


@pytest.mark.cases(300)
def test_replay_bit_for_bit(seed):
    problem = random_problem(seed, exact=True)
    rng = np.random.default_rng([seed, 15])
    parameters = problem.params | {"n_estimators": int(rng.integers(1, 6))}
    kind = "ExtraTrees" if parameters.pop("splitter") == "random" else "RandomForest"
    task = "Classifier" if parameters["criterion"] in ("gini", "entropy") else "Regressor"
    parameters["bootstrap"] = bool(rng.random() < 0.7)
    if parameters["bootstrap"]:
        parameters["max_samples"] = [None, 0.5, len(problem.X) // 2 + 1][rng.integers(3)]
        parameters["oob_score"] = bool(rng.random() < 0.5) and problem.y.ndim == 1
    elif problem.sample_weight is not None and "class_weight" in parameters:
        del parameters["class_weight"]
    if task == "Classifier" and rng.random() < 0.2 and parameters["bootstrap"]:
        parameters["class_weight"] = "balanced_subsample"
        parameters["criterion"] = "gini"
    ours, theirs = replay(kind + task, problem, parameters)
    for tree, other in zip(ours.estimators_, theirs.estimators_, strict=True):
        assert tree.random_state == other.random_state
        if parameters.get("class_weight") != "balanced_subsample":  # weights are no integers
            assert_same(tree.tree_, other.tree_)
    assert_array_equal(ours.estimators_samples_, theirs.estimators_samples_)
    if parameters.get("class_weight") == "balanced_subsample":
        return
    assert_array_equal(prediction(ours, problem.X), prediction(theirs, problem.X))
    assert_array_equal(ours.feature_importances_, theirs.feature_importances_)
    if parameters.get("oob_score"):
        name = "oob_decision_function_" if task == "Classifier" else "oob_prediction_"
        assert_array_equal(getattr(ours, name), getattr(theirs, name))
        assert_array_equal(ours.oob_score_, theirs.oob_score_)


@each_forest
def test_leaves_paths_and_indices_are_scikit_learns(Forest):
    name = Forest.__name__
    with fasttree.config_context(sklearn_random_stream=True):
        ours = Forest(5, random_state=3).fit(X, y)
    theirs = getattr(sklearn.ensemble, name)(5, random_state=3).fit(X, y)
    assert_array_equal(ours.apply(X), theirs.apply(X))
    for part, expected in zip(ours.decision_path(X), theirs.decision_path(X)):
        assert_array_equal(
            part.toarray() if sp.issparse(part) else part,
            expected.toarray() if sp.issparse(expected) else expected,
        )
    for tree in ours.estimators_:
        assert isinstance(tree, type(ours.estimator_))
        assert tree.get_params().items() >= {"max_features": ours.max_features}.items()


@pytest.mark.parametrize("sample_weight", [None, rng.random(500)])
def test_bootstrap_samples_are_scikit_learns_by_default(sample_weight):
    ours = RandomForestClassifier(4, random_state=1, max_samples=0.7)
    theirs = sklearn.ensemble.RandomForestClassifier(4, random_state=1, max_samples=0.7)
    for forest in (ours, theirs):
        forest.fit(X, y, sample_weight=sample_weight)
    assert_array_equal(ours.estimators_samples_, theirs.estimators_samples_)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 100, 1024, 1025, 5000])
def test_counts_are_those_of_the_draws(n_rows):
    for seed in (0, 1, 42, 2**31 - 2, 2**32 - 1):
        for n_drawn in (1, n_rows, 3 * n_rows):
            bootstrap = Bootstrap(n_rows, n_drawn)
            expected = np.bincount(bootstrap.indices(seed), minlength=n_rows)
            assert_array_equal(bootstrap.counts(seed), expected)


def test_a_tree_is_the_one_that_its_counts_grow():
    """The rows that it did not draw do not matter, nor do those that others drew."""
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_):
        counts = np.bincount(drawn, minlength=len(X)).astype(float)
        alone = DecisionTreeClassifier(max_features="sqrt", random_state=tree.random_state)
        assert_same(tree.tree_, alone.fit(X, y, sample_weight=counts).tree_)


# ---- isolation forests and embeddings


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("max_features", [1.0, 2])
@pytest.mark.parametrize("rows", [X, sp.csr_matrix(X)])
def test_isolation_forest(rows, max_features, n_jobs):
    settings = {"random_state": 0, "contamination": 0.1, "max_features": max_features}
    settings["n_jobs"] = n_jobs
    with fasttree.config_context(sklearn_random_stream=True):
        ours = IsolationForest(**settings).fit(rows)
    theirs = sklearn.ensemble.IsolationForest(**settings).fit(rows)
    assert_allclose(ours.score_samples(rows), theirs.score_samples(rows), rtol=1e-14)
    assert_array_equal(ours.predict(rows), theirs.predict(rows))
    loaded = pickle.loads(pickle.dumps(ours))
    assert_array_equal(loaded.score_samples(rows), ours.score_samples(rows))


def test_embedding():
    with fasttree.config_context(sklearn_random_stream=True):
        ours = RandomTreesEmbedding(5, random_state=0).fit(X)
    theirs = sklearn.ensemble.RandomTreesEmbedding(5, random_state=0).fit(X)
    assert_array_equal(ours.apply(X), theirs.apply(X))
    assert_array_equal(ours.transform(X[:5]).toarray(), theirs.transform(X[:5]).toarray())
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_an_embedding_has_what_scikit_learns_has():
    """Its trees are grown on random numbers: it predicts nothing, on the bag or out of it."""

    def public(cls):
        return {name for name in dir(cls) if not name.startswith("_")}

    own = public(RandomTreesEmbedding) - public(sklearn.ensemble.RandomTreesEmbedding)
    assert own == {"set_callbacks", "to_sklearn"}
    with pytest.raises(TypeError, match="tree of fasttree is expected"):
        shap_values(RandomTreesEmbedding(2).fit(X), X)


@pytest.mark.parametrize("name", fasttree.ensemble.__all__)
def test_each_is_scikit_learns(name):
    """Whatever asks for one of scikit-learn's takes ours, and `clone` makes equal ones."""
    forest = getattr(fasttree.ensemble, name)()
    base = getattr(sklearn.ensemble, name, sklearn.ensemble.RandomForestRegressor)
    assert isinstance(forest, base)
    assert forest.get_params().items() >= base().get_params().items()
    assert clone(forest).get_params() == forest.get_params()
    assert pickle.load(io.BytesIO(pickle.dumps(forest))).get_params() == forest.get_params()


# ---- data


def test_tables():
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", None], 300),
            "size": rng.normal(size=300),
            "kind": pd.Categorical(rng.choice(["p", "q"], 300)),
        }
    )
    target = (frame["colour"].eq("red") & frame["kind"].eq("p")).map({True: "yes", False: "no"})
    forest = RandomForestClassifier(10, random_state=0, max_features=None).fit(frame, target)
    assert_array_equal(forest.predict(frame), target)
    assert list(forest.feature_names_in_) == list(frame.columns)
    assert forest.estimators_[0].categories_[0] == ["blue", "green", "red"]
    proba = np.mean([tree.tree_.predict(_cells(forest, frame)) for tree in forest.estimators_], 0)
    assert_allclose(forest.predict_proba(frame), proba, rtol=1e-15)
    loaded = pickle.loads(pickle.dumps(forest))
    assert_array_equal(loaded.predict_proba(frame), forest.predict_proba(frame))
    assert_same_forest(loaded, forest)


def _cells(forest, frame):
    return EncodedData(frame).cells if forest._table_encoder is not None else frame


def test_other_categories_at_a_warm_start():
    table = np.array([["a"], ["b"], ["a"], ["b"]], dtype=object)
    forest = RandomForestClassifier(2, warm_start=True).fit(table, [0, 1, 0, 1])
    table[0, 0] = "c"
    with pytest.raises(ValueError, match="categories"):
        forest.set_params(n_estimators=3).fit(table, [0, 1, 0, 1])


@each_forest
def test_missing_values_and_sparse_rows(Forest):
    rows = X.copy()
    rows[rng.random(X.shape) < 0.2] = np.nan
    forest = Forest(5, random_state=0).fit(rows, y)
    values = [tree.tree_.predict(rows.astype(np.float32)) for tree in forest.estimators_]
    assert_allclose(prediction(forest, rows).ravel(), np.mean(values, 0).ravel(), rtol=1e-14)
    zeros = X * (rng.random(X.shape) < 0.4)
    dense, sparse = (Forest(5, random_state=0).fit(A, y) for A in (zeros, sp.csc_matrix(zeros)))
    assert_same_forest(sparse, dense)
    assert_array_equal(prediction(dense, zeros), prediction(dense, sp.csr_matrix(zeros)))


@each_forest
def test_encoded_data(Forest):
    settings = {"random_state": 0, "oob_score": True, "bootstrap": True, "n_estimators": 30}
    data = EncodedData(X)
    assert_same_forest(Forest(**settings).fit(data, y), Forest(**settings).fit(X, y))
    assert_array_equal(prediction(refitted(Forest(3, random_state=0)), data[:7]),
                       prediction(refitted(Forest(3, random_state=0)), X[:7]))  # fmt: skip
    for chosen in (np.arange(0, 500, 2), rng.permutation(500)[:300]):
        selected = Forest(**settings).fit(data[chosen], y[chosen])
        copied = Forest(**settings).fit(X[chosen], y[chosen])
        assert_same_forest(selected, copied)
        assert selected.oob_score_ == copied.oob_score_


def test_several_outputs():
    targets = np.column_stack([y, (X[:, 0] > 0).astype(int) + 5])
    forest = RandomForestClassifier(5, random_state=0).fit(X, targets)
    for k, proba in enumerate(forest.predict_proba(X)):
        values = [tree.tree_.predict(X.astype(np.float32))[:, k] for tree in forest.estimators_]
        assert_allclose(proba, np.mean(values, axis=0), rtol=1e-14)
    assert set(forest.predict(X)[:, 1]) == {5, 6}


@each_forest
def test_no_rows(Forest):
    forest = refitted(Forest(2))
    with pytest.raises(ValueError, match="0 sample"):
        forest.predict(X[:0])


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.full(len(y), 1e307), "weights are too large: their sum is not a finite number"),
        (np.where(y == y[0], -1.0, 1.0), "in proportion to negative sample weights"),
        (np.full(len(y), -1.0), "in proportion to negative sample weights"),
    ],
)
def test_rows_that_cannot_be_drawn(weights, words):
    with pytest.raises(ValueError, match=words):
        RandomForestClassifier(2).fit(X, y, weights)


# ---- prediction


@each_forest
def test_a_forest_without_trees(Forest):
    forest = refitted(Forest(2))
    forest.estimators_ = []
    for rows in (X, sp.csr_array(X)):
        with pytest.raises(NotFittedError):
            prediction(forest, rows)


@each_forest
def test_trees_that_are_exchanged_predict(Forest):
    forest = refitted(Forest(4, random_state=0))
    prediction(forest)
    forest.estimators_ = forest.estimators_[:2]
    expected = refitted(Forest(2, random_state=0))
    assert_array_equal(prediction(forest), prediction(expected))


@each_forest
@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_and_numbers_of_rows(Forest, order):
    forest = refitted(Forest(3, random_state=0))
    rows = np.array(np.tile(X, (12, 2))[:, ::2][:, :6], dtype=np.float32, order=order)
    expected = prediction(forest, np.ascontiguousarray(rows))
    for chosen in (slice(None), slice(0, 1), slice(1, 70), slice(None, None, -3)):
        assert_array_equal(prediction(forest, rows[chosen]), expected[chosen])
    with fasttree.config_context(n_threads=3):
        assert_array_equal(prediction(forest, rows), expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_many_rows(order, missing):
    """Values of trees, in their order; a tree that is large for the rows among them."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000, 40)).round(1)
    table[rng.random(table.shape) < missing] = np.nan
    forest = RandomForestRegressor(5, random_state=0, max_features=5)
    forest.fit(table, rng.normal(size=len(table)))
    rows = np.array(np.tile(table, (3, 1))[:-7], dtype=np.float32, order=order)
    for n in (300, 5000, len(rows)):
        expected = sum(tree.predict(rows[:n]) for tree in forest.estimators_) / 5
        for simd in ("auto", "avx2", "portable"):
            for n_threads in (1, 3):
                with fasttree.config_context(simd=simd, n_threads=n_threads):
                    assert_array_equal(forest.predict(rows[:n]), expected)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused(value):
    rows = X.copy()
    rows[3, 2] = value
    forest = refitted(RandomForestClassifier(2))
    for call in (forest.predict, forest.apply, forest.decision_path):
        with pytest.raises(ValueError, match="infinity"):
            call(rows)
    with pytest.raises(ValueError, match="infinity"):
        RandomForestClassifier(2).fit(rows, y)
