"""The papers' own tables: one column at a time, and full trees on real tables."""

import numpy as np

import fasttree.tree

from . import data
from .common import LIBRARIES, make_estimator, sizes
from .generic import generic_selection, variance_selection


def fit_stump(task, x, y):
    make_estimator("scikit-learn", task, max_depth=1).fit(x[:, None], y)


class SuperfastSelection:
    """Generic against superfast selection on one column of distinct values (its Table 5)."""

    params = [
        ["generic", "fasttree", "scikit-learn"],
        sizes([10_000, 20_000], [50_000, 100_000]),
    ]
    param_names = ["method", "n_rows"]

    def setup(self, method, n_rows):
        rng = np.random.default_rng(0)
        self.x = rng.permutation(n_rows).astype(np.float32)
        self.y = (self.x + n_rows * rng.standard_normal(n_rows) > n_rows / 2).astype(np.int64)

    def time_best_split(self, method, n_rows):
        if method == "generic":
            generic_selection(self.x, self.y)
        elif method == "fasttree":
            fasttree.tree.best_split(self.x, self.y, criterion="gini")
        else:
            fit_stump("classification", self.x, self.y)


class PrefixSumRegression:
    """Variance recomputed at each position against prefix sums, 500 to 20,000 rows."""

    params = [["variance", "fasttree", "scikit-learn"], sizes([500, 5_000], [20_000])]
    param_names = ["method", "n_rows"]

    def setup(self, method, n_rows):
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal(n_rows).astype(np.float32)
        self.y = self.x + rng.standard_normal(n_rows)

    def time_best_split(self, method, n_rows):
        if method == "variance":
            variance_selection(self.x, self.y)
        elif method == "fasttree":
            fasttree.tree.best_split(self.x, self.y, criterion="squared_error")
        else:
            fit_stump("regression", self.x, self.y)


class Tables:
    """Full trees on the tables of the folder FASTTREE_DATA, else on the bundled one."""

    params = [LIBRARIES, data.table_names(data.data_folder())]
    param_names = ["library", "table"]

    def setup(self, library, table):
        self.X, self.y, task = data.read_table(data.data_folder(), table)
        self.estimator = make_estimator(library, task)

    def time_fit(self, library, table):
        self.estimator.fit(self.X, self.y)
