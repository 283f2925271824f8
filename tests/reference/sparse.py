"""Sparse problems: those of `problems` with most values zero, in every form a matrix may have."""

import numpy as np
import scipy.sparse as sp

from reference.problems import Problem, random_problem

FORMS = (
    sp.csc_matrix, sp.csr_matrix, sp.coo_matrix, sp.csc_array, sp.csr_array, sp.coo_array,
)  # fmt: skip


def sparse_problem(seed, **kwargs):
    """Return a random problem on a dense X that is mostly zero, and a sparse one that equals it.

    Keyword arguments are those of `random_problem`.
    """
    problem = random_problem(seed, **kwargs)
    rng = np.random.default_rng([seed, 4])
    density = rng.choice([0.0, 0.05, 0.3, 0.9, 1.0], p=[0.04, 0.3, 0.4, 0.2, 0.06])
    X = np.where(rng.random(problem.X.shape) < density, problem.X, 0.0).astype(problem.X.dtype)
    if rng.random() < 0.4:
        X = np.abs(X)
    make = Problem(X, problem.y, problem.sample_weight, problem.params)
    return make, Problem(scrambled(rng, X), problem.y, problem.sample_weight, problem.params)


def scrambled(rng, X):
    """A sparse matrix of the values of X: explicit zeros, parts to be summed, indices unsorted."""
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    n_zeros = int(rng.choice([0, 0, 20]))
    n_parted = int(rng.choice([0, 0, 20])) if len(values) else 0
    where = [rng.integers(0, size, n_zeros) for size in X.shape]
    rows, columns = np.append(rows, where[0]), np.append(columns, where[1])
    values = np.append(values, np.zeros(n_zeros, dtype=X.dtype))
    # A value and its negative beside it: the sum is exact.
    parted = rng.integers(0, len(values), n_parted) if n_parted else np.empty(0, dtype=int)
    finite = np.nan_to_num(values[parted])
    rows = np.concatenate([rows, rows[parted], rows[parted]])
    columns = np.concatenate([columns, columns[parted], columns[parted]])
    values = np.concatenate([values, finite, -finite])
    order = rng.permutation(len(values)) if n_parted == 0 else np.arange(len(values))
    form = FORMS[rng.integers(len(FORMS))]
    matrix = assemble(form, X.shape, rows[order], columns[order], values[order])
    return with_index_type(matrix, rng.choice([np.int32, np.int64]))


def assemble(form, shape, rows, columns, values):
    """A matrix of the entries in the order given; neither sorted nor summed."""
    name = form.__name__[:3]
    if name == "coo":
        return form((values, (rows, columns)), shape=shape)
    major, minor = (columns, rows) if name == "csc" else (rows, columns)
    n_major = shape[1] if name == "csc" else shape[0]
    order = np.argsort(major, kind="stable")
    indptr = np.append(0, np.cumsum(np.bincount(major, minlength=n_major)))
    return form((values[order], minor[order], indptr), shape=shape)


def with_index_type(matrix, dtype):
    """The matrix with indices of a type that its constructor may not have kept."""
    if matrix.format == "coo":
        matrix.coords = tuple(c.astype(dtype) for c in matrix.coords)
    else:
        matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    return matrix
