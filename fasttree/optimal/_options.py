"""Switches of the search. None of them changes the objective that is proven, only the time."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING

from fasttree.tree.pruning._settings import as_double

if TYPE_CHECKING:
    from typing import Any

__all__ = ["SearchOptions"]

ORDERS = {"look-ahead": 0, "gini": 1, "in-order": 2, "random": 3}
CACHES = {None: 0, "dataset": 1, "branch": 2}
SHARINGS = {"root": 0, "leaf": 1}
STARTS = {None: 0, "widening": 1, "deepening": 2}
INSTRUCTION_SETS = ("auto", "avx512", "avx2", "portable")


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of the search for an optimal tree.

    .. warning::
       Experimental: options may be added, removed or changed in any release, without notice.

    They exist for experiments and tests; the defaults are the fastest known. All of them lead to
    the same objective, with a proof; the tree may be another one with the same objective.

    Parameters
    ----------
    order : {"look-ahead", "gini", "in-order", "random"}, default="look-ahead"
        Order in which the features of a subproblem are tried: by the error of the best depth-two
        tree with that root, by the impurity of the split, as given, or at random.
    cache : {"dataset", "branch", None}, default="dataset"
        What identifies a subproblem solved before: its rows, or the splits that led to it.
    sharing : {"root", "leaf"}, default="root"
        Where threads share work: features of nodes near the root, or of nodes right above the
        depth-two solver.
    sibling_bound : bool, default=True
        Bound a subproblem by its similarity to others below the same node.
    cousin_bound : bool, default=True
        Bound a subproblem by its similarity to others below siblings of its parent.
    parent_bound : bool, default=True
        Bound a subproblem by its similarity to the one it was split from.
    conflict_bound : bool, default=True
        Bound a subproblem by its equal rows of different classes (equivalent points).
    upper_bound : bool, default=True
        Tell a subproblem what its parent can still use.
    start : {"widening", "deepening", None}, default="widening"
        Where the first incumbents come from: searches that try the few most promising features of
        every node, twice as many each time, or the best trees of each smaller depth.
    instruction_set : {"auto", "avx512", "avx2", "portable"}, default="auto"
        Which kernels to run.
    share_after : float, default=0.005
        Seconds that a search runs alone before other threads join.
    seed : int, default=0
        For the random order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
    >>> X, y = load_iris(return_X_y=True)
    >>> options = SearchOptions(order="gini", cache=None)
    >>> OptimalDecisionTreeClassifier(max_depth=2, search_options=options).fit(X, y).is_optimal_
    True
    """

    order: str = "look-ahead"
    cache: str | None = "dataset"
    sharing: str = "root"
    sibling_bound: bool = True
    cousin_bound: bool = True
    parent_bound: bool = True
    conflict_bound: bool = True
    upper_bound: bool = True
    start: str | None = "widening"
    instruction_set: str = "auto"
    share_after: float = 0.005
    seed: int = 0

    def __post_init__(self):
        for name, allowed in [
            ("order", ORDERS),
            ("cache", CACHES),
            ("sharing", SHARINGS),
            ("start", STARTS),
            ("instruction_set", INSTRUCTION_SETS),
        ]:
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}.")
        if not (isinstance(self.seed, Integral) and 0 <= self.seed < 2**64):
            raise ValueError(f"seed must be an int from 0 to 2**64 - 1, got {self.seed!r}.")
        if not (isinstance(self.share_after, Real) and self.share_after >= 0):
            raise ValueError(
                f"share_after must be a number of seconds, not negative, got {self.share_after!r}."
            )

    def for_engine(self, *, n_threads: int, time_limit: float, cache_bytes: int) -> dict[str, Any]:
        """Return the engine's options as a dict.

        :meta private:
        """
        return {
            "order": ORDERS[self.order],
            "cache_key": CACHES[self.cache] if cache_bytes else CACHES[None],
            "sharing": SHARINGS[self.sharing],
            "with_sibling_bound": self.sibling_bound,
            "with_cousin_bound": self.cousin_bound,
            "with_parent_bound": self.parent_bound,
            "with_conflict_bound": self.conflict_bound,
            "with_upper_bound": self.upper_bound,
            "start": STARTS[self.start],
            "seed": self.seed,
            "n_threads": n_threads,
            "share_after": as_double(self.share_after),
            "time_limit": time_limit,
            "cache_bytes": cache_bytes,
        }
