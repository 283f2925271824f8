"""Random fitted trees and rows for them, for what writes trees as code and data.

Rows come as lists of Python's cells. `cell_parts` is the naive twin of how a fit reads a cell.
"""

import math
import re

import numpy as np
import pandas as pd

from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

NAMES = ["age", "a b", 'x"y', "it's", "select", "größe", "a;b--", "A.B", "%s", "line\nbreak", "?"]
KINDS = ["number", "number", "neighbours", "hybrid", "category", "boolean", "number category"]
TEXTS = ["a", "b", "c", "d'e", "F", "x ", "ü", "0x1", "nan", 'q"', "long name", "\\n", "??="]
HYBRID = ["7", " 2.5 ", "1e1", "-3", "abc", ".5", "5.", "+4", "inf", "1_0", "e5", "-", "x"]


class Problem:
    """A fitted tree and new rows.

    Attributes
    ----------
    estimator : estimator
        The tree.
    kinds : list of str
        What each column holds, of `KINDS`.
    names : list of str
        Names of the columns.
    rows : list of list
        New rows: floats, texts, booleans and None.
    missing_values : list
        What the fit was told to take for missing.
    """

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        n_rows, n_columns = int(rng.integers(20, 90)), int(rng.integers(1, 6))
        self.is_matrix = bool(rng.random() < 0.25)
        kinds = ["number", "neighbours"] if self.is_matrix else KINDS
        self.kinds = [str(rng.choice(kinds)) for _ in range(n_columns)]
        self.names = [str(name) for name in rng.permutation(NAMES)[:n_columns]]
        self.missing_values = []
        if not self.is_matrix and rng.random() < 0.3:
            self.missing_values = [-999, "?", "NA"]
        columns = [self._column(kind, n_rows) for kind in self.kinds]
        rows = [list(row) for row in zip(*columns)]
        self.estimator = self._fit(rows, columns)
        self.X, self.rows = self._table(rows), []
        self.rows = self._new_rows(columns)

    # ---- data

    def _column(self, kind, n):
        rng = self.rng
        if kind == "number":
            cells = [float(x) for x in rng.choice([0.1, 1, 2, 2.5, 3, -7, 1e10, 1e-3], n)]
            if rng.random() < 0.5:
                cells = rng.normal(size=n).tolist()
        elif kind == "neighbours":
            start = np.float32(rng.choice([1.0, -1.0, 0.0, 16777216.0, 0.1, 1e-38, 1e30]))
            steps = rng.integers(0, 6, n, dtype=np.int32)
            cells = (start.view(np.int32) + steps).view(np.float32).astype(float).tolist()
        elif kind == "hybrid":
            cells = [str(x) for x in rng.choice(HYBRID, n)]
        elif kind == "category":
            cells = [str(x) for x in rng.choice(TEXTS[: rng.integers(2, len(TEXTS))], n)]
        elif kind == "boolean":
            cells = [bool(x) for x in rng.integers(0, 2, n)]
        else:
            cells = [float(x) for x in rng.choice([1, 2, 3.5, -4, 12345], n)]
        if rng.random() < 0.5:
            cells = [None if rng.random() < 0.15 else cell for cell in cells]
        for value in self.missing_values:
            if isinstance(value, str) == (kind in ("hybrid", "category")) and kind != "boolean":
                cells = [value if rng.random() < 0.05 else cell for cell in cells]
        return cells

    def _table(self, rows):
        if self.is_matrix:
            return np.array(rows, dtype=np.float64)
        array = np.empty((len(rows), len(self.kinds)), dtype=object)
        array[:] = rows
        return pd.DataFrame(array, columns=self.names, dtype=object)

    def table(self):
        """The new rows as X of `predict`."""
        return self._table(self.rows)

    def _fit(self, rows, columns):
        rng = self.rng
        options = {"max_depth": [None, 2, 4, 1][rng.integers(0, 4)]}
        is_label = [kind in ("category", "boolean", "number category") for kind in self.kinds]
        if not self.is_matrix:
            options["categorical_features"] = is_label
        if self.missing_values:
            options["missing_values"] = self.missing_values
        X = self._table(rows)
        signal = sum(pd.factorize(np.array(c, dtype=object))[0] for c in columns[:2])
        y = signal % 3 + rng.integers(0, 2, len(rows))
        chosen = str(
            rng.choice(["classifier", "texts", "two classes", "regressor", "auto", "outputs",
                        "numbers", "random", "optimal", "constant"])
        )  # fmt: skip
        self.task = chosen
        if chosen == "classifier":
            return DecisionTreeClassifier(**options).fit(X, y)
        if chosen == "texts":
            labels = np.array(["no", "it's", 'a "b"', "ü", "e"])[y]
            return DecisionTreeClassifier(criterion="entropy", **options).fit(X, labels)
        if chosen == "two classes":
            return DecisionTreeClassifier(categorical_split="subset", **options).fit(X, y > 1)
        if chosen == "regressor":
            split = {"categorical_split": "subset"} if rng.random() < 0.5 else {}
            return DecisionTreeRegressor(**split, **options).fit(X, y / 3 + rng.normal(size=len(y)))
        if chosen == "auto":
            return DecisionTree(**options).fit(X, y + 0.1)
        if chosen == "outputs":
            return DecisionTreeClassifier(**options).fit(X, np.column_stack([y, y > 1, y % 2]))
        if chosen == "numbers":
            return DecisionTreeRegressor(**options).fit(X, np.column_stack([y / 7, -y]))
        if chosen == "random":
            cls = ExtraTreeClassifier if rng.random() < 0.5 else ExtraTreeRegressor
            return cls(random_state=0, **options).fit(X, y)
        if chosen == "optimal":
            options["max_depth"] = options["max_depth"] or 2
            front = bool(rng.random() < 0.5)
            estimator = OptimalDecisionTreeClassifier(n_thresholds=5, pareto_front=front, **options)
            return estimator.fit(X, y)
        return DecisionTreeClassifier(**options).fit(X, np.ones(len(y)))

    def _new_rows(self, columns):
        rng, tree = self.rng, self.estimator.tree_
        pools = []
        for j, (kind, cells) in enumerate(zip(self.kinds, columns)):
            pool = [*cells, None]
            if kind in ("number", "neighbours"):
                at = tree.threshold[(tree.feature == j) & np.isfinite(tree.threshold)]
                for threshold in at.tolist():
                    pool += _around(threshold)
            elif kind == "hybrid":
                pool += [*HYBRID, "unseen", "", "2", "1e0", " "]
            elif kind == "category":
                pool += [*TEXTS, "unseen", "", "A", " ", " NA "]
            elif kind == "number category":
                pool += [77.0, -999.0]
            pools.append(pool)
        return [[pool[rng.integers(0, len(pool))] for pool in pools] for _ in range(120)]

    # ---- cells

    def parts(self, j, cell):
        """The number and the category of a cell of column j, None where it has none."""
        return cell_parts(cell, self.kinds[j], self.missing_values)


def _around(threshold):
    """Doubles about the point where rounding to float32 crosses a threshold."""
    low = np.float32(threshold)
    if float(low) > threshold:
        low = np.nextafter(low, np.float32(-np.inf))
    with np.errstate(over="ignore"):
        high = np.nextafter(low, np.float32(np.inf))
    if not np.isfinite(high):
        return [float(low)]
    middle = (float(low) + float(high)) / 2
    around = [float(low), float(high), middle]
    return [*around, math.nextafter(middle, math.inf), math.nextafter(middle, -math.inf)]


def cell_parts(cell, kind, missing_values):
    """The number and the category of a cell, None where it has none."""
    if cell is None or cell == "":
        return None, None
    if isinstance(cell, str):
        if cell.strip() in [value for value in missing_values if isinstance(value, str)]:
            return None, None
        literal = re.fullmatch(r"\s*([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)\s*", cell, re.ASCII)
        if literal and kind == "hybrid":
            return float(literal[1]), None
        return None, cell
    if isinstance(cell, bool):
        return None, cell
    if cell in missing_values:
        return None, None
    return (None, cell) if kind == "number category" else (cell, None)
