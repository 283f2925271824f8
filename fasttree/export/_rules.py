"""Trees as lists of if-then rules: `export_rules`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fasttree.export._view import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

__all__ = ["Condition", "Rule", "export_rules"]


@dataclass(frozen=True)
class Condition:
    """What a rule asks of one column. A cell is a number, a category or missing.

    Attributes
    ----------
    feature : int
        Position of the column.
    name : str
        Its name.
    above, at_most : float or None
        The numbers that fulfil the condition lie above the one and are at most the other, once
        they are rounded to float32; None for both if no number does.
    categories : tuple or None
        The categories that fulfil it; None if it is every category but those of `not_categories`.
    not_categories : tuple
        Those that do not, where `categories` is None.
    missing : bool
        Whether missing values fulfil it.
    text : str
        The condition in words. Of what the fit did not see in the column, such as missing values,
        it says nothing.

    Examples
    --------
    >>> from fasttree.export import export_rules
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> (condition,) = export_rules(tree, feature_names=["age"])[0].conditions
    >>> condition.name, condition.above, condition.at_most
    ('age', -inf, 2.5)
    """

    feature: int
    name: str
    above: float | None
    at_most: float | None
    categories: tuple[Any, ...] | None
    not_categories: tuple[Any, ...]
    missing: bool
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Rule:
    """A leaf as a rule: rows that fulfil all conditions get the prediction.

    Attributes
    ----------
    conditions : tuple of Condition
        At most one for each column, in the order in which the tree asks.
    prediction : object
        What `predict` returns, a tuple if there are several outputs.
    n_node_samples : int
        Number of training rows that fulfil the conditions.
    support : float
        Their share of the weight of all training rows.
    confidence : float or None
        Share of the predicted class in their weight, the smallest of several outputs; None in
        regression.
    leaf : int
        Id of the leaf.

    Examples
    --------
    >>> from fasttree.export import export_rules
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> rule = export_rules(tree)[1]
    >>> rule.prediction, rule.n_node_samples, rule.confidence
    (1, 2, 1.0)
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    n_node_samples: int
    support: float
    confidence: float | None
    leaf: int

    def __str__(self) -> str:
        asked = " and ".join(map(str, self.conditions)) or "always"
        told = f"support {self.support:.1%}"
        if self.confidence is not None:
            told += f", confidence {self.confidence:.1%}"
        answer = self.prediction
        answer = f"{answer:.6g}" if self.confidence is None and _is_float(answer) else str(answer)
        return f"if {asked} then {answer}  ({told})"


def _is_float(value):
    return isinstance(value, float)


@dataclass(frozen=True)
class _Region:
    """Which cells of a column reach a node.

    Categories are `codes`, or all others if `is_complement`; unknown ones are among the others.
    """

    above: float = -math.inf
    at_most: float = math.inf
    with_numbers: bool = True
    codes: frozenset = frozenset()
    is_complement: bool = True
    missing: bool = True

    def after(self, split, is_left):
        """The part that goes to one side of a split."""
        missing = self.missing and split.missing_left == is_left
        if split.codes is None:
            above, at_most = self.above, self.at_most
            if is_left:
                at_most = min(at_most, split.at_most)
            else:
                above = max(above, split.at_most)
            codes, is_complement = self.codes, self.is_complement
            if split.missing_left != is_left:  # categories go with missing values
                codes, is_complement = frozenset(), False
            with_numbers = self.with_numbers and above < at_most
            return _Region(above, at_most, with_numbers, codes, is_complement, missing)
        listed = frozenset(split.codes.tolist())
        if split.listed_left == is_left:
            codes = listed - self.codes if self.is_complement else listed & self.codes
            is_complement = False
        else:
            is_complement = self.is_complement
            codes = self.codes | listed if is_complement else self.codes - listed
        with_numbers = self.with_numbers and not is_left
        return _Region(self.above, self.at_most, with_numbers, codes, is_complement, missing)


def export_rules(
    decision_tree: BaseEstimator,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    decimals: int | None = None,
) -> list[Rule]:
    """Return a tree as if-then rules, one per leaf, from left to right.

    A rule asks each column once: the conditions that a path states one after the other are merged.
    Every row fulfils exactly one rule.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of fasttree's.
    feature_names : array-like of shape (n_features,), default=None
        Names of the columns; None takes those of the fit, or x0, x1 and so on.
    class_names : array-like of shape (n_classes,), default=None
        Names of the classes in the order of `classes_`, for one output.
    decimals : int, default=None
        Digits after the point in the texts of conditions; None writes as many as it takes to tell
        the threshold from any other.

    Returns
    -------
    list of Rule
        Each has a text: ``print(*rules, sep="\\n")`` shows them.

    Examples
    --------
    >>> from fasttree.export import export_rules
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> rows = [["red", 1], ["blue", 2], ["red", 3], ["green", 4]]
    >>> tree = DecisionTreeClassifier().fit(rows, ["no", "yes", "no", "no"])
    >>> print(*export_rules(tree), sep="\\n")
    if x0 in {blue} then yes  (support 25.0%, confidence 100.0%)
    if x0 not in {blue} then no  (support 75.0%, confidence 100.0%)
    """
    view = view_of(decision_tree, feature_names)
    tree, splits, predictions = view.tree, view.splits(), view.predictions()
    if class_names is not None:
        if view.classes is None or view.n_outputs > 1:
            raise ValueError("class_names are for classification with one output.")
        if len(class_names) != len(view.classes[0]):
            raise ValueError(
                f"class_names must contain {len(view.classes[0])} elements, got {len(class_names)}."
            )
        named = tree.value[:, 0].argmax(axis=1).tolist()
        predictions = [[class_names[code]] for code in named]
    words = _Words(view, decimals)
    weight, n_rows = tree.weighted_n_node_samples, tree.n_node_samples
    rules = []
    stack: list[tuple[int, dict[int, _Region]]] = [(0, {})]
    while stack:
        node, regions = stack.pop()
        split = splits[node]
        if split is not None:
            region = regions.get(split.feature, _Region())
            for child, is_left in (
                (tree.children_right[node], False),
                (tree.children_left[node], True),
            ):
                stack.append((int(child), regions | {split.feature: region.after(split, is_left)}))
            continue
        confidence = None
        if view.classes is not None:
            confidence = float(tree.value[node].max(axis=1).min())
        prediction = predictions[node]
        rules.append(
            Rule(
                tuple(words.condition(feature, region) for feature, region in regions.items()),
                prediction[0] if view.n_outputs == 1 else tuple(prediction),
                int(n_rows[node]),
                float(weight[node] / weight[0]),
                confidence,
                node,
            )
        )
    return rules


class _Words:
    """Says in words what a region asks."""

    def __init__(self, view, decimals):
        self.view, self.decimals = view, decimals

    def condition(self, feature, region):
        labels = self.view.categories_of(feature)
        named = tuple(labels[code] for code in sorted(region.codes))
        is_number = region.with_numbers
        return Condition(
            feature=feature,
            name=self.view.names[feature],
            above=region.above if is_number else None,
            at_most=region.at_most if is_number else None,
            categories=None if region.is_complement else named,
            not_categories=named if region.is_complement else (),
            missing=region.missing,
            text=self._text(feature, region, named),
        )

    def _text(self, feature, region, named):
        name = self.view.names[feature]
        column = None if self.view.columns is None else self.view.columns[feature]
        has_numbers = self.view.holds_numbers(feature)
        has_categories = bool(self.view.categories_of(feature))
        has_missing = column is None or column.has_missing
        bounds = self._bounds(name, region)
        listed = f"{{{', '.join(map(str, named))}}}"
        with_missing = region.missing and has_missing
        lacks_missing = has_missing and not region.missing
        with_all_numbers = not has_numbers or (region.with_numbers and bounds is None)
        if with_all_numbers and (region.is_complement or not has_categories):
            parts = [f"{name} not in {listed}"] if has_categories and named else []
            if lacks_missing:
                parts.append("not missing" if parts else f"{name} is not missing")
            return " and ".join(parts) or f"{name} is anything"

        parts = []  # each alone, and after others
        if has_numbers and region.with_numbers:
            parts.append((bounds, bounds) if bounds else (f"{name} is a number", "a number"))
        if has_categories and region.is_complement and not named and not lacks_missing:
            parts.append((f"{name} is not a number", "not a number"))
            with_missing = False
        elif has_categories and region.is_complement:
            kind = f"a category not in {listed}" if named else "a category"
            parts.append((f"{name} is {kind}", kind))
        elif has_categories and named:
            parts.append((f"{name} in {listed}", f"in {listed}"))
        if with_missing:
            parts.append((f"{name} is missing", "missing"))
        if not parts:
            return f"{name} is of a kind that the fit did not see"
        text = " or ".join([parts[0][0], *(after for _, after in parts[1:])])
        return f"({text})" if len(parts) > 1 else text

    def _bounds(self, name, region):
        """The interval of the numbers; None if it has no ends."""
        above, at_most = math.isfinite(region.above), math.isfinite(region.at_most)
        if above and at_most:
            return f"{self._number(region.above)} < {name} <= {self._number(region.at_most)}"
        if above:
            return f"{name} > {self._number(region.above)}"
        return f"{name} <= {self._number(region.at_most)}" if at_most else None

    def _number(self, value):
        if self.decimals is None:
            return str(np.float32(value)).removesuffix(".0")
        return f"{value:.{self.decimals}f}"
