"""The naive twins themselves: they agree with scikit-learn where it is exact, and they can fail."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.tree
from numpy.testing import assert_allclose

from reference.grow import grow
from reference.impurity import impurity
from reference.judge import judge
from reference.problems import random_problem
from reference.splits import all_cuts, best_cut, cuts_of_column
from reference.trees import FIELDS, STRUCTURE, assert_same, assert_top, fields


@pytest.mark.cases(1000)
def test_judge_accepts_scikit_learns_trees(seed):
    """In the exact regime, up to scikit-learn's resolution and its random order of features."""
    problem = random_problem(seed, exact=True, ccp_alpha=0.0)
    fitted = problem.fit(sklearn.tree)
    judge(fitted, problem.X, problem.y, problem.sample_weight, sklearn_rules=True)


@pytest.mark.cases(200)
def test_judge_accepts_the_naive_tree(seed):
    problem = random_problem(
        seed, splitter="best", max_features=None, max_leaf_nodes=None, ccp_alpha=0.0
    )
    estimator = problem.fit(sklearn.tree)
    estimator.tree_ = grow(estimator, problem.X, problem.y, problem.sample_weight)
    judge(estimator, problem.X, problem.y, problem.sample_weight)


@pytest.fixture
def fitted():
    """A tree without ties, its data, and a stand-in whose arrays can be spoiled."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X) @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    estimator = sklearn.tree.DecisionTreeRegressor(max_depth=3, min_samples_leaf=5).fit(X, y)
    stand_in = copy.copy(estimator)
    tree = estimator.tree_
    stand_in.tree_ = SimpleNamespace(
        **{name: array.copy() for name, array in fields(tree).items()},
        node_count=tree.node_count,
        n_leaves=tree.n_leaves,
    )
    return stand_in, X, y


def test_judge_accepts_the_unspoiled_tree(fitted):
    judge(*fitted)


@pytest.mark.parametrize("name", [f for f in FIELDS if not f.startswith("children")])
def test_judge_rejects_a_spoiled_field(fitted, name):
    estimator, X, y = fitted
    array = getattr(estimator.tree_, name)
    array[1] = 1 - array[1] if name == "missing_go_to_left" else array[1] + 1
    with pytest.raises(AssertionError):
        judge(estimator, X, y)


def test_judge_rejects_a_worse_threshold(fitted):
    """Another admissible cut of the root's feature."""
    estimator, X, y = fitted
    tree = estimator.tree_
    thresholds, missing_left, goes_left = cuts_of_column(X[:, tree.feature[0]])
    admissible = np.flatnonzero(np.abs(goes_left.sum(axis=1) - 30) < 20)
    tree.threshold[0] = thresholds[admissible[0]]
    tree.missing_go_to_left[0] = missing_left[admissible[0]]
    with pytest.raises(AssertionError, match="was possible"):
        judge(estimator, X, y)


def test_judge_rejects_a_leaf_that_could_be_split(fitted):
    estimator, X, y = fitted
    estimator.max_depth = 4
    with pytest.raises(AssertionError, match="leaf could be split"):
        judge(estimator, X, y)


def test_judge_rejects_a_split_beyond_the_limits(fitted):
    estimator, X, y = fitted
    estimator.max_depth = 2
    with pytest.raises(AssertionError, match="had to be a leaf"):
        judge(estimator, X, y)
    estimator.max_depth, estimator.min_samples_leaf = 3, 25
    with pytest.raises(AssertionError):
        judge(estimator, X, y)


def test_judge_rejects_a_later_cut_that_ties():
    """The second feature is a copy of the first; so is its mirror image."""
    x = np.arange(6.0)
    for other in (x, -x):
        X = np.column_stack([other, x])
        y = [0, 0, 1, 1, 1, 1]
        estimator = sklearn.tree.DecisionTreeClassifier().fit(x[:, None], y)
        arrays = fields(estimator.tree_)
        judge_me = sklearn.tree.DecisionTreeClassifier().fit(X, y)
        for feature, ok in ((0, True), (1, False)):
            tree = SimpleNamespace(**copy.deepcopy(arrays), node_count=3, n_leaves=2)
            tree.feature[0] = feature
            judge_me.tree_ = tree
            if ok and other is x:
                judge(judge_me, X, y)
            elif not ok:
                with pytest.raises(AssertionError, match="an earlier cut"):
                    judge(judge_me, X, y)


def test_judge_rejects_a_worse_frontier():
    """Best-first growth must split where the improvement is largest."""
    X = np.arange(8.0)[:, None]
    y = np.array([0, 0, 1, 1, 10, 10, 20, 20.0])
    deep = sklearn.tree.DecisionTreeRegressor(max_leaf_nodes=3).fit(X, y)
    judge(deep, X, y, sklearn_rules=True)
    whole = sklearn.tree.DecisionTreeRegressor().fit(X, y)
    arrays = fields(whole.tree_)
    # Keep the root's split and the left child's, although the right child's is better.
    kept = np.r_[0 : arrays["children_right"][0] + 1]
    cut = {name: array[kept].copy() for name, array in arrays.items()}
    for name, of_leaf in zip(STRUCTURE, (-1, -1, -2, -2.0, 0)):
        cut[name][-1] = of_leaf
    deep.tree_ = SimpleNamespace(**cut, node_count=len(kept), n_leaves=3)
    with pytest.raises(AssertionError, match="frontier"):
        judge(deep, X, y, sklearn_rules=True)


def test_cuts_of_a_column_by_hand():
    x = np.array([2, 1, np.nan, 2], dtype=np.float32)
    thresholds, missing_left, goes_left = cuts_of_column(x)
    assert thresholds.tolist() == [1.5, 1.5, np.inf]
    assert missing_left.tolist() == [False, True, False]
    assert goes_left.astype(int).tolist() == [[0, 1, 0, 0], [0, 1, 1, 0], [1, 1, 0, 1]]


def test_cuts_at_scikit_learns_resolution():
    """Neighbours within 1e-7 are not parted, in a chain too; fasttree parts them."""
    x = np.array([0, 6e-8, 1.2e-7, 1, 2], dtype=np.float32)
    assert len(cuts_of_column(x)[0]) == 4
    assert cuts_of_column(x, resolution=1e-7)[2].sum(axis=1).tolist() == [3, 4]
    assert len(cuts_of_column(x[:2], resolution=1e-7)[0]) == 0


def test_impurities_by_hand():
    y, w = np.array([[0], [0], [1], [2]]), np.array([1.0, 1.0, 1.0, 1.0])
    assert_allclose(impurity("gini", y, w), 1 - (0.25 + 2 * 0.0625))
    assert_allclose(impurity("entropy", y, w), 1.5)
    y = y.astype(float)
    assert_allclose(impurity("squared_error", y, w), np.var(y))
    assert_allclose(impurity("absolute_error", y, w), 0.75)
    assert_allclose(impurity("poisson", y, w), (np.log(1 / 0.75) + 2 * np.log(2 / 0.75)) / 4)


def test_first_of_equal_cuts_wins():
    x = np.array([0, 1, 2, 3], dtype=np.float32)
    y, w = np.array([[0], [1], [0], [1]]), np.ones(4)
    cuts = all_cuts(np.column_stack([x, x]))
    best, gain = best_cut("gini", y, w, cuts)
    assert (cuts.feature[best], cuts.threshold[best]) == (0, 0.5)
    assert_allclose(gain, 0.5 - 0.75 * 4 / 9)


def test_top_of_a_tree():
    """With one feature scikit-learn's draws cannot matter either."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 1)), rng.normal(size=50)
    whole = sklearn.tree.DecisionTreeRegressor().fit(X, y).tree_
    assert_same(whole, whole)
    for depth in range(1, whole.max_depth + 1):
        limited = sklearn.tree.DecisionTreeRegressor(max_depth=depth).fit(X, y).tree_
        assert_top(limited, whole, depth)
        with pytest.raises(AssertionError):
            assert_top(limited, whole, depth - 1)


def test_same_trees_differ_in_one_bit():
    X, y = np.arange(9.0)[:, None], np.arange(9.0)
    tree, other = (sklearn.tree.DecisionTreeRegressor().fit(X, y).tree_ for _ in range(2))
    other.value[3, 0, 0] = np.nextafter(other.value[3, 0, 0], np.inf)
    with pytest.raises(AssertionError, match="value of node 3"):
        assert_same(other, tree)
