"""CSV files as columns, without pandas.

`read_csv` keeps every cell as text and `to_numbers` turns a column into floats, so that a
caller decides per column what its cells mean. Equal cells share one string: a column costs
8 bytes a row plus its distinct values, and each distinct value is parsed once.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection
    from typing import Any, BinaryIO

    from fasttree._typing import FloatArray

# Texts that stand for a missing value where nothing else is said; so does an empty cell.
MISSING = ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None")

_DELIMITERS = ",;\t|"
_ROWS_PER_BLOCK = 16_384
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_QUOTED = re.compile(r'"[^"]*"?')  # part of a line; the quotes may end on a later one
_MISSING = frozenset({"", *MISSING})


class CSVError(ValueError):
    """A file that is not a table; the message names the file and the reason."""


def read_csv(path: str | os.PathLike[str], delimiter: str | None = None) -> dict[str, list[str]]:
    """Read a table with a header line.

    Files that gzip, bzip2, xz or zip have written are decompressed. Blank lines are skipped.

    Parameters
    ----------
    path : str or path-like
    delimiter : str, default=None
        The character between cells. None takes the one of comma, semicolon, tab and bar that the
        header holds most often outside quotes.

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
    with open(path, "rb") as file:
        return read_csv_file(file, str(path), delimiter)


def read_csv_file(
    file: BinaryIO,
    name: str,
    delimiter: str | None = None,
    tell: Callable[[int], object] = lambda n_rows: None,
) -> dict[str, list[str]]:
    """Read a table from a buffered binary file; see `read_csv`.

    Parameters
    ----------
    file : BufferedReader
        What `open` returns, or the standard input.
    name : str
        What errors call it.
    delimiter : str, default=None
        As of `read_csv`.
    tell : callable
        Called now and then with the number of rows read so far.
    """
    try:
        with (
            _decompressed(file, name) as raw,
            io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text,
        ):
            return _read_columns(text, name, delimiter, tell)
    except UnicodeDecodeError:
        raise CSVError(f"{name} is not UTF-8 text") from None
    except (csv.Error, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        raise CSVError(f"{name} cannot be read as CSV: {error}") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise CSVError(f"{name} cannot be decompressed: {error}") from None


def _decompressed(file, name):
    start = file.peek(16)
    for magic, opener in _OPENERS.items():
        if re.match(magic, start):
            return opener(file, name)
    return file


def _open_zip(file, name):
    """The one file of an archive."""
    archive = zipfile.ZipFile(file if file.seekable() else io.BytesIO(file.read()))
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        raise CSVError(f"{name} holds {len(members)} files; unpack it and name one of them")
    try:
        return archive.open(members[0])
    except RuntimeError as error:  # encrypted, or compressed in a way that Python does not know
        raise CSVError(f"{name} cannot be decompressed: {error}") from None


# By what a file begins with.
_OPENERS: dict[bytes, Callable[[Any, str], Any]] = {
    rb"\x1f\x8b": lambda file, name: gzip.GzipFile(fileobj=file),
    rb"BZh[1-9]1AY&SY": lambda file, name: bz2.BZ2File(file),
    rb"\xfd7zXZ\x00": lambda file, name: lzma.LZMAFile(file),  # noqa: SIM115 (the caller closes)
    rb"PK\x03\x04": _open_zip,
}


def _read_columns(file, name, delimiter, tell):
    header = next((line for line in file if line.strip()), None)
    if header is None:
        raise CSVError(f"{name} is empty")
    delimiter = delimiter or max(_DELIMITERS, key=_QUOTED.sub("", header).count)
    reader = csv.reader(chain([header], file), delimiter=delimiter)
    names = [cell.strip() for cell in next(reader)]
    repeated = [cell for cell, count in Counter(names).items() if count > 1]
    if repeated:
        raise CSVError(f"{name} has more than one column named {min(repeated)!r}")
    columns = [[] for _ in names]
    while block := list(islice(reader, _ROWS_PER_BLOCK)):
        rows = [row for row in block if row]
        for row in rows:
            if len(row) != len(names):
                raise CSVError(
                    f"{name} has {len(names)} columns but a row of {len(row)} cells, "
                    f"{len(columns[0]) + rows.index(row) + 1} rows below the header"
                )
        for column, cells in zip(columns, zip(*rows)):
            column.extend(sys.intern(cell.strip()) for cell in cells)
        tell(len(columns[0]))
    if not columns[0]:
        raise CSVError(f"{name} has a header but no rows")
    return dict(zip(names, columns))


def is_number(cell: str) -> bool:
    """Whether a cell is a number in decimal or scientific notation."""
    return _NUMBER.fullmatch(cell) is not None


def to_numbers(cells: list[str], missing: Collection[str] = _MISSING) -> FloatArray:
    """Parse the cells of a column as numbers, missing ones as NaN.

    A number is ASCII decimal or scientific notation; ``inf``, hexadecimal digits and
    underscores are not.

    Parameters
    ----------
    cells : list of str
    missing : set of str
        Cells that are missing; the empty one and `MISSING` unless others are given.

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
        if cell in missing:
            values[cell] = np.nan
        elif is_number(cell):
            values[cell] = float(cell)
        else:
            raise ValueError(cell)
    return np.fromiter(map(values.__getitem__, cells), dtype=np.float64, count=len(cells))
