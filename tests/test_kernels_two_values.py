"""Columns of two values: found in X, counted as bits, screened, ordered."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csc_array, csr_array

from reference.kernels import random_two_categories, random_two_valued, row_words, two_valued
from reference.scores import CLASSIFICATION, REGRESSION, random_targets, scores

NO_COLUMN = -1


def find_bits(kernels, simd, X, n_parts, least, n_categories=0):
    n_categories = np.broadcast_to(np.uint32(n_categories), X.shape[1]).copy()
    return kernels.bits.find_bits(simd, X, n_categories, n_parts, least)


def bits_of_words(words):
    bits = words[:, :, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    return bits.astype(bool).reshape(len(words), -1)


def assert_holds_bits(found, X):
    """Columns in their order, bits that name the values of the columns, and no others."""
    columns, low, high, words = found
    bits, X = bits_of_words(words), X.view(np.uint32)
    assert_array_equal(columns[columns != NO_COLUMN], sorted(columns[columns != NO_COLUMN]))
    for bit, f in enumerate(columns):
        if f == NO_COLUMN:
            assert not bits[:, bit].any()
        else:
            values = np.where(bits[:, bit], high.view(np.uint32)[bit], low.view(np.uint32)[bit])
            assert_array_equal(values, X[:, f])


@pytest.mark.parametrize("n_columns", [1, 5, 16, 63, 64, 65, 130])
@pytest.mark.parametrize("n_rows", [1, 2, 15, 17, 63, 64, 65, 500, 1100])
@pytest.mark.parametrize("layout", ["C", "F", "gaps"])
def test_two_values_are_found(kernels, simd, n_columns, n_rows, layout):
    """A column that is found is one, its bits are its values; none of zeros and ones is missed."""
    for seed in range(6):
        rng = np.random.default_rng([n_columns, n_rows, seed])
        X = random_two_valued(rng, n_rows, n_columns)
        X = np.repeat(X, 2, axis=1)[:, ::2] if layout == "gaps" else np.array(X, order=layout)
        found = find_bits(kernels, simd, X, int(rng.choice([1, 2, 3])), 1)
        expected = two_valued(X)
        zeros_and_ones = np.flatnonzero(((X == 1) | ((X == 0) & ~np.signbit(X))).all(axis=0))
        if found is None:
            assert len(zeros_and_ones) == 0
            continue
        assert_holds_bits(found, X)
        assert set(zeros_and_ones) <= set(found[0]) - {NO_COLUMN} <= set(expected)


@pytest.mark.parametrize("n_columns", [1, 17, 64, 70])
@pytest.mark.parametrize("n_rows", [17, 64, 500, 1100])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_two_categories_are_found(kernels, simd, n_columns, n_rows, layout):
    """Those of columns that hold nothing else, all of them."""
    for seed in range(6):
        rng = np.random.default_rng([n_columns, n_rows, seed])
        X, n_categories, expected = random_two_categories(kernels, rng, n_rows, n_columns)
        X = np.array(X, order=layout)
        found = find_bits(kernels, simd, X, int(rng.choice([1, 2])), 1, n_categories)
        if found is None:
            assert len(expected) == 0
            continue
        assert_holds_bits(found, X)
        assert_array_equal(found[0][found[0] != NO_COLUMN], expected)


def test_fewer_columns_than_asked_for(kernels, simd):
    X = np.zeros((200, 9), np.float32)
    X[::3, :5] = 1.0
    X[:, 5] = np.arange(200)
    X[150, 6] = 7.0  # seen only when it is read
    X[151, 6] = 8.0
    assert find_bits(kernels, simd, X, 1, 8) is None
    columns, *_ = find_bits(kernels, simd, X, 1, 7)
    assert sorted(columns)[-7:] == [0, 1, 2, 3, 4, 7, 8]


@pytest.mark.parametrize("n_columns", [1, 7, 8, 63, 64, 65, 130])
@pytest.mark.parametrize("n_rows", [1, 63, 64, 600])
@pytest.mark.parametrize("layout", ["C", "F", "gaps", "reversed"])
def test_bools_are_packed(kernels, simd, n_columns, n_rows, layout):
    """Whatever byte stands for what is true; only the rows that were asked for are written."""
    rng = np.random.default_rng([n_columns, n_rows])
    X = rng.integers(1, 256, (n_rows, n_columns), dtype=np.uint8)
    X[rng.random(X.shape) < 0.5] = 0
    X = {
        "gaps": np.repeat(X, 2, axis=1)[:, ::2],
        "reversed": X[::-1, ::-1],
    }.get(layout, np.array(X, order=layout if layout in "CF" else "C"))
    begin, end = sorted(rng.integers(0, n_rows + 1, 2))
    words = kernels.bits.pack_bools(simd, X, begin, end)
    assert_array_equal(words[begin:end], row_words(X > 0)[begin:end])
    untouched = np.r_[words[:begin].ravel(), words[end:].ravel()]
    assert (untouched == kernels.bits.GUARD).all()


@pytest.mark.parametrize("n_columns", [1, 64, 130])
@pytest.mark.parametrize("n_rows", [1, 64, 9000])
@pytest.mark.parametrize("by_row", [True, False])
def test_ones_of_sparse_matrices_are_put(kernels, n_columns, n_rows, by_row):
    rng = np.random.default_rng([n_columns, n_rows])
    X = rng.random((n_rows, n_columns)) < rng.random(n_columns)
    X[:, 0] = True
    sparse = csr_array(X) if by_row else csc_array(X)
    indices, starts = sparse.indices.astype(np.int32), sparse.indptr.astype(np.int32)
    begin, end = sorted(rng.integers(0, n_rows + 1, 2))
    columns = np.arange(n_columns, dtype=np.uint32)
    if not by_row:
        columns = columns[: 1 + n_columns // 2] * 2 % n_columns
    for first, last in ((0, n_rows), (begin, end)):
        words, n_ones = kernels.bits.put_ones(by_row, indices, starts, n_rows, columns, first, last)
        assert_array_equal(words[first:last], row_words(X[:, columns])[first:last])
        assert n_ones == X[first:last, columns].sum()
    if n_rows > 1 and not by_row:
        indices[1] = indices[0]
        words, n_ones = kernels.bits.put_ones(by_row, indices, starts, n_rows, columns, 0, n_rows)
        assert n_ones == X[:, columns].sum() - (columns == 0).sum()


def test_squares_of_bits_are_transposed(kernels, simd):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (64, 64))
    expected = row_words(bits.T)[:, 0]
    assert_array_equal(kernels.bits.transpose_bits(simd, row_words(bits)[:, 0].copy()), expected)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 63, 64])
def test_order_of_bits(kernels, simd, n):
    for seed in range(10):
        rng = np.random.default_rng(100 * n + seed)
        bits = rng.random(n) < rng.choice([0.0, 0.3, 1.0])
        are_numbers = bool(rng.integers(2))
        order, boundaries, n_missing = kernels.bits.order_bits(
            simd, int(row_words(bits[None])[0, 0]), n, are_numbers
        )
        assert_array_equal(order, np.argsort(bits, kind="stable"))
        n_low = int((~bits).sum())
        assert boundaries == 1 | (1 << n_low if n_low < n else 0)
        assert n_missing == (0 if are_numbers else n)


class Case:
    """A node and columns of two values."""

    def __init__(self, kernels, simd, criterion, n, seed, weighted, n_outputs, n_words):
        rng = self.rng = np.random.default_rng([n, seed])
        n_rows = n + 9
        self.y = random_targets(rng, criterion, n_rows, n_outputs)
        self.w = rng.integers(1, 50, n_rows) if weighted else None
        self.rows = np.sort(rng.permutation(n_rows)[:n])
        self.bits = rng.random((n_rows, 64 * n_words)) < rng.random(64 * n_words) ** 2
        self.bits[:, 7] = False
        self.bits[:, 9] = self.bits[:, 8]
        self.bits[:, 11] = ~self.bits[:, 10]
        self.words = row_words(self.bits)
        self.node = kernels.nodes.Node(simd, criterion, self.y, self.rows.astype(np.uint32), self.w)


each_node = pytest.mark.parametrize("n", [1, 2, 7, 64, 254, 255, 256, 700])


@each_node
@pytest.mark.parametrize("n_words", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("criterion", [*CLASSIFICATION, "squared_error", "poisson"])
def test_cells_of_bits(kernels, simd, criterion, n_outputs, weighted, n_words, n):
    if n_outputs > 1 and criterion in ("binary_gini", "chi_square"):
        pytest.skip("of one output")
    case = Case(kernels, simd, criterion, n, 0, weighted, n_outputs, n_words)
    cells = case.node.bit_cells(case.words)
    items = row_cells(criterion, case.y, case.w)[case.rows]
    bits = case.bits[case.rows].astype(np.int64)
    assert_array_equal(cells[:, 0], (1 - bits).T @ items)
    assert_array_equal(cells[:, 1], bits.T @ items)
    assert not cells[:, 2].any()


def row_cells(criterion, y, w):
    """The cell of each row alone."""
    ones = np.ones(len(y), np.int64)
    weight = ones if w is None else w
    if criterion in CLASSIFICATION:
        n_classes = max(2, y.max() + 1)
        items = [weight * (of == c) for of in y.T for c in range(n_classes)]
        if criterion == "binary_gini" and w is None:
            return ((1 << 32) + items[1])[:, None]
        if criterion == "binary_gini":
            items = [weight, items[1]]
    else:
        items = list((y * weight[:, None]).T.astype(np.int64))
        items = items if w is None else [weight, *items]
    counted = criterion not in CLASSIFICATION or w is not None
    return np.column_stack([ones, *items] if counted else items)


@each_node
@pytest.mark.parametrize("criterion", CLASSIFICATION + REGRESSION)
@pytest.mark.parametrize("leaf", [1, 20])
def test_the_screen_leaves_the_best(kernels, simd, criterion, leaf, n):
    """Those of largest score and hardly more, or none if no column scores as much as is asked."""
    if criterion == "absolute_error":
        pytest.skip("has no cells")
    for seed in range(4):
        case = Case(kernels, simd, criterion, n, seed, False, 1, 2)
        parted = case.bits[case.rows].T
        n_set = parted.sum(axis=1)
        admissible = np.flatnonzero((n_set >= leaf) & (n - n_set >= leaf))
        found = case.node.screen_bits(case.words, leaf, -np.inf)
        assert found == sorted(found)
        if len(admissible) == 0:
            assert found == [] or len(found) == len(parted)
            continue
        ways = scores(criterion, parted[admissible], case.y[case.rows], np.ones(n, np.int64))
        best = admissible[ways == ways.max()]
        assert set(best) <= set(found)
        if len(found) == len(parted):
            assert criterion not in ("binary_gini", "gini", "squared_error") or ways.max() <= 0
            continue
        assert set(found) <= set(admissible[ways >= ways.max() * (1 - 1e-9)])
        assert set(best) <= set(case.node.screen_bits(case.words, leaf, ways.max()))
        more = ways.max() + 1e-6 * max(1.0, ways.max())
        assert case.node.screen_bits(case.words, leaf, more) == []
