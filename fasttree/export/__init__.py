"""Fitted trees as text, pages, pictures and reports, as data, rules and code."""

import fasttree.tree  # noqa: F401  (first, for it offers some of these functions too)
from fasttree.export._c import export_c
from fasttree.export._describe import describe
from fasttree.export._dict import export_dict
from fasttree.export._displays import ImportancesDisplay, ParetoFrontDisplay
from fasttree.export._html import TreePage, export_html, show
from fasttree.export._model_file import load, save
from fasttree.export._onnx import to_onnx
from fasttree.export._python import export_python
from fasttree.export._report import Bars, Curves, Frame, Report, Table, Text
from fasttree.export._rules import Condition, Rule, export_rules
from fasttree.export._shap import ShapValues, shap_values
from fasttree.export._sql import export_sql
from fasttree.export._text import export_graphviz, export_text, plot_tree
from fasttree.export._tree_display import TreeDisplay

__all__ = [
    "Bars",
    "Condition",
    "Curves",
    "Frame",
    "ImportancesDisplay",
    "ParetoFrontDisplay",
    "Report",
    "Rule",
    "ShapValues",
    "Table",
    "Text",
    "TreeDisplay",
    "TreePage",
    "describe",
    "export_c",
    "export_dict",
    "export_graphviz",
    "export_html",
    "export_python",
    "export_rules",
    "export_sql",
    "export_text",
    "load",
    "plot_tree",
    "save",
    "shap_values",
    "show",
    "to_onnx",
]
