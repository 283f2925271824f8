"""The same work on one thread and on more; scikit-learn's trees use one."""

from . import data
from .common import LARGE, make_estimator, sizes

N_ROWS = 100_000 if LARGE else 10_000
CONTESTANTS = ["scikit-learn"] + [f"fasttree n_jobs={n}" for n in sizes([1, 2], [4])]


def make_contestant(contestant):
    library, _, n_jobs = contestant.partition(" n_jobs=")
    params = {"n_jobs": int(n_jobs)} if n_jobs else {}
    return make_estimator(library, "classification", **params)


class Fit:
    params = [CONTESTANTS, ["continuous", "low cardinality"]]
    param_names = ["contestant", "data"]

    def setup(self, contestant, shape):
        make_data = data.classification if shape == "continuous" else data.low_cardinality
        self.X, self.y = make_data(N_ROWS)
        self.estimator = make_contestant(contestant)

    def time_fit(self, contestant, shape):
        self.estimator.fit(self.X, self.y)


class Predict:
    params = [CONTESTANTS]
    param_names = ["contestant"]

    def setup(self, contestant):
        X, y = data.classification(N_ROWS)
        self.estimator = make_contestant(contestant).fit(X, y)
        self.rows = data.resample(X, 10 * N_ROWS)

    def time_predict(self, contestant):
        self.estimator.predict(self.rows)

    def time_predict_proba(self, contestant):
        self.estimator.predict_proba(self.rows)

    def time_apply(self, contestant):
        self.estimator.apply(self.rows)
