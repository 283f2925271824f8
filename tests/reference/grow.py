"""A whole tree, grown naively: depth-first, every feature, the best split of each node."""

from math import inf
from types import SimpleNamespace

import numpy as np

from reference.impurity import impurity
from reference.splits import all_cuts, best_cut
from reference.task import Task
from reference.trees import FIELDS


def grow(estimator, X, y, sample_weight=None):
    """The tree that the estimator's parameters ask for, with scikit-learn's array attributes.

    Only for ``splitter="best"`` over all features, without ``max_leaf_nodes`` and pruning.
    """
    task = Task.of(estimator, X, y, sample_weight)
    nodes = []
    _grow_node(task, nodes, np.arange(len(task.X)), 0, (-inf, inf))
    tree = SimpleNamespace(**{name: np.array([node[name] for node in nodes]) for name in FIELDS})
    tree.node_count = len(nodes)
    tree.max_depth = max(node["depth"] for node in nodes)
    tree.n_leaves = int((tree.children_left == -1).sum())
    return tree


def _grow_node(task, nodes, rows, depth, bounds):
    """Appends the node and its descendants in pre-order; returns its number."""
    y, w = task.y[rows], task.w[rows]
    number = len(nodes)
    node = dict(
        children_left=-1,
        children_right=-1,
        feature=-2,
        threshold=-2.0,
        missing_go_to_left=0,
        impurity=impurity(task.criterion, y, w),
        n_node_samples=len(rows),
        weighted_n_node_samples=w.sum(),
        value=task.value(rows, bounds),
        depth=depth,
    )
    nodes.append(node)
    if task.is_terminal(rows, depth):
        return number
    cuts = all_cuts(task.X[rows])
    best, gain = best_cut(task.criterion, y, w, cuts, task.limits(bounds))
    if best is None or gain * w.sum() / task.total_weight < task.min_impurity_decrease:
        return number
    feature, goes_left = cuts.feature[best], cuts.goes_left[best]
    left, right = task.child_bounds(rows, goes_left, feature, bounds)
    node |= dict(
        feature=feature,
        threshold=cuts.threshold[best],
        missing_go_to_left=cuts.missing_left[best],
        children_left=_grow_node(task, nodes, rows[goes_left], depth + 1, left),
        children_right=_grow_node(task, nodes, rows[~goes_left], depth + 1, right),
    )
    return number
