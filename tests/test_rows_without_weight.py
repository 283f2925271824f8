"""Rows without weight change nothing in a tree but what fractions of rows are."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import clone
from sklearn.base import is_classifier

import fasttree
from fasttree.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EncodedData,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from reference.trees import assert_same

CASES = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_features=2),
    ExtraTreeClassifier(),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(criterion="poisson", max_leaf_nodes=40),
    DecisionTreeRegressor(criterion="absolute_error", min_weight_fraction_leaf=0.05),
    ExtraTreeRegressor(min_weight_fraction_leaf=0.1),
]


@pytest.mark.parametrize("tree", CASES)
@pytest.mark.parametrize("share", [0.1, 0.7])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_rows_without_weight_are_as_if_they_were_not_there(tree, share, n_outputs):
    """To the last bit, whatever X comes as. But fractions of rows are of all rows."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n = 400
        X = rng.normal(size=(n, 5)).astype(np.float32)
        y = rng.random((n, n_outputs))
        y = np.floor(3 * y) if is_classifier(tree) else y
        weight = rng.choice([0.1, 1 / 3, 2.0], n) * (rng.random(n) < share)
        some = np.flatnonzero(weight)
        X[-1], weight[-1] = np.nan, 0.0  # missing values, too
        tree.set_params(random_state=seed, min_samples_leaf=0.005)
        in_rows = clone(tree).set_params(min_samples_leaf=2)
        if weight[some].min() == 0.0:
            some = some[:-1]
        expected = in_rows.fit(X[some], y[some], weight[some]).tree_
        for check_input in (True, False):
            assert_same(tree.fit(X, y, weight, check_input=check_input).tree_, expected)
        assert tree.fit(EncodedData(X), y, weight).tree_.nodes.tobytes() == (
            expected.nodes.tobytes()
        )
        for strategy in ("sort", "presort"):
            with fasttree.config_context(strategy=strategy):
                assert_same(tree.fit(X, y, weight).tree_, expected)
        assert_same(tree.fit(sp.csc_array(X), y, weight).tree_, expected)


def test_few_rows_of_weight_are_all_that_is_encoded():
    X, y, weight = np.arange(100.0)[:, None], np.arange(100.0), np.zeros(100)
    weight[::4] = 1.0
    data = DecisionTreeRegressor()._read_data(X, y, weight)
    assert (data.encoding.n_rows, len(data.y), data.n_samples) == (25, 25, 100)
    X[1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        DecisionTreeRegressor().fit(X, y, weight)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_targets_without_weight_do_not_matter(criterion):
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(size=(60, 2)), rng.random(60), np.ones(60)
    weights[::3] = 0.0
    expected = DecisionTreeRegressor(criterion=criterion).fit(X, y, weights).tree_
    y[::3] = 1e18
    found = DecisionTreeRegressor(criterion=criterion).fit(X, y, weights).tree_
    assert found.nodes.tobytes() == expected.nodes.tobytes()
    assert found.value.tobytes() == expected.value.tobytes()
