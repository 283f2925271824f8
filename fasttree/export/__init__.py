"""Trees to look at: pages, drawings and reports."""

import fasttree.tree  # noqa: F401  (first, for it offers these functions too)
from fasttree.export._displays import ImportancesDisplay, ParetoFrontDisplay
from fasttree.export._html import TreePage, export_html, show
from fasttree.export._tree_display import TreeDisplay

__all__ = [
    "ImportancesDisplay",
    "ParetoFrontDisplay",
    "TreeDisplay",
    "TreePage",
    "export_html",
    "show",
]
