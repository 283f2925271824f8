"""Drawing trees, by scikit-learn's exporters on fasttree's estimators, and printing them.

The exporters read a tree's public arrays, so fasttree's estimators go in as they are, and
`DecisionTree` hands in the estimator it fitted. Trees that were fitted on a table show each split
as a question (see _questions.py).
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
import sklearn.tree
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from fasttree._sklearn_compat import Interval, validate_parameter_constraints
from fasttree.export._questions import Questions, column_names, no_single_tree
from fasttree.export._tables import dot_of_table_tree, draw_table_tree
from fasttree.table._encoder import table_encoder
from fasttree.tree._auto import DecisionTree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TextIO

    from matplotlib.axes import Axes
    from matplotlib.text import Annotation
    from sklearn.base import BaseEstimator

__all__ = ["export_graphviz", "export_text", "plot_tree"]

# Of `export_text`.
_CONSTRAINTS = {
    "decision_tree": [sklearn.tree.DecisionTreeClassifier, sklearn.tree.DecisionTreeRegressor],
    "feature_names": ["array-like", None],
    "class_names": ["array-like", None],
    "max_depth": [Interval(Integral, 0, None, closed="left"), None],
    "spacing": [Interval(Integral, 1, None, closed="left")],
    "decimals": [Interval(Integral, 0, None, closed="left")],
    "show_weights": ["boolean"],
}


def _exportable(decision_tree):
    """What scikit-learn's exporters take in place of `decision_tree`."""
    if isinstance(decision_tree, DecisionTree):
        check_is_fitted(decision_tree)
        return decision_tree.estimator_
    if hasattr(decision_tree, "estimators_"):
        raise no_single_tree(decision_tree)
    return decision_tree


def _names_of_classes(decision_tree, class_names):
    """What scikit-learn's exporters take as names: True stands for those of the classes."""
    if class_names is True and is_classifier(decision_tree):
        check_is_fitted(decision_tree)
        if decision_tree.n_outputs_ == 1:
            return [str(name) for name in decision_tree.classes_]
    return class_names


def export_text(
    decision_tree: BaseEstimator,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_depth: int | None = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
    max_labels: int = 10,
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
    max_labels : int, default=10
        Categories that a question names; of more, the rest are counted.

    Returns
    -------
    str
        The rules, one per line.

    See Also
    --------
    fasttree.export.export_html : A page to open and search.
    fasttree.export.TreeDisplay : A drawing with the distributions of the rows.

    Notes
    -----
    A tree of numbers is printed as scikit-learn prints it. One that was fitted on a table states
    its splits in words: ``color in {red, blue} or missing``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.tree import DecisionTreeClassifier, export_text
    >>> iris = load_iris(as_frame=True)
    >>> names = iris.target.map(dict(enumerate(iris.target_names)))
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(iris.data, names)
    >>> print(export_text(tree, feature_names=tree.feature_names_in_))
    |--- petal length (cm) <= 2.45
    |   |--- class: setosa
    |--- petal length (cm) >  2.45
    |   |--- petal width (cm) <= 1.75
    |   |   |--- class: versicolor
    |   |--- petal width (cm) >  1.75
    |   |   |--- class: virginica
    <BLANKLINE>
    """
    decision_tree = _exportable(decision_tree)
    options = {
        "decision_tree": decision_tree,
        "feature_names": feature_names,
        "class_names": class_names,
        "max_depth": max_depth,
        "spacing": spacing,
        "decimals": decimals,
        "show_weights": show_weights,
    }
    validate_parameter_constraints(_CONSTRAINTS, options, caller_name="export_text")
    check_is_fitted(decision_tree)
    if is_classifier(decision_tree) and decision_tree.tree_.n_outputs == 1:
        class_names = _checked_class_names(decision_tree.classes_, class_names)
    encoder = table_encoder(decision_tree)
    if feature_names is None and encoder is None:
        feature_names = [f"feature_{j}" for j in range(decision_tree.n_features_in_)]
    names = column_names(decision_tree, feature_names, "feature_{}")
    questions = Questions(decision_tree.tree_, encoder, names, max_labels)
    return _text_of_tree(
        decision_tree, questions, class_names, max_depth, spacing, decimals, show_weights
    )


def _checked_class_names(classes, class_names):
    if class_names is None:
        return classes
    if len(class_names) != len(classes):
        raise ValueError(
            "When `class_names` is an array, it should contain as many items as "
            f"`decision_tree.classes_`. Got {len(class_names)} while the tree was fitted with "
            f"{len(classes)} classes."
        )
    return class_names


def _text_of_tree(estimator, questions, class_names, max_depth, spacing, decimals, show_weights):
    """The text of a fitted tree whose splits ask `questions`."""
    tree = estimator.tree_
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    heights = _heights(left, right)
    outcomes = _outcomes(estimator, class_names, decimals, show_weights)
    edge, tip = "|" + " " * spacing, "|" + "-" * spacing
    lines = []
    stack = [(0, 0, None)]  # node, depth, what is true of its rows
    while stack:
        node, depth, fact = stack.pop()
        if fact is not None:
            lines.append(f"{edge * (depth - 1)}{tip} {fact}")
        if left[node] < 0:
            lines.append(f"{edge * depth}{tip}{outcomes[node]}")
        elif max_depth is not None and depth > max_depth:
            lines.append(f"{edge * depth}{tip} truncated branch of depth {heights[node]}")
        else:
            fact_left, fact_right = questions.sides(node, lambda t: f"{t:.{decimals}f}")
            stack.append((right[node], depth + 1, fact_right))
            stack.append((left[node], depth + 1, fact_left))
    return "\n".join(lines) + "\n"


def _outcomes(estimator, class_names, decimals, show_weights):
    """What the text says of each leaf: its value, or its class and, if asked for, the weights.
    Of several outputs a classifier's text names, like scikit-learn's, the output in which the
    first class weighs most."""
    tree = estimator.tree_
    is_leaf = tree.children_left < 0
    values = tree.value[:, 0, :] if tree.n_outputs == 1 else tree.value[:, :, 0]
    if not is_classifier(estimator):
        return [
            f" value: [{_numbers(value, decimals)}]" if leaf else ""
            for leaf, value in zip(is_leaf, values.tolist())
        ]
    labels = np.argmax(values, axis=1).tolist()
    if tree.n_outputs == 1 and tree.n_classes[0] != 1:
        names = [str(name) for name in class_names]
        labels = [names[label] for label in labels]
    if not show_weights:
        return [f" class: {label}" for label in labels]
    weights = (values * tree.weighted_n_node_samples[:, np.newaxis]).tolist()
    return [
        f" weights: [{_numbers(weight, decimals)}] class: {label}" if leaf else ""
        for leaf, weight, label in zip(is_leaf, weights, labels)
    ]


def _numbers(values, decimals):
    return ", ".join([f"{value:.{decimals}f}" for value in values])


def _heights(left, right):
    """Number of levels of the subtree below each node, its own included; parents come first."""
    heights = [1] * len(left)
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            heights[node] = 1 + max(heights[left[node]], heights[right[node]])
    return heights


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
    max_labels: int = 10,
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
        Names of the classes in ascending order; True takes `classes_`.
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
    max_labels : int, default=10
        Categories that a question names; of more, the rest are counted.

    Returns
    -------
    str or None
        The text, if `out_file` is None.

    See Also
    --------
    plot_tree : The same drawing without Graphviz.

    Notes
    -----
    ``dot -Tsvg tree.dot -o tree.svg`` draws it, where Graphviz is installed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.tree import DecisionTreeClassifier, export_graphviz
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    >>> export_graphviz(tree, filled=True).splitlines()[0]
    'digraph Tree {'
    """
    decision_tree = _exportable(decision_tree)
    options = dict(
        max_depth=max_depth,
        class_names=_names_of_classes(decision_tree, class_names),
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
        return dot_of_table_tree(decision_tree, out_file, feature_names, max_labels, **options)
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
    max_labels: int = 10,
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
        Names of the classes in ascending order; True takes `classes_`.
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
    max_labels : int, default=10
        Categories that a question names; of more, the rest are counted.

    Returns
    -------
    list of matplotlib.text.Annotation
        The boxes of the nodes.

    See Also
    --------
    fasttree.export.TreeDisplay : A drawing with the distributions of the rows.
    fasttree.export.export_html : A page to open and search.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.tree import DecisionTreeClassifier, plot_tree
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> boxes = plot_tree(tree, class_names=True, filled=True)
    """
    decision_tree = _exportable(decision_tree)
    options = dict(
        max_depth=max_depth,
        class_names=_names_of_classes(decision_tree, class_names),
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
        return draw_table_tree(decision_tree, feature_names, ax, max_labels, **options)
    return sklearn.tree.plot_tree(decision_tree, feature_names=feature_names, ax=ax, **options)
