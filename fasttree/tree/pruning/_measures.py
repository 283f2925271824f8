"""The two forms in which a score of cut trees is had without predicting.

A maker of a score takes the validation rows, their weights and the scorer's options, and returns
one of the two, or None where scikit-learn's own function has to be called: because it warns, raises
or returns a constant there.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

__all__ = ["FromLeaves", "FromSums"]


@dataclass(frozen=True)
class FromSums:
    """A score that is a function of sums over leaves."""

    # What each node contributes as a leaf: wide numbers, shape (n_channels, node_count, 2). Those
    # that are not finite say that the score is not defined for trees with such a leaf.
    quantities: np.ndarray
    # Makes scores of shape (n_settings,) of the sums, shape (n_channels, n_settings).
    finish: Callable


@dataclass(frozen=True)
class FromLeaves:
    """A score that needs the leaves in order, or the rows."""

    # Makes scores of shape (n_settings,) of `Cuts` and the settings.
    score: Callable
