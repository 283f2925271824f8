"""Fitted trees as data, rules and code, as text and pictures."""

import fasttree.tree  # noqa: F401  (first, for it offers some of these functions too)
from fasttree.export._c import export_c
from fasttree.export._dict import export_dict
from fasttree.export._model_file import load, save
from fasttree.export._onnx import to_onnx
from fasttree.export._python import export_python
from fasttree.export._rules import Condition, Rule, export_rules
from fasttree.export._shap import ShapValues, shap_values
from fasttree.export._sql import export_sql
from fasttree.export._text import export_graphviz, export_text, plot_tree

__all__ = [
    "Condition",
    "Rule",
    "ShapValues",
    "export_c",
    "export_dict",
    "export_graphviz",
    "export_python",
    "export_rules",
    "export_sql",
    "export_text",
    "load",
    "plot_tree",
    "save",
    "shap_values",
    "to_onnx",
]
