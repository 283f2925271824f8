"""Columns as what estimators take: X, y and weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from sklearn.model_selection import train_test_split

from fasttree._csv import MISSING, is_number, to_numbers
from fasttree.cli._files import CommandError, read_columns, title_of
from fasttree.datasets import load_wine_quality

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterable
    from typing import Any

    from fasttree._typing import Array, FloatArray
    from fasttree.cli._progress import Progress

__all__ = [
    "Rows",
    "Table",
    "as_matrix",
    "check_complete",
    "load_demo",
    "load_file",
    "named",
    "parse_column",
    "split",
]

_MAX_NAMES = 20  # in a message


@dataclass
class Table:
    """Columns with their names, and a target that is neither missing nor constant.

    Attributes
    ----------
    title : str
        Where it comes from.
    X : ndarray of shape (n_rows, n_columns)
        Floats, or objects if a column holds categories.
    y : ndarray of shape (n_rows,)
        Integers, floats or labels.
    feature_names : list of str
        Names of the columns.
    target_name : str
        Name of the target.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows.
    categorical : list of int
        Columns whose type says that they hold categories only.
    missing : list of str and float, or None
        What the cells of the file have for missing values.
    """

    title: str
    X: np.ndarray
    y: np.ndarray
    feature_names: list[str]
    target_name: str
    weights: np.ndarray | None = None
    categorical: list[int] = field(default_factory=list)
    missing: list[str | float] | None = None


def load_demo(options: argparse.Namespace, progress: Progress) -> Table:
    """The bundled wine quality table."""
    bunch = load_wine_quality()
    return Table("wine quality", bunch.data, bunch.target, bunch.feature_names, "quality")


def load_file(options: argparse.Namespace, progress: Progress) -> Table:
    """The user's table: columns of numbers, categories, or both."""
    columns = read_columns(options.file, options.delimiter, progress)
    title = title_of(options.file)
    taken = [options.target] if options.weight is None else [options.target, options.weight]
    if options.weight == options.target:
        raise CommandError(f"--target and --weight both name {options.target!r}")
    for name in taken:
        if name not in columns:
            raise CommandError(f"{title} has no column {name!r}; it has {named(columns)}")
    for name in options.drop:
        if name not in columns:
            raise CommandError(f"{title} has no column {name!r} to leave out")
        if name in taken:
            raise CommandError(f"--drop names {name!r}, as --target or --weight does")
    left_out = [*dict.fromkeys([*taken, *options.drop])]
    names = [name for name in columns if name not in left_out]
    if not names:
        raise CommandError(f"{title} has no column beside {named(left_out)}")
    texts = {"", *(MISSING if options.missing is None else options.missing)}
    y = parse_target(options.target, columns[options.target], options.task, texts)
    weights = None
    if options.weight is not None:
        weights = parse_weights(options.weight, columns[options.weight], texts)
    is_category = getattr(columns, "is_category", lambda name: False)
    return Table(
        title=title,
        X=as_matrix([parse_column(name, columns[name], texts) for name in names]),
        y=y,
        feature_names=names,
        target_name=options.target,
        weights=weights,
        categorical=[j for j, name in enumerate(names) if is_category(name)],
        missing=_with_numbers(texts),
    )


def named(names: Iterable[str]) -> str:
    """Names in quotes, with commas."""
    names = list(names)
    listed = ", ".join(map(repr, names[:_MAX_NAMES]))
    return listed + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")


def _with_numbers(texts):
    """Texts of missing values as `missing_values` wants them: numbers as numbers too."""
    listed = sorted(texts - {""})
    return [*listed, *(float(text) for text in listed if is_number(text))]


def as_matrix(columns: list[Any]) -> Array:
    """Columns as a matrix of floats, or of objects if some hold anything else."""
    if all(isinstance(column, np.ndarray) and column.dtype.kind == "f" for column in columns):
        return np.column_stack(columns)
    X = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        X[:, j] = column
    return X


def parse_column(
    name: str, cells: list[str] | Array, missing: Collection[str]
) -> FloatArray | list[str | None]:
    """Floats, or cells with None for missing ones if there are categories."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        values = cells.astype(np.float64)
    elif isinstance(cells, np.ndarray):
        return [None if isinstance(cell, str) and cell in missing else cell for cell in cells]
    else:
        try:
            values = to_numbers(cells, missing)
        except ValueError:
            return [None if cell in missing else cell for cell in cells]
    with np.errstate(over="ignore"):
        is_infinite = np.isinf(values.astype(np.float32))
    if is_infinite.any():
        cell = cells[int(is_infinite.argmax())]
        raise CommandError(f"column {name!r} holds {cell}: infinity, or beyond float32")
    return values


def check_complete(name: str, cells: list[str] | Array, missing: Collection[str]) -> None:
    """Raise if some cells of the target or of the weights are missing."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        n_missing = int(np.isnan(cells).sum())
    else:
        n_missing = sum(cell is None or cell in missing for cell in cells)
    if n_missing == len(cells):
        raise CommandError(f"{name} is empty")
    if n_missing:
        raise CommandError(f"{name} is missing in {n_missing} of {len(cells)} rows")


def parse_target(name: str, cells: list[str] | Array, task: str, missing: Collection[str]) -> Array:
    """The target as integers, floats or labels, whichever its cells and the task ask for."""
    check_complete(f"the target {name!r}", cells, missing)
    distinct = set(cells)
    if len(distinct) == 1:
        raise CommandError(f"the target {name!r} is constant: every row holds {cells[0]!r}")
    try:
        values = _numbers(cells)
    except ValueError:
        return _labels(cells)
    if np.all(values == np.rint(values)):
        if np.abs(values).max() < 2**53:
            return values.astype(np.int64)
        integers = _long_integers(cells)
        if integers is not None:
            return integers
    are_merged = len(np.unique(values)) < len(distinct)  # texts that differ as one number
    return _labels(cells) if task == "classification" or (task == "auto" and are_merged) else values


def _long_integers(cells):
    """Texts of whole numbers that doubles cannot tell apart, as integers of 64 bits, or None."""
    try:
        integers = np.array([int(cell) for cell in cells])
    except ValueError:
        return None
    return integers if integers.dtype.kind in "iu" else None


def _numbers(cells):
    """Cells as floats; ValueError with the first that is no number."""
    if not isinstance(cells, np.ndarray):
        return to_numbers(cells, ())
    if cells.dtype.kind == "O":
        raise ValueError(next(iter(cells)))
    return cells.astype(np.float64)


def _labels(cells):
    """Cells as booleans if all are, else as texts."""
    is_boolean = all(isinstance(cell, bool) for cell in cells)
    return np.array(list(cells) if is_boolean else list(map(str, cells)))


def parse_weights(name: str, cells: list[str] | Array, missing: Collection[str]) -> FloatArray:
    """The weights of the rows."""
    check_complete(f"the weight {name!r}", cells, missing)
    try:
        return _numbers(cells)
    except ValueError as error:
        raise CommandError(
            f"the column of weights {name!r} holds {str(error)!r} in place of a number"
        ) from None


@dataclass
class Rows:
    """Some rows of a table.

    Attributes
    ----------
    X, y, weights : ndarray
        As of `Table`.
    """

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None


def split(table: Table, test_size: float, random_state: int) -> tuple[Rows, Rows | None]:
    """The rows to fit, and those held out; None of a size of 0."""
    whole = Rows(table.X, table.y, table.weights)
    if test_size == 0:
        return whole, None
    rows = np.arange(len(table.y))
    sides = train_test_split(rows, test_size=test_size, random_state=random_state)
    training, held_out = (
        Rows(table.X[side], table.y[side], None if table.weights is None else table.weights[side])
        for side in sides
    )
    return training, held_out
