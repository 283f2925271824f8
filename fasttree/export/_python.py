"""Trees as Python source that imports nothing: `export_python`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fasttree
from fasttree.export._conditions import ConditionWriter
from fasttree.export._view import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

__all__ = ["export_python"]

_NUMBER = '''
def _number(cell):
    """A cell as a number; NaN if it is missing."""
    return _NAN if cell is None else float(cell)
'''

_READ = '''
def _read(cell):
    """The number and the category of a cell: NaN and None where it holds none."""
    if cell is None or cell != cell:
        return _NAN, None
    if isinstance(cell, bool):
        return _NAN, (cell,)  # a tuple, for True equals 1
    if not isinstance(cell, str):
        return (_NAN if cell in _MISSING_NUMBERS else float(cell)), None
    if cell == "" or cell.strip() in _MISSING_TEXTS:
        return _NAN, None
    literal = cell.strip(" \\t\\n\\v\\f\\r")
    if set(literal) <= set("0123456789+-.eE"):
        try:
            number = float(literal)
        except ValueError:
            return _NAN, cell
        return (_NAN if number in _MISSING_NUMBERS else number), None
    return _NAN, cell
'''

_READ_CATEGORY = '''
def _category(cell):
    """The category of a cell of a column that holds nothing else; None if it is missing."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, bool):
        return (cell,)  # a tuple, for True equals 1
    if isinstance(cell, str):
        return None if cell == "" or cell.strip() in _MISSING_TEXTS else cell
    return None if cell in _MISSING_NUMBERS else cell
'''


class _PythonWriter(ConditionWriter):
    true, false, either, both = "True", "False", "or", "and"

    def compares(self, feature, limit, *, below, inclusive, or_no_number):
        # A comparison with NaN is false.
        equals = "=" if inclusive != or_no_number else ""
        if or_no_number:
            return f"not x{feature} {'>' if below else '<'}{equals} {limit!r}"
        return f"x{feature} {'<' if below else '>'}{equals} {limit!r}"

    def is_number(self, feature):
        return f"x{feature} == x{feature}"

    def is_no_number(self, feature):
        return f"x{feature} != x{feature}"

    def is_category(self, feature):
        return f"c{feature} is not None"

    def is_no_category(self, feature):
        return f"c{feature} is None"

    def is_listed(self, feature, codes):
        return f"c{feature} in {self._set(feature, codes)}"

    def is_not_listed(self, feature, codes):
        return f"c{feature} not in {self._set(feature, codes)}"

    def _set(self, feature, codes):
        labels = self.view.categories_of(feature)
        labels = [labels[code] for code in codes]
        labels = [(label,) if isinstance(label, bool) else label for label in labels]
        return "{" + ", ".join(map(_literal, labels)) + "}"


def _literal(value):
    """Source text of a value; infinities and NaN are spelled out."""
    if isinstance(value, float) and value - value != 0:
        return f"float({str(value)!r})"
    if isinstance(value, str):
        return ascii(str(value))
    return repr(value)


def export_python(
    decision_tree: BaseEstimator, *, feature_names: Sequence[str] | None = None
) -> str:
    """Return a tree as the source of a Python module that imports nothing.

    The module has ``predict(row)``, and for classifiers ``predict_proba(row)``. A row is a sequence
    of cells in the order of the fit: numbers, texts and booleans; None and NaN are missing. What
    they return is what `predict` and `predict_proba` return for that row, several outputs as lists.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of fasttree's.
    feature_names : array-like of shape (n_features,), default=None
        Names of the columns, for a comment; None takes those of the fit.

    Returns
    -------
    str
        The source.

    Notes
    -----
    Numbers are compared as they are, with the limit at which rounding to float32, as `predict` does
    it, crosses the threshold.

    Examples
    --------
    >>> from fasttree.export import export_python
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([["red", 1], ["blue", 2], ["red", 3]], [0, 1, 0])
    >>> module = {}
    >>> exec(export_python(tree), module)
    >>> module["predict"](["blue", None])
    1
    """
    view = view_of(decision_tree, feature_names)
    writer = _PythonWriter(view)
    splits, position = view.splits(), {leaf: i for i, leaf in enumerate(view.leaves())}
    lines = [
        f'"""A decision tree, written by fasttree {fasttree.__version__}."""',
        "",
        "# Columns:",
    ]
    lines += [f"# {j} {_literal(name)}" for j, name in enumerate(view.names)]
    lines += ["", '_NAN = float("nan")', _readers(view, splits)]
    lines += ["", "def _leaf(row):"]
    lines += _reading(view, splits)
    lines += _body(writer, splits, position, view.chain(), 1)
    lines += ["", ""]
    lines += _answers(view, list(position))
    return "\n".join(lines) + "\n"


def _readers(view, splits):
    """The functions that read cells, and what they need."""
    if view.columns is None:
        return _NUMBER
    missing = view.columns[0].missing
    numbers = ", ".join(map(_literal, sorted(missing.numbers, key=repr)))
    texts = ", ".join(map(_literal, sorted(missing.texts - {""})))
    lines = [f"_MISSING_TEXTS = {{{texts}}}" if texts else "_MISSING_TEXTS = set()"]
    lines.append(f"_MISSING_NUMBERS = {{{numbers}}}" if numbers else "_MISSING_NUMBERS = set()")
    kinds = {view.holds_numbers(split.feature) for split in splits if split is not None}
    lines += [_READ] * (True in kinds) + [_READ_CATEGORY] * (False in kinds)
    return "\n".join(lines)


def _reading(view, splits):
    """The lines that read the cells that the splits ask for."""
    for feature in sorted({split.feature for split in splits if split is not None}):
        if view.columns is None:
            yield f"    x{feature} = _number(row[{feature}])"
        elif view.holds_numbers(feature):
            yield f"    x{feature}, c{feature} = _read(row[{feature}])"
        else:
            yield f"    c{feature} = _category(row[{feature}])"


def _body(writer, splits, position, chain, depth):
    steps, leaf = chain
    for node, is_left, inner in steps:
        yield f"{'    ' * depth}if {writer.condition(splits[node], is_left)}:"
        yield from _body(writer, splits, position, inner, depth + 1)
    yield f"{'    ' * depth}return {position[leaf]}"


def _answers(view, leaves):
    """The tables of what leaves predict, and the functions that look it up."""
    predictions = view.predictions()
    is_single = view.n_outputs == 1
    rows = [predictions[leaf] for leaf in leaves]
    yield from _table("_PREDICTIONS", [row[0] if is_single else row for row in rows])
    yield from _lookup("predict", "_PREDICTIONS")
    if view.classes is None:
        return
    value, sizes = view.tree.value, view.tree.n_classes.tolist()
    rows = [[value[leaf, k, :n].tolist() for k, n in enumerate(sizes)] for leaf in leaves]
    yield ""
    yield ""
    yield from _table("_PROBABILITIES", [row[0] if is_single else row for row in rows])
    yield from _lookup("predict_proba", "_PROBABILITIES")


def _table(name, items):
    yield f"{name} = ["
    for item in items:
        if isinstance(item, list):
            text = ", ".join(
                f"[{', '.join(map(_literal, part))}]" if isinstance(part, list) else _literal(part)
                for part in item
            )
            yield f"    [{text}],"
        else:
            yield f"    {_literal(item)},"
    yield "]"


def _lookup(name, table):
    yield ""
    yield ""
    yield f"def {name}(row):"
    yield f"    return {table}[_leaf(row)]"
