"""Cutting by the definition: a tree grown again from its own splits, under tighter limits."""

import heapq
from math import ceil, fsum, inf

import numpy as np

EPSILON = np.finfo(np.float64).eps


def naive_cut(
    tree,
    max_depth=None,
    min_samples_split=2,
    min_impurity_decrease=0.0,
    max_leaf_nodes=None,
    ccp_alpha=0.0,
):
    """Ids of the nodes that remain split, by best-first growth and then weakest links."""
    depth = tree.compute_node_depths() - 1
    improvement = tree.improvement

    def may_split(node):
        return (
            tree.children_left[node] != -1
            and (max_depth is None or depth[node] < max_depth)
            and tree.n_node_samples[node] >= min_samples_split
            and (min_impurity_decrease == 0 or improvement[node] + EPSILON >= min_impurity_decrease)
        )

    split, frontier = set(), [(-improvement[0], 0)] if may_split(0) else []
    budget = inf if max_leaf_nodes is None else max_leaf_nodes - 1
    while frontier and len(split) < budget:
        node = heapq.heappop(frontier)[1]  # the lower id of equal improvements
        split.add(node)
        for child in (tree.children_left[node], tree.children_right[node]):
            if may_split(child):
                heapq.heappush(frontier, (-improvement[child], child))
    return prune(tree, split, ccp_alpha) if ccp_alpha else split


def leaves_below(tree, split, node):
    """Leaves of a branch, ascending, when the nodes of `split` are the inner ones."""
    if node not in split:
        return [node]
    left, right = tree.children_left[node], tree.children_right[node]
    return leaves_below(tree, split, left) + leaves_below(tree, split, right)


def prune(tree, split, ccp_alpha):
    """What is left of `split` after every link at most as strong as `ccp_alpha` is cut."""
    risk = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    split = set(split)
    while split:
        strength = {}
        for node in split:
            below = leaves_below(tree, split, node)
            strength[node] = (risk[node] - fsum(risk[below])) / (len(below) - 1)
        weakest = min(split, key=lambda node: (strength[node], node))
        if strength[weakest] > ccp_alpha:
            break
        split -= {node for node in split if is_below(tree, node, weakest)}
    return split


def is_below(tree, node, ancestor):
    """Ids are in depth-first order: a branch is a range of them."""
    last = ancestor
    while tree.children_right[last] != -1:
        last = tree.children_right[last]
    return ancestor <= node <= last


def effective_rows(limit, n_samples, min_samples_leaf=1):
    """A limit on rows as the builders apply it."""

    def rows(value):
        return value if isinstance(value, (int, np.integer)) else ceil(value * n_samples)

    return max(2, rows(limit), 2 * rows(min_samples_leaf))


def least_error(tree, error, node=0):
    """(smallest sum of errors over leaves, smallest number of leaves that attains it)."""
    left, right = tree.children_left[node], tree.children_right[node]
    if left == -1:
        return error[node], 1
    below = [
        sum(pair) for pair in zip(least_error(tree, error, left), least_error(tree, error, right))
    ]
    return min((error[node], 1), tuple(below))


def random_limits(rng, tree):
    """One setting of the five limits, each often without effect; values on the edge are likely."""
    gains = np.maximum(tree.improvement, 0)

    def perhaps(default, draw):
        return draw() if rng.random() < 0.5 else default

    return dict(
        max_depth=perhaps(None, lambda: int(rng.integers(1, tree.max_depth + 3))),
        min_samples_split=perhaps(2, lambda: int(rng.choice(tree.n_node_samples)) + 1),
        min_impurity_decrease=perhaps(
            0.0, lambda: float(rng.choice(gains) * rng.choice([1.0, rng.random()]))
        ),
        max_leaf_nodes=perhaps(None, lambda: int(rng.integers(2, tree.n_leaves + 3))),
        ccp_alpha=perhaps(0.0, lambda: float(rng.choice(gains) * rng.random())),
    )
