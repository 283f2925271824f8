"""Decision trees: a drop-in for :mod:`sklearn.tree` on an exact engine at histogram speed."""

from fasttree.tree._auto import DecisionTree
from fasttree.tree._classes import (
    BaseDecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from fasttree.tree._export import export_graphviz, export_text, plot_tree

__all__ = [
    "BaseDecisionTree",
    "DecisionTree",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "export_graphviz",
    "export_text",
    "plot_tree",
]
