"""Rows on their way through a packed tree."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reference.kernels import (
    leaf_words,
    packed_children,
    question_blocks,
    random_floats,
    random_packed_tree,
)


@pytest.mark.parametrize("n", [1, 200, 256, 257, 320, 1000, 8192])
def test_rows_reach_their_leaves(kernels, simd, n):
    for seed in range(12):
        rng = np.random.default_rng(1000 * n + seed)
        n_features = rng.integers(1, 9)
        nodes = random_packed_tree(rng, rng.choice([0, 1, 5, 31, 32, 100, 400]), n_features)
        X = rng.normal(size=(n, n_features)).astype(np.float32)
        for f in range(n_features):
            if rng.random() < 0.5:
                X[:, f] = random_floats(rng, n)
        if rng.random() < 0.3:
            X[np.isnan(X)] = 0
        X = X.copy(order=rng.choice(["C", "F"]))[:: rng.choice([-1, 1])]
        assert_array_equal(kernels.walk.walk_block(simd, nodes, X), leaf_words(nodes, X))


# Keys of a row that 8 bits can name, with missing values or without, and more.
@pytest.mark.parametrize("n_features", [1, 7, 8, 9, 60, 127, 128, 255, 256, 300])
def test_rows_reach_their_leaves_by_keys(kernels, simd, n_features):
    for seed in range(20):
        rng = np.random.default_rng(1000 * n_features + seed)
        nodes = random_packed_tree(rng, rng.choice([0, 1, 5, 60, 400]), n_features)
        X = random_floats(rng, rng.integers(1, 400) * n_features).reshape(-1, n_features)
        if rng.random() < 0.5:
            X[np.isnan(X)] = 0
        X = X.copy(order=rng.choice(["C", "F"]))[:: rng.choice([-1, 1, 2])]
        assert_array_equal(kernels.walk.walk_by_row_keys(simd, nodes, X), leaf_words(nodes, X))


@pytest.mark.parametrize("n_features", [1, 16, 17, 32, 33, 48, 49, 64, 65])
def test_rows_reach_their_leaves_in_blocks_of_questions(kernels, simd, n_features):
    for seed in range(20):
        rng = np.random.default_rng(1000 * n_features + seed)
        nodes = random_packed_tree(rng, rng.choice([0, 1, 14, 15, 16, 100, 400]), n_features)
        X = random_floats(rng, rng.integers(1, 1000) * n_features).reshape(-1, n_features)
        if rng.random() < 0.7:
            X[np.isnan(X)] = 0
        X = X.copy(order=rng.choice(["C", "C", "F"]))[:: rng.choice([-1, 1])]
        assert_array_equal(kernels.walk.walk_questions(simd, nodes, X), leaf_words(nodes, X))


@pytest.mark.parametrize("seed", range(20))
def test_blocks_of_questions_grow_where_most_rows_are(kernels, seed):
    rng = np.random.default_rng(seed)
    nodes = random_packed_tree(rng, rng.choice([0, 1, 14, 15, 16, 100, 400]), 5)
    n_rows = rng.integers(0, 30, len(nodes)).astype(np.float64)
    found = kernels.walk.question_blocks(nodes, n_rows)
    assert [block.tolist() for block in found] == question_blocks(nodes, n_rows)


def test_rows_of_packed_nodes_are_those_of_their_leaves(kernels):
    rng = np.random.default_rng(0)
    nodes = random_packed_tree(rng, 300, 5)
    is_leaf = nodes["feature"] < 0
    nodes["child"][is_leaf] = rng.permutation(len(nodes))[is_leaf]
    n_samples = rng.integers(0, 1000, len(nodes))
    found = kernels.walk.rows_of_nodes(nodes, n_samples)
    assert_array_equal(found[is_leaf], n_samples[nodes["child"][is_leaf]])
    for at in np.flatnonzero(~is_leaf):
        assert found[at] == found[list(packed_children(nodes, at))].sum()
