"""Checks of what users pass to an estimator.

scikit-learn's own checks decide what is accepted and which error is raised. They also take several
times as long as growing a small tree, so an input that is plainly in order (a non-empty NumPy
array of numbers) is recognised here first and spared them; anything else goes through them.
"""

import functools
import sys
import threading
from numbers import Real

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from fasttree._sklearn_compat import check_feature_names, check_n_features, check_sample_weight
from fasttree.table._bad_cells import check_complete, where_infinite
from fasttree.table._bit_matrix import BitMatrix
from fasttree.table._cells import are_texts, encode_texts
from fasttree.table._columns import table_of_batch, target_array
from fasttree.table._encoder import table_encoder
from fasttree.table._rows import (
    bits_of,
    canonical_sparse,
    is_plain_matrix,
    is_plain_sparse,
    matrix_of_frame,
    matrix_of_table,
    open_rows,
    read_table,
    within_doubles,
)
from fasttree.tree._data import EncodedData
from fasttree.utils._finite import ALL_FINITE, SOME_INFINITE, SOME_MISSING, value_kind
from fasttree.utils._integers import code_dtype, encode_integers
from fasttree.utils._threads import effective_n_threads

_LARGEST = sys.float_info.max
_reseeded = threading.local()


def keeps_earlier_fit(fit):
    """Decorate a fit, so that one that fails leaves the estimator as it was."""

    @functools.wraps(fit)
    def fitted(estimator, *args, **kwargs):
        before = vars(estimator).copy()
        try:
            return fit(estimator, *args, **kwargs)
        except BaseException:
            estimator.__dict__ = before  # at once, whatever interrupts
            raise

    return fitted


def _is_plain_target(y):
    """A non-empty array of finite numbers (booleans included) or of text with one or two
    dimensions."""
    if type(y) is not np.ndarray or y.ndim not in (1, 2) or y.size == 0:
        return False
    kind = y.dtype.kind
    if kind == "O":
        return are_texts(y)
    return kind in "iub" or (y.dtype.char in "fd" and bool(np.isfinite(y).all()))


def _forget_names(estimator, X):
    """What scikit-learn does to an estimator that is fitted on a table without names."""
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    estimator.n_features_in_ = X.shape[1]


def check_fit_data(estimator, X, y, with_bits=False):
    """Return X as float32 (dense, or CSC) and y as an array; set `n_features_in_` and names.

    X may hold infinities and NaN: see `check_values`. `with_bits`: zeros and ones may come as a
    BitMatrix.
    """
    if issparse(X) and X.ndim == 2:
        X = canonical_sparse(X)
        is_plain = is_plain_sparse(X)
    else:
        X = table_of_batch(X)
        is_plain = is_plain_matrix(X)
    matrix = None if is_plain else matrix_of_frame(X)
    if matrix is not None:
        y = check_target(estimator, y)
        check_feature_names(estimator, X, reset=True)
        estimator.n_features_in_ = X.shape[1]
        return matrix, y
    if is_plain and _is_plain_target(y):
        _forget_names(estimator, X)
        bits = bits_of(X, estimator.n_jobs) if with_bits else None
        if bits is None and issparse(X) and X.format == "csr":
            X = X.tocsc()
            bits = bits_of(X, estimator.n_jobs) if with_bits else None
        return X.astype(np.float32, copy=False) if bits is None else bits, y
    y = target_array(y)
    if y is not None and not _is_plain_target(y):
        check_complete(y)
    return validate_data(
        estimator,
        X,
        y,
        validate_separately=(
            {"dtype": np.float32, "accept_sparse": "csc", "ensure_all_finite": False},
            {"ensure_2d": False, "dtype": None},
        ),
    )


def check_fit_table(estimator, X, y, with_bits=False):
    """`check_fit_data` for a table, None for anything else.

    Returns
    -------
    (cells, y, encoder) or None
        Cells of the table, the target, and the encoder that made the cells.
    """
    read = read_table(estimator, X, with_bits)
    if read is None:
        return None
    cells, encoder, X = read
    validate_data(estimator, X, skip_check_array=True)
    return cells, check_target(estimator, y), encoder


def check_target(estimator, y):
    """Return y as an array of finite numbers or of text."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    y = target_array(y)
    if _is_plain_target(y):
        return y
    check_complete(y)
    return check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=estimator)


def check_encoded(estimator, data):
    """Check an `EncodedData` as the X of a fit; set `n_features_in_` and names."""
    data.check_fits(estimator)
    _forget_names(estimator, data)
    if data.feature_names is not None:
        estimator.feature_names_in_ = data.feature_names
    if data.table_encoder is None and not estimator._support_missing_values(data):
        check_values(estimator, data.cells, 1)


def _predicted_cells(estimator, data):
    """The cells of an `EncodedData`, if the estimator was fitted on data encoded alike."""
    check_n_features(estimator, data, reset=False)
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and data.feature_names is not None and (names != data.feature_names).any():
        raise ValueError(
            "The feature names should match those that were passed during fit, which were "
            f"{list(names)}, got {list(data.feature_names)}."
        )
    encoder = table_encoder(estimator)
    categories = None if encoder is None else encoder.categories
    own = None if data.table_encoder is None else data.table_encoder.categories
    if categories != own and any(categories or []) | any(own or []):
        raise ValueError(
            "X was encoded with other categories than the data of the fit; pass the table itself."
        )
    cells = data.cells  # a copy, if rows are selected
    return cells.tocsr() if issparse(cells) else cells


def deferred_check(estimator, X, is_deferred):
    """Return what checks the values of the X of a fit; None if it is not deferred, but done."""
    n_threads = effective_n_threads(estimator.n_jobs, X.size)
    check = functools.partial(check_values, estimator, X, n_threads)
    if is_deferred and not issparse(X):
        return check
    check()
    return None


def check_values(estimator, X, n_threads, leader=None):
    """Raise if X holds infinities, or missing values that the estimator does not take."""
    if isinstance(X, BitMatrix):
        return
    if not issparse(X):
        kind = value_kind(X, n_threads, leader)
        if kind == ALL_FINITE or (kind == SOME_MISSING and estimator._support_missing_values(X)):
            return
        X = np.array(X)  # scikit-learn's check, for its message, wants a writable array
    else:
        kind = None
    try:
        estimator._compute_missing_values_in_feature_mask(X)
    except ValueError as error:
        if kind != SOME_INFINITE:
            raise
        where = where_infinite(X, getattr(estimator, "feature_names_in_", None))
        raise ValueError(f"{error} {where}") from None


def _check_predict_table(estimator, X, encoder):
    """`check_predict_data` for an estimator that was fitted on a table."""
    if issparse(X):
        raise ValueError("The estimator was fitted on a table; a sparse X holds numbers only.")
    table, X = open_rows(estimator, X, has_categories=True)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return encoder.encode(table)


def check_grown(estimator):
    """`check_is_fitted`, which takes as long as a prediction, for an estimator with a `tree_`."""
    if "tree_" not in vars(estimator):
        check_is_fitted(estimator)


@within_doubles
def check_predict_data(estimator, X, check_input=True):
    """Return X as float32 (dense, or CSR), checked against what `estimator` was fitted on.

    Returns
    -------
    X : ndarray or CSR matrix
        The rows.
    accepted : {ALL_FINITE, SOME_MISSING, SOME_INFINITE}
        What X may hold; SOME_INFINITE if its values have been checked.
    """
    if not check_input:
        check_n_features(estimator, X, reset=False)
        return X, SOME_INFINITE
    if isinstance(X, EncodedData):
        return _predicted_cells(estimator, X), SOME_INFINITE
    encoder = table_encoder(estimator)
    if encoder is not None:
        return _check_predict_table(estimator, X, encoder), SOME_INFINITE
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        is_plain = is_plain_matrix(X) and X.shape[1] == estimator.n_features_in_
        matrix = X if is_plain else None
    else:
        matrix = matrix_of_frame(X, names)
    if matrix is None:
        return _validated_rows(estimator, X), SOME_INFINITE
    matrix = matrix.astype(np.float32, copy=False)
    accepted = SOME_MISSING if estimator._support_missing_values(matrix) else ALL_FINITE
    if names is None:
        return matrix, accepted
    if value_kind(matrix) > accepted:
        matrix = _validated_rows(estimator, X)  # raises an error that speaks of the frame
    return matrix, SOME_INFINITE


def check_predict_values(estimator, X, accepted):
    """Raise scikit-learn's error if X, from `check_predict_data`, holds what is not accepted."""
    if accepted != SOME_INFINITE and value_kind(X) > accepted:
        _validated_rows(estimator, X)


def _validated_rows(estimator, X):
    """Rows of an estimator that was fitted on numbers, which pass scikit-learn's checks."""
    if issparse(X) and X.ndim == 2:
        X = canonical_sparse(X, "csr")
    ensure_all_finite = "allow-nan" if estimator._support_missing_values(X) else True
    table, X = open_rows(estimator, X, has_categories=False)
    if table is not None:
        validate_data(estimator, X, reset=False, skip_check_array=True)
        try:
            X = matrix_of_table(table)
        except ValueError as error:
            raise ValueError(
                f"{error}, but all columns were numbers in fit. Convert the column, or fit on rows "
                "that hold its categories."
            ) from None
        return check_array(X, ensure_all_finite=ensure_all_finite, estimator=estimator)
    return validate_data(
        estimator,
        X,
        dtype=np.float32,
        accept_sparse="csr",
        reset=False,
        ensure_all_finite=ensure_all_finite,
    )


def check_weights(sample_weight, X):
    """Return sample weights as contiguous float64."""
    if (
        type(sample_weight) is np.ndarray
        and sample_weight.shape == (X.shape[0],)
        and sample_weight.dtype.kind in "fiu"
    ):
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
        if np.isfinite(weights).all() and weights.any():
            return weights
    return check_sample_weight(sample_weight, X, dtype=np.float64)


def check_class_weight(class_weight):
    """Raise unless the weights of classes are finite numbers that are not negative.

    Raises
    ------
    TypeError
        If a weight is no number.
    ValueError
        If a weight is negative, infinite or NaN.
    """
    for of_output in class_weight if isinstance(class_weight, list | tuple) else [class_weight]:
        if not isinstance(of_output, dict):
            continue  # "balanced", or refused by scikit-learn
        for label, weight in of_output.items():
            if not isinstance(weight, Real):
                raise TypeError(
                    f"class_weight must hold numbers, got {weight!r} for class {label!r}."
                )
            if not 0 <= weight <= _LARGEST:
                raise ValueError(
                    "class_weight must hold finite numbers that are not negative, got "
                    f"{weight!r} for class {label!r}."
                )


def weigh_classes(sample_weight, class_weights):
    """Return the product of the rows' weights, None for ones, and those of their classes."""
    if sample_weight is not None:
        with np.errstate(over="ignore", under="ignore"):
            class_weights = sample_weight * class_weights
    if not np.isfinite(class_weights).all():
        raise ValueError("The product of sample_weight and class_weight is not finite.")
    return class_weights


def _encode_column(column):
    """Return the distinct labels of a column in ascending order and its codes in few bytes."""
    encoded = encode_integers(column) if column.dtype.kind in "iub" else None
    if encoded is None:
        classes, codes = np.unique(column, return_inverse=True)
        encoded = classes, codes.astype(code_dtype(len(classes)))
    return encoded


def _encode_labels(y):
    """Return the distinct labels and the codes of every column of y."""
    columns = list(y.T)
    if y.dtype.kind in "OU":
        encoded = [encode_texts(column.astype(object, copy=False)) for column in columns]
        if None not in encoded:
            return [(np.array(distinct, dtype=y.dtype), codes) for distinct, codes in encoded]
    has_integers = y.dtype.kind in "iub"
    try:
        if not has_integers:
            check_classification_targets(y)
        encoded = [_encode_column(column) for column in columns]
    except TypeError as error:
        raise TypeError(f"The labels of y cannot be put in order: {error}.") from error
    if has_integers and 2 * sum(len(classes) for classes, _ in encoded) > y.shape[0]:
        # Integers are always classes; what remains is the warning that they may be quantities.
        check_classification_targets(y)
    return encoded


def encode_classes(y):
    """Return class codes of a (n_samples, n_outputs) target and the sorted classes.

    Returns
    -------
    codes : ndarray of shape (n_samples, n_outputs), dtype=uint8 or uint32
        Positions in `classes`; of one byte if these are 256 at most.
    classes : list of ndarray
        Distinct labels of each output in ascending order.
    """
    classes, codes = zip(*_encode_labels(y), strict=True)
    codes = codes[0].reshape(-1, 1) if len(codes) == 1 else np.column_stack(codes)
    return codes, list(classes)


def as_numbers(y):
    """Return a (n_samples, n_outputs) target as contiguous float64.

    Raises ValueError if one is missing or infinite among objects; other targets are checked before.
    """
    numbers = np.ascontiguousarray(y, dtype=np.float64)
    if y.dtype.kind not in "iubf":  # None has become NaN
        assert_all_finite(numbers, input_name="y")
    return numbers


def random_source(random_state):
    """Return a `RandomState` in the state that `check_random_state` would give.

    Making one takes longer than growing a small tree, seeding one does not: for an int a
    generator kept per thread is seeded again. It is good until the thread asks for the next.
    """
    if not isinstance(random_state, (int, np.integer)) or isinstance(random_state, bool):
        return check_random_state(random_state)
    source = getattr(_reseeded, "source", None)
    if source is None:
        source = _reseeded.source = np.random.RandomState(0)
    source.seed(random_state)
    return source
