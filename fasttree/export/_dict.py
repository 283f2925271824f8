"""Trees as nested dicts: `export_dict`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fasttree.export._view import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sklearn.base import BaseEstimator

__all__ = ["export_dict"]


def export_dict(
    decision_tree: BaseEstimator, *, feature_names: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return a tree as a nested dict of plain Python objects, which `json` can write.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of fasttree's.
    feature_names : array-like of shape (n_features,), default=None
        Names of the columns; None takes those of the fit, or x0, x1 and so on.

    Returns
    -------
    dict
        The root. Every node has `node_id`, `impurity`, `n_node_samples`,
        `weighted_n_node_samples` and `value`, a list with an item per output: the fractions of its
        classes, or the mean or median. An inner node also has `feature`, `feature_name`,
        `missing_go_to_left`, `left` and `right`; and `threshold`, the largest number that goes
        left (None if that is every number), or at a split on categories `categories`, a list, and
        `categories_go_to_left`, whether these go left and all others right or the other way
        round. A leaf also has `prediction`, what `predict` returns, dates as texts: a list if
        there are several outputs.

    See Also
    --------
    save : Writes an estimator that can be loaded again.

    Examples
    --------
    >>> from fasttree.export import export_dict
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([["red", 1], ["blue", 2], ["red", 3]], [0, 1, 0])
    >>> root = export_dict(tree)
    >>> root["feature_name"], root["categories"], root["left"]["prediction"]
    ('x0', ['blue'], 1)
    """
    view = view_of(decision_tree, feature_names)
    tree, predictions = view.tree, view.predictions()
    sizes = tree.n_classes.tolist()
    columns = {
        name: getattr(tree, name).tolist()
        for name in ("impurity", "n_node_samples", "weighted_n_node_samples", "threshold")
    }
    nodes = []
    for node, split in enumerate(view.splits()):
        record: dict[str, Any] = {"node_id": node}
        if split is not None:
            record["feature"] = split.feature
            record["feature_name"] = view.names[split.feature]
            if split.codes is None:
                threshold = columns["threshold"][node]
                record["threshold"] = None if np.isinf(threshold) else threshold
            else:
                labels = view.categories_of(split.feature)
                record["categories"] = [labels[code] for code in split.codes.tolist()]
                record["categories_go_to_left"] = split.listed_left
            record["missing_go_to_left"] = split.missing_left
        for name in ("impurity", "n_node_samples", "weighted_n_node_samples"):
            record[name] = columns[name][node]
        record["value"] = [tree.value[node, k, :n].tolist() for k, n in enumerate(sizes)]
        if split is None:
            prediction = predictions[node]
            record["prediction"] = prediction[0] if view.n_outputs == 1 else prediction
        nodes.append(record)
    for node in np.flatnonzero(tree.children_left >= 0).tolist():
        nodes[node]["left"] = nodes[tree.children_left[node]]
        nodes[node]["right"] = nodes[tree.children_right[node]]
    return nodes[0]
