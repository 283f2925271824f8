"""Full trees on dense data."""

import numpy as np

from . import data
from .common import LARGE, LIBRARIES, make_estimator, sizes

N_ROWS = 100_000 if LARGE else 5_000

SHAPES = {
    "continuous": (data.classification, "classification"),
    "low cardinality": (data.low_cardinality, "classification"),
    "many classes": (data.many_classes, "classification"),
    "regression to pure leaves": (data.regression, "regression"),
}


class Shapes:
    params = [LIBRARIES, list(SHAPES)]
    param_names = ["library", "data"]

    def setup(self, library, shape):
        make_data, task = SHAPES[shape]
        self.X, self.y = make_data(N_ROWS)
        self.estimator = make_estimator(library, task)

    def time_fit(self, library, shape):
        self.estimator.fit(self.X, self.y)


class Criteria:
    params = [LIBRARIES, ["gini", "entropy", "squared_error", "absolute_error", "poisson"]]
    param_names = ["library", "criterion"]

    def setup(self, library, criterion):
        self.X, self.y = data.classification(N_ROWS // 2)
        task = "classification"
        if criterion not in ("gini", "entropy"):
            task = "regression"
            self.y = data.continuous_target(self.X)
        if criterion == "poisson":
            rate = np.exp(self.y / self.y.std())
            self.y = np.random.default_rng(0).poisson(rate).astype(float)
        self.estimator = make_estimator(library, task, criterion=criterion)

    def time_fit(self, library, criterion):
        self.estimator.fit(self.X, self.y)


class WeightsAndGaps:
    params = [LIBRARIES, ["classification", "regression"], ["float weights", "10% NaN"]]
    param_names = ["library", "task", "data"]

    def setup(self, library, task, kind):
        make_data = data.classification if task == "classification" else data.regression
        self.X, self.y = make_data(N_ROWS // 2)
        self.sample_weight = None
        if kind == "float weights":
            self.sample_weight = np.random.default_rng(0).uniform(0.5, 2, len(self.y))
        else:
            self.X = data.with_missing(self.X)
        self.estimator = make_estimator(library, task)

    def time_fit(self, library, task, kind):
        self.estimator.fit(self.X, self.y, sample_weight=self.sample_weight)


class FeatureSampling:
    """Few candidate features a node, as in forests."""

    params = [LIBRARIES, ["sqrt", None]]
    param_names = ["library", "max_features"]

    def setup(self, library, max_features):
        self.X, self.y = data.classification(N_ROWS // 2, 50)
        self.estimator = make_estimator(library, "classification", max_features=max_features)

    def time_fit(self, library, max_features):
        self.estimator.fit(self.X, self.y)


class Outputs:
    """Many targets at once, of a fifth of the rows."""

    params = [LIBRARIES, ["classification", "regression"], sizes([20], [100])]
    param_names = ["library", "task", "n_outputs"]

    def setup(self, library, task, n_outputs):
        self.X, _ = data.classification(N_ROWS // 5, 10)
        self.y = data.many_targets(self.X, n_outputs)
        if task == "classification":
            self.y = np.digitize(self.y, np.quantile(self.y, [1 / 3, 2 / 3]))
        self.estimator = make_estimator(library, task)

    def time_fit(self, library, task, n_outputs):
        self.estimator.fit(self.X, self.y)


class Rows:
    """Growth with the number of rows, 10 columns."""

    params = [LIBRARIES, sizes([1_000, 10_000], [100_000, 1_000_000])]
    param_names = ["library", "n_rows"]

    def setup(self, library, n_rows):
        self.X, self.y = data.classification(n_rows, 10)
        self.estimator = make_estimator(library, "classification")

    def time_fit(self, library, n_rows):
        self.estimator.fit(self.X, self.y)


class Features:
    """Growth with the number of columns."""

    params = [LIBRARIES, sizes([10, 100], [1_000])]
    param_names = ["library", "n_features"]

    def setup(self, library, n_features):
        self.X, self.y = data.classification(N_ROWS // 5, n_features)
        self.estimator = make_estimator(library, "classification")

    def time_fit(self, library, n_features):
        self.estimator.fit(self.X, self.y)


class SmallData:
    """150 rows: the fixed cost of a fit and of a prediction."""

    params = [LIBRARIES, ["classification", "regression"]]
    param_names = ["library", "task"]

    def setup(self, library, task):
        make_data = data.classification if task == "classification" else data.regression
        self.X, self.y = make_data(150, 8)
        self.estimator = make_estimator(library, task).fit(self.X, self.y)

    def time_fit(self, library, task):
        self.estimator.fit(self.X, self.y)

    def time_predict_one_row(self, library, task):
        self.estimator.predict(self.X[:1])
