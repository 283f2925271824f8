"""Checks of what users pass to an estimator.

scikit-learn's own checks decide what is accepted and which error is raised. They also take several
times as long as growing a small tree, so an input that is plainly in order (a non-empty NumPy
array of numbers) is recognised here first and spared them; anything else goes through them.
"""

import functools
import threading
from decimal import InvalidOperation

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from fasttree._sklearn_compat import check_n_features, check_sample_weight
from fasttree.tree._cells import are_texts, encode_texts
from fasttree.tree._columns import open_table, target_array
from fasttree.tree._table import TableEncoder, table_encoder
from fasttree.utils._finite import ALL_FINITE, SOME_INFINITE, SOME_MISSING, value_kind
from fasttree.utils._integers import encode_integers

_reseeded = threading.local()


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


def _is_plain_matrix(X):
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype.char in "fdlqiILQ?bBhH"
        and X.dtype.isnative
        and X.size > 0
    )


def _is_plain_target(y):
    """A non-empty array of finite numbers (booleans included) or of text with one or two
    dimensions."""
    if type(y) is not np.ndarray or y.ndim not in (1, 2) or y.size == 0:
        return False
    kind = y.dtype.kind
    if kind == "O":
        return are_texts(y)
    return kind in "iub" or (y.dtype.char in "fd" and bool(np.isfinite(y).all()))


def _is_plain_sparse(X):
    """A CSC or CSR matrix of numbers, canonical, that is not empty."""
    return X.dtype.char in "fdlqiILQ?bBhH" and X.dtype.isnative and min(X.shape) > 0


def _forget_names(estimator, X):
    """What scikit-learn does to an estimator that is fitted on a table without names."""
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    estimator.n_features_in_ = X.shape[1]


def check_fit_data(estimator, X, y):
    """Return X as float32 (dense, or CSC) and y as an array; set `n_features_in_` and names.

    X may hold infinities and NaN: see `missing_mask`.
    """
    if _is_plain_matrix(X) and _is_plain_target(y):
        _forget_names(estimator, X)
        return X.astype(np.float32, copy=False), y
    if issparse(X) and X.ndim == 2:
        X = canonical_sparse(X)
        if _is_plain_sparse(X) and _is_plain_target(y):
            _forget_names(estimator, X)
            return X.tocsc().astype(np.float32, copy=False), y
    return validate_data(
        estimator,
        X,
        target_array(y),
        validate_separately=(
            {"dtype": np.float32, "accept_sparse": "csc", "ensure_all_finite": False},
            {"ensure_2d": False, "dtype": None},
        ),
    )


def _open_table(estimator, X, with_labels):
    """`open_table`, also for what only scikit-learn can turn into an array; and X as an array or
    a frame."""
    table = open_table(X, with_labels)
    if table is None and with_labels:
        X = check_array(X, dtype=None, ensure_all_finite="allow-nan", estimator=estimator)
        table = open_table(X, with_labels)
    elif table is not None and isinstance(X, list | tuple):
        X = table.array
    return table, X


def check_fit_table(estimator, X, y):
    """`check_fit_data` for a table, None for anything else.

    The table is turned into cells by an encoder that the estimator keeps.
    """
    categorical_features, missing_values = estimator.categorical_features, estimator.missing_values
    names_labels = categorical_features is not None and not isinstance(categorical_features, str)
    with_labels = names_labels or missing_values is not None
    if with_labels and issparse(X):
        raise ValueError(
            "categorical_features and missing_values are for dense data and tables; a sparse X "
            "holds numbers."
        )
    table, X = _open_table(estimator, X, with_labels)
    if table is None:
        return None
    validate_data(estimator, X, skip_check_array=True)
    if table.n_rows == 0 or table.n_columns == 0:
        what = "sample" if table.n_rows == 0 else "feature"
        raise ValueError(
            f"Found array with 0 {what}(s) (shape={(table.n_rows, table.n_columns)}) while a "
            "minimum of 1 is required."
        )
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None"
        )
    y = target_array(y)
    if not _is_plain_target(y):
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=estimator)
    encoder = TableEncoder(table, categorical_features, missing_values)
    cells = encoder.encode(table, is_fit=True)
    estimator._table_encoder = encoder
    return cells, y


def _check_predict_table(estimator, X, encoder):
    """`check_predict_data` for an estimator that was fitted on a table."""
    if issparse(X):
        raise ValueError("The estimator was fitted on a table; a sparse X holds numbers only.")
    table, X = _open_table(estimator, X, with_labels=True)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return encoder.encode(table)


def missing_mask(estimator, X, n_threads):
    """Return which columns of X hold missing values, None if none does.

    Raises
    ------
    ValueError
        If X holds infinities, or missing values that the estimator does not take.
    """
    if not issparse(X):
        kind = value_kind(X, n_threads)
        if kind == ALL_FINITE:
            return None
        if kind == SOME_MISSING and estimator._support_missing_values(X):
            return np.isnan(X).any(axis=0)
        X = np.array(X)  # scikit-learn's check, for its message, wants a writable array
    return estimator._compute_missing_values_in_feature_mask(X)


def canonical_sparse(X, to_format="csc"):
    """Return a sparse X with sorted indices and duplicates summed; the caller's is not changed.

    Duplicates are summed as they are, before any cast, as `X.toarray()` does. What is neither CSC
    nor CSR becomes `to_format`.
    """
    if X.format not in ("csc", "csr"):
        X = X.tocoo()
        _check_indices(X)
        X = X.asformat(to_format)
    _check_indices(X)
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def _check_indices(X):
    """Raise unless the indices of a COO, CSC or CSR matrix lie inside it: SciPy's compiled code,
    which sorts and converts, trusts them."""
    if X.format == "coo":
        is_sound = _are_indices(X.row, X.data, X.shape[0]) and _are_indices(
            X.col, X.data, X.shape[1]
        )
    else:
        n_major, n_minor = X.shape if X.format == "csr" else X.shape[::-1]
        starts = X.indptr
        is_sound = (
            starts.shape == (n_major + 1,)
            and starts.dtype.kind == "i"
            and starts[0] == 0
            and starts[-1] <= len(X.indices)
            and bool((starts[1:] >= starts[:-1]).all())
            and _are_indices(X.indices, X.data, n_minor)
        )
    if not is_sound:
        raise ValueError(
            f"The indices or pointers of the {X.format.upper()} matrix X are out of range, or its "
            "arrays do not have the lengths they should."
        )


def _are_indices(indices, data, n):
    """Whether there is an integer from 0 to n - 1 for each of the data."""
    if indices.shape != data.shape or indices.ndim != 1 or indices.dtype.kind != "i":
        return False
    # Negative ones are large if they are read as unsigned.
    return not indices.size or indices.view(f"u{indices.itemsize}").max() < n


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
    encoder = table_encoder(estimator)
    if encoder is not None:
        return _check_predict_table(estimator, X, encoder), SOME_INFINITE
    if (
        _is_plain_matrix(X)
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    ):
        X = X.astype(np.float32, copy=False)
        takes_missing = estimator._support_missing_values(X)
        return X, SOME_MISSING if takes_missing else ALL_FINITE
    return _validated_rows(estimator, X), SOME_INFINITE


def check_predict_values(estimator, X, accepted):
    """Raise scikit-learn's error if X, from `check_predict_data`, holds what is not accepted."""
    if accepted != SOME_INFINITE and value_kind(X) > accepted:
        _validated_rows(estimator, X)


def _validated_rows(estimator, X):
    if issparse(X) and X.ndim == 2:
        X = canonical_sparse(X, "csr")
    return validate_data(
        estimator,
        X,
        dtype=np.float32,
        accept_sparse="csr",
        reset=False,
        ensure_all_finite="allow-nan" if estimator._support_missing_values(X) else True,
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


def _encode_column(column, codes):
    """Write the codes of a column's labels; return the distinct ones in ascending order."""
    classes = encode_integers(column, codes) if column.dtype.kind in "iub" else None
    if classes is None:
        classes, codes[:] = np.unique(column, return_inverse=True)
    return classes


def encode_classes(y):
    """Return class codes of a (n_samples, n_outputs) target and the sorted classes.

    Returns
    -------
    codes : ndarray of shape (n_samples, n_outputs), dtype=float64
        Positions in `classes`.
    classes : list of ndarray
        Distinct labels of each output in ascending order.
    """
    codes = np.empty(y.shape, dtype=np.float64)
    if y.dtype.kind in "OU":
        columns = [y[:, k].astype(object, copy=False) for k in range(y.shape[1])]
        texts = [encode_texts(column, codes[:, k]) for k, column in enumerate(columns)]
        if None not in texts:
            return codes, [np.array(distinct, dtype=y.dtype) for distinct in texts]
    has_integers = y.dtype.kind in "iub"
    try:
        if not has_integers:
            check_classification_targets(y)
        classes = [_encode_column(y[:, k], codes[:, k]) for k in range(y.shape[1])]
    except TypeError as error:
        raise TypeError(f"The labels of y cannot be put in order: {error}.") from error
    if has_integers and 2 * sum(map(len, classes)) > y.shape[0]:
        # Integers are always classes; what remains is the warning that they may be quantities.
        check_classification_targets(y)
    return codes, classes


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
