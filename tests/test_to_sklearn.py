"""Trees and forests as scikit-learn's: with an encoder where they were fitted on a table."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.tree
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

import fasttree.ensemble
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from reference.handed_on import Problem


@pytest.mark.cases(420)  # of which 200 split on categories
def test_predictions_and_nodes(seed):
    problem = Problem(seed)
    estimator, X = problem.estimator, problem.table()
    twin = estimator.to_sklearn()
    if problem.is_matrix:
        assert not isinstance(twin, Pipeline)
        assert twin.predict(X).tolist() == estimator.predict(X).tolist()
        return
    encoder, tree = twin
    assert type(tree).__module__.startswith("sklearn.tree")
    assert twin.predict(X).tolist() == estimator.predict(X).tolist()
    cells = encoder.transform(X)
    assert cells.shape == (len(X), tree.n_features_in_)
    assert np.array_equal(tree.apply(cells), estimator.apply(X))
    assert tree.tree_.node_count == estimator.tree_.node_count
    again = pickle.loads(pickle.dumps(twin))
    assert again.predict(X).tolist() == estimator.predict(X).tolist()


def test_names_of_questions():
    rows = [["red", 1], ["blue", 2], ["red", 3], ["green", 4], [None, 5]]
    tree = DecisionTreeClassifier().fit(rows, [0, 1, 0, 2, 2])
    encoder, twin = tree.to_sklearn()
    names = encoder.get_feature_names_out().tolist()
    assert names[:2] == ["x0", "x1"]
    assert all(name.startswith("x0 ") for name in names[2:])
    assert "red" in sklearn.tree.export_text(twin, feature_names=names)
    assert encoder.get_feature_names_out(["colour", "n"])[0] == "colour"


def test_equal_questions_share_a_column():
    rows = [["a", 1], ["b", 1], ["a", 2], ["b", 2]] * 3
    tree = DecisionTreeRegressor().fit(rows, [0.0, 1, 10, 15] * 3)
    encoder, twin = tree.to_sklearn()
    assert len(tree.tree_.label_splits.nodes) == 2
    assert twin.n_features_in_ == 3
    assert np.array_equal(encoder.transform(rows)[:2, 1:], [[1, 0], [1, 1]])


def test_missing_values_are_those_of_the_fit():
    """Numbers and texts that mean nothing go where missing values go, also without categories."""
    X, y = np.array([[1.0], [2], [3], [-1], [-1]]), [0, 0, 0, 1, 1]
    tree = DecisionTreeClassifier(missing_values=-1).fit(X, y)
    assert tree.to_sklearn().predict([[-1], [0], [np.nan]]).tolist() == [1, 0, 1]
    texts = DecisionTreeClassifier(missing_values="?").fit([["1"], ["2"], ["?"]], [0, 0, 1])
    assert texts.tree_.label_splits is None
    assert texts.to_sklearn().predict([["1"], ["?"], [None]]).tolist() == [0, 1, 1]


def test_tables_whose_categories_are_not_asked_for():
    rows = [["red", 1], ["red", 2], ["blue", 3], ["blue", 4]]
    tree = DecisionTreeRegressor(max_depth=1).fit(rows, [0.0, 0, 0, 1])
    assert tree.tree_.label_splits is None
    pipeline = tree.to_sklearn()
    assert pipeline.predict(rows).tolist() == tree.predict(rows).tolist()
    assert pipeline[0].get_feature_names_out().tolist() == ["x0", "x1"]


def test_pipelines_within_scikit_learn():
    """A clone keeps the encoder, which is nothing without its tree, and fits the tree anew."""
    frame = pd.DataFrame({"colour": ["red", "blue", "green", None] * 6, "n": np.arange(24.0)})
    y = np.tile([0, 1, 2, 2], 6)
    pipeline = DecisionTreeClassifier().fit(frame, y).to_sklearn()
    assert pipeline.n_features_in_ == 2
    assert pipeline.feature_names_in_.tolist() == ["colour", "n"]
    assert np.array_equal(cross_val_score(pipeline, frame, y, cv=3), [1, 1, 1])
    with pytest.raises(NotFittedError):
        clone(pipeline).predict(frame)
    columns = pipeline[0].set_output(transform="pandas").transform(frame).columns
    assert columns.tolist() == pipeline[0].get_feature_names_out().tolist()


def test_tree_explainer_on_the_tree():
    shap = pytest.importorskip("shap", reason="SHAP is not installed")
    rows = [["red", 1], ["blue", 2], ["red", 3], ["green", 4]] * 3
    tree = DecisionTreeRegressor().fit(rows, [0.0, 1, 0, 2] * 3)
    encoder, twin = tree.to_sklearn()
    explainer = shap.TreeExplainer(twin, feature_perturbation="tree_path_dependent")
    values = explainer.shap_values(encoder.transform(rows))
    assert np.allclose(values.sum(axis=1) + explainer.expected_value, tree.predict(rows))


# ---- forests


FORESTS = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestQuantileRegressor",
    "RandomForestRegressor",
]


def forest_of(name, **parameters):
    return getattr(fasttree.ensemble, name)(n_estimators=4, random_state=0, **parameters)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("name", FORESTS)
def test_forests_of_numbers(name, n_outputs):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)).astype(np.float32), columns=["a", "b", "c"])
    y = rng.integers(0, 3, (80, n_outputs)).squeeze()
    forest = forest_of(name, bootstrap=True, max_samples=0.8, monotonic_cst=None).fit(X, y)
    twin = forest.to_sklearn()
    assert type(twin) is getattr(sklearn.ensemble, name.replace("Quantile", ""))
    assert_array_equal(twin.predict(X), forest.predict(X))
    assert_array_equal(twin.apply(X), forest.apply(X))
    assert_allclose(twin.feature_importances_, forest.feature_importances_, rtol=1e-12)
    if hasattr(forest, "predict_proba"):
        assert_allclose(twin.predict_proba(X), forest.predict_proba(X), rtol=1e-14)
    assert_array_equal(twin.estimators_samples_, forest.estimators_samples_)
    assert twin.feature_names_in_.tolist() == ["a", "b", "c"]
    assert all(type(tree).__module__ == "sklearn.tree._classes" for tree in twin.estimators_)
    assert_array_equal(pickle.loads(pickle.dumps(twin)).predict(X), forest.predict(X))
    twin.fit(X, y)  # what it was made of can be fitted


def test_embeddings():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    embedding = fasttree.ensemble.RandomTreesEmbedding(5, random_state=0).fit(X)
    twin = embedding.to_sklearn()
    assert type(twin) is sklearn.ensemble.RandomTreesEmbedding
    assert (twin.transform(X) != embedding.transform(X)).nnz == 0


@pytest.mark.parametrize("categorical_split", ["equality", "subset"])
@pytest.mark.parametrize("name", FORESTS)
def test_forests_of_tables(name, categorical_split):
    rng = np.random.default_rng(0)
    colour = rng.choice(np.array(["red", "blue", "green", None]), 90)
    X = pd.DataFrame({"colour": colour, "n": rng.normal(size=90)})
    y = (colour == "red") + rng.integers(0, 2, 90)
    forest = forest_of(name, categorical_split=categorical_split).fit(X, y)
    pipeline = forest.to_sklearn()
    encoder, twin = pipeline
    assert_array_equal(pipeline.predict(X), forest.predict(X))
    cells = encoder.transform(X)
    assert cells.shape[1] == twin.n_features_in_ == len(encoder.get_feature_names_out())
    assert_array_equal(twin.apply(cells), forest.apply(X))
    again = pickle.loads(pickle.dumps(pipeline))
    assert_array_equal(again.predict(X), forest.predict(X))


def test_forests_that_were_loaded():
    X, y = np.arange(40.0).reshape(-1, 2), np.arange(20) % 3
    forest = pickle.loads(pickle.dumps(forest_of("RandomForestClassifier").fit(X, y)))
    assert_array_equal(forest.to_sklearn().predict(X), forest.predict(X))
    with pytest.raises(NotFittedError):
        forest_of("RandomForestClassifier").to_sklearn()
