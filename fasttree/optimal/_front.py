"""The front of size against error: the sizes at which the best tree improves, and the choice of one
by a budget and a price per leaf.
"""

from __future__ import annotations

import numpy as np

from fasttree.tree.pruning._settings import as_double

__all__ = ["FRONT_DTYPE", "best_of_front", "improving_sizes"]

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
