"""Optimal trees by brute force: every tree over 0/1 columns, by the definition.

Sets of rows are integers, bit ``i`` for row ``i``, so that equal sets are met once.
"""

from functools import cache

import numpy as np


def best_errors(X, y, weights, *, max_depth, max_nodes, min_samples_leaf=1, min_weight_leaf=1):
    """Least weighted error of a tree with at most ``n`` inner nodes, for n = 0 .. max_nodes."""
    columns = [_as_set(column) for column in np.asarray(X, dtype=bool).T]
    classes = [(_as_set(y == label), label) for label in np.unique(y)]
    weights = [int(w) for w in weights]

    def leaf_error(rows):
        by_class = [_weight(rows & members, weights) for members, _ in classes]
        return sum(by_class) - max(by_class)

    @cache
    def solve(rows, depth):
        errors = np.full(max_nodes + 1, leaf_error(rows))
        if depth == 0:
            return errors
        for column in columns:
            sides = rows & ~column, rows & column
            if min(side.bit_count() for side in sides) < min_samples_leaf:
                continue
            if min(_weight(side, weights) for side in sides) < min_weight_leaf:
                continue
            left, right = (solve(side, depth - 1) for side in sides)
            for n in range(1, max_nodes + 1):
                errors[n] = min(errors[n], min(left[i] + right[n - 1 - i] for i in range(n)))
        return errors

    return solve((1 << len(X)) - 1, max_depth)


def _as_set(mask):
    return sum(1 << int(i) for i in np.flatnonzero(mask))


def _weight(rows, weights):
    return sum(w for i, w in enumerate(weights) if rows >> i & 1)
