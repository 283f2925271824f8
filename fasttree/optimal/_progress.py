"""What a search tells while it runs."""

import sys
from dataclasses import dataclass

from fasttree.optimal import _engine
from fasttree.tree.pruning._settings import as_double

__all__ = ["SearchProgress"]


@dataclass(frozen=True)
class SearchProgress:
    """The state of a running search for an optimal tree.

    Parameters
    ----------
    elapsed : float
        Seconds since the search began.
    n_nodes : int
        Subproblems searched so far by the thread that reports.
    objective : float
        Of the best tree found: weighted error rate plus penalties.
    lower_bound : float
        No tree has a smaller objective.
    gap : float
        Difference of the two.

    Examples
    --------
    Stop a search once the best tree found is within a thousandth of the bound:

    >>> from sklearn.datasets import load_iris
    >>> from fasttree.optimal import OptimalDecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = OptimalDecisionTreeClassifier(callback=lambda progress: progress.gap < 1e-3)
    >>> bool(tree.fit(X, y).gap_ < 1e-3)
    True
    """

    elapsed: float
    n_nodes: int
    objective: float
    lower_bound: float
    gap: float

    def __str__(self) -> str:
        return (
            f"{self.elapsed:8.1f} s  objective {self.objective:.6f}  bound {self.lower_bound:.6f}"
            f"  gap {self.gap:.6f}  nodes {self.n_nodes}"
        )


class Reporter:
    """Turns the engine's integers into progress, prints it and passes it on.

    Parameters
    ----------
    total : int
        Weight of all rows.
    price : float
        Of a leaf. The engine counts 1 at most: beyond that the best tree is a leaf.
    callback : callable or None
        Gets a `SearchProgress`; a true result stops the search.
    verbose : bool or int
        Seconds between printed lines shrink with it: 1 prints one line per second.
    """

    def __init__(self, total, price, callback, verbose):
        self.whole = _engine.PENALTY_SCALE * total  # of an objective of one
        self.uncounted = max(0.0, as_double(price) - 1.0)
        self.callback = callback
        self.interval = 1 / verbose if verbose else float("inf")
        self.next_line = 0.0

    @property
    def is_needed(self):
        return self.callback is not None or self.interval < float("inf")

    def __call__(self, elapsed, n_nodes, lower, upper):
        """Report; return whether to stop."""
        lower, upper = (value / self.whole + self.uncounted for value in (lower, upper))
        lower = min(lower, upper)
        progress = SearchProgress(elapsed, n_nodes, upper, lower, upper - lower)
        if elapsed >= self.next_line and self.interval < float("inf"):
            self.print(progress)
            self.next_line = elapsed + self.interval
        return self.callback is not None and bool(self.callback(progress))

    def print(self, progress):
        if self.interval < float("inf"):
            sys.stdout.write(f"[fasttree.optimal] {progress}\n")
