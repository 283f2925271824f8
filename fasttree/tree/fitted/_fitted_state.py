"""What a pickled estimator may look like: its parts are checked against its tree.

A prediction looks up leaves in tables as long as the tree says, so parts that do not belong
together must not meet. A `Tree` and the encoder of a table check themselves when they are loaded.
"""

import numpy as np

from fasttree.table._encoder import TableEncoder
from fasttree.tree._tree import Tree

__all__ = ["check_fitted_state", "check_tree_state"]


def check_fitted_state(state, is_classifier):
    """Raise unless the attributes of an estimator belong to its tree; without one all is well.

    Parameters
    ----------
    state : dict
        The estimator's attributes.
    is_classifier : bool
        Whether the tree's values are fractions of classes.

    Raises
    ------
    ValueError
        If a part is missing, of the wrong type or does not fit the tree.
    """
    if not isinstance(state, dict):
        raise ValueError(f"The state of an estimator must be a dict, got {type(state).__name__}.")
    if "tree_" not in state:
        return
    tree = state["tree_"]
    check_tree_state(tree)
    for name, expected in (("n_features_in_", tree.n_features), ("n_outputs_", tree.n_outputs)):
        if not _is_number(state.get(name), expected):
            raise ValueError(f"{name} must be {expected} as in tree_, got {state.get(name)!r}.")
    n_rows = state.get("_n_fit_rows")
    if not isinstance(n_rows, (int, np.integer)) or n_rows < 1:
        raise ValueError(f"_n_fit_rows must be a positive int, got {n_rows!r}.")
    names = state.get("feature_names_in_")
    if names is not None and not _is_column(names, tree.n_features):
        raise ValueError(f"feature_names_in_ must be an array of {tree.n_features} names.")
    if is_classifier:
        _check_classes(state, tree)
    elif tree.max_n_classes != 1:
        raise ValueError("The tree of a regressor must have one value per output.")
    _check_encoder(state.get("_table_encoder"), tree)


def check_tree_state(tree, like=None):
    """Raise unless an object is a filled `Tree`, with the sizes of another if one is given."""
    if not isinstance(tree, Tree) or tree.node_count == 0:
        raise ValueError("tree_ must be a Tree of fasttree with at least one node.")
    if like is not None and (
        tree.n_features != like.n_features or not np.array_equal(tree.n_classes, like.n_classes)
    ):
        raise ValueError("The trees of an estimator must have the same features and classes.")


def _is_number(value, expected):
    return isinstance(value, (int, np.integer)) and value == expected


def _is_column(array, size):
    return isinstance(array, np.ndarray) and array.shape == (size,)


def _check_classes(state, tree):
    """Raise unless there are as many classes as the tree's values have places for."""
    classes, n_classes = state.get("classes_"), state.get("n_classes_")
    sizes = tree.n_classes
    if tree.n_outputs == 1:
        size = tree.max_n_classes
        is_right = _is_number(n_classes, size) and _is_column(classes, size)
    else:
        is_right = (
            isinstance(n_classes, np.ndarray)
            and n_classes.dtype.kind == "i"
            and np.array_equal(n_classes, sizes)
            and isinstance(classes, list)
            and len(classes) == len(sizes)
            and all(map(_is_column, classes, sizes))
        )
    if not is_right:
        raise ValueError(
            f"classes_ and n_classes_ must hold {sizes.tolist()} classes as tree_ does."
        )


def _check_encoder(encoder, tree):
    """Raise unless the encoder of a table makes the cells that the tree reads."""
    splits = tree.label_splits
    if encoder is None:
        if splits is not None:
            raise ValueError("A tree that splits on categories needs the encoder of its table.")
        return
    if not isinstance(encoder, TableEncoder) or len(encoder.columns) != tree.n_features:
        raise ValueError(f"_table_encoder must be a TableEncoder of {tree.n_features} columns.")
    if splits is not None and not np.array_equal(encoder.n_categories, splits.n_categories):
        raise ValueError("The categories of the table's columns are not as many as tree_ has.")
