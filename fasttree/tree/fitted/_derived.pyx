"""What follows from the arrays of a tree: importances, partial dependence.

Complexity: O(n_nodes) for importances, O(n_samples * n_nodes) at most for partial dependence.
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport frexp, ldexp

from fasttree.engine.core cimport NodeRecord
from fasttree.engine.predict cimport partial_dependence
from fasttree.tree.fitted._walk cimport node_pointer
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport float32_t, float64_t, intp_t


def feature_importances(nodes, n_features, normalize):
    """Return what `Tree.compute_feature_importances` does, from the nodes, at least one."""
    importances = np.zeros(n_features)
    cdef float64_t[::1] total = importances
    cdef const NodeRecord* node = node_pointer(nodes)
    cdef const NodeRecord* left
    cdef const NodeRecord* right
    cdef intp_t i, n_nodes = nodes.shape[0]
    cdef int exponent
    # Weights in a power of two near the root's, so that their products neither overflow nor
    # vanish; the power, which may, in two factors.
    cdef double root_weight = frexp(node.weighted_n_node_samples, &exponent)
    cdef double unit = ldexp(1.0, -(exponent // 2)), rest = ldexp(1.0, exponent // 2 - exponent)
    for i in range(n_nodes):
        if node[i].left_child < 0:
            continue
        left = &node[node[i].left_child]
        right = &node[node[i].right_child]
        total[node[i].feature] += (
            node[i].weighted_n_node_samples * unit * rest * node[i].impurity
            - left.weighted_n_node_samples * unit * rest * left.impurity
            - right.weighted_n_node_samples * unit * rest * right.impurity
        )
    importances /= root_weight
    if normalize:
        normalizer = importances.sum()
        if normalizer > 0.0:
            importances /= normalizer
    return importances


def add_partial_dependence(nodes, const float64_t[:, :, ::1] values, label_splits, n_features,
                           const float32_t[:, ::1] X, const intp_t[::1] target_features,
                           float64_t[::1] out):
    """Do what `Tree.compute_partial_dependence` does, from the nodes and values, at least one."""
    cdef const NodeRecord* node = node_pointer(nodes)
    cdef vector[intp_t] column
    cdef intp_t i
    cdef float64_t total_weight
    column.assign(n_features, -1)
    for i in range(target_features.shape[0] - 1, -1, -1):
        if not 0 <= target_features[i] < n_features:
            raise ValueError(f"There is no feature {target_features[i]}.")
        if label_splits is not None and label_splits.n_categories[target_features[i]]:
            raise ValueError(
                f"Feature {target_features[i]} holds categories; partial dependence is on numbers."
            )
        column[target_features[i]] = i
    for i in range(X.shape[0]):
        with nogil:
            total_weight = partial_dependence(
                node, &values[0, 0, 0], values.shape[1] * values.shape[2], column.data(),
                &X[i, 0] if X.shape[1] else NULL, out[i]
            )
        if not 0.999 < total_weight < 1.001:
            raise ValueError(f"The leaves' weights sum to {total_weight}, not to 1.")
        PyErr_CheckSignals()
