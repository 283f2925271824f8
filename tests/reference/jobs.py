"""Fits for other threads and processes, which import them by name."""

import pickle

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier

from fasttree import config_context
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor


def problem(seed, n=20_000):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10)).astype(np.float32)
    X[:, 5:] = X[:, 5:].round()
    return X, (X[:, 0] + X[:, 5] + rng.normal(size=n) > 0).astype(int)


def fitted(kind, seed, n_threads=1):
    """Nodes and values of a tree of each engine."""
    X, y = problem(seed)
    with config_context(n_threads=n_threads):
        if kind == "optimal":
            model = OptimalDecisionTreeClassifier(max_depth=3, n_thresholds=3).fit(X[:500], y[:500])
        elif kind == "sparse":
            model = DecisionTreeRegressor(max_depth=8).fit(sp.csc_matrix(X * (X > 0.5)), y)
        elif kind == "random":
            model = DecisionTreeRegressor(splitter="random", random_state=seed, max_depth=8)
            model.fit(X, y)
        else:
            model = DecisionTreeClassifier(max_features=5, random_state=seed).fit(X, y)
        found = model.predict(X)
    return model.tree_.nodes.tobytes(), found.tobytes()


KINDS = ["dense", "sparse", "random", "optimal"]


def nested(seed):
    X, y = load_iris(return_X_y=True)
    model = BaggingClassifier(
        DecisionTreeClassifier(n_jobs=2), n_estimators=4, n_jobs=2, random_state=seed
    )
    return model.fit(X, y).predict_proba(X)


def send(connection, kind, n_threads):
    connection.send(fitted(kind, 0, n_threads))


def fitted_on(data, y):
    """The pickle of a tree's `tree_`, and whether the data is mapped into memory."""
    tree = DecisionTreeClassifier().fit(data, y)
    return pickle.dumps(tree.tree_), isinstance(data.cells, np.memmap)
