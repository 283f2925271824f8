"""Forests of fasttree, scikit-learn and those peers that are installed, with their errors.

A time says little without what was reached in it: each suite tracks the log loss, or the mean
squared error, of the same held-out fifth of the rows. Peers are optional: a library that is missing
is skipped. Intel's extension and LightGBM put values into bins first.
"""

import importlib

import numpy as np
import sklearn.ensemble
from sklearn.metrics import log_loss, mean_pinball_loss, mean_squared_error
from sklearn.model_selection import train_test_split

import fasttree.ensemble

from . import data
from .common import LARGE, LIBRARIES

N_ROWS = 100_000 if LARGE else 4_000
N_TREES = 10
QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95]
TASKS = {"classification": data.classification, "regression": data.regression}


def peer(name):
    """The module of a library; without it NotImplementedError, by which asv skips a benchmark."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotImplementedError(f"{name} is not installed") from error


class Ydf:
    """YDF's learner with the methods of an estimator, grown to pure leaves like the others."""

    def __init__(self, task):
        self.ydf = peer("ydf")
        self.task = task

    def columns(self, X):
        return {f"x{j}": X[:, j] for j in range(X.shape[1])}

    def fit(self, X, y):
        learner = self.ydf.RandomForestLearner(
            label="y",
            task=getattr(self.ydf.Task, self.task.upper()),
            num_trees=N_TREES,
            max_depth=-1,
            min_examples=1,
            num_threads=1,
            winner_take_all=False,
            compute_oob_performances=False,
        )
        self.model = learner.train(self.columns(X) | {"y": y}, verbose=0)
        return self

    def predict(self, X):
        return self.model.predict(self.columns(X))

    predict_proba = predict


def lightgbm(task):
    estimators = {"classification": "LGBMClassifier", "regression": "LGBMRegressor"}
    return getattr(peer("lightgbm"), estimators[task])(
        boosting_type="rf",
        n_estimators=N_TREES,
        subsample=0.632,
        subsample_freq=1,
        num_leaves=4096,
        n_jobs=1,
        verbose=-1,
    )


def forest_of(ensemble, task, kind="RandomForest", **parameters):
    suffix = {"classification": "Classifier", "regression": "Regressor"}[task]
    parameters = {"n_estimators": N_TREES, "random_state": 0, "n_jobs": 1} | parameters
    return getattr(ensemble, kind + suffix)(**parameters)


FORESTS = {
    "fasttree": lambda task: forest_of(fasttree.ensemble, task),
    "scikit-learn": lambda task: forest_of(sklearn.ensemble, task),
    "Intel's extension": lambda task: forest_of(peer("sklearnex.ensemble"), task),
    "LightGBM": lightgbm,
    "YDF": Ydf,
}


def held_out(task):
    X, y = TASKS[task](N_ROWS)
    return train_test_split(X, y, test_size=0.2, random_state=0)


def error(forest, task, X, y):
    if task == "classification":
        return log_loss(y, forest.predict_proba(X))
    return mean_squared_error(y, forest.predict(X))


class _Fits:
    """What both kinds of forest measure; `setup` makes `forest` and the rows."""

    param_names = ["library", "task"]

    def time_fit(self, library, task):
        self.forest.fit(self.X, self.y)

    def track_error(self, library, task):
        return error(self.forest.fit(self.X, self.y), task, self.X_test, self.y_test)

    track_error.unit = "log loss or mean squared error"


class RandomForests(_Fits):
    params = [list(FORESTS), list(TASKS)]
    timeout = 600

    def setup(self, library, task):
        self.X, self.X_test, self.y, self.y_test = held_out(task)
        self.forest = FORESTS[library](task)


class ExtraTrees(_Fits):
    params = [LIBRARIES, list(TASKS)]

    def setup(self, library, task):
        self.X, self.X_test, self.y, self.y_test = held_out(task)
        ensemble = {"fasttree": fasttree.ensemble, "scikit-learn": sklearn.ensemble}[library]
        self.forest = forest_of(ensemble, task, "ExtraTrees")


class Predictions:
    """A hundred trees: many rows, and the fixed cost of one."""

    params = [LIBRARIES]
    param_names = ["library"]

    def setup(self, library):
        self.X, y = data.classification(N_ROWS // 4)
        ensemble = {"fasttree": fasttree.ensemble, "scikit-learn": sklearn.ensemble}[library]
        self.forest = forest_of(ensemble, "classification", n_estimators=100).fit(self.X, y)
        self.forest.predict(self.X[:1])  # packs the trees

    def time_predict_proba(self, library):
        self.forest.predict_proba(self.X)

    def time_predict_proba_of_one_row(self, library):
        self.forest.predict_proba(self.X[:1])


def quantile_forest(library):
    if library == "fasttree":
        return fasttree.ensemble.RandomForestQuantileRegressor(N_TREES, random_state=0)
    return peer("quantile_forest").RandomForestQuantileRegressor(N_TREES, random_state=0)


class Quantiles:
    """A fit, and five quantiles of every held-out row."""

    params = [["fasttree", "quantile-forest"]]
    param_names = ["library"]
    timeout = 600

    def setup(self, library):
        self.X, self.X_test, self.y, self.y_test = held_out("regression")
        self.forest = quantile_forest(library)

    def fit_and_predict(self):
        self.forest.fit(self.X, self.y)
        return self.forest.predict(self.X_test, quantiles=QUANTILES)

    def time_fit_and_predict(self, library):
        self.fit_and_predict()

    def track_error(self, library):
        predicted = self.fit_and_predict().T
        return np.mean(
            [mean_pinball_loss(self.y_test, p, alpha=q) for p, q in zip(predicted, QUANTILES)]
        )

    track_error.unit = "mean pinball loss"
