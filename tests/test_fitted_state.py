"""Pickled estimators: parts that do not belong together raise a ValueError when they are loaded."""

import copy
import pickle

import numpy as np
import pytest

from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.tree._tree import Tree

X = np.arange(12.0).reshape(6, 2)
y = np.array([0, 1, 2, 0, 1, 2])
TABLE = np.array([["a", 1], ["b", 2], ["c", 3], ["a", 4], ["b", 5], ["c", 6]], dtype=object)
classifier = DecisionTreeClassifier().fit(X, y)
two_outputs = DecisionTreeClassifier().fit(X, np.column_stack([y, y > 0]))
of_table = DecisionTreeClassifier().fit(TABLE, y)
smaller = DecisionTreeClassifier().fit(X[:, :1], y > 1)
optimal = OptimalDecisionTreeClassifier(max_depth=2, pareto_front=True).fit(X, y)


def load(estimator, **changes):
    """An estimator with other attributes, as pickle makes it."""
    loaded = type(estimator).__new__(type(estimator))
    state = {**vars(estimator), **changes}
    loaded.__setstate__({name: value for name, value in state.items() if value is not LACKS})
    return loaded


LACKS = object()


@pytest.mark.parametrize(
    ("estimator", "changes"),
    [
        (classifier, {"tree_": None}),
        (classifier, {"tree_": Tree(2, np.array([3]), 1)}),
        (classifier, {"tree_": smaller.tree_}),
        (classifier, {"tree_": two_outputs.tree_}),
        (classifier, {"n_features_in_": 3}),
        (classifier, {"n_features_in_": "2"}),
        (classifier, {"n_outputs_": 2}),
        (classifier, {"n_classes_": 2}),
        (classifier, {"n_classes_": LACKS}),
        (classifier, {"classes_": np.array([0, 1])}),
        (classifier, {"classes_": [0, 1, 2]}),
        (classifier, {"classes_": LACKS}),
        (classifier, {"feature_names_in_": np.array(["a"])}),
        (classifier, {"_n_fit_rows": LACKS}),
        (classifier, {"_n_fit_rows": -1}),
        (two_outputs, {"classes_": two_outputs.classes_[:1]}),
        (two_outputs, {"classes_": two_outputs.classes_[::-1]}),
        (two_outputs, {"n_classes_": np.array([3, 3])}),
        (of_table, {"_table_encoder": LACKS}),
        (of_table, {"_table_encoder": "encoder"}),
        (of_table, {"tree_": classifier.tree_, "_table_encoder": {}}),
        (DecisionTreeRegressor().fit(X, y), {"tree_": classifier.tree_}),
        (DecisionTree().fit(X, y), {"estimator_": LACKS}),
        (DecisionTree().fit(X, y), {"estimator_": DecisionTreeClassifier()}),
        (DecisionTree().fit(X, y), {"task_": "regression"}),
        (optimal, {"_front_trees": optimal._front_trees[:1]}),
        (optimal, {"_front_trees": [smaller.tree_] * len(optimal._front_trees)}),
        (optimal, {"pareto_front_": np.zeros(len(optimal._front_trees))}),
        (optimal, {"classes_": np.array([0])}),
    ],
)
def test_parts_that_do_not_belong_together(estimator, changes):
    with pytest.raises(ValueError):
        load(estimator, **changes)


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ((), "columns", []),
        ((), "columns", [None, None]),
        ((0,), "categories", None),
        ((0,), "categories", ["b", "a"]),
        ((0,), "categories", ["a", "a"]),
        ((0,), "categories", ["a", None]),
        ((0,), "categories", ["a", "b", "c", "d"]),
        ((0,), "is_category", "yes"),
        ((0,), "missing", None),
        ((0, "missing"), "numbers", {"a"}),
        ((0, "missing"), "texts", []),
    ],
)
def test_encoders_of_tables_that_make_no_sense(path, name, value):
    tampered = copy.deepcopy(of_table)
    part = tampered._table_encoder
    if path:
        part = part.columns[path[0]]
    if len(path) > 1:
        part = getattr(part, path[1])
    setattr(part, name, value)
    raw = pickle.dumps(tampered)
    with pytest.raises(ValueError):
        pickle.loads(raw)


@pytest.mark.parametrize(
    "estimator", [classifier, two_outputs, of_table, optimal, DecisionTree().fit(TABLE, y)]
)
def test_sound_estimators_are_loaded(estimator):
    rows = TABLE if hasattr(estimator, "categories_") else X
    for loaded in (pickle.loads(pickle.dumps(estimator)), copy.copy(estimator)):
        assert np.array_equal(loaded.predict(rows), estimator.predict(rows))


@pytest.mark.parametrize("arguments", [(10**30, [2], 1), (2, [2], 10**30), (-1, [2], 1)])
def test_sizes_of_a_tree_beyond_its_words(arguments):
    n_features, n_classes, n_outputs = arguments
    with pytest.raises(ValueError, match="n_features|n_outputs"):
        Tree(n_features, np.array(n_classes), n_outputs)


@pytest.mark.parametrize("Estimator", [DecisionTreeClassifier, OptimalDecisionTreeClassifier])
def test_a_failed_fit_leaves_an_estimator_that_is_not_fitted(Estimator):
    estimator = Estimator()
    with pytest.raises(ValueError):
        estimator.fit(X, y, sample_weight=np.zeros(6))
    for unfitted in (estimator, pickle.loads(pickle.dumps(estimator))):
        for call in (unfitted.predict, unfitted.apply, unfitted.decision_path):
            with pytest.raises(ValueError, match="not fitted"):
                call(X)


def test_a_front_without_its_tree_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    tree = OptimalDecisionTreeClassifier(max_depth=2, n_thresholds=3, pareto_front=True)
    state = tree.fit(X, X[:, 0] > 0).__getstate__().copy()
    del state["tree_"]
    with pytest.raises(ValueError, match="pareto_front_"):
        OptimalDecisionTreeClassifier().__setstate__(state)
