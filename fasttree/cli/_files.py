"""Files as columns: CSV of any delimiter, compressed or not, Parquet and Arrow, standard input."""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fasttree._csv import read_csv_file
from fasttree.table._columns import Coded, Numbers, open_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from fasttree._typing import Array
    from fasttree.cli._progress import Progress

__all__ = ["CommandError", "read_columns", "title_of"]

# By what a file begins with; the last is a stream.
_ARROW = {b"PAR1\x15": "Parquet", b"ARROW1\0\0": "Arrow", b"\xff\xff\xff\xff": "Arrow"}
_MODEL = b'{\n"format": "fasttree"'
_IS_INDEX = re.compile(r"__index_level_\d+__")  # what pandas writes beside the columns


class CommandError(ValueError):
    """Something in the command line or the file that the user can mend."""


def title_of(path: str) -> str:
    """What a file is called."""
    return "standard input" if path == "-" else path


def read_columns(
    path: str, delimiter: str | None, progress: Progress
) -> Mapping[str, list[str] | Array]:
    """Read a file, whose first bytes say what it is.

    Parameters
    ----------
    path : str
        ``-`` is the standard input.
    delimiter : str or None
        Of a CSV file; None finds it.
    progress : Progress
        Is told of the rows.

    Returns
    -------
    mapping of str to list of str or ndarray
        Columns by name in file order: the texts of a CSV file's cells; of a Parquet or Arrow file
        an array of numbers, NaN where one is missing, or of objects, None there.
    """
    name = title_of(path)
    progress.tell(f"reading {name}")
    with _standard_input() if path == "-" else open(path, "rb") as file:
        start = file.peek(len(_MODEL))
        if start.startswith(_MODEL):
            raise CommandError(f"{name} is a saved model, not a table")
        for magic, kind in _ARROW.items():
            if start.startswith(magic):
                return ArrowColumns(_read_arrow(file, name, kind, magic), name)

        def tell(n_rows):
            progress.count(f"reading {name}: {n_rows:,} rows")

        return read_csv_file(file, name, delimiter, tell)


def _standard_input():
    return io.BufferedReader(sys.stdin.buffer)


def _read_arrow(file, name, kind, magic):
    """The pyarrow.Table of a Parquet or Arrow file."""
    try:
        import pyarrow
        from pyarrow import ipc, parquet
    except ImportError:
        raise CommandError(
            f"{name} is a file of {kind}, which pyarrow reads: pip install pyarrow"
        ) from None
    source = pyarrow.BufferReader(file.read())
    read = ipc.open_file if magic.startswith(b"ARROW1") else ipc.open_stream
    try:
        return parquet.read_table(source) if kind == "Parquet" else read(source).read_all()
    except (pyarrow.ArrowException, OSError) as error:
        raise CommandError(f"{name} cannot be read as {kind}: {error}") from None


class ArrowColumns(Mapping):
    """The columns of a pyarrow.Table, read when they are asked for.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    name : str
        What errors call it.
    """

    def __init__(self, table: Any, name: str) -> None:
        repeated = [column for column, n in Counter(table.column_names).items() if n > 1]
        if repeated:
            raise CommandError(f"{name} has more than one column named {min(repeated)!r}")
        if table.num_rows == 0:
            raise CommandError(f"{name} has no rows")
        self.table = open_table(table, has_categories=True)
        self.places = {
            column: j
            for j, column in enumerate(table.column_names)
            if not _IS_INDEX.fullmatch(column)
        }

    def __getitem__(self, name: str) -> Array:
        try:
            column = self.table.column(self.places[name])
        except TypeError as error:
            raise CommandError(f"{error} See --drop.") from None
        if isinstance(column, Numbers):
            return column.values
        cells = np.empty(self.table.n_rows, dtype=object)
        if isinstance(column, Coded):
            cells[:] = np.array([*column.distinct, None], dtype=object)[column.codes]
        else:
            cells[:] = column.cells
        return cells

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def is_category(self, name: str) -> bool:
        """Whether the type of a column says that it holds categories."""
        return self.table.dtype_is_category(self.places[name])
