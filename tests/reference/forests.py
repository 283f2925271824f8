"""Forests of every kind on one small problem, and comparing them."""

import numpy as np
import pytest
from sklearn.base import clone

from fasttree.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from reference.trees import assert_same

FORESTS = [
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
]
each_forest = pytest.mark.parametrize("Forest", FORESTS)

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 6)).round(1)
y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=500) > 0).astype(int)


def assert_same_forest(forest, expected):
    assert len(forest.estimators_) == len(expected.estimators_)
    for tree, other in zip(forest.estimators_, expected.estimators_):
        assert tree.random_state == other.random_state
        assert_same(tree.tree_, other.tree_)


def prediction(forest, rows=X):
    return getattr(forest, "predict_proba", forest.predict)(rows)


def refitted(forest, **settings):
    """A forest that is fitted on the data above."""
    return clone(forest).set_params(**settings).fit(X, y)
