"""Tables as they are: numbers, categories and missing values as one float32 matrix of cells.

A number is itself, a missing value is NaN, and a category is a NaN whose payload is the category's
code (`utils/_cell.hpp`). Codes follow the order of the categories, so it does not matter which
category appears first. A column that was read as text is hybrid: what parses as a number
is a number, the rest are categories (Wang & Gupta 2024, section 2).

Complexity: O(n) per column plus a sort of its distinct categories.
"""

from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real

import numpy as np

from fasttree._warnings import warn_user
from fasttree.table._bit_matrix import MIN_COLUMNS, BitMatrix, bits_of_bools
from fasttree.table._cells import mark_codes, parse_texts, scan_objects, take_bits
from fasttree.table._columns import Coded, Numbers, Objects
from fasttree.utils._finite import SOME_INFINITE, SOME_MISSING, value_kind
from fasttree.utils._threads import effective_n_threads

__all__ = [
    "MAX_CATEGORIES",
    "TableEncoder",
    "category_codes",
    "category_key",
    "table_encoder",
    "warn_of_raw_text",
]

# Distinct categories of a column: the codes that the payload of a float32 NaN can hold (_cell.hpp).
MAX_CATEGORIES = 0x3FFFFD
MISSING_BITS = np.uint32(0x7FC00000)

# Fewer distinct texts than this are categories, however few rows there are.
_MANY_TEXTS = 100


def category_key(category):
    """The key by which categories are compared and ordered: booleans, then numbers, then text."""
    if isinstance(category, bool):
        return 0, category
    return (1, category) if isinstance(category, Real) else (2, category)


def _simplify(cell):
    """A cell that is not exactly a str, float or int as one, as a bool, or None if missing."""
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    if isinstance(cell, Integral):
        return int(cell)
    if isinstance(cell, Real | Decimal | Fraction):
        return float(cell)
    if isinstance(cell, bytes):
        return cell.decode()
    # pandas.NA and pandas.NaT, without importing pandas
    if type(cell).__name__ in ("NAType", "NaTType"):
        return None
    raise TypeError(
        f"argument must be a string or a number, not {type(cell).__name__!r}: {cell!r:.50}"
    )


def _is_readable(cell):
    try:
        _simplify(cell)
    except TypeError:
        return cell is None
    return True


def _parts(state, *names):
    """The named parts of a pickled state."""
    if not isinstance(state, dict) or not state.keys() >= set(names):
        raise ValueError(f"The state of a table's encoder lacks one of {', '.join(names)}.")
    return [state[name] for name in names]


def _is_set_of(values, types):
    return isinstance(values, set) and all(isinstance(value, types) for value in values)


class MissingValues:
    """Which cells count as missing besides None, NaN and the empty string.

    Parameters
    ----------
    listed : None, str, float or iterable of these
        Numbers, which are compared before values are rounded to float32, and texts, which are
        compared without the blanks around them.
    """

    def __init__(self, listed):
        listed = [] if listed is None else listed
        listed = [listed] if isinstance(listed, str | Real) else list(listed)
        self.texts = {value.strip() for value in listed if isinstance(value, str)} | {""}
        numbers = [value for value in listed if isinstance(value, Real)]
        # Large integers, unlike floats, are told apart.
        is_exact = [isinstance(v, Integral) and abs(v) < 2**63 for v in numbers]
        self.numbers = {int(v) if e else float(v) for v, e in zip(numbers, is_exact, strict=True)}
        if any(not isinstance(value, str | Real) for value in listed):
            raise TypeError(f"missing_values must be numbers and texts, got {listed!r}.")

    def __setstate__(self, state):
        texts, numbers = _parts(state, "texts", "numbers")
        if not _is_set_of(texts, str) or not _is_set_of(numbers, int | float):
            raise ValueError("The missing values of a table must be sets of texts and of numbers.")
        self.__dict__.update(state)

    def has_text(self, text):
        if text == "" or len(self.texts) == 1:
            return text == ""
        stripped = text.strip()  # of blanks alone nothing is left, which is no listed text
        return stripped != "" and stripped in self.texts

    def mask_numbers(self, values, cells):
        """Make the cells of listed numbers missing; `values` are the numbers themselves."""
        for number in self.numbers:
            # Python's numbers take the precision of the column: 0.1 equals float32's 0.1.
            cells[values == number] = np.nan


class ColumnEncoder:
    """Turns one column into cells.

    Attributes
    ----------
    categories : list
        The categories seen in the fit, in code order; None before it.
    has_missing : bool
        Whether the fit saw missing values.
    """

    def __init__(self, name, is_category, missing):
        self.name, self.is_category, self.missing = name, is_category, missing
        self.categories = None
        self.has_missing = False
        self._code_of = {}

    def __getstate__(self):
        return self.__dict__ | {"_code_of": {}}

    def __setstate__(self, state):
        _, is_category, missing, categories, has_missing = _parts(
            state, "name", "is_category", "missing", "categories", "has_missing"
        )
        if not (
            isinstance(is_category, bool)
            and isinstance(has_missing, bool)
            and isinstance(missing, MissingValues)
            and isinstance(categories, list)
            and all(isinstance(category, str | bool | int | float) for category in categories)
        ):
            raise ValueError("The state of a column's encoder holds parts of the wrong type.")
        keys = [category_key(category) for category in categories]
        if len(keys) > MAX_CATEGORIES or not all(low < high for low, high in zip(keys, keys[1:])):
            raise ValueError("The categories of a column are not distinct and in ascending order.")
        self.__dict__.update(state, _code_of={})

    def fit(self, column, out):
        """Learn the categories of a column view; write its cells to `out`, float32."""
        written = self._write(column, out)
        # Without categories every NaN is a missing value, whatever its payload.
        self.has_missing = self._check(written) == SOME_MISSING and (
            not self.categories or bool(category_codes(written)[1].any())
        )

    def encode(self, column, out):
        """Write the cells of a column view to `out`."""
        self._check(self._write(column, out))

    def _check(self, written):
        """Return the `value_kind` of cells; raise if some are infinite."""
        kind = value_kind(written[:, None])
        if kind == SOME_INFINITE:
            raise ValueError(
                "Input X contains infinity or a value too large for dtype('float32') in column "
                f"{self.name!r}."
            )
        return kind

    def _write(self, column, out):
        """Write the cells of a column view to `out`; without categories learned, learn them.

        Returns
        -------
        written : ndarray, dtype=float32
            Cells among which is every one that is not a finite number.
        """
        has_numbers = not (self.is_category or self._has_only_booleans())
        if isinstance(column, Numbers) and has_numbers:
            return self._write_column_of_numbers(column.values, out)
        if isinstance(column, Numbers):
            distinct, codes = np.unique(column.values, return_inverse=True, equal_nan=True)
            column = Coded(codes, distinct.tolist())
        if isinstance(column, Objects):
            try:
                bits, codes, distinct = scan_objects(
                    column.cells, not has_numbers, self.missing.numbers, _simplify
                )
            except TypeError as error:
                row = next(i for i, cell in enumerate(column.cells) if not _is_readable(cell))
                raise TypeError(
                    f"Column {self.name!r}, row {row}: {error}. Convert the column to numbers or "
                    "texts, or leave it out."
                ) from None
            out.view(np.uint32)[:] = bits
            bits, _ = self._bits_of(distinct, codes)
            if distinct:
                np.copyto(out.view(np.uint32), bits[codes], where=codes >= 0)
            return out
        bits, is_present = self._bits_of(column.distinct, column.codes)
        take_bits(bits, column.codes, out.view(np.uint32))
        return bits[is_present].view(np.float32)

    def _write_column_of_numbers(self, values, out):
        with np.errstate(over="ignore"):
            out[:] = values
            self.missing.mask_numbers(values, out)
        if self.categories is None:
            self.categories = []
        elif self.categories:
            out[np.isnan(out)] = np.nan  # whatever their payloads
        is_finite = values.dtype.kind in "iu" and not self.missing.numbers
        return out[:0] if is_finite else out

    def _has_only_booleans(self):
        """Whether the fit saw booleans: 0 and 1 stand for them afterwards."""
        return bool(self.categories) and all(isinstance(c, bool) for c in self.categories)

    def _bits_of(self, distinct, codes):
        """The cells that distinct values stand for, as bits, and which of them the codes name;
        one more at the end, for -1."""
        if self._has_only_booleans():
            distinct = [
                bool(value) if isinstance(value, int | float) and value in (0, 1) else value
                for value in distinct
            ]
        is_present = np.zeros(len(distinct) + 1, dtype=bool)
        mark_codes(codes, is_present.view(np.uint8))
        bits = np.full(len(distinct) + 1, MISSING_BITS)
        categories = [self._category(value) for value in distinct]
        if not self.is_category:
            self._write_numbers(distinct, categories, bits.view(np.float32))
        if self.categories is None:
            found = {
                category_key(v): v for v, p in zip(categories, is_present) if p and v is not None
            }
            self.categories = [found[key] for key in sorted(found)]
            if len(found) > MAX_CATEGORIES:
                raise ValueError(
                    f"Column {self.name!r} has {len(found)} distinct categories; "
                    f"{MAX_CATEGORIES} are possible."
                )
        if len(self._code_of) != len(self.categories):
            self._code_of = {
                category_key(category): c for c, category in enumerate(self.categories)
            }
        unseen = len(self.categories)
        codes = [
            unseen if v is None else self._code_of.get(category_key(v), unseen) for v in categories
        ]
        codes = np.array(codes, dtype=np.uint32)
        is_category = np.array([v is not None for v in categories], dtype=bool)
        codes[codes == unseen] = MAX_CATEGORIES
        bits[:-1][is_category] = MISSING_BITS + 1 + codes[is_category]
        return bits, is_present

    def _category(self, value):
        """The category that a distinct value is, or None if it is missing."""
        if isinstance(value, str):
            return None if self.missing.has_text(value) else value
        if value is None or value != value:
            return None
        if isinstance(value, bool | int | float):
            is_number = not isinstance(value, bool)
            return None if is_number and value in self.missing.numbers else value
        return str(value)

    def _write_numbers(self, distinct, categories, cells):
        """Write the cells of distinct texts and numbers that are numbers, and strike them from
        the categories."""
        with np.errstate(over="ignore"):
            texts = [i for i, category in enumerate(categories) if isinstance(category, str)]
            is_number, numbers = parse_texts([categories[i] for i in texts])
            for i in np.flatnonzero(is_number):
                if numbers[i] not in self.missing.numbers:
                    cells[texts[i]] = numbers[i]
                categories[texts[i]] = None
            for i, value in enumerate(distinct):
                if isinstance(value, int | float) and not isinstance(value, bool):
                    if value not in self.missing.numbers:
                        cells[i] = value
                    categories[i] = None


def warn_of_raw_text(encoder, n_rows):
    """Warn of columns of text in which most rows hold a text of their own.

    Parameters
    ----------
    encoder : TableEncoder
        Fitted.
    n_rows : int
        Number of rows of its table.
    """
    for column in encoder.columns:
        n_texts = len(column.categories)
        if n_texts >= _MANY_TEXTS and 2 * n_texts > n_rows:
            warn_user(
                f"Column {column.name!r} holds {n_texts} distinct texts in {n_rows} rows: a tree "
                "can only memorise them. Leave it out, or make features of it, for example with "
                "scikit-learn's TfidfVectorizer or TargetEncoder."
            )


class TableEncoder:
    """Turns tables into matrices of cells, after the table that it was made for.

    Parameters
    ----------
    table : ArrayTable, FrameTable or PandasTable
        The table to fit.
    categorical_features : "from_dtype", array-like or None
        See `category_columns`.
    missing_values : None, str, float or array-like
        See `MissingValues`.

    Attributes
    ----------
    columns : list of ColumnEncoder
        One per column.
    """

    def __init__(self, table, categorical_features, missing_values):
        is_category = category_columns(table, categorical_features)
        missing = MissingValues(missing_values)
        self.columns = [
            ColumnEncoder(table.name(j), bool(is_category[j]), missing)
            for j in range(table.n_columns)
        ]

    def __setstate__(self, state):
        (columns,) = _parts(state, "columns")
        if not isinstance(columns, list) or not all(
            isinstance(column, ColumnEncoder) for column in columns
        ):
            raise ValueError("The columns of a table's encoder must be a list of encoders.")
        self.__dict__.update(state)

    def encode(self, table, is_fit=False):
        """Return the cells of a table with the columns of the fit, F-ordered float32."""
        return self._encode(table, range(table.n_columns), is_fit)

    def _encode(self, table, numbers, is_fit):
        X = np.empty((table.n_rows, len(numbers)), dtype=np.float32, order="F")
        for place, j in enumerate(numbers):
            column = self.columns[j]
            (column.fit if is_fit else column.encode)(table.column(j), X[:, place])
        return X

    def fit_with_bits(self, table, n_jobs):
        """`encode` a table to fit: if there are many columns of booleans, as a BitMatrix."""
        bools = table.bool_columns()
        if len(bools) < MIN_COLUMNS:
            return self.encode(table, is_fit=True)
        bits = bits_of_bools(
            table.bools(bools), effective_n_threads(n_jobs, table.n_rows * len(bools))
        )
        for j, *found in zip(bools, *(mask.tolist() for mask in bits.holds()), strict=True):
            self.columns[j].categories = [value for value in (False, True) if found[value]]
        others = sorted(set(range(table.n_columns)).difference(bools))
        cells = self._encode(table, others, is_fit=True) if others else None
        return BitMatrix(bits.words, bools, cells)

    @property
    def n_categories(self):
        """Number of categories of each column; None if no column has any."""
        sizes = np.array([len(column.categories) for column in self.columns], dtype=np.uint32)
        return sizes if sizes.any() else None

    @property
    def categories(self):
        """The categories of each column in code order."""
        return [list(column.categories) for column in self.columns]


def category_columns(table, categorical_features):
    """Return which columns hold categories only, as a mask.

    Parameters
    ----------
    table : ArrayTable, FrameTable or PandasTable
        The table.
    categorical_features : "from_dtype", None, or array-like of bool, int or str
        "from_dtype" takes the columns of booleans, categories and enums; None takes none; else a
        mask, column numbers, or names.
    """
    n_columns = table.n_columns
    if categorical_features is None:
        return np.zeros(n_columns, dtype=bool)
    if isinstance(categorical_features, str):
        return np.array([table.dtype_is_category(j) for j in range(n_columns)], dtype=bool)
    chosen = np.asarray(categorical_features)
    if chosen.ndim != 1:
        raise TypeError(
            "categorical_features must be a list or a one-dimensional array, got "
            f"{categorical_features!r}."
        )
    mask = np.zeros(n_columns, dtype=bool)
    if chosen.size == 0:
        return mask
    if chosen.dtype.kind == "b":
        if chosen.shape != (n_columns,):
            raise ValueError(
                "categorical_features set as a boolean mask must have shape (n_features,), got "
                f"{chosen.shape}."
            )
        return chosen
    if chosen.dtype.kind in "iu":
        if chosen.min() < 0 or chosen.max() >= n_columns:
            raise ValueError(
                "categorical_features set as integer indices must be in [0, n_features - 1], got "
                f"{sorted(set(chosen.tolist()))} for {n_columns} features."
            )
        mask[chosen] = True
        return mask
    if chosen.dtype.kind not in "UO" or any(not isinstance(name, str) for name in chosen):
        raise ValueError(
            "categorical_features must be an array-like of bool, int or str, got "
            f"{categorical_features!r}."
        )
    if table.names is None:
        raise ValueError("categorical_features holds names, but X has none.")
    unknown = [name for name in chosen.tolist() if name not in table.names]
    if unknown:
        raise ValueError(f"categorical_features names columns that X does not have: {unknown}.")
    return np.isin(np.array(table.names, dtype=object), chosen)


def category_codes(cells):
    """Return the codes of a column of cells, -1 where there is no category, and what is missing."""
    codes = np.ascontiguousarray(cells).view(np.uint32).astype(np.intp) - int(MISSING_BITS) - 1
    is_category = np.isnan(cells) & (codes >= 0) & (codes < MAX_CATEGORIES)
    return np.where(is_category, codes, -1), np.isnan(cells) & ~is_category


def table_encoder(estimator):
    """Return the encoder of an estimator that was fitted on a table, None for others."""
    return getattr(estimator, "_table_encoder", None)
