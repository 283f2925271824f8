"""Sample weights as integers, because the search adds and compares integers only."""

from math import frexp, gcd, ulp

import numpy as np

__all__ = ["integer_weights"]

_MAX_TOTAL = 2**30 - 1
_GRID_BITS = 12
_MAX_DENOMINATOR = 1000
_LEAST = 2.0**-1000


def integer_weights(weights):
    """Return integers proportional to the weights, and the weight of a unit.

    Exact if the weights are small multiples of a common unit (counts, class weights); otherwise
    rounded to a grid of which the largest weight takes at most 2**12 steps, and at least one.

    Parameters
    ----------
    weights : ndarray of shape (n_samples,), dtype=float64
        Positive and finite.

    Returns
    -------
    integers : ndarray of shape (n_samples,), dtype=int32
        Their sum is below 2**30.
    unit : float
    """
    distinct, position = np.unique(weights, return_inverse=True)
    counts = np.bincount(position)
    # Of any size: in a power of two near the largest, far below which all weigh a step.
    exponent = frexp(distinct[-1])[1]
    distinct = np.maximum(np.ldexp(distinct, -exponent), _LEAST)
    steps = _common_steps(distinct)
    if steps is None or steps @ counts > _MAX_TOTAL:
        unit = distinct[-1] / 2**_GRID_BITS
        unit = max(unit, 1.5 * (distinct @ counts) / _MAX_TOTAL)
        steps = np.maximum(1, np.rint(distinct / unit).astype(np.int64))
    else:
        unit = distinct[-1] / steps[-1]
    if steps @ counts > _MAX_TOTAL:
        raise ValueError(
            f"The weights of {len(weights)} rows differ too much to be summed as integers below "
            "2**30."
        )
    with np.errstate(over="ignore", under="ignore"):
        unit, total = np.ldexp([unit, unit * (steps @ counts)], exponent)
    if unit == 0.0 or total == np.inf:
        raise ValueError("The sample weights are too small or too large to be summed: scale them.")
    return steps.astype(np.int32)[position], float(unit)


def _common_steps(distinct):
    """Smallest integers with the ratios of the given values, or None if they are not small."""
    ratios = distinct / distinct[0]
    if ratios[-1] > _MAX_TOTAL:
        return None
    tolerance = 8 * ulp(1.0)
    for denominator in range(1, _MAX_DENOMINATOR + 1):
        scaled = ratios * denominator
        steps = np.rint(scaled)
        if np.all(np.abs(scaled - steps) <= tolerance * scaled):
            steps = steps.astype(np.int64)
            return steps // gcd(*steps.tolist())
        if len(distinct) > _MAX_DENOMINATOR:
            return None
    return None
