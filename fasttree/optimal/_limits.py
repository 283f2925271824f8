"""How large a tree to search for, and whether the machine has the memory."""

from __future__ import annotations

import os
from math import ceil
from numbers import Integral

__all__ = ["check_memory", "least_rows", "search_limits"]


def least_rows(limit, n_samples):
    """Return the rows that a leaf must hold, for a number or a fraction of them."""
    return min(limit, n_samples) if isinstance(limit, Integral) else ceil(limit * n_samples)


def search_limits(max_depth, max_leaf_nodes, penalty, solves_front, n_samples):
    """Return the depth and the range of numbers of inner nodes to solve for."""
    most = min(2**max_depth, n_samples)
    if max_leaf_nodes is not None:
        most = min(most, max_leaf_nodes)
    if penalty > 0 and not solves_front:
        # A single leaf costs one penalty and at most the whole weight.
        most = min(most, 1 + int(min(most, 1 / penalty)))
    high = most - 1
    solves_all = solves_front or penalty > 0
    return min(max_depth, high), (0 if solves_all else high, high)


def check_memory(shape, n_classes, depth, budgets, n_threads):
    """Raise ValueError rather than let the machine run out of memory.

    Parameters
    ----------
    shape : tuple of int
        Number of candidate splits and of rows.
    n_classes : int
    depth : int
    budgets : tuple of int
        Least and largest number of inner nodes.
    n_threads : int
    """
    n_splits, n_samples = shape
    pair_matrices = 4 * (n_classes + 3) * n_splits**2 * max(1, depth - 1)
    plans = 16 * (budgets[1] - budgets[0] + 1) * 2**depth
    needed = n_threads * (pair_matrices + plans) + 2 * n_splits * n_samples
    available = _physical_memory()
    if needed > available:
        raise ValueError(
            f"{n_splits} candidate splits need about {needed / 2**30:.0f} GiB of memory and "
            f"this machine has {available / 2**30:.0f}. Lower n_thresholds, or choose columns."
        )


def _physical_memory():
    """Bytes of this machine's memory; no limit where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):
        return float("inf")
