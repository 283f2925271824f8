"""Bootstrap samples as how often each row is drawn, without the list of the draws."""
from libc.stddef cimport size_t

import numpy as np

from fasttree.utils._typedefs cimport int64_t, uint32_t

cdef extern from "utils/_mersenne.hpp" namespace "fasttree" nogil:
    void count_draws(uint32_t seed, uint32_t n, size_t n_draws, int64_t* counts) noexcept


def draw_counts(uint32_t seed, uint32_t n_rows, size_t n_drawn):
    """Return how often each row is drawn by NumPy's generator of a seed.

    Parameters
    ----------
    seed : int
        The seed.
    n_rows : int
        Number of rows, at least 1.
    n_drawn : int
        Number of draws.

    Returns
    -------
    ndarray of shape (n_rows,), dtype=int64
        The counts of ``RandomState(seed).randint(0, n_rows, n_drawn)``.
    """
    cdef int64_t[::1] counts = np.zeros(n_rows, dtype=np.int64)
    with nogil:
        count_draws(seed, n_rows, n_drawn, &counts[0])
    return np.asarray(counts)
