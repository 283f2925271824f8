"""The kernels of the optimal search for every instruction set and counter type."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fasttree.optimal import _engine
from reference.pairs import best_gains, pair_matrix, similarity_bounds

FEATURES = (1, 7, 8, 9, 16, 17, 63, 64, 65, 130)


@pytest.fixture(
    params=itertools.product(("portable", "avx2", "avx512"), range(3)),
    ids=lambda p: f"{p[0]}-int{8 << p[1]}",
)
def table(request, kernels):
    instruction_set, counter = request.param
    if not _engine.has_instruction_set(instruction_set):
        pytest.skip(f"this build or machine has no {instruction_set}")
    return kernels.optimal.Kernels(instruction_set, counter)


def bit_rows(X):
    """Rows of 64-bit words."""
    padded = np.zeros((len(X), -(-X.shape[1] // 64) * 64), np.uint8)
    padded[:, : X.shape[1]] = X
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def random_bits(rng, n, n_features):
    return (rng.random((n, n_features)) < rng.uniform(0.05, 0.95, n_features)).astype(np.int8)


def padded(table, kernels, matrices):
    """Aligned matrices of the counter type with the room that the engine leaves."""
    n_features = matrices.shape[-1]
    stride = -(-n_features // 64) * 64
    out = kernels.optimal.aligned((len(matrices), n_features + 8, stride), table.dtype)
    out[:, :n_features, :n_features] = matrices
    return out


@pytest.mark.parametrize("n_features", [1, 64, 65, 130])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 31, 32, 33, 100])
def test_transpose_and_select(table, n_features, n):
    rng = np.random.default_rng(1000 * n_features + n)
    X = random_bits(rng, 150, n_features)
    entries = rng.permutation(150)[:n].astype(np.uint32)
    spare = np.append(entries, np.zeros(32, np.uint32))
    planes = table.transpose(bit_rows(X), spare[: max(n, 1)][:n] if n else spare[:0])
    size = table.chunk_size
    bits = np.zeros((-(-n // size) * size, planes.shape[1]), np.uint8)
    bits[:n, :n_features] = X[entries]
    unpacked = [
        np.unpackbits(np.ascontiguousarray(chunk).view(np.uint8).reshape(-1, size // 8), axis=1,
                      bitorder="little").T
        for chunk in planes
    ]  # fmt: skip
    assert_array_equal(np.concatenate([np.zeros((0, planes.shape[1]), np.uint8), *unpacked]), bits)
    for g in {0, n_features // 2, n_features - 1}:
        for side in (False, True):
            if n:
                kept = table.select(planes, g, side, spare, n)
                assert_array_equal(kept, entries[X[entries, g] == side])


@pytest.mark.parametrize("n_features", FEATURES)
def test_pair_counts(table, n_features):
    """Horner's rule over planes of both signs, few chunks (no mirror) and many, rows in blocks."""
    for n in (1, 20, 200, 700):
        rng = np.random.default_rng(1000 * n_features + n)
        X = random_bits(rng, n, n_features)
        limit = max(1, min(table.max_weight // n, 1000))
        weights = rng.integers(-limit, limit + 1, n)
        if n > table.max_weight:
            weights[table.max_weight :] = 0
        matrix = table.count(*counting_programme(table, X, weights), n_features, 16)
        assert_array_equal(matrix[:, :n_features], pair_matrix(X, weights))


def counting_programme(table, X, weights):
    """Planes and steps: a bit of the weights after the other, positive ones before negative."""
    rows, planes, steps, n_chunks, doublings = bit_rows(X), [], [], 0, 0
    stride = 64 * rows.shape[1]
    for bit in reversed(range(12)):
        for sign in (1, -1):
            entries = np.flatnonzero((sign * weights > 0) & (abs(weights) >> bit & 1))
            if len(entries):
                plane = table.transpose(rows, entries.astype(np.uint32))
                steps.append((n_chunks, n_chunks + len(plane), doublings, sign))
                planes.append(plane)
                n_chunks += len(plane)
                doublings = 0
        doublings += bit > 0
    if doublings:
        steps.append((0, 0, doublings, 1))
    return aligned_rows(table, planes, stride), steps


def aligned_rows(table, planes, stride):
    raw = np.zeros((sum(map(len, planes)) + 2) * stride * table.dtype.itemsize, np.uint8)
    start = -raw.__array_interface__["data"][0] % 64
    n_bytes = (sum(map(len, planes)) + 1) * stride * table.dtype.itemsize
    out = raw[start : start + n_bytes].view(table.dtype).reshape(-1, stride)
    out[: len(out) - 1] = np.concatenate([np.zeros((0, stride), table.dtype), *planes])
    return out


@pytest.mark.parametrize("n_features", [1, 2, 8, 17, 33])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_measures", [0, 1, 2])
@pytest.mark.parametrize("with_minuend", [False, True])
def test_best_trees_of_depth_two(table, kernels, n_features, n_classes, n_measures, with_minuend):
    rng = np.random.default_rng(100 * n_features + 10 * n_classes + n_measures)
    for n in (1, 6, 40):
        X = random_bits(rng, n, n_features)
        y, w = rng.integers(0, n_classes, n), rng.integers(1, 4, n)
        if n_classes == 2:
            columns = np.where(y == 1, w, -w)[None]
        else:
            columns = np.stack([np.where(y == c, w, 0) for c in range(n_classes)])
        measures = [(np.ones(n, int), int(rng.integers(1, 4))), (w, int(rng.integers(1, 9)))]
        measures = measures[:n_measures]
        everything = np.concatenate([columns, *(values[None] for values, _ in measures)])
        matrices = np.stack([pair_matrix(X, weights) for weights in everything])
        minuends = None
        if with_minuend:  # the set is what is left of a larger one
            rest = rng.integers(-5, 6, matrices.shape)
            matrices, minuends = rest, padded(table, kernels, matrices + rest)
        totals = everything.sum(axis=1)
        gains, absent, present = table.evaluate(
            padded(table, kernels, matrices), minuends, totals[: len(columns)],
            [(total, least) for total, (_, least) in zip(totals[len(columns) :], measures)],
            n_features,
        )  # fmt: skip
        expected = best_gains(X, columns, measures)
        assert gains == expected[0]
        assert_array_equal(absent, expected[1])
        assert_array_equal(present, expected[2])


@pytest.mark.parametrize("n_features", [1, 17, 65])
def test_accumulate_and_read(table, kernels, n_features):
    rng = np.random.default_rng(n_features)
    matrix = padded(table, kernels, rng.integers(-100, 101, (1, n_features, n_features)))[0]
    out = rng.integers(-9, 9, matrix.shape).astype(np.int32)
    expected = out.copy()
    expected[:n_features, :n_features] += -2 * matrix[:n_features, :n_features].astype(np.int32)
    table.accumulate(matrix, n_features, -2, out)
    assert_array_equal(out, expected)
    at = matrix.shape[1] * (n_features - 1) + n_features // 2
    assert table.read(matrix, at) == matrix.ravel()[at]


@pytest.mark.parametrize("nested_only", [False, True])
def test_similarity_bounds(table, nested_only):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n_features, n = int(rng.choice([1, 5, 16, 63, 64])), 30
        X = random_bits(rng, n, n_features)
        pairs = pair_matrix(X, rng.integers(1, 5, n))
        diagonal, total = np.diag(pairs).copy(), int(pairs.max() + 10)
        g = int(rng.integers(n_features))
        rows = [
            rng.integers(-60, 5, (2, n_features)) if rng.random() < 0.7 else None for _ in "123"
        ]
        if all(row is None for row in rows):
            continue
        flat = []
        for row in rows:
            padded_row = np.full((2, 64), 1 << 20, np.int32)
            if row is not None:
                padded_row[:, :n_features] = row
            flat.append(None if row is None else padded_row.ravel())
        arguments = (pairs[g].astype(np.int32), diagonal.astype(np.int32), total, g, nested_only)
        expected = similarity_bounds(rows, pairs[g], diagonal, total, g, nested_only, [0, 3])
        assert table.bound(*flat, *arguments, [0, 3]) == expected
