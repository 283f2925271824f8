"""Trees to look at: pages, drawings and reports."""

from fasttree.export._html import TreePage, export_html, show

__all__ = [
    "TreePage",
    "export_html",
    "show",
]
