"""Forests: a drop-in for :mod:`sklearn.ensemble` on one encoding of the data."""

from fasttree.ensemble._embedding import RandomTreesEmbedding
from fasttree.ensemble._forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from fasttree.ensemble._isolation import IsolationForest
from fasttree.ensemble._quantile import RandomForestQuantileRegressor

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "IsolationForest",
    "RandomForestClassifier",
    "RandomForestQuantileRegressor",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
]
