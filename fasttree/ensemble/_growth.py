"""How the trees of a forest grow: what they share, and on which threads or machines.

The data is read and encoded once. On threads all trees share it; a back-end of processes or of
other machines gets it once per worker, because each of its jobs grows one worker's share of the
trees: the matrix, with whatever fits have made of it before. Joblib maps large arrays into memory.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from joblib import delayed, effective_n_jobs
from joblib.parallel import SequentialBackend, ThreadingBackend, get_active_backend
from sklearn.utils import compute_sample_weight

from fasttree.ensemble._bootstrap import Bootstrap
from fasttree.tree._data import TrainingData
from fasttree.tree.fitted._node_arrays import TreeMemory
from fasttree.utils._parallel import Parallel, map_on_threads
from fasttree.utils._threads import dismiss_threads, effective_n_threads

__all__ = ["Plan", "bare_copy", "check_continues", "grow_trees"]


def bare_copy(estimator, **attributes):
    """Return an estimator with the attributes of another; cheaper than `clone` by far."""
    copy = type(estimator).__new__(type(estimator))
    vars(copy).update(vars(estimator), **attributes)
    return copy


@dataclass
class Plan:
    """What the trees of a forest have in common.

    Parameters
    ----------
    template : estimator
        A tree that has read the data and lacks nothing but `tree_`.
    data : TrainingData
        Rows, targets and weights.
    bootstrap : Bootstrap or None
        None: every tree takes all rows.
    balances : bool
        Whether classes are balanced in each bootstrap sample.
    memory : TreeMemory
        Where the trees are kept.
    """

    template: object
    data: TrainingData
    bootstrap: Bootstrap | None
    balances: bool
    memory: TreeMemory = field(default_factory=TreeMemory)

    def prepare(self, n_threads):
        """Encode the data on threads, before the trees are threads themselves."""
        self.template._prepare(self.data, n_threads)
        if n_threads > 1:
            dismiss_threads()

    def grow(self, seed, n_threads=1):
        """Return the tree of a random state; data that is not encoded yet is encoded."""
        grower = bare_copy(self.template, random_state=seed)
        data = self.data
        if self.bootstrap is not None:
            data = replace(data, sample_weight=self._drawn_weights(seed))
        grower.tree_ = grower._grow(data, n_threads, self.memory)
        grower._prune_tree()
        return grower.tree_

    def _drawn_weights(self, seed):
        if not self.balances:
            return self.bootstrap.counts(seed)
        indices = self.bootstrap.indices(seed)
        counts = np.bincount(indices, minlength=self.bootstrap.n_rows)
        return counts * compute_sample_weight("balanced", self.data.y, indices=indices)

    def __sizeof__(self):
        # Dask asks before it sends.
        return object.__sizeof__(self) + self.data.encoding.n_bytes + self.data.y.nbytes


def grow_trees(plan, seeds, n_jobs, verbose=0):
    """Yield the trees of some random states, in their order.

    Parameters
    ----------
    plan : Plan
        What they share.
    seeds : list of int
        The random states.
    n_jobs : int or None
        As of the forest. Where there are more threads than trees, trees grow on several.
    verbose : int
        How much joblib tells.
    """
    backend, _ = get_active_backend(prefer="threads")
    if getattr(backend, "supports_sharedmem", False):
        n_threads = effective_n_threads(n_jobs)
        calls = seeds, threads_of_trees(len(seeds), n_threads)
        plan.prepare(effective_n_threads(n_jobs, plan.data.encoding.X.size))
        if verbose > 0 or not isinstance(backend, (ThreadingBackend, SequentialBackend)):
            parallel = Parallel(
                n_threads, verbose=verbose, prefer="threads", return_as="generator", batch_size=1
            )
            yield from parallel(map(delayed(plan.grow), *calls))
        elif n_threads == 1:
            yield from map(plan.grow, *calls)
        else:
            yield from map_on_threads(n_threads, plan.grow, *calls)
        return
    n_shares = min(effective_n_jobs(n_jobs), len(seeds))
    parallel = Parallel(n_jobs, verbose=verbose, batch_size=1)
    with sent_to_workers(backend, plan, n_shares):
        shares = parallel(
            delayed(grow_share)(plan, share.tolist()) for share in np.array_split(seeds, n_shares)
        )
    for trees in shares:
        yield from trees


@contextmanager
def sent_to_workers(backend, plan, n_workers):
    """Send the plan to as many workers of dask as have a share in it. Joblib sends a large argument
    to one of them, and dask starts jobs where their arguments are."""
    futures = getattr(backend, "data_futures", None)
    if futures is None:
        yield
        return
    [futures[id(plan)]] = backend.client.scatter([plan], broadcast=n_workers, hash=False)
    try:
        yield
    finally:
        del futures[id(plan)]


def threads_of_trees(n_trees, n_threads):
    """Return on how many threads each tree grows: all take part in the last ones if these are
    fewer than the threads, because some would have none."""
    n_last = n_trees % n_threads
    if n_last == 0:
        return [1] * n_trees
    return [1] * (n_trees - n_last) + [n_threads // n_last] * n_last


def grow_share(plan, seeds):
    """Return one worker's share of the trees. The plan is an argument, not the owner of a method,
    for back-ends that send an argument once to all jobs which have it."""
    return [plan.grow(seed) for seed in seeds]


def check_continues(forest, earlier, later):
    """Raise unless new trees can join those of an earlier fit: they read as many features and
    predict as many outputs and classes, and the tables give their categories the same codes."""
    tree = forest.estimators_[0].tree_
    n_classes = getattr(forest, "n_classes_", [1] * forest.n_outputs_)
    sizes = (tree.n_features, tree.n_outputs, tree.n_classes.tolist())
    if sizes != (forest.n_features_in_, forest.n_outputs_, list(n_classes)):
        raise ValueError(
            "warm_start=True needs as many features, outputs and classes as the earlier fit: "
            f"{sizes[0]}, {sizes[1]} and {sizes[2]}."
        )
    categories = [[] if encoder is None else encoder.categories for encoder in (earlier, later)]
    if categories[0] != categories[1] and any(map(any, categories)):
        raise ValueError("warm_start=True needs a table with the categories of the earlier fit.")
