"""A tree as one HTML file that needs nothing else: no network, no library, no server.

The page (page/page.html, .css, .js) draws the content that _content.py gives. Every text of the
user is escaped on its way into the file and is shown as text.
"""

from __future__ import annotations

import json
import re
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from fasttree.export._content import tree_content
from fasttree.export._text import _exportable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TextIO

    from sklearn.base import BaseEstimator

    from fasttree._typing import MatrixLike, TargetLike

__all__ = ["TreePage", "export_html", "show"]

_SCRIPTS = ("tree.js", "view.js", "panels.js", "keys.js")  # in this order


def export_html(
    decision_tree: BaseEstimator,
    X: MatrixLike | None = None,
    y: TargetLike | None = None,
    *,
    out_file: TextIO | str | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    max_labels: int = 10,
    n_rows: int = 0,
    title: str | None = None,
) -> str | None:
    """Write a tree as one interactive HTML file.

    The file opens in any browser and requests nothing from the network. Nodes open and close, and
    the view can be moved, zoomed and searched. Each node shows its question in words, its rows,
    impurity and prediction. Type the values of a row, and its path lights up with the reason at
    each step.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.
    X : array-like, sparse matrix or table of shape (n_samples, n_features), default=None
        Rows, such as those of the fit. Each inner node then shows the histogram of its feature,
        with the threshold. The file holds counts, and no row unless `n_rows` asks for some.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        The targets of X: they colour the histograms.
    out_file : file object, str or None, default=None
        Where to write; None returns the text.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features; None takes those of the fit, or numbers them.
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes; None takes `classes_`. A list of such for several outputs.
    max_labels : int, default=10
        Categories that a question names; of more, the rest are counted.
    n_rows : int, default=0
        Number of rows of X that the file holds, to be picked by their number.
    title : str, default=None
        Title of the page; None takes the name of the estimator's class.

    Returns
    -------
    str or None
        The text of the file, if `out_file` is None.

    Raises
    ------
    ValueError
        If names have the wrong length, y holds labels that the classifier does not know, or
        `n_rows` or `max_labels` is not a whole number, at least 0.

    See Also
    --------
    show : The same page inside a notebook.
    TreeDisplay : A drawing with matplotlib.

    Notes
    -----
    The page rounds numbers to float32 before it compares them, as `predict` does: the path it
    shows is that of `decision_path`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.export import export_html
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    >>> page = export_html(tree, X, y, title="Iris")
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    content = tree_content(
        _exportable(decision_tree),
        X,
        y,
        feature_names=feature_names,
        class_names=class_names,
        max_labels=max_labels,
        n_rows=n_rows,
    )
    text = _filled("page.html", title or type(decision_tree).__name__, content)
    if out_file is None:
        return text
    if isinstance(out_file, str):
        with open(out_file, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        out_file.write(text)
    return None


def show(
    decision_tree: BaseEstimator,
    X: MatrixLike | None = None,
    y: TargetLike | None = None,
    *,
    height: int = 620,
    **options: Any,
) -> TreePage:
    """Show a tree in a notebook, as the page of :func:`export_html`.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree.
    X, y : array-like, default=None
        Rows and targets for the histograms.
    height : int, default=620
        Height in pixels.
    **options : dict
        Passed to :func:`export_html`: `feature_names`, `class_names`, `max_labels`, `n_rows`,
        `title`.

    Returns
    -------
    TreePage
        What notebooks display, if it is the last expression of a cell.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.export import show
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> page = show(DecisionTreeClassifier().fit(X, y), X, y)
    """
    return TreePage(str(export_html(decision_tree, X, y, **options)), height)


class TreePage:
    """An HTML page of a tree that notebooks display in a frame of its own.

    Parameters
    ----------
    html : str
        The page.
    height : int
        Height of the frame in pixels.

    Examples
    --------
    >>> from fasttree.export import show
    >>> from fasttree.tree import DecisionTree
    >>> page = show(DecisionTree().fit([[1], [2]], ["a", "b"]), height=400)
    >>> page.height
    400
    >>> page.html.startswith("<!DOCTYPE html>")
    True
    """

    def __init__(self, html: str, height: int) -> None:
        self.html, self.height = html, height

    def _repr_html_(self):
        # A frame keeps the page's styles and scripts apart from those of the notebook; its source
        # is an attribute, which escaping suffices for.
        return (
            f'<iframe title="Decision tree" style="width:100%;height:{int(self.height)}px;'
            'border:1px solid #8884;border-radius:6px" sandbox="allow-scripts" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def _filled(template, title, content):
    """A page of the package with its title and content, in one pass: nothing that is put in is
    looked at again."""
    folder = resources.files("fasttree.export") / "page"

    def read(name):
        return (folder / name).read_text(encoding="utf-8")

    parts = {
        "title": escape(title),
        "style": read("page.css"),
        "script": "".join(map(read, _SCRIPTS)),
        "content": _json_for_script(content),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], read(template))


def _json_for_script(content):
    """JSON that can stand inside a script element: nothing in it ends the element."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
