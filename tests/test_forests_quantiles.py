"""Quantiles of targets that a forest predicts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fasttree
from fasttree.ensemble import RandomForestQuantileRegressor, RandomForestRegressor
from reference.forests import X, y

rng = np.random.default_rng(1)


def quantiles_by_definition(forest, rows, target, quantiles, rows_to_predict):
    """The targets of all rows that trees drew into the same leaves."""
    leaves, wanted = forest.apply(rows), forest.apply(rows_to_predict)
    found = []
    for row in wanted:
        pooled = [
            target[drawn[leaves[drawn, t] == row[t]]]
            for t, drawn in enumerate(forest.estimators_samples_)
        ]
        found.append(np.quantile(np.concatenate(pooled), quantiles, axis=0))
    return np.array(found)


@pytest.mark.parametrize("settings", [{}, {"min_samples_leaf": 6}, {"bootstrap": False}])
def test_quantiles(settings):
    target = rng.normal(size=500).round(1)
    forest = RandomForestQuantileRegressor(8, random_state=0, **settings).fit(X, target)
    quantiles = [0.9, 0.0, 0.5, 1.0, 0.123]
    expected = quantiles_by_definition(forest, X, target, quantiles, X[:40])
    assert_allclose(forest.predict(X[:40], quantiles), expected, atol=1e-12)
    assert_array_equal(forest.predict(X[:40], 0.9), forest.predict(X[:40], [0.9])[:, 0])
    with fasttree.config_context(n_threads=3):
        assert_allclose(forest.predict(X[:40], quantiles), expected, atol=1e-12)
    mean = RandomForestRegressor(8, random_state=0, **settings).fit(X, target)
    assert_array_equal(forest.predict(X), mean.predict(X))


def test_quantiles_of_several_outputs():
    targets = rng.normal(size=(500, 2)).round(1)
    forest = RandomForestQuantileRegressor(5, random_state=0, min_samples_leaf=5).fit(X, targets)
    expected = quantiles_by_definition(forest, X, targets, [0.2, 0.7], X[:30])
    assert_allclose(forest.predict(X[:30], [0.2, 0.7]), expected.transpose(0, 2, 1), atol=1e-12)


@pytest.mark.parametrize("kind", ["repetitions", "fractions", "leaves"])
def test_weights_of_quantiles(kind):
    """Whole numbers are repetitions; otherwise the paper's definition."""
    target = rng.normal(size=500)
    weights = None if kind == "leaves" else rng.integers(0, 4, 500) / (2 if kind[0] == "f" else 1)
    forest = RandomForestQuantileRegressor(3, bootstrap=False, max_depth=3, random_state=0)
    forest.fit(X, target, weights)
    quantiles = [0.0, 0.2, 0.31, 1.0]
    found = forest.predict(X[:9], quantiles, weighted_leaves=kind == "leaves")
    leaves = forest.apply(X)
    ones = np.ones(500)
    for row in range(9):
        shared = leaves == leaves[row]
        own = shared * (ones if weights is None else weights)[:, None]
        if kind == "repetitions":
            pooled = np.repeat(target, own.sum(axis=1).astype(int))
            assert_allclose(found[row], np.quantile(pooled, quantiles))
            continue
        share = (own / own.sum(axis=0) if kind == "leaves" else own).sum(axis=1)
        expected = np.quantile(target, quantiles, weights=share, method="inverted_cdf")
        expected[0] = target[share > 0].min()
        assert_array_equal(found[row], expected)


def test_out_of_bag_quantiles():
    target = X[:, 0] + rng.normal(size=500)
    forest = RandomForestQuantileRegressor(20, random_state=0).fit(X, target)
    found = forest.predict(X, [0.1, 0.9], oob_score=True)
    drawn = [np.bincount(own, minlength=500) for own in forest.estimators_samples_]
    leaves = forest.apply(X)
    for row in (0, 77, 499):
        pooled = [
            np.repeat(target, count * (leaves[:, t] == leaves[row, t]))
            for t, count in enumerate(drawn)
            if count[row] == 0
        ]
        assert_allclose(found[row], np.quantile(np.concatenate(pooled), [0.1, 0.9]))
    with pytest.raises(ValueError, match="rows of the fit"):
        forest.predict(X[:5], 0.5, oob_score=True)


@pytest.mark.parametrize("quantiles", [1.1, [-0.1], [], [[0.5]], np.nan])
def test_no_quantiles(quantiles):
    forest = RandomForestQuantileRegressor(2).fit(X, y)
    with pytest.raises(ValueError, match="quantiles"):
        forest.predict(X, quantiles)


@pytest.mark.parametrize(
    "settings", [{}, {"min_samples_leaf": 6}, {"bootstrap": False, "max_features": 0.5}]
)
def test_quantiles_are_those_of_quantile_forest(settings):
    package = pytest.importorskip("quantile_forest", reason="quantile-forest is not installed")
    target = rng.integers(0, 1000, 500).astype(float)
    with fasttree.config_context(sklearn_random_stream=True):
        ours = RandomForestQuantileRegressor(10, random_state=1, **settings).fit(X, target)
    theirs = package.RandomForestQuantileRegressor(
        10, random_state=1, max_samples_leaf=None, **settings
    ).fit(X, target)
    quantiles = [0.05, 0.5, 0.33, 0.95, 0.0, 1.0]
    assert_allclose(ours.predict(X, quantiles), theirs.predict(X, quantiles), rtol=1e-12)
