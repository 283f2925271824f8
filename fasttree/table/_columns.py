"""The columns of a table, whatever holds it: pandas, polars, pyarrow, narwhals, NumPy.

`open_table` recognises tables that need reading column by column: frames with a column that is
not numeric, arrays of objects or text. Each column then comes as one of three views:

* `Numbers`: an array of numbers, NaN where a value is missing;
* `Coded`: an integer per row, and what it stands for (text, categories, booleans);
* `Objects`: Python objects of any type.

Text in Arrow's layout is dictionary-encoded where it is stored (`_cells.encode_utf8`), other text
by its own library.
"""

import functools
import sys
from dataclasses import dataclass

import narwhals
import numpy as np
from narwhals.dependencies import is_pandas_dataframe, is_pandas_series
from scipy.sparse import issparse

from fasttree.table._cells import encode_utf8

__all__ = ["Coded", "Numbers", "Objects", "open_table", "table_of_batch", "target_array"]


@dataclass
class Numbers:
    """A column of numbers, NaN where one is missing."""

    values: np.ndarray


@dataclass
class Coded:
    """A column of `distinct` values; row i holds ``distinct[codes[i]]``, -1 is missing."""

    codes: np.ndarray
    distinct: list


@dataclass
class Objects:
    """A column of Python objects."""

    cells: list


def open_table(X, has_categories=False):
    """Return X as a table, or None if it is a matrix of numbers or nothing a table can be.

    Parameters
    ----------
    X : object
        What a user passes as data.
    has_categories : bool, default=False
        Whether a matrix of numbers is a table too, because some of its columns are categories.

    Returns
    -------
    ArrayTable, FrameTable or None
        With `n_rows`, `n_columns`, `dtype_is_category(j)`, `name(j)` and `column(j)`; with
        `bool_columns()` and, if there are any, `bools(columns)`.
    """
    if issparse(X):
        return None
    if isinstance(X, list | tuple):
        X = _array_of_lists(X)
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and (X.dtype.kind in "OUST" or (has_categories and X.dtype.kind in "iufb")):
            return ArrayTable(X)
        return None
    if is_pandas_dataframe(X):
        table = PandasTable(X)
    else:
        frame = narwhals.from_native(X, pass_through=True)
        if isinstance(frame, narwhals.LazyFrame):
            raise _lazy("X", X)
        if not isinstance(frame, narwhals.DataFrame):
            return None
        table = FrameTable(frame)
    return table if has_categories or not table.is_numeric() else None


def table_of_batch(X):
    """Return a RecordBatch of pyarrow as a Table, which reads as frames do; anything else as it is.

    Nothing is copied.
    """
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([X])
    return X


def target_array(y):
    """Return a series of numbers or text (categories too) as an array; anything else as it is.

    Equal texts become one object, which costs less to make and to compare.
    """
    if is_pandas_series(y):
        if _is_arrow_only(y.dtype):
            values = y.array.__arrow_array__().to_pylist()
            is_bool = all(type(value) is bool for value in values)
            return np.array(values, dtype=bool if is_bool else object)
        if y.dtype.kind in "Mm":
            return y
        column = _pandas_column(y, y.dtype, y.name)
    else:
        series = narwhals.from_native(y, pass_through=True, allow_series=True)
        if isinstance(series, narwhals.LazyFrame):
            raise _lazy("y", y)
        if not isinstance(series, narwhals.Series):
            return y
        if series.dtype in (narwhals.Int128, narwhals.UInt128):
            return np.array(series.to_list())
        if series.dtype != narwhals.String:
            return y
        column = _distinct_text(series)
    if isinstance(column, Numbers):
        return column.values
    if not isinstance(column, Coded) or np.any(column.codes < 0):
        return y
    if not all(isinstance(value, str) for value in column.distinct):
        return y
    return np.array(column.distinct, dtype=object)[column.codes]


def _array_of_lists(rows):
    """Rows of lists as an array of numbers, or of objects if they hold anything else."""
    try:
        array = np.asarray(rows)
    except ValueError:
        return rows  # ragged: scikit-learn's checks say so
    if array.dtype.kind in "US" and array.ndim == 2:
        # NumPy has turned numbers into text.
        array = np.array(rows, dtype=object)
    return array if array.dtype.kind in "Oiufb" else rows


def _lazy(name, frame):
    return TypeError(
        f"{name} is a {type(frame).__module__.split('.')[0]} {type(frame).__name__}, which holds a "
        "query and no rows; collect it first."
    )


def _unreadable(name, dtype):
    return TypeError(
        f"Column {name!r} has dtype {dtype}, which is neither numbers nor categories; convert it, "
        "or leave it out."
    )


class ArrayTable:
    """A two-dimensional NumPy array."""

    def __init__(self, array):
        self.array = array
        self.n_rows, self.n_columns = array.shape
        self.names = None

    def name(self, j):
        return j

    def dtype_is_category(self, j):
        return False

    def bool_columns(self):
        return []

    def column(self, j):
        column = self.array[:, j]
        if column.dtype.kind in "iufb":
            return Numbers(column)
        return Objects(column.tolist())


class FrameTable:
    """A frame that narwhals can read."""

    def __init__(self, frame):
        self.frame = frame
        self.n_rows, self.n_columns = frame.shape
        self.names = list(frame.columns)
        self.dtypes = list(frame.schema.values())

    def name(self, j):
        return self.names[j]

    def is_numeric(self):
        return all(dtype.is_numeric() and not _is_beyond_numpy(dtype) for dtype in self.dtypes)

    def bool_columns(self):
        """Numbers of the columns of booleans of which none is missing."""
        return [
            j
            for j, dtype in enumerate(self.dtypes)
            if dtype == narwhals.Boolean and self.frame[self.names[j]].null_count() == 0
        ]

    def bools(self, columns):
        """Such columns as a matrix of bools."""
        bools = np.empty((self.n_rows, len(columns)), dtype=bool, order="F")
        for place, j in enumerate(columns):
            bools[:, place] = self.frame[self.names[j]].to_numpy()
        return bools

    def dtype_is_category(self, j):
        return self.dtypes[j] in (narwhals.Boolean, narwhals.Categorical, narwhals.Enum)

    def column(self, j):
        return _narwhals_column(self.frame[self.names[j]], self.dtypes[j], self.names[j])


def _is_beyond_numpy(dtype):
    """Whether a narwhals dtype holds numbers of a kind that NumPy does not have."""
    return dtype.is_decimal() or dtype in (narwhals.Int128, narwhals.UInt128)


def _narwhals_column(series, dtype, name):
    """View of a narwhals series."""
    if _is_beyond_numpy(dtype):
        return Numbers(series.cast(narwhals.Float64).to_numpy())
    if dtype.is_numeric():
        return Numbers(series.to_numpy())
    if dtype == narwhals.Boolean:
        return Coded(series.cast(narwhals.Int8).fill_null(-1).to_numpy(), [False, True])
    if dtype == narwhals.String:
        return _distinct_text(series)
    if dtype in (narwhals.Categorical, narwhals.Enum):
        return _distinct_text(series.cast(narwhals.String))
    if dtype == narwhals.Object:
        return Objects(series.to_list())
    if series.null_count() == len(series):
        return Numbers(np.full(len(series), np.nan, dtype=np.float32))
    raise _unreadable(name, dtype)


class PandasTable:
    """A pandas frame, read by pandas itself: its columns come without a copy."""

    def __init__(self, frame):
        self.frame = frame
        self.n_rows, self.n_columns = frame.shape
        self.names = list(frame.columns)
        self.dtypes = frame.dtypes.tolist()

    @functools.cached_property
    def series(self):
        return [series for _, series in self.frame.items()]

    def name(self, j):
        return self.names[j]

    def is_numeric(self):
        return all(dtype.kind in "iuf" for dtype in self.dtypes)

    def bool_columns(self):
        """Numbers of the columns of booleans of which none can be missing."""
        return [
            j
            for j, dtype in enumerate(self.dtypes)
            if isinstance(dtype, np.dtype) and dtype.kind == "b"
        ]

    def bools(self, columns):
        """Such columns as a matrix of bools."""
        is_all = len(columns) == self.n_columns
        return (self.frame if is_all else self.frame.iloc[:, columns]).to_numpy()

    def dtype_is_category(self, j):
        return self.dtypes[j].kind == "b" or _is_category(self.dtypes[j])

    def column(self, j):
        return _pandas_column(self.series[j], self.dtypes[j], self.names[j])


def _is_category(dtype):
    return not isinstance(dtype, np.dtype) and dtype.name == "category"


def _is_arrow_only(dtype):
    """Whether only Arrow can convert a pandas column: missing booleans, and types that pandas
    holds without knowing them."""
    if not hasattr(dtype, "pyarrow_dtype"):
        return False
    try:
        return dtype.type is bool
    except RuntimeError:  # pandas says that it has not been written
        return True


def _pandas_column(series, dtype, name):
    """View of a pandas series."""
    if _is_category(dtype):
        return Coded(series.cat.codes.to_numpy(), series.cat.categories.tolist())
    if _is_arrow_only(dtype):
        arrow = narwhals.from_native(series.array.__arrow_array__(), series_only=True)
        return _narwhals_column(arrow, arrow.dtype, name)
    if dtype.kind in "iuf":
        if isinstance(dtype, np.dtype):
            return Numbers(series.to_numpy())
        return Numbers(series.to_numpy(dtype=np.float64, na_value=np.nan))
    if dtype.kind == "b":
        if isinstance(dtype, np.dtype):
            return Coded(series.to_numpy().view(np.int8), [False, True])
        return Coded(series.to_numpy(dtype=np.int8, na_value=-1), [False, True])
    if dtype.type is str:
        if getattr(dtype, "storage", "pyarrow") == "pyarrow":
            return _distinct_arrow_text(series.array.__arrow_array__())
        codes, distinct = series.factorize()
        return Coded(codes, distinct.tolist())
    if dtype.kind != "O":
        raise _unreadable(name, dtype)
    return Objects(series.to_numpy(dtype=object).tolist())


def _distinct_text(series):
    """Codes of a narwhals series of text."""
    native = series.to_native()
    if series.implementation.is_polars():
        distinct = native.unique().drop_nulls()
        codes = native.cast(narwhals.get_native_namespace(native).Enum(distinct)).to_physical()
        codes = codes.cast(narwhals.get_native_namespace(native).Int64).fill_null(-1)
        return Coded(codes.to_numpy(), distinct.to_list())
    if series.implementation.is_pyarrow():
        return _distinct_arrow_text(native)
    return Objects(series.to_list())


def _distinct_arrow_text(column):
    """Codes of a pyarrow.ChunkedArray of text."""
    if str(column.type) in ("string", "large_string"):
        return Coded(*encode_utf8(column.chunks))
    if str(column.type) == "string_view":
        return Objects(column.to_pylist())  # not every version of Arrow can cast or encode it
    encoded = column.dictionary_encode().combine_chunks()
    if hasattr(encoded, "chunks"):  # combine_chunks keeps a chunked array without chunks
        return Coded(np.empty(0, dtype=np.int64), [])
    return Coded(encoded.indices.fill_null(-1).to_numpy(), encoded.dictionary.to_pylist())
