"""The rows of X as the engine reads them: a float32 matrix, dense or CSC, or the cells of a table.

scikit-learn's own checks decide what is accepted and which error is raised. They also take several
times as long as growing a small tree, so an input that is plainly in order (a non-empty NumPy
array of numbers) is recognised here first and spared them; anything else goes through them.
"""

import functools
import sys
from decimal import InvalidOperation

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from fasttree.table._bad_cells import is_missing
from fasttree.table._bit_matrix import MIN_COLUMNS, bits_of_bools, bits_of_sparse
from fasttree.table._columns import Coded, Numbers, open_table, table_of_batch
from fasttree.table._encoder import TableEncoder, warn_of_raw_text
from fasttree.utils._finite import SOME_INFINITE, value_kind
from fasttree.utils._threads import effective_n_threads

__all__ = [
    "bits_of",
    "canonical_sparse",
    "check_indices",
    "is_plain_matrix",
    "is_plain_sparse",
    "matrix_of_frame",
    "matrix_of_table",
    "open_rows",
    "read_matrix",
    "read_table",
    "within_doubles",
]


def within_doubles(check):
    """Decorate a check of what users pass, so that numbers which no double holds are refused.

    Python's integers, fractions and decimals raise OverflowError and InvalidOperation there.
    """

    @functools.wraps(check)
    def checked(*args, **kwargs):
        try:
            return check(*args, **kwargs)
        except (OverflowError, InvalidOperation) as error:
            raise ValueError(
                "Input contains a number that float64 cannot hold, such as an int beyond 1.8e308 "
                f"({type(error).__name__}: {error})."
            ) from error

    return checked


def is_plain_matrix(X):
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype.char in "fdlqiILQ?bBhH"
        and X.dtype.isnative
        and X.size > 0
    )


def matrix_of_frame(X, names=None):
    """Return a pandas frame of numbers, whose columns have these names if any are given, as a
    float32 matrix, or None.

    None says nothing about X: scikit-learn's checks, which look at every column several times,
    decide what else there is. Columns are cast where they are, one by one if they differ in type.
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or type(X) is not pandas.DataFrame or min(X.shape) == 0:
        return None
    if names is not None and X.columns.tolist() != names.tolist():
        return None
    dtypes = set(X.dtypes)
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "fiu" for dtype in dtypes):
        return None
    with np.errstate(over="ignore"):
        if len(dtypes) == 1:
            return X.to_numpy().astype(np.float32, copy=False)
        matrix = np.empty(X.shape, dtype=np.float32, order="F")
        for j, (_, column) in enumerate(X.items()):
            matrix[:, j] = column.to_numpy()
    return matrix


def matrix_of_table(table):
    """Return a table whose cells are all numbers, texts of them, or missing, as a float32 matrix.

    Raises
    ------
    TypeError or ValueError
        If a cell is something else; it says where the first one is.
    """
    matrix = np.empty((table.n_rows, table.n_columns), dtype=np.float32, order="F")
    for j in range(table.n_columns):
        column = table.column(j)
        try:
            with np.errstate(over="ignore"):
                if isinstance(column, Numbers):
                    matrix[:, j] = column.values
                else:
                    matrix[:, j] = _as_floats(column)
        except (TypeError, ValueError) as error:
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(f"{_where_no_number(column, table.name(j))} ({error})") from None
    return matrix


def _as_floats(column):
    """The numbers of a column view of objects or codes."""
    if not isinstance(column, Coded):
        return np.array([_as_float(cell) for cell in column.cells])
    values = _values_of(column)
    floats = np.empty(len(values))
    for code in np.unique(column.codes):
        floats[code] = _as_float(values[code])
    return floats[column.codes]


def _values_of(column):
    """What the codes of a column view stand for; the last one is that of -1, a missing cell."""
    return [*column.distinct, None]


def _as_float(cell):
    return np.nan if is_missing(cell) else float(cell)


def _where_no_number(column, name):
    """Which cell of a column view is the first that is no number, in words."""
    if isinstance(column, Coded):
        values = _values_of(column)
        cells = [values[code] for code in column.codes.tolist()]
    else:
        cells = column.cells
    row = next(row for row, cell in enumerate(cells) if not _is_number(cell))
    return f"Column {name!r} holds {cells[row]!r:.50} in row {row}, which is no number"


def _is_number(cell):
    try:
        _as_float(cell)
    except (TypeError, ValueError):
        return False
    return True


def is_plain_sparse(X):
    """A CSC or CSR matrix of numbers, canonical, that is not empty."""
    return X.dtype.char in "fdlqiILQ?bBhH" and X.dtype.isnative and min(X.shape) > 0


def canonical_sparse(X, to_format="csc"):
    """Return a sparse X with sorted indices and duplicates summed; the caller's is not changed.

    Duplicates are summed as they are, before any cast, as `X.toarray()` does. What is neither CSC
    nor CSR becomes `to_format`. Indices are checked where SciPy is going to trust them; those of a
    matrix that has the format already are checked by what reads it, the encoding or the walk.
    """
    if X.format not in ("csc", "csr"):
        X = X.tocoo()
        check_indices(X)
        X = X.asformat(to_format)
    elif X.format == to_format:
        _check_arrays(X, _are_pointers(X))
    else:
        check_indices(X)
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def check_indices(X):
    """Raise unless the indices of a COO, CSC or CSR matrix lie inside it: SciPy's compiled code,
    which sorts and converts, trusts them."""
    if X.format == "coo":
        is_sound = _are_indices(X.row, X.data, X.shape[0]) and _are_indices(
            X.col, X.data, X.shape[1]
        )
    else:
        n_minor = X.shape[1] if X.format == "csr" else X.shape[0]
        is_sound = _are_pointers(X) and _are_indices(X.indices, X.data, n_minor)
    _check_arrays(X, is_sound)


def _check_arrays(X, is_sound):
    if not is_sound:
        raise ValueError(
            f"The indices or pointers of the {X.format.upper()} matrix X are out of range, or its "
            "arrays do not have the lengths they should."
        )


def _are_pointers(X):
    """Whether the pointers of a CSC or CSR matrix ascend within its indices."""
    starts, n_major = X.indptr, X.shape[0] if X.format == "csr" else X.shape[1]
    return (
        X.indices.shape == X.data.shape
        and X.indices.ndim == 1
        and X.indices.dtype.kind == "i"
        and starts.shape == (n_major + 1,)
        and starts.dtype.kind == "i"
        and starts[0] == 0
        and starts[-1] <= len(X.indices)
        and bool((starts[1:] >= starts[:-1]).all())
    )


def _are_indices(indices, data, n):
    """Whether there is an integer from 0 to n - 1 for each of the data."""
    if indices.shape != data.shape or indices.ndim != 1 or indices.dtype.kind != "i":
        return False
    # Negative ones are large if they are read as unsigned.
    return not indices.size or indices.view(f"u{indices.itemsize}").max() < n


def bits_of(X, n_jobs):
    """Return a plain matrix as a BitMatrix if it is one of zeros and ones that pays, or None.

    Parameters
    ----------
    X : ndarray, CSC or CSR matrix
        Of these, arrays of bools and sparse matrices of ones are told at a glance. A sparse one is
        from `canonical_sparse`.
    n_jobs : int or None
        Number of threads, as in the estimators.
    """
    if issparse(X):
        return bits_of_sparse(X, effective_n_threads(n_jobs, X.nnz))
    if X.dtype.kind == "b" and X.shape[1] >= MIN_COLUMNS:
        return bits_of_bools(X, effective_n_threads(n_jobs, X.size))
    return None


def open_rows(estimator, X, has_categories):
    """`open_table`, also for what only scikit-learn can turn into an array; and X as an array or
    a frame."""
    X = table_of_batch(X)
    table = open_table(X, has_categories)
    if table is None and has_categories:
        X = check_array(X, dtype=None, ensure_all_finite="allow-nan", estimator=estimator)
        table = open_table(X, has_categories)
    elif table is not None and isinstance(X, list | tuple):
        X = table.array
    return table, X


def read_matrix(owner, X):
    """Return a matrix of numbers as float32, dense or CSC; NaN is allowed, infinity is not."""
    if issparse(X) and X.ndim == 2:
        X = canonical_sparse(X)
        X = X.tocsc().astype(np.float32, copy=False) if is_plain_sparse(X) else X
    else:
        matrix = X.astype(np.float32, copy=False) if is_plain_matrix(X) else matrix_of_frame(X)
        if matrix is not None and value_kind(matrix) != SOME_INFINITE:
            return matrix
    return check_array(
        X, dtype=np.float32, accept_sparse="csc", ensure_all_finite="allow-nan", estimator=owner
    )


def read_table(owner, X, with_bits=False):
    """Return the cells of a table, its encoder and what was read, or None if X is no table.

    Parameters
    ----------
    owner : object
        Has `categorical_features` and `missing_values`; errors name it.
    X : object
        What a user passes as data.
    with_bits : bool, default=False
        Whether an estimator takes cells as a BitMatrix, if many columns are of booleans.

    Returns
    -------
    (cells, encoder, table) or None
        A matrix of shape (n_rows, n_columns), a TableEncoder, and X as an array or frame.
    """
    categorical_features, missing_values = owner.categorical_features, owner.missing_values
    names_categories = categorical_features is not None and not isinstance(
        categorical_features, str
    )
    has_categories = names_categories or missing_values is not None
    if has_categories and issparse(X):
        raise ValueError(
            "categorical_features and missing_values are for dense data and tables; a sparse X "
            "holds numbers."
        )
    table, X = open_rows(owner, X, has_categories)
    if table is None:
        return None
    if table.n_rows == 0 or table.n_columns == 0:
        what = "sample" if table.n_rows == 0 else "feature"
        raise ValueError(
            f"Found array with 0 {what}(s) (shape={(table.n_rows, table.n_columns)}) while a "
            "minimum of 1 is required."
        )
    encoder = TableEncoder(table, categorical_features, missing_values)
    if with_bits:
        cells = encoder.fit_with_bits(table, owner.n_jobs)
    else:
        cells = encoder.encode(table, is_fit=True)
    warn_of_raw_text(encoder, table.n_rows)
    return cells, encoder, X
