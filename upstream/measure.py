"""Time scikit-learn before and after, side by side.

    python measure.py SITE_BEFORE SITE_AFTER PIECE

Both are folders with a package sklearn. PIECE is the number of a piece, or "series" for what all of
them bring. A process of each runs the cases, before and after in turn; what counts is the least
processor time of either.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

MIN_SECONDS, LONG = 2.0, 20.0  # of all runs of a case
ROUNDS, ROUNDS_IF_LONG = 5, 2  # at least

#: {piece: {case: (function, arguments)}}; a function returns what is timed.
CASES = {}


def case(piece, name, *arguments):
    def add(function):
        CASES.setdefault(piece, {})[name] = (function, arguments)
        return function

    return add


def continuous(n_samples=100_000, n_features=20):
    """Two noisy classes and a linear target with noise over continuous columns."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_samples,
        n_features,
        n_informative=n_features // 2,
        n_redundant=n_features // 4,
        flip_y=0.05,
        random_state=0,
    )
    rng = np.random.default_rng(0)
    target = X @ rng.standard_normal(n_features) + rng.standard_normal(n_samples)
    return X.astype(np.float32), y, target


def text(n_documents=10_000, n_words=50_000, n_classes=20):
    """Counts of words of Zipf's frequencies, some of which are more frequent in one class."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n_documents)
    frequency = 1 / np.arange(1, n_words + 1)
    frequency /= frequency.sum()
    length = rng.geometric(1 / 120, size=n_documents)
    word = rng.choice(n_words, p=frequency, size=length.sum())
    document = np.repeat(np.arange(n_documents), length)
    is_topical = rng.random(word.size) < 0.15
    topic = y[document] * 200 + rng.integers(200, size=word.size) + 500
    word[is_topical] = topic[is_topical]
    X = sp.coo_matrix((np.ones(word.size, np.float32), (document, word)), (n_documents, n_words))
    return X.tocsc(), y


@case(1, "path of a tree of 30,000 nodes, squared error", "regression")
@case((1, "series"), "path of a tree of 30,000 nodes, gini", "classification")
def pruning_path(task):
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from sklearn.tree._tree import ccp_pruning_path

    rng = np.random.default_rng(0)
    if task == "regression":
        Tree, y = DecisionTreeRegressor, rng.normal(size=15_000)
    else:
        Tree, y = DecisionTreeClassifier, rng.integers(5, size=31_000)
    X = rng.normal(size=(len(y), 5)).astype(np.float32)
    tree = Tree(random_state=0).fit(X, y).tree_
    return lambda: ccp_pruning_path(tree)


@case(1, "path of a tree of 31 nodes", 5)
def small_path(max_depth):
    from sklearn.tree import DecisionTreeRegressor
    from sklearn.tree._tree import ccp_pruning_path

    X, _, y = continuous(200, 5)
    tree = DecisionTreeRegressor(max_leaf_nodes=16, random_state=0).fit(X, y).tree_
    return lambda: [ccp_pruning_path(tree) for _ in range(100)]


@case((2, "series"), "iris, RandomForestClassifier, 1,000 trees", "RandomForestClassifier", 1_000)
@case(2, "iris, ExtraTreesClassifier, 1,000 trees", "ExtraTreesClassifier", 1_000)
@case(2, "iris, RandomForestRegressor, 1,000 trees", "RandomForestRegressor", 1_000)
@case(2, "iris, RandomForestClassifier, 10 trees", "RandomForestClassifier", 10)
def iris_forest(name, n_estimators):
    from sklearn import ensemble
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    forest = getattr(ensemble, name)(n_estimators=n_estimators, random_state=0)
    return lambda: forest.fit(X, y)


@case(2, "100,000 x 20, RandomForestClassifier, 5 trees of depth 8", 5)
def large_forest(n_estimators):
    from sklearn.ensemble import RandomForestClassifier

    X, y, _ = continuous()
    forest = RandomForestClassifier(n_estimators, max_depth=8, random_state=0)
    return lambda: forest.fit(X, y)


@case((3, 4, 7, 8, "series"), "full tree, 100,000 x 20, squared error", "squared_error")
@case((3, 4, 7, 8, "series"), "full tree, 100,000 x 20, gini", "gini")
@case((3, 4), "the same with weights, squared error", "squared_error", None, True)
@case((3, 4), "the same with weights, gini", "gini", None, True)
@case((3, 4), "the same with max_features=4, gini", "gini", 4)
@case((3, 4, 7), "stump, 100,000 x 20, gini", "gini", None, False, 1)
def full_tree(criterion, max_features=None, with_weights=False, max_depth=None):
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, y, target = continuous()
    Tree = DecisionTreeClassifier if criterion == "gini" else DecisionTreeRegressor
    weight = np.random.default_rng(0).random(len(X)) if with_weights else None
    tree = Tree(criterion=criterion, max_features=max_features, max_depth=max_depth, random_state=0)
    return lambda: tree.fit(X, y if criterion == "gini" else target, weight)


SORTED_KINDS = ("constant", "two values", "ten values", "sorted", "reversed")


def sorted_column(kind, n, rng):
    return {
        "constant": lambda: np.ones(n),
        "two values": lambda: rng.integers(2, size=n),
        "ten values": lambda: rng.integers(10, size=n),
        "sorted": lambda: np.sort(rng.normal(size=n)),
        "reversed": lambda: np.sort(rng.normal(size=n))[::-1],
    }[kind]()


def column_fit(kind, n, max_depth):
    """Fits of n samples, as many as make 50,000 together: n is the size of the root."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X = np.column_stack([sorted_column(kind, n, rng) for _ in range(20)]).astype(np.float32)
    y = rng.integers(2, size=n)
    tree = DecisionTreeClassifier(max_depth=max_depth, random_state=0)
    return lambda: [tree.fit(X, y) for _ in range(max(1, 50_000 // n))]


for kind in SORTED_KINDS:
    for n in (100_000, 1_000, 100):
        case((4, 8), f"{kind}, {n:,} rows, stump", kind, n, 1)(column_fit)
        case((4, 8), f"{kind}, {n:,} rows, full tree", kind, n, None)(column_fit)


@case((5, "series"), "1,000,000 rows, 40,000 nodes", 1_000_000, 20_000)
@case(5, "1,000,000 rows, 63 nodes", 1_000_000, 32)
@case(5, "1,000,000 rows, 3 nodes", 1_000_000, 2)
@case(5, "1,000 calls of one row, 63 nodes", 1, 32)
def predict(n_rows, max_leaf_nodes):
    from sklearn.tree import DecisionTreeRegressor

    X, _, y = continuous(20_000)
    tree = DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes, random_state=0).fit(X, y)
    rows = X[np.random.default_rng(0).integers(len(X), size=n_rows)]
    n_calls = 1_000 if n_rows == 1 else 1
    return lambda: [tree.predict(rows) for _ in range(n_calls)]


@case((6, "series"), "text, 20 classes, full tree", None, None)
@case(6, "text, 20 classes, stump", 1, None)
@case(6, "text, 20 classes, max_features=sqrt", None, "sqrt")
def text_tree(max_depth, max_features):
    from sklearn.tree import DecisionTreeClassifier

    X, y = text()
    tree = DecisionTreeClassifier(max_depth=max_depth, max_features=max_features, random_state=0)
    return lambda: tree.fit(X, y)


@case(6, "20 newsgroups (if downloaded before), full tree")
def newsgroups_tree():
    from sklearn.datasets import fetch_20newsgroups_vectorized
    from sklearn.tree import DecisionTreeClassifier

    try:
        X, y = fetch_20newsgroups_vectorized(return_X_y=True, download_if_missing=False)
    except OSError:
        return None
    X = X.astype(np.float32).tocsc()
    return lambda: DecisionTreeClassifier(random_state=0).fit(X, y)


def few_values(n_samples, n_features, n_values, n_classes):
    """Columns of integers below n_values that tell noisily which class a sample is of."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n_samples)
    center = rng.normal(size=(n_classes, n_features))
    X = center[y] + 0.7 * rng.normal(size=(n_samples, n_features))
    X = np.clip(np.floor((X + 3) / 6 * n_values), 0, n_values - 1)
    return X.astype(np.float32), y, center[y, 0] + rng.normal(size=n_samples)


LETTERS = (20_000, 16, 16, 26)


@case((8, "series"), "20,000 x 16 of 16 values, 26 classes, gini", LETTERS, "gini")
@case(8, "20,000 x 16 of 16 values, 26 classes, entropy", LETTERS, "entropy")
@case(8, "20,000 x 16 of 16 values, squared error", LETTERS, "squared_error")
@case(8, "20,000 x 16 of 16 values, 26 classes, depth 6, gini", LETTERS, "gini", 6)
@case(8, "20,000 x 16 of 16 values, Poisson", LETTERS, "poisson")
@case(8, "the same with missing values, 26 classes, gini", LETTERS, "gini", None, "missing")
@case(8, "the same, half of the columns continuous, gini", LETTERS, "gini", None, "continuous")
@case(8, "100,000 x 20 of 0 and 1, 2 classes, gini", (100_000, 20, 2, 2), "gini")
@case(8, "100,000 x 20 of 0 and 1, squared error", (100_000, 20, 2, 2), "squared_error")
@case(8, "100,000 x 20 of 256 values, 10 classes, gini", (100_000, 20, 256, 10), "gini")
@case(8, "100,000 x 20 of 256 values, squared error", (100_000, 20, 256, 10), "squared_error")
@case(8, "500 x 16 of 16 values, 26 classes, gini, 40 trees", (500, 16, 16, 26), "gini", None, 40)
def few_values_tree(shape, criterion, max_depth=None, change=None):
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, y, target = few_values(*shape)
    rng = np.random.default_rng(1)
    if change == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    elif change == "continuous":
        X[:, ::2] += rng.random((len(X), shape[1] // 2), dtype=np.float32)
    Tree = DecisionTreeClassifier
    if criterion in ("squared_error", "poisson"):
        Tree, y = DecisionTreeRegressor, np.abs(target)
    tree = Tree(criterion=criterion, max_depth=max_depth, random_state=0)
    return lambda: [tree.fit(X, y) for _ in range(change if isinstance(change, int) else 1)]


@case((8, "series"), "20,000 x 16 of 16 values, 26 classes, forest of 10 trees")
def few_values_forest():
    from sklearn.ensemble import RandomForestClassifier

    X, y, _ = few_values(*LETTERS)
    forest = RandomForestClassifier(10, random_state=0)
    return lambda: forest.fit(X, y)


def cases_of(piece):
    chosen = {}
    for key, cases in CASES.items():
        if piece in map(str, key if isinstance(key, tuple) else (key,)):
            chosen.update(cases)
    return chosen


def serve():
    """For each line that names a case, run it and print its processor time.

    NaN if the case cannot run.
    """
    cases = {name: case for cases in CASES.values() for name, case in cases.items()}
    prepared = timed = None
    for line in sys.stdin:
        name = line.strip()
        if name != prepared:
            function, arguments = cases[name]
            prepared, timed = name, function(*arguments)
        start = time.process_time()
        if timed is not None:
            timed()
        print(float("nan") if timed is None else time.process_time() - start, flush=True)


class Side:
    """A process that runs cases on the scikit-learn of a folder."""

    def __init__(self, site):
        environment = os.environ | {"PYTHONPATH": str(Path(site).resolve()), "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "--serve"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, name):
        print(name, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())


def run_in_turn(sides, name):
    times = []
    while True:
        times.append([side.run(name) for side in sides])
        seconds = np.sum(times)
        rounds = ROUNDS_IF_LONG if seconds > LONG else ROUNDS
        if len(times) >= rounds and not seconds < MIN_SECONDS:  # NaN is not less
            return times


def main():
    if sys.argv[1:] == ["--serve"]:
        serve()
        return
    parser = argparse.ArgumentParser(description="Time scikit-learn before and after.")
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("piece")
    options = parser.parse_args()
    sides = [Side(options.before), Side(options.after)]
    print(f"{'case of piece ' + options.piece:60} {'before':>10} {'after':>10} {'ratio':>7}")
    for name in cases_of(options.piece):
        before, after = np.min(run_in_turn(sides, name), axis=0)
        print(f"{name:60} {before:9.4f}s {after:9.4f}s {before / after:7.2f}", flush=True)


if __name__ == "__main__":
    main()
