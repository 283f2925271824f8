"""Trees of tables: where labels and gaps go, and what follows from a fitted tree."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from fasttree.table._columns import open_table
from fasttree.tree import DecisionTreeClassifier, export_text
from fasttree.utils._finite import ALL_FINITE, SOME_INFINITE, SOME_MISSING
from reference.tables import example
from reference.trees import assert_same

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


def booleans(n_rows, seed):
    """Three columns of booleans beside numbers, one with missing cells, and a class of theirs."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.random((n_rows, 3)) < 0.5, columns=list("abc"))
    frame["d"] = rng.normal(size=n_rows)
    y = (frame.a ^ frame.b) + 2 * (frame.d > 0)
    frame["c"] = frame.c.astype("boolean").mask(rng.random(n_rows) < 0.2)
    return frame, np.where(rng.random(n_rows) < 0.9, y, 3 - y)


def as_whole_numbers(cell):
    return None if pd.isna(cell) else int(cell) if isinstance(cell, bool) else cell


@pytest.mark.parametrize(
    "form",
    [
        lambda frame: frame.astype("Float64"),
        lambda frame: frame.astype("Float64").to_numpy(np.float32, na_value=np.nan),
        lambda frame: frame.astype(object).map(as_whole_numbers),
        lambda frame: frame.astype(object).map(as_whole_numbers).to_numpy().tolist(),
        lambda frame: pl.from_pandas(frame.astype("Float64")),
    ],
    ids=["numbers", "array", "objects", "lists", "polars"],
)
@pytest.mark.parametrize("categorical_features", ["from_dtype", None])
@pytest.mark.parametrize("n_columns", [3, 4])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_zeros_and_ones_are_the_booleans_of_the_fit(form, categorical_features, n_columns):
    X, y = booleans(300, n_columns)
    X = X[list("abcd")[:n_columns]]
    tree = DecisionTreeClassifier(categorical_features=categorical_features).fit(X, y)
    assert_array_equal(tree.predict_proba(form(X)), tree.predict_proba(X))


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
