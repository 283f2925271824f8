"""The estimator of optimal trees: progress, what all trees can do, bad and trivial input."""

import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import export_text, plot_tree
from sklearn.utils.estimator_checks import parametrize_with_checks

from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
from fasttree.tree import DecisionTreeClassifier
from reference.optimal_problems import errors, load, needs_data, small_problem
from reference.trees import assert_same


@parametrize_with_checks([OptimalDecisionTreeClassifier()])
def test_estimator_checks(estimator, check):
    check(estimator)


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


def test_a_price_above_one_is_told_as_it_is(capsys):
    X, y = small_problem(6)
    tree = OptimalDecisionTreeClassifier(complexity_penalty=5.0, verbose=1).fit(X, y)
    assert tree.objective_ == 5.0 + errors(tree, X, y) / len(y)
    lines = capsys.readouterr().out.splitlines()
    assert f"objective {tree.objective_:.6f}" in lines[-1]
    for line in lines:
        assert float(line.split("objective")[1].split()[0]) >= tree.objective_ - 1e-6


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
