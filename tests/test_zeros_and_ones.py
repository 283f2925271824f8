"""Matrices of zeros and ones: one tree, whatever holds them, and bits if there are enough."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import fasttree
from fasttree.table._bit_matrix import MIN_COLUMNS, BitMatrix, bits_of_bools, bits_of_sparse
from fasttree.table._rows import bits_of
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor, EncodedData
from reference.trees import assert_same


def problem(seed):
    """Bools, an estimator, targets and weights."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.choice([2, 30, 64, 65, 300, 3000])), int(rng.choice([16, 40, 64, 65, 130]))
    X = rng.random((n, p)) < rng.random(p) ** rng.choice([1, 3])
    X[:, rng.integers(p)] = True
    X[:, rng.integers(p)] = False
    X[:, rng.integers(p)] = X[:, rng.integers(p)]
    signal = X[:, :5].sum(axis=1) + rng.standard_normal(n)
    weights = rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None
    parameters = {
        "random_state": 0,
        "min_samples_leaf": int(rng.choice([1, 1, 3, 20])),
        "max_depth": rng.choice([None, 2, 6]),
        "max_leaf_nodes": rng.choice([None, None, 10]),
        "n_jobs": int(rng.choice([1, 2])),
    }
    if rng.random() < 0.6:
        quantiles = np.linspace(0, 1, rng.choice([3, 6]))[1:-1]
        y = np.digitize(signal, np.quantile(signal, quantiles))
        criterion = rng.choice(["gini", "entropy"])
        return X, DecisionTreeClassifier(criterion=criterion, **parameters), y, weights
    criterion = rng.choice(["squared_error", "absolute_error"] if n < 1000 else ["squared_error"])
    return X, DecisionTreeRegressor(criterion=criterion, **parameters), signal.round(2), weights


FORMS = {
    "bool": lambda X: X,
    "bool by column": np.asfortranarray,
    "bool with gaps": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "bool backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "csc": lambda X: sp.csc_matrix(X.astype(np.float64)),
    "csr": lambda X: sp.csr_array(X.astype(np.float32)),
    "coo of bools": sp.coo_array,
    "csc of integers": lambda X: sp.csc_array(X.astype(np.int8)),
}


@pytest.mark.cases(100)
def test_every_form_gives_one_tree(seed):
    X, estimator, y, weights = problem(seed)
    expected = estimator.fit(X.astype(np.float32), y, weights).tree_
    for form in FORMS.values():
        assert_same(estimator.fit(form(X), y, weights).tree_, expected)
        assert_array_equal(estimator.predict(form(X)), estimator.predict(X.astype(float)))


FRAMES = {
    "one block": pd.DataFrame,
    "a block a column": lambda X: pd.DataFrame(dict(enumerate(np.asfortranarray(X).T))),
    "pandas, of arrow": lambda X: pd.DataFrame(X).astype("bool[pyarrow]"),
    "polars": lambda X: pl.DataFrame({str(j): X[:, j] for j in range(X.shape[1])}),
    "arrow": lambda X: pa.table({str(j): X[:, j] for j in range(X.shape[1])}),
}


@pytest.mark.cases(60)
def test_frames_of_booleans_have_categories(seed):
    """They are those of the same booleans as objects, whose cells are read one by one."""
    X, estimator, y, weights = problem(seed)
    if seed % 2 and estimator.criterion in ("squared_error", "gini") and len(np.unique(y)) == 2:
        estimator.categorical_split = "subset"
    estimator.fit(X.astype(object), y, weights)
    expected, encoder = estimator.tree_, estimator._table_encoder
    predicted = estimator.predict(X.astype(object))
    for frame in FRAMES.values():
        estimator.fit(frame(X), y, weights)
        assert_same(estimator.tree_, expected)
        assert estimator._table_encoder.categories == encoder.categories
        assert not any(column.has_missing for column in estimator._table_encoder.columns)
        assert_array_equal(estimator.predict(frame(X)), predicted)
        assert_same(estimator.fit(EncodedData(frame(X)), y, weights).tree_, expected)


@pytest.mark.cases(60)
def test_booleans_beside_other_columns(seed):
    """The tree is that of cells without bits, in which the columns stand in their order."""
    X, estimator, y, weights = problem(seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X).rename(columns=str)
    for j in range(rng.integers(1, 5)):
        numbers = rng.standard_normal(len(X)).round(1) + X[:, j]
        column = [
            numbers,
            np.where(rng.random(len(X)) < 0.2, np.nan, numbers),
            (10 * numbers).astype(int),
            np.array(["a", "b", "c"])[rng.integers(3, size=len(X))],
        ][rng.integers(4)]
        frame.insert(int(rng.integers(frame.shape[1] + 1)), f"other {j}", column)
    estimator.fit(frame, y, weights)
    tree, categories = estimator.tree_, estimator._table_encoder.categories
    predicted = estimator.predict(frame)
    for data in (EncodedData(frame), pl.from_pandas(frame, nan_to_null=False)):
        estimator.fit(data, y, weights)
        assert_same(estimator.tree_, tree)
        assert estimator._table_encoder.categories == categories
        assert_array_equal(estimator.predict(data), predicted)
    with fasttree.config_context(strategy="sort"):
        assert_same(estimator.fit(frame, y, weights).tree_, tree)


@pytest.mark.cases(60)
def test_ones_beside_other_columns_of_sparse_matrices(seed):
    X, estimator, y, weights = problem(seed)
    rng = np.random.default_rng(seed)
    cells = X.astype(np.float32)
    for j in range(rng.integers(1, 5)):
        column = rng.standard_normal(len(X)).round(1) + X[:, j]
        column[rng.random(len(X)) < rng.choice([0.1, 0.9])] = 0
        if seed % 5 == 0:
            column[rng.integers(len(X))] = np.nan
        cells = np.insert(cells, rng.integers(cells.shape[1] + 1), column, axis=1)
    if isinstance(estimator, DecisionTreeRegressor) and estimator.criterion != "squared_error":
        cells = np.nan_to_num(cells)
    expected = estimator.fit(cells, y, weights).tree_
    for form in (sp.csc_matrix, sp.csr_array):
        assert_same(estimator.fit(form(cells), y, weights).tree_, expected)


@pytest.mark.parametrize("strategy", ["auto", "presort", "count", "sort"])
def test_every_strategy_takes_every_form(strategy):
    X, estimator, y, weights = problem(5)
    expected = estimator.fit(X.astype(np.float32), y, weights).tree_
    of_frame = estimator.fit(pd.DataFrame(X), y, weights).tree_
    with fasttree.config_context(strategy=strategy):
        for form in FORMS.values():
            assert_same(estimator.fit(form(X), y, weights).tree_, expected)
        assert_same(estimator.fit(pd.DataFrame(X), y, weights).tree_, of_frame)


def test_what_becomes_bits():
    X = np.random.default_rng(0).random((500, MIN_COLUMNS)) < 0.3
    assert_array_equal(bits_of(X, 1).words[:, 0], bits_of(sp.csr_array(X), 1).words[:, 0])
    assert isinstance(bits_of(sp.csc_array(X.astype(float)), 1), BitMatrix)
    assert bits_of(X[:, 1:], 1) is None
    assert bits_of(X.astype(np.uint8), 1) is None
    rare = sp.random_array((500, 100), density=0.02, data_sampler=lambda size: np.ones(size))
    assert bits_of(rare.tocsc(), 1) is None
    twos = sp.csc_array(X.astype(float))
    twos.data[-1] = 2.0
    assert bits_of(twos, 1) is None
    beside = sp.csc_array(np.c_[np.arange(500), X, np.zeros(500)])
    bits = bits_of(beside, 1)
    assert bits.shape == beside.shape
    assert_array_equal(bits.columns, np.arange(1, 18))
    assert_array_equal(bits.cells, np.arange(500)[:, None])
    assert bits_of(beside.tocsr(), 1) is None
    beside.data[3] = np.inf
    assert bits_of(beside, 1) is None
    twice = sp.csc_array(X.astype(float))
    twice.indices[1] = twice.indices[0]
    assert bits_of_sparse(twice) is None


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_what_a_bit_matrix_knows(n_threads):
    X = np.random.default_rng(0).random((70, 130)) < 0.5
    X[:, [0, 64, 129]], X[:, [1, 65]] = True, False
    bits = bits_of_bools(X, n_threads)
    assert bits.shape == X.shape
    assert bits.size == X.size
    has_zeros, has_ones = bits.holds()
    assert_array_equal(has_zeros, ~X.all(axis=0))
    assert_array_equal(has_ones, X.any(axis=0))
    assert_array_equal(bits_of_sparse(sp.csc_array(X), n_threads).words, bits.words)


def test_a_frame_with_missing_booleans_is_read_by_column():
    X = np.random.default_rng(0).random((300, 20)) < 0.5
    y = X[:, 0] ^ X[:, 3]
    for frame in (pd.DataFrame(X).astype("boolean"), pl.DataFrame(X)):
        if isinstance(frame, pd.DataFrame):
            frame.iloc[::7, 3] = pd.NA
        else:
            frame = frame.with_columns(pl.when(pl.arange(300) % 7 > 0).then(frame.columns[3]))
        tree = DecisionTreeClassifier(random_state=0).fit(frame, y)
        assert [column.has_missing for column in tree._table_encoder.columns][3:5] == [True, False]
