"""Bits of rows, partition, division of lists, and the orders of blocks."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.kernels import CLASS_1, SIZES, packed, partition

each_size = pytest.mark.parametrize("n", SIZES)


def random_entries(rng, n, boundary, n_rows):
    rows = rng.choice(n_rows, n, replace=False).astype(np.uint32)
    is_boundary = rng.random(n) < rng.choice([0.0, 0.01, 0.1, 0.5, 1.0])
    return rows | np.where(is_boundary, np.uint32(boundary), np.uint32(0))


def random_sides(rng, n):
    return rng.random(n) < rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])


@pytest.mark.parametrize("n", range(66))
def test_low_bits(kernels, n):
    assert kernels.bits.low_bits(n) == (1 << min(n, 64)) - 1


@each_size
def test_bits_are_read(kernels, simd, n):
    rng = np.random.default_rng(n)
    bits = random_sides(rng, n + 1)
    places = np.concatenate([np.arange(n + 1), rng.integers(0, n + 1, n)]).astype(np.uint32)
    assert_array_equal(kernels.bits.get_bits(simd, packed(bits), places), bits[places])


@each_size
@pytest.mark.parametrize("with_writer", [False, True])
def test_bits_are_put(kernels, with_writer, n):
    """At ascending places; all others keep theirs."""
    rng = np.random.default_rng(n)
    bits = random_sides(rng, n + 1)
    places = np.flatnonzero(rng.random(n + 1) < 0.6)
    if len(places) == 0:
        places = np.array([n])
    words, new = packed(bits), random_sides(rng, len(places))
    kernels.bits.put_bits(with_writer, words, places.astype(np.uint32), new.astype(np.uint8))
    bits[places] = new
    assert_array_equal(words, packed(bits))


@each_size
@pytest.mark.parametrize("halves", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("gathers", [False, True])
def test_partition(kernels, simd, n, halves, gathers):
    boundary = kernels.bits.BOUNDARY
    for seed in range(12):
        rng = np.random.default_rng(1000 * n + seed)
        goes_left = random_sides(rng, 2 * n + 1)
        entries = random_entries(rng, n, boundary, 2 * n + 1)
        if seed >= 4:  # stretches that go to one side, but for a few entries
            length = int(rng.choice([64, 128, 150]))
            in_stretches = np.repeat(rng.random(n // length + 1) < 0.5, length)[:n]
            is_other = rng.random(n) < rng.choice([0, 0.005])
            goes_left[entries % CLASS_1] = in_stretches ^ is_other
        if seed % 2:
            entries |= np.where(rng.random(n) < 0.5, CLASS_1, 0).astype(np.uint32)
        n_left, *written = kernels.bits.partition(
            simd, gathers, entries, packed(goes_left), *halves
        )
        expected = partition(entries, goes_left, boundary)
        assert n_left == len(expected[0])
        for half, is_written, side in zip(written, halves, expected):
            assert (half is not None) == is_written
            if is_written:
                assert_array_equal(half, side)
        kept = kernels.bits.keep_left(simd, gathers, entries, packed(goes_left))
        assert_array_equal(kept, expected[0])


@pytest.mark.parametrize("boundaries", [[], [10], [10, 200], [64], [70, 130], range(256)])
@pytest.mark.parametrize("sides", ["lrlr", "lrrl", "llrl", "rllr", "lrll"])
def test_boundaries_are_carried_over_stretches_of_the_other_side(kernels, simd, sides, boundaries):
    """64 entries each: the first one behind them has the boundaries of all of them."""
    boundary = kernels.bits.BOUNDARY
    entries = np.random.default_rng(0).permutation(256).astype(np.uint32)
    goes_left = np.zeros(256, bool)
    goes_left[entries] = np.repeat([side == "l" for side in sides], 64)
    entries[list(boundaries)] |= np.uint32(boundary)
    n_left, *written = kernels.bits.partition(simd, True, entries, packed(goes_left), True, True)
    for half, side in zip(written, partition(entries, goes_left, boundary)):
        assert_array_equal(half, side)
    assert n_left == goes_left.sum()


@pytest.mark.parametrize("sizes", [[1], [16], [17], [3, 1, 2], [15, 1, 1], [1] * 40, [33, 64, 5]])
@pytest.mark.parametrize("in_place", [False, True])
def test_divide(kernels, simd, sizes, in_place):
    """Adjacent columns at once, each as if it were partitioned alone."""
    boundary = kernels.bits.BOUNDARY
    n = sum(sizes)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        begin = int(rng.choice([0, 5]))
        sides = random_sides(rng, 3 * n)
        columns = [random_entries(rng, size, boundary, 3 * n) for size in sizes]
        for column in columns:
            column[0] |= np.uint32(boundary)
        entries = np.concatenate([np.zeros(begin, np.uint32), *columns, np.zeros(3, np.uint32)])
        kept_side, with_moved = seed % 2, seed % 3 > 0
        kept, moved, n_kept = kernels.bits.divide(
            simd, entries, sizes, begin, packed(sides), kept_side, with_moved, in_place
        )
        halves = [partition(column, sides == kept_side, boundary) for column in columns]
        assert n_kept == [len(half[0]) for half in halves]
        assert_array_equal(kept, np.concatenate([half[0] for half in halves]))
        if with_moved:
            assert_array_equal(moved, np.concatenate([half[1] for half in halves]))


def word_of(bits):
    return sum(1 << i for i, bit in enumerate(bits) if bit)


def ordered(codes):
    order = np.argsort(codes, kind="stable")
    return order, np.diff(codes[order].astype(int), prepend=-1) != 0


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 63, 64])
def test_order_of_codes(kernels, simd, n):
    for seed in range(10):
        rng = np.random.default_rng(100 * n + seed)
        codes = rng.integers(0, rng.choice([1, 3, 256]), n).astype(np.uint8)
        n_numbers = int(rng.choice([0, 1, 128, 255, 256]))
        order, boundaries, n_missing = kernels.bits.order_codes(simd, codes, n_numbers)
        expected, is_boundary = ordered(codes)
        assert_array_equal(order, expected)
        assert boundaries == word_of(is_boundary)
        assert n_missing == (codes >= n_numbers).sum()


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 63, 64])
def test_members_are_picked(kernels, simd, n):
    for seed in range(10):
        rng = np.random.default_rng(100 * n + seed)
        codes = rng.integers(0, rng.choice([1, 3, 256]), n).astype(np.uint8)
        order, is_boundary = ordered(codes)
        n_missing = int(rng.integers(0, n + 1))
        is_member = random_sides(rng, n)
        places, boundaries, n_picked = kernels.bits.pick(
            simd, order.astype(np.uint8), word_of(is_boundary), n_missing, word_of(is_member)
        )
        kept = is_member[order]
        assert_array_equal(places, order[kept])
        expected = np.diff(np.cumsum(is_boundary)[kept], prepend=0) > 0
        assert boundaries == word_of(expected)
        assert n_picked == kept[n - n_missing :].sum()
