"""Default mode: every split is the best split, ties follow the rule, limits only cut the tree."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fasttree.tree
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from reference.grow import grow
from reference.judge import judge
from reference.naive_hybrid import worth
from reference.problems import random_problem
from reference.trees import STRUCTURE, assert_preorder, assert_same, assert_top

# What makes a tree a function of the data alone.
DETERMINED = dict(splitter="best", max_features=None)
UNLIMITED = dict(max_depth=None, max_leaf_nodes=None, ccp_alpha=0.0)


@pytest.mark.cases(2000)
def test_every_split_is_the_best_split(seed):
    problem = random_problem(seed, ccp_alpha=0.0)
    fitted = problem.fit(fasttree.tree)
    judge(fitted, problem.X, problem.y, problem.sample_weight)
    assert_preorder(fitted.tree_)


@pytest.mark.cases(2000)
def test_every_feature_counts(seed):
    """As above, with nothing drawn: the judge then knows all candidates of every node."""
    problem = random_problem(seed + 10_000, **DETERMINED, ccp_alpha=0.0)
    judge(problem.fit(fasttree.tree), problem.X, problem.y, problem.sample_weight)


@pytest.mark.cases(100)
@pytest.mark.parametrize("criterion", ["entropy", "chi2"])
def test_the_best_split_of_many_classes(seed, criterion):
    """Scores that look at every class are estimated where there are many."""
    rng = np.random.default_rng([seed, 7])
    n_rows, least = int(rng.integers(60, 250)), float(rng.choice([0.0, 0.2]))
    y = rng.integers(0, rng.integers(17, 60), n_rows)
    X = np.column_stack([rng.normal(size=n_rows), y + 30 * rng.random(n_rows)]).astype(np.float32)
    X[rng.random(X.shape) < rng.choice([0.0, 0.1])] = np.nan
    weight = rng.integers(1, 4, n_rows) if rng.random() < 0.5 else rng.random(n_rows) + 0.1
    stump = fasttree.tree.DecisionTreeClassifier(
        criterion=criterion, max_depth=1, min_weight_fraction_leaf=least
    ).fit(X, y, sample_weight=weight)
    sides = []
    for x in X.T:
        missing = np.isnan(x)
        left = x <= np.unique(x[~missing])[:, None]
        sides += [*left, *(left | missing)]
    share_left = np.array(sides) @ weight / weight.sum()
    allowed = (share_left > 0) & (share_left < 1)
    allowed &= np.minimum(share_left, 1 - share_left) >= least
    candidates = np.vstack([stump.apply(X) == 1, np.array(sides)[allowed]])
    scores = worth(criterion, y[:, None], weight, candidates)
    assert scores[0] >= scores.max() * (1 - 1e-12)


@pytest.mark.cases(500)
def test_the_naive_tree_is_grown(seed):
    """Where scores are exact the whole structure is determined, ties included."""
    problem = random_problem(
        seed, ("squared_error",), exact=True, n_outputs=1, **DETERMINED, **UNLIMITED
    )
    fitted = problem.fit(fasttree.tree)
    naive = grow(fitted, problem.X, problem.y, problem.sample_weight)
    assert_same(fitted.tree_, naive, (*STRUCTURE, "n_node_samples", "weighted_n_node_samples"))


@pytest.mark.cases(500)
def test_max_depth_cuts_the_unlimited_tree(seed):
    """Also when features, thresholds and missing sides are drawn: draws belong to nodes."""
    problem = random_problem(seed, **UNLIMITED)
    whole = problem.fit(fasttree.tree).tree_
    for depth in range(1, min(whole.max_depth, 5) + 1):
        assert_top(problem.fit(fasttree.tree, max_depth=depth).tree_, whole, depth)


@pytest.mark.cases(200)
def test_more_leaves_extend_the_tree(seed):
    """Best-first: a larger budget keeps every split; without one, depth-first's tree."""
    problem = random_problem(seed, **UNLIMITED)
    whole = problem.fit(fasttree.tree).tree_
    smaller = splits_by_path(problem.fit(fasttree.tree, max_leaf_nodes=3).tree_)
    larger = splits_by_path(problem.fit(fasttree.tree, max_leaf_nodes=6).tree_)
    assert smaller.items() <= larger.items() <= splits_by_path(whole).items()
    assert_same(problem.fit(fasttree.tree, max_leaf_nodes=whole.n_leaves + 1).tree_, whole)


def splits_by_path(tree):
    """{path from the root: (feature, threshold, missing side)} of the nodes that are split."""
    splits, stack = {}, [(0, "")]
    while stack:
        node, path = stack.pop()
        if tree.children_left[node] != -1:
            splits[path] = tuple(
                getattr(tree, name)[node].item()
                for name in ("feature", "threshold", "missing_go_to_left")
            )
            stack.append((tree.children_left[node], path + "L"))
            stack.append((tree.children_right[node], path + "R"))
    return splits


@pytest.mark.cases(200)
def test_random_state_changes_nothing_when_nothing_is_drawn(seed):
    problem = random_problem(seed, **DETERMINED)
    trees = [problem.fit(fasttree.tree, random_state=state).tree_ for state in (0, 1, None)]
    assert_same(trees[1], trees[0])
    assert_same(trees[2], trees[0])


@pytest.mark.cases(200)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("change", [lambda y: y + 1e8, lambda y: y * 1e-8, lambda y: -y])
def test_location_and_scale_of_targets_do_not_matter(seed, criterion, change):
    """Integer targets, continuous features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rng.integers(2, 100), rng.integers(1, 5)))
    y = rng.integers(0, rng.choice([2, 10, 1000]), len(X))
    params = dict(criterion=criterion, min_samples_leaf=int(rng.integers(1, 4)))
    tree = fasttree.tree.DecisionTreeRegressor(**params).fit(X, y).tree_
    changed = fasttree.tree.DecisionTreeRegressor(**params).fit(X, change(y.astype(float))).tree_
    assert_same(changed, tree, (*STRUCTURE, "n_node_samples"))


@pytest.mark.cases(200)
def test_layout_and_type_of_the_table_do_not_matter(seed):
    problem = random_problem(seed)
    tree = problem.fit(fasttree.tree).tree_
    original = problem.X
    for order in "CF":
        for dtype in (np.float32, np.float64):
            problem.X = np.array(original, dtype=dtype, order=order)
            problem.X.flags.writeable = False
            assert_same(problem.fit(fasttree.tree).tree_, tree)
    strided = np.full((2 * len(original), original.shape[1] + 1), np.inf, dtype=original.dtype)
    strided[::2, 1:] = original
    problem.X = strided[::2, 1:]
    assert_same(problem.fit(fasttree.tree).tree_, tree)


@pytest.mark.parametrize("step", [-1, 0, 1, 2])
@pytest.mark.parametrize("n_values", [5, 300, 5000])
def test_rows_that_overlap_are_like_any_others(step, n_values):
    """As those of a sliding window."""
    rng = np.random.default_rng(n_values)
    n, n_columns = 3000, 12
    numbers = rng.integers(0, n_values, 2 * n + n_columns).astype(np.float32)
    first = numbers[n if step < 0 else 0 :]
    X = np.lib.stride_tricks.as_strided(first, (n, n_columns), (4 * step, 4), writeable=False)
    y, weight = rng.integers(0, 3, n), rng.integers(0, 3, n)
    for sample_weight in (None, weight):
        trees = [
            fasttree.tree.DecisionTreeClassifier(random_state=0).fit(rows, y, sample_weight).tree_
            for rows in (X, X.copy())
        ]
        assert_same(*trees)


def exact_absolute_error(y):
    """About the median, as a fraction."""
    y = sorted(map(Fraction, y.tolist()))
    return sum((abs(value - y[len(y) // 2]) for value in y), Fraction(0))


@pytest.mark.cases(300)
def test_equal_absolute_errors_tie(seed):
    """Targets are any numbers: which rows they belong to makes many splits equally good."""
    rng = np.random.default_rng([seed, 268])
    n = rng.integers(3, 10)
    X, y = rng.integers(0, 4, (n, 3)).astype(float), rng.normal(size=n)
    splits = [
        (exact_absolute_error(y[x <= low]) + exact_absolute_error(y[x > low]), feature, low)
        for feature, x in enumerate(X.T)
        for low in np.unique(x)[:-1]
    ]
    tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y).tree_
    if splits:
        _, feature, low = min(splits)
        assert (tree.feature[0], (tree.threshold[0] > X[:, feature]).sum()) == (
            feature,
            (X[:, feature] <= low).sum(),
        )


@pytest.mark.cases(200)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "gini"])
def test_a_weight_that_all_rows_have_changes_nothing(seed, criterion):
    rng = np.random.default_rng([seed, 269])
    n = rng.integers(3, 30)
    X = rng.integers(0, 4, (n, 3)).astype(float)
    y = rng.integers(0, 10, n) / (1 if criterion == "gini" else 10)
    y[0] = 1.0
    Tree = DecisionTreeClassifier if criterion == "gini" else DecisionTreeRegressor
    expected = Tree(criterion=criterion).fit(X, y).tree_
    for weight in (0.5, 0.375, 6.0):
        tree = Tree(criterion=criterion).fit(X, y, np.full(n, weight)).tree_
        assert_same(tree, expected, (*STRUCTURE, "n_node_samples"))


@pytest.mark.cases(200)
def test_rows_may_come_in_any_order(seed):
    """Impurities are summed in the order of the rows, so only their last bits may differ."""
    problem = random_problem(seed, ccp_alpha=0.0, min_impurity_decrease=0.0)
    tree = problem.fit(fasttree.tree).tree_
    order = np.random.default_rng(seed).permutation(len(problem.X))
    problem.X, problem.y = problem.X[order], problem.y[order]
    if problem.sample_weight is not None:
        problem.sample_weight = problem.sample_weight[order]
    other = problem.fit(fasttree.tree).tree_
    assert_same(other, tree, (*STRUCTURE, "n_node_samples", "weighted_n_node_samples", "value"))
    assert_allclose(other.impurity, tree.impurity, rtol=1e-13, atol=1e-13)


@pytest.mark.cases(200)
def test_pruned_tree_is_part_of_the_whole(seed):
    problem = random_problem(seed, ccp_alpha=0.0)
    whole = problem.fit(fasttree.tree)
    path = problem.estimator(fasttree.tree).cost_complexity_pruning_path(
        problem.X, problem.y, problem.sample_weight
    )
    assert_array_equal(np.sort(path.ccp_alphas), path.ccp_alphas)
    alpha = float(path.ccp_alphas[len(path.ccp_alphas) // 2])
    pruned = problem.fit(fasttree.tree, ccp_alpha=max(alpha, 0.0))
    assert splits_by_path(pruned.tree_).items() <= splits_by_path(whole.tree_).items()
    assert_preorder(pruned.tree_)
