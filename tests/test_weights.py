"""Weights of either sign, and weights and targets over the whole range of doubles.

With negative weights gini and squared error keep scikit-learn's rule: a split that would make a
child of no or negative weight is no candidate. Whatever the weights, the tree is the same under
every setting and everything derived from it is finite, or there is a ValueError that says why not.
"""

import copy
import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import fasttree
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    best_split,
    feature_scores,
)
from reference.grow import grow
from reference.judge import judge
from reference.problems import CRITERIA, random_problem, signed_weights
from reference.trees import FIELDS, STRUCTURE, assert_same

STRATEGIES = ("auto", "presort", "count", "sort")
SMALLEST = 5e-324
SIGNED_CRITERIA = ("gini", "squared_error")
X4 = np.arange(4.0)[:, None]


def settings():
    """Every strategy, instruction set and number of threads."""
    settings = itertools.product(STRATEGIES, ("auto", "avx2", "portable"), (1, 2))
    for strategy, simd, n_threads in settings:
        yield fasttree.config_context(strategy=strategy, simd=simd, n_threads=n_threads)


def same_under_all(estimator, X, y, sample_weight, dense_and_sparse=True):
    """Fit under every setting, dense and sparse; the fitted estimator of the defaults."""
    expected = estimator.fit(X, y, sample_weight).tree_
    matrices = [X, sp.csc_array(X)] if dense_and_sparse else [X]
    for setting in settings():
        with setting:
            for matrix in matrices:
                assert_same(estimator.fit(matrix, y, sample_weight).tree_, expected)
    return estimator.fit(X, y, sample_weight)


def check_everything_finite(fitted, X, y, sample_weight):
    """What is derived from a tree is finite; weights are positive and fractions add up to 1."""
    tree = fitted.tree_
    for name in ("impurity", "weighted_n_node_samples", "value"):
        assert np.isfinite(getattr(tree, name)).all(), name
    assert (tree.weighted_n_node_samples > 0).all()
    assert np.isfinite(tree.improvement).all()
    assert np.isfinite(fitted.feature_importances_).all()
    assert np.isfinite(fitted.predict(X).astype(float)).all()
    assert fitted.decision_path(X).shape == (len(X), tree.node_count)
    path = fitted.cost_complexity_pruning_path(X, y, sample_weight)
    assert np.isfinite(path.ccp_alphas).all()
    assert np.isfinite(path.impurities).all()
    if hasattr(fitted, "predict_proba") and fitted.n_outputs_ == 1:
        np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0, rtol=1e-9)
    depth = max(1, tree.max_depth // 2)
    assert copy.deepcopy(fitted).prune(max_depth=depth).get_depth() <= depth
    tuned = fitted.tune(X, y, {"max_depth": range(1, max(2, tree.max_depth))}, copy=True)
    assert np.isfinite(tuned.best_score)
    assert fitted.reduced_error_prune(X, y, copy=True).tree_.node_count <= tree.node_count


# ---- negative weights


@pytest.mark.cases(400)
def test_same_tree_with_negative_weights(seed):
    problem = random_problem(seed, SIGNED_CRITERIA, rows=(2, 150))
    rng = np.random.default_rng(seed)
    weights = signed_weights(rng, len(problem.X))
    if seed % 3 == 0:
        weights *= rng.choice([1e-3, 0.3, 1e40])  # no longer a grid of few bits
    estimator = problem.estimator(fasttree.tree)
    has_missing = np.isnan(problem.X).any()
    X = problem.X if has_missing else problem.X * (rng.random(problem.X.shape) < 0.5)
    if not weights.sum() > 1e-6 * np.abs(weights).sum():
        return
    fitted = same_under_all(estimator, X, problem.y, weights)
    if fitted.ccp_alpha == 0.0:
        assert (fitted.tree_.weighted_n_node_samples > 0).all()


@pytest.mark.cases(600)
def test_best_splits_with_negative_weights(seed):
    problem = random_problem(
        seed, SIGNED_CRITERIA, ccp_alpha=0.0, splitter="best", max_leaf_nodes=None
    )
    problem.params.pop("class_weight", None)
    weights = signed_weights(np.random.default_rng(seed), len(problem.X))
    fitted = problem.estimator(fasttree.tree).fit(problem.X, problem.y, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        judge(fitted, problem.X, problem.y, weights)


@pytest.mark.cases(200)
def test_the_naive_tree_with_negative_weights(seed):
    problem = random_problem(
        seed, SIGNED_CRITERIA, exact=True, n_outputs=1, monotonic_cst=None, ccp_alpha=0.0,
        splitter="best", max_leaf_nodes=None, max_features=None,
    )  # fmt: skip
    problem.params.pop("class_weight", None)
    weights = signed_weights(np.random.default_rng(seed), len(problem.X)) * 8
    fitted = problem.estimator(fasttree.tree).fit(problem.X, problem.y, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        naive = grow(fitted, problem.X, problem.y, weights)
    assert_same(fitted.tree_, naive, (*STRUCTURE, "n_node_samples", "weighted_n_node_samples"))


@pytest.mark.cases(100)
@pytest.mark.parametrize("Tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_what_follows_from_a_tree_of_negative_weights(Tree, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)).round(1)
    y = rng.integers(0, 3, 60)
    weights = signed_weights(rng, 60)
    fitted = Tree(max_leaf_nodes=[None, 9][seed % 2]).fit(X, y, weights)
    check_everything_finite(fitted, X, y, weights)


def test_a_child_without_weight_is_no_candidate():
    y = np.array([0, 1, 1, 0])
    tree = DecisionTreeClassifier().fit(X4, y, np.array([1.0, -1.0, 2.0, 1.0])).tree_
    # 0.5 and 2.5 leave children of weight 1 and 2, 1.5 one of weight 0.
    assert tree.threshold[0] in (0.5, 2.5)
    assert (tree.weighted_n_node_samples > 0).all()
    # Of both thresholds that part the classes, one side weighs nothing or less.
    tree = DecisionTreeRegressor().fit(X4[:2], y[:2], np.array([-1.0, 2.0])).tree_
    assert tree.node_count == 1
    assert tree.value[0, 0, 0] == 2.0


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("criterion", ["entropy", "log_loss", "chi2"])
def test_criteria_of_classes_that_refuse_negative_weights(criterion, splitter):
    tree = DecisionTreeClassifier(criterion=criterion, splitter=splitter)
    with pytest.raises(ValueError, match="(?i)negative"):
        tree.fit(X4, [0, 1, 0, 1], sample_weight=[1, 1, -1, 1])


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson", "label_split"])
def test_criteria_of_numbers_that_refuse_negative_weights(criterion):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 4)), rng.random(30)
        weights = rng.normal(size=30)
        with pytest.raises(ValueError, match="(?i)negative"):
            DecisionTreeRegressor(criterion=criterion).fit(X, y, sample_weight=weights)


def test_sets_of_labels_refuse_negative_weights():
    X = np.array([["a"], ["b"], ["c"], ["d"]], dtype=object)
    weights = [1, 1, -1, 1]
    tree = DecisionTreeClassifier(categorical_split="subset")
    with pytest.raises(ValueError, match="subset.*negative"):
        tree.fit(X, [0, 1, 0, 1], weights)
    fitted = tree.set_params(categorical_split="equality").fit(X, [0, 1, 0, 1], weights)
    assert (fitted.tree_.weighted_n_node_samples > 0).all()


@pytest.mark.parametrize("weights", [[1, -1, 1, -1], [-1, -1, -1, -1], [1, 1, 1, -4]])
@pytest.mark.parametrize("Tree", [DecisionTreeClassifier, DecisionTreeRegressor, DecisionTree])
def test_weights_must_have_a_positive_sum(Tree, weights):
    with pytest.raises(ValueError, match="sum"):
        Tree().fit(X4, [0, 1, 0, 1], sample_weight=weights)


# ---- the whole range of doubles


@pytest.mark.cases(300)
def test_weights_in_any_unit(seed):
    """A power of two in the weights changes nothing but the weights."""
    problem = random_problem(seed, ccp_alpha=0.0)
    n_rows, rng = len(problem.X), np.random.default_rng(seed)
    weights = rng.integers(0, 4, n_rows) + 0.5
    expected = problem.estimator(fasttree.tree).fit(problem.X, problem.y, weights).tree_
    for exponent in (-1073, -1000, -80, 80, 900, 1023 - 10):
        scaled = np.ldexp(weights, exponent)
        tree = problem.estimator(fasttree.tree).fit(problem.X, problem.y, scaled).tree_
        names = [name for name in FIELDS if name not in ("weighted_n_node_samples", "impurity")]
        if problem.params["criterion"] == "absolute_error" or exponent > -1073:
            names.append("impurity")
        np.testing.assert_array_equal(
            tree.weighted_n_node_samples, np.ldexp(expected.weighted_n_node_samples, exponent)
        )
        assert_same(tree, expected, [n for n in names if n != "impurity"])
        np.testing.assert_allclose(tree.impurity, expected.impurity, rtol=1e-9, atol=1e-15)


@pytest.mark.cases(300)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "label_split"])
def test_targets_in_any_unit(criterion, seed):
    """A power of two in the targets scales values and impurities and changes nothing else."""
    rng = np.random.default_rng(seed)
    n_rows, n_outputs = int(rng.integers(2, 60)), int(rng.choice([1, 2]))
    X = rng.normal(size=(n_rows, 3)).round(int(rng.integers(0, 3)))
    y = rng.random((n_rows, 1 if criterion == "label_split" else n_outputs)) + 0.1
    weights = rng.random(n_rows) + 0.1 if seed % 20 == 0 else None
    degree = 1 if criterion in ("absolute_error", "poisson") else 2
    estimator = DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=[None, 7][seed % 2])
    expected = estimator.fit(X, y, weights).tree_
    for exponent in (-900, -530, -300, 300, 500 if degree == 2 else 1000):
        tree = estimator.fit(X, np.ldexp(y, exponent), weights).tree_
        assert_same(tree, expected, (*STRUCTURE, "n_node_samples", "weighted_n_node_samples"))
        np.testing.assert_array_equal(tree.value, np.ldexp(expected.value, exponent))
        np.testing.assert_array_equal(tree.impurity, np.ldexp(expected.impurity, degree * exponent))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.cases(100)
def test_weights_of_any_size(criterion, seed):
    """Subnormal, huge and mixed: one tree, and nothing infinite."""
    problem = random_problem(seed, [criterion], n_outputs=1, ccp_alpha=0.0, max_leaf_nodes=None)
    problem.params.pop("class_weight", None)
    rng, n_rows = np.random.default_rng(seed), len(problem.X)
    sizes = [[SMALLEST], [1e300], [SMALLEST, 1e300], [SMALLEST, 1e-310, 1.0], [1e-300, 1e300]]
    weights = rng.integers(0, 4, n_rows) * rng.choice(sizes[seed // 10 % 5], n_rows)
    weights[0] = max(weights[0], SMALLEST)
    if criterion in SIGNED_CRITERIA and seed % 20 == 0:
        weights[weights < weights.max()] *= rng.choice([-1, 1], (weights < weights.max()).sum())
        if (weights > 0).sum() == 0 or weights.sum() <= 0:
            weights = np.abs(weights)
    estimator = problem.estimator(fasttree.tree)
    X = np.nan_to_num(problem.X)
    fitted = same_under_all(estimator, X, problem.y, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # R2 of a constant
        check_everything_finite(fitted, X, problem.y, weights)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "label_split"])
@pytest.mark.cases(100)
def test_targets_of_any_size(criterion, seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 60))
    X = rng.normal(size=(n_rows, 3)).round(1)
    sizes = [[SMALLEST], [1e-160], [1e300], [1.7e308], [SMALLEST, 1e-160, 1.0, 1e60], [1e120]]
    y = rng.random(n_rows).round(int(rng.integers(1, 9))) * rng.choice(
        sizes[seed // 10 % 6], n_rows
    )
    if criterion != "poisson":
        y *= rng.choice([-1, 1], n_rows)
    elif not y.any():
        y[0] = SMALLEST
    weights = rng.integers(1, 4, n_rows) * 1.0 if seed % 20 else None
    estimator = DecisionTreeRegressor(criterion=criterion)
    if np.ptp(y / 2) > 1e140 and criterion in ("squared_error", "label_split"):
        with pytest.raises(ValueError, match="targets are too large"):
            estimator.fit(X, y, weights)
        return
    fitted = same_under_all(estimator, X, y, weights)
    assert np.isfinite(fitted.tree_.impurity).all()
    assert np.isfinite(fitted.tree_.value).all()
    assert np.isfinite(fitted.feature_importances_).all()


def test_targets_whose_squares_overflow_are_refused():
    y = np.array([1e300, -1e300, 3e299, 0.0])
    with pytest.raises(ValueError, match="targets are too large"):
        DecisionTreeRegressor().fit(X4, y)
    tree = DecisionTreeRegressor(criterion="absolute_error").fit(X4, y)
    np.testing.assert_array_equal(tree.predict(X4), y)
    with fasttree.config_context(sklearn_random_stream=True):
        with pytest.raises(ValueError, match="too large.*scikit-learn"):
            DecisionTreeRegressor().fit(X4, y)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_weights_whose_sum_overflows_are_refused(criterion):
    Tree = DecisionTreeClassifier if criterion in ("gini", "entropy") else DecisionTreeRegressor
    tree = Tree(criterion=criterion, min_weight_fraction_leaf=0.1)
    with pytest.raises(ValueError, match="too large"):
        tree.fit(X4, [0, 1, 0, 1], sample_weight=np.full(4, 1e308))


def test_a_fraction_of_subnormal_weights():
    y, weights = np.array([0, 1, 1, 1]), np.array([1, 3, 3, 3]) * SMALLEST
    tree = DecisionTreeClassifier(min_weight_fraction_leaf=0.2).fit(X4, y, weights).tree_
    assert tree.threshold[0] == 1.5


def test_integer_weights_and_targets_on_a_lattice_do_not_overflow():
    """Weights of 2**50 times targets of 2**20 steps."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2**20, 200) / 8
    weights = rng.integers(2**44, 2**45, 200).astype(float)
    tree = DecisionTreeRegressor().fit(X, y, weights).tree_
    assert tree.value[0, 0, 0] == pytest.approx(np.average(y, weights=weights), rel=1e-12)


def test_many_outputs_with_weights():
    """Squares of the class weights, summed over the outputs, stay within 128 bits."""
    rng = np.random.default_rng(0)
    X, y = np.arange(40.0)[:, None], np.tile(np.arange(40)[:, None] >= 10, 80).astype(int)
    weights = rng.random(40) + 1.0
    assert DecisionTreeClassifier().fit(X, y, weights).tree_.threshold[0] == 9.5


@pytest.mark.cases(300)
@pytest.mark.parametrize("strategy", ["presort", "count", "sort"])
def test_the_same_target_twice(seed, strategy):
    """What screens many outputs must see a light side beside a heavy one."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(3, 60))
    X = rng.normal(size=(n_rows, 3))
    y = X[:, 0] + rng.normal(size=n_rows)
    weights = 10.0 ** rng.uniform(-15, 15, n_rows) if seed // 10 % 2 else np.ones(n_rows)
    weights[0] = 10.0 ** rng.integers(8, 20)
    with fasttree.config_context(strategy=strategy):
        one = DecisionTreeRegressor().fit(X, y, weights).tree_
        two = DecisionTreeRegressor().fit(X, np.column_stack([y, y]), weights).tree_
    np.testing.assert_array_equal(one.threshold, two.threshold)


@pytest.mark.parametrize("unit", [1e-42, 1e-44, 1e-46, 1e-48])
def test_an_output_that_is_tiny_beside_another(unit):
    rng = np.random.default_rng(0)
    is_high = np.arange(300) >= 150
    y = np.zeros((300, 2))
    y[0, 0], y[:, 1] = 1.0, unit * (is_high + rng.normal(size=300) * 0.05)
    poor = np.where(rng.random(300) < 0.3, ~is_high, is_high) + rng.random(300) * 0.1
    X = np.column_stack([poor, np.arange(300), rng.normal(size=(300, 6))])
    X[0] = -1000.0
    for strategy in ("auto", "presort", "count", "sort"):
        with fasttree.config_context(strategy=strategy):
            tree = DecisionTreeRegressor(max_depth=2).fit(X, y).tree_
        assert list(tree.feature[[0, 2]]) == [0, 1]
        assert tree.threshold[2] == 149.5


def test_no_deviance_is_negative():
    """The grid rounds weights that are 19 powers of ten below others, and with them the mean."""
    X, y, weights = [[0.0], [1.0], [1.0]], [3.0, 3.0, 2.0], [1e296, 1e277, 1e285]
    tree = DecisionTreeRegressor(criterion="poisson").fit(X, y, weights).tree_
    assert tree.impurity.min() == 0.0


def test_a_column_of_extreme_weights():
    x, y = np.arange(20.0), np.arange(20) >= 7
    for unit in (SMALLEST, 1e300):
        weights = np.full(20, unit)
        assert best_split(x, y, sample_weight=weights).threshold == 6.5
        for criterion in ("gini", "entropy", "chi2", "squared_error", "label_split"):
            scores = feature_scores(x[:, None], y * 1.0, criterion=criterion, sample_weight=weights)
            expected = feature_scores(x[:, None], y * 1.0, criterion=criterion)
            np.testing.assert_allclose(scores, expected, rtol=1e-12)


# ---- class_weight


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf, -1, -0.5, 10**400])
@pytest.mark.parametrize(
    "Tree",
    [DecisionTreeClassifier, ExtraTreeClassifier, DecisionTree, OptimalDecisionTreeClassifier],
)
def test_class_weights_that_are_refused(Tree, weight):
    y = np.array([0, 1, 0, 1])
    with pytest.raises(ValueError, match="class_weight"):
        Tree(class_weight={0: weight}).fit(X4, y)
    if Tree is not OptimalDecisionTreeClassifier:
        with pytest.raises(ValueError, match="class_weight"):
            Tree(class_weight=[{0: 1.0}, {1: weight}]).fit(X4, np.column_stack([y, y]))


@pytest.mark.parametrize("weight", ["heavy", None, 1j, [1.0]])
@pytest.mark.parametrize("Tree", [DecisionTreeClassifier, OptimalDecisionTreeClassifier])
def test_class_weights_that_are_no_numbers(Tree, weight):
    with pytest.raises(TypeError, match="class_weight"):
        Tree(class_weight={0: weight}).fit(X4, [0, 1, 0, 1])


@pytest.mark.parametrize("Tree", [DecisionTreeClassifier, OptimalDecisionTreeClassifier])
def test_products_of_weights_that_overflow(Tree):
    with pytest.raises(ValueError, match="class_weight"):
        Tree(class_weight={0: 1e200}).fit(X4, [0, 1, 0, 1], sample_weight=np.full(4, 1e200))


# ---- optimal trees


@pytest.mark.parametrize("unit", [SMALLEST, 1e-310, 1e-300, 1e300])
def test_optimal_trees_of_weights_in_any_unit(unit):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 3)), rng.integers(0, 2, 60)
    weights = rng.integers(1, 4, 60)
    expected = OptimalDecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight=weights)
    fitted = OptimalDecisionTreeClassifier(max_depth=2).fit(X, y, sample_weight=weights * unit)
    assert fitted.objective_ == expected.objective_
    assert_same(fitted.tree_, expected.tree_, STRUCTURE)
    np.testing.assert_allclose(
        fitted.tree_.weighted_n_node_samples, expected.tree_.weighted_n_node_samples * unit,
        rtol=1e-12,
    )  # fmt: skip


def test_optimal_trees_of_weights_far_apart():
    y, weights = np.array([0, 1, 0, 1]), np.array([SMALLEST, 1.0, 1e300, 1e300])
    fitted = OptimalDecisionTreeClassifier(max_depth=2).fit(X4, y, sample_weight=weights)
    assert np.isfinite(fitted.tree_.weighted_n_node_samples).all()
    np.testing.assert_allclose(fitted.predict_proba(X4).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="too large"):
        OptimalDecisionTreeClassifier().fit(X4, y, sample_weight=np.full(4, 1e308))


@pytest.mark.parametrize("sign", [1, -1])
def test_sums_that_are_zero_but_for_rounding_count_as_zero(sign):
    """0.1 + 0.2 - 0.3 is 2**-54 in doubles."""
    weights = np.array([0.1, 0.2, -0.3, 5.0, 7.0])
    tree = (
        DecisionTreeClassifier()
        .fit([[0.0], [0.0], [0.0], [1.0], [2.0]], [0, 1, 0, 0, 1], weights)
        .tree_
    )
    assert tree.weighted_n_node_samples.min() > 1.0
    assert np.abs(tree.value).max() < 10.0
    with pytest.raises(ValueError, match="sum of the sample weights"):
        DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 0], sign * weights[:3])


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
@pytest.mark.parametrize("exponent", [-60, -100, -670, -1000])
def test_a_leaf_whose_weight_is_nothing_beside_the_others_has_the_mean_of_its_targets(
    criterion, exponent
):
    X = np.arange(4.0)[:, None]
    y = np.array([3.0, 3.0, 5.25, 5.25])
    w = np.array([1.0, 1.0, 2.0**exponent, 2.0**exponent])
    tree = DecisionTreeRegressor(criterion=criterion).fit(X, y, w)
    if tree.get_n_leaves() > 1:
        np.testing.assert_allclose(tree.predict(X), y, rtol=1e-9)
    else:
        np.testing.assert_allclose(tree.predict(X), 3.0)
