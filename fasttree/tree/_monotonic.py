"""Monotonicity constraints, by position or by name of the column."""

import numpy as np
from sklearn.base import is_classifier

from fasttree.table._rows import within_doubles

__all__ = ["constraint_per_column", "monotonic_constraints"]


@within_doubles
def constraint_per_column(estimator):
    """Return `monotonic_cst` as an array with -1, 0 or 1 per column, or None.

    Parameters
    ----------
    estimator : estimator
        Has `monotonic_cst`, `n_features_in_`, and names if the columns had any.

    Returns
    -------
    ndarray of shape (n_features,), dtype=int8, or None
        As users understand it: on the mean, or on the probability of the second class.

    Raises
    ------
    ValueError
        If a column is not there, their number is another, or a constraint is none of -1, 0, 1.
    """
    constraints = estimator.monotonic_cst
    if constraints is None:
        return None
    if isinstance(constraints, dict):
        names = getattr(estimator, "feature_names_in_", np.empty(0)).tolist()
        if not names:
            raise ValueError("monotonic_cst names columns, but X has no names: pass an array.")
        unknown = [name for name in constraints if name not in names]
        if unknown:
            raise ValueError(
                f"monotonic_cst names columns that X does not have: {unknown}. X has {names}."
            )
        constraints = [constraints.get(name, 0) for name in names]
    constraints = np.asarray(constraints)
    if constraints.shape[0] != estimator.n_features_in_:
        raise ValueError(
            f"monotonic_cst has shape {constraints.shape[0]} but the input data "
            f"X has {estimator.n_features_in_} features."
        )
    if not np.isin(constraints, (-1, 0, 1)).all():
        raise ValueError(
            "monotonic_cst must be None or an array-like of -1, 0 or 1, but got "
            f"{np.unique(constraints)}"
        )
    return constraints.astype(np.int8)


def monotonic_constraints(estimator):
    """Return the constraints as the engine reads them: on the mean, or on class 0; or None.

    Raises
    ------
    ValueError
        If the fit cannot keep constraints: several outputs or more than two classes.
    """
    if estimator.monotonic_cst is None:
        return None
    if estimator.n_outputs_ > 1:
        raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
    if not estimator._criterion_type().takes_monotonic_cst:
        raise ValueError(f"Monotonicity constraints are not supported by {estimator.criterion!r}.")
    constraints = constraint_per_column(estimator)
    if is_classifier(estimator):
        if estimator.n_classes_[0] > 2:
            raise ValueError(
                "Monotonicity constraints are not supported with multiclass classification"
            )
        constraints *= -1
    return constraints
