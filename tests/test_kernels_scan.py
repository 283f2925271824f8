"""Moving along a feature's runs: scores, cells, screens, skips and scans of blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from reference.kernels import CLASS_1
from reference.scores import CLASSIFICATION, REGRESSION, prefixes, random_targets, scores

SIZES = (2, 3, 5, 8, 9, 16, 17, 18, 33, 64, 65, 129, 300)
BOUNDARY = 1 << 31
FEW_CANDIDATES = 4  # for which there are no vectors

each_size = pytest.mark.parametrize("n", SIZES)
each_criterion = pytest.mark.parametrize("criterion", CLASSIFICATION + REGRESSION)


class Case:
    """A node of n rows out of more and the runs of a feature in it."""

    def __init__(
        self, kernels, simd, criterion, n, seed, weighted=False, n_outputs=1, heaviest=49, **kwargs
    ):
        rng = self.rng = np.random.default_rng(1000 * n + seed)
        n_rows = n + 5
        self.y = random_targets(rng, criterion, n_rows, n_outputs, **kwargs)
        self.w = rng.integers(1, heaviest + 1, n_rows) if weighted else None
        self.rows = rng.permutation(n_rows)[:n]
        if rng.random() < 0.5:  # a feature that tells something of the target
            self.rows = self.rows[np.argsort(self.y[self.rows, 0], kind="stable")]
            swapped = rng.random(n) < 0.2
            self.rows[swapped] = rng.permutation(self.rows[swapped])
        self.is_boundary = rng.random(n) < rng.choice([0.1, 0.5, 1.0])
        self.entries = (self.rows + BOUNDARY * self.is_boundary).astype(np.uint32)
        node_rows = np.sort(self.rows).astype(np.uint32)
        self.node = kernels.nodes.Node(simd, criterion, self.y, node_rows, self.w)
        self.scores = self.node.scores(self.entries)

    def expected_scores(self, criterion):
        parted = prefixes(np.arange(len(self.rows)), len(self.rows))
        w = np.ones(len(self.rows), np.int64) if self.w is None else self.w[self.rows]
        return scores(criterion, parted, self.y[self.rows], w)


@each_size
@each_criterion
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_scores(kernels, simd, criterion, n, weighted, n_outputs):
    if n_outputs > 1 and criterion in ("binary_gini", "chi_square"):
        pytest.skip("of one output")
    for seed in range(3):
        case = Case(kernels, simd, criterion, n, seed, weighted, n_outputs)
        expected = case.expected_scores(criterion)
        largest = np.abs(expected[np.isfinite(expected)]).max(initial=1)
        assert_allclose(case.scores, expected, rtol=1e-10, atol=1e-13 * largest)


@each_size
@pytest.mark.parametrize("criterion", ["binary_gini", "gini", "entropy", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_cells_of_rows_score_as_their_rows(kernels, simd, criterion, n, weighted):
    """Bit for bit, for the sums are integers."""
    for seed in range(3):
        case = Case(kernels, simd, criterion, n, seed, weighted)
        for size in (1, 2, 7):
            of_cells = case.node.cell_scores(case.entries, size)
            moved = np.arange(1, n) % size == 0
            assert_array_equal(of_cells[moved], case.scores[moved])


@each_size
@each_criterion
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_what_is_left_of_a_node_scores_as_its_rows(
    kernels, simd, criterion, n, weighted, n_outputs
):
    """Bit for bit, for totals are integers."""
    if n_outputs > 1 and criterion in ("binary_gini", "chi_square"):
        pytest.skip("of one output")
    case = Case(kernels, simd, criterion, n, 0, weighted, n_outputs)
    rows = np.sort(case.rows).astype(np.uint32)
    all_rows = np.arange(len(case.y), dtype=np.uint32)
    node = kernels.nodes.Node(simd, criterion, case.y, all_rows, case.w)
    is_known = node.take_rest(np.setdiff1d(all_rows, rows), rows)
    assert is_known == (criterion != "absolute_error")
    if is_known:
        assert_array_equal(node.scores(case.entries), case.scores)


@each_size
@each_criterion
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_pass_begins_anywhere(kernels, simd, criterion, n, weighted, n_outputs):
    """Bit for bit, and only where counting the rows of one side takes less than moving them."""
    if n_outputs > 1 and criterion in ("binary_gini", "chi_square"):
        pytest.skip("of one output")
    for seed in range(3):
        case = Case(kernels, simd, criterion, n, seed, weighted, n_outputs)
        first = int(case.rng.integers(1, n))
        for is_left in (True, False):
            found = case.node.scores_behind(case.entries, first, is_left)
            assert (found is None) == (criterion not in ("gini", "entropy"))
            if found is not None:
                assert_array_equal(found, case.scores[first - 1 :])


@pytest.mark.parametrize("criterion", CLASSIFICATION)
@pytest.mark.parametrize("n_classes", [2, 5, 64, 65])
@pytest.mark.parametrize(
    ("n_slots", "n_features"), [(1, 1), (16, 16), (40, 25), (64, 64), (150, 90)]
)
def test_rows_in_series_are_counted(kernels, simd, criterion, n_classes, n_slots, n_features):
    """Rows that differ in few codes, in all, and in stretches of either kind."""
    n_classes = 2 if criterion == "binary_gini" else n_classes
    for seed, share_apart in enumerate((0, 0.02, 0.3, 1)):
        rng = np.random.default_rng(seed)
        n, n_values = int(rng.integers(3600, 6000)), int(rng.integers(2, 257))
        y = np.repeat(rng.integers(0, n_classes, n // 8 + 1), 8)[:n].astype(np.uint8)
        of_class = rng.integers(0, n_values, (n_classes, n_slots))
        codes = of_class[y]
        is_apart = rng.random((n, n_slots)) < share_apart
        is_apart[n // 2 : n // 2 + 500] |= rng.random() < 0.5
        codes[is_apart] = rng.integers(0, n_values, is_apart.sum())
        codes = codes.astype(np.uint8)
        slots = rng.choice(n_slots, n_features, replace=False).astype(np.uint32)
        if seed != 2:  # as in a fit
            slots.sort()
        rows = np.flatnonzero(rng.random(n) < 0.9).astype(np.uint32)
        node = kernels.nodes.Node(simd, criterion, y.reshape(-1, 1), rows)
        cells = node.cells(codes, slots, n_values)
        n_items = cells.shape[2]
        expected = np.zeros_like(cells)
        item, amount = (0, (1 << 32) + y[rows].astype(int)) if n_items == 1 else (y[rows], 1)
        for f, slot in enumerate(slots):
            np.add.at(expected[f], (codes[rows, slot], item), amount)
        assert_array_equal(cells, expected)
        n_within = np.argmin((slots - slots[0] < 64) & (slots >= slots[0])) or n_features
        has_series = simd == kernels.machine.SIMD["avx512"] and n_classes <= 64 and n_within >= 16
        n_in_series = node.n_in_series(codes, slots, n_values)
        if not has_series:
            assert n_in_series == 0
        elif share_apart < 0.1:
            assert n_in_series >= n // 3
        elif share_apart == 1 and n_values > 16 and n_classes < 10:
            assert n_in_series <= 64 * 2


@each_size
@pytest.mark.parametrize("criterion", [*CLASSIFICATION, "squared_error", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scans_stop_where_a_score_may_be_better(kernels, simd, criterion, n, weighted):
    """At every boundary that scores more than the best, and at hardly any other."""
    for seed in range(6):
        case = Case(kernels, simd, criterion, n, seed, weighted)
        first, last = (0, n - 1) if seed % 2 else sorted(case.rng.choice(n, 2, replace=False))
        position = np.arange(1, n)
        is_candidate = case.is_boundary[1:] & (position > first) & (position <= last)
        finite = case.scores[np.isfinite(case.scores)]
        bests = [-np.inf, 0.0, *np.quantile(finite, [0, 0.5, 0.9, 1])] if len(finite) else [0.0]
        for best in [*bests, np.nextafter(bests[-1], np.inf), 2 * abs(bests[-1]) + 1]:
            stops, found = case.node.stops(case.entries, first, last, best)
            with_classes = case.entries | CLASS_1 * (case.y[case.rows, 0] == 1).astype(np.uint32)
            for of_entries, expected in zip(
                case.node.stops(with_classes, first, last, best, True), (stops, found)
            ):
                assert_array_equal(of_entries, expected)
            assert stops[-1] == last + 1
            stops = stops[:-1]
            assert set(position[is_candidate & (case.scores > best)]) <= set(stops)
            if abs(case.y.mean(dtype=float)) < 1000:  # sums that cancel need wider screens
                slack = 1e-8 * np.abs(finite).max(initial=0) + 1e-12
                assert set(stops) <= set(position[is_candidate & (case.scores >= best - slack)])
            # The accumulator is where the scan stopped.
            assert_array_equal(found[:-1], case.scores[stops - 1])
            if last > 0:
                assert found[-1] == case.scores[last - 1]


@each_size
@pytest.mark.parametrize("criterion", ["binary_gini", "squared_error", "poisson"])
@pytest.mark.parametrize("heaviest", [1, 31, 1000])
def test_the_first_of_the_best_positions_is_met(kernels, simd, criterion, n, heaviest):
    """The only stop of two classes, and of exact sums in vectors; else among the first few."""
    in_vectors = simd == kernels.machine.SIMD["avx512"]
    for seed in range(12):
        case = Case(kernels, simd, criterion, n, seed, heaviest > 1, heaviest=heaviest)
        first, last = (0, n - 1) if seed % 2 else sorted(case.rng.choice(n, 2, replace=False))
        position = np.arange(1, n)
        is_candidate = case.is_boundary[1:] & (position > first) & (position <= last)
        scores = np.where(is_candidate, case.scores, -np.inf)
        top = scores.max()
        with_classes = case.entries | CLASS_1 * (case.y[case.rows, 0] == 1).astype(np.uint32)
        for best in (-np.inf, 0.0, np.median(case.scores), np.nextafter(top, -np.inf), top):
            stops, found = case.node.stops_at_best(case.entries, first, last, best)
            assert set(stops) <= set(position[is_candidate])
            assert_array_equal(found, case.scores[stops - 1])
            if top > best:
                assert stops[np.argmax(found)] == 1 + np.argmax(scores)
            if criterion == "binary_gini" or (
                criterion == "squared_error" and in_vectors and last - first > FEW_CANDIDATES
            ):
                assert len(stops) == (top > best)
            of_entries = case.node.stops_at_best(with_classes, first, last, best, True)
            assert_array_equal(of_entries, (stops, found))


@pytest.mark.parametrize("weighted", [False, True])
def test_of_nearly_equal_positions_the_best_is_met(kernels, simd, weighted):
    """In single precision a position near an end is less certain than one in the middle.

    The first two positions cannot be told apart, the third is certainly better than the first, and
    the second is best.
    """
    n, positions = 100, np.array([1, 2, 50])
    product = positions * (n - positions)
    magnitude = 2 * np.sqrt(product[1:]).sum()  # of all rows, about
    width = 2 * magnitude / 2**17 / np.sqrt(product)  # of what is known of a score of about 1
    scores = 1 + width[0] + [-width[0], 0.95 * width[1], 1.1 * width[2]]
    assert scores.argmax() == 1
    sums = np.zeros(n)
    sums[positions - 1] = np.sqrt(scores * product)
    y = np.round(np.diff(sums, prepend=0.0) * 2**30).astype(np.int64)[:, None]
    rows = np.arange(n, dtype=np.uint32)
    weights = np.ones(n, np.int64) if weighted else None
    node = kernels.nodes.Node(simd, "squared_error", y, rows, weights)
    stops, _ = node.stops_at_best(rows | np.uint32(BOUNDARY), 0, n - 1, -np.inf)
    in_vectors = simd == kernels.machine.SIMD["avx512"]
    assert list(stops) == ([2] if in_vectors else [1, 2])


@each_size
@pytest.mark.parametrize("n_outputs", [2, 7, 8, 9, 20, 33])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_of_many_outputs_is_found(kernels, simd, n, n_outputs, weighted):
    """The screen finds the best positions, and no others but what scores about as much."""
    for seed in range(3):
        case = Case(kernels, simd, "squared_error", n, seed, weighted, n_outputs)
        first, last = (0, n - 1) if seed % 2 else sorted(case.rng.choice(n, 2, replace=False))
        position = np.arange(1, n)
        is_candidate = case.is_boundary[1:] & (position > first) & (position <= last)
        scores = np.where(is_candidate, case.scores, -np.inf)
        for best in (-np.inf, 0.0, np.median(case.scores), np.nextafter(scores.max(), -np.inf)):
            found = case.node.found(case.entries, first, last, best)
            assert list(found) == sorted(set(found))
            if scores.max() > best:
                assert set(position[scores == scores.max()]) <= set(found)
            slack = 1e-4 * np.abs(case.scores).max() + 1e-9
            assert (scores[found - 1] >= max(scores.max(initial=best) - slack, best - slack)).all()


@pytest.mark.parametrize("n_classes", [2, 3, 20, 64, 65, 200])
@pytest.mark.parametrize("n", [1, 3, 255, 256, 257, 1000])
def test_classes_are_counted(kernels, simd, n_classes, n):
    case = Case(kernels, simd, "gini", n, 0, n_classes=n_classes)
    n_classes = max(2, case.y.max() + 1)
    expected = np.bincount(case.y[case.rows, 0], minlength=n_classes)
    assert_array_equal(case.node.count_classes(case.entries), expected)


@pytest.mark.parametrize("n", [5, 30, 200, 1000])
@pytest.mark.parametrize("n_classes", [3, 9, 70])
def test_nothing_better_is_skipped(kernels, simd, n, n_classes):
    n_skipped = 0
    for seed in range(20):
        case = Case(kernels, simd, "gini", n, seed, n_classes=n_classes)
        first = int(case.rng.integers(1, n - 1))
        length = int(case.rng.integers(1, n - first))
        within = case.scores[first - 1 : first + length]  # in front of each row, and behind
        top = within.max()
        for best in (
            0.5 * top,
            np.nextafter(top, 0),
            top,
            1.001 * top,
            1.1 * top,
            3 * top,
            10.0 * n * n,
        ):
            skipped, score = case.node.skip(case.entries, first, length, best)
            assert not (skipped and top > best)
            assert score == case.scores[first - 1 + length * skipped]
            n_skipped += skipped and best < 10.0 * n * n
            assert skipped or best < 10.0 * n * n  # more than any bound
    assert n_skipped > 0


def nearly_one_class(rng, n, n_classes, common, n_others):
    """Classes of n rows, and an order of these where the others of them lie in a few heaps."""
    y = np.full(n, common, np.uint8)
    others = rng.choice(n, n_others, replace=False)
    y[others] = rng.integers(0, n_classes, n_others)
    heap = rng.integers(0, n, 3)[rng.integers(0, 3, n)]
    at = np.where(y == common, rng.random(n) * n, heap + rng.normal(0, 20, n))
    return y, np.argsort(at).astype(np.uint32)


@pytest.mark.parametrize("n_others", [0, 1, 20, 150, 256])
@pytest.mark.parametrize("ties", [0, 0.5, 0.99])
def test_rows_of_a_common_class_hide_nothing(kernels, simd, n_others, ties):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n, n_classes = int(rng.integers(4096, 5000)), (3, 9, 70, 256)[seed]
        common = (0, 8, 30, 255)[seed]
        of_node, order = nearly_one_class(rng, n, n_classes, common, n_others)
        rows = np.sort(rng.choice(2 * n, n, replace=False)).astype(np.uint32)
        y = rng.integers(0, n_classes, 2 * n).astype(np.uint8)
        y[rows], y[0] = of_node, n_classes - 1
        order = rows[order]
        node = kernels.nodes.Node(simd, "gini", y.reshape(-1, 1), rows)
        assert node.common_class() == (common if simd == kernels.machine.SIMD["avx512"] else None)
        is_boundary = rng.random(n) >= ties
        entries = order + BOUNDARY * is_boundary.astype(np.uint32)
        of_positions = np.append(np.nan, node.scores(entries))  # none with no row on the left
        first, last = sorted(map(int, rng.choice(n, 2, replace=False)))
        for begin, end in ((0, n - 1), (first, last)):
            assert_array_equal(
                node.count_classes(entries[begin:end]),
                np.bincount(y[order[begin:end]], minlength=n_classes),
            )
            position = np.arange(begin + 1, end + 1)
            is_candidate = is_boundary[position]
            top = of_positions[position].max()
            for best in (-np.inf, np.quantile(of_positions[position], 0.9), top - 1e-6, top):
                stops, found = node.stops(entries, begin, end, best)
                assert stops[-1] == end + 1
                assert_array_equal(found[:-1], of_positions[stops[:-1]])
                assert found[-1] == of_positions[end]
                better = position[is_candidate & (of_positions[position] > best)]
                assert set(better) <= set(stops)
                slack = 1e-8 * top
                near = position[is_candidate & (of_positions[position] >= best - slack)]
                assert set(stops[:-1]) <= set(near)


def test_the_common_class_is_that_of_the_node(kernels, simd):
    rng = np.random.default_rng(0)
    n = 9000
    y = np.repeat(np.array([1, 2], np.uint8), n // 2)
    y[rng.choice(n, 100, replace=False)] = 0
    rows = np.arange(n, dtype=np.uint32)
    for part, rest in ((rows[: n // 2], rows[n // 2 :]), (rows[:10], rows[10:])):
        node = kernels.nodes.Node(simd, "gini", y.reshape(-1, 1), rows)
        common = node.common_class
        assert common() is None
        assert node.take_rest(part, rest)
        expected = 2 if simd == kernels.machine.SIMD["avx512"] and len(part) == n // 2 else None
        assert common() == expected
        entries = rng.permutation(rest) + np.uint32(BOUNDARY)
        assert_array_equal(node.count_classes(entries), np.bincount(y[rest]))
        of_positions = np.append(-np.inf, node.scores(entries))
        best = np.quantile(of_positions[1:], 0.9)
        stops = node.stops(entries, 0, len(rest) - 1, best)[0][:-1]
        assert set(np.flatnonzero(of_positions > best)) <= set(stops)


@pytest.mark.parametrize("n", [5, 30, 200])
def test_no_order_of_the_rows_skipped_would_do_better(kernels, simd, n):
    for seed in range(20):
        case = Case(kernels, simd, "gini", n, seed, n_classes=4)
        first = int(case.rng.integers(0, n - 1))
        length = int(case.rng.integers(1, min(n - first, 20)))
        tops = []
        for _ in range(30):
            entries = case.entries.copy()
            entries[first : first + length] = case.rng.permutation(entries[first : first + length])
            tops.append(case.node.scores(entries)[max(first - 1, 0) : first + length].max())
        for best in sorted(tops):
            if case.node.skip(case.entries, first, length, best)[0]:
                assert max(tops) <= best


@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 15, 16, 17, 32, 33, 56, 57, 63, 64])
@pytest.mark.parametrize(
    ("criterion", "weighted"),
    [(name, False) for name in ("binary_gini", "gini", "squared_error", "poisson")]
    + [("squared_error", True)],
)
def test_block_scan_finds_the_first_of_the_best(kernels, avx512, criterion, weighted, n):
    for seed in range(20):
        rng = np.random.default_rng(1000 * n + seed)
        n_block = int(rng.integers(n, 65))
        y = random_targets(rng, criterion, n_block)
        places = rng.permutation(n_block)[:n].astype(np.uint8)
        all_rows = np.arange(n_block, dtype=np.uint32)
        w = rng.integers(1, rng.choice([2, 6, 1000]), n_block) if weighted else None
        node = kernels.nodes.Node(
            avx512, criterion, y, np.sort(all_rows[places]), w
        )  # fmt: skip
        found = node.scores(places.astype(np.uint32))
        is_boundary = rng.random(n) < rng.choice([0.2, 1.0])
        word = sum(1 << p for p in np.flatnonzero(is_boundary).tolist())
        leaf = int(rng.integers(1, n // 2 + 2))
        position = np.arange(1, n)
        admissible = is_boundary[1:] & (position >= leaf) & (n - position >= leaf)
        candidates = np.where(admissible, found, -np.inf)
        for best in (-np.inf, 0.0, np.median(found), np.nextafter(candidates.max(), -np.inf)):
            expected = None
            if candidates.max() > best:
                p = int(np.argmax(candidates))
                expected = (p + 1, candidates[p])
            assert node.block_scan(all_rows, places, word, 0, leaf, best) == expected


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32, 33, 40, 63, 64])
@pytest.mark.parametrize("n_features", [1, 3, 12, 64, 150])
@pytest.mark.parametrize("weighted", [False, True])
def test_block_search_finds_the_first_of_the_best(kernels, vectors, n, n_features, weighted):
    for seed in range(8):
        rng = np.random.default_rng(1000 * n + seed)
        n_block = int(rng.integers(n, 65))
        y = rng.integers(0, rng.choice([2, 5, 1000, 2**40]), (n_block, 1)) - 2
        w = rng.integers(1, rng.choice([2, 4]), n_block) if weighted else None
        members = np.sort(rng.permutation(n_block)[:n])
        n_codes = rng.choice([1, 2, 3, 256], n_features)
        codes = rng.integers(0, n_codes[:, None], (n_features, n_block)).astype(np.uint8)
        node = kernels.nodes.Node(vectors, "squared_error", y, members.astype(np.uint32), w)
        word = sum(1 << place for place in members.tolist())
        all_rows = np.arange(n_block, dtype=np.uint32)
        found, sides = node.block_search(all_rows, codes, word)
        assert found == first_of_the_best(node, codes, members)
        if found:
            check_sides(sides, codes[found[0]], members, found[1])


def check_sides(sides, codes, rows, n_left):
    """Of a candidate, given by how many rows it has on the left."""
    left, below, above = sides
    ascending = rows[np.argsort(codes[rows], kind="stable")]
    assert left == sum(1 << row for row in ascending[:n_left].tolist())
    assert {below, above} <= set(rows.tolist())
    assert codes[below] == codes[ascending[n_left - 1]]
    assert codes[above] == codes[ascending[n_left]]


def first_of_the_best(node, codes, rows):
    """(feature, rows on the left, score) of the best candidate, feature by feature; () if none."""
    best = ()
    for feature, of_feature in enumerate(codes):
        entries = rows[np.argsort(of_feature[rows], kind="stable")]
        found = node.scores(entries.astype(np.uint32))
        candidates = np.where(np.diff(of_feature[entries]) > 0, found, -np.inf)
        p = int(np.argmax(candidates))
        if candidates[p] > (best[2] if best else -np.inf):
            best = (feature, p + 1, candidates[p])
    return best


@pytest.mark.parametrize("weight", [1, 3, 4])
def test_block_search_leaves_sums_that_do_not_fit(kernels, vectors, weight):
    rows = np.arange(64, dtype=np.uint32)
    codes = np.arange(64, dtype=np.uint8)[None]
    w = np.full(64, weight)
    largest = 2**62 // (64 * weight) ** 2
    for scale in (0.9, 1.1):
        y = (np.where(rows % 2 == 0, largest, -largest) * scale).astype(np.int64)[:, None]
        node = kernels.nodes.Node(vectors, "squared_error", y, rows, w)
        fits = scale < 1 and 64 * weight < 256
        found = node.block_search(rows, codes, 2**64 - 1)
        if fits:
            assert found[0] == first_of_the_best(node, codes, rows)
        else:
            assert found is None
