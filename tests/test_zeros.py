"""Values of very many classes: arrays that take memory where they are written to."""

import mmap
import pickle
import sys

import numpy as np
import psutil
import pytest
from numpy.testing import assert_array_equal

from fasttree.tree import DecisionTreeClassifier
from fasttree.utils._zeros import zeros


@pytest.mark.parametrize("share_written", [0.0, 0.001, 1.0])
@pytest.mark.parametrize("shape", [(0, 1, 4), (1, 1, 1), (5, 2, 3), (300, 1, 5000)])
def test_zeros(shape, share_written):
    array = zeros(shape, int(share_written * np.prod(shape)))
    assert array.shape == shape
    assert array.dtype == np.float64
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert not array.any()
    array[...] = 1.5
    assert_array_equal(array, np.full(shape, 1.5))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the memory is taken at once")
@pytest.mark.plain_memory
def test_what_is_not_written_takes_no_memory():
    """An array larger than all memory, with a number in each of 1,000 pages."""
    n_rows = psutil.virtual_memory().total // 2**20 + 1000
    before = psutil.Process().memory_info().rss
    array = zeros((n_rows, 2**17), 1000)
    array[:1000, 0] = 1.0
    assert psutil.Process().memory_info().rss - before < 2**25
    with pytest.raises(MemoryError):
        zeros((n_rows, 2**17), n_rows * 2**8)


@pytest.mark.skipif(sys.platform != "linux", reason="NumPy makes the array elsewhere")
def test_a_kernel_without_large_pages(monkeypatch):
    monkeypatch.setattr(mmap, "MADV_NOHUGEPAGE", 9999)  # which no kernel knows
    assert not zeros((300, 1, 5000), 3).any()


@pytest.mark.parametrize("n_classes", [256, 257, 320, 2000])
def test_values_of_many_classes(n_classes):
    rng = np.random.default_rng(n_classes)
    X = rng.random((3 * n_classes, 3)).astype(np.float32)
    y = rng.permutation(3 * n_classes) % n_classes
    weights = rng.integers(0, 3, len(y)).astype(float)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y, weights).tree_
    counts = np.zeros((tree.node_count, n_classes))
    path = tree.decision_path(X)
    for i in range(len(y)):
        counts[path[[i]].indices, y[i]] += weights[i]
    assert_array_equal(tree.value[:, 0], counts / counts.sum(axis=1, keepdims=True))
    assert_array_equal(pickle.loads(pickle.dumps(tree)).value, tree.value)
