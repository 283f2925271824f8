"""Decision trees: a drop-in for :mod:`sklearn.tree` on an exact engine at histogram speed."""

from fasttree.export._text import export_graphviz, export_text, plot_tree
from fasttree.tree._auto import DecisionTree
from fasttree.tree._base import BaseDecisionTree
from fasttree.tree._classes import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from fasttree.tree._data import EncodedData
from fasttree.tree._selection import ColumnSplit, best_split, feature_scores

__all__ = [
    "BaseDecisionTree",
    "ColumnSplit",
    "DecisionTree",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "EncodedData",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "best_split",
    "export_graphviz",
    "export_text",
    "feature_scores",
    "plot_tree",
]
