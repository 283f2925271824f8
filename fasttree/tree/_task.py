"""Which task a target calls for: classes or quantities."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import narwhals
import numpy as np

from fasttree._warnings import warn_user
from fasttree.table._columns import target_array

if TYPE_CHECKING:
    from fasttree._typing import TargetLike, Task

__all__ = ["infer_task", "without_objects"]

MAX_INTEGER_CLASSES = 30
# Whole numbers with fewer rows each are plainly quantities, such as prices.
_MIN_ROWS_PER_CLASS = 10
# From this number of whole numbers on their frequencies can look like those of counts.
_MIN_COUNTS = 5
_NUMBERS = (int, float, Decimal, np.integer, np.floating)


def infer_task(y: TargetLike) -> Task:
    """Return the task that a target calls for.

    Labels (strings, booleans, categories, objects that are not all numbers) are classes. Floats
    with a fraction, or beyond 64-bit integers, are quantities. Whole numbers are classes if no
    output has more than 30 distinct ones.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The target.

    Returns
    -------
    {"classification", "regression"}
        The task.

    Raises
    ------
    TypeError
        If y holds dates or durations.

    Warns
    -----
    UserWarning
        If y holds too many distinct whole numbers to be taken for classes, though each of them
        often, or few that look like counts.
    """
    y = without_objects(y)
    if _has_label_dtype(y):
        return "classification"
    y = np.asarray(y)
    kind = y.dtype.kind
    if kind in "Mm":
        raise TypeError(f"y has dtype {y.dtype}; convert it to numbers or to labels.")
    if kind in "bOSUTV":
        return "classification"
    if kind not in "iuf" or (kind == "f" and not _are_integers(y)):
        return "regression"
    if y.size == 0:
        raise ValueError("y holds no samples: at least one target is required.")
    columns = y.reshape(len(y), -1).T if y.ndim else y.reshape(1, 1)
    outputs = [np.unique(column, return_counts=True) for column in columns]
    n_distinct = max((len(values) for values, _ in outputs), default=0)
    task: Task
    if n_distinct <= MAX_INTEGER_CLASSES:
        task, why = "classification", "whole numbers that look like counts"
        is_open = any(_look_like_counts(*output) for output in outputs)
    else:
        task, why = "regression", "distinct whole numbers"
        is_open = n_distinct * _MIN_ROWS_PER_CLASS <= len(y)
    if is_open:
        taken = "classes" if task == "classification" else "a quantity"
        warn_user(
            f"y holds {n_distinct} {why} and is taken for {taken}; "
            'pass task="classification" or task="regression" to settle it.'
        )
    return task


def without_objects(y: TargetLike) -> TargetLike:
    """Return a target of objects as an array of numbers if all of them are numbers, as one of
    booleans if all are booleans; anything else as it is.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The target.
    """
    y = target_array(y)
    cells = np.asarray(y)
    if cells.dtype.kind != "O" or cells.ndim == 0:
        return y
    kinds = set(map(type, cells.flat))
    are_bools = [issubclass(kind, bool | np.bool_) for kind in kinds]
    if all(are_bools):
        return cells.astype(bool)
    if any(are_bools) or not all(issubclass(kind, _NUMBERS) for kind in kinds):
        return y
    numbers = np.array(cells.tolist())  # of integers if all are
    try:
        return numbers if numbers.dtype.kind in "iuf" else numbers.astype(np.float64)
    except OverflowError:
        raise ValueError("y holds a number that is too large for a float of 64 bits.") from None


def _are_integers(values):
    return bool(np.all((values == np.floor(values)) & (np.abs(values) < 2.0**63)))


def _look_like_counts(values, frequencies):
    """Whether ascending numbers start at 0 and their frequencies have one peak and fade from it.

    Steps within three standard deviations of chance are let pass.
    """
    if len(values) < _MIN_COUNTS or values[0] != 0:
        return False
    if 10 * frequencies.min() > frequencies.max():
        return False
    peak, step = np.argmax(frequencies), np.diff(frequencies)
    towards_peak = np.where(np.arange(len(step)) < peak, step, -step)
    return bool((towards_peak >= -3 * np.sqrt(frequencies[:-1] + frequencies[1:])).all())


def _has_label_dtype(y):
    """Whether y is a series or frame with a column of labels."""
    y = narwhals.from_native(y, pass_through=True, allow_series=True)
    if isinstance(y, narwhals.Series):
        dtypes = [y.dtype]
    elif isinstance(y, narwhals.DataFrame):
        dtypes = y.schema.values()
    else:
        return False
    labels = (
        narwhals.Boolean,
        narwhals.Categorical,
        narwhals.Enum,
        narwhals.Object,
        narwhals.String,
    )
    return any(dtype in labels for dtype in dtypes)
