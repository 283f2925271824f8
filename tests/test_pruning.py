"""Minimal cost-complexity pruning: scikit-learn's path to the last bit, and a naive twin."""

import _thread
import threading

import numpy as np
import pytest
import sklearn.tree
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import _tree as sklearn_tree

from fasttree.tree._tree import NODE_DTYPE, Tree
from fasttree.tree.pruning._pruning import ccp_pruning_path, prune_ccp, prune_tree


def from_sklearn(tree):
    """fasttree's `Tree` with the contents of scikit-learn's."""
    state = tree.__getstate__()
    nodes = np.zeros(tree.node_count, dtype=NODE_DTYPE)
    for name in NODE_DTYPE.names:
        nodes[name] = state["nodes"][name]
    result = Tree(tree.n_features, np.array(tree.n_classes), tree.n_outputs)
    result.set_nodes(nodes, state["values"].copy(), tree.max_depth)
    return result


def random_sklearn_tree(seed):
    """A tree on random data: both tasks, ties in X and y, weights, both growth orders."""
    rng = np.random.default_rng(seed)
    n, n_features = rng.integers(2, 300), rng.integers(1, 6)
    X = rng.integers(0, rng.choice([3, 10, 1000]), (n, n_features))
    weight = rng.random(n) if rng.random() < 0.3 else None
    limits = {"max_leaf_nodes": int(rng.integers(2, 40))} if rng.random() < 0.4 else {}
    n_outputs = int(rng.integers(1, 3))
    if rng.random() < 0.5:
        y = rng.integers(0, rng.integers(2, 5), (n, n_outputs))
        model = sklearn.tree.DecisionTreeClassifier(random_state=seed, **limits)
    else:
        y = rng.standard_normal((n, n_outputs))
        if rng.random() < 0.5:
            y = np.round(y)
        criterion = rng.choice(["squared_error", "absolute_error"])
        model = sklearn.tree.DecisionTreeRegressor(random_state=seed, criterion=criterion, **limits)
    return model.fit(X, y, sample_weight=weight).tree_


def naive_path(tree):
    """The path by its definition: sums formed anew for every node at every step."""
    is_leaf = tree.children_left < 0
    risk = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]

    def leaves(node):
        if is_leaf[node]:
            return [node]
        return leaves(tree.children_left[node]) + leaves(tree.children_right[node])

    def inner(node):
        if is_leaf[node]:
            return []
        below = inner(tree.children_left[node]) + inner(tree.children_right[node])
        return [node, *below]

    alphas, impurities = [0.0], [risk[leaves(0)].sum()]
    while not is_leaf[0]:
        links = {i: (risk[i] - risk[leaves(i)].sum()) / (len(leaves(i)) - 1) for i in inner(0)}
        weakest = min(links, key=links.get)
        is_leaf[weakest] = True
        alphas.append(links[weakest])
        impurities.append(risk[leaves(0)].sum())
    return alphas, impurities


@pytest.mark.parametrize("seed", range(12))
def test_path_by_definition(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)  # no two links are equal
    model = sklearn.tree.DecisionTreeRegressor(random_state=seed, min_samples_leaf=1 + seed % 3)
    tree = from_sklearn(model.fit(X, y, sample_weight=rng.random(60)).tree_)
    alphas, impurities = ccp_pruning_path(tree)
    naive_alphas, naive_impurities = naive_path(tree)
    assert_allclose(alphas, naive_alphas, atol=1e-12)
    assert_allclose(impurities, naive_impurities, atol=1e-12)


def test_lowest_id_is_cut_first():
    nodes = np.zeros(7, dtype=NODE_DTYPE)  # the root and two equal subtrees of depth 1
    nodes["left_child"] = [1, 2, -1, -1, 5, -1, -1]
    nodes["right_child"] = [4, 3, -1, -1, 6, -1, -1]
    nodes["feature"] = [0, 0, -2, -2, 0, -2, -2]
    nodes["weighted_n_node_samples"] = [4, 2, 1, 1, 2, 1, 1]
    nodes["impurity"] = [1.0, 0.5, 0, 0, 0.5, 0, 0]
    tree = Tree(1, np.array([1]), 1)
    tree.set_nodes(nodes, np.zeros((7, 1, 1)), 2)
    alphas, impurities = ccp_pruning_path(tree)
    assert_array_equal(alphas, [0, 0.25, 0.25, 0.5])
    assert_array_equal(impurities, [0, 0.25, 0.5, 1])
    assert prune_ccp(tree, 0.25).node_count == 3
    assert prune_ccp(tree, 0.24).node_count == 7


@pytest.mark.parametrize("seed", range(150))
def test_path_and_trees_are_scikit_learns(seed):
    expected = random_sklearn_tree(seed)
    tree = from_sklearn(expected)
    alphas, impurities = ccp_pruning_path(tree)
    path = sklearn_tree.ccp_pruning_path(expected)
    assert_array_equal(alphas, path["ccp_alphas"])
    assert_array_equal(impurities, path["impurities"])

    rng = np.random.default_rng(seed)
    for alpha in [0.0, rng.choice(alphas), rng.random() * alphas.max(), alphas.max() + 1]:
        theirs = sklearn_tree.Tree(expected.n_features, expected.n_classes, expected.n_outputs)
        sklearn_tree._build_pruned_tree_ccp(theirs, expected, alpha)
        ours = prune_ccp(tree, alpha)
        for name in NODE_DTYPE.names:
            assert_array_equal(ours.nodes[name], theirs.__getstate__()["nodes"][name])
        assert_array_equal(ours.value, theirs.value)
        assert ours.max_depth == theirs.max_depth


def test_path_of_a_large_tree():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4000, 5)), rng.standard_normal(4000)
    expected = sklearn.tree.DecisionTreeRegressor(random_state=0).fit(X, y).tree_
    path = sklearn_tree.ccp_pruning_path(expected)
    alphas, impurities = ccp_pruning_path(from_sklearn(expected))
    assert_array_equal(alphas, path["ccp_alphas"])
    assert_array_equal(impurities, path["impurities"])


def test_impurities_that_overflowed_end_the_path():
    tree = from_sklearn(random_sklearn_tree(3))
    for bad in [np.nan, np.inf, -np.inf]:
        nodes = np.array(tree.nodes)
        nodes["impurity"][tree.node_count // 2] = bad
        damaged = Tree(tree.n_features, tree.n_classes, tree.n_outputs)
        damaged.set_nodes(nodes, tree.value.copy(), tree.max_depth)
        alphas, _ = ccp_pruning_path(damaged)
        assert len(alphas) <= tree.node_count
        assert prune_ccp(damaged, 1.0).node_count <= tree.node_count


# ---- cutting at given nodes


@pytest.mark.parametrize("seed", range(20))
def test_cut_tree(seed):
    tree = from_sklearn(random_sklearn_tree(seed))
    rng = np.random.default_rng(seed)
    mask = rng.random(tree.node_count) < 0.2
    cut = prune_tree(tree, mask)

    def compare(node, original, depth):
        for name in ["impurity", "n_node_samples", "weighted_n_node_samples"]:
            assert cut.nodes[name][node] == tree.nodes[name][original]
        assert_array_equal(cut.value[node], tree.value[original])
        if mask[original] or tree.children_left[original] < 0:
            assert cut.nodes[node].item()[:4] == (-1, -1, -2, -2.0)
            assert cut.missing_go_to_left[node] == 0
            return node, depth
        for name in ["feature", "threshold", "missing_go_to_left"]:
            assert cut.nodes[name][node] == tree.nodes[name][original]
        assert cut.children_left[node] == node + 1
        last, left_depth = compare(node + 1, tree.children_left[original], depth + 1)
        assert cut.children_right[node] == last + 1
        last, right_depth = compare(last + 1, tree.children_right[original], depth + 1)
        return last, max(left_depth, right_depth)

    last, depth = compare(0, 0, 0)
    assert cut.node_count == last + 1
    assert cut.max_depth == depth


def test_cut_leaves_the_tree_alone():
    tree = from_sklearn(random_sklearn_tree(1))
    before = tree.nodes.copy(), tree.value.copy()
    cut = prune_tree(tree, np.arange(tree.node_count) == 0)
    cut.value[:] = -1
    assert cut.node_count == 1
    assert_array_equal(tree.nodes, before[0])
    assert_array_equal(tree.value, before[1])
    whole = prune_tree(tree, np.zeros(tree.node_count))
    assert whole.node_count == tree.node_count


def test_mask_of_the_wrong_length():
    tree = from_sklearn(random_sklearn_tree(1))
    with pytest.raises(ValueError, match="leaves_mask"):
        prune_tree(tree, np.zeros(tree.node_count + 1, dtype=bool))


def test_interrupt():
    """Pruning a chain of this length would take minutes."""
    n = 300_000
    nodes = np.zeros(2 * n + 1, dtype=NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["feature"] = -2
    split = np.arange(0, 2 * n, 2)
    nodes["feature"][split] = 0
    nodes["left_child"][split], nodes["right_child"][split] = split + 1, split + 2
    nodes["weighted_n_node_samples"] = 1.0
    tree = Tree(1, np.array([1]), 1)
    tree.set_nodes(nodes, np.zeros((2 * n + 1, 1, 1)), n)
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        prune_ccp(tree, 0.0)
    timer.join()
