"""Sides of rows by position: marked, drawn, counted, moved, for tests alone."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from kernels._shared cimport Simd, c_GUARD


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    cdef cppclass LaneDraws:
        uint32_t varies, missing
        float low[16]
        float high[16]
        double thresholds[16]
        int32_t n_left[16]
    void c_look_in_lanes "fasttree::tests::look_in_lanes"(
        Simd simd, const float* X, ptrdiff_t row_stride, uint32_t n_features,
        const uint32_t* rows, uint32_t n, uint64_t key, LaneDraws* draws, uint64_t* sides)
    cdef cppclass RowLook "fasttree::tests::RowLook":
        float low, high, top
        uint64_t without_number, up_to, not_zero, spread
        int64_t squares_left, squares_right, sum
        uint64_t alike[64]
    uint32_t c_most_rows "fasttree::tests::most_rows"(Simd simd)
    void c_look_at_rows "fasttree::tests::look_at_rows"(
        Simd simd, const float* cells, const uint8_t* classes, const int64_t* items,
        uint64_t all, uint64_t rows, double threshold, RowLook& out)
    void c_pick_rows "fasttree::tests::pick_rows"[Item](
        Simd simd, const Item* items, uint64_t rows, Item* out)
    cdef cppclass LaneSums "fasttree::tests::LaneSums":
        int32_t ones[16]
        vector[int32_t] counts
        int64_t sums[16]
        int64_t squares_left[16]
        int64_t squares_right[16]
    void c_count_in_lanes "fasttree::tests::count_in_lanes"(
        const uint8_t* classes, const int64_t* targets, uint32_t n, const uint16_t* left,
        uint32_t n_lanes, uint32_t n_classes, LaneSums& out)
    uint32_t c_best_lanes "fasttree::tests::best_lanes"(
        Simd simd, const int64_t* left, const int32_t* n_left, int64_t total, int32_t n,
        uint32_t lanes, uint32_t least, uint32_t& leaving)
    uint32_t c_mark_codes "fasttree::mark_codes"(
        Simd simd, const uint8_t* codes, uint32_t n, uint8_t top, uint64_t* left)
    uint32_t c_mark_sides "fasttree::mark_sides"(
        Simd simd, const float* cells, uint32_t n, float top, cbool missing_left, uint64_t* left)
    void c_divide_items "fasttree::divide_items"[Item](
        Simd simd, Item* items, uint32_t n, const uint64_t* left, Item* scratch)
    void c_count_side "fasttree::count_side"(
        Simd simd, const uint8_t* classes, uint32_t n, const uint64_t* left, uint32_t n_side,
        const uint8_t* which, uint32_t n_which, int32_t* counts)
    uint32_t c_count_ones "fasttree::count_ones"(
        Simd simd, const uint8_t* classes, uint32_t n, const uint64_t* left)
    int64_t c_sum_side "fasttree::sum_side"(
        Simd simd, const int64_t* items, uint32_t n, const uint64_t* left)


GUARD = c_GUARD


# ---- rows by position

def words(sides):
    """Sides as the words that the kernels read, and a word behind them that none does."""
    out = np.zeros(len(sides) // 64 * 64 + 128, dtype=bool)
    out[:len(sides)] = sides
    out[-64:] = True
    return np.packbits(out, bitorder="little").view(np.uint64)


def mark_sides(Simd simd, cells, float top, cbool missing_left):
    """(number on the left, sides)."""
    cdef uint32_t n = len(cells)
    cdef const float[::1] padded = np.append(cells, np.zeros(16, np.float32))
    cdef uint64_t[::1] left = np.full((n + 63) // 64 + 1, GUARD, np.uint64)
    cdef uint32_t n_left = c_mark_sides(simd, &padded[0], n, top, missing_left, &left[0])
    assert left[(n + 63) // 64] == GUARD
    bits = np.unpackbits(np.asarray(left[:-1]).view(np.uint8), bitorder="little").astype(bool)
    assert not bits[n:].any()
    return n_left, bits[:n]


def mark_codes(Simd simd, codes, uint8_t top):
    """(number on the left, sides)."""
    cdef uint32_t n = len(codes)
    cdef const uint8_t[::1] cells = codes
    cdef uint64_t[::1] left = np.full((n + 63) // 64 + 1, GUARD, np.uint64)
    cdef uint32_t n_left = c_mark_codes(simd, &cells[0], n, top, &left[0])
    assert left[(n + 63) // 64] == GUARD
    bits = np.unpackbits(np.asarray(left[:-1]).view(np.uint8), bitorder="little").astype(bool)
    assert not bits[n:].any()
    return n_left, bits[:n]


def divide_items(Simd simd, items, sides):
    """The items of an array of 1, 4 or 8 bytes each, those on the left first."""
    cdef uint32_t n = len(items)
    cdef const uint64_t[::1] left = words(sides)
    out = np.append(items, np.full(64, 77)).astype(items.dtype)
    scratch = np.full(len(out) + 1, 78, items.dtype)
    cdef uint8_t[::1] a = out.view(np.uint8), b = scratch.view(np.uint8)
    if items.itemsize == 1:
        c_divide_items[uint8_t](simd, &a[0], n, &left[0], &b[0])
    elif items.itemsize == 4:
        c_divide_items[uint32_t](simd, <uint32_t*> &a[0], n, &left[0], <uint32_t*> &b[0])
    else:
        c_divide_items[int64_t](simd, <int64_t*> &a[0], n, &left[0], <int64_t*> &b[0])
    assert (out[n:] == 77).all() and scratch[-1] == 78
    return out[:n]


def side_counts(Simd simd, classes, sides, const uint8_t[::1] which, int n_classes):
    """Rows on the left of each class, of those that there are; of all rows if `sides` is None."""
    cdef uint32_t n = len(classes), n_side = n if sides is None else sum(sides)
    cdef const uint8_t[::1] padded = np.append(classes, np.full(64, 1)).astype(np.uint8)
    cdef int32_t[::1] counts = np.zeros(n_classes, np.int32)
    cdef const uint64_t[::1] left = words(np.ones(n, bool) if sides is None else sides)
    cdef const uint64_t* given = &left[0]
    if sides is None:
        given = NULL
    c_count_side(simd, &padded[0], n, given, n_side, &which[0], len(which), &counts[0])
    n_ones = c_count_ones(simd, &padded[0], n, given) if n_classes == 2 else None
    return np.asarray(counts), n_ones


def side_sum(Simd simd, items, sides):
    cdef const int64_t[::1] padded = np.append(items, np.full(8, 1)).astype(np.int64)
    cdef const uint64_t[::1] left = words(np.ones(len(items), bool) if sides is None else sides)
    cdef const uint64_t* given = &left[0]
    if sides is None:
        given = NULL
    return c_sum_side(simd, &padded[0], len(items), given)


# ---- sixteen features at a time

def look_in_lanes(Simd simd, const float[:, ::1] X, const uint32_t[::1] rows, uint64_t key):
    """(lowest, highest, varies, missing, thresholds, sides, number on the left) by feature."""
    cdef uint32_t n = len(rows), n_features = X.shape[1], n_vectors = (n_features + 15) // 16
    cdef vector[LaneDraws] draws
    cdef uint64_t[:, ::1] words = np.full((n_features, (n + 63) // 64), GUARD, np.uint64)
    draws.resize(n_vectors)
    c_look_in_lanes(simd, &X[0, 0], X.shape[1], n_features, &rows[0], n, key, draws.data(),
                    &words[0, 0])
    sides = np.unpackbits(np.asarray(words).view(np.uint8), axis=1, bitorder="little")
    assert not sides[:, n:].any()
    found = []
    for f in range(n_features):
        v, lane = f // 16, f % 16
        found.append((
            draws[v].low[lane], draws[v].high[lane], draws[v].varies >> lane & 1,
            draws[v].missing >> lane & 1, draws[v].thresholds[lane],
            sides[f, :n], draws[v].n_left[lane]))
    return [np.array(column) for column in zip(*found)]


def count_in_lanes(const uint8_t[::1] classes, const int64_t[::1] targets,
                   const uint16_t[::1] left, uint32_t n_lanes, uint32_t n_classes):
    """(rows of class 1, of each class, sums, squares on the left, on the right) by lane."""
    cdef LaneSums found
    c_count_in_lanes(&classes[0], &targets[0], len(classes), &left[0], n_lanes, n_classes, found)
    return (np.array(found.ones), np.array(found.counts).reshape(n_classes, 16),
            np.array(found.sums), np.array(found.squares_left), np.array(found.squares_right))


def best_lanes(Simd simd, const int64_t[::1] left, const int32_t[::1] n_left, int64_t total,
               int32_t n, uint32_t lanes, uint32_t least):
    """(lanes that leave enough rows on either side, best ones of them), as bits."""
    cdef uint32_t leaving = 0
    cdef uint32_t best = c_best_lanes(simd, &left[0], &n_left[0], total, n, lanes, least, leaving)
    return leaving, best


# ---- nodes of few rows

def most_rows(Simd simd):
    """How many rows a mask has."""
    return c_most_rows(simd)


def look_at_rows(Simd simd, const float[::1] cells, const uint8_t[::1] classes,
                 const int64_t[::1] items, uint64_t all_rows, uint64_t rows, double threshold):
    """What a node of few rows finds; rows are bits. Arrays have as many items as a mask."""
    cdef RowLook look
    c_look_at_rows(simd, &cells[0], &classes[0], &items[0], all_rows, rows, threshold, look)
    return {"low": look.low, "high": look.high, "top": look.top,
            "without_number": look.without_number, "up_to": look.up_to,
            "not_zero": look.not_zero, "spread": look.spread,
            "squares_left": look.squares_left, "squares_right": look.squares_right,
            "sum": look.sum, "alike": [look.alike[i] for i in range(c_most_rows(simd))]}


ctypedef fused RowItem:
    uint8_t
    uint32_t
    int64_t


def pick_rows(Simd simd, const RowItem[::1] items, uint64_t rows):
    """The items of some of the rows of a mask."""
    cdef RowItem[::1] out = np.zeros(len(items) + 16, np.asarray(items).dtype)
    c_pick_rows(simd, &items[0], rows, &out[0])
    return np.asarray(out)[:bin(rows).count("1")]
