"""Drawing and printing trees: scikit-learn's exporters on fasttree's estimators.

They read a tree's public arrays, so fasttree's estimators go in as they are, and `DecisionTree`
hands in the estimator it fitted. Trees that were fitted on a table show each split as a question
(see _questions.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sklearn.tree
from sklearn.utils.validation import check_is_fitted

from fasttree.export._tables import dot_of_table_tree, draw_table_tree, text_of_table_tree
from fasttree.table._encoder import table_encoder
from fasttree.tree._auto import DecisionTree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TextIO

    from matplotlib.axes import Axes
    from matplotlib.text import Annotation
    from sklearn.base import BaseEstimator

__all__ = ["export_graphviz", "export_text", "plot_tree"]


def _exportable(decision_tree):
    """What scikit-learn's exporters take in place of `decision_tree`."""
    if isinstance(decision_tree, DecisionTree):
        check_is_fitted(decision_tree)
        return decision_tree.estimator_
    return decision_tree


def export_text(
    decision_tree: BaseEstimator,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """Return a text of the rules of a tree.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features; None numbers them.
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes; None takes `classes_`.
    max_depth : int, default=10
        Depth below which branches are abbreviated.
    spacing : int, default=3
        Spaces between edges; more make a wider text.
    decimals : int, default=2
        Digits after the point.
    show_weights : bool, default=False
        Whether to print the class weights of leaves.

    Returns
    -------
    str
        The rules, one per line.
    """
    decision_tree = _exportable(decision_tree)
    if table_encoder(decision_tree) is not None:
        return text_of_table_tree(
            decision_tree, feature_names, class_names, max_depth, spacing, decimals, show_weights
        )
    return sklearn.tree.export_text(
        decision_tree,
        feature_names=feature_names,
        class_names=class_names,
        max_depth=max_depth,
        spacing=spacing,
        decimals=decimals,
        show_weights=show_weights,
    )


def export_graphviz(
    decision_tree: BaseEstimator,
    out_file: TextIO | str | None = None,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | bool | None = None,
    label: Literal["all", "root", "none"] = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
) -> str | None:
    """Write a tree in Graphviz's DOT language.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.
    out_file : file object, str or None, default=None
        Where to write; None returns the text.
    max_depth : int or None, default=None
        Depth below which nodes are left out.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features.
    class_names : array-like of shape (n_classes,) or bool, default=None
        Names of the classes in ascending order; True shows their symbols.
    label : {"all", "root", "none"}, default="all"
        Which nodes say what their numbers mean.
    filled : bool, default=False
        Whether to colour nodes by their majority class, value or purity.
    leaves_parallel : bool, default=False
        Whether to draw all leaves at the bottom.
    impurity : bool, default=True
        Whether to show the impurity.
    node_ids : bool, default=False
        Whether to show the ids of nodes.
    proportion : bool, default=False
        Whether to show fractions in place of numbers of rows.
    rotate : bool, default=False
        Whether to draw from left to right.
    rounded : bool, default=False
        Whether to round the corners of boxes.
    special_characters : bool, default=False
        Whether to use characters that PostScript does not know.
    precision : int, default=3
        Digits after the point.
    fontname : str, default="helvetica"
        Font of the text.

    Returns
    -------
    str or None
        The text, if `out_file` is None.
    """
    decision_tree = _exportable(decision_tree)
    options = dict(
        max_depth=max_depth,
        class_names=class_names,
        label=label,
        filled=filled,
        leaves_parallel=leaves_parallel,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        rotate=rotate,
        rounded=rounded,
        special_characters=special_characters,
        precision=precision,
        fontname=fontname,
    )
    if table_encoder(decision_tree) is not None:
        return dot_of_table_tree(decision_tree, out_file, feature_names, **options)
    return sklearn.tree.export_graphviz(
        decision_tree, out_file, feature_names=feature_names, **options
    )


def plot_tree(
    decision_tree: BaseEstimator,
    *,
    max_depth: int | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | bool | None = None,
    label: Literal["all", "root", "none"] = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Axes | None = None,
    fontsize: int | None = None,
) -> list[Annotation]:
    """Draw a tree with matplotlib.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.
    max_depth : int or None, default=None
        Depth below which nodes are left out.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features.
    class_names : array-like of shape (n_classes,) or bool, default=None
        Names of the classes in ascending order; True shows their symbols.
    label : {"all", "root", "none"}, default="all"
        Which nodes say what their numbers mean.
    filled : bool, default=False
        Whether to colour nodes by their majority class, value or purity.
    impurity : bool, default=True
        Whether to show the impurity.
    node_ids : bool, default=False
        Whether to show the ids of nodes.
    proportion : bool, default=False
        Whether to show fractions in place of numbers of rows.
    rounded : bool, default=False
        Whether to round the corners of boxes.
    precision : int, default=3
        Digits after the point.
    ax : matplotlib axis, default=None
        Where to draw; None takes the current axis and clears it.
    fontsize : int, default=None
        Size of the text; None fits it to the figure.

    Returns
    -------
    list of matplotlib.text.Annotation
        The boxes of the nodes.
    """
    decision_tree = _exportable(decision_tree)
    options = dict(
        max_depth=max_depth,
        class_names=class_names,
        label=label,
        filled=filled,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        rounded=rounded,
        precision=precision,
        fontsize=fontsize,
    )
    if table_encoder(decision_tree) is not None:
        return draw_table_tree(decision_tree, feature_names, ax, **options)
    return sklearn.tree.plot_tree(decision_tree, feature_names=feature_names, ax=ax, **options)
