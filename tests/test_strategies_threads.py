"""What threads count of a large node together, its tables and its totals, never changes a tree."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import fasttree
import fasttree.tree
from fasttree.tree.growth._builder import DepthFirstTreeBuilder
from reference.trees import assert_same


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 26])
@pytest.mark.parametrize(
    ("n_values", "with_missing", "strategy"),
    [
        (2, False, "auto"),  # bits
        (2, True, "auto"),
        (30, True, "auto"),
        (250, True, "auto"),
        (250, False, "count"),
        (1000, True, "count"),
    ],
)
def test_same_tree_of_tables_that_threads_count(
    n_values, with_missing, strategy, n_classes, is_weighted
):
    """Each counts some of the rows of many, and some of the features of few beside large tables."""
    rng = np.random.default_rng([n_values, n_classes])
    X = rng.integers(0, n_values, (20_000, 20)).astype(np.float32)
    if with_missing:
        X[rng.random(X.shape) < 0.01] = np.nan
    y = np.nan_to_num(X[:, :3]).sum(axis=1) + n_values * rng.random(len(X))
    model = fasttree.tree.DecisionTreeRegressor(max_depth=7)
    if n_classes > 1:
        y = np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))
        model = fasttree.tree.DecisionTreeClassifier(max_depth=7)
    weights = rng.integers(0, 3, len(X)) if is_weighted else None
    with fasttree.config_context(strategy="sort"):
        expected = model.fit(X, y, sample_weight=weights).tree_
    for n_threads in (1, 2, 3, 4):
        with fasttree.config_context(n_threads=n_threads, strategy=strategy):
            assert_same(model.fit(X, y, sample_weight=weights).tree_, expected)


@pytest.mark.parametrize("simd", ["auto", "avx2", "portable"])
@pytest.mark.parametrize("strategy", ["auto", "count"])
def test_same_tree_of_tables_of_mixed_columns(strategy, simd):
    """Of few and of many values in turn; some are constant, one in a half of the rows."""
    rng = np.random.default_rng(0)
    n_values = np.resize([3, 30, 1000, 250, 1], 20)
    X = rng.integers(0, n_values, (20_000, 20)).astype(np.float32)
    X[:, 6] = np.where(X[:, 0] > 0, X[:, 6], 0)
    y = np.digitize(X[:, 0] + X[:, 1] / 30 + 2 * rng.random(len(X)), [1, 2, 3, 4])
    model = fasttree.tree.DecisionTreeClassifier(max_depth=7)
    with fasttree.config_context(strategy="sort", simd=simd):
        expected = model.fit(X, y).tree_
    for n_threads in (1, 2, 3, 4):
        with fasttree.config_context(n_threads=n_threads, strategy=strategy, simd=simd):
            assert_same(model.fit(X, y).tree_, expected)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(
    ("criterion", "n_classes", "weights"),
    [
        *itertools.product(["gini"], [2, 5, 300], ["none", "counts", "some negative"]),
        *itertools.product(["entropy"], [2, 5], ["none", "counts"]),
        ("chi2", 3, "none"),
    ],
)
def test_same_tree_of_totals_that_threads_count(criterion, n_classes, weights, is_sparse):
    """Each counts the classes of a part of the rows, at the root and in large children."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(60_000, 3)).astype(np.float32)
    signal = X[:, 0] + X[:, 1] * (X[:, 0] > 0.3) + rng.normal(size=len(X))
    y = np.digitize(signal, np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1]))
    if is_sparse:
        X = sp.csc_matrix(X * (rng.random(X.shape) < 0.5))
    sample_weight = {
        "none": None,
        "counts": rng.integers(0, 3, len(y)),
        "some negative": np.where(rng.random(len(y)) < 0.01, -0.5, 1.0),
    }[weights]
    model = fasttree.tree.DecisionTreeClassifier(criterion=criterion, max_depth=5)
    expected = model.fit(X, y, sample_weight=sample_weight).tree_
    for n_threads in (2, 3, 4):
        with fasttree.config_context(n_threads=n_threads):
            assert_same(model.fit(X, y, sample_weight=sample_weight).tree_, expected)


def test_same_tree_of_totals_of_several_outputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 3)).astype(np.float32)
    y = np.digitize(X[:, :2] + rng.normal(size=(len(X), 2)), [-1, 0, 1])
    for model in (
        fasttree.tree.DecisionTreeClassifier(max_depth=5),
        fasttree.tree.DecisionTreeRegressor(max_depth=5),
    ):
        expected = model.fit(X, y).tree_
        for n_threads in (2, 3):
            with fasttree.config_context(n_threads=n_threads):
                assert_same(model.fit(X, y).tree_, expected)


@pytest.mark.parametrize("n_classes", [5, 8, 26])
@pytest.mark.parametrize("with_categories", [False, True])
def test_same_tree_of_subtrees_that_threads_write(n_classes, with_categories):
    """Nodes hold few of many classes, whose numbers alone are kept."""
    rng = np.random.default_rng(n_classes)
    X = rng.random((20_000, 4)).astype(np.float32)
    y = (X[:, 0] * n_classes).astype(int)
    y = np.where(rng.random(len(X)) < 0.1, rng.integers(0, n_classes, len(X)), y)
    frame = pd.DataFrame(X, columns=list("wxyz"))
    if with_categories:
        frame["letter"] = pd.Categorical.from_codes(rng.integers(0, 9, len(X)), list("abcdefghi"))
    trees = []
    for n_threads in (1, 2, 3, 4):
        with fasttree.config_context(n_threads=n_threads):
            trees.append(fasttree.tree.DecisionTreeClassifier(random_state=0).fit(frame, y).tree_)
    values = trees[0].value[:, 0]
    assert 12 * np.count_nonzero(values) + 4 * len(values) < 8 * values.size  # so that it pays
    for tree in trees[1:]:
        assert_same(tree, trees[0])


@pytest.mark.parametrize("strategy", ["auto", "presort", "count", "sort"])
@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("numbers", {}),
        ("numbers", {"max_features": 3}),
        ("numbers", {"splitter": "random"}),
        ("numbers", {"criterion": "entropy"}),
        ("mixed", {}),
        ("mixed", {"categorical_split": "subset"}),
        ("many classes", {}),
        ("constrained", {"monotonic_cst": [1, -1, *[0] * 18]}),
        ("targets", {}),
        ("targets", {"criterion": "absolute_error"}),
        ("sparse", {}),
        ("sparse", {"max_features": 3}),
    ],
)
def test_same_tree_of_subtrees_that_threads_leave_to_each_other(kind, params, strategy):
    """Of a fourth of the rows nearly all nodes are made, the others are pure.

    So one thread gets nearly all there is to do, and the others what it leaves to them.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16_000, 20)).round(2).astype(np.float32)
    is_pure = X[:, 0] < np.quantile(X[:, 0], 0.75)
    X[:, 1::3] = rng.integers(0, 5, X[:, 1::3].shape)
    X[X[:, 0] > 2, 2] = 0  # constant below some nodes
    n_classes = {"many classes": 30}.get(kind, 2 if kind == "constrained" else 4)
    y = np.where(is_pure, 0, rng.integers(0, n_classes, len(X)))
    model = fasttree.tree.DecisionTreeClassifier(random_state=0, **params)
    if kind == "targets":
        y = np.where(is_pure, 0, rng.normal(size=len(X)))
        model = fasttree.tree.DecisionTreeRegressor(random_state=0, **params)
    if kind == "mixed":
        X = pd.DataFrame(X, columns=list("abcdefghijklmnopqrst")).assign(
            letter=pd.Categorical.from_codes(rng.integers(0, 9, len(X)), list("abcdefghi"))
        )
        y = y > 0 if "categorical_split" in params else y
    if kind == "sparse":
        X[:, 1:] *= rng.random((len(X), 19)) < 0.4
        X = sp.csc_matrix(X)
    with fasttree.config_context(n_threads=1, strategy=strategy):
        expected = model.fit(X, y).tree_
    assert expected.node_count > 1000
    for n_threads in (2, 3, 7):
        with fasttree.config_context(n_threads=n_threads, strategy=strategy):
            assert_same(model.fit(X, y).tree_, expected)


@pytest.fixture
def builders(monkeypatch):
    """Those that fits make."""
    made = []

    class RecordedBuilder(DepthFirstTreeBuilder):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr("fasttree.tree._base.DepthFirstTreeBuilder", RecordedBuilder)
    return made


@pytest.mark.parametrize("kind", ["numbers", "codes", "weights", "targets", "sparse", "drawn"])
def test_same_tree_of_subtrees_that_are_grown_beside_large_nodes(kind, builders):
    """Few rows are not of one class: a small child after the other leaves a large one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 12)).astype(np.float32)
    y = np.where(rng.random(len(X)) < 0.97, 0, rng.integers(1, 20, len(X)))
    X += (y > 0)[:, None] * rng.normal(size=12).astype(np.float32)
    weight = rng.integers(0, 3, len(X)) if kind == "weights" else None
    model = fasttree.tree.DecisionTreeClassifier(random_state=0)
    if kind == "codes":
        X[:, 4:] = X[:, 4:].round(1)
    if kind == "targets":
        model = fasttree.tree.DecisionTreeRegressor(random_state=0)
        y = np.exp(rng.normal(size=len(X)) + 3 * (y > 0))
    if kind == "drawn":
        model = fasttree.tree.DecisionTreeClassifier(random_state=0, max_features=4)
    if kind == "sparse":
        X *= rng.random(X.shape) < 0.5
        X = sp.csc_matrix(X)
    with fasttree.config_context(n_threads=1):
        expected = model.fit(X, y, weight).tree_
    assert expected.node_count > 100
    for n_threads in (2, 3, 7):
        for _ in range(10):  # who grows what meanwhile is up to the system
            with fasttree.config_context(n_threads=n_threads):
                assert_same(model.fit(X, y, weight).tree_, expected)
    assert any(builder.n_beside > 0 for builder in builders)


@pytest.mark.parametrize("strategy", ["presort", "count"])
def test_threads_leave_parts_of_subtrees_to_each_other(builders, strategy):
    """As above. There are more subtrees than large nodes leave."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 100, (16_000, 20)).astype(np.float32)
    y = np.where(X[:, 0] < 75, 0, rng.integers(0, 4, len(X)))
    for _ in range(20):  # whether a thread has none in time is up to the system
        with fasttree.config_context(n_threads=2, strategy=strategy):
            tree = fasttree.tree.DecisionTreeClassifier(random_state=0).fit(X, y).tree_
        is_large = tree.n_node_samples > len(X) // 4  # on two threads
        is_split = is_large & (tree.children_left >= 0)
        children = np.append(tree.children_left[is_split], tree.children_right[is_split])
        if builders[-1].n_subtrees > np.count_nonzero(~is_large[children]):
            return
    raise AssertionError("No thread left anything to the other one.")
