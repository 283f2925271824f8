"""Cells of object and text columns: which are numbers, and which distinct categories there are.

A text is a number if, blanks aside, it is an ASCII decimal or scientific literal: no hexadecimal,
no underscores, no other digits, no 'nan' or 'inf'. Texts are dictionary-encoded by hashing,
O(1) per cell, and parsed once per distinct text.
"""
import numpy as np

from fasttree.utils._integers import code_dtype

from cpython.dict cimport PyDict_GetItemWithError
from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_CheckExact, PyUnicode_DecodeUTF8
from libc.stdint cimport int16_t, uintptr_t
from libc.string cimport memcpy, memset

from fasttree.engine.columns cimport DistinctTexts
from fasttree.utils._interrupt cimport look_now_and_then
from fasttree.utils._std cimport unique_ptr
from fasttree.utils._typedefs cimport (
    float32_t, float64_t, int8_t, int32_t, int64_t, uint8_t, uint32_t,
)

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    double PyOS_string_to_double(const char* text, char** end, PyObject* overflow) except? -1.0
    bint is_str "PyUnicode_CheckExact"(PyObject* cell) noexcept nogil

cdef extern from "utils/_cell.hpp" namespace "fasttree" nogil:
    const uint32_t MISSING_BITS
    uint32_t float_bits(float x) noexcept


ctypedef fused code_t:
    int8_t
    int16_t
    int32_t
    int64_t

# Longer literals are copied to the heap.
cdef enum:
    BUFFER = 64

# Texts hashed between two looks for Ctrl-C.
cdef enum:
    CELLS_PER_LOOK = 1 << 18

# Equal texts are often one object: the code of one recently seen is found by its address.
cdef struct Recent:
    PyObject* cell
    int32_t code

cdef enum:
    N_RECENT = 64


cdef inline void clear_recent(Recent* recent) noexcept nogil:
    memset(recent, 0, N_RECENT * sizeof(Recent))


cdef int32_t code_of_key(object key, dict code_of) except -1:
    """Code of a key, the next one if it is new."""
    cdef PyObject* found = PyDict_GetItemWithError(code_of, key)
    if found != NULL:
        return <object> found
    code_of[key] = len(code_of)
    return <int32_t> len(code_of) - 1


cdef inline int32_t code_of_text(PyObject* text, dict code_of, Recent* recent) except -1:
    """`code_of_key` of a str that outlives `recent`."""
    cdef Recent* place = recent + <size_t> text // 64 % N_RECENT
    if place.cell != text:
        place.code = code_of_key(<object> text, code_of)
        place.cell = text
    return place.code


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
        look_now_and_then(i)
        flags[i] = read_number(<str> texts[i], &values[i])
    return is_number, numbers


def scan_objects(list column, bint numbers_are_categories, set missing, simplify):
    """Separate the numbers of an object column from everything else.

    Parameters
    ----------
    column : list
        The cells.
    numbers_are_categories : bool
        Treat numbers like texts.
    missing : set of int and float
        Numbers that count as missing, unless numbers are categories.
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
        The distinct texts (and bools, and numbers that are categories) in order of appearance.
    """
    cdef Py_ssize_t i, n = len(column)
    bits_array = np.empty(n, dtype=np.uint32)
    places_array = np.empty(n, dtype=np.int32)
    cdef uint32_t[::1] bits = bits_array
    cdef int32_t[::1] places = places_array
    cdef dict place_of = {}
    cdef Recent recent[N_RECENT]
    cdef object cell
    cdef double number
    clear_recent(recent)
    for i in range(n):
        look_now_and_then(i)
        cell = column[i]
        bits[i] = MISSING_BITS
        if PyUnicode_CheckExact(cell):
            places[i] = code_of_text(<PyObject*> cell, place_of, recent)
            continue
        places[i] = -1
        if not (PyFloat_CheckExact(cell) or PyLong_CheckExact(cell)):
            cell = None if cell is None else simplify(cell)
            if cell is None:
                continue
        if PyFloat_CheckExact(cell) and PyFloat_AS_DOUBLE(cell) != PyFloat_AS_DOUBLE(cell):
            continue
        if not numbers_are_categories and (PyFloat_CheckExact(cell) or PyLong_CheckExact(cell)):
            if missing and cell in missing:
                continue
            number = to_double(cell)
            bits[i] = float_bits(<float32_t> number + 0.0)
            continue
        # True equals 1, but is another category.
        places[i] = code_of_key((cell,) if isinstance(cell, bool) else cell, place_of)
    distinct = [key[0] if isinstance(key, tuple) else key for key in place_of]
    return bits_array, places_array, distinct


cdef double to_double(object number) except? -1.0:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else -float("inf")


cdef PyObject** objects_of(cells):
    """The cells of a contiguous array of objects; NULL stands for None."""
    return <PyObject**> <uintptr_t> cells.__array_interface__["data"][0]


cdef inline bint is_text(PyObject* cell) noexcept nogil:
    return cell != NULL and is_str(cell)


def are_texts(cells):
    """Return whether every cell of an array of objects is a str."""
    cells = np.ascontiguousarray(cells)
    cdef Py_ssize_t i, n = cells.size
    cdef PyObject** objects = objects_of(cells)
    for i in range(n):
        if not is_text(objects[i]):
            return False
    return True


def encode_texts(cells):
    """Codes of texts in their order, by hashing.

    Parameters
    ----------
    cells : ndarray of shape (n,), dtype=object
        What to encode.

    Returns
    -------
    distinct : list of str
        The distinct texts in ascending order.
    codes : ndarray of shape (n,), dtype=uint8 or uint32
        Where each cell is in `distinct`; of one byte if these are 256 at most.

    None stands for both if a cell is not a str.
    """
    cells = np.ascontiguousarray(cells)
    cdef Py_ssize_t i, n = cells.size
    cdef PyObject** objects = objects_of(cells)
    cdef dict code_of = {}
    cdef Recent recent[N_RECENT]
    cdef int32_t[::1] appeared = np.empty(n, dtype=np.int32)
    clear_recent(recent)
    for i in range(n):
        look_now_and_then(i)
        if not is_text(objects[i]):
            return None
        appeared[i] = code_of_text(objects[i], code_of, recent)
    distinct = sorted(code_of)
    rank = np.empty(len(distinct), dtype=code_dtype(len(distinct)))
    rank[[code_of[text] for text in distinct]] = np.arange(len(distinct))
    return distinct, rank.take(appeared)


def encode_utf8(list chunks):
    """Codes of the distinct texts of a column that Arrow holds, by hashing.

    Parameters
    ----------
    chunks : list of pyarrow.StringArray or of pyarrow.LargeStringArray
        The column.

    Returns
    -------
    codes : ndarray of shape (n,), dtype=int32
        Position of each text in `distinct`, -1 where one is missing.
    distinct : list of str
        The distinct texts in order of appearance.
    """
    cdef unique_ptr[DistinctTexts] seen
    cdef const DistinctTexts.Text* text
    cdef size_t first, n, end, start = 0, code
    cdef bint is_large
    cdef const uint8_t* valid
    cdef const char* chars
    codes_array = np.empty(sum(map(len, chunks)), dtype=np.int32)
    cdef int32_t[::1] codes = codes_array
    seen.reset(new DistinctTexts())
    for chunk in chunks:
        first, n = chunk.offset, len(chunk)
        if n == 0:
            continue
        valid_buffer, offsets, chars_buffer = chunk.buffers()
        valid = <const uint8_t*> address_of(valid_buffer)
        chars = <const char*> address_of(chars_buffer)
        is_large = str(chunk.type) == "large_string"
        end = first + n
        while first < end:  # Ctrl-C is looked for in between
            n = min(<size_t> CELLS_PER_LOOK, end - first)
            if is_large:
                seen.get().encode[int64_t](<const int64_t*> address_of(offsets), chars, valid,
                                           first, n, &codes[start])
            else:
                seen.get().encode[int32_t](<const int32_t*> address_of(offsets), chars, valid,
                                           first, n, &codes[start])
            PyErr_CheckSignals()
            first += n
            start += n
    distinct = []
    for code in range(seen.get().texts.size()):
        text = &seen.get().texts[code]
        distinct.append(PyUnicode_DecodeUTF8(text.chars, text.size, NULL))
    return codes_array, distinct


cdef uintptr_t address_of(buffer) except? 0:
    """Where an Arrow buffer starts; 0 if there is none."""
    return 0 if buffer is None else buffer.address


def mark_codes(const code_t[:] codes, uint8_t[::1] present):
    """Set present[code] to 1 for the codes that occur; -1 is the last place."""
    cdef Py_ssize_t i
    cdef Py_ssize_t last = present.shape[0] - 1
    for i in range(codes.shape[0]):
        present[codes[i] if codes[i] >= 0 else last] = 1


def take_bits(const uint32_t[::1] bits, const code_t[:] codes, uint32_t[::1] out):
    """Set out to bits[codes]; -1 is the last place."""
    cdef Py_ssize_t i
    cdef Py_ssize_t last = bits.shape[0] - 1
    for i in range(codes.shape[0]):
        out[i] = bits[codes[i] if codes[i] >= 0 else last]
