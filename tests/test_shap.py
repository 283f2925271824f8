"""SHAP values: those of the definition on small trees, of SHAP on numeric ones, and their sums."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fasttree
from fasttree.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from fasttree.export import ShapValues, shap_values
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from reference.handed_on import Problem


def predictions(estimator, X):
    """What is explained: fractions of classes, output after output, or the prediction."""
    if hasattr(estimator, "classes_") and hasattr(estimator, "predict_proba"):
        fractions = estimator.predict_proba(X)
        return np.hstack(fractions) if isinstance(fractions, list) else fractions
    return estimator.predict(X)


def expectation(estimator, path, known, node=0):
    """The average prediction if only the features in `known` are known; path: nodes of the row."""
    tree = estimator.tree_
    if tree.children_left[node] < 0:
        return tree.value[node][:, 0]
    children = tree.children_left[node], tree.children_right[node]
    if tree.feature[node] in known:
        (child,) = (child for child in children if path(tree, node, child))
        return expectation(estimator, path, known, child)
    weight = tree.weighted_n_node_samples
    return sum(
        weight[child] / weight[node] * expectation(estimator, path, known, child)
        for child in children
    )


def by_definition(estimator, row):
    """Shapley's values of a row of numbers and NaN, subset by subset."""
    tree, d = estimator.tree_, estimator.n_features_in_

    def path(tree, node, child):
        x = np.float32(row[tree.feature[node]])
        is_left = tree.missing_go_to_left[node] if np.isnan(x) else x <= tree.threshold[node]
        return is_left == (child == tree.children_left[node])

    values = np.zeros((d, tree.n_outputs))
    for j in range(d):
        others = [i for i in range(d) if i != j]
        for size in range(d):
            weight = factorial(size) * factorial(d - size - 1) / factorial(d)
            for known in combinations(others, size):
                values[j] += weight * (
                    expectation(estimator, path, {*known, j})
                    - expectation(estimator, path, set(known))
                )
    return values


@pytest.mark.parametrize("seed", range(8))
def test_definition(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (60, 5)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.normal(size=(60, 1 + seed % 2))
    weights = rng.random(60)
    tree = DecisionTreeRegressor(max_depth=[4, 6, None][seed % 3]).fit(X, y, weights)
    found = shap_values(tree, X[:5])
    expected = np.array([by_definition(tree, row) for row in X[:5]])
    if seed % 2 == 0:
        expected = expected[:, :, 0]
    assert np.allclose(found.values, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.cases(50)
def test_tree_explainer(seed):
    """On trees of numbers with classes or values."""
    shap = pytest.importorskip("shap", reason="SHAP is not installed")
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, int(rng.integers(1, 12)))).round(int(rng.integers(1, 4)))
    y = rng.integers(0, 4, 200) if seed % 20 else X[:, 0] + rng.normal(size=200)
    cls = DecisionTreeClassifier if seed % 20 else DecisionTreeRegressor
    tree = cls(max_depth=[None, 3, 8][seed % 3], max_features=0.5, random_state=0).fit(X, y)
    rows = rng.normal(size=(30, X.shape[1])).round(2)
    found = shap_values(tree, rows)
    explainer = shap.TreeExplainer(tree.to_sklearn(), feature_perturbation="tree_path_dependent")
    expected = np.asarray(explainer.shap_values(rows))
    assert np.allclose(found.values, expected, rtol=0, atol=1e-6)
    assert np.allclose(found.base_values, explainer.expected_value, rtol=0, atol=1e-6)


@pytest.mark.cases(320)  # of which 200 have categories
def test_sums_on_tables(seed):
    problem = Problem(seed)
    X = problem.table()
    found = shap_values(problem.estimator, X, feature_names=problem.names)
    answers = predictions(problem.estimator, X)
    assert found.values.shape == (len(X), len(problem.kinds), *answers.shape[1:])
    assert np.allclose(found.values.sum(axis=1) + found.base_values, answers, rtol=0, atol=1e-12)
    asked = set(problem.estimator.tree_.feature.tolist())
    for j in range(len(problem.kinds)):
        if j not in asked:
            assert not found.values[:, j].any()
    assert found.feature_names == problem.names


def test_long_paths_of_many_features():
    """A chain of 300 features: the quadrature has 150 points, products underflow nowhere."""
    X = np.tri(301, 300, -1)
    y = np.arange(301.0) ** 2
    tree = DecisionTreeRegressor(max_features=1, random_state=0).fit(X, y)
    found = shap_values(tree, X)
    assert np.allclose(found.values.sum(axis=1) + found.base_values, y, rtol=1e-9)


def test_rows_without_weight():
    """Their nodes have a share of zero, and so have the nodes below."""
    X = np.arange(8.0)[:, None] // [1, 2, 4]
    weights = np.array([1, 0, 0, 0, 1, 1, 0, 2.0])
    tree = DecisionTreeRegressor().fit(X, np.arange(8) ** 1.5, weights)
    found = shap_values(tree, X)
    assert np.isfinite(found.values).all()
    assert np.allclose(found.values.sum(axis=1) + found.base_values, tree.predict(X))
    loaded = DecisionTreeRegressor().fit(X, np.arange(8), [1, 1, 1, -0.5, 1, 1, 1, 1])
    if loaded.tree_.weighted_n_node_samples.min() < 0:
        with pytest.raises(ValueError, match="negative weights"):
            shap_values(loaded, X)


def test_threads_and_layouts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6)).astype(np.float32)
    tree = DecisionTreeClassifier(max_depth=7).fit(X, rng.integers(0, 3, 3000))
    expected = shap_values(tree, X).values
    with fasttree.config_context(n_threads=3):
        assert np.array_equal(shap_values(tree, X).values, expected)
    with fasttree.config_context(simd="portable"):
        assert np.array_equal(shap_values(tree, X).values, expected)
    for same in (np.asfortranarray(X), X[::-1].copy()[::-1], X.astype(np.float64)):
        assert np.array_equal(shap_values(tree, same).values, expected)
    zeros = np.where(X > 0.5, X, np.float32(0))
    dense = shap_values(tree, zeros).values
    assert np.array_equal(shap_values(tree, sp.csr_matrix(zeros)).values, dense)
    assert np.array_equal(shap_values(tree, sp.csc_array(zeros)).values, dense)
    assert shap_values(tree, X[:1]).values.shape == (1, 6, 3)


def test_every_estimator():
    rows = [["red", 1], ["blue", 1], ["red", 2], ["blue", 2]]
    best = OptimalDecisionTreeClassifier(max_depth=2).fit(rows, [0, 1, 1, 0])
    auto = DecisionTree().fit(rows, [0.5, 1, 4, 5])
    for estimator in (best, auto):
        found = shap_values(estimator, rows)
        assert isinstance(found, ShapValues)
        answers = predictions(estimator, rows)
        assert np.allclose(found.values.sum(axis=1) + found.base_values, answers)
    with pytest.raises(ValueError, match="feature"):
        shap_values(auto, [["red"]])
    with pytest.raises(TypeError, match="fitted tree"):
        shap_values(None, rows)


FORESTS = [
    RandomForestClassifier(5, random_state=0),
    ExtraTreesClassifier(4, random_state=0, class_weight="balanced"),
    RandomForestRegressor(6, random_state=0, max_samples=0.5),
    ExtraTreesRegressor(3, random_state=0, n_jobs=2),
]


@pytest.mark.parametrize("forest", FORESTS, ids=lambda forest: type(forest).__name__)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_forests(forest, n_outputs):
    """The mean over the trees, which adds up to what the forest predicts."""
    rng = np.random.default_rng(0)
    rows = [[str(rng.choice(["red", "blue", "5"])), *rng.normal(size=2)] for _ in range(60)]
    rows[7][0] = rows[9][2] = None
    y = rng.integers(0, 3, (60, n_outputs))
    forest = clone(forest).fit(rows, y if n_outputs > 1 else y[:, 0])
    found = shap_values(forest, rows[:20], feature_names=["colour", "a", "b"])
    answers = predictions(forest, rows[:20])
    assert found.values.shape == (20, 3, *answers.shape[1:])
    assert np.allclose(found.values.sum(axis=1) + found.base_values, answers, rtol=0, atol=1e-12)
    of_trees = [shap_values(tree, np.array(rows[:20], dtype=object)) for tree in forest]
    assert np.allclose(found.values, np.mean([tree.values for tree in of_trees], axis=0))
    assert np.allclose(found.base_values, np.mean([tree.base_values for tree in of_trees], axis=0))
    assert found.feature_names == ["colour", "a", "b"]


@pytest.mark.parametrize("forest", [FORESTS[0], FORESTS[2]], ids=["classes", "values"])
def test_tree_explainer_on_forests(forest):
    shap = pytest.importorskip("shap", reason="SHAP is not installed")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 6)), rng.integers(0, 3, 150)
    forest = clone(forest).fit(X, y)
    twin = getattr(sklearn.ensemble, type(forest).__name__)(len(forest)).fit(X, y)
    twin.estimators_ = [tree.to_sklearn() for tree in forest]
    explainer = shap.TreeExplainer(twin, feature_perturbation="tree_path_dependent")
    found = shap_values(forest, X)
    assert np.allclose(found.values, explainer.shap_values(X), rtol=0, atol=1e-6)
    assert np.allclose(found.base_values, explainer.expected_value, rtol=0, atol=1e-6)


def test_forests_that_are_not_fitted():
    with pytest.raises(NotFittedError):
        shap_values(RandomForestClassifier(), [[1.0]])


def test_explanation():
    shap = pytest.importorskip("shap", reason="SHAP is not installed")
    rows = [["red", 1], ["blue", 1], ["red", 2], ["blue", 2]]
    tree = DecisionTreeRegressor().fit(rows, [0.0, 1.0, 4.0, 5.0])
    explanation = shap_values(tree, rows, feature_names=["colour", "n"]).explanation()
    assert isinstance(explanation, shap.Explanation)
    assert explanation[0].feature_names == ["colour", "n"]
    assert explanation.base_values.tolist() == [2.5] * 4
    assert explanation.data[0].tolist() == ["red", "1"]
