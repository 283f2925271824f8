"""What a cell of a table is read as: a number, a label or missing."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fasttree.table._cells import are_texts, encode_texts, encode_utf8, parse_texts
from fasttree.table._columns import open_table
from fasttree.table._encoder import TableEncoder
from fasttree.tree import DecisionTreeClassifier, best_split, feature_scores
from reference.trees import assert_same


def cells_of(column, is_label=False, missing_values=None):
    """(cells, labels) of a column of Python objects."""
    array = np.empty((len(column), 1), dtype=object)
    array[:, 0] = column
    encoder = TableEncoder(open_table(array), [0] if is_label else None, missing_values)
    return encoder.encode(open_table(array), is_fit=True)[:, 0], encoder.categories[0]


def kind_of(value, **kwargs):
    """What a value is read as: a number, "label" or "missing"."""
    (cell,), labels = cells_of([value], **kwargs)
    if not np.isnan(cell):
        return float(cell)
    return "label" if labels else "missing"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", 42),
        ("-1", -1),
        ("+1.5", 1.5),
        (".5", 0.5),
        ("5.", 5),
        ("1e3", 1000),
        ("1E-2", 0.01),
        ("1.5e+1", 15),
        (" 42 ", 42),
        ("\t7\n", 7),
        ("007", 7),
        ("-0", 0),
        ("0." + "0" * 70 + "1", 0),
        ("1" + "0" * 20, 1e20),
    ],
)
def test_texts_that_are_numbers(text, number):
    assert kind_of(text) == np.float32(number)


@pytest.mark.parametrize(
    "text",
    [
        "nan",
        "NaN",
        "inf",
        "-inf",
        "Infinity",
        "?",
        "0x10",
        "1_000",
        "1,5",
        "1 2",
        "1e",
        "e5",
        ".",
        "-",
        "+",
        "1.2.3",
        "--1",
        "٣",
        "\uff11",
        "²",
        "½",
        "1e5.0",
        "1f",
        "10%",
        "$1",
        "None",
        "NA",
        "a",
        "é",
        " ",
    ],
)
def test_texts_that_are_labels(text):
    assert kind_of(text) == "label"


@pytest.mark.parametrize(
    "value", [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT, "", Decimal("nan")]
)
def test_missing_values(value):
    assert kind_of(value) == "missing"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3, 3),
        (2.5, 2.5),
        (np.int8(3), 3),
        (np.float64(2.5), 2.5),
        (Decimal("2.5"), 2.5),
        (Fraction(1, 2), 0.5),
        (True, "label"),
        (np.False_, "label"),
        (np.str_("7"), 7),
        (b"7", 7),
        (b"seven", "label"),
    ],
)
def test_objects(value, kind):
    assert kind_of(value) == kind


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_printed_numbers_are_read_back(x):
    is_number, numbers = parse_texts([repr(x), f" {x!r}", f"{x:.3e}"])
    assert is_number.tolist() == [1, 1, 1]
    assert numbers[0] == numbers[1] == x
    assert numbers[2] == float(f"{x:.3e}")


@given(st.text(alphabet="0123456789+-.eE _xn٣\t", max_size=12))
def test_literals_are_pythons_less_the_exotic(text):
    """Python reads a little more: underscores, other digits, 'nan' and 'inf'."""
    is_number, numbers = parse_texts([text])
    try:
        expected = float(text) if text.isascii() and "_" not in text and "n" not in text else None
    except ValueError:
        expected = None
    assert bool(is_number[0]) == (expected is not None)
    assert expected is None or numbers[0] == expected


def test_missing_values_can_be_listed():
    listed = ["?", "n/a", -999]
    column = ["?", " ? ", "n/a", -999, "-999", "-999.0", "??", 1.0, None]
    cells, labels = cells_of(column, missing_values=listed)
    assert labels == ["??"]
    assert np.isnan(cells[:6]).all()
    assert cells[7] == 1
    for value in ("?", -999, float("nan")):
        assert kind_of(value, missing_values=value) == "missing"
    X = np.array([[-999.0, 1], [2, -999], [3, 4]])
    tree = DecisionTreeClassifier(missing_values=-999).fit(X, [0, 1, 1])
    expected = DecisionTreeClassifier().fit(np.where(X == -999, np.nan, X), [0, 1, 1])
    assert_same(tree.tree_, expected.tree_)
    with pytest.raises(TypeError, match="numbers and texts"):
        DecisionTreeClassifier(missing_values=[None]).fit([["a"], ["b"]], [0, 1])


def test_listed_numbers_are_compared_before_they_are_rounded():
    near, listed = 2**24, 2**24 + 1  # one float32
    as_objects = [near, listed, float(near), float(listed), str(near), str(listed)]
    cells, _ = cells_of(as_objects, missing_values=listed)
    assert_array_equal(np.isnan(cells), [False, True] * 3)
    column = np.array([near, listed, 5])
    for holder in (
        column[:, None],
        column[:, None].astype(float),
        pd.DataFrame({"x": column}),
        pd.DataFrame({"x": column}).astype("Int64"),
        pd.DataFrame({"x": column}).astype("category"),
        pd.DataFrame({"x": column.astype(str)}),
        pl.DataFrame({"x": column.astype(str)}),
    ):
        table = open_table(holder, has_categories=True)
        cells = TableEncoder(table, None, listed).encode(table, is_fit=True)
        assert_array_equal(cells, np.array([[near], [np.nan], [5]], dtype=np.float32))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.filterwarnings("error")
def test_listed_numbers_have_the_precision_of_the_column(dtype):
    table = open_table(np.array([[0.1], [0.2]], dtype=dtype), has_categories=True)
    encoder = TableEncoder(table, None, [0.1, 1e300, 2**70])
    cells = encoder.encode(table, is_fit=True)
    assert_array_equal(np.isnan(cells), [[True], [False]])


class Rows:
    """Rows that NumPy can turn into an array, and nothing else can read."""

    def __init__(self, rows):
        self.rows = rows

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype=dtype)


@pytest.mark.parametrize("holder", [list, tuple, Rows])
def test_lists_of_numbers_hold_labels_and_gaps(holder):
    """Parameters that are for tables count for lists of numbers as for arrays of them."""
    rows, y = [[1, 5], [-999, 3], [3, 5], [2, 4]], [0, 1, 0, 1]
    params = {"missing_values": -999, "categorical_features": [1]}
    expected = DecisionTreeClassifier(**params).fit(np.array(rows), y)
    assert expected.categories_ == [[], [3, 4, 5]]
    estimator = DecisionTreeClassifier(**params).fit(holder(rows), y)
    assert estimator.categories_ == expected.categories_
    assert_same(estimator.tree_, expected.tree_)
    assert_array_equal(estimator.predict(holder(rows)), y)


def test_lists_of_numbers_hold_gaps():
    assert best_split([1, 2, -999], [0, 0, 1], missing_values=-999).threshold == np.inf
    assert_array_equal(
        feature_scores([[1], [2], [-999]], [0, 1, 1], missing_values=-999),
        feature_scores([[1], [2], [None]], [0, 1, 1]),
    )


def test_equal_numbers_are_one_value():
    cells, _ = cells_of(["1", "1.0", " 1e0", 1, 1.0, Decimal(1)])
    assert (cells == 1).all()


def test_labels_are_kept_as_they_are():
    column = ["a", "a ", "A", "é", "a"]
    cells, labels = cells_of(column)
    assert labels == sorted({"a", "a ", "A", "é"})
    assert cells.view(np.uint32)[0] == cells.view(np.uint32)[4]


def test_labels_of_every_type_are_told_apart():
    column = [True, 1, "1", "True", 0, False, 2.5]
    cells, labels = cells_of(column, is_label=True)
    assert labels == [False, True, 0, 1, 2.5, "1", "True"]
    assert [type(v) for v in labels] == [bool, bool, int, int, float, str, str]
    assert len(set(cells.view(np.uint32).tolist())) == 7


@given(
    st.lists(st.lists(st.none() | st.text("ab\0é", max_size=12) | st.text("c", max_size=40))),
    st.integers(0, 3),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_texts_in_arrow(chunks, start, dtype):
    column = pa.chunked_array(chunks, dtype)[start:]
    codes, distinct = encode_utf8(column.chunks)
    expected = column.to_pylist()
    assert distinct == list(dict.fromkeys(text for text in expected if text is not None))
    assert [None if code < 0 else distinct[code] for code in codes] == expected


def test_many_texts_in_arrow():
    texts = [f"{'long text ' * (i % 3)}{i}" for i in range(3000)]
    codes, distinct = encode_utf8([pa.array(texts), pa.array(texts[::-1])])
    assert distinct == texts
    assert_array_equal(codes, [*range(3000), *reversed(range(3000))])


def test_texts_in_arrays():
    y = np.array([["b", "x"], ["a", "y"], ["b", "z"], ["é", "x"]], dtype=object)
    distinct, codes = encode_texts(y[:, 0])
    assert distinct == ["a", "b", "é"]
    assert_array_equal(codes, [1, 0, 1, 2])
    assert codes.dtype == np.uint8
    for array in (y, y[:, 1], y.T):
        assert are_texts(array)
    for other in (None, 1, b"b", np.nan):
        y[2, 1] = other
        assert not are_texts(y)
        assert encode_texts(y[:, 1]) is None


def test_large_values_raise():
    for value in ("1e400", 10**400, float("inf"), "1e39", -(10.0**39)):
        with pytest.raises(ValueError, match="infinity or a value too large.*column 0"):
            cells_of([value, "a"])
