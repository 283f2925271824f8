"""Tables as they are: whatever holds them, and what comes of labels and gaps."""

import copy
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from fasttree.table._columns import open_table
from fasttree.table._encoder import TableEncoder
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EncodedData,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    best_split,
    export_graphviz,
    export_text,
    feature_scores,
    plot_tree,
)
from fasttree.utils._finite import ALL_FINITE, SOME_INFINITE, SOME_MISSING
from reference.trees import assert_same

ESTIMATORS = (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)


# ---- whatever holds the table


def example():
    """A frame with every kind of column, and a target."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(2),
            "count": rng.integers(0, 50, n),
            "color": rng.choice(["red", "green", "blue"], n),
            "grade": [str(v) for v in rng.choice(["1", "2", " 3", "poor", "n.a."], n)],
            "is_new": rng.random(n) < 0.5,
        }
    )
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "color"] = None
    y = (frame["color"].eq("red") ^ frame["grade"].isin(["1", "poor"])).astype(int)
    y = y.where(rng.random(n) < 0.9, 2)
    return frame, y.to_numpy()


def holders(frame):
    """The same table in everything that can hold it."""
    objects = frame.astype(object).to_numpy()
    yield "array of objects", objects
    yield "lists", objects.tolist()
    yield "pandas objects", frame.astype({"color": object, "grade": object, "is_new": object})
    yield "polars", pl.from_pandas(frame)
    yield "pyarrow", pa.Table.from_pandas(frame)
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


# ---- rules of prediction


def test_labels_and_gaps_at_a_threshold():
    """Labels known and unknown go with the missing values, whichever side was better."""
    for side in (0, 1):
        column = [1.0, 2.0, 3.0, 4.0, "a", None]
        y = [0, 0, 1, 1, side, side]
        estimator = DecisionTreeClassifier(max_depth=1).fit([[v] for v in column], y)
        assert estimator.tree_.threshold[0] == 2.5
        assert_array_equal(estimator.predict([["a"], [None], ["new"], ["b"]]), [side] * 4)


def test_unseen_gaps_go_to_the_larger_child():
    for n_left in (1, 2, 3):
        column = [1.0] * n_left + [2.0] * (4 - n_left)
        y = [0] * n_left + [1] * (4 - n_left)
        estimator = DecisionTreeClassifier().fit([[v] for v in column], y)
        assert estimator.predict([[None]])[0] == (0 if n_left > 2 else 1)
        labels = ["a"] * n_left + ["b"] * (4 - n_left)
        estimator = DecisionTreeClassifier().fit([[v] for v in labels], y)
        assert estimator.predict([[None]])[0] == (0 if n_left > 2 else 1)
        assert estimator.predict([["new"]])[0] == 1  # not equal to "a"


def test_absent_labels_are_not_equal():
    column = ["a", "a", "b", None]
    estimator = DecisionTreeClassifier().fit([[v] for v in column], [0, 0, 1, 1])
    assert_array_equal(estimator.predict([["new"], [None], ["b"], ["a"], [7.5]]), [1, 1, 1, 0, 1])


@pytest.mark.parametrize("missing_values", [None, "?", ["?", ""], " "])
def test_blanks_are_no_missing_value(missing_values):
    """Whatever is listed: only the empty text is, and listed texts, also within blanks."""
    rows = [["a"], [" "], [" ? "], [""]]
    tree = DecisionTreeClassifier(missing_values=missing_values).fit(rows, [0, 1, 2, 3])
    assert tree.categories_ == [[" ", "a"] if missing_values and "?" in missing_values else
                                [" ", " ? ", "a"]]  # fmt: skip


def test_unknown_labels_go_with_the_missing_values_in_a_set():
    for missing in (0, 1):
        column = ["a", "b", "c", "d", None, None]
        y = [0, 0, 1, 1, missing, missing]
        estimator = DecisionTreeClassifier(categorical_split="subset").fit([[v] for v in column], y)
        assert estimator.tree_.node_count == 3
        assert_array_equal(estimator.predict([["new"], [None]]), [missing] * 2)
        assert_array_equal(estimator.predict([[v] for v in "abcd"]), [0, 0, 1, 1])


def test_numbers_are_in_no_set():
    column = ["a", "b", "c", 1.0, 2.0]
    for flip in (0, 1):
        y = np.array([0, 0, 1, 1, 1]) ^ flip
        estimator = DecisionTreeClassifier(categorical_split="subset").fit([[v] for v in column], y)
        assert estimator.tree_.threshold[0] == -np.inf
        assert_array_equal(estimator.predict([[99.0], ["a"], ["c"]]), [1 ^ flip, flip, 1 ^ flip])


def test_names_and_order_of_columns():
    frame, y = example()
    for table in (frame, pl.from_pandas(frame)):
        estimator = DecisionTreeClassifier().fit(table, y)
        assert list(estimator.feature_names_in_) == list(frame.columns)
        with pytest.raises(ValueError, match="same order"):
            estimator.predict(table[list(frame.columns)[::-1]])
        with pytest.raises(ValueError, match="unseen at fit time"):
            estimator.predict(
                table.rename(columns={"size": "weight"})
                if table is frame
                else table.rename({"size": "weight"})
            )
        with pytest.raises(ValueError, match="feature names should match|expecting 5 features"):
            estimator.predict(table[["size"]])
    with pytest.raises(ValueError, match="expecting 1 features"):
        DecisionTreeClassifier().fit([["a"], ["b"]], [0, 1]).predict([["a", "b"]])


# ---- what follows from a fitted tree


def test_values_are_checked_on_the_way_to_labels():
    rows = [["a", 1.0], ["b", 2.0], ["c", 3.0], [4.0, 5.0]]
    tree = DecisionTreeClassifier().fit(rows, [0, 1, 0, 0]).tree_
    assert tree.label_splits is not None
    X = np.ones((30_000, 2), dtype=np.float32)
    for special, kind in [(1.0, ALL_FINITE), (np.nan, SOME_MISSING), (np.inf, SOME_INFINITE)]:
        X[25_001, 1] = special
        for accepted in (ALL_FINITE, SOME_MISSING, SOME_INFINITE):
            leaves = tree.apply(X, 2, accepted)
            assert (leaves is None) == (kind > accepted)


def test_pickles_copies_and_refits():
    frame, y = example()
    estimator = DecisionTreeClassifier(categorical_split="equality").fit(frame, y)
    for other in (pickle.loads(pickle.dumps(estimator)), copy.deepcopy(estimator)):
        assert_array_equal(other.predict_proba(frame), estimator.predict_proba(frame))
        assert other.categories_ == estimator.categories_
        assert export_text(other) == export_text(estimator)
    again = clone(estimator).fit(frame, y)
    assert_same(again.tree_, estimator.tree_)
    estimator.fit(np.arange(4.0)[:, None], [0, 0, 1, 1])
    assert not hasattr(estimator, "categories_")
    assert estimator.tree_.label_splits is None
    assert_array_equal(estimator.predict([[0.0], [3.0]]), [0, 1])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("nodes", [5]),
        ("nodes", [-1]),
        ("nodes", [0, 0]),
        ("nodes", [1]),
        ("offsets", [0, 2]),
        ("offsets", [1, 1]),
        ("offsets", [0]),
        ("codes", [9]),
        ("codes", [2**22]),
        ("listed_left", [2]),
        ("listed_left", []),
        ("n_categories", [2, 2]),
        ("n_categories", [2**30]),
        ("codes", ["a"]),
        ("codes", [[0]]),
        ("codes", [-1]),
        ("nodes", None),
    ],
)
def test_tampered_pickles_raise(field, value):
    tree = DecisionTreeClassifier().fit([["a"], ["b"]], [0, 1]).tree_
    cls, args, state = tree.__reduce__()
    state["label_splits"] = dict(state["label_splits"])
    if value is None:
        del state["label_splits"][field]
    else:
        state["label_splits"][field] = np.array(value)
    with pytest.raises(ValueError, match=r"categor|offsets|n_categories|nodes|codes|listed_left"):
        cls(*args).__setstate__(state)


def test_unordered_codes_in_a_pickle_raise():
    tree = (
        DecisionTreeClassifier(categorical_split="subset")
        .fit([["a"], ["b"], ["c"], ["d"]], [0, 0, 1, 1])
        .tree_
    )
    cls, args, state = tree.__reduce__()
    splits = state["label_splits"]
    state["label_splits"] = splits | {"codes": splits["codes"][::-1].copy()}
    with pytest.raises(ValueError, match="ascending"):
        cls(*args).__setstate__(state)


@pytest.mark.parametrize("categorical_split", ["equality", "subset"])
def test_side_arrays_and_walks_agree(categorical_split):
    frame, y = example()
    estimator = DecisionTreeClassifier(categorical_split=categorical_split).fit(frame, y > 0)
    tree = estimator.tree_
    X = estimator._table_encoder.encode(open_table(frame))
    at = np.zeros(len(X), dtype=int)
    path = estimator.decision_path(frame).toarray()
    kinds, bits = tree.split_kind, tree.left_cat_bitset
    assert set(kinds) == {-1, 0, 1}
    for row, cells in enumerate(X):
        visited = [0]
        while kinds[at[row]] >= 0:
            node = at[row]
            cell = cells[tree.feature[node]]
            code = int(cell.view(np.uint32)) - 0x7FC00001
            if kinds[node] == 0:
                left = (
                    tree.missing_go_to_left[node]
                    if np.isnan(cell)
                    else cell <= tree.threshold[node]
                )
            elif not np.isnan(cell):
                left = False
            elif code < 0:
                left = tree.missing_go_to_left[node]
            else:
                left = bits[node, code // 32] >> code % 32 & 1
            at[row] = (tree.children_left if left else tree.children_right)[node]
            visited.append(at[row])
        assert_array_equal(np.flatnonzero(path[row]), sorted(visited))
    assert_array_equal(estimator.apply(frame), at)


def test_threads_and_layouts_of_prediction():
    rng = np.random.default_rng(2)
    labels = rng.choice([f"user {i}" for i in range(2000)], 20000)
    frame = pd.DataFrame({"user": labels, "x": rng.normal(size=20000)})
    y = rng.integers(0, 2, 20000)
    for categorical_split in ("equality", "subset"):
        estimator = DecisionTreeClassifier(categorical_split=categorical_split, max_depth=12)
        estimator.fit(frame, y)
        cells = estimator._table_encoder.encode(open_table(frame))
        expected = estimator.tree_.apply(cells)
        assert_array_equal(estimator.tree_.apply(np.ascontiguousarray(cells)), expected)
        assert_array_equal(estimator.tree_.apply(cells, 4), expected)
        assert_array_equal(
            np.bincount(expected, minlength=estimator.tree_.node_count)[expected],
            estimator.tree_.n_node_samples[expected],
        )


@pytest.mark.parametrize("categorical_split", ["equality", "subset"])
def test_pruning(categorical_split):
    frame, y = example()
    whole = DecisionTreeClassifier(categorical_split=categorical_split).fit(frame, y > 0)
    path = whole.cost_complexity_pruning_path(frame, y > 0)
    assert path.ccp_alphas[0] == 0
    assert_allclose(path.impurities[-1], whole.tree_.impurity[0])
    for alpha in path.ccp_alphas[[1, len(path.ccp_alphas) // 2, -2]]:
        pruned = clone(whole).set_params(ccp_alpha=alpha).fit(frame, y > 0)
        tree = pruned.tree_
        assert tree.node_count < whole.tree_.node_count
        counts = np.bincount(pruned.apply(frame), minlength=tree.node_count)
        leaves = tree.children_left < 0
        assert_array_equal(counts[leaves], tree.n_node_samples[leaves])
    stump = clone(whole).set_params(ccp_alpha=path.ccp_alphas[-1]).fit(frame, y > 0)
    assert stump.tree_.node_count == 1
    assert stump.tree_.label_splits is None


def test_importances():
    frame, y = example()
    estimator = DecisionTreeClassifier().fit(frame, y)
    importances = estimator.feature_importances_
    assert_allclose(importances.sum(), 1)
    tree = estimator.tree_
    by_hand = np.bincount(
        tree.feature[tree.feature >= 0], tree.improvement[tree.feature >= 0], minlength=5
    )
    assert_allclose(importances, by_hand / by_hand.sum())
    assert importances[2] > 0


def small_tree(**params):
    rows = [["red", 40, None], ["blue", 41, 1.0], ["green", 43, "x"], ["red", 44, 2.0]] * 5
    frame = pd.DataFrame(rows, columns=["color", "age", "h"])
    return DecisionTreeClassifier(**params).fit(frame, [0, 0, 1, 1] * 5), frame


def test_export_text():
    estimator, frame = small_tree()
    assert export_text(estimator) == (
        "|--- age <= 42.00\n|   |--- class: 0\n|--- age >  42.00\n|   |--- class: 1\n"
    )
    estimator.fit(frame[["color"]], [0, 0, 1, 0] * 5)
    assert export_text(estimator, show_weights=True) == (
        "|--- color in {green}\n|   |--- weights: [0.00, 5.00] class: 1\n"
        "|--- color not in {green}\n|   |--- weights: [15.00, 0.00] class: 0\n"
    )
    estimator.fit(frame[["h"]], [0, 1, 0, 1] * 5)
    assert export_text(estimator, feature_names=["height"], class_names=["no", "yes"]) == (
        "|--- height is a number\n|   |--- class: yes\n"
        "|--- height is not a number\n|   |--- class: no\n"
    )
    subset = DecisionTreeRegressor(categorical_split="subset", max_depth=1)
    subset.fit(frame[["color"]], [0.5, 1.5, 0.5, 0.5] * 5)
    assert export_text(subset) == (
        "|--- color in {green, red}\n|   |--- value: [0.50]\n"
        "|--- color not in {green, red}\n|   |--- value: [1.50]\n"
    )


def test_export_text_of_missing_values():
    for gap, left, right in ((0, " or missing", ""), (1, "", " or missing")):
        frame = pd.DataFrame({"age": [40.0, 44.0, np.nan], "s": ["a", "a", "a"]})
        estimator = DecisionTreeClassifier().fit(frame, [0, 1, gap])
        assert export_text(estimator) == (
            f"|--- age <= 42.00{left}\n|   |--- class: 0\n"
            f"|--- age >  42.00{right}\n|   |--- class: 1\n"
        )
    estimator = DecisionTreeClassifier(max_depth=1).fit([["a"], [1.0], [2.0], ["a"]], [0, 0, 1, 0])
    assert export_text(estimator).startswith("|--- feature_0 <= 1.50 or not a number\n")
    estimator = DecisionTreeClassifier(categorical_split="subset").fit(
        [["a"], [None], ["b"]], [1, 0, 1]
    )
    assert export_text(estimator).startswith("|--- feature_0 is missing\n")


def test_export_of_many_labels():
    labels = [f"label {i:02}" for i in range(30)]
    estimator = DecisionTreeRegressor(categorical_split="subset", max_depth=1)
    estimator.fit([[v] for v in labels], np.arange(30) < 13)
    assert "label 22 and 7 more}" in export_text(estimator)


def test_questions_are_wrapped_and_name_few_labels():
    labels = [f"category {i}" for i in range(40)]
    X = [[label] for label in labels]
    estimator = DecisionTreeRegressor(max_depth=1, categorical_split="subset")
    estimator.fit(X, [float(i % 2) for i in range(40)])
    assert "category 10, category 12 and 17 more}" in export_text(estimator, max_labels=3)
    dot = export_graphviz(estimator, max_labels=3)
    assert "x[0] in {category 0, category 10,\\ncategory 12 and 17 more}\\n" in dot
    assert " more}" not in export_graphviz(estimator, max_labels=20)
    boxes = plot_tree(estimator, max_labels=2)
    assert "x[0] in {category 0, category 10 and\n19 more}" not in boxes[0].get_text()
    assert max(map(len, boxes[0].get_text().split("\n"))) <= 36
    plt.close("all")


def test_export_graphviz_and_plot():
    estimator, frame = small_tree(max_depth=1)
    estimator.fit(frame[["color"]], [0, 0, 1, 0] * 5)
    dot = export_graphviz(estimator)
    assert '0 [label="color in {green}\\ngini = 0.375\\n' in dot
    assert "<=" not in dot
    quoted = DecisionTreeClassifier().fit([['"a"'], ["c"]], [0, 1])
    assert r"x[0] in {\"a\"}" in export_graphviz(quoted)
    markup = DecisionTreeClassifier().fit([["a & <b>"], ["c"]], [0, 1])
    assert "in {a &amp; &lt;b&gt;}<br/>" in export_graphviz(markup, special_characters=True)
    annotations = plot_tree(estimator)
    assert annotations[0].get_text().split("\n")[0] == "color in {green}"
    plt.close("all")


def test_export_graphviz_of_thresholds():
    estimator, _ = small_tree()
    assert "age &le; 42.0<br/>" in export_graphviz(estimator, special_characters=True)
    assert "age <= 42.0\\n" in export_graphviz(DecisionTree().fit(*_with_target(estimator)))
    with pytest.raises(ValueError, match="3 elements, got 1"):
        export_text(estimator, feature_names=["one"])


def _with_target(estimator):
    _, frame = small_tree()
    return frame, [0, 0, 1, 1] * 5


def test_to_sklearn():
    frame, y = example()
    tree = DecisionTreeClassifier().fit(frame, y)
    pipeline = tree.to_sklearn()
    assert_array_equal(pipeline.predict(frame), tree.predict(frame))
    numbers = frame[["count"]].assign(label="same")
    estimator = DecisionTreeClassifier().fit(numbers, y)
    twin = estimator.to_sklearn()
    assert_array_equal(twin[-1].tree_.threshold, estimator.tree_.threshold)
    assert_array_equal(twin.predict(numbers), estimator.predict(numbers))


# ---- within scikit-learn


def test_composition():
    frame, y = example()
    classifier = DecisionTreeClassifier(max_depth=5)
    assert cross_val_score(classifier, frame, y, cv=3).mean() > 0.6
    bagging = BaggingClassifier(classifier, n_estimators=5, random_state=0)
    assert (
        bagging.fit(frame.astype(object).to_numpy(), y).score(frame.astype(object).to_numpy(), y)
        > 0.7
    )
    numbers = frame[["size", "count"]].fillna(0)
    selected = make_pipeline(SelectKBest(feature_scores, k=1), classifier).fit(numbers, y)
    assert selected[0].get_support().sum() == 1
    assert classifier.__sklearn_tags__().input_tags.categorical


def test_scores_of_a_frame():
    frame, y = example()
    scores = feature_scores(frame, y)
    assert list(np.argsort(scores)[-2:]) in ([2, 3], [3, 2])
    assert best_split(frame["color"], y).labels is not None
    assert best_split(pl.Series(frame["color"]), y).score == scores[2]
    assert best_split(frame["color"].tolist(), y).score == scores[2]
    with pytest.raises(ValueError, match="one column"):
        best_split(np.zeros((2, 2)), [0, 1])
    with pytest.raises(ValueError, match="criterion must be one of"):
        best_split([1.0, 2.0], [0, 1], criterion="ginny")


@pytest.mark.parametrize(
    ("chosen", "match"),
    [
        ([5], r"\[0, n_features - 1\]"),
        ([-1], r"\[0, n_features - 1\]"),
        ([True, False], "boolean mask"),
        (["hue"], "does not have: \\['hue'\\]"),
        ([0.5], "bool, int or str"),
    ],
)
def test_wrong_categorical_features(chosen, match):
    frame, y = example()
    with pytest.raises(ValueError, match=match):
        DecisionTreeClassifier(categorical_features=chosen).fit(frame, y)


def test_names_need_a_frame_and_labels_a_dense_table():
    with pytest.raises(ValueError, match="X has none"):
        DecisionTreeClassifier(categorical_features=["a"]).fit([["u"], ["v"]], [0, 1])
    with pytest.raises(ValueError, match="0 sample"):
        DecisionTreeClassifier().fit(pd.DataFrame({"a": pd.Series([], dtype=object)}), [])
    for kwargs in ({"categorical_features": ["a"]}, {"categorical_split": "both"}):
        with pytest.raises(ValueError):
            DecisionTreeClassifier(**kwargs).fit(np.eye(2), [0, 1])


def test_text_targets():
    frame, _ = example()
    y = frame["color"].fillna("none")
    expected = DecisionTreeClassifier().fit(frame, y.to_numpy(dtype=object))
    assert_array_equal(expected.classes_, ["blue", "green", "none", "red"])
    for target in (
        y,
        y.astype(object),
        y.astype("category"),
        pl.Series(y),
        pa.chunked_array([y]),
        list(y),
    ):
        estimator = DecisionTreeClassifier().fit(frame, target)
        assert_same(estimator.tree_, expected.tree_)
        assert_array_equal(estimator.classes_, expected.classes_)
        assert_array_equal(estimator.predict(frame), y)
    with pytest.raises(ValueError, match="NaN|None|missing"):
        DecisionTreeClassifier().fit(frame, frame["color"])


@pytest.mark.parametrize("dtype", [bool, "boolean", int, "Int64"])
@pytest.mark.parametrize("is_category", [False, True])
def test_boolean_and_integer_targets(dtype, is_category):
    frame, _ = example()
    codes = (frame["color"] == "red").to_numpy()
    y = pd.Series(codes).astype(dtype)
    estimator = DecisionTreeClassifier().fit(frame, y.astype("category") if is_category else y)
    expected = DecisionTreeClassifier().fit(frame, codes)
    assert_same(estimator.tree_, expected.tree_)
    assert_array_equal(estimator.classes_, [0, 1])
    assert_array_equal(estimator.predict(frame), codes)


def test_many_labels():
    """Memory and time grow with the rows, not with labels times nodes."""
    rng = np.random.default_rng(1)
    n_rows, n_labels = 120_000, 100_000
    labels = np.array([f"user {i}" for i in range(n_labels)], dtype=object)
    column = np.concatenate([labels, labels[rng.integers(0, n_labels, n_rows - n_labels)]])
    frame = pd.DataFrame({"user": column, "x": rng.normal(size=n_rows)})
    y = rng.integers(0, 2, n_rows)
    for categorical_split in ("equality", "subset"):
        estimator = DecisionTreeClassifier(categorical_split=categorical_split, max_depth=15)
        with pytest.warns(UserWarning, match="'user' holds 100000 distinct texts in 120000 rows"):
            tree = estimator.fit(frame, y).tree_
        assert len(estimator.categories_[0]) == n_labels
        splits = tree.label_splits
        if splits is not None:
            assert len(splits.codes) <= n_rows * (tree.max_depth + 1)
        assert_array_equal(
            np.bincount(estimator.apply(frame), minlength=tree.node_count)[tree.children_left < 0],
            tree.n_node_samples[tree.children_left < 0],
        )


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


def test_labels_without_an_order():
    with pytest.raises(TypeError, match="labels of y cannot be put in order"):
        DecisionTreeClassifier().fit([[1.0], [2.0]], np.array(["a", 1], dtype=object))


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
