"""Gathered columns, the sides of rows by position, and what is counted and moved by them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.kernels import MASK, SIZES, mix, random_floats

each_size = pytest.mark.parametrize("n", SIZES[1:])


def random_sides(rng, n):
    return rng.random(n) < rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])


def as_bits(places):
    return sum(1 << int(place) for place in places)


@each_size
@pytest.mark.parametrize("gathers", [False, True])
def test_a_column_is_gathered(kernels, simd, n, gathers):
    for seed in range(8):
        rng = np.random.default_rng(1000 * n + seed)
        order = rng.choice(["C", "F"])
        X = random_floats(rng, 3 * (n + 5)).reshape(n + 5, 3).copy(order=order)[::-1]
        rows = rng.permutation(n + 5)[:n].astype(np.uint32)
        cells, low, high, n_missing = kernels.gathers.gather(simd, X, 1, rows, gathers)
        expected = X[rows, 1]
        numbers = expected[~np.isnan(expected)]
        assert_array_equal(cells, expected)
        assert low == min(numbers, default=np.inf)
        assert high == max(numbers, default=-np.inf)
        assert n_missing == n - len(numbers)


@each_size
@pytest.mark.parametrize("missing_left", [False, True])
def test_sides_are_marked(kernels, simd, n, missing_left):
    for seed in range(8):
        rng = np.random.default_rng(1000 * n + seed)
        cells = random_floats(rng, n)
        top = rng.choice(np.append(cells[~np.isnan(cells)], np.float32(0)))
        n_left, sides = kernels.sides.mark_sides(simd, cells, top, missing_left)
        assert_array_equal(sides, (cells <= top) | (np.isnan(cells) & missing_left))
        assert n_left == sides.sum()


@each_size
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.int64])
def test_items_are_divided(kernels, simd, n, dtype):
    for seed in range(8):
        rng = np.random.default_rng(1000 * n + seed)
        items, sides = rng.integers(0, 100, n).astype(dtype), random_sides(rng, n)
        divided = kernels.sides.divide_items(simd, items, sides)
        assert_array_equal(divided, np.concatenate([items[sides], items[~sides]]))


@each_size
@pytest.mark.parametrize("n_classes", [2, 3, 26, 256])
def test_classes_of_a_side_are_counted(kernels, simd, n, n_classes):
    for seed in range(8):
        rng = np.random.default_rng(1000 * n + seed)
        classes, sides = rng.integers(0, n_classes, n), random_sides(rng, n)
        absent = rng.integers(0, n_classes, rng.integers(3))
        which = np.union1d(classes, absent).astype(np.uint8)
        for side in (sides, None):
            expected = np.bincount(classes if side is None else classes[side], None, n_classes)
            counts, n_ones = kernels.sides.side_counts(simd, classes, side, which, n_classes)
            assert_array_equal(counts, expected)
            assert n_ones is None or n_ones == expected[1]


@each_size
def test_targets_of_a_side_are_summed(kernels, simd, n):
    for seed in range(8):
        rng = np.random.default_rng(1000 * n + seed)
        items, sides = rng.integers(-(2**51), 2**51, n), random_sides(rng, n)
        assert kernels.sides.side_sum(simd, items, sides) == items[sides].sum()
        assert kernels.sides.side_sum(simd, items, None) == items.sum()


def test_offsets_beyond_32_bits_are_not_read_in_wide_vectors(kernels):
    sets = kernels.machine.SIMD
    for n_rows, stride in ((2**30, 2), (2**20, -(2**11)), (2**31, 1)):
        assert kernels.gathers.simd_of_reads(sets["avx512"], n_rows, stride) == sets["avx2"]
        assert kernels.gathers.simd_of_reads(sets["avx512"], n_rows - 1, stride) == sets["avx512"]
        assert kernels.gathers.simd_of_reads(sets["portable"], n_rows, stride) == sets["portable"]


@each_size
@pytest.mark.parametrize("gathers", [False, True])
def test_codes_are_gathered_and_marked(kernels, simd, n, gathers):
    for seed in range(8):
        rng = np.random.default_rng(1000 * n + seed)
        low, high = sorted(rng.integers(0, 256, 2))
        codes = rng.integers(low, high + 1, n + 5).astype(np.uint8)
        rows = np.sort(rng.permutation(n + 5)[:n]).astype(np.uint32)
        cells, *extremes = kernels.gathers.gather_codes(simd, codes, rows, gathers)
        assert_array_equal(cells, codes[rows])
        assert extremes == [cells.min(), cells.max()]
        top = rng.choice(cells)
        n_left, sides = kernels.sides.mark_codes(simd, cells, top)
        assert_array_equal(sides, cells <= top)
        assert n_left == sides.sum()


@each_size
def test_codes_of_a_group_of_columns_are_gathered(kernels, simd, n):
    for seed in range(8):
        rng = np.random.default_rng(1000 * n + seed)
        low, high = np.sort(rng.integers(0, 256, (2, 16)), axis=0)
        codes = rng.integers(low, high + 1, (n + 5, 16)).astype(np.uint8)
        rows = rng.permutation(n + 5)[:n].astype(np.uint32)
        columns = kernels.gathers.gather_group(simd, codes, rows)
        assert_array_equal(columns, codes[rows].T)
        for column in columns:
            assert kernels.gathers.code_extremes(simd, column) == (column.min(), column.max())
        places = rng.permutation(16)[: rng.integers(1, 5)]
        gathered = kernels.gathers.gather_places(simd, codes, rows, places)
        for place, (column, least, greatest) in zip(places, gathered or []):
            assert_array_equal(column, columns[place])
            assert (least, greatest) == (column.min(), column.max())


def test_avx512_gathers_some_columns_of_a_group(kernels, simd):
    codes, rows = np.zeros((1, 16), np.uint8), np.zeros(1, np.uint32)
    gathered = kernels.gathers.gather_places(simd, codes, rows, [3])
    assert (gathered is not None) == (simd == kernels.machine.SIMD["avx512"])


@pytest.mark.parametrize("n", range(1, 65))
def test_bits_and_codes_of_few_rows_are_decoded(kernels, simd, n):
    rng = np.random.default_rng(n)
    values = random_floats(rng, 256)
    for gathers in (False, True):
        codes = rng.integers(0, 256, n).astype(np.uint8)
        cells = kernels.gathers.decode_codes(simd, codes, values, gathers)
        assert_array_equal(cells, values[codes])
    ones = rng.random(n) < 0.5
    cells = kernels.gathers.decode_bits(simd, as_bits(np.flatnonzero(ones)), *values[:2], n)
    assert_array_equal(cells, np.where(ones, values[1], values[0]))


def test_values_up_to_a_threshold_are_counted(kernels):
    rng = np.random.default_rng(0)
    for n in range(1, 130):
        values = np.sort(rng.normal(size=n).astype(np.float32))
        for top in [*values, *rng.normal(size=3), -np.inf, np.inf]:
            assert kernels.gathers.count_up_to(values, top) == np.sum(values <= np.float32(top))


@each_size
@pytest.mark.parametrize("n_bits", [1, 63, 64, 65, 150])
def test_bits_of_a_node_are_gathered_and_marked(kernels, simd, n, n_bits):
    rng = np.random.default_rng([n, n_bits])
    X = rng.random((n + 5, n_bits)) < rng.choice([0, 0.1, 0.5, 1], n_bits)
    padded = np.pad(X, ((0, 0), (0, -n_bits % 64)))
    words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    rows = rng.permutation(n + 5)[:n].astype(np.uint32)
    bits = rng.permutation(n_bits)[:20].astype(np.uint32)
    for bit, (n_left, sides) in zip(bits, kernels.gathers.zeros_of_bits(simd, words, rows, bits)):
        assert_array_equal(sides, ~X[rows, bit])
        assert n_left == sides.sum()


@pytest.mark.parametrize("n", [1, 16, 200, 255, 256, 300, 1000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_cells_of_several_features_are_gathered_at_once(kernels, simd, n, order):
    rng = np.random.default_rng(n)
    X = np.asarray(random_floats(rng, 9 * (n + 5)).reshape(n + 5, 9), order=order)
    rows = rng.permutation(n + 5)[:n].astype(np.uint32)
    for n_looked in (1, 2, 4, 7, 9):
        features = rng.permutation(9)[:n_looked].astype(np.uint32)
        found = kernels.gathers.gather_in_turn(simd, X, features, rows)
        for feature, (cells, low, high, n_missing) in zip(features, found):
            expected = X[rows, feature]
            numbers = expected[~np.isnan(expected)]
            assert_array_equal(cells, expected)
            assert low == min(numbers, default=np.inf)
            assert high == max(numbers, default=-np.inf)
            assert n_missing == n - len(numbers)


@each_size
@pytest.mark.parametrize("n_features", [1, 8, 15, 16, 17, 40])
def test_all_features_of_a_node_are_looked_at_in_lanes(kernels, vectors, n, n_features):
    """The draws are those of the keyed sampler; what is missing is only said to be."""
    rng = np.random.default_rng([n, n_features])
    X = rng.normal(size=(n + 5, n_features)).astype(np.float32)
    few = rng.random(n_features) < 0.5
    X[:, few] = X[:, few].round() * rng.choice([0, 1, 1e-40, 1e30], few.sum()).astype(np.float32)
    X[rng.random(X.shape) < rng.choice([0, 0.02])] = np.nan
    rows = np.sort(rng.permutation(n + 5)[:n]).astype(np.uint32)
    key = int(rng.integers(0, 2**63))
    found = kernels.sides.look_in_lanes(vectors, X, rows, key)
    low, high, varies, missing, thresholds, sides, n_left = found

    cells = X[rows].astype(float)
    whole = ~np.isnan(cells).any(axis=0)
    assert_array_equal(missing, ~whole)
    assert_array_equal(low[whole], cells.min(axis=0)[whole])
    assert_array_equal(high[whole], cells.max(axis=0)[whole])
    assert_array_equal(varies[whole], (low != high)[whole])
    draws = [mix(mix(key, MASK ^ f), 0) >> 11 for f in range(n_features)]
    low, high = low.astype(float), high.astype(float)
    expected = low + (high - low) * (np.array(draws) * 2.0**-53)
    expected = np.where(expected == high, low, expected)
    assert_array_equal(thresholds[whole], expected[whole])
    assert_array_equal(sides[whole], (cells <= expected).T[whole])
    assert_array_equal(n_left[whole], sides.sum(axis=1)[whole])


@pytest.mark.parametrize("n", [2, 3, 8, 16, 17, 31, 32, 33, 57, 64])
def test_nodes_of_few_rows_are_masks(kernels, simd, n):
    most = kernels.sides.most_rows(simd)
    if n > most:
        pytest.skip(f"masks have {most} rows")
    for seed in range(50):
        rng = np.random.default_rng([n, seed])
        cells = random_floats(rng, most).clip(-1e38, 1e38)
        classes = rng.integers(0, rng.choice([2, 5, 256]), most).astype(np.uint8)
        items = rng.integers(-(2**55), 2**55, most)
        is_in = (np.arange(n) == rng.integers(n)) | (rng.random(n) < rng.choice([0.2, 0.7, 1]))
        rows = np.flatnonzero(is_in)
        numbers = rows[~np.isnan(cells[rows])]
        threshold = float(rng.choice([*cells[numbers], 0])) + rng.choice([0.0, 1e-9])
        found = kernels.sides.look_at_rows(
            simd, cells, classes, items, 2**n - 1, as_bits(rows), threshold
        )
        assert found["without_number"] == as_bits(np.setdiff1d(rows, numbers))
        assert found["low"] == min(cells[numbers], default=np.inf)
        assert found["high"] == max(cells[numbers], default=-np.inf)
        above = np.nextafter(np.float32(found["top"]), np.float32(np.inf))
        assert found["top"] <= threshold < above
        left = numbers[cells[numbers].astype(float) <= threshold]
        right = np.setdiff1d(rows, left)
        assert found["up_to"] == as_bits(left)
        assert found["squares_left"] == (np.bincount(classes[left]) ** 2).sum()
        assert found["squares_right"] == (np.bincount(classes[right]) ** 2).sum()
        assert found["sum"] == items[rows].sum()
        same = classes[:n, None] == classes[:n]
        assert found["alike"][:n] == [as_bits(np.flatnonzero(row)) for row in same]
        assert found["not_zero"] == as_bits(rows[classes[rows] > 0])
        spread = (row for i, row in enumerate(rows) if 0x5A5A5A5A5A5A5A5A >> i & 1)
        assert found["spread"] == as_bits(spread)
        for of_rows in (classes, np.arange(most, dtype=np.uint32), items):
            picked = kernels.sides.pick_rows(simd, of_rows, as_bits(rows))
            assert_array_equal(picked, of_rows[rows])


@each_size
def test_rows_are_packed(kernels, n):
    for seed in range(8):
        rng = np.random.default_rng(1000 * n + seed)
        n_features = int(rng.integers(1, 40))
        X = random_floats(rng, (n + 5) * n_features).reshape(n + 5, n_features)
        X = X.copy(order=rng.choice(["C", "F"]))[::-1]
        rows = np.sort(rng.permutation(n + 5)[:n]).astype(np.uint32)
        packed = kernels.gathers.pack_rows(X, rows, n_features + 3)
        assert_array_equal(packed[:, :n_features], X[rows])
        assert not packed[:, n_features:].any()


@each_size
@pytest.mark.parametrize("n_lanes", [1, 8, 9, 12, 13, 16])
def test_what_goes_left_is_counted_in_lanes(kernels, n, n_lanes):
    if not kernels.machine.has_simd("avx2"):
        pytest.skip("this machine has no avx2")
    rng = np.random.default_rng([n, n_lanes])
    n_classes = int(rng.choice([2, 5, 200]))
    classes = rng.integers(0, n_classes, n).astype(np.uint8)
    targets = rng.integers(-(2**50), 2**50, n)
    left = rng.integers(0, 2**n_lanes, n).astype(np.uint16)
    found = kernels.sides.count_in_lanes(classes, targets, left, n_lanes, n_classes)
    ones, counts, sums, squares_left, squares_right = (each[..., :n_lanes] for each in found)
    is_left = left[:, None] >> np.arange(n_lanes) & 1
    of_class = classes[:, None] == np.arange(n_classes)
    on_left = of_class.T.astype(int) @ is_left
    on_right = of_class.sum(axis=0)[:, None] - on_left
    assert_array_equal(counts, on_left)
    assert_array_equal(ones, (classes > 0) @ is_left)
    assert_array_equal(sums, targets @ is_left.astype(int))
    assert_array_equal(squares_left, (on_left**2).sum(axis=0))
    assert_array_equal(squares_right, (on_right**2).sum(axis=0))


@pytest.mark.parametrize("size", [3, 10**6, 2**58])
def test_the_best_of_lanes_are_found(kernels, vectors, size):
    """In exact arithmetic; others may be named if they are as good as the best, nearly."""
    for seed in range(200):
        rng = np.random.default_rng([size, seed])
        n = int(rng.choice([2, 5, 1000, 10**6]))
        n_left = rng.integers(0, n + 1, 16).astype(np.int32)
        left = rng.integers(-size, size + 1, 16)
        copied = rng.random(16) < 0.3
        n_left[copied], left[copied] = n_left[0], left[0]
        total, lanes = int(rng.integers(-size, size + 1)), int(rng.integers(1, 2**16))
        least = int(rng.choice([1, 1, 2]))
        leaving, best = kernels.sides.best_lanes(vectors, left, n_left, total, n, lanes, least)
        allowed = [i for i in range(16) if lanes >> i & 1 and least <= n_left[i] <= n - least]
        assert leaving == sum(1 << i for i in allowed)
        separations, errors = {}, {}
        for i in allowed:
            a, b = int(left[i]) * n, total * int(n_left[i])
            separations[i] = Fraction((a - b) ** 2, int(n_left[i]) * (n - int(n_left[i])))
            errors[i] = Fraction((abs(a) + abs(b)) ** 2, 2**96 * (n - 1))
        top = max(separations, key=separations.get, default=0)
        named = {i for i in range(16) if best >> i & 1}
        assert named <= set(allowed)
        assert {i for i in allowed if separations[i] == separations[top]} <= named
        for i in named:
            near = 1e-12 * math.sqrt(separations[top])
            error = math.sqrt(errors[i]) + math.sqrt(errors[top])
            assert math.sqrt(separations[i]) + error + near >= math.sqrt(separations[top])
