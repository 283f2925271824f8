"""scikit-learn's estimator on the same rows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import sklearn
import sklearn.ensemble
import sklearn.tree
from sklearn.base import clone, is_classifier
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import fasttree
from fasttree.cli._estimators import is_forest, size_of
from fasttree.cli._files import CommandError
from fasttree.cli._notes import quiet
from fasttree.export import Table

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer

    from fasttree._typing import Array
    from fasttree.cli._table import Rows

__all__ = ["compare"]

_MAX_FITS = 3
_SECONDS_OF_FITS = 1.0
_OWN_CRITERIA = ("chi2", "label_split")  # which scikit-learn does not have


def compare(estimator: BaseEstimator, training: Rows, held_out: Rows) -> Table:
    """Fit both libraries' estimators on the same rows.

    Parameters
    ----------
    estimator : estimator
        fasttree's, fitted.
    training, held_out : Rows
        What to fit on and to score by.

    Returns
    -------
    Table
        Milliseconds of a fit, score, leaves and depth by library.
    """
    twin, notes = _twin(estimator, len(training.y))
    model, step = twin, ""
    if training.X.dtype == object:
        model = make_pipeline(_ordinal_codes(training.X), twin)
        step = f"{model.steps[-1][0]}__"
        notes.append("with categories as ordinal codes")
    lines: list[list[str | int | float]] = []
    for name, fitted, tree, prefix in (
        (f"fasttree {fasttree.__version__}", clone(estimator), None, ""),
        (f"scikit-learn {sklearn.__version__}", model, twin, step),
    ):
        weights = {} if training.weights is None else {f"{prefix}sample_weight": training.weights}
        try:
            with quiet():
                seconds = _time_fit(fitted, training, weights)
                score = float(fitted.score(held_out.X, held_out.y))
        except ValueError as error:
            raise CommandError(f"{name} cannot be compared: {error}") from None
        size = size_of(tree or fitted)
        lines.append([name, 1000 * seconds, score, size["n_leaves"], size["depth"]])
    score_name = "accuracy" if is_classifier(estimator) else "R2"
    note = f"scikit-learn {', '.join(notes)}." if notes else ""
    return Table("Comparison", ["", "fit, ms", score_name, "leaves", "depth"], lines, note)


def _twin(estimator, n_rows):
    """scikit-learn's estimator with the parameters of fasttree's, and what is different."""
    kind = "Classifier" if is_classifier(estimator) else "Regressor"
    module, name = sklearn.tree, "DecisionTree"
    if is_forest(estimator):
        module, name = sklearn.ensemble, "RandomForest"
    twin = getattr(module, f"{name}{kind}")()
    parameters = {
        name: value
        for name, value in estimator.get_params().items()
        if name in twin.get_params() and value not in _OWN_CRITERIA
    }
    if parameters.get("max_leaf_nodes") is not None:  # scikit-learn makes room for so many at once
        parameters["max_leaf_nodes"] = min(parameters["max_leaf_nodes"], max(2, n_rows))
    twin.set_params(**parameters)
    notes = []
    if getattr(estimator, "criterion", twin.criterion) != twin.criterion:
        notes.append(f"by {twin.criterion}")
    return twin, notes


def _ordinal_codes(X: Array) -> ColumnTransformer:
    """What scikit-learn's tree needs before a table with categories."""
    columns = [j for j in range(X.shape[1]) if not all(isinstance(cell, float) for cell in X[:, j])]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return make_column_transformer((encoder, columns), remainder="passthrough")


def _time_fit(estimator, rows, weights):
    """Seconds of the fastest of a few fits, of one only where a fit takes long."""
    total, fastest = 0.0, np.inf
    for _ in range(_MAX_FITS):
        start = time.perf_counter()
        estimator.fit(rows.X, rows.y, **weights)
        fastest = min(fastest, time.perf_counter() - start)
        total += fastest
        if total > _SECONDS_OF_FITS:
            break
    return fastest
