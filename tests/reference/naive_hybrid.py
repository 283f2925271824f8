"""Every question that a node may ask of a table's columns, written down naively, and the judge.

A column is a list of Python values: floats are numbers, strings are labels, None is missing.
Comparisons follow Wang & Gupta (2024, section 2): ``value <= t`` and ``value > t`` are false for
labels and missing values, ``value == label`` is false for numbers. A question splits the rows in
two: those of which it is true (or, for ``>``, of which it is false) go left. The order of the
questions settles ties: thresholds ascending, what is not a number right before left, "is a number"
last; then labels in alphabetical order.

``judge_hybrid(estimator, table, y)`` routes the training rows down a fitted tree and asserts that
every split is the best of all these, the first of equals, and that no leaf could be split.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import inf

import numpy as np

from reference.impurity import impurity


@dataclass(frozen=True)
class Question:
    """One candidate split. ``others_left``: where thresholds send labels and missing values."""

    threshold: float = -inf
    others_left: bool = False
    labels: frozenset = None
    missing_left: bool = False

    def goes_left(self, value):
        if self.labels is not None:
            return self.missing_left if value is None else value in self.labels
        if isinstance(value, float):
            return np.float32(value) <= self.threshold
        return self.others_left

    def sides(self, column):
        return np.array([self.goes_left(value) for value in column], dtype=bool)


def threshold_questions(column):
    numbers = sorted({np.float32(v) for v in column if isinstance(v, float)})
    has_others = any(not isinstance(v, float) for v in column)
    for below, above in zip(numbers, numbers[1:]):
        middle = float(below) / 2 + float(above) / 2
        yield Question(middle)
        if has_others:
            yield Question(middle, others_left=True)
    if numbers and has_others:
        yield Question(inf)


def label_questions(column):
    for label in sorted({v for v in column if isinstance(v, str)}):
        if any(v != label for v in column):
            yield Question(labels=frozenset([label]))


def set_questions(column):
    """Every set of labels, with and without the missing values; numbers are in none."""
    labels = sorted({v for v in column if isinstance(v, str)})
    for size in range(len(labels) + 1):
        for chosen in combinations(labels, size):
            for missing_left in (False, True) if None in column else (False,):
                question = Question(labels=frozenset(chosen), missing_left=missing_left)
                if 0 < question.sides(column).sum() < len(column):
                    yield question


def prefix_questions(column, y, w):
    """Of many classes: every label, and the prefixes of the groups in the order of each class's
    share, ties as in the order before. Groups are the numbers, the labels, the missing values."""
    yield from label_questions(column)
    group_of = np.array(["" if isinstance(v, float) else "~" if v is None else v for v in column])
    groups = sorted(set(group_of))
    for label in np.unique(y):
        if w[y == label].sum() <= w.sum() / 256:
            continue
        shares = {g: _share(y[group_of == g] == label, w[group_of == g]) for g in groups}
        groups.sort(key=shares.get)
        for size in range(1, len(groups)):
            chosen = groups[:size] if "" not in groups[:size] else groups[size:]
            labels = frozenset(g for g in chosen if g != "~")
            yield Question(labels=labels, missing_left="~" in chosen)


def _share(is_in, w):
    weights = [Fraction(v) for v in w]
    return sum(v for v, i in zip(weights, is_in) if i) / sum(weights)


def questions(column, label_sets=False, y=None, w=None):
    """All candidate splits of a column, in the order that settles ties; ``y`` if it has more than
    two classes."""
    yield from threshold_questions(column)
    if any(isinstance(v, str) for v in column):
        if not label_sets:
            yield from label_questions(column)
        elif y is None:
            yield from set_questions(column)
        else:
            yield from prefix_questions(column, y, w)


def worth(criterion, y, w, sides):
    """What each row of ``sides`` is worth to a criterion: the larger the better a split."""
    left, right = np.where(sides, w, 0.0), np.where(sides, 0.0, w)
    if criterion == "chi2":
        return sum(_chi_square(y_k, w, sides) for y_k in y.T)
    if criterion == "label_split":
        criterion, y = "entropy", halves(y[:, 0], w)[:, None]
    with np.errstate(invalid="ignore"):
        gain = (
            w.sum() * impurity(criterion, y, w)
            - left.sum(-1) * impurity(criterion, y, left)
            - right.sum(-1) * impurity(criterion, y, right)
        ) / w.sum()
    return np.where(np.isfinite(gain), gain, -inf)


def _chi_square(y, w, sides):
    """Pearson's chi-square of the table (side, class) over the weight, term by term."""
    total = np.zeros(len(sides))
    for i, goes_left in enumerate(sides):
        for label in np.unique(y):
            for side in (goes_left, ~goes_left):
                expected = w[y == label].sum() * w[side].sum() / w.sum()
                total[i] += (w[(y == label) & side].sum() - expected) ** 2 / expected
    return total / w.sum()


def halves(y, w):
    """The two classes that the best split of the target makes, ties to the lowest."""
    cuts = y <= np.unique(y)[:-1, None]
    if len(cuts) == 0:
        return np.zeros(len(y), dtype=int)
    gains = worth("squared_error", y[:, None], w, cuts)
    slack = 1e-10 * gains.max()
    return (~cuts[np.argmax(gains >= gains.max() - slack)]).astype(int)


class HybridJudge:
    """One fitted tree against its table."""

    def __init__(self, estimator, table, y, sample_weight=None):
        self.tree, self.table = estimator.tree_, table
        self.criterion = estimator.criterion
        self.label_sets = estimator.categorical_split == "subset"
        self.min_samples_leaf = estimator.min_samples_leaf
        self.labels = [sorted({v for v in column if isinstance(v, str)}) for column in table]
        self.w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        y = np.asarray(y).reshape(len(y), -1)
        if hasattr(estimator, "classes_"):
            y = np.column_stack([np.unique(y_k, return_inverse=True)[1] for y_k in y.T])
        self.y = y
        self.has_many_classes = hasattr(estimator, "classes_") and y.max() > 1
        self.n_label_splits = 0

    def question(self, node):
        """The question that the tree asks at a node."""
        tree = self.tree
        missing_left = bool(tree.missing_go_to_left[node])
        if tree.split_kind[node] == 0:
            return Question(tree.threshold[node], others_left=missing_left)
        feature, place = tree.feature[node], list(tree.label_splits.nodes).index(node)
        codes = tree.label_splits.codes_going_left(place, feature)
        left = frozenset(self.labels[feature][code] for code in codes)
        return Question(labels=left, missing_left=missing_left)

    def candidates(self, rows):
        """Every admissible question of a node: (features, questions, sides)."""
        classes = (self.y[rows, 0], self.w[rows]) if self.has_many_classes else ()
        found = [
            (feature, question, question.sides([column[r] for r in rows]))
            for feature, column in enumerate(self.table)
            for question in questions([column[r] for r in rows], self.label_sets, *classes)
        ]
        least = self.min_samples_leaf
        return [c for c in found if least <= c[2].sum() <= len(rows) - least]

    def walk(self):
        stack = [(0, np.flatnonzero(self.w > 0))]
        while stack:
            node, rows = stack.pop()
            assert self.tree.n_node_samples[node] == len(rows)
            found = self.candidates(rows)
            values = np.array([])
            if found:
                sides = np.array([s for _, _, s in found])
                values = worth(self.criterion, self.y[rows], self.w[rows], sides)
                found = [c for c, v in zip(found, values) if v > -inf]
                values = values[values > -inf]
            if self.tree.children_left[node] < 0:
                is_pure = (self.y[rows] == self.y[rows[0]]).all()
                assert is_pure or not found, f"leaf {node} could be split by {found[0]}"
                continue
            goes_left = self.check_split(node, rows, found, values)
            stack.append((self.tree.children_right[node], rows[~goes_left]))
            stack.append((self.tree.children_left[node], rows[goes_left]))

    def check_split(self, node, rows, found, values):
        """Assert that a split is the best, and the first of its equals; which rows go left."""
        feature, asked = self.tree.feature[node], self.question(node)
        cells = [self.table[feature][r] for r in rows]
        goes_left = asked.sides(cells)
        sides = np.array([s for _, _, s in found])
        same = (sides == goes_left).all(axis=1) | (sides != goes_left).all(axis=1)
        assert same.any(), f"node {node} asks what it may not: {asked}"
        first = np.argmax(same)
        best = values.max()
        assert values[first] >= best - 1e-9 * abs(best) - 1e-12, (
            f"node {node}: {asked} is worth {values[first]}, "
            f"{found[int(np.argmax(values))]} is worth {best}"
        )
        is_settled = None in cells if asked.labels is not None else self.has_others(cells)
        if not is_settled:
            assert self.tree.missing_go_to_left[node] == (2 * goes_left.sum() > len(rows))
        self.n_label_splits += asked.labels is not None
        if not self.label_sets:
            assert found[first][0] == feature
            assert (found[first][2] == goes_left).all()
            assert found[first][1].labels == asked.labels
            assert found[first][1].threshold == asked.threshold
        return goes_left

    @staticmethod
    def has_others(cells):
        return any(not isinstance(v, float) for v in cells)


def judge_hybrid(estimator, table, y, sample_weight=None):
    """Assert that every node of the fitted tree is right; return how many split on labels."""
    judge = HybridJudge(estimator, table, y, sample_weight)
    judge.walk()
    return judge.n_label_splits


def random_table(rng, max_rows=50):
    """Columns of numbers, labels and gaps in every mixture."""
    n_rows = int(rng.integers(2, max_rows))
    mixtures = [(1, 0), (1, 0.15), (0, 0), (0, 0.2), (0.5, 0), (0.5, 0.15), (0.15, 0.1)]
    return [
        random_column(rng, n_rows, *mixtures[rng.integers(len(mixtures))])
        for _ in range(rng.integers(1, 5))
    ]


def random_column(rng, n_rows, share_of_numbers, share_of_missing):
    """A list of values, from few or many distinct ones."""
    labels = list("abcdefghij")[: rng.integers(1, 9)]
    numbers = rng.normal(size=rng.integers(1, 25)).round(2)
    column = []
    for u in rng.random(n_rows):
        if u < share_of_missing:
            column.append(None)
        elif rng.random() < share_of_numbers:
            column.append(float(rng.choice(numbers)))
        else:
            column.append(str(rng.choice(labels)))
    return column


def object_array(table):
    """The table as a two-dimensional array of objects."""
    array = np.empty((len(table[0]), len(table)), dtype=object)
    for j, column in enumerate(table):
        array[:, j] = column
    return array
