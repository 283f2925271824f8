"""The front of size against error: the sizes at which the best tree improves, and the choice of one
by a budget and a price per leaf; and what that price is to the engine.
"""

from __future__ import annotations

import numpy as np

from fasttree.optimal import _engine
from fasttree.tree.pruning._settings import as_double

__all__ = ["FRONT_DTYPE", "best_of_front", "exact_objective", "improving_sizes", "scaled_price"]

FRONT_DTYPE = np.dtype([("n_leaves", np.intp), ("error", np.float64), ("lower_bound", np.float64)])


def improving_sizes(upper, lower, fewest_leaves, total):
    """Return the front and where its sizes stand among all.

    Parameters
    ----------
    upper, lower : ndarray of shape (n_sizes,), int64
        Errors of the best trees found, and their bounds, in units of weight.
    fewest_leaves : int
        Size of the first.
    total : int
        Weight of all rows.

    Returns
    -------
    front : ndarray of shape (n_kept,), FRONT_DTYPE
    kept : list of int
    """
    kept = [k for k in range(len(upper)) if k == 0 or upper[k] < upper[k - 1]]
    front = np.zeros(len(kept), dtype=FRONT_DTYPE)
    front["n_leaves"] = np.array(kept) + fewest_leaves
    front["error"] = upper[kept] / total
    front["lower_bound"] = lower[kept] / total
    return front, kept


def best_of_front(front, most_leaves, price):
    """Return the place of the best size, its objective and the objective's bound.

    Parameters
    ----------
    front : ndarray, FRONT_DTYPE
        Sizes in ascending order.
    most_leaves : int or None
        Largest size to choose, not below the first.
    price : float
        What a leaf adds to the objective.
    """
    if most_leaves is not None:
        front = front[front["n_leaves"] <= most_leaves]
    with np.errstate(over="ignore"):
        prices = as_double(price) * front["n_leaves"]
    objectives = front["error"] + prices
    chosen = int(np.argmin(objectives))
    objective = float(objectives[chosen])
    return chosen, objective, min(objective, float((front["lower_bound"] + prices).min()))


def scaled_price(price, total):
    """The price of a leaf in the engine's units; beyond the whole weight it makes no difference."""
    return round(float(min(price, 1.0)) * total * _engine.PENALTY_SCALE)


def exact_objective(result, scaled, n_leaves, most_leaves, price, total):
    """Return the objective of a tree and its bound, at the price of a leaf as it was given.

    Parameters
    ----------
    result : dict
        With the engine's ``upper`` and ``lower``, which count `scaled` for a leaf.
    scaled : int
        Of `scaled_price`.
    n_leaves, most_leaves : int
        Of the tree, and of any.
    price : float
        What a leaf adds to the objective.
    total : int
        Weight of all rows.
    """
    unit, price = _engine.PENALTY_SCALE * total, as_double(price)
    objective = (result["upper"] - scaled * n_leaves) / unit + price * n_leaves
    if result["lower"] >= result["upper"]:
        return objective, objective
    uncounted = price - scaled / unit
    bound = result["lower"] / unit + uncounted * (1 if uncounted > 0 else most_leaves)
    return objective, min(objective, bound)
