"""Sparse matrices: the paper's synthetic experiment, text, a stump against a full tree.

Four contestants: either library on the CSC matrix and on the same values as a dense array.
"""

from . import data
from .common import LARGE, make_estimator, sizes

CONTESTANTS = ("fasttree sparse", "fasttree dense", "scikit-learn sparse", "scikit-learn dense")


def prepare(contestant, X, y, **params):
    """The contestant's estimator and its form of X."""
    library, form = contestant.split()
    return make_estimator(
        library, "classification", **params
    ), X if form == "sparse" else X.toarray()


class Density:
    """Figure 6 of the sparse trees' paper: 1,000 columns, depth 20; its 100,000 rows scaled."""

    params = [CONTESTANTS, [0.01, 0.05, 0.1, 0.2, 0.3, 0.5]]
    param_names = ["contestant", "density"]
    timeout = 600

    def setup(self, contestant, density):
        X, self.y = data.random_sparse(5_000 if LARGE else 500, density)
        self.estimator, self.X = prepare(contestant, X, self.y, max_depth=20)

    def time_fit(self, contestant, density):
        self.estimator.fit(self.X, self.y)


class Text:
    """Zipf text of 20 classes, small enough to be dense."""

    params = [CONTESTANTS, [1, 10, None]]
    param_names = ["contestant", "max_depth"]
    timeout = 600

    def setup(self, contestant, max_depth):
        X, self.y = data.zipf_text(2_000 if LARGE else 400, 5_000 if LARGE else 2_000)
        self.estimator, self.X = prepare(contestant, X, self.y, max_depth=max_depth)

    def time_fit(self, contestant, max_depth):
        self.estimator.fit(self.X, self.y)


class LargeText:
    """Zipf text of a usual size; a dense array of it would not fit."""

    params = [CONTESTANTS[::2], ["tfidf", "counts", "binary"], [2, 20], [1, None]]
    param_names = ["contestant", "values", "n_classes", "max_depth"]
    timeout = 600

    def setup(self, contestant, values, n_classes, max_depth):
        n_documents = 20_000 if LARGE else 2_000
        X, self.y = data.zipf_text(n_documents, 5 * n_documents, n_classes, values)
        self.estimator, self.X = prepare(contestant, X, self.y, max_depth=max_depth)

    def time_fit(self, contestant, values, n_classes, max_depth):
        self.estimator.fit(self.X, self.y)


class Rows:
    """Prediction of CSR rows."""

    params = [CONTESTANTS[::2], sizes([2_000], [20_000])]
    param_names = ["contestant", "n_rows"]

    def setup(self, contestant, n_rows):
        X, y = data.zipf_text(n_rows, 5 * n_rows)
        self.estimator, self.X = prepare(contestant, X, y)
        self.estimator.fit(self.X, y)
        self.X = self.X.tocsr()

    def time_predict(self, contestant, n_rows):
        self.estimator.predict(self.X)
