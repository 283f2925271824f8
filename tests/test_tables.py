"""Tables as they are: whatever holds them, and every type of their columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from fasttree.table._columns import open_table
from fasttree.table._encoder import TableEncoder
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EncodedData,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    export_text,
)
from reference.tables import example
from reference.trees import assert_same

ESTIMATORS = (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)


# ---- whatever holds the table


def holders(frame):
    """The same table in everything that can hold it."""
    objects = frame.astype(object).to_numpy()
    yield "array of objects", objects
    yield "lists", objects.tolist()
    yield "pandas objects", frame.astype({"color": object, "grade": object, "is_new": object})
    yield "polars", pl.from_pandas(frame)
    yield "pyarrow", pa.Table.from_pandas(frame)
    yield "record batch", pa.RecordBatch.from_pandas(frame)
    yield "pandas nullable", frame.convert_dtypes(dtype_backend="numpy_nullable")
    yield "pandas arrow", frame.convert_dtypes(dtype_backend="pyarrow")
    yield (
        "chunks",
        pl.concat([pl.from_pandas(frame[:100]), pl.from_pandas(frame[100:])], rechunk=False),
    )


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_whatever_holds_the_table_the_tree_is_the_same(cls):
    frame, y = example()
    expected = cls(random_state=0).fit(frame, y)
    assert expected.tree_.label_splits is not None
    for name, X in holders(frame):
        estimator = cls(random_state=0).fit(X, y)
        assert_same(estimator.tree_, expected.tree_)
        for field, array in expected.tree_.label_splits.state().items():
            assert_array_equal(array, estimator.tree_.label_splits.state()[field], err_msg=name)
        assert estimator.categories_ == expected.categories_
        assert_array_equal(estimator.predict(X), expected.predict(frame))


def test_categories_and_enums():
    frame, y = example()
    frame["grade"] = frame["grade"].astype("category")
    expected = DecisionTreeClassifier().fit(frame, y)
    assert expected.categories_[3] == [" 3", "1", "2", "n.a.", "poor"]
    tables = [
        pl.from_pandas(frame),
        pl.from_pandas(frame).with_columns(
            pl.col("grade").cast(pl.Enum(["poor", "1", "2", " 3", "n.a."]))
        ),
        pa.Table.from_pandas(frame),
    ]
    for table in tables:
        assert_same(DecisionTreeClassifier().fit(table, y).tree_, expected.tree_)
    named = DecisionTreeClassifier(categorical_features=["grade", "is_new"])
    for chosen in (["grade", "is_new"], [3, 4], [False, False, False, True, True]):
        estimator = clone(named).set_params(categorical_features=chosen)
        estimator.fit(frame.astype({"grade": object}), y)
        assert_same(estimator.tree_, expected.tree_)
    hybrid = DecisionTreeClassifier(categorical_features=None).fit(frame, y)
    assert hybrid.categories_[3] == ["n.a.", "poor"]


def test_numbers_can_be_labels():
    X = np.array([[3.0, 1], [5, 1], [7, 1], [5, 2], [np.nan, 1]])
    y = [0, 1, 0, 1, 0]
    estimator = DecisionTreeClassifier(categorical_features=[0]).fit(X, y)
    assert estimator.categories_ == [[3.0, 5.0, 7.0], []]
    assert estimator.tree_.node_count == 3
    assert_array_equal(estimator.predict(X), y)
    frame = pd.DataFrame(X, columns=["a", "b"]).astype({"a": "category"})
    assert_same(DecisionTreeClassifier().fit(frame, y).tree_, estimator.tree_)


def test_intervals_and_other_categories_are_labels_by_their_text():
    x = pd.Series(np.arange(20.0))
    frame = pd.DataFrame({"bin": pd.cut(x, [-1, 5, 10, 20])})
    estimator = DecisionTreeClassifier().fit(frame, (x > 10).astype(int))
    assert estimator.categories_ == [["(-1, 5]", "(10, 20]", "(5, 10]"]]
    assert_array_equal(estimator.predict(frame), x > 10)


@pytest.mark.parametrize("step", [1, -1])
def test_first_appearance_does_not_matter(step):
    column, y = list("dcbabc"), [0, 1, 1, 0, 1, 1]
    estimator = DecisionTreeClassifier().fit([[v] for v in column[::step]], y[::step])
    assert estimator.categories_ == [["a", "b", "c", "d"]]
    assert list(estimator.tree_.label_splits.codes) == [
        0,
        3,
    ]  # a first, for a and d are worth the same


@pytest.mark.parametrize(
    ("column", "name"),
    [
        (pd.date_range("2020", periods=3), "when"),
        (pd.to_timedelta([1, 2, 3], unit="s"), "when"),
        (pd.period_range("2020", periods=3), "when"),
        ([[1], [2], [3]], "when"),
        ([{"a": 1}, {"a": 2}, {}], "when"),
        (np.array([1j, 2, 3]), "when"),
    ],
)
def test_columns_that_cannot_be_read(column, name):
    frame = pd.DataFrame({"ok": ["a", "b", "c"], name: column})
    with pytest.raises(TypeError, match=name):
        DecisionTreeClassifier().fit(frame, [0, 1, 0])


@pytest.mark.parametrize(
    "dtype", [pl.Datetime, pl.List(pl.Int64), pl.Struct({"a": pl.Int64}), pl.Binary]
)
def test_polars_columns_that_cannot_be_read(dtype):
    values = {pl.Datetime: [0, 1], pl.Binary: [b"a", b"b"]}.get(dtype)
    if values is None:
        values = [[1], [2]] if dtype == pl.List(pl.Int64) else [{"a": 1}, {"a": 2}]
    frame = pl.DataFrame({"ok": ["a", "b"], "odd": pl.Series(values, dtype=dtype)})
    with pytest.raises(TypeError, match="odd"):
        DecisionTreeClassifier().fit(frame, [0, 1])


def test_null_columns_and_decimals():
    frame = pl.DataFrame(
        {
            "nothing": [None, None, None],
            "price": pl.Series(["1.50", "2.50", None]).cast(pl.Decimal(10, 2)),
            "label": ["a", "b", None],
        }
    )
    encoder = TableEncoder(open_table(frame), "from_dtype", None)
    cells = encoder.encode(open_table(frame), is_fit=True)
    assert np.isnan(cells[:, 0]).all()
    assert_array_equal(cells[:, 1], [1.5, 2.5, np.nan])
    assert encoder.categories == [[], [], ["a", "b"]]


def test_columns_without_names():
    frame = pd.DataFrame([["a", 1, "x"], ["b", 2, "y"]], columns=[5, 0, 3])
    estimator = DecisionTreeClassifier().fit(frame, [0, 1])
    assert estimator.categories_ == [["a", "b"], [], ["x", "y"]]
    assert not hasattr(estimator, "feature_names_in_")
    assert_array_equal(estimator.predict(frame), [0, 1])


def test_payloads_of_nan_are_no_labels():
    odd = np.array([0x7FC00001, 0x7FC00002, 0xFFC00001], dtype=np.uint32).view(np.float32)
    estimator = DecisionTreeClassifier(categorical_features=None).fit(
        [["a"], ["b"], [1.0]], [0, 1, 2]
    )
    assert len(set(estimator.predict(odd[:, None].astype(object)).tolist())) == 1
    assert_array_equal(estimator.apply(odd[:, None]), estimator.apply([[None]] * 3))
    X = np.concatenate([odd, [1.0, 2.0]]).astype(np.float32)[:, None]
    assert DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1]).tree_.node_count == 3
    frame = pd.DataFrame({"x": X[2:, 0], "s": ["a", "b", "b"]})
    assert frame["x"].to_numpy().view(np.uint32)[0] == 0xFFC00001
    report = export_text(DecisionTreeClassifier().fit(frame, [0, 0, 1]))
    assert "x <= 1.50 or missing" in report


# ---- types of columns


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars"])
def test_views_of_strings(library):
    pa = pytest.importorskip("pyarrow")
    texts = ["b", "a", None, "longer than what a view holds inline", "a", "1.5"]
    column = pa.chunked_array([pa.array(texts, pa.string_view())])
    X = pa.table({"x": column, "n": [1.0, 2, 3, 4, 5, 6]})
    if library == "pandas":
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(column), "n": [1.0, 2, 3, 4, 5, 6]})
    elif library == "polars":
        X = pytest.importorskip("polars").from_arrow(X)
    y = [0, 1, 0, 1, 0, 1]
    expected = DecisionTreeClassifier().fit(list(zip(texts, range(1, 7))), y)
    tree = DecisionTreeClassifier().fit(X, y)
    assert tree.categories_ == [["a", "b", texts[3]], []]
    assert_array_equal(tree.apply(X), expected.apply(list(zip(texts, range(1, 7)))))


@pytest.mark.parametrize("columns", [{"x": list("abab")}, {"x": [1.5, 2, 3, 4]}], ids=["a", "1"])
@pytest.mark.parametrize("wrapped", [lambda X: X, EncodedData], ids=["rows", "encoded"])
def test_record_batches_have_the_names_of_tables(wrapped, columns):
    X, y = pa.table(columns), [0, 1, 0, 1]
    tree = DecisionTreeClassifier().fit(wrapped(X.to_batches()[0]), y)
    assert tree.feature_names_in_.tolist() == ["x"]
    for rows in (X, X.to_batches()[0]):
        assert_array_equal(tree.predict(rows), y)


def test_views_of_strings_that_arrow_cannot_encode():
    """As in versions of Arrow that have no kernels for them."""
    from fasttree.table import _columns

    class Column(list):
        type = "string_view"
        to_pylist = list.copy

    assert _columns._distinct_arrow_text(Column(["a", None])).cells == ["a", None]


def test_missing_booleans_and_types_that_pandas_does_not_know():
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")

    def frame(values, dtype):
        return pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.chunked_array([values], dtype))})

    tree = DecisionTreeClassifier().fit(frame([True, None, False], pa.bool_()), [0, 1, 2])
    assert tree.categories_ == [[False, True]]
    assert_array_equal(tree.predict(frame([True, None, False], pa.bool_())), [0, 1, 2])
    with pytest.raises(TypeError, match="Column 'x'"):
        DecisionTreeClassifier().fit(frame([b"a", b"b"], pa.binary_view()), [0, 1])


def test_integers_of_128_bits():
    pl = pytest.importorskip("polars")
    X = pl.DataFrame({"x": [2**70, 1, 2]}, schema={"x": pl.Int128})
    assert_array_equal(DecisionTreeClassifier().fit(X, [1, 0, 0]).predict(X), [1, 0, 0])


NUMBERS = {
    "one type": lambda X: pd.DataFrame(X),
    "one type by column": lambda X: pd.DataFrame({str(j): x for j, x in enumerate(X.T)}),
    "several types": lambda X: pd.DataFrame(
        {str(j): x.astype(t) for (j, x), t in zip(enumerate(X.T), ["f4", "i8", "f8", "u1"] * 2)}
    ),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_frames_of_numbers_are_read_as_matrices(kind):
    X = np.random.default_rng(0).integers(0, 200, (300, 8)).astype(float)
    y = X[:, 0] + X[:, 5] > 200
    frame, expected = NUMBERS[kind](X), DecisionTreeClassifier(random_state=0).fit(X, y)
    for data in (frame, EncodedData(frame)):
        fitted = DecisionTreeClassifier(random_state=0).fit(data, pd.Series(y))
        assert_same(fitted.tree_, expected.tree_)
        assert_array_equal(fitted.predict(frame), expected.predict(X))
    assert hasattr(fitted, "feature_names_in_") == (kind != "one type")
    assert_array_equal(NUMBERS[kind](X).to_numpy(), X)  # it is as it was
    frame.iloc[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        fitted.fit(frame, y)
