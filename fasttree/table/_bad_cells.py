"""Where the data is wrong: for messages, once an error is certain."""

import numpy as np

__all__ = ["check_complete", "is_missing", "where_infinite"]


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
        missing = np.isnan(y)
    elif y.dtype.kind == "O":
        missing = np.array([is_missing(label) for label in y.ravel()], dtype=bool)
    else:
        return
    if missing.any():
        missing = missing.reshape(len(y), -1).any(axis=1)
        n_missing = int(missing.sum())
        raise ValueError(
            f"Input y contains NaN: {n_missing} of {len(y)} targets are missing, the first in row "
            f"{int(missing.argmax())}. Leave these rows out, or fill the targets in."
        )


def is_missing(cell):
    """Whether a cell or a target is None, NaN, NA or NaT."""
    # pandas.NA and pandas.NaT, without importing pandas
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float | np.floating) and bool(np.isnan(cell))


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
