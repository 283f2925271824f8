"""The arrays of a grown tree: made when they are asked for, kept for those who want them."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from fasttree.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor


def float_bits(numbers):
    return np.ascontiguousarray(numbers).view(np.uint64)


NUMBERS = [0.0, -0.0, 1.0, 0.25, -3.5, 5e-324, 1e300, np.inf]


@given(
    st.integers(1, 20).flatmap(
        lambda width: st.lists(
            st.lists(st.sampled_from(NUMBERS), min_size=width, max_size=width), min_size=1
        )
    ),
    st.integers(-30, 30),
)
def test_compact_values(kernels, values, exponent):
    values = np.array(values)
    restored, are_finite, n_kept = kernels.compact.compact_values(values, exponent)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(values, exponent)
    assert_array_equal(float_bits(restored), float_bits(scaled))
    kept = np.count_nonzero(float_bits(values))
    assert n_kept in (kept, values.size)
    assert are_finite == np.isfinite(scaled).all()


def test_few_values_take_few_bytes(kernels):
    values = np.zeros((50, 20))
    values[np.arange(50), np.arange(50) % 20] = 1.0
    assert kernels.compact.compact_values(values, 0)[2] == 50


def problem(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.random((300, 4)).astype(np.float32)
    return X, rng.permutation(300) % n_classes


def are_kept(tree):
    return tree.read_nodes() is tree.read_nodes(), tree.read_values() is tree.read_values()


@pytest.mark.parametrize("n_classes", [2, 3, 30, 140])
@pytest.mark.parametrize("estimator", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_arrays_are_made_once(estimator, n_classes):
    X, y = problem(n_classes)
    tree = estimator(random_state=0).fit(X, y).tree_
    nodes, values = tree.read_nodes(), tree.read_values()
    assert are_kept(tree) == (False, False)
    assert_array_equal(tree.threshold, nodes["threshold"])
    assert are_kept(tree) == (True, False)
    assert_array_equal(tree.value, values)
    assert are_kept(tree) == (True, True)
    assert tree.nodes is tree.nodes is tree.read_nodes()
    assert np.shares_memory(tree.value, tree.read_values())
    assert nodes.tobytes() == tree.nodes.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        nodes["threshold"] = 0.0


def test_written_values_are_predicted():
    X, y = problem(3)
    fitted = DecisionTreeClassifier(random_state=0).fit(X, y)
    fitted.tree_.value[:] = 0.5
    assert_array_equal(fitted.tree_.predict(X), np.full((300, 3), 0.5))
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).tree_.value, fitted.tree_.value)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(3, oob_score=True, random_state=0),
        RandomForestRegressor(3, oob_score=True, random_state=0),
        ExtraTreesClassifier(3, random_state=0),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 30])
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_a_forest_leaves_its_trees_compact(forest, n_classes):
    X, y = problem(n_classes)
    forest.fit(X, y)
    forest.predict(X)
    forest.apply(X)
    forest.decision_path(X[:5])
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
    loaded = pickle.loads(pickle.dumps(forest))
    for ours, theirs in zip(forest.estimators_, loaded.estimators_):
        assert are_kept(ours.tree_) == (False, False)
        assert ours.tree_.read_nodes().tobytes() == theirs.tree_.nodes.tobytes()
        assert_array_equal(float_bits(ours.tree_.read_values()), float_bits(theirs.tree_.value))
