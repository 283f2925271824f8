"""The paths from the root to the leaves of a tree, upwards."""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

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
    indptr : ndarray of shape (n_rows + 1,), dtype=int32
        int64 if there are too many entries; SciPy would look through such indices and copy them.
    indices : ndarray of shape (n_entries,), of that dtype
    """
    cdef intp_t n_rows = leaves.shape[0]
    parents, depths = parents_and_depths(left, right)
    lengths = depths[np.asarray(leaves)]
    n_entries = lengths.sum()
    is_short = max(n_entries, n_rows, len(parents)) <= np.iinfo(np.int32).max
    index_type = np.int32 if is_short else np.int64
    indptr = np.zeros(n_rows + 1, dtype=index_type)
    np.cumsum(lengths, dtype=index_type, out=indptr[1:])
    indices = np.empty(n_entries, dtype=index_type)
    first = _first_rows(leaves, len(parents))
    if is_short:
        _write[int32_t](leaves, first, parents, indptr, indices, step, n_threads)
    else:
        _write[int64_t](leaves, first, parents, indptr, indices, step, n_threads)
    return indptr, indices


def _first_rows(const intp_t[::1] leaves, intp_t n_nodes):
    """The first row in each leaf; that of the other nodes does not matter."""
    cdef intp_t i
    rows = np.empty(n_nodes, dtype=np.intp)
    cdef intp_t[::1] first = rows
    with nogil:
        for i in range(leaves.shape[0] - 1, -1, -1):
            first[leaves[i]] = i
    return rows


ctypedef fused index_t:
    int32_t
    int64_t


cdef int _write(
    const intp_t[::1] leaves, const intp_t[::1] first, const int64_t[::1] parents,
    const index_t[::1] indptr, index_t[::1] indices, intp_t step, int n_threads
) except -1:
    """Write the path of the first row of each leaf, then copy it to the others."""
    cdef intp_t i, start, end, n_rows = leaves.shape[0]
    for start in range(0, n_rows, step):
        end = min(start + step, n_rows)
        for i in prange(start, end, nogil=True, num_threads=n_threads, schedule="static"):
            if first[leaves[i]] == i:
                _climb(leaves[i], &parents[0], &indices[indptr[i + 1] - 1])
        PyErr_CheckSignals()
    for start in range(0, n_rows, step):
        end = min(start + step, n_rows)
        for i in prange(start, end, nogil=True, num_threads=n_threads, schedule="static"):
            if first[leaves[i]] != i:
                memcpy(&indices[indptr[i]], &indices[indptr[first[leaves[i]]]],
                       (indptr[i + 1] - indptr[i]) * sizeof(index_t))
        PyErr_CheckSignals()
    return 0


cdef inline void _climb(int64_t node, const int64_t* parents, index_t* last) noexcept nogil:
    while node >= 0:
        last[0] = <index_t> node
        last -= 1
        node = parents[node]
