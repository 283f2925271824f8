"""What the splits of a tree ask, in words."""

import numpy as np

__all__ = ["Questions", "column_names", "no_single_tree"]

# Categories that a question names unless told otherwise; of more, the rest are counted.
MAX_LABELS = 10


def column_names(estimator, feature_names, default="x[{}]"):
    """Names of the columns: those given, those of the fit, or ``default.format(j)``."""
    n_features = estimator.n_features_in_
    if feature_names is None:
        feature_names = getattr(estimator, "feature_names_in_", None)
    if feature_names is None:
        feature_names = [default.format(j) for j in range(n_features)]
    if len(feature_names) != n_features:
        raise ValueError(
            f"feature_names must contain {n_features} elements, got {len(feature_names)}"
        )
    return [str(name) for name in feature_names]


def no_single_tree(estimator):
    """The error that an estimator is not the one tree that is to be shown."""
    return TypeError(
        f"{type(estimator).__name__} is no single tree; a forest holds some in estimators_."
    )


class Questions:
    """The questions of a fitted tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    encoder : TableEncoder or None
        What turned the table of the fit into cells; None for a matrix of numbers.
    names : list of str
        Names of the columns.
    max_labels : int, default=10
        Categories that a question names; of more, the rest are counted.
    """

    def __init__(self, tree, encoder, names, max_labels=MAX_LABELS):
        self.names, self.max_labels = names, max_labels
        self.columns = None if encoder is None else encoder.columns
        self.splits = getattr(tree, "label_splits", None)
        self.feature, self.threshold = tree.feature.tolist(), tree.threshold.tolist()
        self.missing_left = tree.missing_go_to_left.tolist()

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
        name = self.names[feature]
        if self.columns is None:
            threshold = number(self.threshold[node])
            return f"{name} <= {threshold}", f"{name} >  {threshold}"
        column = self.columns[feature]
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
        named = ", ".join(str(column.categories[code]) for code in codes[: self.max_labels])
        if len(codes) > self.max_labels:
            named += f" and {len(codes) - self.max_labels} more"
        return (
            f"{name} in {{{named}}}" + (" or missing" if missing_left else ""),
            f"{name} not in {{{named}}}",
        )
