"""The criteria by definition: impurity and value of weighted rows.

``y`` is (n_rows, n_outputs): class codes for classification, numbers for regression. ``w`` is
(..., n_rows): each leading index is one set of weights, so that all the candidates of a node are
judged in one call. A weight of zero takes the row out. Several outputs are averaged.
"""

import numpy as np
from scipy.special import xlogy

CLASSIFICATION = ("gini", "entropy", "log_loss")
REGRESSION = ("squared_error", "absolute_error", "poisson")


def impurity(criterion, y, w):
    """Impurity of the rows under each set of weights."""
    of_output = _CRITERIA[criterion]
    return np.mean([of_output(y_k, w) for y_k in y.T], axis=0)


def node_value(criterion, y, w, n_classes=None):
    """(n_outputs, max_n_classes) class fractions, or (n_outputs, 1) means or medians."""
    if criterion in CLASSIFICATION:
        value = np.zeros((y.shape[1], max(n_classes)))
        for k, y_k in enumerate(y.T):
            value[k, : n_classes[k]] = np.bincount(y_k, w, n_classes[k]) / w.sum()
        return value
    centre = weighted_median if criterion == "absolute_error" else _mean
    return np.array([[centre(y_k, w)] for y_k in y.T])


def weighted_median(y, w):
    """The value at which half of the weight is reached; halfway to the next on an exact hit."""
    order = np.argsort(y, kind="stable")
    y, w = y[order], np.take(w, order, axis=-1)
    reached = np.cumsum(w, axis=-1)
    total = reached[..., -1:]
    slack = 1e-12 * total
    lower = np.argmax(reached >= total / 2 - slack, axis=-1)
    upper = np.argmax(reached > total / 2 + slack, axis=-1)
    return (y[lower] + y[upper]) / 2


def _mean(y, w):
    return (w @ y) / w.sum(-1)


def _fractions(y, w):
    return (w @ np.eye(y.max() + 1)[y]) / w.sum(-1)[..., None]


def _gini(y, w):
    p = _fractions(y, w)
    return (p * (1 - p)).sum(-1)


def _entropy(y, w):
    p = _fractions(y, w)
    return -xlogy(p, p).sum(-1) / np.log(2)


def _squared_error(y, w):
    return (w * (y - _mean(y, w)[..., None]) ** 2).sum(-1) / w.sum(-1)


def _absolute_error(y, w):
    return (w * np.abs(y - weighted_median(y, w)[..., None])).sum(-1) / w.sum(-1)


def _poisson(y, w):
    """Half the Poisson deviance; of zeros only it is zero."""
    mean = _mean(y, w)[..., None]
    positive = mean > 0
    deviance = xlogy(y, y / np.where(positive, mean, 1))
    return np.where(positive[..., 0], (w * deviance).sum(-1) / w.sum(-1), 0.0)


_CRITERIA = {
    "gini": _gini,
    "entropy": _entropy,
    "log_loss": _entropy,
    "squared_error": _squared_error,
    "absolute_error": _absolute_error,
    "poisson": _poisson,
}
