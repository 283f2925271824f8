"""The trees of a forest in few bytes, as pickles hold them.

Per node a pickle holds what cannot be computed from the rest, in the smallest type that holds it
exactly: of leaves their rows, of splits the question; impurities unless they are zero; class
fractions as counts. Predictions read the packed copy that comes along (`_store.pyx`), so a loaded
forest needs no more until somebody asks for its trees.

Invariant: what is restored equals what was made compact, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fasttree.ensemble._growth import bare_copy
from fasttree.ensemble._store import ForestStore, subtree_sums
from fasttree.tree._base import BaseDecisionTree
from fasttree.tree._tree import NODE_DTYPE, Tree
from fasttree.tree.fitted._categorical_splits import CategoricalSplits

if TYPE_CHECKING:
    from typing import Any, Self

__all__ = ["CompactForest", "are_of_one_fit"]

_OWN = {"tree_", "random_state"}  # what trees of a forest do not share


class Column:
    """Numbers of all trees, one after the other, in the smallest type that holds them exactly.

    Parameters
    ----------
    parts : list of ndarray
        Those of each tree, of float64, intp or bool.
    """

    def __init__(self, parts):
        numbers = np.concatenate(parts)
        if numbers.dtype.kind == "i":
            numbers = numbers.astype(np.int64)
        self.dtype, self.size = numbers.dtype, len(numbers)
        self.present = None
        if numbers.dtype == bool:
            self.stored = np.packbits(numbers)
            return
        is_zero = numbers.view(np.int64) == 0
        if is_zero.mean() > 1 / 32:
            self.present = np.packbits(~is_zero)
            numbers = numbers[~is_zero]
        self.stored = _smallest(numbers)

    def restore(self):
        """The numbers again."""
        if self.dtype == bool:
            return np.unpackbits(self.stored, count=self.size).astype(bool)
        if self.present is None:
            return self.stored.astype(self.dtype)
        numbers = np.zeros(self.size, dtype=self.dtype)
        numbers[np.unpackbits(self.present, count=self.size).astype(bool)] = self.stored
        return numbers


def _smallest(numbers):
    """The numbers in the smallest type that gives them back bit for bit."""
    for dtype in (np.uint8, np.uint16, np.uint32, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            converted = numbers.astype(dtype)
        back = converted.astype(numbers.dtype)
        if np.array_equal(back.view(np.int64), numbers.view(np.int64)):
            return converted
    return numbers


def are_of_one_fit(estimators):
    """Whether estimators share all that the trees of one forest do."""
    first = vars(estimators[0])
    for estimator in estimators:
        own = vars(estimator)
        if type(estimator) is not type(estimators[0]) or own.keys() != first.keys():
            return False
        if any(own[name] is not first[name] for name in first.keys() - _OWN):
            return False
    return True


class CompactForest:
    """The estimators of a forest as few arrays.

    Parameters
    ----------
    estimators : list of estimators
        The trees of a forest.
    store : ForestStore
        Their packed copy.
    """

    def __init__(self, estimators, store):
        trees = [estimator.tree_ for estimator in estimators]
        self.template = bare_copy(estimators[0])
        del self.template.tree_
        self.seeds = [estimator.random_state for estimator in estimators]
        self.sizes = [trees[0].n_features, trees[0].n_classes, trees[0].n_outputs]
        self.n_nodes = np.array([tree.node_count for tree in trees])
        self.depths = [tree.max_depth for tree in trees]
        self.label_splits = [tree.label_splits and tree.label_splits.state() for tree in trees]
        self.store = None if store.with_categories else store.arrays()
        parts = [self._parts(tree) for tree in trees]
        self.columns = {name: Column([part[name] for part in parts]) for name in parts[0]}

    @classmethod
    def of(cls, estimators: list[Any], store: Any) -> Self | None:
        """The estimators made compact, or None if they do not belong together as those of a fit
        do."""
        return cls(estimators, store()) if are_of_one_fit(estimators) else None

    def _parts(self, tree):
        """What is kept of a tree."""
        nodes = tree.read_nodes()
        left, right = nodes["left_child"], nodes["right_child"]
        is_leaf = left < 0
        is_split = ~is_leaf
        ids = np.flatnonzero(is_split)
        weights = np.ascontiguousarray(nodes["weighted_n_node_samples"])
        values = tree.read_values().reshape(tree.node_count, -1)
        if self.store is not None:
            values = values[is_split]  # those of leaves are in the store
        return {
            "is_leaf": is_leaf,
            "left": left[is_split] - ids - 1,
            "right": right[is_split] - ids,
            "feature": nodes["feature"][is_split],
            "threshold": nodes["threshold"][is_split],
            "missing_left": nodes["missing_go_to_left"][is_split] != 0,
            "impurity": np.ascontiguousarray(nodes["impurity"]),
            "n_rows": nodes["n_node_samples"][is_leaf],
            "weight": weights[is_leaf],
            # Rounding shows where weights are no whole numbers.
            "weight_error": weights - subtree_sums(left, right, weights[is_leaf]),
            **_value_parts(values, weights[is_split] if self.store is not None else weights),
        }

    def forest_store(self):
        """The packed copy of the trees, or None if they have to be packed anew."""
        return None if self.store is None else ForestStore(*self.store)

    def estimators(self):
        """The estimators again."""
        columns = {name: column.restore() for name, column in self.columns.items()}
        store = self.forest_store()
        n_features, n_classes, n_outputs = self.sizes
        is_leaf = np.split(columns.pop("is_leaf"), np.cumsum(self.n_nodes)[:-1])
        taken = dict.fromkeys(columns, 0)

        def take(name, n):
            start = taken[name]
            taken[name] += n
            return columns[name][start : start + n]

        estimators = []
        for number, leaf in enumerate(is_leaf):
            tree = Tree(n_features, n_classes, n_outputs)
            nodes = _restored_nodes(leaf, take)
            weights = nodes["weighted_n_node_samples"]
            width = n_outputs * tree.max_n_classes
            if store is None:
                values = _restored_values(take, weights, width)
            else:
                values = np.empty((len(nodes), width))
                values[~leaf] = _restored_values(take, weights[~leaf], width)
                left, right = nodes["left_child"], nodes["right_child"]
                values[leaf] = store.leaf_values(number, left, right)
            splits = self.label_splits[number]
            if splits is not None:
                splits = CategoricalSplits.from_state(splits, n_features)
            tree.set_nodes(
                nodes,
                values.reshape(-1, n_outputs, tree.max_n_classes),
                self.depths[number],
                splits,
            )
            seed = self.seeds[number]
            estimators.append(bare_copy(self.template, tree_=tree, random_state=seed))
        return estimators

    def check(self, forest):
        """Raise unless these are trees of a forest with such attributes."""
        if not isinstance(self.template, BaseDecisionTree) or "tree_" in vars(self.template):
            raise ValueError("The trees of a forest must be those of fasttree.")
        if len(self.seeds) != len(self.n_nodes) or len(self.seeds) == 0:
            raise ValueError("A forest must have a random state for each of its trees.")
        n_features, n_classes, n_outputs = self.sizes
        names = {"n_features_in_": n_features, "n_outputs_": n_outputs}
        own = np.atleast_1d(vars(forest).get("n_classes_", np.ones(n_outputs, np.intp)))
        width = n_outputs * int(np.max(n_classes))
        if any(vars(forest).get(name) != size for name, size in names.items()) or not (
            np.array_equal(own, n_classes)
        ):
            raise ValueError("The trees of a forest must have its features, outputs and classes.")
        store = self.forest_store()
        if store is not None and (
            store.n_features != n_features
            or store.records.shape[1] != width
            or len(store.roots) != len(self.seeds) + 1
        ):
            raise ValueError("The packed trees are not those of the forest.")


def _value_parts(values, weights):
    """Values of nodes, as counts if that gives them back."""
    counts = np.rint(values * weights[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        is_count = bool((counts / weights[:, None] == values).all())
    kept = counts if is_count else values
    return {"value": kept.ravel(), "is_count": np.array([is_count])}


def _restored_values(take, weights, width):
    kept = take("value", len(weights) * width).reshape(-1, width)
    return kept / weights[:, None] if take("is_count", 1)[0] else kept


def _restored_nodes(leaf, take):
    """The nodes of a tree."""
    n = len(leaf)
    n_leaves = int(leaf.sum())
    ids = np.flatnonzero(~leaf)
    nodes = np.zeros(n, dtype=NODE_DTYPE)
    for name, empty in (
        ("left_child", -1),
        ("right_child", -1),
        ("feature", -2),
        ("threshold", -2),
    ):
        nodes[name] = empty
    nodes["left_child"][ids] = ids + 1 + take("left", len(ids))
    nodes["right_child"][ids] = ids + take("right", len(ids))
    nodes["feature"][ids] = take("feature", len(ids))
    nodes["threshold"][ids] = take("threshold", len(ids))
    nodes["missing_go_to_left"][ids] = take("missing_left", len(ids))
    nodes["impurity"] = take("impurity", n)
    left, right = nodes["left_child"], nodes["right_child"]
    nodes["n_node_samples"] = subtree_sums(left, right, take("n_rows", n_leaves).astype(float))
    nodes["weighted_n_node_samples"] = subtree_sums(left, right, take("weight", n_leaves))
    nodes["weighted_n_node_samples"] += take("weight_error", n)
    return nodes
