"""Trees as C source: `export_c`."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

import fasttree
from fasttree.export._conditions import ConditionWriter
from fasttree.export._view import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

__all__ = ["export_c"]

# More categories than this are looked up in a table of bits.
_MAX_COMPARED = 4

_KEYWORDS = {
    *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else"),
    *("enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register"),
    *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef"),
    *("union", "unsigned", "void", "volatile", "while"),
}

_SAME = """
/* Whether the first n characters of a text are a label. */
static int is_same(const char *label, const char *text, int n) {
    while (n > 0 && *label != 0 && *label == *text) { ++label; ++text; --n; }
    return n == 0 && *label == 0;
}

static int is_blank(char c) { return c == ' ' || (c >= '\\t' && c <= '\\r'); }
"""

_IN_SET = """
static int in_set(const unsigned char *set, int n_bytes, int code) {
    return code >= 0 && code / 8 < n_bytes && (set[code / 8] >> code % 8 & 1);
}
"""


class _CWriter(ConditionWriter):
    """x[j] is the number of a cell, NaN if it has none, c[j] its category, -1 if it has none."""

    true, false, either, both = "1", "0", "||", "&&"

    def __init__(self, view):
        super().__init__(view)
        self.sets = {}  # name of a set's table, by its bytes
        listed = set() if view.columns is None else view.columns[0].missing.numbers
        self.missing = sorted(float(number) for number in listed if math.isfinite(number))

    def number(self, feature):
        return f"number(x[{feature}])" if self.missing else f"x[{feature}]"

    def compares(self, feature, limit, *, below, inclusive, or_no_number):
        equals = "=" if inclusive != or_no_number else ""
        if or_no_number:  # a comparison with NaN is false
            return f"!({self.number(feature)} {'>' if below else '<'}{equals} {limit!r})"
        return f"{self.number(feature)} {'<' if below else '>'}{equals} {limit!r}"

    def is_number(self, feature):
        return f"{self.number(feature)} == {self.number(feature)}"

    def is_no_number(self, feature):
        return f"{self.number(feature)} != {self.number(feature)}"

    def is_category(self, feature):
        return f"c[{feature}] >= 0"

    def is_no_category(self, feature):
        return f"c[{feature}] < 0"

    def is_listed(self, feature, codes):
        if len(codes) > _MAX_COMPARED:
            return self._in_table(feature, codes)
        return self._any_of([f"c[{feature}] == {code}" for code in codes])

    def is_not_listed(self, feature, codes):
        if len(codes) > _MAX_COMPARED:
            return f"!{self._in_table(feature, codes)}"
        return self._all_of([f"c[{feature}] != {code}" for code in codes])

    def _in_table(self, feature, codes):
        table = bytearray(codes[-1] // 8 + 1)
        for code in codes:
            table[code // 8] |= 1 << code % 8
        name = self.sets.setdefault(bytes(table), f"set_{len(self.sets)}")
        return f"in_set({name}, {len(table)}, c[{feature}])"


def export_c(
    decision_tree: BaseEstimator,
    *,
    name: str = "tree",
    feature_names: Sequence[str] | None = None,
) -> str:
    """Return a tree as C source, C99 without a library.

    ``tree_predict(x, out)`` writes what `predict` returns for the row ``x``, a double for each
    column, NaN where a value is missing: a number for each output, in classification the position
    of the class in `classes_`, which is an int. ``tree_predict_proba(x, out)`` writes the fractions
    of the classes, output by output.

    Where columns hold categories both take them as a second argument, ``tree_predict(x, c, out)``:
    ``c[j]`` is the code of column j's category, that is its position in `categories_`, one beyond
    the last for a category that the fit did not see, and -1 where the cell holds a number or
    nothing; ``x[j]`` is NaN where it holds a category. ``tree_category(j, text)`` finds the code of
    a text. What `missing_values` listed is missing for both.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of fasttree's.
    name : str, default="tree"
        What the names of the functions begin with.
    feature_names : array-like of shape (n_features,), default=None
        Names of the columns, for a comment; None takes those of the fit.

    Returns
    -------
    str
        The source.

    Notes
    -----
    Do not compile with ``-ffast-math``, which knows no NaN. Numbers are compared as doubles, with
    the limit at which rounding to float32, as `predict` does it, crosses the threshold. Categories
    that are numbers or booleans have the text that Python's `str` gives them.

    Examples
    --------
    >>> from fasttree.export import export_c
    >>> from fasttree.tree import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[1], [2], [3]], [0.5, 0.5, 4])
    >>> print(export_c(tree))
    /* A decision tree, written by fasttree ...
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name in _KEYWORDS:
        raise ValueError(f"name must be an identifier of C, got {name!r}.")
    view = view_of(decision_tree, feature_names)
    writer = _CWriter(view)
    splits, position = view.splits(), {leaf: i for i, leaf in enumerate(view.leaves())}
    body = list(_body(writer, splits, position, view.chain(), 1))
    cells = "x", "const double *x"
    if any(map(view.categories_of, range(len(view.names)))):
        cells = "x, c", "const double *x, const int *c"

    lines = list(_comment(view))
    if writer.missing and any("number(" in line for line in body):
        equal = " || ".join(f"x == {number!r}" for number in writer.missing)
        lines += [
            "",
            "/* A number; NaN if it means that a value is missing. */",
            f"static double number(double x) {{ return {equal} ? 0.0 / 0.0 : x; }}",
        ]
    if writer.sets:
        lines.append(_IN_SET)
    for table, set_name in writer.sets.items():
        lines.append(f"static const unsigned char {set_name}[] = {{{', '.join(map(str, table))}}};")
    lines += ["", f"static int leaf_of({cells[1]}) {{"]
    lines += [f"    (void){cell};" for cell in cells[0].split(", ")]  # a leaf reads nothing
    lines += [*body, "}", ""]
    if "c" in cells[0]:
        lines += _category_lookup(view, name)
    lines += _answers(view, list(position), name, cells)
    return "\n".join(lines) + "\n"


def _comment(view):
    """What the arguments mean, as a comment."""
    yield f"/* A decision tree, written by fasttree {fasttree.__version__}."
    yield " *"
    yield " * Columns:"
    for j, column in enumerate(view.names):
        yield f" * {j} {_commented(column)}"
    for k, classes in enumerate(view.classes or []):
        yield f" * Classes{f' of output {k}' if view.n_outputs > 1 else ''}:"
        for code, label in enumerate(classes.tolist()):
            yield f" * {code} {_commented(label)}"
    yield " */"


def _commented(value):
    return ascii(str(value)).replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


def _body(writer, splits, position, chain, depth):
    steps, leaf = chain
    for node, is_left, inner in steps:
        yield f"{'    ' * depth}if ({writer.condition(splits[node], is_left)}) {{"
        yield from _body(writer, splits, position, inner, depth + 1)
        yield f"{'    ' * depth}}}"
    yield f"{'    ' * depth}return {position[leaf]};"


def _category_lookup(view, name):
    """The function that finds the code of a text."""
    yield _SAME.strip()
    yield ""
    yield f"int {name}_category(int column, const char *text) {{"
    yield "    const char *const *labels = 0, *const *missing = 0;"
    yield "    int n = 0, n_missing = 0, start = 0, end = 0, i;"
    yield "    switch (column) {"
    for j in range(len(view.names)):
        labels = [str(label) for label in view.categories_of(j)]
        if not labels:
            continue
        missing = _missing_texts(view, j)
        if len({*labels, *missing}) < len(labels) + len(missing) or any(
            "\0" in label for label in labels
        ):
            raise ValueError(
                f"Column {view.names[j]!r} has categories that C cannot tell apart as texts."
            )
        yield f"    case {j}: {{"
        yield from _texts("known", labels)
        if missing:
            yield from _texts("none", missing)
            yield f"        missing = none; n_missing = {len(missing)};"
        yield f"        labels = known; n = {len(labels)};"
        yield "        break;"
        yield "    }"
    yield "    }"
    yield "    while (text[end] != 0) ++end;"
    yield "    if (end == 0) return -1;"
    yield "    for (i = 0; i < n; ++i)"
    yield "        if (is_same(labels[i], text, end)) return i;"
    yield "    while (start < end && is_blank(text[start])) ++start;"
    yield "    while (start < end && is_blank(text[end - 1])) --end;"
    yield "    for (i = 0; i < n_missing; ++i)"
    yield "        if (is_same(missing[i], text + start, end - start)) return -1;"
    yield "    return n;"
    yield "}"
    yield ""


def _missing_texts(view, feature):
    """The texts that mean a missing value in a column of categories."""
    missing = view.columns[feature].missing
    texts = missing.texts - {""}
    if not any(isinstance(label, str) for label in view.categories_of(feature)):
        texts |= {str(kind(v)) for v in missing.numbers if math.isfinite(v) for kind in (int, float)
                  if kind(v) == v}  # fmt: skip
    return sorted(texts)


def _texts(name, texts):
    yield f"        static const char *const {name}[] = {{"
    for text in texts:
        yield f"            {_c_string(text)},"
    yield "        };"


def _c_string(text):
    """A literal of the UTF-8 bytes of a text."""
    parts = []
    for byte in text.encode("utf-8", "surrogatepass"):
        if 32 <= byte < 127 and byte not in b'"\\?':
            parts.append(chr(byte))
        else:
            parts.append(f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


def _answers(view, leaves, name, cells):
    """The tables of what leaves predict, and the functions that look it up."""
    value = view.tree.value
    if view.classes is None:
        rows = [value[leaf, :, 0].tolist() for leaf in leaves]
        yield from _lookup(f"{name}_predict", "double", rows, cells)
        return
    rows = [value[leaf].argmax(axis=1).tolist() for leaf in leaves]
    yield from _lookup(f"{name}_predict", "int", rows, cells)
    is_class = np.arange(view.tree.max_n_classes) < view.tree.n_classes[:, None]
    rows = [value[leaf][is_class].tolist() for leaf in leaves]
    yield ""
    yield from _lookup(f"{name}_predict_proba", "double", rows, cells)


def _lookup(function, kind, rows, cells):
    names, declared = cells
    n_values = len(rows[0])
    yield f"void {function}({declared}, {kind} *out) {{"
    yield f"    static const {kind} values[][{n_values}] = {{"
    for row in rows:
        yield f"        {{{', '.join(map(_number, row))}}},"
    yield "    };"
    yield f"    const {kind} *found = values[leaf_of({names})];"
    yield "    int k;"
    yield f"    for (k = 0; k < {n_values}; ++k) out[k] = found[k];"
    yield "}"


def _number(value):
    if isinstance(value, float) and value - value != 0:
        return {"inf": "1.0 / 0.0", "-inf": "-1.0 / 0.0", "nan": "0.0 / 0.0"}[repr(value)]
    return repr(value)
