"""The splits on categories of a tree: side arrays of `Tree`.

A split on categories lists some categories of its column and says whether they go left or right;
every other category, known to the fit or not, goes to the other side. Numbers go right, missing
values where `missing_go_to_left` says. The lists together are no longer than the categories that
the nodes held, so a column of many categories costs no bit per category and node.
"""

import numpy as np

from fasttree.table._encoder import MAX_CATEGORIES
from fasttree.tree.fitted._tree_state import check_side_array

__all__ = ["CategoricalSplits"]

_FIELDS = {
    "nodes": np.int64,
    "offsets": np.int64,
    "codes": np.uint32,
    "listed_left": np.uint8,
    "n_categories": np.uint32,
}


class CategoricalSplits:
    """The splits on categories of a tree, in the order of their nodes.

    Parameters
    ----------
    nodes : ndarray of shape (n_splits,), dtype=int64
        Ids of the nodes that split on categories, ascending.
    offsets : ndarray of shape (n_splits + 1,), dtype=int64
        Split i lists the categories ``codes[offsets[i]:offsets[i + 1]]``.
    codes : ndarray of shape (offsets[-1],), dtype=uint32
        Category codes, ascending within a split.
    listed_left : ndarray of shape (n_splits,), dtype=uint8
        1 where the listed categories go left, 0 where they go right.
    n_categories : ndarray of shape (n_features,), dtype=uint32
        Number of categories of each column; 0 for columns of numbers.

    Notes
    -----
    The arrays become its own, read-only; only those of a pickle are checked.
    """

    def __init__(self, nodes, offsets, codes, listed_left, n_categories):
        arrays = (nodes, offsets, codes, listed_left, n_categories)
        for name, array in zip(_FIELDS, arrays, strict=True):
            array.flags.writeable = False
            setattr(self, name, array)

    def _check(self):
        """Raise unless the arrays describe splits."""
        n_splits = len(self.nodes)
        if len(self.offsets) != n_splits + 1 or len(self.listed_left) != n_splits:
            raise ValueError("The side arrays of splits on categories have different lengths.")
        if np.any(np.diff(self.nodes) <= 0) or (n_splits and self.nodes[0] < 0):
            raise ValueError("The nodes that split on categories are not in ascending order.")
        if (
            self.offsets[0] != 0
            or self.offsets[-1] != len(self.codes)
            or np.any(np.diff(self.offsets) < 0)
        ):
            raise ValueError("The offsets of the category lists are out of range.")
        ascending = np.diff(self.codes.astype(np.int64)) > 0
        ascending[self.offsets[(self.offsets > 0) & (self.offsets < len(self.codes))] - 1] = True
        if not ascending.all():
            raise ValueError("The categories of a split are not in ascending order.")
        if np.any(self.n_categories > MAX_CATEGORIES) or np.any(self.listed_left > 1):
            raise ValueError("The side arrays of splits on categories are out of range.")

    def check_nodes(self, feature, children_left):
        """Raise unless the splits fit the nodes of a tree."""
        if len(self.nodes) and self.nodes[-1] >= len(feature):
            raise ValueError("A split on categories belongs to no node.")
        if np.any(children_left[self.nodes] < 0):
            raise ValueError("A leaf has a split on categories.")
        limits = self.n_categories[feature[self.nodes]]
        last = self.offsets[1:][np.diff(self.offsets) > 0] - 1
        if np.any(self.codes[last] >= limits[np.diff(self.offsets) > 0]):
            raise ValueError("A split lists a category that its column does not have.")

    def state(self):
        """Return the arrays by name, as pickles hold them."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_state(cls, state, n_features):
        """Return the splits of a pickle's state."""
        if not isinstance(state, dict) or set(state) != set(_FIELDS):
            raise ValueError(
                f"The state of the splits on categories must hold {', '.join(_FIELDS)}."
            )
        arrays = (check_side_array(state[name], name, dtype) for name, dtype in _FIELDS.items())
        splits = cls(*map(np.array, arrays))
        splits._check()
        if len(splits.n_categories) != n_features:
            raise ValueError(
                f"n_categories has {len(splits.n_categories)} entries for {n_features} features."
            )
        return splits

    def codes_going_left(self, i, feature):
        """Return the codes of the known categories that split i sends left, ascending."""
        listed = self.codes[self.offsets[i] : self.offsets[i + 1]]
        if self.listed_left[i]:
            return listed
        return np.setdiff1d(
            np.arange(self.n_categories[feature], dtype=np.uint32), listed, assume_unique=True
        )

    def left_bitset(self, feature):
        """Return the left categories of every node as bits, given the column of every node."""
        n_words = -(-int(self.n_categories.max()) // 32)
        bits = np.zeros((len(feature), n_words), dtype=np.uint32)
        for i, node in enumerate(self.nodes):
            codes = self.codes_going_left(i, feature[node])
            np.bitwise_or.at(bits[node], codes // 32, np.uint32(1) << codes % 32)
        return bits

    def take(self, ids, still_split):
        """Return the splits of a tree whose node j was node ``ids[j]`` here, or None.

        Parameters
        ----------
        ids : ndarray of int
            Nodes that are kept, in their new order.
        still_split : ndarray of bool
            Whether a kept node has kept its split.
        """
        place = np.searchsorted(self.nodes, ids)
        place[place == len(self.nodes)] = 0
        kept = np.flatnonzero((self.nodes[place] == ids) & still_split)
        if not len(kept):
            return None
        place = place[kept]
        sizes = np.diff(self.offsets)[place]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        index = np.arange(offsets[-1]) + np.repeat(self.offsets[place] - offsets[:-1], sizes)
        return CategoricalSplits(
            kept, offsets, self.codes[index], self.listed_left[place], self.n_categories
        )
