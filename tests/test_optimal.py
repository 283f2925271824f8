"""Optimal trees have the least errors, under weights, limits, budgets and penalties."""

import pickle

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_breast_cancer

from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTreeClassifier
from fasttree.tree import export_text as our_export_text
from reference.naive_hybrid import object_array, questions
from reference.naive_optimal import best_errors
from reference.optimal_problems import errors, load, needs_data, proven_optima, small_problem


def all_splits(X):
    """Every split of numeric columns as a 0/1 column, missing values on either side."""
    columns = []
    for values in X.T:
        present = np.unique(values[~np.isnan(values)])
        for low in present:
            columns += [values > low, ~(values <= low)]
        columns.append(np.isnan(values))
    return np.array(columns).T


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


@pytest.mark.parametrize("penalty", [0.0, 1e-8, 0.001, 0.0125, 0.03, 0.2, 2.0])
def test_penalty(penalty):
    X, y = small_problem(4, n_samples=80)
    front = OptimalDecisionTreeClassifier(max_depth=4, pareto_front=True).fit(X, y)
    tree = OptimalDecisionTreeClassifier(max_depth=4, complexity_penalty=penalty).fit(X, y)
    objective = errors(tree, X, y) / len(y) + penalty * tree.get_n_leaves()
    prices = front.pareto_front_["error"] + penalty * front.pareto_front_["n_leaves"]
    assert objective == pytest.approx(prices.min())
    assert tree.objective_ == tree.lower_bound_ == pytest.approx(objective, rel=1e-14)
    assert tree.is_optimal_
    chosen = front.from_front(complexity_penalty=penalty)
    assert chosen.objective_ == pytest.approx(objective)
    assert chosen.complexity_penalty == penalty


def test_a_budget_beyond_the_depth_is_the_depth():
    X, y = small_problem(5)
    few = OptimalDecisionTreeClassifier(max_depth=2).fit(X, y)
    many = OptimalDecisionTreeClassifier(max_depth=2, max_leaf_nodes=1000).fit(X, y)
    assert few.objective_ == many.objective_
