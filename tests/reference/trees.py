"""Fitted trees compared: same fields, same structure, top of another, order of the nodes."""

import numpy as np

STRUCTURE = ("children_left", "children_right", "feature", "threshold", "missing_go_to_left")
STATISTICS = ("impurity", "n_node_samples", "weighted_n_node_samples", "value")
FIELDS = STRUCTURE + STATISTICS


def fields(tree, names=FIELDS):
    """The node arrays of a tree by name."""
    return {name: np.asarray(getattr(tree, name)) for name in names}


def assert_same(tree, expected, names=FIELDS):
    """Every named field of every node is equal, bit for bit."""
    assert tree.node_count == expected.node_count, (tree.node_count, expected.node_count)
    _assert_same_fields(fields(tree, names), fields(expected, names))
    assert tree.max_depth == expected.max_depth
    assert tree.n_leaves == expected.n_leaves


def assert_top(tree, whole, depth):
    """``tree`` is ``whole`` cut at ``depth``; both are numbered in pre-order."""
    _assert_same_fields(fields(tree), top(whole, depth))


def top(tree, depth):
    """The fields of a tree cut at a depth, renumbered in pre-order."""
    arrays = fields(tree)
    depths = np.asarray(tree.compute_node_depths()) - 1
    kept = depths <= depth
    number = np.cumsum(kept) - 1
    cut = {name: array[kept] for name, array in arrays.items()}
    leaf = (depths[kept] == depth) | (cut["children_left"] == -1)
    for side in ("children_left", "children_right"):
        cut[side] = np.where(leaf, -1, number[cut[side]])
    for name, of_leaf in (("feature", -2), ("threshold", -2.0), ("missing_go_to_left", 0)):
        cut[name] = np.where(leaf, of_leaf, cut[name])
    return cut


def assert_preorder(tree):
    """Nodes are numbered as a depth-first walk, left first, meets them."""
    stack, expected = [0], 0
    while stack:
        node = stack.pop()
        assert node == expected
        expected += 1
        if tree.children_left[node] != -1:
            stack += [tree.children_right[node], tree.children_left[node]]
    assert expected == tree.node_count


def _assert_same_fields(actual, expected):
    for name, array in expected.items():
        assert actual[name].shape == array.shape, (name, actual[name].shape, array.shape)
        different = actual[name] != array
        if different.any():
            node = np.nonzero(different)[0][0]
            raise AssertionError(
                f"{name} of node {node}: {actual[name][node]!r}, expected {array[node]!r}"
            )
