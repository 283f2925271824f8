"""The bootstrap samples of a forest: which rows each tree draws.

The draws of a tree follow from its `random_state`, an int, so nothing but that is kept. They are
those of scikit-learn's forests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fasttree.ensemble._draws import draw_counts
from fasttree.tree._validation import random_source

__all__ = ["MAX_SEED", "Bootstrap", "check_drawable", "rows_as_bits", "rows_of_bits"]

MAX_SEED = np.iinfo(np.int32).max  # of a tree


@dataclass(frozen=True)
class Bootstrap:
    """How rows are drawn with replacement.

    Parameters
    ----------
    n_rows : int
        Number of rows of the data.
    n_drawn : int
        Number of draws of a tree.
    sample_weight : ndarray of shape (n_rows,) or None
        Rows are drawn in proportion to their weights; None: all alike.
    """

    n_rows: int
    n_drawn: int
    sample_weight: np.ndarray | None = None

    def indices(self, seed):
        """Return the rows that the tree with this random state drew, in order of the draws."""
        source = random_source(seed)
        if self.sample_weight is None:
            drawn = source.randint(0, self.n_rows, self.n_drawn)
        else:
            shares = self.sample_weight / np.sum(self.sample_weight)
            drawn = source.choice(self.n_rows, self.n_drawn, replace=True, p=shares)
        return drawn.astype(np.int32)

    def counts(self, seed):
        """Return how often the tree drew each row."""
        if self.sample_weight is None:
            return draw_counts(seed, self.n_rows, self.n_drawn)
        return np.bincount(self.indices(seed), minlength=self.n_rows)

    def out_of_bag(self, seeds):
        """Return a bit per tree and row, set where the tree did not draw the row."""
        bits = [rows_as_bits(self.counts(seed) == 0) for seed in seeds]
        return np.array(bits)


def check_drawable(sample_weight):
    """Raise unless rows can be drawn in proportion to their weights."""
    if sample_weight is None:
        return
    if sample_weight.min() < 0:
        raise ValueError("Rows cannot be drawn in proportion to negative sample weights.")
    with np.errstate(over="ignore"):
        total = sample_weight.sum()
    if not np.isfinite(total):
        raise ValueError("The sample weights are too large: their sum is not a finite number.")


def rows_as_bits(is_in):
    """Return a mask of rows as words of 32 bits, the first row in the lowest bit."""
    words = np.zeros(-(-len(is_in) // 32), dtype="<u4")
    packed = np.packbits(is_in, bitorder="little")
    words.view(np.uint8)[: len(packed)] = packed
    return words.astype(np.uint32, copy=False)


def rows_of_bits(words, n_rows):
    """Return the numbers of the rows whose bits are set."""
    octets = words.astype("<u4", copy=False).view(np.uint8)
    return np.flatnonzero(np.unpackbits(octets, count=n_rows, bitorder="little"))
