"""scikit-learn replayed: with its random stream, fasttree grows scikit-learn's tree.

Exact regime (integers): every field of every node, bit for bit. With floats the order of
scikit-learn's sums decides near ties, so there the best split is judged, and the trees walk
together until the first near tie.
"""

import numpy as np
import pytest
import sklearn.tree

import fasttree
import fasttree.tree
from reference.judge import judge
from reference.problems import random_problem
from reference.trees import assert_same


def replay(problem, **overrides):
    """The problem fitted by fasttree on scikit-learn's random stream."""
    with fasttree.config_context(sklearn_random_stream=True):
        return problem.fit(fasttree.tree, **overrides)


@pytest.mark.cases(2000)
def test_exact_regime_bit_for_bit(seed):
    problem = random_problem(seed, exact=True)
    ours, theirs = replay(problem), problem.fit(sklearn.tree)
    assert_same(ours.tree_, theirs.tree_)
    np.testing.assert_array_equal(ours.predict(problem.X), theirs.predict(problem.X))
    np.testing.assert_array_equal(ours.feature_importances_, theirs.feature_importances_)


@pytest.mark.cases(200)
def test_exact_regime_on_larger_data(seed):
    problem = random_problem(seed, exact=True, rows=(100, 2000))
    assert_same(replay(problem).tree_, problem.fit(sklearn.tree).tree_)


@pytest.mark.cases(1000)
def test_float_regime_splits_are_the_best(seed):
    problem = random_problem(seed, ccp_alpha=0.0)
    judge(replay(problem), problem.X, problem.y, problem.sample_weight, sklearn_rules=True)


@pytest.mark.cases(1000)
def test_float_regime_walks_along(seed):
    """Nodes in scikit-learn's order of growth agree to 1e-9 until rounding parts the ways."""
    problem = random_problem(seed, criteria=("gini", "entropy", "squared_error"), ccp_alpha=0.0)
    ours, theirs = replay(problem), problem.fit(sklearn.tree)
    walk_along(ours.tree_, theirs.tree_)


def walk_along(ours, theirs):
    """Compares two trees numbered alike; the first different split must be as good as theirs.

    Where rounding leaves scikit-learn a pure node that is not quite pure, it tries to split it,
    which uses up random numbers.
    """
    root_impurity = theirs.impurity[0]
    for node in range(min(ours.node_count, theirs.node_count)):
        for name in ("n_node_samples", "weighted_n_node_samples", "value", "impurity"):
            np.testing.assert_allclose(
                getattr(ours, name)[node],
                getattr(theirs, name)[node],
                rtol=1e-9,
                atol=1e-9 * (root_impurity if name == "impurity" else 1),
                err_msg=f"{name} of node {node}",
            )
        if ours.impurity[node] == 0 < theirs.impurity[node]:
            return
        split = [
            (tree.feature[node], tree.threshold[node], tree.missing_go_to_left[node])
            for tree in (ours, theirs)
        ]
        if split[0] != split[1]:
            gains = [decrease(tree, node) for tree in (ours, theirs)]
            np.testing.assert_allclose(*gains, rtol=1e-9, atol=1e-9 * root_impurity)
            return
    assert ours.node_count == theirs.node_count


def decrease(tree, node):
    """Weighted decrease of impurity by a node's split, zero for a leaf."""
    children = [tree.children_left[node], tree.children_right[node]]
    if children[0] == -1:
        return 0.0
    weight, impurity = tree.weighted_n_node_samples, tree.impurity
    kept = sum(weight[child] * impurity[child] for child in children)
    return (weight[node] * impurity[node] - kept) / weight[0]
