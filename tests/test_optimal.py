"""The estimator of optimal trees: what it promises, on small problems and on the paper's sets."""

import csv
import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
import sklearn.tree
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import export_text, plot_tree
from sklearn.utils.estimator_checks import parametrize_with_checks

from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
from fasttree.tree import DecisionTreeClassifier
from fasttree.tree import export_text as our_export_text
from reference.naive_hybrid import object_array, questions
from reference.naive_optimal import best_errors
from reference.trees import assert_same

DATA = Path(
    os.environ.get(
        "FASTTREE_OPTIMAL_DATA",
        Path(__file__).resolve().parents[2] / "shared" / "data" / "optimal",
    )
)
SCORES = DATA / "optimal_scores.csv"
needs_data = pytest.mark.skipif(not SCORES.exists(), reason="FASTTREE_OPTIMAL_DATA is not there")


def load(name):
    import pandas as pd

    table = pd.read_csv(DATA / f"{name}.csv.xz", sep=" ", header=None, dtype=np.int8).to_numpy()
    return np.ascontiguousarray(table[:, 1:]), table[:, 0]


def proven_optima():
    """Name of each set with its rows (depth, inner nodes, errors)."""
    optima = {}
    if SCORES.exists():
        with SCORES.open() as file:
            for row in csv.DictReader(file):
                entry = [int(row[key]) for key in ("depth", "max_nodes", "misclassifications")]
                optima.setdefault(row["dataset"], []).append(entry)
    return optima


def errors(estimator, X, y):
    return int((estimator.predict(X) != y).sum())


def small_problem(seed, n_samples=40, n_features=5):
    """Numbers of few distinct values, so that every threshold is tried."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n_samples, n_features)).astype(float)
    y = ((X[:, 0] > 1) ^ (X[:, 1] > 2)).astype(int) + (rng.random(n_samples) < 0.2)
    return X, y


def all_splits(X):
    """Every split of numeric columns as a 0/1 column, missing values on either side."""
    columns = []
    for values in X.T:
        present = np.unique(values[~np.isnan(values)])
        for low in present:
            columns += [values > low, ~(values <= low)]
        columns.append(np.isnan(values))
    return np.array(columns).T


@parametrize_with_checks([OptimalDecisionTreeClassifier()])
def test_estimator_checks(estimator, check):
    check(estimator)


# ---- optimality


@needs_data
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", proven_optima() or ["none"])
def test_proven_optima_are_reached(name, n_jobs):
    X, y = load(name)
    for depth, max_nodes, best in proven_optima()[name]:
        tree = OptimalDecisionTreeClassifier(
            max_depth=depth, max_leaf_nodes=max_nodes + 1, n_jobs=n_jobs
        ).fit(X, y)
        assert tree.is_optimal_
        assert tree.gap_ == 0
        assert errors(tree, X, y) == best == round(tree.objective_ * len(y))
        assert tree.get_depth() <= depth
        assert tree.get_n_leaves() <= max_nodes + 1


@pytest.mark.cases(200)
def test_numeric_and_missing_columns(seed):
    """The best tree over every split that the data allows, against brute force."""
    rng = np.random.default_rng(seed)
    X, y = small_problem(seed, n_samples=30, n_features=3)
    X[rng.random(X.shape) < rng.choice([0, 0.2])] = np.nan
    least = int(rng.choice([1, 3]))
    truth = best_errors(
        all_splits(X), y, np.ones(30), max_depth=2, max_nodes=3, min_samples_leaf=least
    )
    tree = OptimalDecisionTreeClassifier(max_depth=2, min_samples_leaf=least).fit(X, y)
    assert tree.thresholds_are_exhaustive_
    assert errors(tree, X, y) == truth[3]
    assert tree.tree_.n_node_samples[tree.tree_.children_left < 0].min() >= least


def hybrid_problem(seed):
    """(table, classes): columns of numbers, labels and gaps of a few distinct values."""
    rng = np.random.default_rng([seed, 5])
    values = [[1.0, 2.0, 3.0], ["a", "b", "c"], [1.0, 2.0, "a", None], ["a", "b", None], [0.0, 1.0]]
    chosen = rng.choice(len(values), 3, replace=False)
    table = [[values[k][i] for i in rng.integers(0, len(values[k]), 30)] for k in chosen]
    return table, rng.integers(0, rng.integers(2, 4), 30)


@pytest.mark.cases(150)
def test_columns_with_labels(seed):
    """The best tree over every question that a node may ask, against brute force."""
    table, y = hybrid_problem(seed)
    asked = [question.sides(column) for column in table for question in questions(column)]
    truth = best_errors(np.array(asked).T, y, np.ones(30), max_depth=2, max_nodes=3)
    X = object_array(table)
    tree = OptimalDecisionTreeClassifier(max_depth=2).fit(X, y)
    assert tree.thresholds_are_exhaustive_
    assert errors(tree, X, y) == truth[3]
    leaves = tree.tree_.children_left < 0
    assert (
        np.bincount(tree.apply(X), minlength=len(leaves))[leaves]
        == tree.tree_.n_node_samples[leaves]
    ).all()


def test_problems_have_splits_on_labels():
    trees = [
        OptimalDecisionTreeClassifier().fit(object_array(table), y).tree_
        for table, y in map(hybrid_problem, range(20))
    ]
    assert sum(tree.label_splits is not None for tree in trees) > 10


def test_a_frame_and_what_the_tree_says():
    import pandas as pd
    import polars as pl

    frame = pd.DataFrame(
        {"color": ["red", "blue", "green", None] * 10, "size": [1.0, 2.0, np.nan, 4.0] * 10}
    )
    y = np.array(["x", "z", "z", "y"] * 10)
    tree = OptimalDecisionTreeClassifier(max_depth=2).fit(frame, y)
    assert errors(tree, frame, y) == 0
    assert tree.categories_ == [["blue", "green", "red"], []]
    for same in (pl.from_pandas(frame), frame.astype({"color": "category"})):
        other = OptimalDecisionTreeClassifier(max_depth=2).fit(same, y)
        assert (other.predict(same) == y).all()
        assert other.objective_ == tree.objective_ == 0
    one = OptimalDecisionTreeClassifier(max_depth=1).fit(frame[["color"]], y == "x")
    assert our_export_text(one).startswith("|--- color in {red}\n")
    again = pickle.loads(pickle.dumps(one))
    assert (again.predict(frame[["color"]]) == (y == "x")).all()
    twin = one.to_sklearn()
    assert (twin.predict(frame[["color"]]) == (y == "x")).all()
    assert type(twin[-1]) is sklearn.tree.DecisionTreeClassifier
    with pytest.raises(ValueError, match="feature names"):
        tree.predict(frame[["size", "color"]])
    one.fit(frame[["size"]], y)  # numbers only: nothing is left of the labels
    assert not hasattr(one, "categories_")


def test_many_labels_are_those_of_most_rows_and_of_the_greedy_tree():
    rng = np.random.default_rng(0)
    labels = [f"user {i}" for i in rng.geometric(0.02, 2000)]
    X = np.array([labels, rng.integers(0, 3, 2000)], dtype=object).T
    y = np.array([int(label[5:]) in (1, 150) or label[5:] == "2" for label in labels])
    tree = OptimalDecisionTreeClassifier(max_depth=2, n_thresholds=5).fit(X, y)
    greedy = DecisionTreeClassifier(max_depth=2).fit(X, y)
    assert not tree.thresholds_are_exhaustive_
    assert tree.is_optimal_
    assert errors(tree, X, y) <= errors(greedy, X, y)
    assert tree.tree_.label_splits is not None


def test_a_class_without_weight_keeps_its_place():
    X, y = small_problem(3)
    y = y + 1
    y[:5] = 0
    tree = OptimalDecisionTreeClassifier(max_depth=2, time_limit=60)
    tree.fit(X, y, sample_weight=(y > 0).astype(float))
    assert tree.tree_.value.shape[2] == len(tree.classes_) == y.max() + 1
    assert errors(tree, X[5:], y[5:]) == round(tree.objective_ * (len(y) - 5))


def test_thresholds_are_midpoints():
    X = np.array([[1.0], [2.0], [4.0], [8.0]])
    tree = OptimalDecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 1, 1])
    assert tree.tree_.threshold[0] == 3.0
    assert tree.thresholds_are_exhaustive_


@pytest.mark.parametrize("n_thresholds", [1, 3])
@pytest.mark.parametrize(
    "limits",
    [{}, {"max_leaf_nodes": 5}, {"min_samples_leaf": 20}, {"min_weight_fraction_leaf": 0.05}],
)
def test_never_worse_than_greedy(n_thresholds, limits):
    """Few thresholds of its own, but those of the greedy tree among them."""
    X, y = load_breast_cancer(return_X_y=True)
    tree = OptimalDecisionTreeClassifier(max_depth=3, n_thresholds=n_thresholds, **limits)
    tree.fit(X, y)
    greedy = DecisionTreeClassifier(max_depth=3, **limits).fit(X, y)
    assert not tree.thresholds_are_exhaustive_
    assert tree.is_optimal_
    assert errors(tree, X, y) <= errors(greedy, X, y)
    assert errors(tree, X, y) == round(tree.objective_ * len(y))


def test_weights_are_repeated_rows():
    X, y = small_problem(0)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = OptimalDecisionTreeClassifier(max_depth=3).fit(X, y, sample_weight=counts * 0.5)
    repeated = OptimalDecisionTreeClassifier(max_depth=3).fit(X.repeat(counts, 0), y.repeat(counts))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-12)
    wrong = weighted.predict(X) != y
    assert counts[wrong].sum() / counts.sum() == pytest.approx(weighted.objective_, rel=1e-12)
    assert weighted.tree_.weighted_n_node_samples[0] == pytest.approx(counts.sum() / 2)


def test_any_weights():
    """On the grid, an error of at most half a step per row."""
    X, y = small_problem(1)
    weights = np.random.default_rng(1).exponential(size=len(y))
    tree = OptimalDecisionTreeClassifier(max_depth=3).fit(X, y, sample_weight=weights)
    assert tree.is_optimal_
    wrong = tree.predict(X) != y
    assert weights[wrong].sum() / weights.sum() == pytest.approx(tree.objective_, abs=1e-3)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 3.0, 2: 0.25}])
def test_class_weights(class_weight):
    from sklearn.utils import compute_sample_weight

    X, y = small_problem(2)
    tree = OptimalDecisionTreeClassifier(max_depth=3, class_weight=class_weight).fit(X, y)
    weights = compute_sample_weight(class_weight, y)
    other = OptimalDecisionTreeClassifier(max_depth=3).fit(X, y, sample_weight=weights)
    assert tree.objective_ == pytest.approx(other.objective_)
    wrong = tree.predict(X) != y
    assert weights[wrong].sum() / weights.sum() == pytest.approx(tree.objective_)


@pytest.mark.cases(100)
def test_least_weight_of_a_leaf(seed):
    """Exact on the grid of integer weights, alone and beside a least number of rows."""
    rng = np.random.default_rng(seed)
    X, y = small_problem(seed, n_samples=40, n_features=3)
    weights = rng.integers(1, 6, len(y))
    fraction, least = rng.choice([0.05, 0.1, 0.3, 0.5]), int(rng.choice([1, 4]))
    tree = OptimalDecisionTreeClassifier(
        max_depth=2, min_samples_leaf=least, min_weight_fraction_leaf=fraction
    ).fit(X, y, sample_weight=weights / 8)
    limits = {"min_samples_leaf": least, "min_weight_leaf": fraction * weights.sum()}
    truth = best_errors(all_splits(X), y, weights, max_depth=2, max_nodes=3, **limits)
    assert weights[tree.predict(X) != y].sum() == truth[3]
    is_leaf = tree.tree_.children_left < 0
    if tree.tree_.node_count > 1:
        assert tree.tree_.n_node_samples[is_leaf].min() >= least
        share = tree.tree_.weighted_n_node_samples / tree.tree_.weighted_n_node_samples[0]
        assert share[is_leaf].min() >= fraction


def test_a_least_leaf_beyond_the_rows():
    """No split is possible, however small the counters of so few rows are."""
    X, y = small_problem(14)
    for depth in range(1, 6):
        for limits in ({"min_samples_leaf": 200}, {"min_samples_leaf": 10**12}):
            tree = OptimalDecisionTreeClassifier(max_depth=depth, **limits).fit(X, y)
            assert tree.get_n_leaves() == 1
            assert tree.is_optimal_


# ---- budgets and penalties


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_run_gives_the_front(n_jobs):
    X, y = small_problem(3, n_samples=80)
    full = OptimalDecisionTreeClassifier(max_depth=4, pareto_front=True, n_jobs=n_jobs).fit(X, y)
    front = full.pareto_front_
    assert (np.diff(front["error"]) < 0).all()
    assert (front["lower_bound"] == front["error"]).all()
    for n_leaves in range(1, 17):
        single = OptimalDecisionTreeClassifier(max_depth=4, max_leaf_nodes=n_leaves).fit(X, y)
        chosen = full.from_front(max_leaf_nodes=n_leaves)
        assert chosen.get_n_leaves() <= n_leaves
        assert chosen.objective_ == single.objective_ == errors(chosen, X, y) / len(y)
        assert chosen.is_optimal_


@pytest.mark.parametrize("penalty", [0.0, 0.001, 0.0125, 0.03, 0.2, 2.0])
def test_penalty(penalty):
    X, y = small_problem(4, n_samples=80)
    front = OptimalDecisionTreeClassifier(max_depth=4, pareto_front=True).fit(X, y)
    tree = OptimalDecisionTreeClassifier(max_depth=4, complexity_penalty=penalty).fit(X, y)
    objective = errors(tree, X, y) / len(y) + penalty * tree.get_n_leaves()
    prices = front.pareto_front_["error"] + penalty * front.pareto_front_["n_leaves"]
    assert objective == pytest.approx(prices.min())
    if penalty <= 1:
        assert tree.objective_ == pytest.approx(objective, abs=1e-6)
    assert tree.is_optimal_
    chosen = front.from_front(complexity_penalty=penalty)
    assert chosen.objective_ == pytest.approx(objective)
    assert chosen.complexity_penalty == penalty


def test_a_budget_beyond_the_depth_is_the_depth():
    X, y = small_problem(5)
    few = OptimalDecisionTreeClassifier(max_depth=2).fit(X, y)
    many = OptimalDecisionTreeClassifier(max_depth=2, max_leaf_nodes=1000).fit(X, y)
    assert few.objective_ == many.objective_


# ---- anytime


@needs_data
@pytest.mark.parametrize(("name", "depth", "best"), [("letter", 5, 168), ("splice-1", 5, 100)])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_out_of_time(name, depth, best, n_jobs):
    X, y = load(name)
    tree = OptimalDecisionTreeClassifier(max_depth=depth, time_limit=0.05, n_jobs=n_jobs).fit(X, y)
    greedy = DecisionTreeClassifier(max_depth=depth).fit(X, y)
    assert best <= errors(tree, X, y) <= errors(greedy, X, y)
    assert tree.lower_bound_ <= best / len(y)
    assert not tree.is_optimal_
    assert tree.gap_ == pytest.approx(tree.objective_ - tree.lower_bound_)
    assert errors(tree, X, y) == round(tree.objective_ * len(y))


def hard_problem():
    """Noise over many columns: no bound helps, the search takes minutes."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (2000, 120)), rng.integers(0, 2, 2000)


def test_callback_sees_progress_and_stops():
    X, y = hard_problem()
    seen = []

    def stop_at_third(progress):
        seen.append(progress)
        return len(seen) == 3

    tree = OptimalDecisionTreeClassifier(max_depth=5, callback=stop_at_third).fit(X, y)
    assert len(seen) == 3
    assert seen[0].elapsed < seen[1].elapsed
    assert all(p.lower_bound <= p.objective for p in seen)
    assert seen[0].objective >= seen[2].objective >= tree.objective_
    assert not tree.is_optimal_
    assert tree.objective_ == errors(tree, X, y) / len(y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt(n_jobs):
    X, y = hard_problem()

    def press(progress):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        OptimalDecisionTreeClassifier(max_depth=5, callback=press, n_jobs=n_jobs).fit(X, y)


def test_error_of_a_callback_comes_out():
    X, y = hard_problem()

    def fail(progress):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        OptimalDecisionTreeClassifier(max_depth=5, callback=fail).fit(X, y)


def test_verbose_prints_the_end(capsys):
    X, y = small_problem(6)
    tree = OptimalDecisionTreeClassifier(verbose=1).fit(X, y)
    last = capsys.readouterr().out.splitlines()[-1]
    assert f"objective {tree.objective_:.6f}" in last
    assert "gap 0.000000" in last


# ---- an ordinary estimator


def test_everything_that_trees_can_do():
    X, y = load_iris(return_X_y=True)
    tree = OptimalDecisionTreeClassifier(max_depth=2).fit(X, y)
    twin = tree.to_sklearn()
    assert (twin.predict_proba(X) == tree.predict_proba(X)).all()
    assert (twin.apply(X) == tree.apply(X)).all()
    assert (twin.feature_importances_ == tree.feature_importances_).all()
    assert export_text(tree) == export_text(twin)
    assert len(plot_tree(tree)) >= tree.tree_.node_count
    again = pickle.loads(pickle.dumps(tree))
    assert (again.predict(X) == tree.predict(X)).all()
    assert tree.decision_path(X).shape == (150, tree.tree_.node_count)
    assert clone(tree).get_params() == tree.get_params()


@pytest.mark.parametrize(
    "name", ["cost_complexity_pruning_path", "prune", "reduced_error_prune", "tune"]
)
def test_methods_for_greedy_trees_are_absent(name):
    with pytest.raises(AttributeError, match="pareto_front"):
        getattr(OptimalDecisionTreeClassifier(), name)


def test_labels_names_and_sparse_input():
    import pandas as pd
    from scipy.sparse import csr_array

    X, y = load_iris(return_X_y=True, as_frame=True)
    names = pd.Series(np.array(["a", "b", "c"])[y])
    tree = OptimalDecisionTreeClassifier(max_depth=2).fit(X, names)
    assert tree.feature_names_in_.tolist() == X.columns.tolist()
    assert set(tree.predict(X)) <= {"a", "b", "c"}
    sparse = OptimalDecisionTreeClassifier(max_depth=2).fit(csr_array(X.to_numpy()), names)
    assert (sparse.predict(csr_array(X.to_numpy())) == tree.predict(X)).all()


def test_data_is_left_alone():
    X, y = small_problem(7)
    before = X.copy()
    X.flags.writeable = False
    y.flags.writeable = False
    OptimalDecisionTreeClassifier(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(X, before)


def test_unseen_missing_values_go_with_the_majority():
    X = np.array([[0.0], [0.0], [0.0], [1.0]])
    tree = OptimalDecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 0, 1])
    assert tree.predict([[np.nan]]) == [0]


@pytest.mark.parametrize("options", [{"cache": None}, {"cache": "branch"}, {"order": "gini"}])
def test_switches_do_not_change_the_objective(options):
    X, y = small_problem(8, n_samples=100)
    plain = OptimalDecisionTreeClassifier(max_depth=5).fit(X, y)
    for cache_size in (0, 0.01, 256):
        other = OptimalDecisionTreeClassifier(
            max_depth=5, search_options=SearchOptions(**options), cache_size=cache_size
        ).fit(X, y)
        assert other.objective_ == plain.objective_


@pytest.mark.plain_memory
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_memory_does_not_grow():
    def resident():
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    X, y = small_problem(9)
    estimator = OptimalDecisionTreeClassifier(max_depth=5, n_jobs=2)
    for _ in range(200):
        estimator.fit(X, y)
    before = resident()
    for _ in range(1000):
        estimator.fit(X, y)
    assert resident() - before < 4 * 2**20


# ---- bad and trivial input


@pytest.mark.parametrize(
    "params",
    [
        {"max_depth": -1},
        {"max_depth": 30},
        {"max_depth": None},
        {"max_leaf_nodes": 0},
        {"min_samples_leaf": 0},
        {"min_samples_leaf": 1.5},
        {"min_weight_fraction_leaf": 0.6},
        {"min_weight_fraction_leaf": -0.1},
        {"complexity_penalty": -0.1},
        {"class_weight": "heavy"},
        {"time_limit": 0},
        {"n_thresholds": 0},
        {"cache_size": -1},
        {"search_options": {"order": "gini"}},
    ],
)
def test_bad_parameters(params):
    X, y = small_problem(10)
    with pytest.raises(ValueError, match=next(iter(params))):
        OptimalDecisionTreeClassifier(**params).fit(X, y)


@pytest.mark.parametrize("name", ["order", "cache", "sharing", "start", "instruction_set"])
def test_bad_options(name):
    with pytest.raises(ValueError, match=name):
        SearchOptions(**{name: "none such"})


def test_bad_data():
    X, y = small_problem(11)
    estimator = OptimalDecisionTreeClassifier()
    with pytest.raises(ValueError, match="0 sample"):
        estimator.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"does not match"):
        estimator.fit(X, y[:-1])
    with pytest.raises(ValueError, match="infinity"):
        estimator.fit(np.where(X > 2, np.inf, X), y)
    with pytest.raises(ValueError, match="Negative"):
        estimator.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="1d array"):
        estimator.fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="pareto_front"):
        estimator.fit(X, y).from_front()


def test_weights_too_far_apart():
    X, y = small_problem(12)
    weights = np.where(np.arange(len(y)) == 0, 1e300, 1.0)
    tree = OptimalDecisionTreeClassifier().fit(X, y, sample_weight=weights)
    assert tree.predict(X[:1]) == y[:1]


def test_too_many_columns_for_memory():
    X = np.random.default_rng(0).integers(0, 2, (2, 400_000), dtype=np.int8)
    with pytest.raises(ValueError, match="n_thresholds"):
        OptimalDecisionTreeClassifier(max_depth=3).fit(np.repeat(X, 4, axis=0), [0, 1] * 4)


@pytest.mark.parametrize("depth", [0, 1, 3, 5])
def test_nothing_to_split(depth):
    X, y = small_problem(13)
    estimator = OptimalDecisionTreeClassifier(max_depth=depth)
    assert estimator.fit(X, np.zeros(len(y))).get_n_leaves() == 1
    assert estimator.fit(np.zeros_like(X), y).get_n_leaves() == 1
    assert estimator.fit(X[:1], y[:1]).get_n_leaves() == 1
    assert estimator.set_params(max_leaf_nodes=1).fit(X, y).get_n_leaves() == 1
    assert estimator.is_optimal_


def test_read_only_missing_values():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    X[0, 0] = np.nan
    y = (X[:, 1] > 0).astype(int)
    expected = OptimalDecisionTreeClassifier(max_depth=2).fit(X, y)
    X.flags.writeable = False
    assert_same(OptimalDecisionTreeClassifier(max_depth=2).fit(X, y).tree_, expected.tree_)


@pytest.mark.parametrize("front", [False, True])
def test_no_candidates(front):
    for X, y in ([[0.5]], [1]), ([[0.5]] * 4, [0, 1, 1, 1]):
        tree = OptimalDecisionTreeClassifier(pareto_front=front).fit(X, y)
        assert tree.get_n_leaves() == 1
        assert tree.predict(X[:1]) == [1]
