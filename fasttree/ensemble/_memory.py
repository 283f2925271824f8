"""What a fitted forest keeps besides its trees."""

import functools

from fasttree.ensemble._store import ForestStore

__all__ = ["FitMemory", "keeps_earlier_forest"]


def keeps_earlier_forest(fit):
    """Decorate the fit of a forest, so that one that fails leaves the forest as it was, or, once it
    has released the earlier trees, not fitted."""

    @functools.wraps(fit)
    def fitted(forest, *args):
        forest._continues()  # makes the trees of a loaded forest, if the fit adds to them
        forest._earlier_fit = vars(forest).copy()
        try:
            return fit(forest, *args)
        except BaseException:
            if "_earlier_fit" in vars(forest):
                forest.__dict__ = forest._earlier_fit
            else:
                forest._forget_trees()
            raise
        finally:
            vars(forest).pop("_earlier_fit", None)

    return fitted


class FitMemory:
    """What a fitted forest holds besides its attributes, and never pickles: its packed trees, made
    by the first prediction, and the data that it was fitted on."""

    def __init__(self, data=None, compact=None):
        self.data = data
        self.compact = compact  # what a pickle held, until somebody asks for the trees
        self._trees = []
        self._store = None if compact is None else compact.forest_store()

    def restore(self, compact):
        """The estimators of a forest that was loaded."""
        estimators = compact.estimators()
        if self._store is not None:
            self._trees = [estimator.tree_ for estimator in estimators]
        return estimators

    def loaded_store(self):
        """The packed trees that were loaded, if nobody has asked for more yet."""
        return None if self.compact is None else self._store

    def store(self, trees, table_of=None):
        """The packed copy of these trees, whose nodes predict their values or what `table_of` says
        by a tree's number; they may have been exchanged since the last call."""
        if len(trees) != len(self._trees) or any(a is not b for a, b in zip(trees, self._trees)):
            tables = (
                table_of(number) if table_of else tree.read_values().reshape(tree.node_count, -1)
                for number, tree in enumerate(trees)
            )
            self._store, self._trees = ForestStore.of(trees, tables), trees
        return self._store

    def __reduce__(self):
        return FitMemory, ()
