"""What errors and warnings say: which column, which row, what to do."""

import threading
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import cross_val_score

import fasttree
from fasttree.ensemble import (
    RandomForestClassifier,
    RandomForestQuantileRegressor,
    RandomForestRegressor,
)
from fasttree.model_selection import TrainOnceSearchCV
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EncodedData,
    ExtraTreeRegressor,
)

X = np.arange(12.0).reshape(6, 2)
FRAME = pd.DataFrame(X, columns=["age", "size"])
Y = np.array([0, 1, 0, 1, 0, 1])


# ---- targets


@pytest.mark.parametrize("Tree", [DecisionTreeRegressor, DecisionTreeClassifier, DecisionTree])
@pytest.mark.parametrize("data", [X, FRAME, FRAME.assign(kind=list("ababab")), EncodedData(X)])
@pytest.mark.parametrize("container", [np.array, list, pd.Series, pl.Series])
def test_missing_numbers_are_counted(Tree, data, container):
    y = container([1.0, np.nan, 2.0, np.nan, 3.0, 4.0])
    with pytest.raises(ValueError, match="y contains NaN: 2 of 6 .* first in row 1.* Leave these"):
        Tree().fit(data, y)


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", "b", None, "a", "b", "a"], dtype=object),
        pd.Series(["a", "b", None, "a", "b", "a"]),
        pd.Series(["a", "b", pd.NA, "a", "b", "a"], dtype="string"),
        pd.Series(["a", "b", np.nan, "a", "b", "a"], dtype="category"),
        pd.Series([1, 2, None, 1, 2, 1], dtype="Int64"),
        np.array([[1, 1], [1, 2], [None, 2], [1, 2], [2, 2], [1, 1]], dtype=object),
    ],
    ids=["objects", "series", "NA", "categories", "integers", "outputs"],
)
def test_missing_labels_are_counted(y):
    with pytest.raises(ValueError, match="y contains NaN: 1 of 6 .* first in row 2"):
        DecisionTreeClassifier().fit(X, y)


# ---- cells


@pytest.mark.parametrize("cell", [[1], (1, 2), {}, object()])
def test_cells_of_no_kind_are_named(cell):
    column = pd.Series([1, "x", None, 2.5, cell, 3], dtype=object)
    expected = r"Column 'odd', row 4: .* Convert the column to numbers or texts, or leave it out"
    with pytest.raises(TypeError, match=expected):
        DecisionTreeClassifier().fit(FRAME.assign(odd=column), Y)


def test_dates_are_named():
    dates = pd.date_range("2026-01-01", periods=6)
    with pytest.raises(TypeError, match="Column 'day' has dtype datetime64.* or leave it out"):
        DecisionTreeClassifier().fit(FRAME.assign(day=dates), Y)


def test_infinity_is_named():
    data = FRAME.copy()
    data.loc[3, "size"] = np.inf
    with pytest.raises(ValueError, match="infinity.* The first is in row 3 of column 'size'"):
        DecisionTreeClassifier().fit(data, Y)
    with pytest.raises(ValueError, match="infinity.* The first is in row 3 of column 1"):
        DecisionTreeClassifier().fit(data.to_numpy(), Y)


@pytest.mark.parametrize(
    "data",
    [
        FRAME.assign(size=["1", "2", "3", "tall", "5", "6"]),
        pl.DataFrame({"age": X[:, 0], "size": ["1", "2", "3", "tall", "5", "6"]}),
    ],
    ids=["pandas", "polars"],
)
def test_texts_where_fit_saw_numbers_are_named(data):
    model = DecisionTreeClassifier().fit(FRAME, Y)
    with pytest.raises(ValueError, match="Column 'size' holds 'tall' in row 3, .* Convert"):
        model.predict(data)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.date_range("2026-01-01", periods=6), "'size' has dtype datetime64.* or leave it out"),
        (pd.to_timedelta(range(6)), "'size' has dtype timedelta64.* or leave it out"),
        (pd.period_range("2026", periods=6), "'size' holds Period.* in row 0, which is no number"),
        ([1.0, None, "2", object(), 5, 6], "'size' holds <object .* in row 3, which is no number"),
    ],
)
def test_what_is_no_number_where_fit_saw_numbers_is_named(column, words):
    model = DecisionTreeClassifier().fit(FRAME, Y)
    with pytest.raises(TypeError, match=f"Column {words}"):
        model.predict(FRAME.assign(size=column))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("container", [pd.DataFrame.to_numpy, pd.DataFrame])
def test_cells_are_missing_where_fit_saw_numbers(missing, container):
    numbers = FRAME.assign(size=[np.nan, 3.0, 5.0, 7.0, 9.0, 1.0])
    model = DecisionTreeClassifier().fit(container(numbers), Y)
    cells = FRAME.assign(size=pd.Series([missing, 3, "5.0", 7, True, 1], dtype=object))
    numbers.loc[4, "size"] = 1.0
    assert_array_equal(model.predict(container(cells)), model.predict(container(numbers)))


def test_queries_without_rows_are_named():
    frame = pl.DataFrame(X, schema=["age", "size"])
    model = DecisionTreeClassifier().fit(frame, Y)
    for call, *arguments in (
        (model.predict, frame.lazy()),
        (model.fit, frame.lazy(), Y),
        (model.fit, frame, frame.select("age").lazy()),
    ):
        with pytest.raises(TypeError, match="is a polars LazyFrame.* collect it first"):
            call(*arguments)


@pytest.mark.parametrize("Tree", [DecisionTreeRegressor, DecisionTreeClassifier, DecisionTree])
@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt128])
def test_targets_of_128_bits_are_numbers(Tree, dtype):
    model = Tree().fit(X, pl.Series(Y, dtype=dtype))
    assert_array_equal(model.predict(X), Y)


@pytest.mark.parametrize("container", [pd.Series, pl.Series, np.asarray])
def test_dates_are_classes(container):
    days = np.array(["2026-01-01", "2026-02-01"], dtype="datetime64[us]")[Y]
    model = DecisionTreeClassifier().fit(X, container(days))
    assert_array_equal(model.predict(X).astype("datetime64[us]"), days)


# ---- where warnings point


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("Forest", [RandomForestClassifier, RandomForestRegressor])
def test_warnings_of_forests_point_at_the_call(Forest, n_jobs):
    forest = Forest(2, oob_score=True, n_jobs=n_jobs, random_state=0)
    with pytest.warns(UserWarning, match="column-vector|OOB scores") as caught:
        forest.fit(X, Y.reshape(-1, 1))
    assert {warning.category for warning in caught} == {DataConversionWarning, UserWarning}
    with pytest.warns(UserWarning, match="does not fit new trees") as repeated:
        forest.set_params(warm_start=True).fit(X, Y)
    with pytest.warns(DataConversionWarning) as deeper:
        cross_val_score(Forest(2), X, Y.reshape(-1, 1), cv=2, n_jobs=1)
    assert {warning.filename for warning in [*caught, *repeated, *deeper]} == {__file__}


def test_warnings_of_workers_point_into_the_package():
    """What joblib begins a worker with is no line of the user's."""
    fit = RandomForestRegressor(2).fit
    thread = threading.Thread(target=fit, args=(X, Y.reshape(-1, 1)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        thread.start()
        thread.join()
    assert Path(caught[0].filename).is_relative_to(Path(fasttree.__file__).parent)


def test_a_line_of_no_module_may_be_warned():
    forest = RandomForestRegressor(2)
    exec("forest.fit(X, y)", {"__name__": None, "forest": forest, "X": X, "y": Y[:, None]})
    assert len(forest.estimators_) == 2


def test_warnings_of_out_of_bag_quantiles_point_at_the_call():
    forest = RandomForestQuantileRegressor(1, random_state=0).fit(X, Y)
    with pytest.warns(UserWarning, match="do not have OOB scores") as caught:
        forest.predict(X, 0.5, oob_score=True)
    assert caught[0].filename == __file__


# ---- raw text


def texts(n_distinct, n_rows):
    return [f"Mr. {i % n_distinct}" for i in range(n_rows)]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_raw_text_is_warned_of(frame):
    data = frame({"name": texts(150, 200), "size": np.arange(200.0)})
    y = np.arange(200) % 2
    with pytest.warns(UserWarning, match="'name' holds 150 distinct texts in 200 rows") as caught:
        model = DecisionTreeClassifier().fit(data, y)
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(data)
        DecisionTreeClassifier().fit(frame({"name": texts(100, 200)}), y)
        DecisionTreeClassifier().fit(frame({"name": texts(90, 90)}), y[:90])
    with pytest.warns(UserWarning, match="'name'") as caught:
        TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}).fit(data, y)
    assert len(caught) == 1


# ---- constraints by name


@pytest.mark.parametrize("Tree", [DecisionTreeRegressor, ExtraTreeRegressor, DecisionTree])
def test_constraints_by_name_are_those_by_position(Tree):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = frame["a"].to_numpy() + rng.normal(size=200)
    named = Tree(monotonic_cst={"c": -1, "a": 1}, random_state=0).fit(frame, y)
    placed = Tree(monotonic_cst=[1, 0, -1], random_state=0).fit(frame, y)
    free = Tree(random_state=0).fit(frame, y)
    assert_array_equal(named.predict(frame), placed.predict(frame))
    assert (named.predict(frame) != free.predict(frame)).any()
    assert_array_equal(named.to_sklearn().monotonic_cst, [1, 0, -1])
    named.to_sklearn().fit(frame, y)


def test_constraints_by_name_beside_categories():
    frame = FRAME.assign(kind=list("ababab"))
    model = DecisionTreeClassifier(monotonic_cst={"size": 1}).fit(frame, Y)
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="columns without categories"):
        DecisionTreeClassifier(monotonic_cst={"kind": 1}).fit(frame, Y)


def test_constraints_of_unknown_columns():
    with pytest.raises(ValueError, match=r"does not have: \['height'\]. X has \['age', 'size'\]"):
        DecisionTreeRegressor(monotonic_cst={"height": 1}).fit(FRAME, Y)
    with pytest.raises(ValueError, match="X has no names"):
        DecisionTreeRegressor(monotonic_cst={"age": 1}).fit(X, Y)
    with pytest.raises(ValueError, match="-1, 0 or 1"):
        DecisionTreeRegressor(monotonic_cst={"age": 2}).fit(FRAME, Y)
