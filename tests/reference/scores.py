"""Scores of ways to separate a node's rows, by definition, many ways at a time.

``parted`` is (n_ways, n_rows), true for the rows on one side; neither side is empty. ``y`` is
(n_rows, n_outputs): classes (uint8) or integers. ``w`` are integer weights.
"""

import numpy as np
from scipy.special import xlogy

CLASSIFICATION = ("binary_gini", "gini", "entropy", "chi_square")
REGRESSION = ("squared_error", "poisson", "absolute_error")


def scores(criterion, parted, y, w):
    sides = [parted * w, ~parted * w]
    return {
        "binary_gini": lambda: separation(sides, y == 1),
        "gini": lambda: by_class(sides, y, lambda t, v: t**2 / v),
        "entropy": lambda: by_class(sides, y, lambda t, v: (xlogy(t, t) - xlogy(t, v)) / np.log(2)),
        "chi_square": lambda: chi_square(sides, y),
        "squared_error": lambda: separation(sides, y),
        "poisson": lambda: poisson(sides, y),
        "absolute_error": lambda: -sum(absolute_error(side, y) for side in sides),
    }[criterion]()


def separation(sides, y):
    """D^2 / (w_L w_R), exact until the quotient; D = S_L w_R - S_R w_L."""
    (w_left, w_right), (left, right) = totals(sides), [exact(side) @ exact(y) for side in sides]
    d = left * w_right[:, None] - right * w_left[:, None]
    return ((d**2).sum(axis=1) / (w_left * w_right)).astype(float)


def exact(a):
    return np.asarray(a).astype(np.int64).astype(object)


def totals(sides):
    return [exact(side).sum(axis=1) for side in sides]


def class_weights(side, y):
    """(n_ways, n_outputs, n_classes)"""
    return np.stack([side @ (y == c) for c in range(y.max() + 1)], axis=-1).astype(float)


def by_class(sides, y, term):
    return sum(
        term(class_weights(side, y), side.sum(axis=1)[:, None, None].astype(float)).sum(axis=(1, 2))
        for side in sides
    )


def chi_square(sides, y):
    """Pearson's statistic of the table (side, class) over the weight."""
    observed = np.stack([class_weights(side, y) for side in sides], axis=-1)
    total = observed.sum(axis=(2, 3), keepdims=True)
    expected = observed.sum(axis=2, keepdims=True) * observed.sum(axis=3, keepdims=True) / total
    parts = np.divide((observed - expected) ** 2, expected, where=expected > 0,
                      out=np.zeros_like(observed))  # fmt: skip
    return (parts.sum(axis=(2, 3)) / total[:, :, 0, 0]).sum(axis=1)


def poisson(sides, y):
    """Minus infinity where a side has no counts."""
    out = np.zeros(len(sides[0]))
    for side in sides:
        sums, weight = (side @ y).astype(float), side.sum(axis=1)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            term = sums * np.log(np.maximum(sums, 0) / weight)
        out += np.where(sums > 0, term, -np.inf).sum(axis=1)
    return out


def absolute_error(side, y):
    """About the weighted median, any of them."""
    total = np.zeros(len(side))
    for output in y.T:
        order = np.argsort(output)
        below = np.cumsum(side[:, order], axis=1)
        median = output[order][np.argmax(2 * below >= below[:, -1:], axis=1)]
        total += (side * np.abs(output - median[:, None])).sum(axis=1)
    return total


def prefixes(rows, n_rows):
    """The first 1, 2, ... of the rows on one side, over all rows' places."""
    parted = np.zeros((len(rows) - 1, n_rows), bool)
    for p in range(1, len(rows)):
        parted[p - 1 :, rows[p - 1]] = True
    return parted


def subsets(n):
    """All but none and all of n rows, as (2^n - 2, n)."""
    return (np.arange(1, 2**n - 1)[:, None] >> np.arange(n) & 1).astype(bool)


def random_targets(rng, criterion, n, n_outputs=1, n_classes=None):
    """Classes, counts, or integers that are small, far from zero, or nearly all alike."""
    if criterion in CLASSIFICATION:
        if criterion == "binary_gini":
            n_classes = 2
        n_classes = n_classes or int(rng.choice([2, 3, 9, 20]))
        share = rng.dirichlet(np.full(n_classes, 0.7))
        return rng.choice(n_classes, (n, n_outputs), p=share).astype(np.uint8)
    kind = rng.integers(4)
    if criterion == "poisson":
        return rng.poisson([0.2, 3, 1000, 10**8][kind], (n, n_outputs)).astype(np.int64)
    if kind == 0:
        return rng.integers(0, 2, (n, n_outputs))
    if kind == 1:
        return rng.integers(-100, 100, (n, n_outputs))
    return rng.integers(-50, 50, (n, n_outputs)) + (10**12 if kind == 2 else -(10**6))
