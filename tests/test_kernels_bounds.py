"""Bounds on what separating few rows can score: never below the best of all ways to do it."""

import numpy as np
import pytest

from reference.scores import random_targets, scores, subsets

BOUNDED = ("binary_gini", "gini", "entropy", "squared_error", "absolute_error")
ROWS = 9

each_bounded = pytest.mark.parametrize("criterion", BOUNDED)


class Ways:
    """A small node and the score of every way to separate its rows."""

    def __init__(self, kernels, simd, criterion, seed, weighted=False, n_outputs=1, y=None):
        self.rng = np.random.default_rng(seed)
        n_classes = int(self.rng.choice([2, 3, 4]))
        if y is None:
            y = random_targets(self.rng, criterion, ROWS, n_outputs, n_classes)
        self.y = y
        self.w = self.rng.integers(1, 9, ROWS) if weighted else None
        w = np.ones(ROWS, np.int64) if self.w is None else self.w
        self.parted = subsets(ROWS)
        self.n = self.parted.sum(axis=1)
        self.weight = (self.parted * w).sum(axis=1)
        self.half = w.sum() / 2
        self.scores = scores(criterion, self.parted, self.y, w)
        rows = np.arange(ROWS, dtype=np.uint32)
        self.node = kernels.nodes.Node(simd, criterion, self.y, rows, self.w)
        self.rounding = 1e-11 * np.abs(self.scores).max()

    def best_of(self, n, weight):
        """Of those that separate at most so many rows of at most so much weight."""
        within = (self.n <= n) & (self.weight <= weight)
        return self.scores[within].max(initial=-np.inf)

    def best_within(self, rows):
        """Of those that separate some of the rows given."""
        return self.scores[~(self.parted & ~rows).any(axis=1)].max(initial=-np.inf)


@each_bounded
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.cases(200)
def test_bound_of_few_rows(kernels, simd, criterion, weighted, n_outputs, seed):
    ways = Ways(kernels, simd, criterion, seed, weighted, 1 if "binary" in criterion else n_outputs)
    before = -np.inf
    w_max = 1 if ways.w is None else ways.w.max()
    for n in range(1, ROWS // 2 + 1):
        weight = n * w_max
        if weight > ways.half:
            break
        bound = ways.node.parting_bound(n, weight)
        assert bound >= ways.best_of(n, weight) - ways.rounding
        assert bound >= before - ways.rounding
        before = bound


@each_bounded
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.cases(200)
def test_fewer_rows_than_the_least_score_less(kernels, simd, criterion, weighted, seed):
    ways = Ways(kernels, simd, criterion, seed, weighted)
    for score in np.unique(ways.scores):
        least = ways.node.least(score)
        assert 1 <= least <= ROWS // 2 + 1
        fewer = ways.scores[ways.n < least]
        assert (fewer < score + ways.rounding).all()


@pytest.mark.parametrize("criterion", ["binary_gini", "gini", "entropy", "squared_error"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_bounds_are_attained(kernels, simd, criterion, n):
    """By rows of the smaller class alone, or by those farthest from the mean; entropy: by all of
    them."""
    ones = n if criterion == "entropy" else 3
    y = np.zeros((ROWS, 1), np.int64 if criterion == "squared_error" else np.uint8)
    y[:ones] = 1
    ways = Ways(kernels, simd, criterion, 0, y=y)
    bound = ways.node.parting_bound(n, n)
    assert bound == pytest.approx(ways.best_of(n, n), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", ["binary_gini", "gini", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.cases(100)
def test_some_rows_that_may_not_beat_a_score_do_not(kernels, simd, criterion, weighted, seed):
    ways = Ways(kernels, simd, criterion, seed, weighted)
    for _ in range(20):
        chosen = ways.rng.random(ROWS) < ways.rng.uniform(0.1, 0.9)
        if not chosen.any():
            continue
        entries = np.flatnonzero(chosen).astype(np.uint32)
        best = ways.best_within(chosen)
        for score in (0.5 * best, best - 2 * ways.rounding, 1.1 * best, ways.scores.max()):
            may, max_class_count = ways.node.may_beat(entries, score)
            assert may or best <= score + ways.rounding
            if criterion == "gini" and not weighted:
                assert max_class_count == np.bincount(ways.y[entries, 0]).max()
        if criterion == "binary_gini":  # the bound is the best score
            assert not ways.node.may_beat(entries, best * (1 + 1e-9))[0]
        far_more = 1e4 * np.abs(ways.scores).max() + 1
        assert chosen.all() or not ways.node.may_beat(entries, far_more)[0]


@pytest.mark.parametrize("criterion", ["binary_gini", "gini", "squared_error"])
def test_rows_alike_attain_their_bound(kernels, simd, criterion):
    y = np.zeros((ROWS, 1), np.int64 if criterion == "squared_error" else np.uint8)
    y[:3] = 1
    ways = Ways(kernels, simd, criterion, 0, y=y)
    best = ways.best_within(y[:, 0] == 1)
    entries = np.arange(3, dtype=np.uint32)
    assert ways.node.may_beat(entries, best * (1 - 1e-9))[0]
    assert not ways.node.may_beat(entries, best * (1 + 1e-9))[0]


@pytest.mark.parametrize("n", [1, 15, 16, 17, 40, 200])
def test_two_classes_are_told_by_their_bits(kernels, simd, n):
    """In vectors, and of rows in any order with boundaries among them."""
    rng = np.random.default_rng(n)
    y = random_targets(rng, "binary_gini", 500)
    rows = np.arange(500, dtype=np.uint32)
    node = kernels.nodes.Node(simd, "binary_gini", y, rows)
    for _ in range(10):
        chosen = rng.permutation(500)[:n]
        entries = chosen.astype(np.uint32) | rng.choice([0, 1 << 31], n).astype(np.uint32)
        ones = int(y[chosen].sum())
        parted = np.zeros((3, 500), bool)
        parted[0, chosen[y[chosen, 0] == 1]] = True
        parted[1, chosen[y[chosen, 0] == 0]] = True
        parted[2, chosen] = True
        parted = parted[[ones > 0, ones < n, True]]
        best = scores("binary_gini", parted, y, np.ones(500, np.int64)).max()
        assert node.may_beat(entries, best * (1 - 1e-9))[0]
        assert not node.may_beat(entries, best * (1 + 1e-9))[0]


@pytest.mark.parametrize("criterion", BOUNDED)
@pytest.mark.cases(50)
def test_columns_out_of_reach_do_not_beat_a_score(kernels, simd, criterion, seed):
    """Of so many nonzeros, and with gini so many of one class."""
    ways = Ways(kernels, simd, criterion, seed)
    for nonzeros in ways.parted[ways.rng.permutation(len(ways.parted))[:60]]:
        n, best = int(nonzeros.sum()), ways.best_within(nonzeros)
        max_class_count = np.bincount(ways.y[nonzeros, 0]).max() if ways.y.dtype == np.uint8 else n
        for score in (0.9 * best, best - 2 * ways.rounding, ways.scores.max(), 1.1 * best):
            holds = ways.node.feature_bound_holds(score, n, int(max_class_count))
            assert holds or best <= score + ways.rounding


def test_feature_bound_tells_by_the_largest_class_what_the_rows_do_not(kernels, simd):
    """Five rows of three classes, at most two each, separate less than the four of one class."""
    y = np.repeat(np.arange(3, dtype=np.uint8), 4)[:, None]
    node = kernels.nodes.Node(simd, "gini", y, np.arange(12, dtype=np.uint32))
    score = scores("gini", (y == 0).T, y, np.ones(12, np.int64))[0]
    assert node.feature_bound_holds(score, 5, 4)
    assert not node.feature_bound_holds(score, 5, 2)
