"""Whether a float32 matrix holds missing or infinite values, in one pass over its memory."""
from cython.operator cimport dereference as deref

from fasttree.utils._crew cimport Crew, Leader
from fasttree.utils._typedefs cimport float32_t, intp_t

cdef extern from "utils/_finite.hpp" namespace "fasttree" nogil:
    int kind_of_matrix(const float32_t*, intp_t n_rows, intp_t n_cols, intp_t row_stride,
                       intp_t col_stride, int n_threads) except +
    int kind_of_crew "fasttree::kind_of_matrix"(
        const float32_t*, intp_t n_rows, intp_t n_cols, intp_t row_stride, intp_t col_stride,
        Crew& crew) except +
    int all_finite, some_missing, some_infinite

# Starting threads takes about as long as reading this many values.
cdef enum:
    VALUES_PER_THREAD = 1 << 21

ALL_FINITE = all_finite
SOME_MISSING = some_missing
SOME_INFINITE = some_infinite


def value_kind(X, intp_t n_threads=1, Leader leader=None):
    """Return what a matrix holds besides finite numbers.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), dtype=float32
        The matrix, in any memory layout.
    n_threads : int, default=1
        Largest number of threads.
    leader : Leader or None
        Who leads other threads, if it is called by one.

    Returns
    -------
    {ALL_FINITE, SOME_MISSING, SOME_INFINITE}
        SOME_INFINITE also if there are missing values (NaN) as well.
    """
    if not X.flags.aligned:  # a field of packed records
        X = X.copy()
    cdef const float32_t[:, :] values = X
    cdef intp_t n_values = values.shape[0] * values.shape[1]
    cdef intp_t row_stride = values.strides[0] // <intp_t> sizeof(float32_t)
    cdef intp_t col_stride = values.strides[1] // <intp_t> sizeof(float32_t)
    cdef int kind
    if n_values == 0:
        return ALL_FINITE
    n_threads = max(1, min(n_threads, n_values // VALUES_PER_THREAD))
    with nogil:
        if leader is not None:
            kind = kind_of_crew(&values[0, 0], values.shape[0], values.shape[1], row_stride,
                                col_stride, deref(leader.crew))
        else:
            kind = kind_of_matrix(&values[0, 0], values.shape[0], values.shape[1], row_stride,
                                  col_stride, <int> n_threads)
    return kind
