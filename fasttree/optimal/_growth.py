"""The `Tree` of a solution: its splits replayed on the training rows."""

import numpy as np

from fasttree.optimal._binarize import NO_CATEGORY
from fasttree.tree._tree import NODE_DTYPE, TREE_LEAF, TREE_UNDEFINED, Tree
from fasttree.tree.fitted._categorical_splits import CategoricalSplits

__all__ = ["grow"]


def grow(solution, splits, codes, weights, unit, n_categories, n_classes):
    """Return the fitted tree of an engine's solution.

    Values are class fractions over the integer weights that the search used, so that the tree
    predicts what was optimised.

    Parameters
    ----------
    solution : ndarray of shape (n_nodes,)
        Nodes in pre-order with fields column, left (column is 0) and right.
    splits : Splits
        What the columns mean.
    codes : ndarray of shape (n_samples,), dtype=int32
        Classes.
    weights : ndarray of shape (n_samples,), dtype=int32
        Weights, in multiples of `unit`.
    unit : float
        Weight of a unit.
    n_categories : ndarray of shape (n_features,), dtype=uint32
        Numbers of categories of the columns.
    n_classes : int
        Number of classes.

    Returns
    -------
    Tree
    """
    nodes = np.zeros(len(solution), dtype=NODE_DTYPE)
    values = np.zeros((len(solution), 1, n_classes))
    rows = {0: np.arange(len(codes))}
    depth = np.zeros(len(solution), dtype=np.intp)
    for k, (column, left, right) in enumerate(solution.tolist()):
        node, here = nodes[k], rows.pop(k)
        by_class = np.bincount(codes[here], weights[here], n_classes)
        total = by_class.sum()
        values[k, 0] = by_class / total
        node["impurity"] = 1.0 - np.square(values[k, 0]).sum()
        node["n_node_samples"] = len(here)
        node["weighted_n_node_samples"] = total * unit
        if column < 0:
            node["left_child"] = node["right_child"] = TREE_LEAF
            node["feature"], node["threshold"] = TREE_UNDEFINED, TREE_UNDEFINED
            continue
        node["left_child"], node["right_child"] = left, right
        node["feature"] = splits.feature[column]
        node["threshold"] = splits.threshold[column]
        goes_right = splits.columns[column, here].view(bool)
        missing_left = splits.missing_go_to_left[column]
        if missing_left < 0:  # none was seen: with the majority
            missing_left = 2 * np.count_nonzero(goes_right) < len(here)
        node["missing_go_to_left"] = missing_left
        rows[left], rows[right] = here[~goes_right], here[goes_right]
        depth[[left, right]] = depth[k] + 1
    tree = Tree(len(n_categories), np.array([n_classes], dtype=np.intp), 1)
    label_splits = _label_splits(solution["column"], splits, n_categories)
    tree.set_nodes(nodes, values, int(depth.max()), label_splits)
    return tree


def _label_splits(columns, splits, n_categories):
    """The splits on categories of the nodes, each of one category; None if there are none."""
    categories = np.append(splits.category, NO_CATEGORY)[columns]  # a leaf's column is -1
    nodes = np.flatnonzero(categories != NO_CATEGORY)
    if not len(nodes):
        return None
    return CategoricalSplits(
        nodes,
        np.arange(len(nodes) + 1),
        categories[nodes].astype(np.uint32),
        np.ones(len(nodes), dtype=np.uint8),
        n_categories,
    )
