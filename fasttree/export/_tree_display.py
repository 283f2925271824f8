"""A tree drawn with matplotlib: the boxes of the HTML page, with their histograms."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from fasttree.export._content import PALETTE, tree_content
from fasttree.export._text import _exportable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from sklearn.base import BaseEstimator

    from fasttree._typing import MatrixLike, TargetLike

__all__ = ["TreeDisplay"]

# Sizes in the units of the axes, in which a box is 1 wide.
_HEIGHT, _STEP_X, _STEP_Y, _MARGIN = 0.78, 1.1, 1.12, 0.06
# Inches per unit of a figure that is made for the drawing, and characters per line of a box.
_INCHES, _CHARACTERS = 1.75, 23
# Lowest, middle and highest value of a quantity.
_VALUE_COLORS = ("#3b7dd8", "#9aa3ad", "#e08a1e")


class TreeDisplay:
    """A drawing of the top of a tree, with the distribution of the rows in each node.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    content : dict
        What is drawn, of every node.
    max_depth : int
        Depth of the last level that is drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure they belong to.
    texts_ : dict
        The title of each box that was drawn, by the id of its node.

    See Also
    --------
    export_html : A page on which all of a tree can be opened.
    plot_tree : scikit-learn's drawing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.export import TreeDisplay
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier().fit(X, y)
    >>> TreeDisplay.from_estimator(tree, X, y, max_depth=2)
    <...>
    """

    def __init__(self, *, content: dict[str, Any], max_depth: int) -> None:
        self.content, self.max_depth = content, max_depth

    @classmethod
    def from_estimator(
        cls,
        decision_tree: BaseEstimator,
        X: MatrixLike | None = None,
        y: TargetLike | None = None,
        *,
        max_depth: int = 3,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        max_labels: int = 3,
        ax: Axes | None = None,
        fontsize: float = 9,
    ) -> Self:
        """Draw the top of a fitted tree.

        Parameters
        ----------
        decision_tree : estimator
            A fitted tree.
        X : array-like, sparse matrix or table of shape (n_samples, n_features), default=None
            Rows whose distribution each inner node shows, with its threshold; None shows the
            classes or values of the fit alone.
        y : array-like of shape (n_samples,), default=None
            The targets of X: they colour the distributions.
        max_depth : int, default=3
            Depth of the last level that is drawn.
        feature_names : array-like of shape (n_features,), default=None
            Names of the features; None takes those of the fit, or numbers them.
        class_names : array-like of shape (n_classes,), default=None
            Names of the classes; None takes `classes_`.
        max_labels : int, default=3
            Categories that a question names; of more, the rest are counted.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure of a fitting size.
        fontsize : float, default=9
            Size of the text in points.

        Returns
        -------
        TreeDisplay
            The display, drawn.
        """
        content = tree_content(
            _exportable(decision_tree),
            X,
            y,
            feature_names=feature_names,
            class_names=class_names,
            max_labels=max_labels,
        )
        return cls(content=content, max_depth=max_depth).plot(ax=ax, fontsize=fontsize)

    def plot(self, *, ax: Axes | None = None, fontsize: float = 9) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure of a fitting size.
        fontsize : float, default=9
            Size of the text in points.

        Returns
        -------
        TreeDisplay
            The display, drawn.
        """
        import matplotlib.pyplot as plt

        places = _places(self.content, self.max_depth)
        xs, ys = zip(*places.values())
        width, height = max(xs) + 1, max(ys) + _HEIGHT
        if ax is None:
            _, ax = plt.subplots(
                figsize=(max(3.0, _INCHES * width), _INCHES * height), layout="constrained"
            )
        ax.set(xlim=(-0.05, width + 0.05), ylim=(height + 0.05, -0.05), aspect="equal")
        ax.axis("off")
        self.ax_, self.figure_ = ax, ax.figure
        self.texts_: dict[int, Text] = {}
        for node, (x, y) in places.items():
            if not self._is_leaf(node) and self.content["left"][node] in places:
                self._draw_branches(node, places, fontsize)
            self._draw_box(node, x, y, fontsize)
        self._draw_legend(fontsize)
        return self

    def _draw_legend(self, fontsize):
        """The colours of the classes, if there are few enough to be told apart."""
        from matplotlib.patches import Patch

        names = self.content["outputs"][0]
        if names is not None and len(names) <= len(PALETTE):
            patches = [Patch(color=color, label=name) for name, color in zip(names, PALETTE)]
            self.ax_.legend(handles=patches, loc="upper left", fontsize=fontsize - 1, frameon=False)

    def _is_leaf(self, node):
        return self.content["feature"][node] < 0

    def _draw_branches(self, node, places, fontsize):
        x, y = places[node]
        for side, word in (("left", "yes"), ("right", "no")):
            child = self.content[side][node]
            share = self.content["rows"][child] / max(1, self.content["rows"][0])
            to_x, to_y = places[child]
            self.ax_.plot(
                [x + 0.5, to_x + 0.5],
                [y + _HEIGHT, to_y],
                color="#9aa6b6",
                linewidth=0.8 + 6 * share,
                solid_capstyle="round",
                zorder=1,
            )
            self.ax_.text(
                (x + to_x + 1) / 2,
                (y + _HEIGHT + to_y) / 2,
                word,
                ha="center",
                va="center",
                fontsize=fontsize - 1,
                zorder=2,
                bbox=dict(boxstyle="round,pad=0.15", fc=_background(self.ax_), ec="none"),
            )

    def _draw_box(self, node, x, y, fontsize):
        from matplotlib.patches import FancyBboxPatch

        content, is_leaf = self.content, self._is_leaf(node)
        self.ax_.add_patch(
            FancyBboxPatch(
                (x + 0.03, y + 0.03),
                0.94,
                _HEIGHT - 0.06,
                boxstyle=f"round,pad=0.03,rounding_size={0.12 if is_leaf else 0.03}",
                facecolor=_background(self.ax_),
                edgecolor="#9aa6b6",
                linewidth=1,
                zorder=3,
            )
        )
        title = self._outcome(node) if is_leaf else self._question(node)
        self.texts_[node] = self.ax_.text(
            x + 0.5, y + 0.05, title, ha="center", va="top", fontsize=fontsize, zorder=5
        )
        self.ax_.text(
            x + 0.5,
            y + _HEIGHT - 0.03,
            self._figures(node),
            ha="center",
            va="bottom",
            fontsize=fontsize - 2,
            alpha=0.75,
            zorder=5,
        )
        histogram = content.get("histogram", [None] * len(content["rows"]))[node]
        if histogram is not None:
            self._draw_histogram(histogram, x + _MARGIN, y + 0.3, 1 - 2 * _MARGIN, 0.34)
        elif content["outputs"][0] is not None:
            self._draw_shares(node, x + _MARGIN, y + 0.46, 1 - 2 * _MARGIN, 0.09)
        else:
            self._draw_value(node, x + _MARGIN, y + 0.46, 1 - 2 * _MARGIN, 0.09)

    def _figures(self, node):
        content = self.content
        rows = f"{content['rows'][node]:,} rows"
        if content["outputs"][0] is not None:
            return f"{rows}, {content['criterion']} {content['impurity'][node]:.2g}"
        return rows if self._is_leaf(node) else f"{rows}, mean {content['value'][node][0]:.4g}"

    def _question(self, node):
        name = self.content["columns"][self.content["feature"][node]]["name"]
        words = self.content["yes"][node]
        lines = [f"{name} {words}"]
        if len(lines[0]) > _CHARACTERS:
            lines = wrap(name, _CHARACTERS)[:1] + wrap(words, _CHARACTERS)
        return "\n".join(lines if len(lines) < 3 else [lines[0], lines[1][:-1] + "…"])

    def _outcome(self, node):
        names, value = self.content["outputs"][0], self.content["value"][node][0]
        if names is None:
            return f"{value:.4g}"
        labels, weights = value[::2], value[1::2]
        best = int(np.argmax(weights))
        name = "\n".join(wrap(names[labels[best]], _CHARACTERS)[:2])
        return f"{name}\n{weights[best] / sum(weights):.0%}"

    # ---- pictures inside a box

    def _draw_histogram(self, histogram, x, y, width, height):
        """The bars that _content.py lists; a line stands between the sides."""
        if isinstance(histogram[0], list):
            shown, sides, flat = histogram
            n_bars, order = len(shown), np.argsort(np.negative(sides), kind="stable")
            n_left = sum(sides)
        else:
            _, _, n_left, n_bars, flat, _ = histogram
            order = np.arange(n_bars)
        slot = np.argsort(order)
        parts = [(slot[bar], count, color) for bar, count, color in self._parts(flat)]
        totals = np.zeros(n_bars)
        for bar, count, _ in parts:
            totals[bar] += count
        step, filled = width / n_bars, np.zeros(n_bars)
        self._rectangle(x, y, n_left * step, height, "#3b7dd8", alpha=0.12)
        for bar, count, color in parts:
            part = height * count / totals.max()
            top = y + height - filled[bar] - part
            self._rectangle(x + bar * step, top, step * 0.92, part, color)
            filled[bar] += part
        middle = x + n_left * step
        self.ax_.plot([middle] * 2, [y, y + height], color="#c2410c", ls="--", lw=1, zorder=6)

    def _parts(self, flat):
        """Bar, count and colour of what a flat list of a histogram holds."""
        names = self.content["outputs"][0]
        if "target" in self.content:
            low, width, n_bars = self.content["target_bars"]
            for bar, count, mean in zip(flat[::3], flat[1::3], flat[2::3]):
                yield bar, count, _value_color(mean, low, low + width * n_bars)
            return
        n_classes = len(names) if self.content["has_y"] else 1
        for place, count in zip(flat[::2], flat[1::2]):
            color = _class_color(place % n_classes, n_classes) if n_classes > 1 else "#8a97a8"
            yield place // n_classes, count, color

    def _draw_shares(self, node, x, y, width, height):
        value, n_classes = self.content["value"][node][0], len(self.content["outputs"][0])
        for label, weight in zip(value[::2], value[1::2]):
            share = width * weight / sum(value[1::2])
            self._rectangle(x, y, share, height, _class_color(label, n_classes))
            x += share

    def _draw_value(self, node, x, y, width, height):
        values = [value[0] for value in self.content["value"]]
        low, high = min(values), max(values)
        share = (values[node] - low) / ((high - low) or 1)
        self._rectangle(x, y, width, height, "#cfd6df")
        color = _value_color(values[node], low, high)
        self._rectangle(x + share * (width - 0.04), y - 0.02, 0.04, height + 0.04, color)

    def _rectangle(self, x, y, width, height, color, **options):
        from matplotlib.patches import Rectangle

        self.ax_.add_patch(
            Rectangle((x, y), width, height, facecolor=color, lw=0, zorder=4, **options)
        )


def _places(content, max_depth):
    """The upper left corners of the boxes by node: a parent stands above the middle of its
    children."""
    order, depth, stack = [], {0: 0}, [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if content["feature"][node] >= 0 and depth[node] < max_depth:
            for child in (content["right"][node], content["left"][node]):
                depth[child] = depth[node] + 1
                stack.append(child)
    x, n_ends = {}, 0
    for node in order:
        if content["left"][node] not in depth or content["feature"][node] < 0:
            x[node] = n_ends * _STEP_X
            n_ends += 1
    for node in reversed(order):
        if node not in x:
            x[node] = (x[content["left"][node]] + x[content["right"][node]]) / 2
    return {node: (x[node], depth[node] * _STEP_Y) for node in order}


def _class_color(label, n_classes):
    import matplotlib.pyplot as plt

    if n_classes <= len(PALETTE):
        return PALETTE[label]
    return plt.get_cmap("hsv")(label / n_classes)


def _value_color(value, low, high):
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("values", _VALUE_COLORS)
    return colors((value - low) / ((high - low) or 1))


def _background(ax):
    return ax.get_facecolor()
