"""Scores of numbers, for all cut trees at once: means of losses, and medians of errors."""

from functools import partial

import numpy as np
from sklearn.metrics import (
    d2_absolute_error_score,
    d2_pinball_score,
    d2_tweedie_score,
    explained_variance_score,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_squared_error,
    mean_squared_log_error,
    mean_tweedie_deviance,
    median_absolute_error,
    r2_score,
    root_mean_squared_error,
    root_mean_squared_log_error,
)

from fasttree._sklearn_compat import weighted_percentile
from fasttree.tree.pruning._measures import FromLeaves, FromSums

__all__ = ["NUMBER_SCORES"]


def _mean_loss(rows, weight, loss, root=False, alpha=0.0):
    """The mean of a loss over rows, or its root, then the mean over outputs."""
    if loss == "squared_log" and rows.y.min() <= -1:
        return None
    total = len(rows.y) if weight is None else weight.sum()

    def finish(sums):
        means = sums / total
        return np.mean(np.sqrt(means) if root else means, axis=0)

    return FromSums(rows.losses(loss, weight, alpha), finish)


def _explained(losses, whole):
    """The share of a constant prediction's losses that is explained, the mean over outputs."""
    if not np.all(whole):
        return None
    return FromSums(losses, lambda sums: np.mean(1 - sums / whole[:, None], axis=0))


def _r2(rows, weight):
    if len(rows.y) < 2:
        return None
    return _explained(rows.losses("squared", weight), _variation(rows.y, weight))


def _variation(y, weight):
    """Sums of squared deviations from the mean, one per output."""
    deviations = (y - np.average(y, axis=0, weights=weight)) ** 2
    return np.sum(deviations if weight is None else weight[:, None] * deviations, axis=0)


def _explained_variance(rows, weight):
    total = len(rows.y) if weight is None else weight.sum()
    whole, n_outputs = _variation(rows.y, weight), rows.y.shape[1]
    if not whole.all():
        return None

    def finish(sums):
        squares, errors = sums[:n_outputs], sums[n_outputs:]
        variation = np.maximum(squares - errors**2 / total, 0.0)
        return np.mean(1 - variation / whole[:, None], axis=0)

    losses = [rows.losses(loss, weight) for loss in ("squared", "difference")]
    return FromSums(np.concatenate(losses), finish)


def _explained_pinball(rows, weight, alpha=0.5):
    if len(rows.y) < 2:
        return None
    w = np.ones(len(rows.y)) if weight is None else weight
    quantile = weighted_percentile(rows.y, w, percentile_rank=alpha * 100, average=True)
    above = rows.y - quantile
    whole = np.sum(w[:, None] * np.where(above >= 0, alpha * above, (alpha - 1) * above), axis=0)
    return _explained(rows.losses("pinball", weight, alpha), whole)


def _deviance(rows, weight, power=0.0, relative=False):
    """The mean Tweedie deviance, or the share of it that is explained."""
    y = rows.y[:, 0]
    if rows.y.shape[1] > 1 or 0 < power < 1:
        return None
    if (1 <= power < 2 and y.min() < 0) or (power >= 2 and y.min() <= 0):
        return None
    losses = rows.losses(*(("squared", weight) if power == 0 else ("tweedie", weight, power)))
    total = len(y) if weight is None else weight.sum()
    if not relative:
        return FromSums(losses, lambda sums: sums[0] / total)
    mean = np.average(y, weights=weight)
    if len(y) < 2 or (power != 0 and mean <= 0):
        return None
    constant = np.full(len(y), mean)
    if power == 0:  # defined for means that are not positive
        whole = mean_squared_error(y, constant, sample_weight=weight)
    else:
        whole = mean_tweedie_deviance(y, constant, sample_weight=weight, power=power)
    if whole == 0:
        return None
    return FromSums(losses, lambda sums: 1 - sums[0] / total / whole)


def _median_error(rows, weight):
    used = slice(None) if weight is None else weight > 0
    leaves, y = rows.leaves[used], np.ascontiguousarray(rows.y[used].T)
    weight = None if weight is None else np.ascontiguousarray(weight[used])

    def score(cuts, settings):
        medians = [
            cuts.median_errors(settings, leaves, column, k, weight) for k, column in enumerate(y)
        ]
        return np.mean(medians, axis=0)

    return FromLeaves(score)


def _loss(loss, **options):
    return partial(_mean_loss, loss=loss, **options)


_MAKERS = {
    d2_absolute_error_score: (_explained_pinball, set()),
    d2_pinball_score: (_explained_pinball, {"alpha"}),
    d2_tweedie_score: (partial(_deviance, relative=True), {"power"}),
    explained_variance_score: (_explained_variance, set()),
    mean_absolute_error: (_loss("absolute"), set()),
    mean_absolute_percentage_error: (_loss("relative"), set()),
    mean_gamma_deviance: (partial(_deviance, power=2), set()),
    mean_pinball_loss: (_loss("pinball", alpha=0.5), {"alpha"}),
    mean_poisson_deviance: (partial(_deviance, power=1), set()),
    mean_squared_error: (_loss("squared"), set()),
    mean_squared_log_error: (_loss("squared_log"), set()),
    mean_tweedie_deviance: (_deviance, {"power"}),
    median_absolute_error: (_median_error, set()),
    r2_score: (_r2, set()),
    root_mean_squared_error: (_loss("squared", root=True), set()),
    root_mean_squared_log_error: (_loss("squared_log", root=True), set()),
}

# For each score its maker, the method whose results it reads, and the options that the maker knows.
NUMBER_SCORES = {score: (make, "predict", options) for score, (make, options) in _MAKERS.items()}
