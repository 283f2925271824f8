"""What the splits of a tree that was fitted on a table ask, in words."""

import numpy as np

__all__ = ["Questions"]

# Categories that a question names; of more, the rest are counted.
MAX_NAMED = 10


class Questions:
    """The questions of a fitted tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    encoder : TableEncoder
        What turned the table of the fit into cells.
    names : list of str
        Names of the columns.
    """

    def __init__(self, tree, encoder, names):
        self.names, self.columns, self.splits = names, encoder.columns, tree.label_splits
        self.feature, self.threshold = tree.feature, tree.threshold
        self.missing_left = tree.missing_go_to_left

    def sides(self, node, number):
        """Return what is true of the rows that go left at a node, and of those that go right.

        Parameters
        ----------
        node : int
            An inner node.
        number : callable
            Turns a threshold into text.
        """
        feature = self.feature[node]
        name, column = self.names[feature], self.columns[feature]
        place = -1 if self.splits is None else np.searchsorted(self.splits.nodes, node)
        if 0 <= place < len(self.splits.nodes) and self.splits.nodes[place] == node:
            return self._category_sides(name, column, feature, place, self.missing_left[node])
        if np.isinf(self.threshold[node]):
            return f"{name} is a number", f"{name} is not a number"
        others = " or not a number" if column.categories else " or missing"
        if not (column.categories or column.has_missing):
            others = ""
        left, right = (others, "") if self.missing_left[node] else ("", others)
        threshold = number(self.threshold[node])
        return f"{name} <= {threshold}{left}", f"{name} >  {threshold}{right}"

    def _category_sides(self, name, column, feature, place, missing_left):
        codes = self.splits.codes_going_left(place, feature)
        missing_left = missing_left and column.has_missing
        if len(codes) == 0:
            return f"{name} is missing", f"{name} is not missing"
        named = ", ".join(str(column.categories[code]) for code in codes[:MAX_NAMED])
        if len(codes) > MAX_NAMED:
            named += f" and {len(codes) - MAX_NAMED} more"
        return (
            f"{name} in {{{named}}}" + (" or missing" if missing_left else ""),
            f"{name} not in {{{named}}}",
        )
