"""Buckets of the values of a column, and the sample that they are made from."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.kernels import chi_square_of_uniform


def limits_of(sample):
    """The largest key of each bucket: a bucket takes values until it has its share of the rows that
    the buckets before have left. A value of eight times as many has a bucket to itself."""
    values, counts = np.unique(sample, return_counts=True)
    n_left, held, limits = len(sample), 0, []
    most = n_left // 255 + 1
    very_many = 8 * most
    for i, count in enumerate(counts):
        if held > 0 and held + count > most and len(limits) < 254:
            limits.append(values[i - 1])
            held = 0
            most = n_left // (255 - len(limits)) + 1
        if count > very_many and len(limits) < 254:
            if values[i] > (limits[-1] + 1 if limits else 0):
                limits.append(values[i] - 1)
            if i + 1 == len(values):
                limits.append(values[i])
        held += count
        n_left -= count
    return limits


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 255, 256, 257, 3000])
@pytest.mark.parametrize("n_values", [1, 3, 200, 1 << 30])
def test_buckets(kernels, simd, n, n_values):
    for seed in range(10):
        rng = np.random.default_rng([n, seed])
        others = np.array([kernels.keys.FIRST_CATEGORY_KEY, kernels.keys.MISSING_KEY], np.uint32)
        keys = rng.integers(0, kernels.keys.FIRST_CATEGORY_KEY, n_values if n_values < 999 else n)
        keys = rng.choice(keys.astype(np.uint32), n)
        if rng.random() < 0.3:
            keys[rng.random(n) < 0.3] = others[1]
        keys[rng.random(n) < rng.choice([0, 0.5])] = keys[0]
        sample = np.sort(keys if rng.random() < 0.5 else rng.choice(keys, max(1, n // 3)))
        last_keys, buckets = kernels.codes.find_buckets(simd, sample, np.append(keys, others))
        limits = limits_of(sample[sample < others[0]])
        assert_array_equal(last_keys, [*limits, others[0] - 1])
        assert len(last_keys) <= 255
        is_number = np.append(keys, others) < others[0]
        assert_array_equal(buckets[is_number], np.searchsorted(last_keys, keys[is_number[:-2]]))
        assert (buckets[~is_number] == 255).all()


@pytest.mark.parametrize("heavy", [[0], [500], [998], [0, 1, 2, 998]])
def test_values_of_very_many_rows_are_alone_in_their_buckets(kernels, simd, heavy):
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 999, 8000).astype(np.uint32) * 5 + 7
    keys[rng.random(8000) < 0.6] = rng.choice(heavy) * 5 + 7
    keys[: 1600 * len(heavy)] = np.repeat(np.array(heavy, np.uint32) * 5 + 7, 1600)
    last_keys, buckets = kernels.codes.find_buckets(simd, np.sort(keys), keys)
    for key in np.array(heavy) * 5 + 7:
        bucket = buckets[keys == key][0]
        assert last_keys[bucket] == key == last_keys[bucket - 1] + 1
    others = np.unique(keys[~np.isin(keys, np.array(heavy) * 5 + 7)], return_counts=True)
    assert np.bincount(buckets)[buckets[np.isin(keys, others[0])]].max() < 8000 / 255 * 4


def test_samples_for_buckets(kernels):
    most = kernels.codes.BUCKET_SAMPLE
    for n in (1, most - 1, most):
        assert_array_equal(kernels.codes.bucket_sample_rows(n), np.arange(n))
    rows = kernels.codes.bucket_sample_rows(3 * most)
    assert len(rows) == most
    assert rows.max() < 3 * most
    assert chi_square_of_uniform(np.bincount(rows * 16 // (3 * most))) < 5
