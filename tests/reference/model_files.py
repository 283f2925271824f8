"""Fitted estimators of every kind that can be saved as a file."""

import functools
import warnings

import numpy as np

from fasttree.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from fuzz.pickles import fitted

X = np.arange(12.0).reshape(6, 2)
y = np.array([0, 1, 2, 0, 1, 2])


@functools.cache
def saved():
    """Fitted estimators of every kind that can be saved, with rows that they predict."""
    by_kind = [(estimator, rows) for estimator, rows, _ in fitted()]
    (_, rows, labels), (_, table, _) = fitted()[0], fitted()[5]
    weights = 0.5 + np.arange(len(labels)) % 3
    two = np.column_stack([labels, labels % 2])
    for forest, X, y, fit_params in (
        (RandomForestClassifier(4, random_state=0), rows, np.array(["x", "y", "zz"])[labels], {}),
        (RandomForestRegressor(3, max_features=2), table, labels * 0.5, {"sample_weight": weights}),
        (ExtraTreesClassifier(3, class_weight="balanced"), table, two, {}),
        (ExtraTreesRegressor(3, max_depth=2, missing_values=3), rows, two, {}),
        (RandomForestClassifier(3, oob_score=True, max_samples=0.5), rows, labels, {}),
        (RandomForestRegressor(3, oob_score=True), rows, two, {}),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # few trees for the rows left out
            by_kind.append((forest.fit(X, y, **fit_params), X))
    return by_kind
