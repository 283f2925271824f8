"""Exchange with scikit-learn: its estimators and its `Tree`, from fasttree's.

scikit-learn's node record differs between releases, so it is filled by the field names that the
installed release has.
"""

import numpy as np
import sklearn.tree

from fasttree._sklearn_compat import SKLEARN_NODE_DTYPE, SklearnTree


def to_sklearn_tree(tree):
    """Return scikit-learn's `Tree` with the nodes and values of fasttree's."""
    if tree.label_splits is not None:
        raise ValueError(
            "This tree splits on categories, which scikit-learn's trees cannot represent. "
            "One-hot encode the categorical columns before the fit to export the tree."
        )
    state = tree.__getstate__()
    nodes = np.zeros(tree.node_count, dtype=SKLEARN_NODE_DTYPE)
    for name in state["nodes"].dtype.names:
        nodes[name] = state["nodes"][name]
    if "split_kind" in SKLEARN_NODE_DTYPE.names:  # from 1.10 on: -1 leaf, 0 numeric split
        nodes["split_kind"] = np.where(tree.children_left < 0, -1, 0)
    result = SklearnTree(tree.n_features, tree.n_classes, tree.n_outputs)
    result.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": tree.node_count,
            "nodes": nodes,
            "values": np.array(tree.value),
        }
    )
    return result


def to_sklearn(estimator):
    """Return the scikit-learn estimator that a fitted one of fasttree's stands in for."""
    cls = next(
        getattr(sklearn.tree, c.__name__)
        for c in type(estimator).__mro__
        if c is getattr(sklearn.tree, c.__name__, None)
    )
    parameters = estimator.get_params(deep=False)
    for name in ("n_jobs", "categorical_features", "categorical_split", "missing_values"):
        del parameters[name]
    result = cls(**parameters)
    fitted = {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_")
    }
    for name, value in fitted.items():
        setattr(result, name, value)
    result.tree_ = to_sklearn_tree(estimator.tree_)
    return result
