"""Threads leave parts of a tree to each other; it is written as if one had grown it."""

import itertools
from functools import cache

import numpy as np
import pytest

from reference.kernels import mix

N_ROWS = 3000
NO_ROW = 2**32 - 1


@cache
def expected(width):
    """The arrays of the tree, whose nodes are split at a row that depends on their rows alone."""
    left, right, n_rows, values, asked, categories = ([] for _ in range(6))
    waiting = [(0, N_ROWS, None)]
    while waiting:
        start, end, parent = waiting.pop()
        node = len(left)
        if parent is not None:
            right[parent] = node
        left.append(node + 1 if end - start > 1 else 0)
        right.append(0)
        n_rows.append(end - start)
        values.append([(start + i) % 3 for i in range(width)])
        if end - start > 1:
            middle = start + 1 + mix(start, end) % (end - start - 1)
            if middle % 5 == 0:
                asked.append(node)
                categories.append(start)
            waiting += [(middle, end, node), (start, middle, None)]
    names = ("left", "right", "n_rows", "values", "asked", "categories")
    return dict(zip(names, (left, right, n_rows, values, asked, categories), strict=True))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("width", [1, 5, 20])  # of values: narrow, some that are kept, wide
def test_same_tree_whoever_grows_its_parts(kernels, n_threads, width):
    for defer_below, gives in itertools.product((0, 50, 700, N_ROWS), (0, 1, 2, 30)):
        arrays, n_subtrees = kernels.subtrees.grow(
            N_ROWS, n_threads, defer_below, gives, NO_ROW, width
        )
        for name, values in expected(width).items():
            np.testing.assert_array_equal(arrays[name], values)
        if gives in (1, 2) and defer_below in (0, N_ROWS):
            assert n_subtrees > N_ROWS / 20  # most hang from others


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_nobody_waits_for_a_subtree_that_failed(kernels, n_threads):
    for fails, gives in itertools.product((1, N_ROWS // 2, N_ROWS - 1), (0, 2)):
        with pytest.raises(IndexError, match=f"row {fails}"):
            kernels.subtrees.grow(N_ROWS, n_threads, 100, gives, fails, 1)


@pytest.mark.parametrize(("grows", "most"), [(0, 200), (1, 3)])  # it looks often, or waits
def test_nobody_waits_once_a_fit_is_given_up(kernels, grows, most):
    assert kernels.subtrees.look_while_waiting(grows, most) == most
