"""Cells of object and text columns: which are numbers, and which distinct labels there are.

A text is a number if, blanks aside, it is an ASCII decimal or scientific literal: no hexadecimal,
no underscores, no other digits, no 'nan' or 'inf'. Texts are told apart by hashing, O(1) per cell,
and parsed once per distinct text.
"""
import numpy as np

from cpython.dict cimport PyDict_GetItem
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_CheckExact
from libc.string cimport memcpy

from fasttree.utils._typedefs cimport (
    float32_t, float64_t, int32_t, intp_t, uint8_t, uint32_t
)

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    double PyOS_string_to_double(const char* text, char** end, PyObject* overflow) except? -1.0

cdef extern from "../utils/_labels.hpp" namespace "fasttree" nogil:
    const uint32_t MISSING_BITS
    uint32_t float_bits(float x)

# Longer literals are copied to the heap.
cdef enum:
    BUFFER = 64


cdef inline bint is_blank(char c) noexcept nogil:
    return c == b" " or 9 <= c <= 13


cdef inline Py_ssize_t skip_digits(const char* text, Py_ssize_t i, Py_ssize_t end) noexcept nogil:
    while i < end and b"0" <= text[i] <= b"9":
        i += 1
    return i


cdef bint is_literal(const char* text, Py_ssize_t i, Py_ssize_t end) noexcept nogil:
    """Whether text[i:end] is [+-] digits [. digits] [(e|E) [+-] digits], a digit before or after
    the point."""
    cdef Py_ssize_t start, n_digits
    if i < end and (text[i] == b"+" or text[i] == b"-"):
        i += 1
    start = i
    i = skip_digits(text, i, end)
    n_digits = i - start
    if i < end and text[i] == b".":
        start = i + 1
        i = skip_digits(text, start, end)
        n_digits += i - start
    if n_digits == 0:
        return False
    if i < end and (text[i] == b"e" or text[i] == b"E"):
        i += 1
        if i < end and (text[i] == b"+" or text[i] == b"-"):
            i += 1
        start = i
        i = skip_digits(text, i, end)
        if i == start:
            return False
    return i == end


cdef bint read_number(str text, double* out) except -1:
    """Whether the text is a number, which is then written to `out`."""
    cdef Py_ssize_t start = 0, end = 0
    cdef char buffer[BUFFER]
    cdef bytes long_literal
    cdef const char* chars
    if not text.isascii():
        return False
    chars = PyUnicode_AsUTF8AndSize(text, &end)
    while start < end and is_blank(chars[start]):
        start += 1
    while end > start and is_blank(chars[end - 1]):
        end -= 1
    if not is_literal(chars, start, end):
        return False
    if end - start < BUFFER:
        memcpy(buffer, chars + start, end - start)
        buffer[end - start] = 0
        out[0] = PyOS_string_to_double(buffer, NULL, NULL)
    else:
        long_literal = chars[start:end]
        out[0] = PyOS_string_to_double(long_literal, NULL, NULL)
    return True


def parse_texts(list texts):
    """Read texts as numbers.

    Parameters
    ----------
    texts : list of str
        What to read.

    Returns
    -------
    is_number : ndarray of shape (len(texts),), dtype=uint8
        1 where a text is a number.
    numbers : ndarray of shape (len(texts),), dtype=float64
        The numbers, 0 elsewhere.
    """
    cdef Py_ssize_t i, n = len(texts)
    is_number = np.zeros(n, dtype=np.uint8)
    numbers = np.zeros(n)
    cdef uint8_t[::1] flags = is_number
    cdef float64_t[::1] values = numbers
    for i in range(n):
        flags[i] = read_number(<str> texts[i], &values[i])
    return is_number, numbers


def scan_objects(list column, bint numbers_are_labels, set missing, simplify):
    """Separate the numbers of an object column from everything else.

    Parameters
    ----------
    column : list
        The cells.
    numbers_are_labels : bool
        Treat numbers like texts.
    missing : set of int and float
        Numbers that count as missing, unless numbers are labels.
    simplify : callable
        Turns a cell that is not a str, float or int into one, a bool, or None for a missing
        value; raises TypeError if it cannot.

    Returns
    -------
    bits : ndarray of shape (n,), dtype=uint32
        Bits of the float32 of a number; those of a missing value elsewhere.
    places : ndarray of shape (n,), dtype=int32
        Position in `distinct` of what is not a number; -1 for numbers and missing values.
    distinct : list
        The distinct texts (and bools, and numbers that are labels) in order of appearance.
    """
    cdef Py_ssize_t i, n = len(column)
    bits_array = np.empty(n, dtype=np.uint32)
    places_array = np.empty(n, dtype=np.int32)
    cdef uint32_t[::1] bits = bits_array
    cdef int32_t[::1] places = places_array
    cdef dict place_of = {}
    cdef list distinct = []
    cdef PyObject* found
    cdef object cell, key, previous = None
    cdef int32_t place = -1
    cdef double number
    for i in range(n):
        cell = column[i]
        places[i] = -1
        bits[i] = MISSING_BITS
        if not (PyUnicode_CheckExact(cell) or PyFloat_CheckExact(cell) or PyLong_CheckExact(cell)):
            if cell is None:
                continue
            cell = simplify(cell)
            if cell is None:
                continue
        if PyFloat_CheckExact(cell) and PyFloat_AS_DOUBLE(cell) != PyFloat_AS_DOUBLE(cell):
            continue
        if not numbers_are_labels and (PyFloat_CheckExact(cell) or PyLong_CheckExact(cell)):
            if missing and cell in missing:
                continue
            number = to_double(cell)
            bits[i] = float_bits(<float32_t> number + 0.0)
            continue
        if cell is previous:
            places[i] = place
            continue
        previous = cell
        # True equals 1, but is another label.
        key = (cell,) if isinstance(cell, bool) else cell
        found = PyDict_GetItem(place_of, key)
        if found == NULL:
            place = <int32_t> len(distinct)
            place_of[key] = place
            distinct.append(cell)
        else:
            place = <object> found
        places[i] = place
    return bits_array, places_array, distinct


cdef double to_double(object number) except? -1.0:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else -float("inf")


def encode_texts(list cells):
    """Codes of texts in their order, by hashing.

    Parameters
    ----------
    cells : list
        What to encode.

    Returns
    -------
    distinct : list of str or None
        The distinct texts in ascending order; None if a cell is not a str.
    codes : ndarray of shape (n,), dtype=intp
        Position of each cell in `distinct`.
    """
    cdef Py_ssize_t i, n = len(cells)
    cdef intp_t code
    cdef dict code_of = {}
    cdef object cell
    cdef PyObject* found
    # Equal texts are often one object: where it was met last is found by its address.
    cdef PyObject* met[64]
    cdef intp_t met_code[64]
    cdef size_t slot
    for slot in range(64):
        met[slot] = NULL
    codes_array = np.empty(n, dtype=np.intp)
    cdef intp_t[::1] codes = codes_array
    for i in range(n):
        cell = cells[i]
        slot = (<size_t> <PyObject*> cell) // 64 % 64
        if met[slot] != <PyObject*> cell:
            if not PyUnicode_CheckExact(cell):
                return None, codes_array
            found = PyDict_GetItem(code_of, cell)
            if found == NULL:
                code = len(code_of)
                code_of[cell] = code
            else:
                code = <object> found
            met[slot] = <PyObject*> cell
            met_code[slot] = code
        codes[i] = met_code[slot]
    distinct = sorted(code_of)
    rank = np.empty(len(distinct), dtype=np.intp)
    for i in range(len(distinct)):
        rank[code_of[distinct[i]]] = i
    return distinct, rank[codes_array]
