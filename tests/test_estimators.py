"""The estimators: scikit-learn's surface and parameters."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.tree
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.utils import compute_sample_weight, get_tags

from fasttree.tree import BaseDecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from reference.drop_ins import (
    ALL,
    CLASSIFIERS,
    DROP_INS,
    METHODS,
    REGRESSORS,
    data_for,
    diabetes,
    iris,
    replayed,
    sklearns,
)

OWN_PARAMETERS = {
    "n_jobs": None,
    "categorical_features": "from_dtype",
    "categorical_split": "equality",
    "missing_values": None,
}


@pytest.mark.parametrize("cls", DROP_INS)
def test_parameters_are_scikit_learns(cls):
    ours, theirs = cls().get_params(), sklearns(cls)().get_params()
    assert {name: ours.pop(name) for name in OWN_PARAMETERS} == OWN_PARAMETERS
    assert ours == theirs
    for name in dir(sklearns(cls)):
        assert hasattr(cls, name), name
        if name.startswith("_") or not inspect.isfunction(getattr(cls, name)):
            continue
        arguments = inspect.signature(getattr(cls, name)).parameters
        expected = inspect.signature(getattr(sklearns(cls), name)).parameters
        for argument, theirs in zip(arguments.values(), expected.values(), strict=True):
            assert (argument.name, argument.kind) == (theirs.name, theirs.kind), name
            assert argument.default == theirs.default, name


@pytest.mark.parametrize("cls", DROP_INS)
def test_classes_are_scikit_learns(cls):
    assert issubclass(cls, sklearns(cls))
    assert issubclass(cls, BaseDecisionTree)
    assert issubclass(cls, sklearn.tree.BaseDecisionTree)
    tags, theirs = get_tags(cls()), get_tags(sklearns(cls)())
    tags.input_tags.sparse = theirs.input_tags.sparse
    for name in ("categorical", "string"):
        assert getattr(tags.input_tags, name)
        setattr(tags.input_tags, name, getattr(theirs.input_tags, name))
    assert tags == theirs


def test_base_class_is_abstract():
    with pytest.raises(TypeError):
        BaseDecisionTree()


@pytest.mark.parametrize("cls", DROP_INS)
def test_fitted_attributes_are_scikit_learns(cls):
    X, y = data_for(cls)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    ours, theirs = replayed(cls, frame, y)
    public = {name for name in vars(ours) if not name.startswith("_")}
    assert public - {*OWN_PARAMETERS} == set(vars(theirs))
    names = [name for name in dir(theirs) if name.endswith("_") and not name.startswith("_")]
    assert "feature_names_in_" in names
    for name in set(names) - {"tree_"}:
        a, b = getattr(ours, name), getattr(theirs, name)
        assert_array_equal(a, b)
        assert type(a) is type(b), name
    assert ours.get_depth() == theirs.get_depth()
    assert ours.get_n_leaves() == theirs.get_n_leaves()


@pytest.mark.parametrize("cls", DROP_INS)
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("labels", ["int", "str", "object", "bool"])
@pytest.mark.parametrize("n_rows", [1, 3, 150])
def test_predictions_are_scikit_learns(cls, n_outputs, labels, n_rows):
    X, y = data_for(cls, 150)
    if cls in REGRESSORS and labels != "int":
        return
    if cls in CLASSIFIERS:
        names = {
            "int": [3, 7, -2],
            "bool": [True, False, False],
            "object": ["a", "b", "c"],
            "str": ["setosa", "versicolor", "virginica"],
        }[labels]
        y = np.array(names, dtype=object if labels == "object" else None)[y]
    if n_outputs == 2:
        y = np.column_stack([y, y[::-1]])
    ours, theirs = replayed(cls, X, y, max_depth=3)
    for method in METHODS if cls in CLASSIFIERS else ["predict", "apply", "decision_path"]:
        with np.errstate(divide="ignore"):
            a = getattr(ours, method)(X[:n_rows])
            b = getattr(theirs, method)(X[:n_rows])
        if isinstance(b, list):
            assert isinstance(a, list)
            for a_k, b_k in zip(a, b, strict=True):
                assert_array_equal(a_k, b_k)
        elif sp.issparse(b):
            assert type(a) is type(b)
            assert (a != b).nnz == 0
        else:
            assert_array_equal(a, b)
            assert a.dtype == b.dtype
    assert ours.score(X, y) == theirs.score(X, y) if n_outputs == 1 or cls in REGRESSORS else True


@pytest.mark.parametrize("cls", DROP_INS)
def test_check_input_false(cls):
    X, y = data_for(cls)
    X32 = X.astype(np.float32)
    tree = cls(random_state=0).fit(X, y)
    unchecked = clone(tree).fit(X32, y, check_input=False)
    assert_array_equal(unchecked.tree_.nodes, tree.tree_.nodes)
    assert_array_equal(tree.predict(X32, check_input=False), tree.predict(X))
    assert_array_equal(tree.apply(X32, check_input=False), tree.apply(X))
    with pytest.raises(ValueError, match="features"):
        tree.predict(X32[:, :2], check_input=False)


def test_values_are_read_live():
    tree = DecisionTreeRegressor(max_depth=2).fit(diabetes.data, diabetes.target)
    leaf = tree.apply(diabetes.data[:1])[0]
    tree.tree_.value[leaf] = 1234.5
    assert tree.predict(diabetes.data[:1])[0] == 1234.5
    assert (tree.predict(diabetes.data) == 1234.5).sum() == (
        tree.apply(diabetes.data) == leaf
    ).sum()


@pytest.mark.parametrize("cls", ALL)
def test_unfitted(cls):
    for method in ["predict", "apply", "decision_path", "predict_proba"]:
        if hasattr(cls(), method):
            with pytest.raises(NotFittedError):
                getattr(cls(), method)(iris.data)
    for method in ["to_sklearn", "get_depth", "get_n_leaves"]:
        with pytest.raises(NotFittedError):
            getattr(cls(), method)()


BAD_PARAMETERS = [
    {"criterion": "nonsense"},
    {"splitter": "worst"},
    {"max_depth": 0},
    {"max_depth": 1.5},
    {"min_samples_split": 1},
    {"min_samples_split": 0.0},
    {"min_samples_leaf": 1.0},
    {"min_weight_fraction_leaf": 0.6},
    {"max_features": 0},
    {"max_features": "auto"},
    {"random_state": "seed"},
    {"max_leaf_nodes": 1},
    {"min_impurity_decrease": -1.0},
    {"ccp_alpha": -0.1},
    {"monotonic_cst": 3},
    {"n_jobs": 1.5},
]


@pytest.mark.parametrize("cls", DROP_INS)
@pytest.mark.parametrize("parameters", BAD_PARAMETERS, ids=str)
def test_bad_parameters_raise_scikit_learns_errors(cls, parameters):
    X, y = data_for(cls)
    with pytest.raises(ValueError) as ours:
        cls(**parameters).fit(X, y)
    if "n_jobs" in parameters:
        assert "n_jobs" in str(ours.value)
        return
    with pytest.raises(ValueError) as theirs:
        sklearns(cls)(**parameters).fit(X, y)
    ours, theirs = str(ours.value), str(theirs.value)
    if "monotonic_cst" in parameters:  # may be a dict too
        assert ours.replace(", an instance of 'dict'", "") == theirs
        return
    if "criterion" in parameters:  # there are more of them, printed in no fixed order
        assert ours.split("{")[0] == theirs.split("{")[0]
        assert set(re.findall("'\\w+'", theirs)) - {"'friedman_mse'"} <= set(
            re.findall("'\\w+'", ours)
        )
        return
    assert ours == theirs


def test_validation_can_be_skipped():
    with sklearn.config_context(skip_parameter_validation=True):
        DecisionTreeClassifier(ccp_alpha=-1e-9).fit(iris.data, iris.target)


def test_n_jobs_zero():
    with pytest.raises(ValueError, match="n_jobs"):
        DecisionTreeClassifier(n_jobs=0).fit(iris.data, iris.target)


def test_friedman_mse_is_a_deprecated_alias():
    with pytest.warns(FutureWarning, match="friedman_mse"):
        tree = DecisionTreeRegressor(criterion="friedman_mse")
    assert tree.criterion == "squared_error"


FRACTIONS = [
    {"min_samples_split": 0.13},
    {"min_samples_split": 0.001, "min_samples_leaf": 0.021},
    {"min_samples_leaf": 7, "min_samples_split": 3},
    {"max_features": 0.5},
    {"max_features": "sqrt", "min_weight_fraction_leaf": 0.07},
    {"max_features": "log2"},
    {"max_features": 3, "min_impurity_decrease": 0.01},
    {"max_leaf_nodes": 9, "max_depth": 4},
]


@pytest.mark.parametrize("cls", CLASSIFIERS)
@pytest.mark.parametrize("parameters", FRACTIONS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_limits_mean_what_they_mean_in_scikit_learn(cls, parameters, weighted):
    weight = np.arange(150) % 4 if weighted else None
    ours, theirs = replayed(cls, iris.data, iris.target, sample_weight=weight, **parameters)
    assert ours.max_features_ == theirs.max_features_
    assert_array_equal(ours.tree_.children_left, theirs.tree_.children_left)
    assert_array_equal(ours.tree_.threshold, theirs.tree_.threshold)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 4, 2: 2.5}])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_weight_multiplies_sample_weight(class_weight, weighted):
    X, y = iris.data[:120], iris.target[:120]
    weight = np.arange(120) % 3 + 1.0 if weighted else None
    tree = DecisionTreeClassifier(class_weight=class_weight).fit(X, y, sample_weight=weight)
    product = compute_sample_weight(class_weight, y)
    if weighted:
        product = product * weight
    expected = DecisionTreeClassifier().fit(X, y, sample_weight=product)
    assert_array_equal(tree.tree_.nodes, expected.tree_.nodes)


def test_class_weight_per_output():
    y = np.column_stack([iris.target, iris.target % 2])
    weights = [{0: 1, 1: 2, 2: 3}, {0: 2, 1: 1}]
    ours, theirs = replayed(DecisionTreeClassifier, iris.data, y, class_weight=weights, max_depth=3)
    assert_array_equal(ours.tree_.threshold, theirs.tree_.threshold)


@pytest.mark.parametrize(
    ("cls", "y", "constraints", "message"),
    [
        (DecisionTreeRegressor, np.zeros((150, 2)), [0, 0, 0, 0], "multiple outputs"),
        (DecisionTreeRegressor, np.zeros(150), [0, 0, 0], "has shape 3"),
        (DecisionTreeRegressor, np.zeros(150), [0, 0, 0, 2], "-1, 0 or 1"),
        (DecisionTreeRegressor, np.zeros(150), [0, 0, 0, 0.5], "-1, 0 or 1"),
        (DecisionTreeClassifier, iris.target, [0, 0, 0, 1], "multiclass"),
    ],
)
def test_bad_monotonic_constraints(cls, y, constraints, message):
    with pytest.raises(ValueError, match=message):
        cls(monotonic_cst=constraints).fit(iris.data, y)


@pytest.mark.parametrize("sign", [1, -1])
def test_monotonic_constraints_are_on_the_second_class(sign):
    X, y = make_classification(200, 4, random_state=0)
    tree = DecisionTreeClassifier(monotonic_cst=[sign, 0, 0, 0], max_depth=4).fit(X, y)
    low, high = X.copy(), X.copy()
    low[:, 0], high[:, 0] = -100, 100
    difference = tree.predict_proba(high)[:, 1] - tree.predict_proba(low)[:, 1]
    assert (sign * difference >= 0).all()
