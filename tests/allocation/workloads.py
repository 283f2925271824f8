"""What is run with failing allocations: `WORKLOADS`, functions without arguments by name.

Each returns arrays that are the same on every call. What must not be counted, data and fitted
estimators, is made once, by the functions with a cache; an estimator that predicts is loaded anew
each time, for a tree is packed when it is first walked.
"""

import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp

import fasttree
import fasttree.tree
from fasttree.ensemble import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestQuantileRegressor,
)
from fasttree.export import shap_values
from fasttree.model_selection import TrainOnceSearchCV
from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
from fasttree.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EncodedData,
    ExtraTreeClassifier,
    best_split,
    feature_scores,
)
from fasttree.tree.pruning._settings import UNLIMITED, SettingTable
from fasttree.tree.pruning._tuning import Cuts, class_weights

CRITERIA = (
    "gini",
    "entropy",
    "chi2",
    "squared_error",
    "poisson",
    "absolute_error",
    "label_split",
)
N_ROWS = 400
WORKLOADS = {}


def workload(name):
    """Put the decorated function among the workloads."""

    def put(function):
        WORKLOADS[name] = function
        return function

    return put


@functools.cache
def data(kind):
    """A matrix or table of mixed columns, and targets that are classes and counts."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.normal(size=(N_ROWS, 3)),
            rng.integers(0, 4, (N_ROWS, 2)),
            np.where(rng.random(N_ROWS) < 0.1, np.nan, rng.normal(size=N_ROWS)),
        ]
    )
    y = (X[:, 0] > 0) + (X[:, 3] > 1) + rng.integers(0, 2, N_ROWS)
    if kind == "dense":
        return X.astype(np.float32), y
    if kind == "sparse":
        return sp.random(N_ROWS, 40, density=0.1, format="csr", dtype=np.float32, rng=1), y
    texts = rng.choice(["red", "green", "blue", "1"], N_ROWS)
    objects = np.where(rng.random(N_ROWS) < 0.2, None, rng.choice(["a", "b", 3.5, "c"], N_ROWS))
    table = pd.DataFrame(X[:, :4], columns=list("abcd")).assign(color=texts, cell=objects)
    table["kind"] = pd.Categorical(rng.choice(["x", "y", "z"], N_ROWS))
    return table, y


def estimator(criterion, **params):
    is_classifier = criterion in ("gini", "entropy", "chi2")
    cls = DecisionTreeClassifier if is_classifier else DecisionTreeRegressor
    return cls(criterion=criterion, random_state=0, **params)


@functools.cache
def pickled(kind):
    """A fitted estimator, not yet walked."""
    return pickle.dumps(estimator("gini").fit(*data(kind)))


def arrays(fitted):
    """What makes a tree, without the bytes between the fields of its nodes."""
    nodes = fitted.tree_.nodes
    return *(nodes[field] for field in nodes.dtype.names), fitted.tree_.value


@functools.cache
def rows(kind, n_threads):
    """What to predict: enough for that many threads to be worth while."""
    X = data(kind)[0]
    if n_threads > 1:
        X = {"dense": np.vstack, "sparse": sp.vstack, "table": pd.concat}[kind]([X] * 30)
    return X.tocsr() if kind == "sparse" else X


def fit(
    kind, criterion="gini", *, strategy="auto", n_threads=1, stream=False, weights=False, **params
):
    X, y = data(kind)
    sample_weight = 0.5 + np.arange(N_ROWS) % 3 if weights else None
    with fasttree.config_context(
        strategy=strategy, n_threads=n_threads, sklearn_random_stream=stream
    ):
        return arrays(estimator(criterion, **params).fit(X, y, sample_weight=sample_weight))


def predict(kind, method="predict", n_threads=1):
    loaded = pickle.loads(pickled(kind))
    with fasttree.config_context(n_threads=n_threads):
        found = getattr(loaded, method)(rows(kind, n_threads))
    return (found.indices if method == "decision_path" else found,)


for criterion in CRITERIA:
    for kind in ("dense", "table"):
        WORKLOADS[f"fit {kind} {criterion}"] = functools.partial(fit, kind, criterion)
    for name, strategy in {"lists": "presort", "extraction": "sort"}.items():
        WORKLOADS[f"fit sparse {name} {criterion}"] = functools.partial(
            fit, "sparse", criterion, strategy=strategy
        )
for strategy in ("presort", "count", "sort"):
    WORKLOADS[f"fit dense {strategy}"] = functools.partial(fit, "dense", strategy=strategy)
WORKLOADS |= {
    "fit dense weights": functools.partial(fit, "dense", weights=True),
    "fit dense constraints": functools.partial(
        fit, "dense", "squared_error", monotonic_cst=[1, -1, 0, 0, 0, 0]
    ),
    "fit table sets": functools.partial(fit, "table", "squared_error", categorical_split="subset"),
    "fit dense draws": functools.partial(fit, "dense", max_features=2),
    "fit dense stream": functools.partial(fit, "dense", stream=True),
}
for kind in ("dense", "sparse", "table"):
    WORKLOADS |= {
        f"fit {kind} best-first": functools.partial(fit, kind, max_leaf_nodes=40),
        f"fit {kind} random": functools.partial(fit, kind, splitter="random"),
        f"fit {kind} two threads": functools.partial(fit, kind, n_threads=2),
        f"predict {kind}": functools.partial(predict, kind),
        f"predict {kind} two threads": functools.partial(predict, kind, n_threads=2),
        f"apply {kind}": functools.partial(predict, kind, "apply"),
        f"decision path {kind}": functools.partial(predict, kind, "decision_path"),
    }
WORKLOADS |= {
    "fit dense best-first two threads": functools.partial(
        fit, "dense", max_leaf_nodes=40, n_threads=2
    ),
    "fit sparse extraction two threads": functools.partial(
        fit, "sparse", strategy="sort", n_threads=2
    ),
    "fit table regression two threads": functools.partial(
        fit, "table", "squared_error", n_threads=2
    ),
}


def fit_encoded(kind, n_threads=1):
    """Two fits on one encoding, the second on a part of its rows."""
    X, y = data(kind)
    encoded, part = EncodedData(X), np.arange(N_ROWS) % 5 > 0
    with fasttree.config_context(n_threads=n_threads, strategy="presort"):
        first = DecisionTreeClassifier().fit(encoded, y)
        second = DecisionTreeClassifier().fit(encoded[part], y[part])
    return arrays(first) + arrays(second)


@functools.cache
def pickled_encoding(kind):
    return pickle.dumps(EncodedData(data(kind)[0]).prepare())


def fit_unpickled(kind):
    """A fit on codes and lists that were made elsewhere."""
    encoded = pickle.loads(pickled_encoding(kind))
    return arrays(DecisionTreeClassifier().fit(encoded, data(kind)[1]))


for kind in ("dense", "sparse", "table"):
    WORKLOADS |= {
        f"fit encoded {kind}": functools.partial(fit_encoded, kind),
        f"fit encoded {kind} two threads": functools.partial(fit_encoded, kind, n_threads=2),
        f"fit unpickled {kind}": functools.partial(fit_unpickled, kind),
    }


@functools.cache
def pickled_forest(kind):
    """A fitted forest, not yet packed; its trees are those of a list that was exchanged."""
    forest = RandomForestClassifier(3, random_state=0).fit(*data(kind))
    forest.estimators_[0] = fasttree.tree.DecisionTreeClassifier().fit(*data(kind))
    return pickle.dumps(forest)


def predict_forest(kind, n_threads=1):
    loaded = pickle.loads(pickled_forest(kind))
    with fasttree.config_context(n_threads=n_threads):
        return (loaded.predict_proba(rows(kind, n_threads)),)


for kind in ("dense", "table"):
    WORKLOADS |= {
        f"predict forest {kind}": functools.partial(predict_forest, kind),
        f"predict forest {kind} two threads": functools.partial(predict_forest, kind, 2),
    }


@workload("fit forest and restore it")
def fit_forest():
    forest = ExtraTreesClassifier(3, bootstrap=True, oob_score=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        forest.fit(*data("dense"))
    restored = pickle.loads(pickle.dumps(forest)).estimators_
    return forest.oob_decision_function_, *(array for tree in restored for array in arrays(tree))


@workload("quantiles of a forest")
def quantiles():
    X, y = data("dense")
    forest = RandomForestQuantileRegressor(3, random_state=0).fit(X, y)
    return (forest.predict(X, [0.1, 0.5]),)


@workload("fit texts of Arrow")
def fit_arrow_texts():
    import pyarrow as pa

    _, y = data("table")
    column = pa.chunked_array([pa.array([f"label {i % 7} of a long name" for i in range(N_ROWS)])])
    return arrays(estimator("gini").fit(pa.table({"text": column}), y))


@workload("fit text classes")
def fit_text_classes():
    X, y = data("dense")
    return arrays(estimator("gini").fit(X, np.array(["a", "b", "c", "d"], dtype=object)[y]))


@workload("fit extra tree of labels")
def fit_extra_tree():
    X, y = data("table")
    return arrays(ExtraTreeClassifier(random_state=0, categorical_split="subset").fit(X, y))


@workload("pruning path")
def pruning_path():
    path = pickle.loads(pickled("dense")).cost_complexity_pruning_path(*data("dense"))
    return path.ccp_alphas, path.impurities


@workload("prune")
def prune():
    return arrays(pickle.loads(pickled("table")).prune(max_depth=5, ccp_alpha=0.002))


@workload("tune")
def tune():
    tuned = pickle.loads(pickled("dense"))
    tuned.tune(*data("dense"))
    return arrays(tuned)


@workload("areas and medians of cut trees")
def cut_scores():
    X, y = data("dense")
    settings = SettingTable([{"max_depth": [1, 2, 5], "min_samples_split": [2, 9]}], UNLIMITED)
    model = pickle.loads(pickled("dense"))
    cuts, settings = Cuts(model.tree_), settings.numbers(N_ROWS)
    leaves, values = model.apply(X), np.ascontiguousarray(model.tree_.value[:, 0, 0])
    weights = class_weights(model.tree_, leaves, (y > 0).astype(np.int64))
    return (
        cuts.areas(settings, "roc", values, weights[:, 0], weights[:, 1]),
        cuts.areas(settings, "precision", values, weights[:, 0] / 3, weights[:, 1]),
        cuts.median_errors(settings, leaves, y.astype(np.float64), 0, y + 1.0),
    )


@workload("reduced error pruning")
def reduced_error_prune():
    return arrays(pickle.loads(pickled("dense")).reduced_error_prune(*data("dense")))


def explain(kind, n_threads=1):
    loaded = pickle.loads(pickled(kind))
    with fasttree.config_context(n_threads=n_threads):
        found = shap_values(loaded, rows(kind, 1))
    return found.values, found.base_values


for kind in ("dense", "sparse", "table"):
    WORKLOADS[f"SHAP values {kind}"] = functools.partial(explain, kind)
WORKLOADS["SHAP values two threads"] = functools.partial(explain, "dense", 2)


@workload("partial dependence")
def partial_dependence():
    tree = pickle.loads(pickled("dense")).tree_
    out = np.zeros(5)
    grid = np.linspace(-1, 1, 5, dtype=np.float32)[:, None]
    tree.compute_partial_dependence(grid, np.array([0]), out)
    return (out,)


@workload("search that trains once")
def search():
    grid = {"max_depth": [2, 4, 8], "ccp_alpha": [0.0, 0.01]}
    found = TrainOnceSearchCV(
        DecisionTreeClassifier(random_state=0), grid, cv=2, error_score="raise"
    ).fit(*data("dense"))
    return arrays(found.best_estimator_)


@workload("split of a column")
def column_split():
    X, y = data("dense")
    return np.array([best_split(X[:, 0], y).threshold]), feature_scores(X, y)


def optimal(depth, n_threads, **options):
    X, y = data("dense")
    model = OptimalDecisionTreeClassifier(
        max_depth=depth,
        n_thresholds=4,
        cache_size=1,
        search_options=SearchOptions(share_after=0.0, **options),
    )
    with fasttree.config_context(n_threads=n_threads):
        model.fit(X[:, :4], y > 1)
    # Of trees with this objective, threads may find another one each time.
    return np.array([model.objective_]), *(arrays(model) if n_threads == 1 else ())


WORKLOADS |= {
    "optimal": functools.partial(optimal, 4, 1),
    "optimal two threads": functools.partial(optimal, 4, 2),
    "optimal of depth two": functools.partial(optimal, 2, 1),
    "optimal deepening two threads": functools.partial(optimal, 4, 2, start="deepening"),
}
