"""Out-of-bag predictions of a forest and the importances that follow from them."""

from __future__ import annotations

import warnings

import numpy as np
from joblib import delayed
from scipy.sparse import issparse
from sklearn.utils import Bunch

from fasttree.utils._parallel import Parallel
from fasttree.utils._threads import effective_n_threads

__all__ = ["oob_means", "permutation_importances", "warn_of_rows_without_trees"]


def warn_of_rows_without_trees():
    """Say that every tree drew some of the rows."""
    warnings.warn(
        "Some inputs do not have OOB scores. This probably means too few trees were used to "
        "compute any reliable OOB estimates.",
        UserWarning,
        stacklevel=6,
    )


def oob_means(sums, n_trees):
    """Return the mean over each row's out-of-bag trees; warn if a row has none.

    Parameters
    ----------
    sums : ndarray of shape (n_samples, ...)
        Sum over the trees, divided in place.
    n_trees : ndarray of shape (n_samples,)
        Number of trees.
    """
    if (n_trees == 0).any():
        warn_of_rows_without_trees()
        n_trees = np.maximum(n_trees, 1)
    sums /= n_trees.reshape(-1, *[1] * (sums.ndim - 1))
    return sums


def permutation_importances(trees, rows_of, X, loss_of, n_repeats, seed, n_jobs):
    """Return how much worse trees predict their out-of-bag rows with a feature permuted.

    Parameters
    ----------
    trees : list of Tree
        The trees.
    rows_of : callable
        From the number of a tree to its out-of-bag rows.
    X : ndarray or CSC matrix of shape (n_samples, n_features), dtype=float32
        The training rows.
    loss_of : callable
        From rows and the values (n, n_outputs, max_n_classes) of their leaves to a mean loss.
    n_repeats : int
        Number of permutations of each feature.
    seed : int
        Root of the draws; a tree's depend on its number and on nothing else.
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    Bunch
        As of :func:`sklearn.inspection.permutation_importance`.

    Raises
    ------
    ValueError
        If `n_repeats` is below 1.
    """
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats}.")

    def of_tree(number):
        tree, rows = trees[number], rows_of(number)
        return _of_tree(tree, rows, X, loss_of, n_repeats, np.random.default_rng([seed, number]))

    n_threads = effective_n_threads(n_jobs)
    jobs = (delayed(of_tree)(number) for number in range(len(trees)))
    if n_threads == 1:
        per_tree = [function(*args) for function, args, _ in jobs]
    else:
        per_tree = Parallel(n_threads, require="sharedmem")(jobs)
    importances = np.mean(per_tree, axis=0)
    return Bunch(
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        importances=importances,
    )


def _of_tree(tree, rows, X, loss_of, n_repeats, source):
    """Increases of a tree's loss, of shape (n_features, n_repeats); 0 for a feature that it does
    not ask about."""
    out = np.zeros((tree.n_features, n_repeats))
    if not len(rows):
        return out
    cells = X[rows].toarray(order="F") if issparse(X) else np.asfortranarray(X[rows])
    nodes, values = tree.read_nodes(), tree.read_values()
    loss = loss_of(rows, tree.lookup(cells, values))
    for feature in np.unique(nodes["feature"][nodes["left_child"] >= 0]):
        column = cells[:, feature].copy()
        for repeat in range(n_repeats):
            cells[:, feature] = source.permutation(column)
            out[feature, repeat] = loss_of(rows, tree.lookup(cells, values)) - loss
        cells[:, feature] = column
    return out
