"""Where the data is wrong: for messages, once an error is certain."""

import numpy as np

from fasttree.table._cells import parse_texts
from fasttree.table._columns import Coded, Objects, open_table

__all__ = ["check_complete", "where_infinite", "where_no_number"]


def check_complete(y):
    """Raise if targets are missing, with their number and the first of them.

    Parameters
    ----------
    y : array-like
        What a user passes as targets.

    Raises
    ------
    ValueError
        If a target is None, NaN, NA or NaT.
    """
    try:
        y = np.asarray(y)
    except ValueError:  # ragged: scikit-learn's checks say so
        return
    if y.dtype.kind == "f":
        is_missing = np.isnan(y)
    elif y.dtype.kind == "O":
        is_missing = np.array([_is_missing(label) for label in y.ravel()], dtype=bool)
    else:
        return
    if is_missing.any():
        is_missing = is_missing.reshape(len(y), -1).any(axis=1)
        n_missing = int(is_missing.sum())
        raise ValueError(
            f"Input y contains NaN: {n_missing} of {len(y)} targets are missing, the first in row "
            f"{int(is_missing.argmax())}. Leave these rows out, or fill the targets in."
        )


def _is_missing(label):
    # pandas.NA and pandas.NaT, without importing pandas
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and bool(np.isnan(label))


def where_infinite(X, names):
    """Return in words where the first infinite number, or one beyond float32, of a matrix is.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype=float32
    names : sequence of str or None
        Names of the columns.

    Returns
    -------
    str
    """
    row, column = np.argwhere(np.isinf(X))[0].tolist()
    return f"The first is in row {row} of column {column if names is None else names[column]!r}."


def where_no_number(X):
    """Return in words which cell of a table is the first that is no number.

    Parameters
    ----------
    X : object
        What a user passes as data.

    Returns
    -------
    str or None
        None if there is no such cell.
    """
    table = open_table(X)
    for j in range(0 if table is None else table.n_columns):
        column = table.column(j)
        cells = column.cells if isinstance(column, Objects) else []
        if isinstance(column, Coded):
            cells = np.array([*column.distinct, None], dtype=object)[column.codes].tolist()
        for row, cell in enumerate(cells):
            if isinstance(cell, str) and not parse_texts([cell])[0][0]:
                return f"Column {table.name(j)!r} holds {cell!r} in row {row}"
    return None
