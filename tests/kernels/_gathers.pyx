"""Cells, codes and bits of some rows: gathered, packed, decoded, for tests alone."""
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from kernels._shared cimport Simd


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    cdef cppclass Extremes:
        float low, high
        uint32_t n_missing
    Extremes c_gather "fasttree::gather"(
        Simd simd, const float* column, ptrdiff_t stride, const uint32_t* rows, uint32_t n,
        float* out, cbool gathers)
    cdef cppclass CodeExtremes:
        uint8_t low, high
    size_t c_group_stride "fasttree::group_stride"(uint32_t n)
    void c_gather_group "fasttree::gather_group"(
        Simd simd, const uint8_t* codes, const uint32_t* rows, uint32_t n, uint8_t* out)
    cdef cppclass GroupPlaces:
        uint8_t[4] places
        uint32_t n
        CodeExtremes[4] extremes
    cbool c_gather_places "fasttree::gather_places"(
        Simd simd, const uint8_t* codes, const uint32_t* rows, uint32_t n, GroupPlaces& columns,
        uint8_t* out)
    uint32_t c_count_up_to "fasttree::count_up_to"(const float* values, uint32_t n, float top)
    void c_decode_bits "fasttree::decode_bits"(
        Simd simd, uint64_t ones, float zero, float one, uint32_t n, float* out)
    void c_decode_codes "fasttree::decode_codes"(
        Simd simd, const uint8_t* codes, const float* values, uint32_t n, float* out,
        cbool gathers)
    cdef cppclass BitRows:
        const uint64_t* words
        uint32_t n_words
    cdef cppclass GatheredBits:
        void open(const BitRows& from_, uint32_t n) except +
        void begin()
        const uint64_t* take(Simd simd, const BitRows& from_, const uint32_t* rows, uint32_t n,
                             uint32_t bit)
    void c_gather_in_turn "fasttree::tests::gather_in_turn"(
        Simd simd, const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride, uint32_t n_rows,
        const vector[uint32_t]& features, const uint32_t* rows, uint32_t n, float* out,
        Extremes* extremes) except +
    uint32_t c_mark_zeros "fasttree::mark_zeros"(
        Simd simd, const uint64_t* bits, uint32_t n, uint64_t* left)
    Simd c_simd_of_reads "fasttree::simd_of_reads"(Simd simd, uint32_t n_rows, ptrdiff_t stride)
    CodeExtremes c_code_extremes "fasttree::code_extremes"(Simd, const uint8_t* codes, uint32_t n)
    CodeExtremes c_gather_codes "fasttree::gather_codes"(
        Simd simd, const uint8_t* codes, const uint32_t* rows, uint32_t n, uint8_t* out,
        cbool gathers)
    void c_pack_rows "fasttree::pack_rows"(
        const float* X, ptrdiff_t row_stride, ptrdiff_t column_stride, uint32_t n_features,
        const uint32_t* rows, uint32_t n, float* out, size_t stride)


# ---- by row

def gather(Simd simd, const float[:, :] X, size_t feature, const uint32_t[::1] rows, gathers):
    """(cells, lowest, highest, number of missing ones) of a column, by loads or instructions that
    gather."""
    cdef uint32_t n = len(rows)
    cdef float[::1] out = np.full(n + 1, 7, np.float32)
    cdef Extremes extremes = c_gather(simd, &X[0, feature], X.strides[0] // 4, &rows[0], n,
                                      &out[0], gathers)
    assert out[n] == 7
    return np.asarray(out[:n]), extremes.low, extremes.high, extremes.n_missing


def simd_of_reads(Simd simd, uint32_t n_rows, ptrdiff_t stride):
    return c_simd_of_reads(simd, n_rows, stride)


def gather_codes(Simd simd, codes, const uint32_t[::1] rows, gathers):
    """The same of codes."""
    cdef uint32_t n = len(rows)
    cdef const uint8_t[::1] padded = np.append(codes, np.zeros(3)).astype(np.uint8)
    cdef uint8_t[::1] out = np.full(n + 1, 7, np.uint8)
    cdef CodeExtremes extremes = c_gather_codes(simd, &padded[0], &rows[0], n, &out[0],
                                                gathers)
    assert out[n] == 7
    return np.asarray(out[:n]), extremes.low, extremes.high


def code_extremes(Simd simd, codes):
    """(lowest, highest) of some codes."""
    cdef const uint8_t[::1] contiguous = np.ascontiguousarray(codes)
    cdef CodeExtremes extremes = c_code_extremes(simd, &contiguous[0], len(contiguous))
    return extremes.low, extremes.high


def gather_group(Simd simd, const uint8_t[:, ::1] codes, const uint32_t[::1] rows):
    """The codes of 16 columns, by column."""
    cdef uint32_t n = len(rows)
    cdef size_t stride = c_group_stride(n)
    cdef uint8_t[::1] out = np.full(16 * stride + 1, 7, np.uint8)
    c_gather_group(simd, &codes[0, 0], &rows[0], n, &out[0])
    assert out[16 * stride] == 7
    return np.asarray(out[:16 * stride]).reshape(16, stride)[:, :n]


def gather_places(Simd simd, const uint8_t[:, ::1] codes, const uint32_t[::1] rows, places):
    """(codes, lowest, highest) of up to four of 16 columns; None if they are gathered all."""
    cdef uint32_t n = len(rows)
    cdef size_t stride = c_group_stride(n)
    cdef uint8_t[::1] out = np.full(16 * stride + 1, 7, np.uint8)
    cdef GroupPlaces columns
    for place in places:
        columns.places[columns.n] = place
        columns.n += 1
    if not c_gather_places(simd, &codes[0, 0], &rows[0], n, columns, &out[0]):
        return None
    assert out[16 * stride] == 7
    gathered = np.asarray(out[:16 * stride]).reshape(16, stride)[:, :n]
    return [(gathered[place], columns.extremes[k].low, columns.extremes[k].high)
            for k, place in enumerate(places)]


def zeros_of_bits(Simd simd, const uint64_t[:, ::1] words, const uint32_t[::1] rows,
                  const uint32_t[::1] bits):
    """(number of zeros, where they are), of each bit in some rows."""
    cdef uint32_t n = len(rows)
    cdef uint64_t[::1] left = np.zeros((n + 63) // 64, np.uint64)
    cdef BitRows from_
    cdef GatheredBits gathered
    from_.words, from_.n_words = &words[0, 0], words.shape[1]
    gathered.open(from_, n)
    gathered.take(simd, from_, &rows[n // 2], n - n // 2, bits[0])
    gathered.begin()  # the next node
    found = []
    for bit in bits:
        n_left = c_mark_zeros(simd, gathered.take(simd, from_, &rows[0], n, bit), n, &left[0])
        sides = np.unpackbits(np.asarray(left).view(np.uint8), bitorder="little").astype(bool)
        assert not sides[n:].any()
        found.append((n_left, sides[:n]))
    return found


def gather_in_turn(Simd simd, const float[:, :] X, features, const uint32_t[::1] rows):
    """What `gather` finds, of the features that a node looks at."""
    cdef uint32_t n = len(rows)
    cdef float[:, ::1] out = np.zeros((len(features), n), np.float32)
    cdef vector[Extremes] extremes = vector[Extremes](len(features))
    c_gather_in_turn(simd, &X[0, 0], X.strides[0] // 4, X.strides[1] // 4, len(X), features,
                     &rows[0], n, &out[0, 0], extremes.data())
    return [(np.asarray(out[i]), extremes[i].low, extremes[i].high, extremes[i].n_missing)
            for i in range(len(features))]


def pack_rows(const float[:, :] X, const uint32_t[::1] rows, size_t stride):
    """Rows of X, `stride` cells apart; zeros between them."""
    cdef uint32_t n = len(rows), n_features = X.shape[1]
    cdef float[:, ::1] out = np.zeros((n, stride), np.float32)
    c_pack_rows(&X[0, 0], X.strides[0] // 4, X.strides[1] // 4, n_features, &rows[0], n,
                &out[0, 0], stride)
    return np.asarray(out)


# ---- cells

def count_up_to(const float[::1] values, float top):
    return c_count_up_to(&values[0], len(values), top)


def decode_bits(Simd simd, uint64_t ones, float zero, float one, uint32_t n):
    """The cells of n rows, of which bits tell whether they have the second value."""
    cdef float[::1] out = np.empty(64, np.float32)
    c_decode_bits(simd, ones, zero, one, n, &out[0])
    return np.asarray(out[:n])


def decode_codes(Simd simd, const uint8_t[::1] codes, const float[::1] values, gathers):
    cdef float[::1] out = np.empty(64, np.float32)
    c_decode_codes(simd, &codes[0], &values[0], len(codes), &out[0], gathers)
    return np.asarray(out[:len(codes)])
