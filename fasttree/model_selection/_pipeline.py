"""Trees and forests at the end of pipelines: the steps before them are fitted once for all settings
of a fold.

A pipeline's last step may be a pipeline again. Only scikit-learn's own class is looked into: what
another does when it fits or predicts is not known.
"""

import copy
from itertools import count

from sklearn.pipeline import Pipeline

from fasttree.ensemble._base import Forest
from fasttree.ensemble._tasks import ClassifierForest, RegressorForest
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor

__all__ = [
    "SharedSteps",
    "is_cuttable",
    "is_cuttable_forest",
    "put_tree",
    "replaces_tree",
    "tree_within",
]

_OWN_FITS = (DecisionTree.fit, DecisionTreeClassifier.fit, DecisionTreeRegressor.fit)


def is_cuttable(estimator):
    """Whether the estimator is a tree of fasttree's, with its fit."""
    return getattr(type(estimator), "fit", None) in _OWN_FITS


def is_cuttable_forest(estimator):
    """Whether the estimator is a forest of fasttree's, with its fit, that predicts by its trees."""
    return (
        isinstance(estimator, (ClassifierForest, RegressorForest))
        and type(estimator).fit is Forest.fit
        and type(estimator)._fit is Forest._fit
    )


def tree_within(estimator):
    """Return the tree, or the forest, that an estimator is or ends in.

    Parameters
    ----------
    estimator : estimator

    Returns
    -------
    prefix : str
        What stands before its parameters among the estimator's.
    tree : estimator or None
        None if there is neither a tree nor a forest of fasttree's.
    """
    prefix = ""
    while _is_pipeline(estimator):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    is_known = is_cuttable(estimator) or is_cuttable_forest(estimator)
    return prefix, estimator if is_known else None


def replaces_tree(prefix, names):
    """Whether a parameter among `names` is the tree itself or a pipeline around it."""
    around, replacing = "", set()
    for step in prefix.split("__")[:-1]:
        replacing |= {f"{around}steps", f"{around}{step}"}
        around += f"{step}__"
    return not replacing.isdisjoint(names)


def put_tree(estimator, tree):
    """Return the estimator with another tree in the place of its own; the rest is shared."""
    if not _is_pipeline(estimator):
        return tree
    around = copy.copy(estimator)
    name, last = estimator.steps[-1]
    around.steps = [*estimator.steps[:-1], (name, put_tree(last, tree))]
    return around


class SharedSteps:
    """What fits that differ in the tree's parameters only have in common: the steps before it.

    Pipelines that have no `memory` of their own keep the results of their steps here.
    """

    def __init__(self):
        self._memories = []  # of a pipeline, of the one that is its last step, ...
        self._rows = {}

    def fit(self, estimator, X, y, params):
        """Fit the estimator, but no step again that was fitted before."""
        lent = []
        for depth, pipeline in enumerate(_pipelines(estimator)):
            if depth == len(self._memories):
                self._memories.append(_StepMemory())
            if pipeline.memory is None:
                pipeline.memory = self._memories[depth]
                lent.append(pipeline)
        try:
            estimator.fit(X, y, **params)
        finally:
            for pipeline in lent:
                pipeline.memory = None

    def transform(self, estimator, X, part):
        """Return rows as the tree reads them; those of the same part only once."""
        if part not in self._rows:
            for pipeline in _pipelines(estimator):
                if len(pipeline.steps) > 1:
                    X = pipeline[:-1].transform(X)
            self._rows[part] = X
        return self._rows[part]


class _StepMemory:
    """Results of a pipeline's steps, by position; the interface is that of joblib's Memory."""

    def __init__(self):
        self._results = []

    def cache(self, func, ignore=None):
        places = count()

        def known(*args, **kwargs):
            place = next(places)
            if place == len(self._results):
                self._results.append(func(*args, **kwargs))
            return self._results[place]

        return known


def _is_pipeline(estimator):
    return type(estimator) is Pipeline and isinstance(estimator.steps, list) and estimator.steps


def _pipelines(estimator):
    """The estimator's pipelines around its tree, from the outermost."""
    while _is_pipeline(estimator):
        yield estimator
        estimator = estimator.steps[-1][1]
