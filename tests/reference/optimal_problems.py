"""Problems for optimal trees: small ones, and the paper's sets where they are."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest

DATA = Path(
    os.environ.get(
        "FASTTREE_OPTIMAL_DATA",
        Path(__file__).resolve().parents[3] / "shared" / "data" / "optimal",
    )
)
SCORES = DATA / "optimal_scores.csv"
needs_data = pytest.mark.skipif(not SCORES.exists(), reason="FASTTREE_OPTIMAL_DATA is not there")


def load(name):
    import pandas as pd

    table = pd.read_csv(DATA / f"{name}.csv.xz", sep=" ", header=None, dtype=np.int8).to_numpy()
    return np.ascontiguousarray(table[:, 1:]), table[:, 0]


def proven_optima():
    """Name of each set with its rows (depth, inner nodes, errors)."""
    optima = {}
    if SCORES.exists():
        with SCORES.open() as file:
            for row in csv.DictReader(file):
                entry = [int(row[key]) for key in ("depth", "max_nodes", "misclassifications")]
                optima.setdefault(row["dataset"], []).append(entry)
    return optima


def errors(estimator, X, y):
    return int((estimator.predict(X) != y).sum())


def small_problem(seed, n_samples=40, n_features=5):
    """Numbers of few distinct values, so that every threshold is tried."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n_samples, n_features)).astype(float)
    y = ((X[:, 0] > 1) ^ (X[:, 1] > 2)).astype(int) + (rng.random(n_samples) < 0.2)
    return X, y
