"""Calls that run for seconds, and how long each takes to give way to a signal.

Every workload would run for many seconds on one thread; what it needs is made beforehand. They
are the cases of ``test_interrupts.py`` and of ``asv_bench/scripts/interrupt_latency.py``.
"""

import signal
import time
from contextlib import nullcontext
from functools import partial

import numpy as np
import scipy.sparse as sp

import fasttree
from fasttree.ensemble import RandomForestClassifier
from fasttree.export import shap_values
from fasttree.model_selection import TrainOnceSearchCV
from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
from fasttree.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
    feature_scores,
)
from fasttree.tree._tree import NODE_DTYPE, Tree
from fasttree.tree.pruning._pruning import ccp_pruning_path, prune_ccp


class Pressed(KeyboardInterrupt):
    """What the signal's handler raises: neither Python's own exception nor a copy of it."""


def press(signum, frame):
    raise Pressed


def latency(call, after):
    """Seconds from a signal, `after` seconds into a call, to its exception; None if the call was
    over before."""
    previous = signal.signal(signal.SIGALRM, press)
    started = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        call()
    except Pressed:
        return time.perf_counter() - started - after
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def classes(n, n_classes):
    return np.random.default_rng(1).integers(0, n_classes, n)


def fit(estimator, X, y, **params):
    return partial(estimator.fit, X, y, **params)


def chain(n):
    """A tree of one column and n splits, each of which sends one value to a leaf."""
    nodes = np.zeros(2 * n + 1, dtype=NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["feature"] = -2
    split = np.arange(0, 2 * n, 2)
    nodes["feature"][split] = 0
    nodes["left_child"][split], nodes["right_child"][split] = split + 1, split + 2
    nodes["weighted_n_node_samples"] = nodes["n_node_samples"] = 1
    tree = Tree(1, np.array([1]), 1)
    tree.set_nodes(nodes, np.zeros((2 * n + 1, 1, 1)), n)
    return tree


def chained_regressor(n):
    """A fitted regressor with such a tree."""
    model = DecisionTreeRegressor(max_depth=None).fit([[0.0], [1.0]], [0.0, 1.0])
    model.tree_ = chain(n)
    return model


def texts(n):
    cells = np.array([f"{i}.5" for i in range(50_000)] + ["blue"], dtype=object)
    return cells[np.random.default_rng(0).integers(0, len(cells), (n, 1))]


def sparse_columns():
    indices, indptr = np.tile(np.arange(0, 100_000, 100), 2_000), np.arange(2_001) * 1_000
    values = np.random.default_rng(0).random(2_000_000)
    return sp.csc_matrix((values, indices, indptr), shape=(100_000, 2_000))


# ---- fits


def fit_gini():
    return fit(DecisionTreeClassifier(), normal(1_000_000, 20), classes(1_000_000, 3))


def fit_squared_error():
    return fit(DecisionTreeRegressor(), normal(1_000_000, 20), normal(1_000_000))


def fit_few_values():
    X = np.random.default_rng(0).integers(0, 200, (1_000_000, 60)).astype(np.float32)
    return fit(DecisionTreeRegressor(), X, normal(1_000_000))


def fit_outputs():
    return fit(DecisionTreeRegressor(), normal(200_000, 20), normal(200_000, 50))


def fit_best_first():
    model = DecisionTreeClassifier(max_leaf_nodes=100_000)
    return fit(model, normal(1_000_000, 20), classes(1_000_000, 3))


def fit_random_splits():
    return fit(ExtraTreeRegressor(max_features=None), normal(1_000_000, 40), normal(1_000_000))


def fit_forest():
    return fit(RandomForestClassifier(1000), normal(20_000, 10), classes(20_000, 3))


def predict_forest():
    model = RandomForestClassifier(50).fit(normal(5_000, 5), classes(5_000, 5))
    return partial(model.predict_proba, normal(1_000_000, 5))


def fit_absolute_error():
    return fit(
        DecisionTreeRegressor(criterion="absolute_error"), normal(1_000_000, 8), normal(1_000_000)
    )


def fit_weighted_absolute_error():
    weights = np.random.default_rng(2).random(300_000)
    return fit(
        DecisionTreeRegressor(criterion="absolute_error"),
        normal(300_000, 8),
        normal(300_000),
        sample_weight=weights,
    )


def fit_one_weighted_feature():
    """A single scan takes longer than Ctrl-C may."""
    weights = np.random.default_rng(2).random(3_000_000)
    return fit(
        DecisionTreeRegressor(criterion="absolute_error"),
        normal(3_000_000, 1),
        normal(3_000_000),
        sample_weight=weights,
    )


def fit_many_classes(criterion, n=100_000, n_classes=20_000):
    model = DecisionTreeClassifier(criterion=criterion)
    return fit(model, normal(n, 50), classes(n, n_classes))


def fit_categories():
    X = np.random.default_rng(0).integers(0, 20_000, (300_000, 8))
    model = DecisionTreeRegressor(criterion="absolute_error", categorical_features=range(8))
    return fit(model, X, normal(300_000))


def fit_texts():
    return fit(DecisionTreeRegressor(max_depth=1), texts(20_000_000), np.zeros(20_000_000))


def fit_sparse(strategy):
    model = DecisionTreeRegressor(criterion="absolute_error")
    X, y = sparse_columns(), normal(100_000)

    def call():
        with fasttree.config_context(strategy=strategy):
            model.fit(X, y)

    return call


def fit_optimal():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (2000, 120)), rng.integers(0, 2, 2000)
    return fit(OptimalDecisionTreeClassifier(max_depth=5), X, y)


def fit_optimal_classes():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (20_000, 500)), rng.integers(0, 50, 20_000)
    return fit(OptimalDecisionTreeClassifier(max_depth=4, n_thresholds=1), X, y)


def fit_optimal_portable():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (20_000, 300)), rng.integers(0, 50, 20_000)
    options = SearchOptions(instruction_set="portable")
    return fit(OptimalDecisionTreeClassifier(max_depth=4, search_options=options), X, y)


# ---- prediction


def apply_chain():
    return partial(chained_regressor(100_000).apply, np.ones((1_000_000, 1), dtype=np.float32))


def predict_sparse():
    X = sp.csr_matrix(np.ones((1_000_000, 1), dtype=np.float32))
    return partial(chained_regressor(100_000).predict, X)


def predict_proba():
    model = DecisionTreeClassifier().fit(normal(5_000, 5), classes(5_000, 500))
    return partial(model.predict_proba, normal(1_500_000, 5))


def predict_texts():
    X = texts(20_000_000)
    model = DecisionTreeRegressor().fit(X[:1000], normal(1000))
    return partial(model.predict, X)


def decision_path():
    return partial(chained_regressor(1_500).decision_path, np.ones((200_000, 1), dtype=np.float32))


def partial_dependence():
    tree = chain(200_000)
    X, out = np.ones((100_000, 1), dtype=np.float32), np.zeros(100_000)
    return partial(tree.compute_partial_dependence, X, np.array([0]), out)


# ---- pruning, tuning and scores


def pruning_path():
    return partial(ccp_pruning_path, chain(300_000))


def prune():
    return partial(prune_ccp, chain(300_000), 0.0)


def tune():
    X, y = normal(200_000, 5), normal(200_000)
    model = DecisionTreeRegressor().fit(X, y)
    grid = {"max_depth": range(1, 40), "ccp_alpha": np.linspace(0, 0.001, 2_000)}
    return partial(model.tune, X, y, grid, copy=True)


def tune_by_area():
    X, y = normal(200_000, 5), classes(200_000, 2)
    grid = {"max_depth": range(1, 40), "min_samples_split": range(2, 2_000)}
    return partial(DecisionTreeClassifier().fit(X, y).tune, X, y, grid, "roc_auc")


def tune_by_median():
    X, y = normal(200_000, 5), normal(200_000)
    grid = {"max_depth": range(1, 40), "min_samples_split": range(2, 2_000)}
    return partial(DecisionTreeRegressor().fit(X, y).tune, X, y, grid, "neg_median_absolute_error")


def reduced_error_prune():
    model = chained_regressor(20_000)
    X = np.ones((1_000_000, 1), dtype=np.float32)
    return partial(model.reduced_error_prune, X, np.zeros(1_000_000), copy=True)


def explain():
    model = DecisionTreeRegressor().fit(normal(5_000, 20), normal(5_000))
    return partial(shap_values, model, normal(200_000, 20))


def search():
    model = TrainOnceSearchCV(DecisionTreeRegressor(), {"max_depth": range(1, 20)}, n_jobs=1)
    return fit(model, normal(500_000, 20), normal(500_000))


def scores():
    weights = np.random.default_rng(2).random(300_000)
    X, y = normal(300_000, 60), normal(300_000)
    return partial(feature_scores, X, y, criterion="absolute_error", sample_weight=weights)


PLAIN = {
    "fit, gini": fit_gini,
    "fit, weighted absolute error": fit_weighted_absolute_error,
    "fit, one weighted feature": fit_one_weighted_feature,
    "fit, 20,000 classes, entropy": partial(fit_many_classes, "entropy"),
    "predict_proba, 500 classes": predict_proba,
    "optimal, 50 classes": fit_optimal_classes,
    "prune": prune,
}
LONG = PLAIN | {
    "fit, squared error": fit_squared_error,
    "fit, few values": fit_few_values,
    "fit, 50 outputs": fit_outputs,
    "fit, best first": fit_best_first,
    "fit, random splits": fit_random_splits,
    "fit, forest": fit_forest,
    "predict_proba, forest": predict_forest,
    "fit, absolute error": fit_absolute_error,
    "fit, 20,000 classes, chi2": partial(fit_many_classes, "chi2"),
    "fit, 20,000 classes, gini": partial(fit_many_classes, "gini"),
    "fit, categories": fit_categories,
    "fit, texts": fit_texts,
    "fit, sparse, listed": partial(fit_sparse, "presort"),
    "fit, sparse, extracted": partial(fit_sparse, "sort"),
    "optimal": fit_optimal,
    "optimal, 50 classes, portable": fit_optimal_portable,
    "apply": apply_chain,
    "predict, sparse": predict_sparse,
    "predict, texts": predict_texts,
    "decision_path": decision_path,
    "partial dependence": partial_dependence,
    "pruning path": pruning_path,
    "tune": tune,
    "tune by ROC area": tune_by_area,
    "tune by median error": tune_by_median,
    "reduced_error_prune": reduced_error_prune,
    "TrainOnceSearchCV": search,
    "feature_scores": scores,
    "shap_values": explain,
}


def threads(n_threads):
    return nullcontext() if n_threads == 1 else fasttree.config_context(n_threads=n_threads)
