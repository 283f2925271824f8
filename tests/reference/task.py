"""What a fit is about: the rows that count, their targets, and the limits in absolute numbers."""

from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import compute_sample_weight

from reference.impurity import node_value
from reference.splits import SLACK, Limits, side_values


@dataclass(frozen=True)
class Task:
    """One fit. Targets are class codes or numbers, (n_rows, n_outputs)."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray
    n_classes: list | None
    total_weight: float
    criterion: str
    max_depth: float
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_impurity_decrease: float
    monotonic_cst: tuple | None

    @classmethod
    def of(cls, estimator, X, y, sample_weight=None):
        params = estimator.get_params()
        X = np.asarray(X, dtype=np.float32)
        y = np.asarray(y).reshape(len(X), -1)
        w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if params.get("class_weight") is not None:
            w = w * compute_sample_weight(params["class_weight"], y)
        n_classes = None
        if is_classifier(estimator):
            classes, y = zip(*[np.unique(y_k, return_inverse=True) for y_k in y.T])
            n_classes, y = [len(c) for c in classes], np.column_stack(y)
        counts = w != 0

        def n_rows(limit):
            return limit if isinstance(limit, (int, np.integer)) else ceil(limit * len(X))

        return cls(
            X=X[counts],
            y=y[counts] if n_classes else y[counts].astype(float),
            w=w[counts],
            n_classes=n_classes,
            total_weight=w.sum(),
            criterion=params["criterion"],
            max_depth=inf if params["max_depth"] is None else params["max_depth"],
            min_samples_split=max(2, n_rows(params["min_samples_split"])),
            min_samples_leaf=n_rows(params["min_samples_leaf"]),
            min_weight_leaf=params["min_weight_fraction_leaf"] * np.sort(w).sum(),
            min_impurity_decrease=params["min_impurity_decrease"],
            monotonic_cst=params["monotonic_cst"],
        )

    def is_terminal(self, rows, depth):
        """Whether a node is a leaf whatever its cuts are worth."""
        return self.is_limited(rows, depth) or self.is_pure(rows)

    def is_pure(self, rows):
        return (self.y[rows] == self.y[rows[0]]).all()

    def is_limited(self, rows, depth):
        """Whether the limits forbid to split a node."""
        too_light = self.w[rows].sum() - 2 * self.min_weight_leaf < -SLACK * self.total_weight
        return (
            depth >= self.max_depth
            or len(rows) < max(self.min_samples_split, 2 * self.min_samples_leaf)
            or too_light
        )

    def limits(self, bounds):
        return Limits(self.min_samples_leaf, self.min_weight_leaf, self.monotonic_cst, bounds)

    def child_bounds(self, rows, goes_left, feature, bounds):
        """Bounds of both children's values under monotonic constraints."""
        sign = self.monotonic_cst[feature] if self.monotonic_cst is not None else 0
        if sign == 0:
            return bounds, bounds
        middle = sum(side_values(self.criterion, self.y[rows], self.w[rows], goes_left)) / 2
        low, high = (bounds[0], middle), (middle, bounds[1])
        return (low, high) if sign > 0 else (high, low)

    def value(self, rows, bounds):
        value = node_value(self.criterion, self.y[rows], self.w[rows], self.n_classes)
        if self.monotonic_cst is None:
            return value
        clipped = np.clip(value[0, -1], *bounds)
        return np.array([[1 - clipped, clipped]] if self.n_classes else [[clipped]])
