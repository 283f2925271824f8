"""The smaller forests that a forest contains: fewer trees, cut by tighter limits.

The random states of the trees are drawn one after the other, so that a forest of fewer trees is the
first trees of a larger one, and a tree under a tighter limit is the top of a larger tree (see
`tree/pruning/_tuning.pyx`). Hence one forest contains those of all settings of `n_estimators` and
of the limits, with the same out-of-bag rows and, because trees are summed in their order, the same
predictions to the last bit.

Complexity: O(trees * (nodes + rows * values)) for the predictions of all numbers of trees under one
combination of limits.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fasttree.ensemble._growth import bare_copy
from fasttree.ensemble._memory import FitMemory
from fasttree.tree.pruning._pruning import prune_tree
from fasttree.tree.pruning._tuning import Cuts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from fasttree._typing import Array, FloatArray, IntArray

__all__ = ["CutForests"]


class CutForests:
    """The forests that settings cut from a fitted one.

    Parameters
    ----------
    forest : Forest
        Fitted, with as many trees as any setting and limits as loose, without `ccp_alpha`.
    """

    def __init__(self, forest: Any) -> None:
        self.forest = forest
        self._cuts = [Cuts(estimator.tree_) for estimator in forest.estimators_]

    @cached_property
    def _parents(self):
        return [_parents(cuts.tree) for cuts in self._cuts]

    def means(
        self, leaves: IntArray, setting: Array, sizes: Collection[int]
    ) -> Iterator[tuple[int, FloatArray]]:
        """Yield what forests of several numbers of trees predict.

        Parameters
        ----------
        leaves : ndarray of shape (n_trees, n_samples), dtype=intp
            Each row's leaf in each tree, uncut.
        setting : ndarray of shape (1,), dtype=SETTING_DTYPE
            The limits of the trees.
        sizes : collection of int
            The numbers of trees.

        Yields
        ------
        n_trees : int
            One of `sizes`, ascending.
        means : ndarray of shape (n_samples, n_outputs, max_n_classes), dtype=float64
            As of `Forest._means`.
        """
        sums = np.zeros((leaves.shape[1], *self._cuts[0].tree.value.shape[1:]))
        for number in range(max(sizes)):
            cuts = self._cuts[number]
            # Ids are in depth-first order: what is cut off follows the leaf it has become part of.
            is_gone = cuts.mask(setting)[self._parents[number]]
            kept = np.maximum.accumulate(np.where(is_gone, 0, np.arange(len(is_gone))))
            sums += cuts.tree.value[kept[leaves[number]]]
            if number + 1 in sizes:
                yield number + 1, sums / (number + 1)

    def cut(self, setting: Array, parameters: dict[str, Any]) -> Any:
        """Return the forest that a fit with other parameters gives.

        Parameters
        ----------
        setting : ndarray of shape (1,), dtype=SETTING_DTYPE
            The limits of the trees.
        parameters : dict of str to object
            `n_estimators` and the limits as the forest's parameters.

        Returns
        -------
        Forest
        """
        limits = {name: parameters[name] for name in parameters if name != "n_estimators"}
        estimators = [
            bare_copy(estimator, tree_=prune_tree(cuts.tree, cuts.mask(setting)), **limits)
            for estimator, cuts in zip(
                self.forest.estimators_[: parameters["n_estimators"]], self._cuts
            )
        ]
        data = self.forest._memory.data
        forest = bare_copy(
            self.forest, estimators_=estimators, _memory=FitMemory(data), **parameters
        )
        if forest.oob_score:
            forest._set_oob_score_and_attributes(data, forest._bootstrap())
        return forest

    def predicted(self, means: FloatArray) -> Any:
        """Return a forest that predicts these means, whatever the rows."""
        return bare_copy(self.forest, _means=lambda X: means.copy())


def _parents(tree):
    """The parent of each node, 0 of the root."""
    parents = np.zeros(tree.node_count, dtype=np.intp)
    splits = np.flatnonzero(tree.children_left >= 0)
    parents[tree.children_left[splits]] = parents[tree.children_right[splits]] = splits
    return parents
