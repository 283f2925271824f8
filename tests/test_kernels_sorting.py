"""Keys, sorts and lists of nonzeros against NumPy's sort."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.kernels import SIZES, SPECIAL_FLOATS, inversions, packed, random_floats

each_size = pytest.mark.parametrize("n", SIZES)


def item(keys, payloads):
    return np.asarray(keys, np.uint64) << np.uint64(32) | np.asarray(payloads, np.uint64)


def awkward_keys(rng, n):
    """Keys for each way through the sorts: equal bytes, few values, a common one, an order."""
    low = rng.integers(0, 1 << 16, n, dtype=np.uint32)
    yield rng.integers(0, 1 << 32, n, dtype=np.uint32)
    yield low
    yield low << np.uint32(16)
    yield low >> np.uint32(8) << np.uint32(12)
    yield rng.integers(0, 3, n, dtype=np.uint32)
    yield np.full(n, 0xFFFFFFFF, np.uint32)
    yield np.arange(n, dtype=np.uint32)
    yield np.arange(n, dtype=np.uint32)[::-1]
    # Most items are equal: all others are below, above or on either side, or are no numbers.
    others = rng.choice(n, n // 3, replace=False)
    for common, lowest in [(1 << 31, 0), (0, 0), (0xFFFFFFFF, 0), (1 << 30, 1 << 30)]:
        keys = np.full(n, common, np.uint32)
        keys[others] = rng.integers(lowest, 1 << 32, len(others), dtype=np.uint32)
        yield keys
    # One item apart from the others, which are in the worst order for those to be moved.
    yield np.append(np.arange(n - 1, dtype=np.uint32)[::-1], np.uint32(1 << 31))[:n]


def test_keys_order_floats(kernels):
    x = np.concatenate([SPECIAL_FLOATS, random_floats(np.random.default_rng(0), 200)])
    keys = kernels.keys.float_keys(x)
    number = ~np.isnan(x)
    assert (keys[~number] == kernels.keys.MISSING_KEY).all()
    assert (keys[number] < kernels.keys.MISSING_KEY).all()
    a, b = x[number], keys[number]
    assert_array_equal(a[:, None] < a, b[:, None] < b)
    assert_array_equal(a[:, None] == a, b[:, None] == b)
    assert_array_equal(kernels.keys.key_cells(b).view(np.float32), a)


def test_keys_of_categories_come_between_numbers_and_missing_values(kernels):
    categories = kernels.keys.category_cells([0, 1, 2, 1000, 0x3FFFFC, 0x3FFFFD])
    cells = np.concatenate([np.array([-np.inf, 0, np.inf], np.float32), categories])
    keys = kernels.keys.cell_keys(cells, True)
    assert (np.diff(keys.astype(np.int64)) > 0).all()
    assert keys[-1] < kernels.keys.MISSING_KEY
    assert_array_equal(kernels.keys.key_cells(keys), cells.view(np.uint32))
    nan = np.array([np.nan], np.float32)
    assert kernels.keys.cell_keys(nan, True) == kernels.keys.MISSING_KEY
    # In a column without categories every NaN is a missing value.
    assert (kernels.keys.cell_keys(categories, False) == kernels.keys.MISSING_KEY).all()


@each_size
def test_sort(kernels, simd, n):
    rng = np.random.default_rng(n)
    for keys in [*awkward_keys(rng, n), kernels.keys.float_keys(random_floats(rng, n))]:
        payloads = np.sort(rng.choice(1 << 32, n, replace=False).astype(np.uint32))
        items = item(keys, payloads)
        expected = items[np.argsort(keys, kind="stable")]
        assert_array_equal(kernels.keys.sort_by_key(simd, items), expected)


@pytest.mark.parametrize("n", [*SIZES[1:], 5000, (1 << 18) + 7])
def test_entries_of_rows(kernels, n):
    rng = np.random.default_rng(n)
    some = np.sort(rng.choice(2 * n, n, replace=False).astype(np.uint32))
    for keys in [*awkward_keys(rng, n), kernels.keys.float_keys(random_floats(rng, n))]:
        order = np.argsort(keys, kind="stable")
        differs = np.diff(keys[order].astype(np.int64), prepend=keys[order[0]]) != 0
        for rows in (None, some):
            entries, n_missing = kernels.keys.sort_by_keys(np.ascontiguousarray(keys), rows)
            expected = (np.arange(n, dtype=np.uint32) if rows is None else rows)[order]
            assert_array_equal(entries, expected | differs * np.uint32(kernels.bits.BOUNDARY))
            assert n_missing == np.sum(keys >= kernels.keys.FIRST_CATEGORY_KEY)


@pytest.mark.parametrize("n", [8, 16, 32, 64])
def test_lanes_are_sorted(kernels, n):
    if not kernels.machine.has_simd("avx2"):
        pytest.skip("this machine has no avx2")
    rng = np.random.default_rng(n)
    for largest in (1, 3, 1000, 65535):
        words = rng.integers(0, largest, (n, 16), endpoint=True).astype(np.uint16)
        assert_array_equal(kernels.keys.sort_lanes(words), np.sort(words, axis=0))


@pytest.mark.parametrize("n", [1, 2, 5, 24])
def test_insertion_sort_keeps_its_budget(kernels, n):
    rng = np.random.default_rng(n)
    for items in (rng.integers(0, 5, n), np.arange(n), np.arange(n)[::-1]):
        moves = inversions(items)
        for budget in {0, moves - 1, moves, moves + 1} - {-1}:
            result = items.astype(np.uint64)
            assert kernels.keys.insertion_sort(result, budget) == (moves <= budget)
            if moves <= budget:
                assert_array_equal(result, np.sort(items))
            else:
                assert_array_equal(np.sort(result), np.sort(items))


def test_outer_keys_order_from_the_outside_in(kernels):
    x = np.concatenate([SPECIAL_FLOATS, random_floats(np.random.default_rng(1), 100)])
    x = x[x != 0]
    place = np.select([x < 0, np.isnan(x)], [0, 1], 2)
    expected = np.lexsort([np.where(x < 0, x, np.where(np.isnan(x), 0, -x)), place])
    keys = kernels.keys.outer_keys(x)
    assert_array_equal(x[np.argsort(keys, kind="stable")], x[expected])
    number = ~np.isnan(x)
    assert_array_equal(kernels.keys.outer_values(keys)[number], x[number])
    assert np.isnan(kernels.keys.outer_values(keys)[~number]).all()


@each_size
@pytest.mark.parametrize("positive", [False, True])
def test_sorted_nonzeros(kernels, simd, n, positive):
    """Those of the node's rows, explicit zeros of either sign left out."""
    if n == 0:
        return
    for seed in range(6):
        rng = np.random.default_rng(1000 * n + seed)
        rows = np.sort(rng.choice(4 * n, n, replace=False)).astype(np.int32)
        values = random_floats(rng, n)
        values[rng.random(n) < 0.2] = rng.choice([0.0, -0.0])
        if positive:
            values = np.abs(np.where(np.isnan(values), 0, values)).astype(np.float32)
            values[rng.random(n) < 0.1] = -0.0
        here = rng.random(4 * n) < rng.choice([0.0, 0.5, 1.0])
        entries = kernels.keys.sorted_nonzeros(simd, values, rows, packed(here))
        kept = here[rows] & (values != 0)
        keys = kernels.keys.outer_keys(values[kept])
        order = np.argsort(keys, kind="stable")
        boundary = np.diff(keys[order].astype(np.int64), prepend=-1) != 0
        assert_array_equal(entries % kernels.bits.BOUNDARY, rows[kept][order])
        assert_array_equal(entries >= kernels.bits.BOUNDARY, boundary)
