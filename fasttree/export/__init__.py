"""Trees as text, pages, pictures, reports and scikit-learn's estimators."""

import fasttree.tree  # noqa: F401  (first, for it offers these functions too)
from fasttree.export._describe import describe
from fasttree.export._displays import ImportancesDisplay, ParetoFrontDisplay
from fasttree.export._html import TreePage, export_html, show
from fasttree.export._report import Bars, Curves, Frame, Report, Table, Text
from fasttree.export._text import export_graphviz, export_text, plot_tree
from fasttree.export._tree_display import TreeDisplay

__all__ = [
    "Bars",
    "Curves",
    "Frame",
    "ImportancesDisplay",
    "ParetoFrontDisplay",
    "Report",
    "Table",
    "Text",
    "TreeDisplay",
    "TreePage",
    "describe",
    "export_graphviz",
    "export_html",
    "export_text",
    "plot_tree",
    "show",
]
