"""What estimators are fitted on and predict: targets, weights and matrices of every kind."""

import copy
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.utils import check_array

from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from fasttree.tree._validation import encode_classes
from reference.drop_ins import iris, replayed

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


def test_booleans_of_arrow_are_classes():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    y = pd.Series([True, False, True], dtype="bool[pyarrow]")
    tree = DecisionTreeClassifier().fit([[0], [1], [2]], y)
    assert tree.classes_.tolist() == [False, True]
    assert tree.predict([[1], [2]]).tolist() == [False, True]


@pytest.mark.parametrize(("first", "step"), [(0, 1), (-700, 1), (3, 2), (2**40, 3)])
def test_many_classes_are_encoded_as_by_unique(first, step):
    y = first + step * np.random.default_rng(0).integers(0, 600, (3000, 1))
    assert_encoded_as_by_unique(y, np.uint32)


@pytest.mark.parametrize("labels", [range(1, 8), range(-3, 4), [1], [2, 4, 6]])
def test_few_classes_are_encoded_as_by_unique(labels):
    y = np.random.default_rng(0).choice(list(labels), (3000, 1))
    assert_encoded_as_by_unique(y)


@pytest.mark.parametrize("last", [3, 255, 256, 70_000])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 1000, 1003])
def test_classes_that_follow_each_other(n, last):
    """In long stretches, with a class here and there that has one row, or the last row."""
    rng = np.random.default_rng(n)
    for _ in range(10):
        y = np.sort(rng.integers(0, 5, n))
        y[rng.integers(0, n, n // 100)] = rng.integers(5, 256, n // 100)
        y[-1] = last
        assert_encoded_as_by_unique(y[:, None])


def assert_encoded_as_by_unique(y, dtype=np.uint8):
    codes, classes = encode_classes(y)
    assert codes.dtype == dtype
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
