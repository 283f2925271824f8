"""SHAP values of rows: the loop over rows of engine/predict/shap.hpp.

Complexity: O(nodes * points) to begin with, O(nodes * points * values of a leaf) per row, where
points are half the features on a path.
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stddef cimport size_t

from fasttree.engine.predict cimport PathShap, ShapRows, ShapTree, explain_rows
from fasttree.engine.simd cimport Simd, simd_allowed
from fasttree.utils._interrupt cimport STEPS_PER_LOOK
from fasttree.utils._std cimport unique_ptr
from fasttree.utils._typedefs cimport float32_t, float64_t, int64_t, intp_t, uint8_t, uint32_t

__all__ = ["average", "longest_path", "path_shap"]

cdef enum:
    ROWS = 8  # of a block


def path_shap(tree, const float32_t[:, :] X, const float64_t[::1] points,
              const float64_t[::1] weights, const float64_t[:, ::1] values, int n_threads,
              str setting):
    """Return the SHAP values of rows.

    Parameters
    ----------
    tree : Tree
        A tree without negative weights.
    X : ndarray of shape (n_rows, n_features), dtype=float32
        The rows, cells where the tree splits on categories.
    points, weights : ndarray of shape (n_points,)
        Quadrature on [0, 1], exact for polynomials of as many factors as the features on a path.
    values : ndarray of shape (node_count, n_values)
        What the leaves predict.
    n_threads : int
        Number of threads.
    setting : {"auto", "avx2", "portable"}
        Instruction set, as in `config_context`; the values are the same.

    Returns
    -------
    ndarray of shape (n_rows, n_features, n_values)
        The values.
    """
    cdef const int64_t[::1] left = np.ascontiguousarray(tree.children_left, dtype=np.int64)
    cdef const int64_t[::1] right = np.ascontiguousarray(tree.children_right, dtype=np.int64)
    cdef const int64_t[::1] feature = np.ascontiguousarray(tree.feature, dtype=np.int64)
    cdef const float64_t[::1] threshold = np.ascontiguousarray(tree.threshold)
    cdef const float64_t[::1] weight = np.ascontiguousarray(tree.weighted_n_node_samples)
    cdef const uint8_t[::1] missing_left = np.ascontiguousarray(tree.missing_go_to_left)
    cdef const int64_t[::1] split_nodes, offsets
    cdef const uint32_t[::1] codes
    cdef const uint8_t[::1] listed_left
    cdef ShapTree arrays
    cdef ShapRows rows
    cdef unique_ptr[PathShap] shap
    cdef Simd simd = simd_allowed(setting)
    cdef intp_t start, end, step, n_rows = X.shape[0], n_features = X.shape[1]
    cdef size_t n_values = values.shape[1], work

    if n_features != tree.n_features or values.shape[0] != tree.node_count or n_values == 0:
        raise ValueError("The rows or the values do not belong to the tree.")
    arrays.left, arrays.right, arrays.feature = &left[0], &right[0], &feature[0]
    arrays.threshold, arrays.weight = &threshold[0], &weight[0]
    arrays.missing_left = &missing_left[0]
    arrays.n_nodes = left.shape[0]
    arrays.n_splits = 0
    splits = tree.label_splits
    if splits is not None:
        split_nodes, offsets, codes = splits.nodes, splits.offsets, splits.codes
        listed_left = splits.listed_left
        arrays.split_nodes, arrays.offsets = &split_nodes[0], &offsets[0]
        arrays.codes = &codes[0] if codes.shape[0] else NULL
        arrays.listed_left = &listed_left[0]
        arrays.n_splits = split_nodes.shape[0]
    shap.reset(new PathShap(arrays, &points[0], &weights[0], points.shape[0], &values[0, 0],
                            n_values))

    out_array = np.zeros((n_rows, n_features, n_values))
    if n_rows == 0:
        return out_array
    cdef float64_t[:, :, ::1] out = out_array
    rows.x = &X[0, 0]
    rows.row_stride = X.strides[0] // <intp_t> sizeof(float32_t)
    rows.col_stride = X.strides[1] // <intp_t> sizeof(float32_t)
    n_threads = min(<intp_t> n_threads, (n_rows + ROWS - 1) // ROWS)
    work = arrays.n_nodes * points.shape[0] * (n_values + 1)
    step = ROWS * max(1, <intp_t> (n_threads * STEPS_PER_LOOK // work))
    for start in range(0, n_rows, step):
        end = min(start + step, n_rows)
        with nogil:
            explain_rows(shap.get()[0], rows, start, end, n_features, n_values, simd, n_threads,
                         &out[0, 0, 0])
        PyErr_CheckSignals()
    return out_array


def longest_path(tree):
    """Return the largest number of features on a path, 1 at least."""
    cdef const int64_t[::1] left = np.ascontiguousarray(tree.children_left, dtype=np.int64)
    cdef const int64_t[::1] right = np.ascontiguousarray(tree.children_right, dtype=np.int64)
    cdef const int64_t[::1] feature = np.ascontiguousarray(tree.feature, dtype=np.int64)
    cdef int64_t[::1] parent = np.full(left.shape[0], -1, dtype=np.int64)
    cdef int64_t[::1] n_features = np.zeros(left.shape[0], dtype=np.int64)  # above each node
    cdef int64_t node, above, longest = 1
    for node in range(left.shape[0]):
        if left[node] < 0:
            continue
        above = parent[node]
        while above >= 0 and feature[above] != feature[node]:
            above = parent[above]
        parent[left[node]] = parent[right[node]] = node
        n_features[left[node]] = n_features[right[node]] = n_features[node] + (above < 0)
        longest = max(longest, n_features[left[node]])
    return longest


def average(tree, const float64_t[:, ::1] values):
    """Return the average of the leaves' values by their shares of the training weight.

    Parameters
    ----------
    tree : Tree
        A tree without negative weights.
    values : ndarray of shape (node_count, n_values)
        What the leaves predict.

    Returns
    -------
    ndarray of shape (n_values,)
        The averages.
    """
    cdef const int64_t[::1] left = np.ascontiguousarray(tree.children_left, dtype=np.int64)
    cdef const int64_t[::1] right = np.ascontiguousarray(tree.children_right, dtype=np.int64)
    cdef const float64_t[::1] weight = np.ascontiguousarray(tree.weighted_n_node_samples)
    cdef float64_t[:, ::1] means = np.array(values)
    cdef int64_t node
    cdef intp_t k
    cdef float64_t share_left, share_right
    for node in range(left.shape[0] - 1, -1, -1):
        if left[node] < 0:
            continue
        share_left = weight[left[node]] / weight[node] if weight[node] > 0 else 0.0
        share_right = weight[right[node]] / weight[node] if weight[node] > 0 else 0.0
        for k in range(values.shape[1]):
            means[node, k] = share_left * means[left[node], k] + share_right * means[right[node], k]
    return np.array(means[0])
