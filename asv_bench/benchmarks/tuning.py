"""A grid of settings from one fit per fold, beside grid search that fits every setting."""

from math import ceil

import numpy as np
from sklearn.model_selection import GridSearchCV

from fasttree.ensemble import RandomForestClassifier, RandomForestRegressor
from fasttree.model_selection import TrainOnceSearchCV

from . import data
from .common import LARGE, make_estimator

N_ROWS = 10_000 if LARGE else 1_000
N_FOLDS = 5

METHODS = ("train once", "fasttree", "scikit-learn")


def split_steps(n_rows, n_steps=200):
    """The papers' values of min_samples_split: steps of 0.02% of the rows."""
    return [max(2, ceil(k * 0.0002 * n_rows)) for k in range(n_steps)]


def make_grid(n_rows, n_steps, joint=False):
    """28 depths and the steps, one after the other or combined."""
    grid = {"max_depth": list(range(1, 29)), "min_samples_split": split_steps(n_rows, n_steps)}
    return grid if joint else [{name: values} for name, values in grid.items()]


def make_search(method, grid, task="classification", scoring=None):
    if method == "train once":
        estimator = make_estimator("fasttree", task)
        return TrainOnceSearchCV(estimator, grid, cv=N_FOLDS, scoring=scoring)
    return GridSearchCV(make_estimator(method, task), grid, cv=N_FOLDS, scoring=scoring)


class GridSearch:
    """228 settings (48 in a small run) on five folds."""

    params = [METHODS, ["classification", "regression"]]
    param_names = ["method", "task"]
    timeout = 600

    def setup(self, method, task):
        make = data.classification if task == "classification" else data.regression
        self.X, self.y = make(N_ROWS, 10)
        self.search = make_search(method, make_grid(N_ROWS, 200 if LARGE else 20), task)

    def time_fit(self, method, task):
        self.search.fit(self.X, self.y)


class JointGrid:
    """5,600 settings from the same fits."""

    params = [[False, True]]
    param_names = ["joint"]

    def setup(self, joint):
        self.X, self.y = data.classification(N_ROWS, 10)
        self.search = make_search("train once", make_grid(N_ROWS, 200, joint))

    def time_fit(self, joint):
        self.search.fit(self.X, self.y)


class Forests:
    """50 settings of a random forest on three folds: numbers of trees, depths and rows."""

    params = [[TrainOnceSearchCV, GridSearchCV], ["classification", "regression"]]
    param_names = ["search", "task"]
    timeout = 600

    def setup(self, search, task):
        if task == "classification":
            (self.X, self.y), Forest = data.classification(N_ROWS, 10), RandomForestClassifier
        else:
            (self.X, self.y), Forest = data.regression(N_ROWS, 10), RandomForestRegressor
        grid = {
            "n_estimators": range(10, 51, 10),
            "max_depth": [4, 8, 12, 16, None],
            "min_samples_split": [2, 10],
        }
        self.search = search(Forest(random_state=0), grid, cv=3, refit=False)

    def time_fit(self, search, task):
        self.search.fit(self.X, self.y)


class Tables:
    """The pass over validation rows alone, after the fit, on the tables of FASTTREE_DATA."""

    params = [data.table_names(data.data_folder())]
    param_names = ["table"]

    def setup(self, table):
        X, y, task = data.read_table(data.data_folder(), table)
        rows = np.random.default_rng(0).permutation(len(y))
        kept, held_out = rows[len(y) // 10 :], rows[: len(y) // 10]
        self.estimator = make_estimator("fasttree", task).fit(X[kept], y[kept])
        known = np.ones(len(held_out), dtype=bool)
        if task == "classification":
            known = np.isin(y[held_out], self.estimator.classes_)
        self.X, self.y = X[held_out][known], y[held_out][known]

    def time_tune(self, table):
        self.estimator.tune(self.X, self.y)

    def time_tune_by_area_or_median(self, table):
        """Scores that are not sums over leaves."""
        n_classes = len(getattr(self.estimator, "classes_", ()))
        if n_classes < 2:
            scoring = "neg_median_absolute_error"
        else:
            scoring = "roc_auc" if n_classes == 2 else "roc_auc_ovr"
        self.estimator.tune(self.X, self.y, scoring=scoring)

    def time_reduced_error_prune(self, table):
        self.estimator.reduced_error_prune(self.X, self.y)
