"""Splits of columns that hold numbers, labels and gaps, against the naive twin."""

from collections import Counter
from math import inf, log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fasttree
from fasttree.tree import (
    ColumnSplit,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    best_split,
    feature_scores,
)
from reference.naive_hybrid import (
    HybridJudge,
    judge_hybrid,
    object_array,
    questions,
    random_column,
    random_table,
    worth,
)
from reference.trees import assert_same

CLASSIFICATION = ("gini", "entropy", "chi2")
REGRESSION = ("squared_error", "absolute_error", "poisson", "label_split")

# ---- the worked example of Wang & Gupta (2024), Tables 1 to 4

EXAMPLE = {
    "a": [3, 4, 4, 5, "x", "x", "y"],
    "b": [1, 1, 2, 2, 3, "y", "y", "z"],
    "c": [3, 4, 4, 5, 5, "z", "z"],
}
VALUES = [v for values in EXAMPLE.values() for v in values]
CLASSES = [c for c, values in EXAMPLE.items() for _ in values]
COUNTS = {
    "a": {1: 0, 2: 0, 3: 1, 4: 2, 5: 1, "x": 2, "y": 1, "z": 0},
    "b": {1: 2, 2: 2, 3: 1, 4: 0, 5: 0, "x": 0, "y": 2, "z": 1},
    "c": {1: 0, 2: 0, 3: 1, 4: 2, 5: 2, "x": 0, "y": 0, "z": 2},
}
PREFIX_SUMS = {"a": [0, 0, 1, 3, 4], "b": [2, 4, 5, 5, 5], "c": [0, 0, 1, 3, 5]}
# Natural logarithms; Table 4 has misprints.
HEURISTICS = {
    "<=": {1: -0.996, 2: -0.874, 3: -0.973, 4: -1.079, 5: -1.089},
    ">": {1: -1.056, 2: -0.952, 3: -0.906, 4: -1.019, 5: -1.097},
    "=": {"x": -0.982, "y": -1.033, "z": -1.026},
}


def evaluate(value, comparison, other):
    """The paper's comparison assumption: a number and a label are neither less nor equal."""
    if isinstance(value, str) != isinstance(other, str):
        return False
    if comparison == "=":
        return value == other
    return value <= other if comparison == "<=" else value > other


def split_by(comparison, other):
    """A tree of one split, which sends left the rows of which a comparison is true."""
    answers = [["0" if evaluate(v, comparison, other) else "1"] for v in VALUES]
    stump = DecisionTreeClassifier(criterion="entropy", max_depth=1, categorical_features=[0])
    return stump.fit(answers, CLASSES).tree_


def counts_left(tree):
    return np.rint(tree.value[1, 0] * tree.n_node_samples[1]).astype(int)


@pytest.mark.parametrize("value", [1, 2, 3, 4, 5, "x", "y", "z"])
def test_the_papers_counts(value):
    expected = [COUNTS[c][value] for c in "abc"]
    assert expected == [Counter(EXAMPLE[c])[value] for c in "abc"]
    assert_array_equal(counts_left(split_by("=", value)), expected)


@pytest.mark.parametrize("value", [1, 2, 3, 4, 5])
def test_the_papers_prefix_sums(value):
    expected = [PREFIX_SUMS[c][value - 1] for c in "abc"]
    assert_array_equal(counts_left(split_by("<=", value)), expected)


@pytest.mark.parametrize(
    ("comparison", "value"), [(c, v) for c, row in HEURISTICS.items() for v in row]
)
def test_the_papers_heuristics(comparison, value):
    tree = split_by(comparison, value)
    children = slice(1, 3) if tree.node_count > 1 else slice(0, 1)  # nothing exceeds 5
    heuristic = -log(2) * (
        tree.n_node_samples[children] @ tree.impurity[children] / tree.n_node_samples[0]
    )
    assert_allclose(heuristic, HEURISTICS[comparison][value], atol=5e-4)


def test_the_papers_split():
    split = best_split(VALUES, CLASSES, criterion="entropy")
    assert 2 < split.threshold < 3
    assert not split.missing_left
    assert_allclose(-log(2) * split.children_impurity, HEURISTICS["<="][2], atol=5e-4)
    everything = [v for row in HEURISTICS.values() for v in row.values()]
    assert_allclose(max(everything), HEURISTICS["<="][2])
    tree = DecisionTreeClassifier(criterion="entropy").fit([[v] for v in VALUES], CLASSES).tree_
    assert tree.threshold[0] == split.threshold == 2.5


# ---- every split is the best split


def random_targets(rng, criterion, n_rows, n_outputs, n_classes):
    if criterion in CLASSIFICATION:
        y = rng.integers(0, n_classes, (n_rows, n_outputs))
    else:
        y = rng.integers(0, 9, (n_rows, n_outputs)).astype(float)
        y += rng.choice([0.0, 0.25, 1.0])
    return y if n_outputs > 1 else y[:, 0]


def random_weights(rng, n_rows):
    kind = rng.integers(4)
    if kind < 2:
        return None
    w = rng.integers(0, 4, n_rows).astype(float) if kind == 2 else rng.random(n_rows)
    w[rng.integers(n_rows)] = 1.0
    return w


def estimator_of(criterion, **params):
    cls = DecisionTreeClassifier if criterion in CLASSIFICATION else DecisionTreeRegressor
    return cls(criterion=criterion, **params)


def draw_problem(seed, label_sets):
    """(table, X, y, weights, estimator) with every criterion in turn."""
    rng = np.random.default_rng([seed, 7 + label_sets])
    criteria = [
        c for c in CLASSIFICATION + REGRESSION if not (label_sets and c.endswith("te_error"))
    ]
    criterion = criteria[seed // 10 % len(criteria)]
    table = random_table(rng, 36 if label_sets else 50)
    n_rows = len(table[0])
    n_outputs = 1 if label_sets or criterion == "label_split" else int(rng.choice([1, 1, 2]))
    n_classes = rng.choice([2, 2, 3, 9]) if label_sets else rng.integers(2, 5)
    y = random_targets(rng, criterion, n_rows, n_outputs, n_classes)
    if criterion == "poisson":
        y = y + 1  # a child without any count is no candidate
    estimator = estimator_of(
        criterion,
        categorical_split="subset" if label_sets else "equality",
        min_samples_leaf=1 if label_sets else int(rng.choice([1, 1, 1, 3])),
    )
    return table, object_array(table), y, random_weights(rng, n_rows), estimator


def assert_same_labels(a, b):
    assert_same(a.tree_, b.tree_)
    assert (a.tree_.label_splits is None) == (b.tree_.label_splits is None)
    if a.tree_.label_splits is not None:
        for name, array in a.tree_.label_splits.state().items():
            assert_array_equal(array, b.tree_.label_splits.state()[name])


@pytest.mark.cases(1400)
def test_every_split_is_the_best(seed):
    table, X, y, w, estimator = draw_problem(seed, label_sets=False)
    judge_hybrid(estimator.fit(X, y, sample_weight=w), table, y, w)


@pytest.mark.cases(1200)
def test_every_set_of_labels_is_the_best(seed):
    table, X, y, w, estimator = draw_problem(seed, label_sets=True)
    judge_hybrid(estimator.fit(X, y, sample_weight=w), table, y, w)


def test_problems_have_splits_on_labels():
    """The tests above would prove little if labels were never asked for."""
    n_splits = 0
    for seed in range(0, 300, 10):
        for label_sets in (False, True):
            table, X, y, w, estimator = draw_problem(seed, label_sets)
            n_splits += judge_hybrid(estimator.fit(X, y, sample_weight=w), table, y, w)
    assert n_splits > 150


def test_sets_of_ten_labels():
    rng = np.random.default_rng(3)
    column = [str(v) for v in rng.choice(list("abcdefghij"), 120)] + [None] * 10
    for criterion in ("gini", "entropy", "squared_error"):
        y = rng.integers(0, 2, 130)
        estimator = estimator_of(criterion, categorical_split="subset", max_depth=1)
        tree = estimator.fit(object_array([column]), y).tree_
        sides = np.array([q.sides(column) for q in questions(column, label_sets=True)])
        values = worth(criterion, y[:, None].astype(int), np.ones(130), sides)
        assert_allclose(tree.improvement[0], values.max(), rtol=1e-9)


@pytest.mark.cases(400)
def test_sets_for_many_classes_are_no_worse_than_one_label(seed):
    rng = np.random.default_rng([seed, 13])
    column = [f"label {i}" for i in rng.integers(0, 8, 80)]
    y = rng.integers(0, 5, 80)
    stumps = [
        DecisionTreeClassifier(max_depth=1, categorical_split=split).fit([[v] for v in column], y)
        for split in ("equality", "subset")
    ]
    one, sets = (stump.tree_.improvement[0] for stump in stumps)
    every_set = np.array([q.sides(column) for q in questions(column, label_sets=True)])
    best = worth("gini", y[:, None], np.ones(80), every_set).max()
    assert one <= sets <= best + 1e-12
    assert sets > 0.9 * best


@pytest.mark.cases(400)
def test_speed_never_changes_the_tree(seed):
    _, X, y, w, estimator = draw_problem(seed, label_sets=seed % 3 == 0)
    expected = estimator.fit(X, y, sample_weight=w)
    for strategy in ("presort", "count", "sort"):
        with fasttree.config_context(strategy=strategy):
            other = estimator_of(**estimator.get_params()).fit(X, y, sample_weight=w)
        assert_same_labels(other, expected)


@pytest.mark.parametrize("label_sets", [False, True])
@pytest.mark.parametrize("max_leaf_nodes", [None, 40])
def test_threads_never_change_the_tree(label_sets, max_leaf_nodes):
    rng = np.random.default_rng(5)
    n_rows = 9000
    table = [random_column(rng, n_rows, p, 0.1) for p in (0.0, 0.0, 0.3, 0.7, 1.0, 1.0)]
    table.append([f"user {i}" for i in rng.integers(0, 3000, n_rows)])
    X, y = object_array(table), rng.integers(0, 2, n_rows)
    fits = [
        DecisionTreeClassifier(
            categorical_split="subset" if label_sets else "equality",
            max_leaf_nodes=max_leaf_nodes,
            n_jobs=n_jobs,
        ).fit(X, y)
        for n_jobs in (1, 2, 4)
    ]
    assert fits[0].tree_.label_splits is not None
    for fit in fits[1:]:
        assert_same_labels(fit, fits[0])
        assert_array_equal(fit.predict(X), fits[0].predict(X))


# ---- random splits


@pytest.mark.cases(200)
def test_random_questions_are_admissible(seed):
    rng = np.random.default_rng([seed, 11])
    table = random_table(rng)
    y = rng.integers(0, 3, len(table[0]))
    estimator = ExtraTreeClassifier(
        random_state=seed, categorical_split=("equality", "subset")[seed // 10 % 2]
    ).fit(object_array(table), y)
    judge, tree = HybridJudge(estimator, table, y), estimator.tree_
    stack = [(0, np.arange(len(y)))]
    while stack:
        node, rows = stack.pop()
        assert tree.n_node_samples[node] == len(rows)
        if tree.children_left[node] < 0:
            continue
        question = judge.question(node)
        if question.labels is not None and estimator.categorical_split == "equality":
            assert len(question.labels) == 1
        goes_left = question.sides([table[tree.feature[node]][r] for r in rows])
        assert 0 < goes_left.sum() < len(rows)
        stack += [(tree.children_left[node], rows[goes_left])]
        stack += [(tree.children_right[node], rows[~goes_left])]


def test_random_questions_are_about_every_label():
    column = list("abcd") * 10 + [0.0, 1.0] * 5
    asked = set()
    for seed in range(100):
        tree = (
            ExtraTreeClassifier(max_depth=1, random_state=seed)
            .fit(object_array([column]), np.arange(50) % 2)
            .tree_
        )
        asked.add(tuple(tree.label_splits.codes) if tree.split_kind[0] == 1 else "number")
    assert asked == {(0,), (1,), (2,), (3,), "number"}


# ---- ties


def test_a_threshold_comes_before_a_label():
    column = [1.0, 1.0, "a", "a"]
    tree = DecisionTreeClassifier().fit(object_array([column]), [0, 0, 1, 1]).tree_
    assert tree.split_kind[0] == 0
    assert tree.threshold[0] == inf


def test_labels_are_in_order_of_their_text():
    y = [0, 0, 1, 1]
    for column in (["b", "b", "a", "a"], ["a", "a", "b", "b"]):
        estimator = DecisionTreeClassifier().fit(object_array([column]), y)
        assert estimator.categories_ == [["a", "b"]]
        assert list(estimator.tree_.label_splits.codes) == [0]


def test_the_lower_column_wins():
    column = ["a", "a", "b", "b"]
    numbers = [1.0, 1.0, 2.0, 2.0]
    y = [0, 0, 1, 1]
    for table, feature in (([column, numbers], 0), ([numbers, column], 0), ([y, column], 0)):
        tree = DecisionTreeClassifier().fit(object_array(table), y).tree_
        assert tree.feature[0] == feature


# ---- criteria


def test_chi_square_is_pearsons():
    """On a table worked by hand: 3 of 4 on the left and 1 of 4 on the right are of class 1."""
    split = best_split(["l"] * 4 + ["r"] * 4, [1, 1, 1, 0, 1, 0, 0, 0], criterion="chi2")
    assert_allclose(split.score * 8, 2.0)
    assert_allclose(split.impurity, 0.5)  # gini


def test_label_split_ranks_by_gain_about_the_halves():
    """The outlier makes the halves; the column that isolates it wins, whatever the rest."""
    y = [0.0, 1.0, 2.0, 3.0, 100.0, 100.0]
    other = ["a", "a", "b", "b", "a", "b"]
    isolates = ["u", "u", "u", "u", "v", "v"]
    tree = DecisionTreeRegressor(criterion="label_split", max_depth=1).fit(
        object_array([other, isolates]), y
    )
    assert tree.tree_.feature[0] == 1
    assert_allclose(tree.tree_.impurity[0], np.var(y))
    assert_allclose(
        feature_scores(object_array([other, isolates]), y, criterion="label_split"),
        [0.0, -(2 / 3) * np.log2(2 / 3) - (1 / 3) * np.log2(1 / 3)],
        atol=1e-12,
    )


@pytest.mark.parametrize("criterion", CLASSIFICATION + REGRESSION)
def test_feature_scores_are_those_of_the_best_splits(criterion):
    rng = np.random.default_rng(8)
    table = random_table(rng, 60)
    n_rows = len(table[0])
    table.append(["only"] * n_rows)
    y = random_targets(rng, criterion, n_rows, 1, 3) + (criterion == "poisson")
    w = rng.integers(1, 4, n_rows).astype(float)
    scores = feature_scores(object_array(table), y, criterion=criterion, sample_weight=w)
    codes = y[:, None].astype(int) if criterion in CLASSIFICATION else y[:, None]
    for column, score in zip(table, scores):
        split = best_split(column, y, criterion=criterion, sample_weight=w)
        assert split.score == score
        sides = [q.sides(column) for q in questions(column)]
        expected = worth(criterion, codes, w, np.array(sides)).max() if sides else 0.0
        assert_allclose(score, expected, rtol=1e-9, atol=1e-12)
    assert scores[-1] == 0


@pytest.mark.parametrize(
    "params",
    [
        {"categorical_split": "subsets"},
        {"missing_values": object()},
        {"criterion": "ginny"},
        {"categorical_features": "anything"},
    ],
)
def test_parameters_of_selection_are_checked(params):
    (name,) = params
    with pytest.raises(ValueError, match=name):
        feature_scores([["a"], ["b"]], [0, 1], **params)
    if name != "categorical_features":
        with pytest.raises(ValueError, match=name):
            best_split(["a", "b"], [0, 1], **params)


def test_a_column_without_splits():
    split = best_split([1.0, 1.0], [0, 1])
    assert split == ColumnSplit(0.0, split.threshold, None, False, 0.5, 0.5, 0)
    assert np.isnan(split.threshold)
    numbers = (split.score, split.threshold, split.impurity, split.children_impurity)
    assert [type(v) for v in numbers] == [float] * 4


@pytest.mark.parametrize("criterion", CLASSIFICATION + REGRESSION)
@pytest.mark.parametrize("unit", [1.0, 0.1, 3e-7])
def test_thresholds_and_labels_are_scored_alike(criterion, unit):
    """Whatever the units of weights and targets: the better question wins."""
    rng = np.random.default_rng(9)
    table = [random_column(rng, 60, 0.6, 0.1) for _ in range(3)]
    is_classifier = criterion in CLASSIFICATION
    y = rng.integers(1, 4, 60) * (1 if is_classifier else unit)
    w = rng.integers(1, 9, 60) * unit
    estimator = estimator_of(criterion)
    assert judge_hybrid(estimator.fit(object_array(table), y, sample_weight=w), table, y, w) > 0
    assert (estimator.tree_.split_kind == 0).any()


@pytest.mark.parametrize(
    ("params", "y"),
    [
        ({"categorical_split": "subset"}, [[0, 1], [1, 0], [1, 1]]),
        ({"monotonic_cst": [1]}, [0, 1, 0]),
    ],
)
def test_what_labels_do_not_go_with(params, y):
    with pytest.raises(ValueError, match=r"sets of categories|without categories|multiple outputs"):
        DecisionTreeClassifier(**params).fit([["a"], ["b"], ["c"]], y)
    if "monotonic_cst" not in params:
        DecisionTreeClassifier(**params).fit([[1], [2], [3]], y)


@pytest.mark.parametrize(
    ("params", "y"),
    [
        ({"criterion": "absolute_error", "categorical_split": "subset"}, [0.5, 1, 2]),
        ({"criterion": "label_split"}, [[0.5, 1], [1, 0], [1, 1]]),
        ({"criterion": "label_split", "monotonic_cst": [0]}, [0.5, 1, 2]),
    ],
)
def test_what_criteria_do_not_go_with(params, y):
    with pytest.raises(ValueError, match=r"sets of categories|one output|label_split"):
        DecisionTreeRegressor(**params).fit([["a"], ["b"], ["c"]], y)
