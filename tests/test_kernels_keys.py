"""Searches and partitions by keys."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.kernels import random_floats
from reference.scores import random_targets

SIZES = (2, 3, 8, 15, 16, 17, 33, 64, 100, 128, 129, 300, 2000)
BOUNDARY = 1 << 31

each_size = pytest.mark.parametrize("n", SIZES)


def random_column(rng, y, n_values):
    """Numbers of rows of these targets, some of which tell something of them."""
    n = len(y)
    x = rng.random(n) * rng.choice([1, 3]) + rng.choice([0, 0.2, 2]) * y
    rank = np.argsort(np.argsort(x)) * n_values // n
    if rng.random() < 0.3:
        rank = rank**2 // n_values
    return (rank - rng.choice([0, n_values // 2])).astype(np.float32)


def best_of(node, x):
    """(values on either side of the threshold, score) of the first of the best."""
    order = np.argsort(x, kind="stable")
    found = node.scores(order.astype(np.uint32))
    is_candidate = x[order][1:] != x[order][:-1]
    if not is_candidate.any():
        return None
    p = int(np.argmax(np.where(is_candidate, found, -np.inf)))
    return x[order[p]], x[order[p + 1]], found[p]


def bars(top):
    return (-np.inf, 0.0, 0.9 * top, np.nextafter(top, -np.inf), top)


def random_node(kernels, simd, rng, criterion, n, weighted, above_weights=256):
    """(node, its first output)."""
    n_classes = 2 if criterion == "binary_gini" else int(rng.choice([2, 3, 30]))
    y = np.sort(random_targets(rng, criterion, n, n_classes=n_classes), axis=0)
    if y[0] == y[-1]:  # a node of one class is not searched
        y[:, 0] = np.arange(n) >= n // 2
    w = rng.integers(1, min(rng.choice([2, 4, 256]), above_weights), n) if weighted else None
    node = kernels.nodes.Node(simd, criterion, y, np.arange(n, dtype=np.uint32), w)
    return node, y[:, 0].astype(float)


def padded(kernels, array):
    return np.append(array, np.zeros(kernels.keys.KEY_PADDING, array.dtype))


def buckets_of(kernels, simd, rng, keys):
    """Buckets of keys, the largest keys in each, padded, and their number."""
    sample = np.sort(rng.choice(keys, rng.choice([2, 30, len(keys)])))
    last_keys, buckets = kernels.codes.find_buckets(simd, sample, keys)
    return padded(kernels, buckets), padded(kernels, last_keys), len(last_keys)


@each_size
@pytest.mark.parametrize("criterion", ["binary_gini", "gini"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["compared", "codes", "buckets"])
def test_key_scan_finds_the_lowest_of_the_best(kernels, simd, criterion, n, weighted, kind):
    if kind == "compared" and n > 128:
        return
    for seed in range(30):
        rng = np.random.default_rng([n, seed])
        node, y = random_node(kernels, simd, rng, criterion, n, weighted)
        x = random_column(rng, y, int(rng.choice([2, 3, 16, 40, 200])))
        if rng.random() < 0.3:
            x[rng.random(n) < rng.choice([0.5, 0.97])] = x[0]
        if kind == "codes":
            x -= x.min()
        expected = best_of(node, x)
        keys = kernels.keys.float_keys(x)
        rows = rng.permutation(n).astype(np.uint32)
        cells = np.empty(n, np.float32)
        cells[rows] = x
        buckets = buckets_of(kernels, simd, rng, keys)
        top = expected[2] if expected else 0.0
        for best in bars(top):
            if kind == "compared":
                found = node.key_scan(padded(kernels, keys), best)
            elif kind == "codes":
                codes = padded(kernels, x.astype(np.uint8))
                numbers = np.arange(300, dtype=np.uint32)
                n_codes = int(rng.choice([256, max(x.max() + 1, 2)]))
                found = node.bucket_scan(codes, numbers, n_codes, None, None, best)
            else:
                found = node.bucket_scan(*buckets, cells, rows, best)
            if found is not None:
                is_left = (x if kind == "codes" else keys) <= found[0]
                found = x[is_left].max(), x[~is_left].min(), found[1]
            assert found == (expected if expected and top > best else None)


@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 15, 16, 17, 31, 32])
@pytest.mark.parametrize("criterion", ["binary_gini", "gini"])
@pytest.mark.parametrize("weighted", [False, True])
def test_few_light_rows(kernels, simd, n, criterion, weighted):
    if simd == kernels.machine.SIMD["portable"]:
        return
    for seed in range(50):
        rng = np.random.default_rng([n, seed])
        node, y = random_node(kernels, simd, rng, criterion, n, weighted, 255 // n + 1)
        x = random_column(rng, y, int(rng.choice([2, 3, 16, 40])))
        if (x == x[0]).all():
            x[0] += 1
        x -= x.min()
        limit, score = node.light_scan(x.astype(np.uint16))
        assert (limit, x[x > limit].min(), score) == best_of(node, x)


@each_size
def test_keys_next_to_a_limit(kernels, simd, n):
    for seed in range(10):
        rng = np.random.default_rng([n, seed])
        x = np.round(rng.normal(size=n) * rng.choice([1, 100])).astype(np.float32)
        if (x == x[0]).all():
            x[0] += 1
        keys = kernels.keys.float_keys(x)
        rows = rng.permutation(n).astype(np.uint32)
        cells = np.empty(n, np.float32)
        cells[rows] = x
        buckets = buckets_of(kernels, simd, rng, keys)
        # Between two buckets, or at a value inside one that is not the last there.
        last_keys = buckets[1][: buckets[2]]
        own = np.searchsorted(last_keys, keys)
        is_inside = [(keys[own == bucket] > key).any() for key, bucket in zip(keys, own)]
        limits = np.append(np.where(is_inside, keys, last_keys[own]), last_keys)
        for limit in limits[(limits >= keys.min()) & (limits < keys.max())][:20]:
            is_left = keys <= limit
            expected = is_left.sum(), x[is_left].max(), x[~is_left].min()
            near = kernels.keys.near_keys(simd, *buckets, cells, rows, int(limit))
            assert_array_equal(near <= limit, is_left)
            for found in (near, keys):
                n_left, below, above = kernels.keys.neighbours(
                    simd, padded(kernels, found), n, int(limit)
                )
                assert (n_left, x[below], x[above]) == expected
                assert found[below] == keys[below]
        codes = rng.integers(0, 256, n).astype(np.uint8)
        assert_array_equal(
            kernels.keys.near_keys(simd, padded(kernels, codes), *buckets[1:], None, rows, 7), codes
        )


@each_size
@pytest.mark.parametrize("stride", [1, 3, -2])
@pytest.mark.parametrize("gathers", [False, True])
def test_gathered_keys(kernels, simd, n, stride, gathers):
    rng = np.random.default_rng(n)
    column = random_floats(rng, 4 * n + 9)[:: abs(stride)][:: np.sign(stride)]
    column = np.where(np.isnan(column), np.float32(-0.0), column)
    column = np.repeat(column, abs(stride))[::stride]
    rows = rng.integers(0, len(column), n).astype(np.uint32)
    keys, are_same = kernels.keys.gather_keys(simd, column, rows, gathers)
    assert_array_equal(keys, kernels.keys.float_keys(column[rows]))
    assert are_same == (keys == keys[0]).all()
    rows = np.arange(n, dtype=np.uint32)
    for different in (0, n // 2, n - 1):
        same = np.full(n, 1.5, np.float32)
        assert kernels.keys.gather_keys(simd, same, rows, gathers)[1]
        same[different] = -0.0
        assert not kernels.keys.gather_keys(simd, same, rows, gathers)[1]


@each_size
@pytest.mark.parametrize("has_labels", [False, True])
def test_partition_by_keys(kernels, simd, n, has_labels):
    rng = np.random.default_rng(n)
    keys = rng.integers(0, 1 << 32, n, dtype=np.uint32)
    rows = rng.permutation(n).astype(np.uint32)
    labels = rng.integers(0, 1 << 16, n * has_labels).astype(np.uint16)
    for limit in (0, *np.quantile(keys, [0, 0.1, 0.5, 1]).astype(np.uint32), (1 << 32) - 1):
        is_left = keys <= limit
        order = np.argsort(~is_left, kind="stable")
        found = kernels.keys.partition_keys(simd, keys, int(limit), rows, labels)
        assert_array_equal(found[0], rows[order])
        assert_array_equal(found[1], labels[order] if has_labels else labels)
        assert found[2] == is_left.sum()


@each_size
def test_equal_keys(kernels, simd, n):
    keys = np.full(n + kernels.keys.KEY_PADDING, 7, np.uint32)
    keys[n:] = 8
    assert kernels.keys.are_equal(simd, keys, n)
    for different in (0, n // 2, n - 1):
        keys[different] = 1 << 31
        assert not kernels.keys.are_equal(simd, keys, n)
        keys[different] = 7


@each_size
@pytest.mark.parametrize("n_classes", [1, 2, 3, 256])
def test_classes_of_a_node(kernels, simd, n, n_classes):
    rng = np.random.default_rng([n, n_classes])
    classes = np.sort(rng.integers(0, n_classes, n))
    w = rng.integers(1, 256, n)
    counts = np.bincount(classes, w, minlength=n_classes)
    labels = (w << 8 | classes).astype(np.uint16)
    found = kernels.keys.node_classes(simd, labels, n_classes)
    weight = w.sum()
    gini = 1.0 - np.sum(counts**2) / float(weight**2)
    assert found[:3] == (weight / 2, gini, classes[0] == classes[-1])
    assert_array_equal(found[3], counts / weight)
    part = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
    part[0], part[-1] = True, False
    found = kernels.keys.rest_of_classes(simd, labels, labels[part], n_classes)
    assert_array_equal(found[3], kernels.keys.node_classes(simd, labels[~part], n_classes)[3])
    assert found[:3] == kernels.keys.node_classes(simd, labels[~part], n_classes)[:3]
