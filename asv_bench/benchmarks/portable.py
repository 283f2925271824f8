"""The pieces that would fit into scikit-learn, each alone (see doc/upstream.rst)."""

from contextlib import nullcontext

import fasttree

from . import data
from .common import LARGE, LIBRARIES, make_estimator

N_ROWS = 100_000 if LARGE else 5_000

#: piece: (data, task, forced strategy, parameters of the estimator)
PIECES = {
    "sort in the node": (data.classification, "classification", "sort", {}),
    "sort in the node, max_features=sqrt": (
        data.classification,
        "classification",
        "sort",
        {"max_features": "sqrt"},
    ),
    "presort": (data.classification, "classification", "presort", {}),
    "value counts": (data.low_cardinality, "classification", "count", {}),
    "prefix sums": (data.regression, "regression", "presort", {}),
    "absolute error": (data.regression, "regression", None, {"criterion": "absolute_error"}),
}


class Fit:
    params = [LIBRARIES, list(PIECES)]
    param_names = ["library", "piece"]

    def setup(self, library, piece):
        make_data, task, self.strategy, params = PIECES[piece]
        self.X, self.y = make_data(N_ROWS)
        self.estimator = make_estimator(library, task, **params)

    def time_fit(self, library, piece):
        forced = self.strategy and library == "fasttree"
        with fasttree.config_context(strategy=self.strategy) if forced else nullcontext():
            self.estimator.fit(self.X, self.y)


class FittedTree:
    params = [LIBRARIES]
    param_names = ["library"]

    def setup(self, library):
        self.X, self.y = data.regression(N_ROWS // 5)
        self.estimator = make_estimator(library, "regression").fit(self.X, self.y)
        self.rows = data.resample(self.X, 10 * N_ROWS)

    def time_apply(self, library):
        self.estimator.apply(self.rows)

    def time_feature_importances(self, library):
        self.estimator.tree_.compute_feature_importances()

    def time_pruning_path(self, library):
        """The path and the fit it starts from."""
        self.estimator.cost_complexity_pruning_path(self.X, self.y)
