"""Class codes of integers that lie close together: counted instead of sorted.

One pass over a column of whole numbers below 256. Over others a few, and one over a table with an
entry per integer between the smallest (zero, if the largest is small) and the largest. The table is
never much larger than the column.
"""
import numpy as np

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport intp_t

# Above this many integers per row in between, sorting is the better way.
cdef enum:
    INTEGERS_PER_ROW = 4


# Integers that are narrowed in one step, and how far ahead of it memory is asked for them.
cdef enum:
    STEP = 8
    AHEAD = 256

cdef extern from * nogil:
    void __builtin_prefetch(const void* place) noexcept

ctypedef fused code_t:
    uint8_t
    uint32_t


def code_dtype(n_codes):
    """Return the narrowest type of class codes: uint8 or uint32."""
    return np.uint8 if n_codes <= 256 else np.uint32


cdef void look_up(const uint64_t[::1] bits, uint64_t first, const uint32_t* code_of,
                  code_t[::1] codes) noexcept nogil:
    """Write the code of every entry, counted from the first one in the order of integers.

    Without a table of codes, these are what is counted.
    """
    cdef intp_t i
    if code_of == NULL:
        for i in range(bits.shape[0]):
            codes[i] = <code_t> (bits[i] - first)
        return
    for i in range(bits.shape[0]):
        codes[i] = <code_t> code_of[bits[i] - first]


cdef bint narrow(const uint64_t* integers, intp_t n, uint8_t* out, uint8_t* seen) noexcept nogil:
    """Write integers as bytes and mark those that occur; returns whether all are below 256.

    Rows of one class often follow each other: most steps have a single integer, seen before.
    """
    cdef uint64_t all_bits = 0, word, first
    cdef intp_t i = 0, k
    while n - i >= STEP and all_bits < 256:
        word = 0
        __builtin_prefetch(integers + min(i + AHEAD, n - 1))
        for k in range(STEP):
            all_bits |= integers[i + k]
            word |= integers[i + k] << 8 * k
        for k in range(STEP):
            out[i + k] = <uint8_t> (word >> 8 * k)
        first = word & 0xff
        if word != first * <uint64_t> 0x0101010101010101 or not seen[first]:
            for k in range(STEP):
                seen[out[i + k]] = 1
        i += STEP
    while i < n and all_bits < 256:
        all_bits |= integers[i]
        out[i] = <uint8_t> integers[i]
        seen[out[i]] = 1
        i += 1
    return all_bits < 256


cdef encode_bytes(const uint64_t[::1] bits):
    """Return distinct integers and codes as `encode_integers` does, or None if not below 256."""
    codes, seen = np.empty(bits.shape[0], np.uint8), np.zeros(256, np.uint8)
    cdef uint8_t[::1] out = codes
    cdef uint8_t[::1] marks = seen
    cdef bint are_below
    with nogil:
        are_below = narrow(&bits[0], bits.shape[0], &out[0], &marks[0])
    if not are_below:
        return None
    classes = np.flatnonzero(seen)
    if not seen[:len(classes)].all():
        codes = (np.cumsum(seen, dtype=np.uint8) - np.uint8(1))[codes]
    return classes, codes


def encode_integers(column):
    """Return what ``np.unique(column, return_inverse=True)`` would, the codes in few bytes.

    Parameters
    ----------
    column : ndarray of shape (n_rows,), of integers or booleans
        Not empty.

    Returns
    -------
    classes : ndarray
        Distinct entries in ascending order.
    codes : ndarray of shape (n_rows,), dtype=uint8 or uint32
        Where each entry is in `classes`; of one byte if these are 256 at most.

    None stands for both if the entries lie too far apart.
    """
    cdef bint is_signed = column.dtype.kind == "i"
    wide = np.ascontiguousarray(column, dtype=np.int64 if is_signed else np.uint64)
    cdef const uint64_t[::1] bits = wide.view(np.uint64)
    cdef uint64_t sign = <uint64_t> is_signed << 63  # flipped, it orders signed like unsigned
    cdef uint64_t key, first = 0, lowest = sign, highest, all_bits = 0
    cdef intp_t i, n_rows = bits.shape[0]
    cdef uint64_t most = <uint64_t> n_rows * INTEGERS_PER_ROW
    cdef vector[uint32_t] code
    cdef uint32_t n_distinct = 0
    cdef bint has_gaps = False
    cdef uint64_t[::1] distinct
    cdef uint8_t[::1] bytes_of_codes
    cdef uint32_t[::1] words_of_codes
    encoded = encode_bytes(bits)
    if encoded is not None:
        return encoded[0].astype(column.dtype), encoded[1]
    with nogil:
        for i in range(n_rows):
            all_bits |= bits[i]
        highest = all_bits ^ sign
        if all_bits >= most:  # else the integers are small, and none is negative
            lowest = highest = bits[0] ^ sign
            for i in range(n_rows):
                key = bits[i] ^ sign
                lowest = min(lowest, key)
                highest = max(highest, key)
            if highest - lowest >= most:
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
    for key in range(code.size()):
        if code[key]:
            if n_distinct == 0:
                first = key
            has_gaps = has_gaps or key - first > n_distinct
            distinct[n_distinct] = (lowest + key) ^ sign
            code[key] = n_distinct
            n_distinct += 1
    codes = np.empty(n_rows, dtype=code_dtype(n_distinct))
    cdef const uint32_t* code_of = code.data() if has_gaps else NULL
    if not has_gaps:
        lowest += first
    if codes.itemsize == 1:
        bytes_of_codes = codes
        look_up(bits, lowest ^ sign, code_of, bytes_of_codes)
    else:
        words_of_codes = codes
        look_up(bits, lowest ^ sign, code_of, words_of_codes)
    return classes.astype(column.dtype, copy=False), codes
