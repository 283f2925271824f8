"""Trees as scikit-learn's estimators: with an encoder where they were fitted on a table."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

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
