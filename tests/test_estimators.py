"""The estimators: scikit-learn's surface, its checks and its company."""

import copy
import inspect
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.tree
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, check_random_state, compute_sample_weight, get_tags

import fasttree
from fasttree.tree import (
    BaseDecisionTree,
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from fasttree.tree._base import CRITERIA_CLF, CRITERIA_REG
from fasttree.tree._task import infer_task
from fasttree.tree._validation import encode_classes, random_source

CLASSIFIERS = [DecisionTreeClassifier, ExtraTreeClassifier]
REGRESSORS = [DecisionTreeRegressor, ExtraTreeRegressor]
DROP_INS = CLASSIFIERS + REGRESSORS
ALL = [*DROP_INS, DecisionTree]

iris = load_iris()
diabetes = load_diabetes()


def sklearns(cls):
    return getattr(sklearn.tree, cls.__name__)


def data_for(cls, n=None):
    data = diabetes if cls in REGRESSORS else iris
    return data.data[:n], data.target[:n]


def replayed(cls, X, y, *, sample_weight=None, **parameters):
    """Our estimator in scikit-learn's random stream, and scikit-learn's."""
    with fasttree.config_context(sklearn_random_stream=True):
        ours = cls(random_state=0, **parameters).fit(X, y, sample_weight)
    theirs = sklearns(cls)(random_state=0, **parameters).fit(X, y, sample_weight)
    return ours, theirs


# ---- the surface

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


METHODS = ["predict", "predict_proba", "predict_log_proba", "apply", "decision_path"]


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


# ---- parameters


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


# ---- targets and weights


@pytest.mark.parametrize("y", [[-1.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
def test_poisson_targets(y):
    with pytest.raises(ValueError, match="Poisson"):
        DecisionTreeRegressor(criterion="poisson").fit([[1], [2], [3]], y)


def test_lengths_must_match():
    with pytest.raises(ValueError, match="Number of labels=149"):
        DecisionTreeClassifier().fit(iris.data, iris.target[:149])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(150), "non-zero"),
        (np.ones(149), "sample_weight.shape"),
        (np.ones((150, 1)), "1D array"),
        (np.full(150, np.nan), "NaN"),
        (np.full(150, np.inf), "infinity"),
        (["a"] * 150, "string|numeric|convert"),
    ],
)
def test_bad_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        DecisionTreeClassifier().fit(iris.data, iris.target, sample_weight=weight)


@pytest.mark.parametrize("weight", [2, 0.5, [1] * 150, np.ones(300, dtype=np.int8)[::2]])
def test_weights_of_many_kinds(weight):
    tree = DecisionTreeClassifier().fit(iris.data, iris.target, sample_weight=weight)
    expected = DecisionTreeClassifier().fit(iris.data, iris.target)
    assert_array_equal(tree.tree_.threshold, expected.tree_.threshold)


@settings(max_examples=100, deadline=None)
@given(
    dtype=st.sampled_from(["i1", "u1", "<i2", ">i4", "<i8", ">i8", "<u8", ">u8"]),
    start=st.sampled_from(["lowest", "zero", "middle", "highest"]),
    width=st.integers(1, 200),
    n_rows=st.sampled_from([1, 3, 2005]),
    n_outputs=st.integers(1, 2),
)
def test_classes_are_encoded_as_by_unique(dtype, start, width, n_rows, n_outputs):
    info = np.iinfo(dtype)
    lowest = {"lowest": info.min, "zero": 0, "middle": 5, "highest": info.max - width}[start]
    rng = np.random.default_rng(width)
    n_distinct = min(width, info.max - lowest)
    labels = np.array([lowest + i for i in range(n_distinct + 1)], dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # many classes for few rows
        assert_encoded_as_by_unique(rng.choice(labels, (n_rows, n_outputs)))


def test_booleans_are_encoded_as_by_unique():
    rng = np.random.default_rng(0)
    assert_encoded_as_by_unique(rng.random((50, 2)) < 0.5)
    assert_encoded_as_by_unique(np.ones((50, 1), dtype=bool))


def assert_encoded_as_by_unique(y):
    codes, classes = encode_classes(y)
    assert codes.dtype == np.uint8
    for k in range(y.shape[1]):
        expected, inverse = np.unique(y[:, k], return_inverse=True)
        assert_array_equal(classes[k], expected)
        assert classes[k].dtype == expected.dtype
        assert_array_equal(codes[:, k], inverse)


def test_far_apart_labels():
    y = np.array([0, 2**62, -(2**62)] * 1000)
    codes, classes = encode_classes(y[:, None])
    assert_array_equal(classes[0], [-(2**62), 0, 2**62])
    assert_array_equal(codes[:3, 0], [1, 2, 0])


def test_many_classes_warn():
    X = np.arange(50.0)[:, None]
    with pytest.warns(UserWarning, match="greater than 50%"):
        DecisionTreeClassifier().fit(X, np.arange(50))


@pytest.mark.parametrize(
    "y", [np.linspace(0, 1, 150), np.column_stack([np.linspace(0, 1, 150)] * 2)]
)
def test_quantities_are_not_classes(y):
    with pytest.raises(ValueError, match="Unknown label type"):
        DecisionTreeClassifier().fit(iris.data, y)


# ---- inputs


def test_missing_and_infinite_values():
    X = iris.data.copy()
    X[::7, 2] = np.nan
    tree = DecisionTreeClassifier().fit(X, iris.target)
    assert tree.score(X, iris.target) > 0.9
    best = ExtraTreeClassifier(splitter="best")
    with pytest.raises(ValueError, match="NaN"):
        best.fit(X, iris.target)
    with pytest.raises(ValueError, match="NaN"):
        best.fit(iris.data, iris.target).predict(X)
    for bad in [np.inf, -np.inf, 1e39]:
        X[3, 1] = bad
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for call in [
                lambda: DecisionTreeClassifier().fit(X, iris.target),
                lambda: tree.predict(X),
            ]:
                with pytest.raises(ValueError, match="infinity"):
                    call()


def test_feature_names():
    frame = pd.DataFrame(iris.data, columns=iris.feature_names)
    tree = DecisionTreeClassifier().fit(frame, iris.target)
    assert_array_equal(tree.feature_names_in_, iris.feature_names)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        tree.predict(iris.data)
    with pytest.raises(ValueError, match="feature names should match"):
        tree.predict(frame[frame.columns[::-1]])
    tree.fit(iris.data, iris.target)
    assert not hasattr(tree, "feature_names_in_")
    with pytest.warns(UserWarning, match="fitted without feature names"):
        tree.predict(frame)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame,
        lambda frame: frame.astype(np.float32),
        lambda frame: frame.astype({"x1": np.int64, "x2": np.float16}),
        lambda frame: frame.astype({"x1": np.int64}).add([0, 2**60 + 2**36 + 1, 0, 0]),
        lambda frame: frame.astype({"x0": bool, "x3": np.uint8}),
        lambda frame: frame.astype({"x1": "Int64", "x2": "Float32"}),
        lambda frame: frame.astype({"x1": object}),
        lambda frame: frame.iloc[::-2],
        lambda frame: frame.iloc[:1],
        lambda frame: type("Frame", (pd.DataFrame,), {})(frame),
    ],
)
def test_frames_of_numbers_are_their_matrices(change):
    """Whichever way a frame is read, it goes where scikit-learn's matrix of it goes."""
    frame = pd.DataFrame(np.trunc(4 * iris.data), columns=[f"x{j}" for j in range(4)])
    frame["x1"] += 2.0**36 * np.arange(150)
    tree = DecisionTreeClassifier().fit(frame, iris.target)
    changed = change(frame)
    leaves = tree.tree_.apply(check_array(changed, dtype=np.float32))
    assert_array_equal(tree.apply(changed), leaves)
    assert_array_equal(tree.predict_proba(changed), tree.tree_.value[leaves, 0])


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("value", [np.inf, 1e300])
def test_frames_of_infinite_numbers(value):
    frame = pd.DataFrame(iris.data, columns=list("abcd"))
    tree = DecisionTreeClassifier().fit(frame, iris.target)
    frame.loc[3, "b"] = np.nan
    assert tree.predict(frame).shape == (150,)
    frame.loc[4, "b"] = value
    for method in (tree.predict, tree.predict_proba, tree.apply, tree.decision_path):
        with pytest.raises(ValueError, match="infinity"):
            method(frame)


CONTAINERS = {
    "list": lambda X: X.tolist(),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "big-endian": lambda X: X.astype(">f8"),
    "object": lambda X: X.astype(object),
    "int": lambda X: (X * 10).astype(np.int16),
    "bool": lambda X: X > 2,
    "F": np.asfortranarray,
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=["a", "b", "c", "d"]),
    "masked": np.ma.array,
    "packed records": lambda X: np.rec.fromarrays(
        [X > 2, X.astype(np.float32)], dtype=[("byte", np.uint8), ("value", np.float32)]
    )["value"],
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers(container):
    X = CONTAINERS[container](iris.data)
    before = copy.deepcopy(X)
    ours, theirs = replayed(DecisionTreeClassifier, X, iris.target)
    assert_array_equal(ours.tree_.threshold, theirs.tree_.threshold)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert type(X) is type(before)
    assert_array_equal(np.asarray(X), np.asarray(before))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_read_only_input(order, dtype):
    X = np.array(iris.data, dtype=dtype, order=order)
    y, weight = iris.target.copy(), np.ones(150)
    for array in [X, y, weight]:
        array.flags.writeable = False
    tree = DecisionTreeClassifier(ccp_alpha=0.01).fit(X, y, sample_weight=weight)
    assert tree.score(X, y) > 0.9


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_matrix])
def test_sparse_rows_are_predicted(index_dtype, container):
    X = np.where(iris.data > 3, iris.data, 0)
    tree = DecisionTreeClassifier(random_state=0).fit(X, iris.target)
    sparse = container(X)
    for name in ["indices", "indptr", "row", "col"]:
        if hasattr(sparse, name) and name not in ("row", "col"):
            setattr(sparse, name, getattr(sparse, name).astype(index_dtype))
    assert_array_equal(tree.predict(sparse), tree.predict(X))
    assert_array_equal(tree.apply(sparse), tree.apply(X))


def test_duplicates_in_sparse_rows_are_summed_in_a_copy():
    X = np.zeros((3, 2))
    tree = DecisionTreeRegressor().fit([[0, 0], [1, 0], [2, 0]], [0.0, 1.0, 2.0])
    sparse = sp.csr_matrix(
        (np.float32([1, 1, 1]), np.int32([0, 0, 0]), np.int32([0, 0, 1, 3])), shape=(3, 2)
    )
    assert_array_equal(tree.predict(sparse), [0.0, 1.0, 2.0])
    assert sparse.nnz == 3
    with pytest.raises(ValueError, match="features"):
        tree.predict(sp.csr_matrix(np.hstack([X, X])))


# ---- randomness


@pytest.mark.parametrize("seed", [0, 1, 42, np.int32(7), np.uint64(2**32 - 1)])
def test_seeds_give_scikit_learns_stream(seed):
    expected = check_random_state(seed).randint(0, 2**31 - 1, 5)
    assert_array_equal(random_source(seed).randint(0, 2**31 - 1, 5), expected)
    assert_array_equal(random_source(seed).randint(0, 2**31 - 1, 5), expected)


def test_generators_are_passed_through():
    generator = np.random.RandomState(3)
    assert random_source(generator) is generator
    assert random_source(None) is check_random_state(None)
    for bad in [-1, 2**32]:
        with pytest.raises(ValueError, match="Seed must be between"):
            random_source(bad)


def test_a_generator_is_drawn_from_once_per_fit():
    drawn, expected = np.random.RandomState(0), np.random.RandomState(0)
    ExtraTreeClassifier(random_state=drawn).fit(iris.data, iris.target)
    expected.randint(0, 2**31 - 1)
    assert drawn.randint(1000) == expected.randint(1000)


@pytest.mark.parametrize("cls", DROP_INS)
def test_threads_do_not_matter(cls):
    X, y = data_for(cls)
    one = cls(random_state=0, n_jobs=1).fit(X, y)
    with fasttree.config_context(n_threads=3):
        three = cls(random_state=0).fit(X, y)
        assert_array_equal(three.predict(X), one.predict(X))
    assert_array_equal(three.tree_.nodes, one.tree_.nodes)


# ---- pruning


@pytest.mark.parametrize("cls", DROP_INS)
@pytest.mark.parametrize("parameters", [{}, {"max_leaf_nodes": 15}])
def test_pruning_is_scikit_learns(cls, parameters):
    X, y = data_for(cls, 150)
    alphas = (
        sklearns(cls)(random_state=0, **parameters).cost_complexity_pruning_path(X, y).ccp_alphas
    )
    with fasttree.config_context(sklearn_random_stream=True):
        path = cls(random_state=0, ccp_alpha=0.5, **parameters).cost_complexity_pruning_path(X, y)
    assert_allclose(path.ccp_alphas, alphas, atol=1e-12)
    assert path.impurities.shape == alphas.shape
    alpha = alphas[len(alphas) // 2] * (1 + 1e-9)
    ours, theirs = replayed(cls, X, y, ccp_alpha=alpha, **parameters)
    assert_array_equal(ours.tree_.children_left, theirs.tree_.children_left)
    assert_array_equal(ours.tree_.threshold, theirs.tree_.threshold)


# ---- company


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("duplicate", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy])
def test_pickles(cls, duplicate):
    X, y = data_for(cls)
    tree = cls(random_state=0, max_depth=3).fit(X, y)
    twin = duplicate(tree)
    assert_array_equal(twin.predict(X), tree.predict(X))
    assert_array_equal(twin.tree_.nodes, tree.tree_.nodes)
    assert clone(tree).get_params() == tree.get_params()


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_to_sklearn(cls, n_outputs):
    X, y = data_for(cls)
    X = X.copy()
    X[::9, 0] = np.nan
    if n_outputs == 2:
        y = np.column_stack([y, y])
    tree = cls(random_state=0, max_depth=4, n_jobs=2).fit(X, y)
    twin = tree.to_sklearn()
    name = "DecisionTreeClassifier" if cls is DecisionTree else cls.__name__
    assert type(twin) is getattr(sklearn.tree, name)
    assert type(twin.tree_) is sklearn.tree._tree.Tree
    assert_array_equal(twin.predict(X), tree.predict(X))
    assert_array_equal(twin.apply(X), tree.apply(X))
    assert_array_equal(twin.feature_importances_, tree.feature_importances_)
    assert twin.get_params()["max_depth"] == 4
    pickle.loads(pickle.dumps(twin)).predict(X)


@pytest.mark.parametrize("ensemble", [BaggingClassifier, AdaBoostClassifier])
def test_classifier_ensembles(ensemble):
    tree = DecisionTreeClassifier(max_depth=3)
    model = ensemble(tree, n_estimators=5, random_state=0).fit(iris.data, iris.target)
    assert model.score(iris.data, iris.target) > 0.9
    assert all(type(e) is DecisionTreeClassifier for e in model.estimators_)


@pytest.mark.parametrize("ensemble", [BaggingRegressor, AdaBoostRegressor])
def test_regressor_ensembles(ensemble):
    X, y = data_for(DecisionTreeRegressor)
    model = ensemble(DecisionTreeRegressor(max_depth=4), n_estimators=5, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.4


def test_voting_stacking_search_and_pipelines():
    X, y = data_for(DecisionTreeRegressor)
    trees = [("a", DecisionTreeRegressor(max_depth=3)), ("b", ExtraTreeRegressor(max_depth=3))]
    assert VotingRegressor(trees).fit(X, y).score(X, y) > 0.3
    trees = [("a", DecisionTreeClassifier(max_depth=3)), ("b", DecisionTree("classification"))]
    assert StackingClassifier(trees).fit(iris.data, iris.target).score(iris.data, iris.target) > 0.9
    grid = {"decisiontree__max_depth": [1, 3]}
    pipeline = make_pipeline(StandardScaler(), DecisionTree())
    search = GridSearchCV(pipeline, grid).fit(iris.data, iris.target)
    assert search.best_params_ == {"decisiontree__max_depth": 3}
    assert cross_val_score(DecisionTreeClassifier(), iris.data, iris.target).mean() > 0.9


def test_partial_dependence_by_recursion():
    X, y = data_for(DecisionTreeRegressor)
    ours, theirs = replayed(DecisionTreeRegressor, X, np.round(y), max_depth=5)
    for method in ["recursion", "brute"]:
        a = partial_dependence(ours, X, [2, 3], method=method, grid_resolution=10)
        b = partial_dependence(theirs, X, [2, 3], method=method, grid_resolution=10)
        assert_allclose(a["average"], b["average"])


@pytest.mark.parametrize("cls", DROP_INS)
def test_metadata_requests_are_scikit_learns(cls):
    assert str(cls().get_metadata_routing()) == str(sklearns(cls)().get_metadata_routing())


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        for cls in [DecisionTreeClassifier, DecisionTree]:
            tree = cls(max_depth=2).set_fit_request(sample_weight=True)
            tree.set_score_request(sample_weight=False)
            pipeline = make_pipeline(tree)
            pipeline.fit(iris.data, iris.target, sample_weight=(iris.target > 0) * 1.0)
            assert set(pipeline.predict(iris.data)) == {1, 2}


def test_forests_grow_our_trees(monkeypatch):
    from sklearn.ensemble import RandomForestClassifier, _forest

    monkeypatch.setattr(_forest, "DecisionTreeClassifier", DecisionTreeClassifier)
    forest = RandomForestClassifier(40, random_state=0, oob_score=True, n_jobs=2)
    forest.fit(iris.data, iris.target)
    assert forest.oob_score_ > 0.9
    assert all(type(tree) is DecisionTreeClassifier for tree in forest.estimators_)
    assert forest.decision_path(iris.data)[0].shape[0] == 150


# ---- the front door


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b", "a"], "classification"),
        (np.array(["a", "b"], dtype=object), "classification"),
        (np.array([1.5, 2.5], dtype=object), "classification"),
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
