"""Decision trees: a drop-in for :mod:`sklearn.tree` on an exact engine at histogram speed."""

from fasttree.export._describe import describe
from fasttree.export._html import export_html, show
from fasttree.export._text import export_graphviz, export_text, plot_tree
from fasttree.export._tree_display import TreeDisplay
from fasttree.tree._auto import DecisionTree
from fasttree.tree._base import BaseDecisionTree
from fasttree.tree._classes import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from fasttree.tree._data import EncodedData
from fasttree.tree.selection._selection import ColumnSplit, best_split, feature_scores

__all__ = [
    "BaseDecisionTree",
    "ColumnSplit",
    "DecisionTree",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "EncodedData",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "TreeDisplay",
    "best_split",
    "describe",
    "export_graphviz",
    "export_html",
    "export_text",
    "feature_scores",
    "plot_tree",
    "show",
]
