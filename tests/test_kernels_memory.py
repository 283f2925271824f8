"""Memory that is given back while its owner keeps the rest."""

import mmap
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal


@pytest.mark.parametrize(
    ("n", "first", "last"),
    [
        (1 << 20, 0, 1 << 20),
        (1 << 20, 1, (1 << 20) - 1),
        ((1 << 20) - 5, 1 << 15, 1 << 16),
        (1 << 20, 5000, 5100),
        (1 << 20, 700, 700),
        (1000, 0, 1000),
        ((1 << 19) - 1, 0, (1 << 19) - 1),
    ],
)
def test_whole_pages_of_large_blocks_are_given_back(kernels, n, first, last):
    items_per_page = mmap.PAGESIZE // 4
    expected = np.ones(n, np.uint32)
    if sys.platform == "linux" and n >= 1 << 19:  # more than a huge page
        begin = -(-first // items_per_page) * items_per_page
        expected[begin : last // items_per_page * items_per_page] = 0
    assert_array_equal(kernels.machine.after_discard(n, first, last), expected)
