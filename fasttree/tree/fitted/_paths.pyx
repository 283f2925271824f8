"""The paths from the root to the leaves of a tree, upwards."""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange
from libc.stdint cimport int64_t

from fasttree.utils._typedefs cimport intp_t


def parents_and_depths(const intp_t[:] left, const intp_t[:] right):
    """Return each node's parent (-1 for the root) and its depth, the root's being 1.

    Parameters
    ----------
    left, right : ndarray of shape (node_count,), dtype=intp
        Children, -1 at a leaf; larger than their parents.

    Returns
    -------
    parents, depths : ndarrays of shape (node_count,), dtype=int64
    """
    cdef intp_t i
    parents = np.empty(left.shape[0], dtype=np.int64)
    depths = np.empty(left.shape[0], dtype=np.int64)
    cdef int64_t[::1] parent = parents
    cdef int64_t[::1] depth = depths
    if left.shape[0] == 0:
        return parents, depths
    with nogil:
        parent[0] = -1
        depth[0] = 1
        for i in range(left.shape[0]):
            if left[i] >= 0:
                parent[left[i]] = parent[right[i]] = i
                depth[left[i]] = depth[right[i]] = depth[i] + 1
    return parents, depths


def paths_to(const intp_t[::1] leaves, left, right, intp_t step, int n_threads):
    """Return the nodes from the root to each leaf as the rows of a CSR matrix.

    Parameters
    ----------
    leaves : ndarray of shape (n_rows,), dtype=intp
    left, right : ndarray of shape (node_count,), dtype=intp
        Children.
    step : int
        Rows between two looks at Ctrl-C.
    n_threads : int

    Returns
    -------
    indptr : ndarray of shape (n_rows + 1,), dtype=int64
    indices : ndarray of shape (n_entries,), dtype=int64
    """
    cdef intp_t start, end, n_rows = leaves.shape[0]
    parents, depths = parents_and_depths(left, right)
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    np.cumsum(depths[np.asarray(leaves)], out=indptr[1:])
    indices = np.empty(indptr[n_rows], dtype=np.int64)
    for start in range(0, n_rows, step):
        end = min(start + step, n_rows)
        _climb(leaves, parents, indptr, indices, start, end, n_threads)
        PyErr_CheckSignals()
    return indptr, indices


cdef int _climb(
    const intp_t[::1] leaves, const int64_t[::1] parents, const int64_t[::1] indptr,
    int64_t[::1] indices, intp_t start, intp_t end, int n_threads
) except -1:
    """Write the path of rows [start, end), from the leaf up to the root."""
    cdef intp_t i
    for i in prange(start, end, nogil=True, num_threads=n_threads, schedule="static"):
        _climb_one(leaves[i], &parents[0], &indices[indptr[i + 1] - 1])
    return 0


cdef inline void _climb_one(int64_t node, const int64_t* parents, int64_t* last) noexcept nogil:
    while node >= 0:
        last[0] = node
        last -= 1
        node = parents[node]
