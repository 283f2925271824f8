"""Cut trees and what is summed over their leaves, against definitions in Python."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import ParameterGrid

import fasttree
import fasttree.tree
from fasttree.tree.pruning._pruning import prune_tree
from fasttree.tree.pruning._settings import LIMITS, SettingTable, is_valid_limit
from fasttree.tree.pruning._tuning import (
    NO_BUDGET,
    SETTING_DTYPE,
    Cuts,
    class_weights,
    path_errors,
    reduced_error_mask,
    weighted_table,
)
from reference.problems import random_problem
from reference.trees import assert_same
from reference.tuning import (
    effective_rows,
    least_error,
    leaves_below,
    naive_cut,
    random_limits,
)

UNLIMITED = dict(
    max_depth=None,
    min_samples_split=2,
    min_impurity_decrease=0.0,
    max_leaf_nodes=None,
    ccp_alpha=0.0,
)


def as_settings(limits, n_samples=1):
    """Settings from dicts of limits; what one does not name does not limit."""
    table = SettingTable(
        [{name: [value] for name, value in one.items()} for one in limits], UNLIMITED
    )
    return table.numbers(n_samples)


def integer_tree(seed, n_rows=200):
    """A tree with many equal improvements."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n_rows, 3)).astype(float)
    y = rng.integers(0, 3, n_rows)
    return fasttree.tree.DecisionTreeClassifier().fit(X, y).tree_, rng


@pytest.mark.cases(400)
def test_cut_tree_is_the_refitted_tree(seed):
    """Both splitters, draws of features, weights, missing values, all criteria; every field."""
    rng = np.random.default_rng([seed, 6])
    problem = random_problem(seed, **UNLIMITED)
    whole = problem.fit(fasttree.tree)
    for _ in range(4):
        limits = random_limits(rng, whole.tree_)
        if rng.random() < 0.3:
            limits["min_samples_split"] = float(rng.uniform(0.01, 0.4))
        expected = problem.fit(fasttree.tree, **limits)
        cut = problem.fit(fasttree.tree).prune(**limits)
        assert_same(cut.tree_, expected.tree_)
        assert cut.tree_.nodes.tobytes() == expected.tree_.nodes.tobytes()
        assert cut.get_params() == expected.get_params()


@pytest.mark.cases(300)
def test_masks_and_sums_follow_the_definition(seed):
    tree, rng = integer_tree(seed, int(rng_size(seed)))
    limits = [random_limits(rng, tree) for _ in range(40)]
    settings = as_settings(limits)
    quantities = np.zeros((3, tree.node_count, 2))
    quantities[0, :, 0] = rng.integers(0, 1000, tree.node_count)
    quantities[1, :, 0] = rng.random(tree.node_count) * 10.0 ** rng.integers(-9, 9)
    quantities[2] = quantities[1]
    quantities[2, 0, 0] *= 1e12  # a root far above the leaves
    cuts = Cuts(tree)
    sums = cuts.sums(settings, quantities)
    n_leaves = cuts.n_leaves(settings)
    for i, one in enumerate(limits):
        split = naive_cut(tree, **one)
        leaves = leaves_below(tree, split, 0)
        assert set(np.flatnonzero(~cuts.mask(settings[i : i + 1]))) == split, one
        assert n_leaves[i] == len(leaves)
        for k in range(3):
            exact = sum(Fraction(value) for value in quantities[k, leaves, 0])
            assert_allclose(sums[i, k], float(exact), rtol=3e-16)
        assert sums[i, 0] == quantities[0, leaves, 0].sum()


def rng_size(seed):
    return np.random.default_rng([seed, 1]).integers(2, 300)


def test_a_tree_without_splits():
    tree = fasttree.tree.DecisionTreeClassifier().fit([[0.0], [1.0]], [1, 1]).tree_
    settings = as_settings([UNLIMITED, UNLIMITED | {"max_depth": 1, "max_leaf_nodes": 2}])
    assert Cuts(tree).n_leaves(settings).tolist() == [1, 1]
    assert Cuts(tree).mask(settings[1:]).tolist() == [True]


def test_sums_of_equal_trees_are_equal():
    """However their splits are reached: by depth, rows, budget, decrease or alpha."""
    tree, rng = integer_tree(0)
    quantities = rng.random((1, tree.node_count, 2)) * [1.0, 1e-17]
    limits = [random_limits(rng, tree) for _ in range(3000)]
    sums = Cuts(tree).sums(as_settings(limits), quantities)[:, 0]
    by_tree = {}
    for i in range(len(limits)):
        mask = Cuts(tree).mask(as_settings([limits[i]])).tobytes()
        assert by_tree.setdefault(mask, sums[i]) == sums[i]
    assert len(by_tree) > 50


@pytest.mark.parametrize("dtype", [np.int64, float])
def test_quantities_of_nodes(dtype):
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 5, (300, 4)).astype(np.float32), rng.integers(0, 4, 300)
    weight = None if dtype is np.int64 else rng.random(300)
    w = np.ones(300) if weight is None else weight
    model = fasttree.tree.DecisionTreeClassifier(max_depth=6).fit(X[:200], y[:200])
    tree, leaves = model.tree_, model.apply(X)
    path = model.decision_path(X).toarray() == 1
    codes = np.where(y == 3, -1, y).astype(np.int64)
    weights = class_weights(tree, leaves, codes, weight)
    expected = path.T @ (w[:, None] * (codes[:, None] == np.arange(4)))
    assert_allclose(weights.sum(axis=2), expected, rtol=1e-15)
    table = rng.random((tree.node_count, 4))
    assert_allclose(
        weighted_table(weights, table).sum(axis=1), (expected * table).sum(axis=1), rtol=1e-15
    )


@pytest.mark.parametrize("squared", [True, False])
def test_errors_of_nodes(squared):
    rng = np.random.default_rng(2)
    X, y = rng.random((200, 3)).astype(np.float32), rng.random((200, 2))
    w = rng.random(200)
    model = fasttree.tree.DecisionTreeRegressor(max_depth=5).fit(X, y)
    path = model.decision_path(X).toarray()
    for k in range(2):
        error = np.abs(y[:, [k]] - model.tree_.value[:, k, 0]) ** (2 if squared else 1)
        errors = path_errors(model.tree_, model.apply(X), y[:, k].copy(), k, squared, w)
        assert_allclose(errors.sum(axis=1), (path * error * w[:, None]).sum(axis=0), rtol=1e-14)


@pytest.mark.cases(100)
def test_reduced_error_is_least(seed):
    tree, rng = integer_tree(seed, 60)
    error = rng.integers(0, 20, tree.node_count)
    mask = reduced_error_mask(tree, np.column_stack([error, np.zeros(len(error))]).astype(float))
    split = set(np.flatnonzero(~mask))
    leaves = leaves_below(tree, split, 0)
    assert (error[leaves].sum(), len(leaves)) == least_error(tree, error)


def test_pruned_nodes_are_those_of_the_mask():
    tree, _ = integer_tree(3)
    settings = as_settings([UNLIMITED | {"max_leaf_nodes": 7, "ccp_alpha": 1e-3}])
    cuts = Cuts(tree)
    assert prune_tree(tree, cuts.mask(settings)).n_leaves == cuts.n_leaves(settings)[0] <= 7


# ---- settings


def test_settings_are_in_the_order_of_parameter_grid():
    grids = [
        {
            "min_samples_split": [2, 0.25, 7],
            "max_depth": [None, 3],
            "criterion": ["gini", "entropy"],
        },
        {"ccp_alpha": [0.0, 0.5], "max_leaf_nodes": [None, 4]},
        {},
    ]
    defaults = UNLIMITED | {"min_impurity_decrease": 0.125}
    table = SettingTable(grids, defaults)
    settings = table.numbers(n_samples=41)
    candidates = list(ParameterGrid(grids))
    assert table.size == len(candidates) == len(settings)
    for params, setting in zip(candidates, settings):
        limits = defaults | params
        assert setting["min_samples_split"] == effective_rows(limits["min_samples_split"], 41)
        assert setting["min_impurity_decrease"] == 0.125
        assert setting["ccp_alpha"] == limits["ccp_alpha"]
        for name in ("max_depth", "max_leaf_nodes"):
            assert setting[name] == (NO_BUDGET if limits[name] is None else limits[name])
    groups = table.groups(LIMITS)
    assert [params for params, _ in groups] == [{"criterion": "gini"}, {"criterion": "entropy"}, {}]
    assert sorted(np.concatenate([members for _, members in groups])) == list(range(table.size))
    for params, members in groups:
        assert {candidates[i].get("criterion") for i in members} == {params.get("criterion")}


def test_groups_of_parameters_that_cannot_be_hashed():
    weights = [{0: 1}, {0: 2}]
    table = SettingTable([{"class_weight": weights, "max_depth": [1, 2]}], UNLIMITED)
    assert [
        (params["class_weight"], list(members)) for params, members in table.groups(LIMITS)
    ] == [
        ({0: 1}, [0, 1]),
        ({0: 2}, [2, 3]),
    ]


@pytest.mark.parametrize("name", LIMITS)
def test_validity_of_limits_is_the_estimators(name):
    values = [None, 0, 1, 2, -1, 0.0, 0.5, 1.0, 1.5, -0.5, float("nan"), float("inf"), True, "2"]
    values += [np.int32(3), np.float32(0.25), np.int64(0), [1]]
    for value in values:
        estimator = fasttree.tree.DecisionTreeClassifier(**{name: value})
        try:
            estimator.fit([[0.0], [1.0]], [0, 1])
        except (ValueError, TypeError):
            valid = False
        else:
            valid = True
        assert is_valid_limit(name, value) == valid, value
        assert SettingTable([{name: [value]}], UNLIMITED).is_valid.tolist() == [valid], value


def test_limits_out_of_range_are_refused():
    tree, _ = integer_tree(0)
    settings = as_settings([UNLIMITED])
    for name, value in (("max_leaf_nodes", 0), ("ccp_alpha", np.nan)):
        bad = settings.copy()
        bad[name] = value
        with pytest.raises(ValueError):
            Cuts(tree).mask(bad)
    with pytest.raises(ValueError, match="quantities"):
        Cuts(tree).sums(settings, np.zeros((1, 3, 2)))
    with pytest.raises(ValueError, match="leaf"):
        class_weights(tree, np.array([tree.node_count]), np.array([0]))
    with pytest.raises(ValueError, match="code"):
        class_weights(tree, np.array([0]), np.array([3]))
    assert Cuts(tree).sums(np.empty(0, SETTING_DTYPE), np.zeros((1, tree.node_count, 2))).shape == (
        0,
        1,
    )
    assert_array_equal(Cuts(tree).mask(settings), tree.children_left == -1)
