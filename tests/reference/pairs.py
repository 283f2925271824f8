"""Pair counts of 0/1 features and the best trees of depth two, by definition.

Signed weights of samples; the gain of a leaf is its class difference, or nothing, with two
classes, else its largest class weight.
"""

import numpy as np


def pair_matrix(X, weights):
    """Weight of the samples that have both features."""
    return (X * weights[:, None]).T.astype(np.int64) @ X


def leaf_gain(sums):
    """``sums`` of each matrix, (n_matrices, ...)."""
    return np.maximum(sums, 0)[0] if len(sums) == 1 else sums.max(axis=0)


def stump_gain(X, columns, measures, here):
    """The best gain of a set of samples as a leaf or by one more test.

    ``columns`` are the weights of each class matrix, ``measures`` pairs (values, least).
    """
    columns, X = columns[:, here], X[here]
    total, present = columns.sum(axis=1, keepdims=True), columns @ X
    admissible = np.ones(X.shape[1], bool)
    for values, least in measures:
        of_present = values[here] @ X
        admissible &= (of_present >= least) & (values[here].sum() - of_present >= least)
    gains = leaf_gain(present) + leaf_gain(total - present)
    return max(int(leaf_gain(total)[0]), gains[admissible].max(initial=0))


def best_gains(X, columns, measures):
    """(gains by number of inner nodes, stumps without each feature, stumps with it)."""
    leaf = max(0, int(leaf_gain(columns.sum(axis=1))))
    gains, absent, present = [leaf] * 4, [], []
    for j in range(X.shape[1]):
        sides = [X[:, j] == 0, X[:, j] == 1]
        stumps = [stump_gain(X, columns, measures, side) for side in sides]
        absent.append(stumps[0])
        present.append(stumps[1])
        if any(values[side].sum() < least for values, least in measures for side in sides):
            continue
        leaves = [int(leaf_gain(columns[:, side].sum(axis=1))) for side in sides]
        gains[1] = max(gains[1], sum(leaves))
        gains[2] = max(gains[2], leaves[0] + stumps[1], stumps[0] + leaves[1])
        gains[3] = max(gains[3], sum(stumps))
    for n in (1, 2, 3):
        gains[n] = max(gains[n], gains[n - 1])
    return gains, np.array(absent), np.array(present)


def similarity_bounds(rows, weights, diagonal, total, g, nested_only, start):
    """Raises ``start``, bounds of the samples without and with feature g.

    ``rows`` are (own, positive, negative), each None or (2, n_features): value less weight of the
    sets with and without feature h.
    """
    own, positive, negative = rows
    bounds = list(start)
    for side, cousins in enumerate((negative, positive)):
        inside = diagonal[g] if side else total - diagonal[g]
        shared = np.asarray(weights) if side else np.asarray(diagonal) - weights
        for row in (own, cousins):
            if row is None:
                continue
            for values, both in ((row[0], shared), (row[1], inside - shared)):
                usable = both >= inside if nested_only else both >= 0
                bounds[side] = max([bounds[side], *(values + both)[usable]])
    return bounds
