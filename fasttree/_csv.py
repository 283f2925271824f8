"""CSV files as columns, without pandas.

`read_csv` keeps every cell as text and `to_numbers` turns a column into floats, so that a
caller decides per column what its cells mean. Equal cells share one string: a column costs
8 bytes a row plus its distinct values, and each distinct value is parsed once.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import re
import sys
import zlib
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import Any

    from fasttree._typing import FloatArray

_OPENERS: dict[str, Callable[..., Any]] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
_DELIMITERS = ",;\t|"
_ROWS_PER_BLOCK = 16_384
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MISSING = frozenset({"", "NA", "NaN", "nan"})


class CSVError(ValueError):
    """A file that is not a table; the message names the file and the reason."""


def read_csv(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Read a table with a header line.

    The delimiter is the one of comma, semicolon, tab and bar that the header holds most
    often. Files named ``.gz``, ``.bz2`` or ``.xz`` are decompressed. Blank lines are skipped.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    dict of str to list of str
        The cells of each column, stripped of blanks, by column name in file order.

    Raises
    ------
    CSVError
        If the file is not UTF-8 text, has no rows, rows of unequal length or a repeated
        column name.
    OSError
        If the file cannot be opened.
    """
    path = Path(path)
    opener = _OPENERS.get(path.suffix, open)
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            return _read_columns(path, file)
    except UnicodeDecodeError:
        raise CSVError(f"{path} is not UTF-8 text") from None
    except (csv.Error, EOFError, lzma.LZMAError, zlib.error) as error:
        raise CSVError(f"{path} cannot be read as CSV: {error}") from None


def _read_columns(path, file):
    header = next((line for line in file if line.strip()), None)
    if header is None:
        raise CSVError(f"{path} is empty")
    delimiter = max(_DELIMITERS, key=header.count)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise CSVError(f"{path} has more than one column named {min(repeated)!r}")
    columns = [[] for _ in names]
    reader = csv.reader(file, delimiter=delimiter)
    while block := list(islice(reader, _ROWS_PER_BLOCK)):
        rows = [row for row in block if row]
        for row in rows:
            if len(row) != len(names):
                raise CSVError(
                    f"{path} has {len(names)} columns but a row of {len(row)} cells, "
                    f"{len(columns[0]) + rows.index(row) + 1} rows below the header"
                )
        for column, cells in zip(columns, zip(*rows)):
            column.extend(sys.intern(cell.strip()) for cell in cells)
    if not columns[0]:
        raise CSVError(f"{path} has a header but no rows")
    return dict(zip(names, columns))


def is_missing(cell: str) -> bool:
    """Whether a cell stands for a missing value: empty, ``NA`` or ``NaN``."""
    return cell in _MISSING


def to_numbers(cells: list[str]) -> FloatArray:
    """Parse the cells of a column as numbers, missing ones as NaN.

    A number is ASCII decimal or scientific notation; ``inf``, hexadecimal digits and
    underscores are not.

    Parameters
    ----------
    cells : list of str

    Returns
    -------
    float64 array

    Raises
    ------
    ValueError
        At a cell that is neither a number nor missing; its text is the error's argument.
    """
    values = {}
    for cell in dict.fromkeys(cells):
        if is_missing(cell):
            values[cell] = np.nan
        elif _NUMBER.fullmatch(cell):
            values[cell] = float(cell)
        else:
            raise ValueError(cell)
    return np.fromiter(map(values.__getitem__, cells), dtype=np.float64, count=len(cells))
