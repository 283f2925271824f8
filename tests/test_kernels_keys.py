"""Searches and partitions by keys."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.scores import random_targets

SIZES = (2, 3, 8, 15, 16, 17, 33, 64, 100, 128, 129, 300, 2000)
BOUNDARY = 1 << 31

each_size = pytest.mark.parametrize("n", SIZES)


def random_keys(kernels, rng, y, n_buckets, is_keyed):
    """Keys of rows of these targets, some of which tell something of them."""
    n = len(y)
    x = rng.random(n) * rng.choice([1, 3]) + rng.choice([0, 0.2, 2]) * y
    rank = (np.argsort(np.argsort(x)) * n_buckets // n).astype(np.uint32)
    if rng.random() < 0.3:
        rank = (rank**2 // n_buckets).astype(np.uint32)
    if not is_keyed:
        return rank
    place = rng.integers(0, rng.choice([1, 3, 1000]), n) + rng.choice([0, 300]) * y.astype(int)
    return rank << kernels.arrays.KEY_SHIFT | place.astype(np.uint32)


def best_of(node, keys, order):
    """(rows on the left, key of the limit, key above, score) of the first of the best."""
    found = node.scores(order.astype(np.uint32))
    is_candidate = keys[order][1:] != keys[order][:-1]
    if not is_candidate.any():
        return None
    p = int(np.argmax(np.where(is_candidate, found, -np.inf)))
    return p + 1, keys[order[p]], keys[order[p + 1]], found[p]


@each_size
@pytest.mark.parametrize("criterion", ["binary_gini", "gini"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("is_keyed", [False, True])
def test_key_scan_finds_the_lowest_of_the_best(kernels, simd, criterion, n, weighted, is_keyed):
    for seed in range(30):
        rng = np.random.default_rng([n, seed])
        n_classes = 2 if criterion == "binary_gini" else int(rng.choice([2, 3, 30]))
        y = np.sort(random_targets(rng, criterion, n, n_classes=n_classes), axis=0)
        if y[0] == y[-1]:  # a node of one class is not searched
            y[:, 0] = np.arange(n) > n // 2
        w = rng.integers(1, rng.choice([2, 4, 256]), n) if weighted else None
        n_buckets = int(rng.choice([2, 3, 16, 40, 256]))
        keys = random_keys(kernels, rng, y[:, 0].astype(float), n_buckets, is_keyed)
        rows = np.arange(n, dtype=np.uint32)
        node = kernels.nodes.Node(simd, criterion, y, rows, w)
        expected = best_of(node, keys, np.argsort(keys, kind="stable"))
        padded = np.append(keys, np.zeros(kernels.arrays.KEY_PADDING, np.uint32))
        shift = kernels.arrays.KEY_SHIFT * is_keyed
        top = expected[3] if expected else 0.0
        for best in (-np.inf, 0.0, 0.9 * top, np.nextafter(top, -np.inf), top):
            found = node.key_scan(padded, n_buckets, shift, best)
            if found is not None:
                n_left, below, above, score = found
                found = n_left, keys[below], keys[above], score
            assert found == (expected if expected and top > best else None)


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
        found = kernels.arrays.partition_keys(simd, keys, int(limit), rows, labels)
        assert_array_equal(found[0], rows[order])
        assert_array_equal(found[1], labels[order] if has_labels else labels)
        assert found[2] == is_left.sum()


@each_size
def test_equal_keys(kernels, simd, n):
    keys = np.full(n + kernels.arrays.KEY_PADDING, 7, np.uint32)
    keys[n:] = 8
    assert kernels.arrays.are_equal(simd, keys, n)
    for different in (0, n // 2, n - 1):
        keys[different] = 1 << 31
        assert not kernels.arrays.are_equal(simd, keys, n)
        keys[different] = 7


@each_size
@pytest.mark.parametrize("n_classes", [1, 2, 3, 256])
def test_classes_of_a_node(kernels, simd, n, n_classes):
    rng = np.random.default_rng([n, n_classes])
    classes = np.sort(rng.integers(0, n_classes, n))
    w = rng.integers(1, 256, n)
    counts = np.bincount(classes, w, minlength=n_classes)
    labels = (w << 8 | classes).astype(np.uint16)
    found = kernels.arrays.node_classes(simd, labels, n_classes)
    weight = w.sum()
    gini = 1.0 - np.sum(counts**2) / float(weight**2)
    assert found[:3] == (weight / 2, gini, classes[0] == classes[-1])
    assert_array_equal(found[3], counts / weight)
