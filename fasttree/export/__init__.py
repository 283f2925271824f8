"""Trees as text, pictures and scikit-learn's estimators."""

import fasttree.tree  # noqa: F401  (first, for it offers these functions too)
from fasttree.export._text import export_graphviz, export_text, plot_tree

__all__ = ["export_graphviz", "export_text", "plot_tree"]
