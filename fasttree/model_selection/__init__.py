"""Tuning of decision trees and forests: a whole grid from one fit per fold."""

from fasttree.model_selection._curve import TuningCurveDisplay, tuning_curve
from fasttree.model_selection._random_search import TrainOnceRandomizedSearchCV
from fasttree.model_selection._search import TrainOnceSearchCV

__all__ = [
    "TrainOnceRandomizedSearchCV",
    "TrainOnceSearchCV",
    "TuningCurveDisplay",
    "tuning_curve",
]
