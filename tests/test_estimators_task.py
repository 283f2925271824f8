"""`DecisionTree`, which settles by its target whether it classifies."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils import get_tags

from fasttree.tree import DecisionTree, DecisionTreeClassifier, best_split, feature_scores
from fasttree.tree._base import CRITERIA_CLF, CRITERIA_REG
from fasttree.tree._task import infer_task
from reference.drop_ins import METHODS, diabetes, iris


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b", "a"], "classification"),
        (np.array(["a", "b"], dtype=object), "classification"),
        (np.array([1.5, 2.5], dtype=object), "regression"),
        (np.array([1.5, 2], dtype=object), "regression"),
        (np.array([[1, 2.5], [1, 2]], dtype=object), "regression"),
        (np.array([1, 2, 3], dtype=object), "classification"),
        (np.array([True, False], dtype=object), "classification"),
        (np.array([1.5, "a"], dtype=object), "classification"),
        ([Decimal("1.5"), Decimal("2")], "regression"),
        ([10**30, 1], "regression"),
        (pl.Series([1.5, 2.5], dtype=pl.Object), "regression"),
        (pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2]}, dtype=object), "regression"),
        ([True, False], "classification"),
        (np.array([b"a", b"b"]), "classification"),
        ([0, 1, 2], "classification"),
        (np.array([0.0, 1.0, 5.0]), "classification"),
        (np.arange(30), "classification"),
        (np.array([[0, 1], [1, 2]]), "classification"),
        ([0.5, 1.0], "regression"),
        (np.array([1.0, np.nan]), "regression"),
        (np.array([[0, 0.25], [1, 2]]), "regression"),
        (pd.Series([1.5, 2.5], dtype="category"), "classification"),
        (pd.Series(["a", "b"]), "classification"),
        (pd.Series([True, False], dtype="boolean"), "classification"),
        (pd.Series([1, 2], dtype="Int64"), "classification"),
        (pd.Series([1.5, 2.5], dtype="Float64"), "regression"),
        (pd.DataFrame({"a": [1.5, 2.5], "b": [1, 2]}), "regression"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "classification"),
        (pl.Series([1.5, 2.5]), "regression"),
        (pl.Series(["a", "b"]), "classification"),
        (pl.Series(["a", "b"], dtype=pl.Categorical), "classification"),
    ],
    ids=str,
)
def test_task_follows_the_target(y, task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert infer_task(y) == task


@pytest.mark.parametrize("numbers", [[0.5, 1.25, 2.5], [1, 2, 3], [True, False, True]], ids=str)
@pytest.mark.parametrize("container", [np.array, pd.Series])
def test_objects_that_are_numbers_are_fitted_as_numbers(container, numbers):
    X, y = np.arange(3.0)[:, None], container(numbers, dtype=object)
    tree, expected = DecisionTree().fit(X, y), DecisionTree().fit(X, numbers)
    assert tree.task_ == expected.task_
    assert tree.predict(X).dtype == expected.predict(X).dtype
    assert tree.predict(X).tolist() == numbers
    assert tree.score(X, y) == 1.0
    tree.cost_complexity_pruning_path(X, y)
    assert best_split(X[:, 0], y) == best_split(X[:, 0], numbers)
    assert feature_scores(X, y) == feature_scores(X, numbers)


def test_objects_beyond_doubles_are_refused():
    with pytest.raises(ValueError, match="too large for a float"):
        DecisionTree().fit([[0], [1]], [10**400, 1])


@pytest.mark.parametrize(
    "numbers", [np.arange(31), np.arange(31.0), np.arange(62).reshape(2, 31).T]
)
def test_many_whole_numbers_are_quantities_with_a_warning(numbers):
    """Unless few rows share a number: then they can be nothing else."""
    y, X = np.repeat(numbers, 10, axis=0), np.arange(310)[:, None]
    with pytest.warns(UserWarning, match="31 distinct whole numbers and is taken for a") as record:
        tree = DecisionTree().fit(X, y)
    assert tree.task_ == "regression"
    assert record[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DecisionTree("regression").fit(X, y)
        DecisionTree(criterion="poisson").fit(X, y)
        assert DecisionTree().fit(X[1:], y[1:]).task_ == "regression"


def test_whole_floats_beyond_integers_are_quantities():
    """scikit-learn's check of class labels takes them for continuous."""
    y = np.repeat([1e19, 2e19, -3e19], 10)
    tree = DecisionTree().fit(np.arange(30)[:, None], y)
    assert tree.task_ == "regression"
    assert tree.predict([[0], [15]]).tolist() == [1e19, 2e19]


def test_counts_are_noted():
    rng = np.random.default_rng(0)
    X, y = rng.random((500, 1)), rng.poisson(2.0, 500)
    with pytest.warns(UserWarning, match='counts and is taken for classes; pass task="c') as record:
        assert DecisionTree().fit(X, y).task_ == "classification"
    assert record[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for settled in ({"task": "classification"}, {"criterion": "squared_error"}):
            DecisionTree(**settled).fit(X, y)
        assert DecisionTree().fit(X, y + 3).task_ == "classification"  # grades


@pytest.mark.parametrize(
    "frequencies",
    [[50] * 10, [500, 300, 200, 5], [211840, 283301, 35754, 2747, 9493, 17367, 20510], [9] * 30],
    ids=["digits", "few", "forests", "letters"],
)
def test_classes_that_are_no_counts_are_not_noted(frequencies):
    y = np.repeat(np.arange(len(frequencies)), frequencies)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert infer_task(y) == "classification"


@pytest.mark.parametrize("criterion", [*CRITERIA_CLF, *CRITERIA_REG])
def test_criterion_settles_the_task(criterion):
    task = "classification" if criterion in CRITERIA_CLF else "regression"
    tree = DecisionTree(criterion=criterion)
    kind = "classifier" if task == "classification" else "regressor"
    assert get_tags(tree).estimator_type == kind
    tree.fit(iris.data, iris.target)
    assert tree.task_ == task
    assert get_tags(tree).estimator_type == kind
    path = DecisionTree(criterion=criterion).cost_complexity_pruning_path(iris.data, iris.target)
    assert len(path.ccp_alphas) > 1
    other = "regression" if task == "classification" else "classification"
    with pytest.raises(ValueError, match=f"does not belong to {other}"):
        DecisionTree(other, criterion=criterion).fit(iris.data, iris.target)


def test_dates_are_no_target():
    with pytest.raises(TypeError, match="datetime64"):
        infer_task(np.array(["2026-01-01"], dtype="datetime64[D]"))


def test_front_door_is_both():
    tree = DecisionTree(random_state=0)
    assert get_tags(tree).estimator_type is None
    assert not hasattr(tree, "predict_proba")
    assert not hasattr(tree, "classes_")

    tree.fit(iris.data, iris.target_names[iris.target])
    expected = DecisionTreeClassifier(random_state=0).fit(iris.data, iris.target_names[iris.target])
    assert get_tags(tree).estimator_type == "classifier"
    assert tree.task_ == "classification"
    for method in METHODS[:4]:
        with np.errstate(divide="ignore"):
            assert_array_equal(
                getattr(tree, method)(iris.data), getattr(expected, method)(iris.data)
            )
    assert (tree.decision_path(iris.data) != expected.decision_path(iris.data)).nnz == 0
    for name in [
        "classes_",
        "n_classes_",
        "n_outputs_",
        "n_features_in_",
        "max_features_",
        "feature_importances_",
    ]:
        assert_array_equal(getattr(tree, name), getattr(expected, name))
    assert tree.score(iris.data, iris.target_names[iris.target]) == 1.0

    tree.fit(diabetes.data, diabetes.target + 0.5)
    assert get_tags(tree).estimator_type == "regressor"
    assert not hasattr(tree, "predict_proba")
    assert not hasattr(tree, "classes_")
    assert tree.score(diabetes.data, diabetes.target + 0.5) == 1.0
    path = tree.cost_complexity_pruning_path(diabetes.data, diabetes.target + 0.5)
    assert path.ccp_alphas[0] == 0


def test_front_door_with_a_task():
    tree = DecisionTree("classification")
    assert get_tags(tree).estimator_type == "classifier"
    assert hasattr(tree, "predict_proba")
    tree = DecisionTree("regression", criterion="absolute_error").fit(iris.data, iris.target)
    assert tree.estimator_.criterion == "absolute_error"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"task": "ranking"}, "'task' parameter"),
        ({"criterion": "nonsense"}, "'criterion' parameter"),
        ({"task": "regression", "criterion": "gini"}, "does not belong to regression"),
        ({"task": "classification", "criterion": "poisson"}, "does not belong to classification"),
        ({"task": "regression", "class_weight": "balanced"}, "class_weight"),
        ({"max_depth": -1}, "'max_depth' parameter"),
    ],
)
def test_front_door_refuses(parameters, message):
    with pytest.raises(ValueError, match=message):
        DecisionTree(**parameters).fit(iris.data, iris.target)
