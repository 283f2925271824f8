"""What the split of a tree of one split is worth, by criterion.

Each function takes the tree, its column of shape (n_samples, 1), the targets and the weights or
None.
"""

import numpy as np

__all__ = ["chi_square", "gain_about_halves", "improvement"]


def improvement(tree, x, y, sample_weight):
    """Decrease of impurity."""
    return float(tree.improvement[0])


def chi_square(tree, x, y, sample_weight):
    """Chi-square of side and class over the weight, summed over outputs."""
    weights = tree.weighted_n_node_samples
    share = weights[1:, None, None] / weights[0]
    expected = share * tree.value[0]
    deviation = share * tree.value[1:] - expected
    return float(np.sum(deviation**2 / np.where(expected > 0, expected, 1.0)))


def gain_about_halves(tree, x, y, sample_weight):
    """Information gain of the split about the best split of the target, in bits."""
    y = y[:, 0]
    w = np.ones(len(y)) if sample_weight is None else sample_weight
    y, w = (np.ldexp(values, -np.frexp(np.abs(values).max())[1]) for values in (y, w))
    y, w, sides = y[w > 0], w[w > 0], tree.apply(x)[w > 0]
    order = np.argsort(y, kind="stable")
    y, w, sides = y[order], w[order], sides[order]
    mean = np.average(y, weights=w)
    deviation, weight = np.cumsum(w * (y - mean))[:-1], np.cumsum(w)[:-1]
    between = deviation**2 / (weight * (w.sum() - weight))
    between[y[1:] == y[:-1]] = -1.0
    is_high = np.arange(len(y)) > np.argmax(between)
    table = np.array([[w[(sides == s) & (is_high == h)].sum() for h in (0, 1)] for s in (1, 2)])
    return (
        _entropy(table.sum(axis=0)) * w.sum() - sum(_entropy(t) * t.sum() for t in table)
    ) / w.sum()


def _entropy(counts):
    p = counts[counts > 0] / counts.sum()
    return float(-np.sum(p * np.log2(p)))
