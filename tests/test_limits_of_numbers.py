"""Numbers beyond what a machine word or a double holds: the documented result, or a ValueError."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fasttree
from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.tree._encoding import encoding_of
from reference.trees import assert_same

X = np.array([[0.0], [1.0], [2.0], [3.0]] * 3)
y = np.array([0, 1, 1, 0] * 3)
HUGE = [2**31, 2**32 + 1, 2**63, 10**30, 10**400]
BEYOND = [10**400, -(10**400), Fraction(10**400), Decimal("sNaN")]

each_class = pytest.mark.parametrize(
    "Tree",
    [DecisionTreeClassifier, DecisionTreeRegressor, DecisionTree, OptimalDecisionTreeClassifier],
)
each_greedy = pytest.mark.parametrize(
    "Tree", [DecisionTreeClassifier, DecisionTreeRegressor, DecisionTree]
)
each_beyond = pytest.mark.parametrize("number", BEYOND, ids=["int", "negative", "fraction", "nan"])


@each_greedy
@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize("name", ["max_depth", "max_features", "max_leaf_nodes"])
def test_limits_that_are_never_reached(Tree, name, value):
    assert_same(Tree(**{name: value}).fit(X, y).tree_, Tree().fit(X, y).tree_)


@each_greedy
@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize("name", ["min_samples_split", "min_samples_leaf"])
@pytest.mark.parametrize("max_leaf_nodes", [None, 5])
def test_limits_that_no_node_meets(Tree, name, value, max_leaf_nodes):
    tree = Tree(max_leaf_nodes=max_leaf_nodes, **{name: value}).fit(X, y)
    assert tree.get_n_leaves() == 1


@each_greedy
@pytest.mark.parametrize("name", ["min_impurity_decrease", "ccp_alpha"])
def test_decreases_that_no_split_makes(Tree, name):
    assert Tree(**{name: 10**400}).fit(X, y).get_n_leaves() == 1
    assert Tree().fit(X, y).prune(**{name: 10**400}).get_n_leaves() == 1


def test_parameters_of_optimal_trees():
    expected = OptimalDecisionTreeClassifier().fit(X, y)
    for name in ("max_leaf_nodes", "n_thresholds", "time_limit", "cache_size"):
        tree = OptimalDecisionTreeClassifier(**{name: 10**400}).fit(X, y)
        assert_same(tree.tree_, expected.tree_)
    tree = OptimalDecisionTreeClassifier(complexity_penalty=5e-324).fit(X, y)
    assert_same(tree.tree_, expected.tree_)
    tree = OptimalDecisionTreeClassifier(complexity_penalty=10**400, pareto_front=True).fit(X, y)
    assert tree.get_n_leaves() == 1
    assert tree.from_front(complexity_penalty=0, max_leaf_nodes=10**30).get_n_leaves() > 1
    assert tree.from_front(complexity_penalty=10**400).get_n_leaves() == 1
    for options in ({"seed": 2**64}, {"seed": -1}, {"seed": 1.5}, {"share_after": np.nan}):
        with pytest.raises(ValueError, match=next(iter(options))):
            SearchOptions(**options)


@each_class
@each_beyond
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_cells_beyond_doubles(Tree, number):
    refused = pytest.raises(ValueError, match="float64|infinity|NaN")
    cells = [[number], [1.0], [2.0], [3.0]] * 3
    if not isinstance(number, Decimal):  # in a table a signalling NaN is missing
        with refused:
            Tree().fit(cells, y)
    for method in ("predict", "apply", "decision_path"):
        with refused:
            getattr(Tree().fit(X, y), method)(cells)
    with refused:
        Tree().fit(X, y, sample_weight=[number] + [1] * 11)


@each_beyond
def test_targets_beyond_doubles(number):
    target = [number, 1, 2, 3] * 3
    fitted = DecisionTreeRegressor().fit(X, y)
    for call in (
        lambda: DecisionTreeRegressor().fit(X, target),
        lambda: fitted.tune(X, target, {"max_depth": [1]}),
        lambda: fitted.reduced_error_prune(X, target),
        lambda: fitted.tune(X, y, {"max_depth": [1]}, sample_weight=target),
    ):
        with pytest.raises(ValueError, match="float"):
            call()


@each_class
def test_missing_values_beyond_doubles(Tree):
    with pytest.raises(ValueError, match="float64"):
        Tree(missing_values=10**400).fit(X, y)


def test_class_weights_beyond_doubles():
    for Tree in (DecisionTreeClassifier, OptimalDecisionTreeClassifier):
        with pytest.raises(ValueError):
            Tree(class_weight={0: 10**400, 1: 1}).fit(X, y)


def test_targets_that_hold_nothing():
    with pytest.raises(ValueError, match="NaN"):
        DecisionTreeRegressor().fit(X[:2], np.array([1.0, None], dtype=object))


def test_no_threads_at_all():
    for n_threads in (None, 1, 2):
        with (
            fasttree.config_context(n_threads=n_threads),
            pytest.raises(ValueError, match="n_jobs"),
        ):
            DecisionTreeClassifier(n_jobs=0).fit(X, y)


def test_more_rows_than_lists_can_name():
    X = np.broadcast_to(np.float32(0), (2**30, 1))
    with pytest.raises(ValueError, match="1073741823 rows at most"):
        encoding_of(X)
