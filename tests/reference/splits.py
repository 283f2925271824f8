"""Every cut of a node, in the order that settles ties, and the best of them.

Order (DESIGN, promise 3): lower feature index, lower threshold, missing right before missing left;
"every number | missing" is the highest threshold, infinity. A cut is scored by its weighted
decrease of impurity; the first of the best wins.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from reference.impurity import CLASSIFICATION, impurity, node_value

# Rounding may decide either way about a cut that is this close to a limit.
SLACK = 1e-11


@dataclass(frozen=True)
class Cuts:
    """Candidate cuts of a node; row i of ``goes_left`` says which of the node's rows go left."""

    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    goes_left: np.ndarray

    def __len__(self):
        return len(self.feature)

    def find(self, feature, threshold, missing_left):
        """Index of one cut."""
        (found,) = np.nonzero(
            (self.feature == feature)
            & (self.threshold == threshold)
            & (self.missing_left == missing_left)
        )
        assert len(found) == 1, f"no cut of feature {feature} at {threshold!r} ({missing_left=})"
        return found[0]


@dataclass(frozen=True)
class Limits:
    """What a child must satisfy. ``bounds`` are those of the node's value."""

    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    monotonic_cst: tuple = None
    bounds: tuple = (-inf, inf)


def cuts_of_column(x, resolution=0.0):
    """(thresholds, missing_left, goes_left) of one float32 column.

    Neighbouring values no further apart than ``resolution`` are not separated: zero in fasttree,
    1e-7 in scikit-learn, where also a column without missing values whose range is that small is
    constant.
    """
    missing = np.isnan(x)
    values = np.unique(x[~missing])
    resolution = np.float32(resolution)
    apart = values[1:] > values[:-1] + resolution
    if len(values) and not missing.any() and values[-1] <= values[0] + resolution:
        apart[:] = False
    lower, upper = values[:-1][apart], values[1:][apart]
    thresholds = lower.astype(np.float64) / 2 + upper.astype(np.float64) / 2
    goes_left = x <= lower[:, None]
    if not missing.any():
        n_left = goes_left.sum(axis=1)
        return thresholds, n_left > len(x) - n_left, goes_left
    thresholds, goes_left = np.repeat(thresholds, 2), np.repeat(goes_left, 2, axis=0)
    missing_left = np.arange(len(thresholds)) % 2 == 1
    goes_left[missing_left] |= missing
    if len(values):
        thresholds = np.append(thresholds, inf)
        missing_left = np.append(missing_left, False)
        goes_left = np.vstack([goes_left, ~missing])
    return thresholds, missing_left, goes_left


def all_cuts(X, features=None, resolution=0.0):
    """Every cut of the rows X, feature by feature."""
    features = range(X.shape[1]) if features is None else features
    columns = [cuts_of_column(X[:, f], resolution) for f in features]
    thresholds, missing_left, goes_left = (list(parts) for parts in zip(*columns))
    feature = np.repeat(list(features), [len(t) for t in thresholds])
    return Cuts(
        feature, np.concatenate(thresholds), np.concatenate(missing_left), np.vstack(goes_left)
    )


def improvements(criterion, y, w, goes_left, total_weight=None):
    """Decrease of impurity of each cut, weighted by the node's share of ``total_weight``."""
    total_weight = w.sum() if total_weight is None else total_weight
    left, right = np.where(goes_left, w, 0.0), np.where(goes_left, 0.0, w)
    return (
        w.sum() * impurity(criterion, y, w)
        - left.sum(-1) * impurity(criterion, y, left)
        - right.sum(-1) * impurity(criterion, y, right)
    ) / total_weight


def admissible(criterion, y, w, cuts, limits):
    """Masks of the cuts that surely satisfy the limits, and of those that may within rounding."""
    n_left = cuts.goes_left.sum(axis=1)
    n_right = cuts.goes_left.shape[1] - n_left
    w_left = np.where(cuts.goes_left, w, 0.0).sum(axis=1)
    allowed = np.minimum(n_left, n_right) >= limits.min_samples_leaf
    if (w < 0).any():  # sums are exact, see `signed_weights`
        allowed &= (w_left > 0) & (w_left < w.sum())
    if criterion == "poisson":
        left = cuts.goes_left @ (w[:, None] * y)
        right = (~cuts.goes_left) @ (w[:, None] * y)
        allowed &= (np.minimum(left, right) > 0).all(axis=1)
    # How far each cut is on the right side of its limits, relative to their scale.
    margin = (np.minimum(w_left, w.sum() - w_left) - limits.min_weight_leaf) / w.sum()
    if limits.monotonic_cst is not None:
        constrained = np.asarray(limits.monotonic_cst)[cuts.feature]
        for i in np.nonzero(constrained)[0]:
            left, right = side_values(criterion, y, w, cuts.goes_left[i])
            slope = constrained[i] * (right - left)
            lower, upper = limits.bounds
            inside = min(left - lower, right - lower, upper - left, upper - right)
            margin[i] = min(margin[i], slope, inside)
    return allowed & (margin > SLACK), allowed & (margin >= -SLACK)


def side_values(criterion, y, w, goes_left):
    """The monotonic quantity of both children: share of the second class, mean or median."""
    n_classes = [2] if criterion in CLASSIFICATION else None
    return tuple(
        node_value(criterion, y[side], w[side], n_classes)[0, -1]
        for side in (goes_left, ~goes_left)
    )


def ranks_exactly(criterion, y, w):
    """Whether the engine's score of these targets is exact, so that ties are ties.

    Two-class gini and squared error of one output rank by D²/(w_L w_R): one division of integers
    is correctly rounded, so equal scores are equal doubles.
    """
    integers = np.array_equal(w, np.rint(w)) and np.array_equal(y, np.rint(y))
    ranked_by_quotient = criterion == "squared_error" or (criterion == "gini" and y.max() <= 1)
    return y.shape[1] == 1 and integers and ranked_by_quotient


def exact_scores(y, w, goes_left):
    """D²/(w_L w_R) of each cut, D = S_L w_R - S_R w_L."""
    w_left, s_left = goes_left @ w, goes_left @ (w * y[:, 0])
    w_right, s_right = w.sum() - w_left, w @ y[:, 0] - s_left
    return (s_left * w_right - s_right * w_left) ** 2 / (w_left * w_right)


def tolerance(best, root_impurity):
    """Within which two improvements count as equal (DESIGN, promise 2)."""
    return 1e-9 * abs(best) + 1e-12 * root_impurity


def best_cut(criterion, y, w, cuts, limits=None):
    """Index of the best admissible cut, ties to the first, and its improvement; None if none."""
    _, allowed = admissible(criterion, y, w, cuts, limits or Limits())
    if not allowed.any():
        return None, -inf
    gains = improvements(criterion, y, w, cuts.goes_left)
    if ranks_exactly(criterion, y, w):
        scores, slack = exact_scores(y, w, cuts.goes_left), 0.0
    else:
        scores, slack = gains, tolerance(gains[allowed].max(), impurity(criterion, y, w))
    first = np.flatnonzero(allowed & (scores >= scores[allowed].max() - slack))[0]
    return first, gains[first]
