"""Forests: a drop-in for :mod:`sklearn.ensemble` on one encoding of the data."""

from fasttree.ensemble._embedding import RandomTreesEmbedding
from fasttree.ensemble._forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
]
