"""Provably optimal decision trees."""

from fasttree.optimal._classes import OptimalDecisionTreeClassifier
from fasttree.optimal._options import SearchOptions
from fasttree.optimal._progress import SearchProgress

__all__ = ["OptimalDecisionTreeClassifier", "SearchOptions", "SearchProgress"]
