"""Trees as SQL queries: `export_sql`.

A query has two levels. The inner one reads the cells that the tree asks for: a number and a
category for each column, NULL where there is none, as the tables of a fit are read. The outer one
is a CASE for each column of the answer. SQLite allows only some twenty levels of nested
expressions, which is why a tree becomes a chain (see _view.py).
"""

from __future__ import annotations

import math
import string
from fractions import Fraction
from typing import TYPE_CHECKING

from fasttree.export._conditions import ConditionWriter
from fasttree.export._view import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from sklearn.base import BaseEstimator

__all__ = ["export_sql"]

# What blanks are around a number in a text, and the numbers themselves.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_LITERAL = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"


class _Dialect:
    """What the databases have in common, which is what PostgreSQL says."""

    text, double, boolean = "TEXT", "DOUBLE PRECISION", "BOOLEAN"
    blanks = r"E' \t\n\013\f\r'"
    true, false = "TRUE", "FALSE"

    def quote(self, name):
        """A name as an identifier."""
        if "\0" in name:
            raise ValueError(f"SQL cannot name a column {name!r}.")
        return '"' + name.replace('"', '""') + '"'

    def folded(self, name):
        """What is the same of two names of one column."""
        return name

    def string(self, text):
        if "\0" in text:
            raise ValueError(f"SQL cannot hold the text {text!r}.")
        return "'" + text.replace("'", "''") + "'"

    def number(self, value):
        """A literal that is exactly this double."""
        if value - value != 0:
            return self.string({"inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), "NaN")) + (
                f"::{self.double}"
            )
        return f"'{value!r}'::{self.double}"

    def literal(self, value):
        """A class label or prediction."""
        if isinstance(value, bool):
            return self.true if value else self.false
        if isinstance(value, str):
            return self.string(value)
        return self.number(value) if isinstance(value, float) else repr(value)

    def holds_number(self, column):
        """Whether a text is a number."""
        return f"{self.trimmed(column)} ~ '^{_LITERAL}$'"

    def trimmed(self, column):
        return f"TRIM(BOTH {self.blanks} FROM {self.as_text(column)})"

    def as_text(self, column):
        return f"CAST({column} AS {self.text})"

    def number_of_text(self, column):
        return f"CAST({self.trimmed(column)} AS {self.double})"

    def number_of_column(self, column):
        """A column of numbers, NaN as NULL."""
        return f"NULLIF(CAST({column} AS {self.double}), 'NaN')"

    def truth_of_column(self, column):
        return f"CAST(CAST({column} AS {self.boolean}) AS INTEGER)"

    def category_of_numbers(self, column):
        return self.number_of_column(column)


class _DuckDB(_Dialect):
    text, double = "VARCHAR", "DOUBLE"
    blanks = "concat(' ', chr(9), chr(10), chr(11), chr(12), chr(13))"

    def folded(self, name):
        return name.lower()

    def holds_number(self, column):
        return f"regexp_full_match({self.trimmed(column)}, '{_LITERAL}')"

    def trimmed(self, column):
        return f"TRIM({self.as_text(column)}, {self.blanks})"

    def number_of_column(self, column):
        return f"NULLIF(CAST({column} AS DOUBLE), 'NaN'::DOUBLE)"


class _SQLite(_Dialect):
    """Cells have types of their own, columns hardly any."""

    text, double = "TEXT", "REAL"
    blanks = "' ' || char(9, 10, 11, 12, 13)"
    true, false = "1", "0"

    def folded(self, name):
        return name.translate(_LOWER)  # only letters of ASCII are the same in both cases

    def number(self, value):
        # Releases before 3.43 do not read every decimal as the nearest double, so only short ones
        # are written as decimals, others as whole numbers and powers of two.
        if value - value != 0:
            return {"inf": "9e999", "-inf": "-9e999"}.get(repr(value), "NULL")
        exact = Fraction(value)
        if Fraction(repr(value)) == exact and len(repr(value)) <= 16 and "e" not in repr(value):
            return repr(value)
        mantissa, exponent = math.frexp(value)
        mantissa, exponent = int(mantissa * 2**53), exponent - 53
        while mantissa % 2 == 0:
            mantissa, exponent = mantissa // 2, exponent + 1
        sign = "*" if exponent > 0 else "/"
        steps = [52] * (abs(exponent) // 52) + [abs(exponent) % 52]
        powers = "".join(f" {sign} {2**step}.0" for step in steps if step)
        return f"({mantissa}.0{powers} /* {value:.7g} */)"

    def holds_number(self, column):
        # The cast has an affinity, so a text beside it is made a number, if it is one as a whole.
        return (
            f"typeof({column}) IN ('integer', 'real') OR "
            f"(typeof({column}) = 'text' AND CAST({column} AS NUMERIC) = {column})"
        )

    def trimmed(self, column):
        return f"TRIM({column}, {self.blanks})"

    def number_of_text(self, column):
        return f"CAST({column} AS REAL)"

    def number_of_column(self, column):
        return f"CASE WHEN {self.holds_number(column)} THEN {self.number_of_text(column)} END"

    def truth_of_column(self, column):
        return f"CASE WHEN typeof({column}) = 'integer' THEN {column} END"

    def category_of_numbers(self, column):
        return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN {column} END"


DIALECTS = {"duckdb": _DuckDB, "postgresql": _Dialect, "sqlite": _SQLite}


class _SQLWriter(ConditionWriter):
    true, false, either, both = "1 = 1", "1 = 0", "OR", "AND"

    def __init__(self, view, dialect, prefix):
        super().__init__(view)
        self.dialect, self.prefix = dialect, prefix
        self.asked = set()  # names of cells in conditions

    def _cell(self, name):
        self.asked.add(name)
        return name

    def number(self, feature):
        return self._cell(f"{self.prefix}number_{feature}")

    def category(self, feature):
        return self._cell(f"{self.prefix}category_{feature}")

    def compares(self, feature, limit, *, below, inclusive, or_no_number):
        sign = ("<" if below else ">") + ("=" if inclusive else "")
        compared = f"{self.number(feature)} {sign} {self.dialect.number(limit)}"
        if or_no_number:
            return f"({compared} OR {self.number(feature)} IS NULL)"
        return compared

    def is_number(self, feature):
        return f"{self.number(feature)} IS NOT NULL"

    def is_no_number(self, feature):
        return f"{self.number(feature)} IS NULL"

    def is_category(self, feature):
        return f"{self.category(feature)} IS NOT NULL"

    def is_no_category(self, feature):
        return f"{self.category(feature)} IS NULL"

    def is_listed(self, feature, codes):
        return f"{self.category(feature)} IN ({self._list(feature, codes)})"

    def is_not_listed(self, feature, codes):
        listed = self._list(feature, codes)
        category = self.category(feature)
        return f"({category} NOT IN ({listed}) OR {category} IS NULL)"

    def _list(self, feature, codes):
        labels = self.view.categories_of(feature)
        kind = _kind_of_labels(self.view, feature)
        if kind is bool:
            return ", ".join(str(int(labels[code])) for code in codes)
        write = self.dialect.string if kind is str else lambda label: self._number_label(label)
        return ", ".join(write(labels[code]) for code in codes)

    def _number_label(self, label):
        return repr(label) if isinstance(label, int) else self.dialect.number(label)


def _kind_of_labels(view, feature):
    """What the categories of a column are: str, bool or float."""
    kinds = {float if type(label) is int else type(label) for label in view.categories_of(feature)}
    kinds = {str if issubclass(kind, str) else kind for kind in kinds}
    is_hybrid = view.holds_numbers(feature)
    if len(kinds) > 1 or (is_hybrid and not kinds <= {str}):
        raise ValueError(
            f"Column {view.names[feature]!r} mixes categories of several types, which no column of "
            "a database holds."
        )
    return kinds.pop() if kinds else str


def export_sql(
    decision_tree: BaseEstimator,
    table: str | Sequence[str],
    *,
    dialect: Literal["sqlite", "postgresql", "duckdb"] = "sqlite",
    keep: str | Sequence[str] = (),
    with_probabilities: bool = False,
    feature_names: Sequence[str] | None = None,
) -> str:
    """Return a tree as an SQL query that predicts every row of a table.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of fasttree's.
    table : str or sequence of str
        Name of the table; a sequence names the schema first.
    dialect : {"sqlite", "postgresql", "duckdb"}, default="sqlite"
        The database that the query is for.
    keep : str or sequence of str, default=()
        Columns of the table to return with the predictions, such as a key: the order of rows is
        the database's.
    with_probabilities : bool, default=False
        Whether to return the fractions of the classes too (classification).
    feature_names : array-like of shape (n_features,), default=None
        Names of the table's columns in the order of the fit; None takes those of the fit, or x0,
        x1 and so on. Only the columns that the tree splits on must exist.

    Returns
    -------
    str
        The query. Its columns are those to keep, `prediction` (with several outputs `prediction_0`,
        `prediction_1` and so on), and `probability_0` and so on in the order of `classes_` (with
        several outputs `probability_0_0`: output, class).

    Raises
    ------
    ValueError
        If the categories of a column are of several types, such as texts and booleans, or if a
        column to keep is named twice or as one of the answer's.

    Notes
    -----
    Columns are read as the fit read them: where it saw numbers, the column must hold numbers (in
    SQLite texts that are numbers will do); where it saw texts, each is a number if all of it is
    one, else a category; NULL, NaN, empty texts and `missing_values` are missing. Numbers are
    compared as doubles, with the limit at which rounding to float32, as `predict` does it, crosses
    the threshold; whole numbers beyond 2**53 may differ. Identifiers of PostgreSQL end after 63
    bytes.

    Examples
    --------
    >>> from fasttree.export import export_sql
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["low", "low", "high"])
    >>> print(export_sql(tree, "rows", keep=["id"], feature_names=["size"]), end="")
    SELECT "id",
      CASE
        WHEN (number_0 <= (20971521.0 / 8388608.0 /* 2.5 */) OR number_0 IS NULL) THEN 'low'
        ELSE 'high'
      END AS "prediction"
    FROM (
      SELECT "id",
        CASE WHEN ... THEN CAST("size" AS REAL) END AS number_0
      FROM "rows"
    ) AS cells
    """
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r}.")
    view, sql = view_of(decision_tree, feature_names), DIALECTS[dialect]()
    keep = [keep] if isinstance(keep, str) else list(keep)
    table = [table] if isinstance(table, str) else table
    for what, names in (("keep", keep), ("table", table)):
        if names is None or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{what} must be a name or a list of names, got {names!r}.")
    prefix = ""
    while any(name.lower().startswith((f"{prefix}number_", f"{prefix}category_")) for name in keep):
        prefix += "cell_"
    writer, splits = _SQLWriter(view, sql, prefix), view.splits()
    kept = [sql.quote(name) for name in keep]
    columns = list(_answers(view, sql, with_probabilities))
    _check_names(sql, keep, [name for name, _ in columns])
    answers = [
        f"CASE\n{_case(writer, splits, view.chain(), column, 4)}  END AS {sql.quote(name)}"
        for name, column in columns
    ]
    cells = [*kept, *_cells(view, sql, writer, splits)] or [f"1 AS {sql.quote('nothing')}"]
    return (
        f"SELECT {_listed([*kept, *answers], 2)}\n"
        "FROM (\n"
        f"  SELECT {_listed(cells, 4)}\n"
        f"  FROM {'.'.join(map(sql.quote, table))}\n"
        ") AS cells\n"
    )


def _check_names(sql, kept, answers):
    """Raise if two columns would have one name."""
    taken = {sql.folded(name): "the query has a column of that name" for name in answers}
    for name in kept:
        if sql.folded(name) in taken:
            raise ValueError(
                f"keep cannot name the column {name!r}: {taken[sql.folded(name)]}. A view of the "
                "table can give it another name."
            )
        taken[sql.folded(name)] = "it is kept already"


def _listed(items, indent):
    return (",\n" + " " * indent).join(items)


def _answers(view, sql, with_probabilities):
    """The columns of the answer: name, and what stands for each node."""
    predictions = view.predictions()
    is_single = view.n_outputs == 1
    for k in range(view.n_outputs):
        name = "prediction" if is_single else f"prediction_{k}"
        yield name, [sql.literal(row[k]) for row in predictions]
    if not with_probabilities:
        return
    if view.classes is None:
        raise ValueError("with_probabilities is for classification.")
    for k, classes in enumerate(view.classes):
        for code in range(len(classes)):
            name = f"probability_{code}" if is_single else f"probability_{k}_{code}"
            yield name, [sql.number(x) for x in view.tree.value[:, k, code].tolist()]


def _case(writer, splits, chain, column, indent):
    """The branches of a CASE; a tree without a split has one that always holds."""
    steps, leaf = chain
    blanks = " " * indent
    text = ""
    for node, is_left, inner in steps:
        text += f"{blanks}WHEN {writer.condition(splits[node], is_left)} THEN"
        if inner[0]:
            text += f" CASE\n{_case(writer, splits, inner, column, indent + 2)}{blanks}END\n"
        else:
            text += f" {column[inner[1]]}\n"
    if not steps:
        text = f"{blanks}WHEN {writer.true} THEN {column[leaf]}\n"
    return f"{text}{blanks}ELSE {column[leaf]}\n"


def _cells(view, sql, writer, splits):
    """The columns of the inner query: what the cells hold that conditions ask for."""
    asked = frozenset(writer.asked)
    for feature in sorted({split.feature for split in splits if split is not None}):
        cells = {
            writer.number(feature): _number_cell,
            writer.category(feature): _category_cell,
        }
        for name, cell in cells.items():
            if name in asked:
                yield f"{cell(view, sql, feature)} AS {name}"


def _number_cell(view, sql, feature):
    """The number that a cell holds, or NULL."""
    column = sql.quote(view.names[feature])
    if not view.categories_of(feature):
        number = sql.number_of_column(column)
    else:
        number = f"CASE WHEN {sql.holds_number(column)} THEN {sql.number_of_text(column)} END"
    return _unless_missing(view, sql, feature, number)


def _category_cell(view, sql, feature):
    """The category that a cell holds, or NULL."""
    column = sql.quote(view.names[feature])
    kind = _kind_of_labels(view, feature)
    if kind is bool:
        return sql.truth_of_column(column)
    if kind is float:
        return _unless_missing(view, sql, feature, sql.category_of_numbers(column))
    text = f"NULLIF({sql.as_text(column)}, '')"
    conditions = []
    if view.holds_numbers(feature):
        conditions.append(f"NOT ({sql.holds_number(column)})")
    listed = sorted(view.columns[feature].missing.texts - {""})
    if listed:
        texts = ", ".join(map(sql.string, listed))
        conditions.append(f"{sql.trimmed(column)} NOT IN ({texts})")
    return f"CASE WHEN {' AND '.join(conditions)} THEN {text} END" if conditions else text


def _unless_missing(view, sql, feature, number):
    """A number, or NULL if it is one of those that mean a missing value."""
    missing = set() if view.columns is None else view.columns[feature].missing.numbers
    for value in sorted(map(float, missing)):
        if value == value:
            number = f"NULLIF({number}, {sql.number(value)})"
    return number
