"""Logarithms within their bound, keyed random numbers, sums of twice the digits, grids, classes."""

import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference.kernels import chi_square_of_uniform, mix, xorshift

# ---- logarithms


def positive_doubles(rng):
    """Normal numbers of all sizes, counts, and the neighbours of where a table or a case ends."""
    yield np.exp(rng.uniform(np.log(2.3e-308), np.log(1.79e308), 20_000))
    yield np.arange(1.0, 20_000.0)
    edges = np.concatenate([1 + np.arange(257) / 256, [0.5, 0.75, 1.5, 2.2250738585072014e-308]])
    yield np.concatenate([np.nextafter(edges, 0)[:-1], edges, np.nextafter(edges, np.inf)])
    yield 1 + rng.normal(scale=1e-8, size=1000)
    yield np.array([np.finfo(float).max])


def test_fast_log_is_within_its_error(kernels, simd):
    for x in positive_doubles(np.random.default_rng(0)):
        x = x[x >= np.finfo(float).tiny]
        error = kernels.numbers.fast_logs(simd, x) - np.log(x.astype(np.longdouble))
        assert np.abs(error).max() <= kernels.numbers.FAST_LOG_ERROR


@pytest.mark.parametrize("n", [1, 7, 8, 9, 15, 16, 17])
def test_fast_log_of_every_lane(kernels, simd, n):
    x = np.random.default_rng(n).uniform(0.1, 10, n)
    np.testing.assert_allclose(kernels.numbers.fast_logs(simd, x), np.log(x), rtol=0, atol=1e-10)


def test_fast_log_in_vectors_never_makes_a_number_of_what_has_no_logarithm(kernels, avx512):
    logs = kernels.numbers.fast_logs(avx512, np.array([0.0, -0.0, -1.0, np.nan]))
    assert not (logs > -np.inf).any()


# ---- random numbers

keys = st.integers(0, 2**64 - 1)


def test_mixing_is_that_of_splitmix(kernels):
    @given(keys, keys)
    def check(key, value):
        assert kernels.numbers.mix(key, value) == mix(key, value)

    check()


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000, 2**31, 2**32 - 1])
def test_integers_below_a_limit(kernels, n):
    for random in (0, 1, 2**63, 2**64 - 1, mix(1, 2)):
        assert kernels.numbers.below(random, n) == random * n >> 64


def test_unit_interval(kernels):
    for random in (0, 2**11 - 1, 2**11, 2**63, 2**64 - 1):
        value = kernels.numbers.unit_interval(random)
        assert value == (random >> 11) / 2**53
        assert 0 <= value < 1


@pytest.mark.parametrize("n", [2, 7, 64, 1000])
@pytest.mark.parametrize("varied", ["key", "value"])
def test_keyed_numbers_are_uniform(kernels, n, varied):
    """Neighbouring keys and neighbouring values, drawn 100 to each cell."""
    counts = np.zeros(n)
    for i in range(100 * n):
        random = kernels.numbers.mix(*((i, 3) if varied == "key" else (3, i)))
        counts[kernels.numbers.below(random, n)] += 1
    assert abs(chi_square_of_uniform(counts)) < 4


@pytest.mark.parametrize("seed", [0, 1, 42, 2**32 - 1])
def test_stream_of_scikit_learn(kernels, seed):
    numbers, integers, floats = kernels.numbers.xorshift(seed, 50)
    expected = list(islice(xorshift(seed), 150))
    assert numbers == expected[:50]
    assert integers == [3 + number % 7 for number in expected[50:100]]
    assert floats == [2.0 * number / 2147483647.0 - 1.0 for number in expected[100:]]


# ---- twice the digits

ordinary = st.floats(-1e12, 1e12).filter(lambda x: x == 0 or abs(x) > 1e-12)


def test_wide_sums_are_exact_of_ordinary_numbers(kernels):
    @given(st.lists(st.tuples(ordinary, st.sampled_from([1, -1])), min_size=1, max_size=30))
    def check(terms):
        values, signs = zip(*terms)
        high, low = kernels.numbers.wide_sum(values, signs)
        exact = sum(Fraction(x) * sign for x, sign in terms)
        size = sum(abs(Fraction(x)) for x in values)
        assert abs(Fraction(high) + Fraction(low) - exact) <= size * 30 * Fraction(2) ** -104
        assert high == high + low  # the parts do not overlap

    check()


def test_wide_numbers_are_added_and_taken_away(kernels):
    parts = st.tuples(ordinary, st.floats(-1.0, 1.0)).map(lambda p: (p[0], p[0] * p[1] * 2.0**-54))

    @given(st.lists(parts, min_size=1, max_size=10))
    def check(pairs):
        everything = kernels.numbers.wide_sum(pairs, [1] * len(pairs))
        exact = sum(Fraction(high) + Fraction(low) for high, low in pairs)
        size = sum(abs(Fraction(high)) for high, low in pairs)
        bound = size * 20 * Fraction(2) ** -104
        assert abs(sum(map(Fraction, everything)) - exact) <= bound
        rest = kernels.numbers.wide_sum([*pairs, everything], [1] * len(pairs) + [-1])
        assert abs(sum(map(Fraction, rest))) <= bound

    check()


def test_wide_products(kernels):
    @given(ordinary, st.floats(-1.0, 1.0), ordinary)
    def check(high, share, x):
        low = high * share * 2.0**-54
        product = kernels.numbers.wide_times(high, low, x)
        exact = (Fraction(high) + Fraction(low)) * Fraction(x)
        assert abs(sum(map(Fraction, product)) - exact) <= abs(exact) * Fraction(2) ** -100

    check()


# ---- grids

numbers = st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-9)


def test_grid_of_weights(kernels):
    @given(st.lists(st.one_of(st.integers(0, 100).map(float), st.floats(1e-6, 1e6)), min_size=1))
    def check(w):
        w = np.array(w)
        assume(w.sum() > 0)
        integers, unit = kernels.numbers.weight_grid(w)
        if (w == np.floor(w)).all():
            assert unit == 1.0
        assert math.frexp(unit)[0] == 0.5  # a power of two
        assert sum(map(abs, integers.tolist())) < 2**62
        assert (integers[w > 0] > 0).all()
        for integer, weight in zip(integers.tolist(), w.tolist()):
            assert abs(integer * Fraction(unit) - Fraction(weight)) <= Fraction(unit)

    check()


def test_multiples_of_a_power_of_two_are_exact(kernels):
    @given(
        st.lists(st.integers(-(2**20), 2**20), min_size=1).filter(any),
        st.integers(-1000, 900),
        st.lists(st.integers(-9, 9), min_size=1),
    )
    def check(multiples, exponent, steps):
        w = np.ldexp(np.array(multiples, float), exponent)
        integers, unit = kernels.numbers.weight_grid(w)
        assert_array_equal(integers * unit, w)
        assert unit == 1.0 or any(integer % 2 for integer in integers.tolist())
        y = np.resize(np.array(steps) / 10, len(w))
        on_grid, centre, unit_of_sums = kernels.numbers.target_grid(y, w, integers, unit)
        assert_allclose(on_grid * (unit_of_sums / unit), integers * (y - centre), atol=1e-9)

    check()


def test_the_smallest_weight_counts(kernels):
    integers, _ = kernels.numbers.weight_grid(np.array([1e30, 1e-30, 0.0]))
    assert integers[1] == 1
    assert integers[2] == 0


def grid_error(integers, centre, unit, y):
    """The largest deviation of y from the grid's numbers."""
    return max(
        abs(integer * Fraction(unit) + Fraction(centre) - Fraction(value))
        for integer, value in zip(integers.tolist(), y.tolist())
    )


@pytest.mark.parametrize("allow_lattice", [False, True])
def test_grid_of_targets(kernels, allow_lattice):
    @given(st.lists(numbers, min_size=1, max_size=40))
    def check(y):
        y = np.array(y)
        integers, centre, unit = kernels.numbers.target_grid(y, allow_lattice=allow_lattice)
        assert sum(map(abs, integers.tolist())) < 2**62
        size = Fraction(np.abs(y).max())
        # Half a unit and the rounding of y - centre, or, on a lattice, a few roundings of y.
        power = Fraction(unit) if math.frexp(unit)[0] == 0.5 else 0
        error = grid_error(integers, centre, unit, y)
        assert error <= power / 2 + size * Fraction(2) ** -46

    check()


@pytest.mark.parametrize(
    ("origin", "step"), [(0.0, 0.01), (-3.3, 0.1), (100.5, 0.25), (7.0, 1 / 3)]
)
@pytest.mark.parametrize("centred", [False, True])
def test_prices_in_cents_are_integers(kernels, origin, step, centred):
    steps = np.random.default_rng(0).integers(0, 5000, 300)
    y = origin + step * steps
    if not centred:
        y -= origin  # a lattice through zero
    integers, centre, unit = kernels.numbers.target_grid(y, centred=centred)
    differences = np.diff(steps)
    assert_array_equal(np.diff(integers), differences * (np.diff(integers)[0] // differences[0]))
    assert np.abs(integers).sum() < 2**40
    assert grid_error(integers, centre, unit, y) <= Fraction(np.abs(y).max()) * Fraction(2) ** -46


def test_weighted_targets_of_integers_are_exact(kernels):
    rng = np.random.default_rng(0)
    y, weights = rng.integers(-50, 50, 100).astype(float), rng.integers(0, 9, 100)
    integers, centre, unit = kernels.numbers.target_grid(y, weights.astype(float), weights)
    assert (centre, unit) == (0.0, 1.0)
    assert_array_equal(integers, y * weights)


@pytest.mark.parametrize("weighting", ["none", "counts", "tenths"])
def test_grids_are_the_same_in_any_order_of_the_rows(kernels, weighting):
    @given(st.lists(st.tuples(numbers, st.integers(0, 9)), min_size=1, max_size=40), st.randoms())
    def check(rows, random):
        def grids():
            y = np.array([target for target, _ in rows])
            w = np.array([count for _, count in rows]) * (0.1 if weighting == "tenths" else 1.0)
            weights, weight_unit = kernels.numbers.weight_grid(w)
            passed = () if weighting == "none" else (w, weights, weight_unit)
            integers, centre, unit = kernels.numbers.target_grid(y, *passed)
            return sorted(zip(y, w, weights, integers)), centre, unit, weight_unit

        before = grids()
        random.shuffle(rows)
        assert grids() == before

    check()


@pytest.mark.parametrize("n_outputs", [1, 2, 7, 8, 9, 20])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_output_has_its_grid(kernels, n_outputs, weighted):
    rng = np.random.default_rng(n_outputs)
    y = rng.normal(size=(50, n_outputs)) * 10.0 ** rng.integers(-3, 4, n_outputs)
    y[:, ::3] = np.rint(y[:, ::3])
    counts = rng.integers(0, 9, 50)
    weights = (counts.astype(float), counts) if weighted else ()
    sums, centres, units = kernels.numbers.target_sums(y, *weights)
    for k in range(n_outputs):
        column = np.ascontiguousarray(y[:, k])
        alone = kernels.numbers.target_grid(column, *weights)
        assert_array_equal(sums[:, k], alone[0])
        assert (centres[k], units[k]) == alone[1:]


@pytest.mark.parametrize("n_outputs", [2, 7, 8, 9, 20])
@pytest.mark.parametrize("weighting", ["none", "counts", "zero"])
@pytest.mark.parametrize("exponent", [-1060, -50, 900])
def test_rough_sums(kernels, n_outputs, weighting, exponent):
    rng = np.random.default_rng(n_outputs)
    weights = rng.integers(0, 1 if weighting == "zero" else 9, 50)
    targets = rng.integers(-(2**40), 2**40, (50, n_outputs)) + 2**50
    sums = targets * (1 if weighting == "none" else weights[:, None])
    units = 2.0 ** (exponent + rng.integers(-9, 9, n_outputs))
    passed = () if weighting == "none" else (weights,)
    rough, centres, lengths, scale = kernels.numbers.rough_sums(sums, units, *passed)
    if weighting == "zero":
        assert not centres.any()
    else:
        total = 50 if weighting == "none" else weights.sum()
        assert (np.abs(centres * total - sums.sum(axis=0)) < total).all()
    each = np.ones(50, int) if weighting == "none" else weights
    centred = (sums - each[:, None] * centres) * units
    assert_array_equal(rough[:, :n_outputs], (centred * scale).astype(np.float32))
    assert (rough[:, n_outputs:] == 99).all()  # what is there stays
    assert_allclose(lengths, np.linalg.norm(centred * scale, axis=1), rtol=1e-6)
    assert math.frexp(scale)[0] == 0.5
    if weighting != "zero":
        assert 0.5 <= np.abs(centred * scale).max() < 2 or scale == 2.0**1000


@pytest.mark.parametrize("n", [1, 8, 200])
def test_records_of_sums(kernels, n):
    rng = np.random.default_rng(n)
    sums, weights = rng.integers(1 - 2**52, 2**52, n), rng.integers(0, 1 << 5, n)
    records = kernels.numbers.sum_records(sums, weights)
    assert_array_equal(records, (sums << 8) + weights)
    for unfit in (-1, 1 << 5, 1 << 40):
        assert kernels.numbers.sum_records(sums, np.full(n, unfit)) is None
    for unfit in (-(2**52), 2**52, 2**60):
        assert kernels.numbers.sum_records(np.full(n, unfit), weights) is None


# ---- classes


@pytest.mark.parametrize("n", [1, 31, 32, 33, 63, 64, 65, 97, 200])
def test_bits_and_records_of_two_classes(kernels, simd, n):
    rng = np.random.default_rng(n)
    classes = rng.integers(0, 2, n).astype(np.uint8)
    weights = rng.integers(0, 1 << 12, n)
    bits, records = kernels.numbers.targets_of_two_classes(simd, classes, weights)
    assert_array_equal(np.unpackbits(bits.view(np.uint8), bitorder="little")[:n], classes)
    assert_array_equal(records, weights + (weights * classes << 16))
    for unfit in (-1, 1 << 12, 1 << 40):
        weights[n // 2] = unfit
        assert kernels.numbers.targets_of_two_classes(simd, classes, weights)[1] is None
