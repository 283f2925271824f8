"""The data of a fit: columns encoded once, and the targets and weights of a sample of their rows.

`EncodedData` is what users hand to several fits; `TrainingData` is what the checks of any fit
return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse

from fasttree._sklearn_compat import check_feature_names
from fasttree.table._bit_matrix import BitMatrix
from fasttree.table._columns import table_of_batch
from fasttree.table._encoder import TableEncoder
from fasttree.table._rows import canonical_sparse, read_matrix, read_table, within_doubles
from fasttree.tree._encoding import Encoding, encoding_of
from fasttree.utils._threads import effective_n_threads

if TYPE_CHECKING:
    from typing import Any, NoReturn, Self

    from fasttree._typing import Array, CategoricalFeatures, Float32Rows, MatrixLike, MissingValues

__all__ = ["EncodedData", "TrainingData"]


@dataclass
class TrainingData:
    """Checked data of one fit.

    Parameters
    ----------
    encoding : Encoding
        The columns.
    y : ndarray of shape (n_samples, n_outputs), float64, or codes of classes, uint8 or uint32
        Targets of the sample, or class codes.
    sample_weight : ndarray of shape (n_samples,), float64, or int64 if these are counts, or None
        Weights of the sample, those of its classes included.
    rows : ndarray of shape (n_samples,), dtype=uint32, or None
        The sample in ascending order; None: all that are encoded.
    table_encoder : TableEncoder or None
        What turned a table into cells.
    n_samples : int, default=len(y)
        Number of rows that fractions refer to; it counts those that were left out because they
        have no weight.
    """

    encoding: Encoding
    y: np.ndarray
    sample_weight: np.ndarray | None = None
    rows: np.ndarray | None = None
    table_encoder: TableEncoder | None = None
    n_samples: int | None = None

    def __post_init__(self):
        if self.n_samples is None:
            self.n_samples = len(self.y)

    @classmethod
    def of_rows(cls, X, y, sample_weight, table_encoder, is_shared, check):
        """Return the data of rows. Where few have weight, a single fit gets these only.

        `is_shared`, `check`: as for `encoding_of`.
        """
        n_samples = len(y)
        if issparse(X):
            X = canonical_sparse(X)
        elif not isinstance(X, BitMatrix):
            X = np.asarray(X)
            if sample_weight is not None and not is_shared:
                rows = np.flatnonzero(sample_weight != 0)  # faster than of the numbers
                if 0 < len(rows) <= n_samples // 2:  # worth a copy
                    if check is not None:
                        check()  # of all rows
                        check = None
                    X, y, sample_weight = X[rows], y[rows], sample_weight[rows]
            X = np.require(X, np.float32, "A")  # fields of records are not aligned
        n_categories = None if table_encoder is None else table_encoder.n_categories
        encoding = encoding_of(X, n_categories, is_shared, check)
        return cls(encoding, y, sample_weight, None, table_encoder, n_samples)

    def cells(self):
        """Return the sample's rows as the engine reads them, sparse ones by row."""
        X = self.encoding.X
        if issparse(X):
            X = X.tocsr()
        return X if self.rows is None else X[self.rows]


class EncodedData:
    """Rows that are encoded once, for any number of fits and predictions.

    A fit spends part of its time on encoding the columns. Every ``fit`` and ``predict`` of fasttree
    takes this object instead of `X`, and all fits share the encoding that the first one makes.
    Selecting rows by an array of integers, as cross-validation does, copies nothing.

    Parameters
    ----------
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        The rows, as in the ``fit`` of the estimators. Data that may still be written to is
        copied, so that changes made later have no effect; a read-only array, such as a file
        mapped into memory, is referred to and has to stay as it is.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that hold categories only, see :class:`fasttree.tree.DecisionTreeClassifier`.
    missing_values : float, str, array-like of these, or None, default=None
        Values that are missing besides None, NaN, NA, NaT and the empty string.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    Raises
    ------
    ValueError
        If X holds infinities, or by a ``fit`` whose estimator sets `categorical_features` or
        `missing_values` to something else.

    Notes
    -----
    A pickle holds the rows as the engine reads them, and, unless rows were selected, the codes and
    sorted lists that fits have made of a dense matrix until then. Whoever loads it checks them
    instead of making them again, and reads them in place: joblib maps them into the memory of its
    workers, ``joblib.load(file, mmap_mode="r")`` that of a file. :meth:`prepare` makes them before
    the first fit. Rows may be selected more than once; such a selection is encoded as data of its
    own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from fasttree.tree import DecisionTreeClassifier, EncodedData
    >>> X, y = load_iris(return_X_y=True)
    >>> data = EncodedData(X)
    >>> [cross_val_score(DecisionTreeClassifier(max_depth=d), data, y).size for d in (1, 2)]
    [5, 5]
    """

    ndim = 2

    def __init__(
        self,
        X: MatrixLike,
        *,
        categorical_features: CategoricalFeatures = "from_dtype",
        missing_values: MissingValues = None,
    ) -> None:
        self._read(X, categorical_features, missing_values, is_borrowed=False)

    @classmethod
    def borrowed(
        cls,
        X: MatrixLike,
        *,
        categorical_features: CategoricalFeatures = "from_dtype",
        missing_values: MissingValues = None,
    ) -> Self:
        """Return the encoded data of an X that stays as it is while the object lives.

        :meta private:
        """
        self = cls.__new__(cls)
        self._read(X, categorical_features, missing_values, is_borrowed=True)
        return self

    @within_doubles
    def _read(self, X, categorical_features, missing_values, is_borrowed):
        self.categorical_features = categorical_features
        self.missing_values = missing_values
        X = table_of_batch(X)
        read = read_table(self, X)
        if read is not None:
            cells, self._table_encoder, X = read
        else:
            cells, self._table_encoder = read_matrix(self, X), None
            cells = cells if is_borrowed else _protected(cells, X)
        check_feature_names(self, X, reset=True)
        self._take(cells)

    def _take(self, cells):
        """Begin an encoding of cells, a float32 matrix."""
        encoder = self._table_encoder
        n_categories = None if encoder is None else encoder.n_categories
        self._encoding = encoding_of(cells, n_categories, is_shared=True)
        self._selected = None
        self.shape = cells.shape

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<EncodedData of {self.shape[0]} rows and {self.shape[1]} columns>"

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        raise TypeError(
            "An EncodedData is for the estimators of fasttree alone; pass the rows themselves here."
        )

    def __getitem__(self, key: Any) -> Self:
        """Select rows by integers, a mask or a slice."""
        if isinstance(key, tuple):
            if len(key) != 2 or key[1] not in (Ellipsis, slice(None)):
                raise TypeError("EncodedData can select rows, not columns.")
            key = key[0]
        chosen = np.arange(len(self))[key]
        if chosen.ndim != 1:
            raise TypeError(f"EncodedData selects rows by arrays, masks and slices, got {key!r}.")
        if self._selected is not None:
            chosen = self._selected[chosen]
        other = self.__class__.__new__(self.__class__)
        vars(other).update(vars(self))
        is_chosen = np.zeros(self._encoding.X.shape[0], dtype=bool)
        is_chosen[chosen] = True
        if np.count_nonzero(is_chosen) < len(chosen):
            other._take(_rows_of(self._encoding.X, chosen))
        else:
            other._selected = chosen
            other.shape = (len(chosen), self.shape[1])
        return other

    def __getstate__(self):
        state = vars(self).copy()
        if state.pop("_selected") is not None:
            counts = self._encoding.category_counts
            state["_encoding"] = encoding_of(self.cells, counts, is_shared=True)
        del state["shape"]
        return state

    def __setstate__(self, state):
        needed = {"categorical_features", "missing_values", "_table_encoder", "_encoding"}
        if not needed <= state.keys():
            raise ValueError("Parts of EncodedData are missing.")
        vars(self).update(state)
        encoder, encoding = self._table_encoder, self._encoding
        if not isinstance(encoding, Encoding) or not isinstance(encoder, TableEncoder | None):
            raise ValueError("EncodedData have an encoding and may have a table's encoder.")
        n_categories = None if encoder is None else encoder.n_categories
        if not encoding.is_shared or not np.array_equal(encoding.category_counts, n_categories):
            raise ValueError("The encoding is not that of the table.")
        self._selected = None
        self.shape = encoding.X.shape

    def prepare(self, n_jobs: int | None = None) -> Self:
        """Encode all columns now.

        Otherwise the first fit does it, in each process anew. Data that is prepared before it is
        sent to processes is encoded only once.

        Parameters
        ----------
        n_jobs : int or None, default=None
            Number of threads, as in the estimators.

        Returns
        -------
        EncodedData
            The data itself.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from fasttree.tree import DecisionTreeClassifier, EncodedData
        >>> X, y = load_iris(return_X_y=True)
        >>> data = EncodedData(X).prepare(n_jobs=-1)
        >>> DecisionTreeClassifier(max_depth=2).fit(data, y).get_n_leaves()
        3
        """
        self._encoding.prepare(effective_n_threads(n_jobs, self._encoding.X.size))
        return self

    @property
    def cells(self) -> Float32Rows:
        """ndarray or CSC matrix: the selected rows as the engine reads them."""
        if self._selected is None:
            return self._encoding.X
        return _rows_of(self._encoding.X, self._selected)

    @property
    def feature_names(self) -> Array | None:
        """ndarray of shape (n_features,) or None: names of the columns."""
        return getattr(self, "feature_names_in_", None)

    @property
    def table_encoder(self) -> TableEncoder | None:
        """TableEncoder or None: what turned a table into cells."""
        return self._table_encoder

    def sample(
        self, y: Array, sample_weight: Array | None
    ) -> tuple[Encoding, Array | None, Array, Array | None]:
        """Return the encoding, the rows in ascending order, and y and weights in that order.

        :meta private:
        """
        if self._selected is None:
            return self._encoding, None, y, sample_weight
        rows = self._selected.astype(np.uint32)
        if np.any(rows[1:] < rows[:-1]):
            order = np.argsort(rows)
            rows, y = rows[order], y[order]
            sample_weight = None if sample_weight is None else sample_weight[order]
        return self._encoding, rows, y, sample_weight

    def in_order(self) -> Self:
        """Return data whose rows are in the order in which they are encoded: this, if they are.

        :meta private:
        """
        if self._selected is None or np.all(self._selected[1:] > self._selected[:-1]):
            return self
        other = self.__class__.__new__(self.__class__)
        vars(other).update(vars(self))
        other._take(self.cells)
        return other

    def check_fits(self, estimator: Any) -> None:
        """Raise if the parameters of an estimator ask for another encoding.

        :meta private:
        """
        for name, default in (("categorical_features", "from_dtype"), ("missing_values", None)):
            wanted, own = getattr(estimator, name), getattr(self, name)
            is_default = wanted is None if default is None else _is_equal(wanted, default)
            if not is_default and not _is_equal(wanted, own):
                raise ValueError(
                    f"X was encoded with {name}={own!r}, but {type(estimator).__name__} has "
                    f"{name}={wanted!r}. Set it where the data is encoded."
                )


def _is_equal(a, b):
    return a is b or (type(a) is type(b) and np.array_equal(np.asarray(a), np.asarray(b)))


def _rows_of(cells, rows):
    if not issparse(cells):
        return cells[rows]
    return cells.tocsr()[rows].tocsc()


def _protected(cells, X):
    """`cells`, or a copy where they may share memory with an X that can be written to."""
    if issparse(cells):
        parts, others = (
            [cells.data, cells.indices, cells.indptr],
            [getattr(X, name, None) for name in ("data", "indices", "indptr", "row", "col")],
        )
    else:
        parts, others = [cells], [X]
    arrays = [other for other in others if isinstance(other, np.ndarray)]
    if arrays and not any(
        np.may_share_memory(part, array) and array.flags.writeable
        for part in parts
        for array in arrays
    ):
        return cells
    return cells.copy()
