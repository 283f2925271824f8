"""Trees as scikit-learn's estimators: with an encoder where they split on categories."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.pipeline import Pipeline

from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from reference.handed_on import Problem


@pytest.mark.cases(420)  # of which 200 split on categories
def test_predictions_and_nodes(seed):
    problem = Problem(seed)
    estimator, X = problem.estimator, problem.table()
    twin = estimator.to_sklearn()
    if estimator.tree_.label_splits is None:
        assert not isinstance(twin, Pipeline)
        numbers = np.array(
            [[problem.parts(j, cell)[0] for j, cell in enumerate(row)] for row in problem.rows],
            dtype=np.float64,
        )
        if not problem.is_matrix:
            numbers = pd.DataFrame(numbers, columns=problem.names)
        assert twin.predict(numbers).tolist() == estimator.predict(X).tolist()
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


def test_tree_explainer_on_the_tree():
    shap = pytest.importorskip("shap", reason="SHAP is not installed")
    rows = [["red", 1], ["blue", 2], ["red", 3], ["green", 4]] * 3
    tree = DecisionTreeRegressor().fit(rows, [0.0, 1, 0, 2] * 3)
    encoder, twin = tree.to_sklearn()
    explainer = shap.TreeExplainer(twin, feature_perturbation="tree_path_dependent")
    values = explainer.shap_values(encoder.transform(rows))
    assert np.allclose(values.sum(axis=1) + explainer.expected_value, tree.predict(rows))
