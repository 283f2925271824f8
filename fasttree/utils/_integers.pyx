"""Class codes of integers that lie close together: counted instead of sorted.

Three passes over a column and one over a table with an entry per integer between the smallest
and the largest. The table is never much larger than the column.
"""
import numpy as np

from libc.stdint cimport uint32_t, uint64_t

from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport float64_t, intp_t

# Above this many integers per row in between, sorting is the better way.
cdef enum:
    INTEGERS_PER_ROW = 4


def encode_integers(column, float64_t[:] codes):
    """Write the code of every entry, as ``np.unique(column, return_inverse=True)`` would.

    Parameters
    ----------
    column : ndarray of shape (n_rows,), of integers or booleans
        Not empty.
    codes : ndarray of shape (n_rows,), dtype=float64
        Gets the codes.

    Returns
    -------
    ndarray or None
        Distinct entries in ascending order; None, and no codes, if they lie too far apart.
    """
    cdef bint is_signed = column.dtype.kind == "i"
    wide = column.astype(np.int64 if is_signed else np.uint64, copy=False)
    cdef const uint64_t[:] bits = wide.view(np.uint64)
    cdef uint64_t sign = <uint64_t> is_signed << 63  # flipped, it orders signed like unsigned
    cdef uint64_t key, lowest = bits[0] ^ sign, highest = lowest
    cdef intp_t i, n_rows = bits.shape[0]
    cdef vector[uint32_t] code
    cdef uint32_t n_distinct = 0
    cdef uint64_t[::1] distinct
    with nogil:
        for i in range(n_rows):
            key = bits[i] ^ sign
            lowest = min(lowest, key)
            highest = max(highest, key)
        if highest - lowest >= <uint64_t> n_rows * INTEGERS_PER_ROW:
            with gil:
                return None
        code.resize(highest - lowest + 1)
        for i in range(n_rows):
            code[(bits[i] ^ sign) - lowest] = 1
        for key in range(code.size()):
            n_distinct += code[key]
    classes = np.empty(n_distinct, dtype=wide.dtype)
    distinct = classes.view(np.uint64)
    n_distinct = 0
    with nogil:
        for key in range(code.size()):
            if code[key]:
                distinct[n_distinct] = (lowest + key) ^ sign
                code[key] = n_distinct
                n_distinct += 1
        for i in range(n_rows):
            codes[i] = code[(bits[i] ^ sign) - lowest]
    return classes.astype(column.dtype, copy=False)
