"""Speed never changes the tree: every strategy and any number of threads grow the same one.

And nothing is lost: the replay of scikit-learn and the naive judge hold under each of them.
"""

import itertools

import numpy as np
import pytest
import sklearn.tree

import fasttree
import fasttree.ensemble
import fasttree.tree
from reference.judge import judge
from reference.problems import random_problem
from reference.trees import assert_same

STRATEGIES = ("auto", "presort", "count", "sort")
THREADS = (1, 2, 4)
# Enough rows for every phase of growth.
LARGE = (8_000, 25_000)

each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def same_under_all(problem):
    expected = problem.fit(fasttree.tree)
    for strategy in STRATEGIES:
        for n_threads in THREADS:
            with fasttree.config_context(strategy=strategy, n_threads=n_threads):
                fitted = problem.fit(fasttree.tree)
                assert_same(fitted.tree_, expected.tree_)
                for method in ("predict", "apply"):
                    np.testing.assert_array_equal(
                        getattr(fitted, method)(problem.X), getattr(expected, method)(problem.X)
                    )


@pytest.mark.cases(500)
def test_same_tree(seed):
    same_under_all(random_problem(seed, rows=(2, 100)))


@pytest.mark.cases(100)
def test_same_tree_on_larger_data(seed):
    same_under_all(random_problem(seed, rows=LARGE, min_samples_leaf=5))


@pytest.mark.cases(300)
def test_same_tree_of_columns_of_two_values(seed):
    same_under_all(random_problem(seed, rows=(2, 300), one_hot=True))


@pytest.mark.cases(40)
def test_same_tree_of_columns_of_two_values_on_larger_data(seed):
    same_under_all(random_problem(seed, rows=LARGE, min_samples_leaf=5, one_hot=True))


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
@pytest.mark.parametrize(
    "parameters", [{}, {"max_features": 1}, {"max_leaf_nodes": 40}, {"min_samples_leaf": 100}]
)
@pytest.mark.parametrize("with_missing", [False, True])
def test_same_tree_of_lists_that_are_given_back(name, parameters, with_missing):
    n_rows = (1 << 19) + 100  # each list takes more than a huge page
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 2), dtype=np.float32)
    y = np.round(X.sum(axis=1) + rng.standard_normal(n_rows, dtype=np.float32)).clip(0, 1)
    if with_missing:
        X[rng.random(X.shape) < 0.01] = np.nan
    tree = getattr(fasttree.tree, name)(random_state=0, **parameters)
    # Several threads give nothing back.
    expected = tree.set_params(n_jobs=2).fit(X, y).tree_
    assert_same(tree.set_params(n_jobs=1).fit(X, y).tree_, expected)


@pytest.mark.parametrize("n_rows", [1, 2, 255, 256, 257, 600, 5000])
def test_same_tree_whichever_way_values_are_told_apart(n_rows):
    rng = np.random.default_rng(n_rows)
    X = np.column_stack(
        [
            rng.choice([-0.0, 0.0, np.nan, -np.nan, 1.0, -1e-45], n_rows),
            rng.permutation(n_rows) - n_rows // 2,
            rng.integers(0, 250, n_rows),
            np.arange(n_rows) * 500 // n_rows,  # few in every part of 2,500 rows, many in all
            np.append(np.ones(n_rows), [np.nan, 0.0, -0.0])[-n_rows:],  # rare, and at the end
            # Far closer to each other than to the last.
            np.append(1 + rng.permutation(n_rows - 1) * 2.0**-23, 1e30),
        ]
    )
    y = rng.integers(0, 3, n_rows)
    for order in "CF":
        trees = []
        for strategy, n_threads in itertools.product(STRATEGIES, THREADS):
            with fasttree.config_context(strategy=strategy, n_threads=n_threads):
                fitted = fasttree.tree.DecisionTreeClassifier().fit(np.array(X, order=order), y)
            trees.append(fitted.tree_)
            assert_same(fitted.tree_, trees[0])
        if n_rows < 1000:
            judge(fitted, X, y, None)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "chi2"])
@pytest.mark.parametrize("n_classes", [2, 5, 30])
@pytest.mark.parametrize("n_columns", [1, 3, 5])
def test_same_tree_of_columns_that_mostly_hold_one_value(n_columns, n_classes, criterion):
    """Runs of most rows are passed over, and threads share lists; equal splits are many."""
    for seed in range(3):
        rng = np.random.default_rng([n_columns, n_classes, seed])
        X = rng.normal(size=(6000, n_columns)).astype(np.float32)
        for column in X.T:
            common = rng.choice([0, -5, 5, np.nan])
            column[rng.random(len(column)) < rng.choice([0.45, 0.6, 0.95])] = common
        y = np.abs(np.nan_to_num(X)).sum(axis=1) + rng.normal(size=len(X))
        y = np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))
        if seed > 0:  # what is said of low values is said of high ones, too
            X, y = np.append(X, -X, axis=0), np.append(y, y)
        model = fasttree.tree.DecisionTreeClassifier(
            criterion=criterion, max_depth=6, min_samples_leaf=int(rng.choice([1, 500]))
        )
        with fasttree.config_context(strategy="count"):
            expected = model.fit(X, y).tree_
        for strategy, n_threads in itertools.product(("auto", "presort"), (1, 2, 3, 4)):
            with fasttree.config_context(strategy=strategy, n_threads=n_threads):
                assert_same(model.fit(X, y).tree_, expected)


def many_classes(n_rows, n_classes):
    """Some columns about a target of so many classes."""
    rng = np.random.default_rng(0)
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes))
    columns = [rng.normal(size=n_rows), y % 7 + rng.integers(0, 3, n_rows), y % 2]
    return np.column_stack(columns), y


@pytest.mark.parametrize("criterion", ["gini", "entropy", "chi2"])
def test_same_tree_of_very_many_classes(criterion):
    X, y = many_classes(1500, 400)
    trees = []
    for strategy, n_threads in itertools.product(STRATEGIES, THREADS):
        with fasttree.config_context(strategy=strategy, n_threads=n_threads):
            fitted = fasttree.tree.DecisionTreeClassifier(criterion=criterion).fit(X, y)
        trees.append(fitted.tree_)
        assert_same(fitted.tree_, trees[0])
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "chi2"])
def test_classes_that_a_node_does_not_hold_do_not_matter(criterion):
    """With very many classes nodes of few rows look at their own only. Rows of zero weight bring
    classes that no node holds."""
    X, y = many_classes(1000, 200)
    model = fasttree.tree.DecisionTreeClassifier(criterion=criterion)
    few = model.fit(X, y, sample_weight=np.ones(1000)).tree_
    absent = np.repeat(np.arange(600), 2)
    many = model.fit(
        np.vstack([X, X[absent % 7]]),
        np.append(y, 200 + absent),
        np.repeat([1.0, 0.0], [1000, 1200]),
    ).tree_
    assert (many.nodes == few.nodes).all()
    assert (many.value[:, :, :200] == few.value).all()
    assert (many.value[:, :, 200:] == 0.0).all()


def test_very_many_classes_of_one_output_and_of_two():
    X, y = many_classes(2000, 500)
    one = fasttree.tree.DecisionTreeClassifier().fit(X, y).tree_
    two = fasttree.tree.DecisionTreeClassifier().fit(X, np.column_stack([y, y])).tree_
    assert (one.nodes == two.nodes).all()
    assert (two.value == one.value).all()


def test_same_tree_of_many_columns_and_labels():
    """More columns than are sorted at a time; labels that only some part of the rows has."""
    n_rows, rng = 5000, np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 40)).astype(object)
    X[:, 3] = np.where(np.arange(n_rows) < 2500, "early", "late")
    X[rng.integers(0, n_rows, 900), 3] = "any"
    X[-5:, 3] = [None, "last", -1.0, 0.0, "last"]
    y = (X[:, 7].astype(float) > 0.3) + 2 * (X[:, 3] == "late") + (X[:, 39].astype(float) > 1)
    expected = fasttree.tree.DecisionTreeClassifier().fit(X, y).tree_
    assert 3 in expected.feature
    for strategy in STRATEGIES:
        for n_threads in THREADS:
            with fasttree.config_context(strategy=strategy, n_threads=n_threads):
                fitted = fasttree.tree.DecisionTreeClassifier().fit(X, y)
            assert_same(fitted.tree_, expected)


def check_instruction_sets(problem):
    expected = problem.fit(fasttree.tree).tree_
    for simd in ("avx2", "portable"):
        with fasttree.config_context(simd=simd):
            assert_same(problem.fit(fasttree.tree).tree_, expected)


@pytest.mark.cases(500)
def test_same_tree_on_any_processor(seed):
    check_instruction_sets(random_problem(seed, rows=(2, 2000)))


@pytest.mark.cases(300)
def test_same_tree_of_columns_of_two_values_on_any_processor(seed):
    check_instruction_sets(random_problem(seed, rows=(2, 3000), one_hot=True))


@pytest.mark.parametrize("n_classes", [2, 3, 9, 70])
@pytest.mark.parametrize("n_codes", [12, 70])
def test_large_nodes_of_nearly_one_class_on_any_processor(n_classes, n_codes):
    """Rows that have most codes in common, some columns of many values, some cells missing."""
    rng = np.random.default_rng(n_classes)
    n = 12_000
    y = np.where(rng.random(n) < 0.03, rng.integers(0, n_classes, n), 1)
    codes = rng.integers(0, 30, (n, n_codes)) * (rng.random((n, n_codes)) < 0.05)
    X = np.column_stack([codes, rng.normal(size=(n, 4)) + (y == 0)[:, None]]).astype(np.float32)
    X[rng.random(n) < 0.01, n_codes] = np.nan
    for kwargs in ({}, {"min_samples_leaf": 20}, {"criterion": "entropy"}):
        tree = fasttree.tree.DecisionTreeClassifier(**kwargs)
        with fasttree.config_context(simd="portable"):
            expected = tree.fit(X, y).tree_
        assert expected.node_count > 50
        for simd, strategy, n_jobs in itertools.product(
            ("avx2", "auto"), ("auto", "presort", "count"), (1, 2)
        ):
            with fasttree.config_context(simd=simd, strategy=strategy):
                assert_same(tree.set_params(n_jobs=n_jobs).fit(X, y).tree_, expected)


def test_small_counts_beside_large_ones_on_any_processor():
    X = np.random.default_rng(0).permutation(100).reshape(-1, 1)
    y = np.where(X[:, 0] < 50, 1.0, 1e-15)
    tree = fasttree.tree.DecisionTreeRegressor(criterion="poisson")
    with fasttree.config_context(simd="portable"):
        portable = tree.fit(X, y).tree_
    assert portable.threshold[0] == 49.5
    assert_same(tree.fit(X, y).tree_, portable)


@pytest.mark.cases(50)
@pytest.mark.parametrize("n_jobs", [2, -1])
def test_same_tree_with_n_jobs(seed, n_jobs):
    problem = random_problem(seed, rows=LARGE, min_samples_leaf=5)
    assert_same(problem.fit(fasttree.tree, n_jobs=n_jobs).tree_, problem.fit(fasttree.tree).tree_)


@each_strategy
@pytest.mark.cases(2000)
def test_replay(seed, strategy):
    problem = random_problem(seed, exact=True)
    with fasttree.config_context(strategy=strategy, sklearn_random_stream=True):
        ours = problem.fit(fasttree.tree)
    assert_same(ours.tree_, problem.fit(sklearn.tree).tree_)


@pytest.mark.cases(300)
def test_replay_of_columns_of_two_values(seed):
    problem = random_problem(seed, exact=True, one_hot=True)
    with fasttree.config_context(sklearn_random_stream=True):
        ours = problem.fit(fasttree.tree)
    assert_same(ours.tree_, problem.fit(sklearn.tree).tree_)


@each_strategy
@pytest.mark.cases(2000)
def test_every_split_is_the_best_split(seed, strategy):
    problem = random_problem(seed, ccp_alpha=0.0)
    with fasttree.config_context(strategy=strategy):
        fitted = problem.fit(fasttree.tree)
    judge(fitted, problem.X, problem.y, problem.sample_weight)


@pytest.mark.cases(200)
def test_every_split_on_two_values_is_the_best_split(seed):
    problem = random_problem(seed, one_hot=True, ccp_alpha=0.0)
    judge(problem.fit(fasttree.tree), problem.X, problem.y, problem.sample_weight)


@pytest.mark.parametrize("n_rows", [40, 130, 700, 6000])
@pytest.mark.parametrize("n_classes", [2, 9])
def test_same_tree_by_keys(n_rows, n_classes):
    """Nodes that look at few features: values few and many, a heavy one, none told apart by the
    buckets that they are counted in."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 12)).astype(np.float32)
    X[:, 1] = np.where(rng.random(n_rows) < 0.7, 0, X[:, 1])
    X[:, 2] = rng.integers(0, 5, n_rows)
    X[:, 3] = rng.integers(0, 200, n_rows)
    X[:, 4] = np.arange(n_rows) // 3 * 1e-6 + 1
    X[:, 5] = np.exp(5 * X[:, 5])
    noise = rng.normal(size=n_rows)
    y = np.argsort(np.argsort(X[:, 0] + X[:, 1] + X[:, 3] / 90 + noise)) * n_classes // n_rows
    bootstrap = np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)
    for weight in (None, bootstrap, 300.0 * bootstrap, bootstrap * 0.3):
        trees = []
        for strategy, simd in itertools.product(STRATEGIES, ("auto", "avx2", "portable")):
            model = fasttree.tree.DecisionTreeClassifier(max_features=2, random_state=0)
            with fasttree.config_context(strategy=strategy, simd=simd):
                trees.append(model.fit(X, y, sample_weight=weight).tree_)
            assert_same(trees[-1], trees[0])


@pytest.mark.parametrize("n_rows", [50, 3000])
@pytest.mark.parametrize("largest", [1.0, 2.0**40])
def test_same_regression_with_weights(n_rows, largest):
    """Whatever the weights and sums of rows: few fit one word, those of an outlier do not."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32)
    X[:, 1] = np.round(X[:, 1], 1)
    y = X[:, 0] + X[:, 1] + rng.normal(size=n_rows)
    y[0] = largest
    bootstrap = np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)
    for weight in (bootstrap, 31 * (bootstrap > 0), 32 * (bootstrap > 0), bootstrap * 0.3):
        trees = []
        for strategy, simd in itertools.product(STRATEGIES, ("auto", "avx2", "portable")):
            model = fasttree.tree.DecisionTreeRegressor()
            with fasttree.config_context(strategy=strategy, simd=simd):
                trees.append(model.fit(X, y, sample_weight=weight).tree_)
            assert_same(trees[-1], trees[0])


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "poisson"])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("categorical_split", ["equality", "subset"])
@pytest.mark.parametrize("min_samples_leaf", [1, 4])
def test_same_tree_of_two_categories(criterion, n_classes, categorical_split, min_samples_leaf):
    """Or of one and missing values: vectors look at small nodes before they are scanned."""
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 2, (500, 7)).astype(object)
    X[:, 5] = np.where(rng.random(500) < 0.3, np.nan, X[:, 5])
    X[:, 6] = np.where(rng.random(500) < 0.5, np.nan, 1)
    y = (X[:, 0] ^ X[:, 1]) + 2 * X[:, 2] + (rng.random(500) < 0.2)
    y = y.astype(int) % n_classes
    kind = "DecisionTreeClassifier" if criterion == "gini" else "DecisionTreeRegressor"
    model = getattr(fasttree.tree, kind)(
        criterion=criterion,
        categorical_features=list(range(7)),
        categorical_split=categorical_split,
        min_samples_leaf=min_samples_leaf,
    )
    for weight in (None, rng.integers(1, 4, 500)):
        trees = []
        for strategy, simd in itertools.product(STRATEGIES, ("auto", "avx2", "portable")):
            with fasttree.config_context(strategy=strategy, simd=simd):
                trees.append(model.fit(X, y, sample_weight=weight).tree_)
            assert_same(trees[-1], trees[0])


@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "chi2", "squared_error", "absolute_error", "poisson"]
)
@pytest.mark.parametrize("n_rows", [30, 3000])
@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("max_features", [None, 2])
def test_same_random_thresholds_for_doubled_weights(
    criterion, n_rows, n_classes, order, max_features
):
    """Weights of 1 have code of their own, which draws features in a loop of its own, and so have
    rows that lie in one stretch. Entropies are rounded, so ties need not stay ties."""
    rng = np.random.default_rng(n_rows)
    X = np.column_stack([rng.normal(size=(n_rows, 4)), rng.integers(0, 3, (n_rows, 3))])
    X = X.astype(np.float32, order=order)
    y = np.argsort(np.argsort(X[:, 0] + X[:, 4] + rng.normal(size=n_rows))) * n_classes // n_rows
    is_class = criterion in ("gini", "entropy", "chi2")
    kind = "ExtraTreeClassifier" if is_class else "ExtraTreeRegressor"
    model = getattr(fasttree.tree, kind)(
        criterion=criterion, max_features=max_features, random_state=0
    )
    weight = None if criterion == "entropy" else np.full(n_rows, 2.0)
    expected = model.fit(X, y, sample_weight=weight).tree_
    for n_threads, simd in itertools.product(THREADS, ("auto", "avx2", "portable")):
        with fasttree.config_context(n_threads=n_threads, simd=simd):
            assert_same(model.fit(X, y).tree_, expected, ("feature", "threshold", "value"))


@pytest.mark.parametrize("n_rows", [2, 3, 16, 17, 32, 33, 63, 64, 65, 400])
@pytest.mark.parametrize("n_features", [3, 21, 70])
@pytest.mark.parametrize("with_missing", [False, True])
def test_same_random_thresholds_in_small_subtrees(n_rows, n_features, with_missing):
    """They are grown at once: as masks of rows, all features at a time, or, of numbers only, a step
    at a time."""
    rng = np.random.default_rng([n_rows, n_features])
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    few = rng.random(n_features) < 0.5
    X[:, few] = rng.integers(-1, 3, (n_rows, few.sum())) * np.float32(0.5)
    X[rng.random(X.shape) < 0.2] *= 0
    if with_missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    signal = np.nansum(X[:, :3], axis=1) + rng.normal(size=n_rows)
    ranks = np.argsort(np.argsort(signal))
    limits = [{}, {"min_samples_leaf": 3}, {"min_impurity_decrease": 1e-3}, {"max_depth": 4}]
    for n_classes, max_features, limit in itertools.product((2, 7, 0), (2, 11, None), limits):
        kind, y = ("Regressor", signal) if n_classes == 0 else ("Classifier", ranks % n_classes)
        model = getattr(fasttree.tree, f"ExtraTree{kind}")(
            max_features=max_features and min(max_features, n_features), random_state=0, **limit
        )
        with fasttree.config_context(simd="portable"):
            expected = model.fit(X, y).tree_
        # From numbers, from codes.
        for strategy, simd in itertools.product(("auto", "count"), ("auto", "portable")):
            with fasttree.config_context(strategy=strategy, simd=simd):
                assert_same(model.fit(X, y).tree_, expected)


@pytest.mark.parametrize("kind", ["DecisionTree", "ExtraTree"])
@pytest.mark.parametrize("n_classes", [2, 5, 0])
@pytest.mark.parametrize("min_impurity_decrease", [0.0, 1e-3, 0.02])
def test_subtrees_in_one_call_and_node_by_node(kind, n_classes, min_impurity_decrease):
    """Depth-first, all that is below a node is grown in one call, whose splits may be refused;
    best-first, one node after the other."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(1500, 6)).astype(np.float32)
    X[:, 3:] = rng.integers(0, 9, (1500, 3))
    signal = X[:, 0] + X[:, 3] + rng.normal(size=1500)
    ranks = np.argsort(np.argsort(signal))
    task, y = ("Regressor", signal) if n_classes == 0 else ("Classifier", ranks % n_classes)
    weights = [None, rng.integers(0, 3, 1500).astype(np.float64)]
    columns = [list(range(6)), [0, 1, 2]]
    for weight, of, n_threads in itertools.product(weights, columns, (1, 2)):
        model = getattr(fasttree.tree, kind + task)(
            max_features=2, random_state=0, min_impurity_decrease=min_impurity_decrease
        )
        with fasttree.config_context(n_threads=n_threads):
            at_once = model.fit(X[:, of], y, sample_weight=weight).tree_
            model.set_params(max_leaf_nodes=10_000)
            assert_same(at_once, model.fit(X[:, of], y, sample_weight=weight).tree_)


def test_same_random_thresholds_in_matrices_that_no_cache_holds():
    """Subtrees that are grown at once have fewer rows there, unless all cells are coded."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (4000, 80)).astype(np.float32)
    y = (X[:, :4].sum(axis=1) + rng.normal(size=4000)).round() % 4
    model = fasttree.tree.ExtraTreeClassifier(random_state=0)
    weighted = model.fit(X, y, sample_weight=np.full(4000, 2.0)).tree_
    for strategy in ("auto", "count"):
        with fasttree.config_context(strategy=strategy):
            assert_same(model.fit(X, y).tree_, weighted, ("feature", "threshold", "value"))


@pytest.mark.parametrize("n_bits", [0, 15, 16, 70])
@pytest.mark.parametrize("max_features", [4, None])
def test_same_random_thresholds_on_columns_of_two_values(n_bits, max_features):
    """They are bits, if there are many; beside them columns of few and of many values, which are
    read several at a time where a row's cells are side by side."""
    rng = np.random.default_rng(n_bits)
    X = rng.normal(size=(700, n_bits + 12)).astype(np.float32)
    X[:, 4:8] = rng.integers(0, 5, (700, 4))
    two = rng.permutation(n_bits + 12)[:n_bits]
    X[:, two] = np.where(rng.random((700, n_bits)) < 0.3, np.float32(-0.5), np.float32(2))
    X[rng.random(700) < 0.1, np.setdiff1d(range(n_bits + 12), two)[0]] = np.nan
    signal = np.nansum(X[:, :9], axis=1) + rng.normal(size=700)
    for kind, y in (("Classifier", np.digitize(signal, [-2, 1])), ("Regressor", signal)):
        model = getattr(fasttree.tree, f"ExtraTree{kind}")(
            max_features=max_features, random_state=0
        )
        expected = model.fit(np.asfortranarray(X), y).tree_
        settings = itertools.product(("auto", "count"), (1, 3), ("auto", "avx2", "portable"))
        for strategy, n_threads, simd in settings:
            with fasttree.config_context(strategy=strategy, n_threads=n_threads, simd=simd):
                assert_same(model.fit(X, y).tree_, expected)


def test_forests_of_random_thresholds_on_copied_columns():
    """The few columns that are not coded are copied; X in Fortran order needs no copy."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40_000, 10)).astype(np.float32)
    X[:, :2] = rng.normal(size=(40_000, 2))
    X[rng.random(40_000) < 0.1, 1] = np.nan
    y = (X[:, 0] + X[:, 3] + rng.normal(size=40_000) > 1).astype(int)
    forest = fasttree.ensemble.ExtraTreesClassifier(2, random_state=0)
    expected = [tree.tree_ for tree in forest.fit(np.asfortranarray(X), y)]
    for tree, other in zip(forest.fit(X, y), expected):
        assert_same(tree.tree_, other)
