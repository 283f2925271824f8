"""Logarithms, random numbers, wide sums, grids and records of targets, for tests alone."""
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cbool

import numpy as np

from kernels._shared cimport Simd


cdef extern from "kernels.hpp" namespace "fasttree" nogil:
    uint64_t c_mix "fasttree::mix"(uint64_t key, uint64_t value)
    uint32_t c_below "fasttree::below"(uint64_t random, uint32_t n)
    double c_unit_interval "fasttree::unit_interval"(uint64_t random)
    cdef cppclass XorShift:
        XorShift(uint32_t seed)
        uint32_t next()
        uint32_t integer(uint32_t low, uint32_t high)
        double uniform(double low, double high)
    double c_FAST_LOG_ERROR "fasttree::FastLog::ERROR"
    cdef cppclass Wide:
        double high, low
        void add(double x)
        void add(const Wide& x)
        void subtract(const Wide& x)
        Wide times(double x)
    cdef cppclass WeightGrid:
        double unit
    void class_bits(Simd simd, const uint8_t* classes, size_t n, uint8_t of_class, uint32_t* out)
    cbool class_records(const uint8_t* classes, const int64_t* weights, size_t n, uint32_t* out)
    WeightGrid c_weight_grid "fasttree::weight_grid"(const double* w, size_t n, int n_outputs,
                                                     int64_t* out)
    cdef cppclass Grid:
        double centre, unit
    Grid c_target_grid "fasttree::target_grid"(
        const double* y, size_t n, const double* w, const int64_t* weights,
        double weight_unit, cbool centred, cbool allow_lattice, int64_t* out)
    void c_target_sums "fasttree::target_sums"(
        const double* y, size_t n, int n_outputs, const double* w, const int64_t* weights,
        double weight_unit, cbool centred, cbool allow_lattice, int64_t* sums, double* centres,
        double* units)
    double c_rough_sums "fasttree::rough_sums"(
        const int64_t* sums, size_t n, int n_outputs, const int64_t* weights,
        const double* units, int64_t* centres, float* rough, float* lengths)
    cbool c_sum_records "fasttree::sum_records"(
        const int64_t* sums, const int64_t* weights, size_t n, int64_t* out)
    size_t c_padded "fasttree::padded"(int n_outputs)


cdef extern from "kernels.hpp" namespace "fasttree::tests" nogil:
    void c_fast_logs "fasttree::tests::fast_logs"(
        Simd simd, const double* x, size_t n, double* out)


FAST_LOG_ERROR = c_FAST_LOG_ERROR


# ---- logarithms, random numbers

def fast_logs(Simd simd, const double[::1] x):
    cdef double[::1] out = np.empty(len(x))
    c_fast_logs(simd, &x[0], len(x), &out[0])
    return np.asarray(out)


def mix(uint64_t key, uint64_t value):
    return c_mix(key, value)


def below(uint64_t random, uint32_t n):
    return c_below(random, n)


def unit_interval(uint64_t random):
    return c_unit_interval(random)


def xorshift(uint32_t seed, int n):
    """Numbers, integers from {3, ..., 9} and floats from [-1, 1], n each, one stream."""
    stream = new XorShift(seed)
    numbers = [stream.next() for _ in range(n)]
    integers = [stream.integer(3, 10) for _ in range(n)]
    floats = [stream.uniform(-1.0, 1.0) for _ in range(n)]
    del stream
    return numbers, integers, floats


# ---- sums and grids

def wide_sum(terms, signs):
    """(high, low) of the terms, doubles or pairs, added where the sign is positive."""
    cdef Wide total, term
    for x, sign in zip(terms, signs):
        if isinstance(x, float) and sign > 0:
            total.add(<double>x)
            continue
        term.high, term.low = x if isinstance(x, tuple) else (x, 0.0)
        if sign > 0:
            total.add(term)
        else:
            total.subtract(term)
    return total.high, total.low


def wide_times(double high, double low, double x):
    cdef Wide wide
    wide.high, wide.low = high, low
    wide = wide.times(x)
    return wide.high, wide.low


def targets_of_two_classes(Simd simd, const uint8_t[::1] classes, const int64_t[::1] weights):
    """(words of bits, records or None)."""
    cdef size_t n = len(classes)
    cdef uint32_t[::1] bits = np.full(n // 32 + 1, 0, np.uint32), records = np.empty(n, np.uint32)
    class_bits(simd, &classes[0], n, 1, &bits[0])
    fits = class_records(&classes[0], &weights[0], n, &records[0])
    return np.asarray(bits), np.asarray(records) if fits else None


def weight_grid(const double[::1] w, int n_outputs=1):
    cdef int64_t[::1] out = np.empty(len(w), np.int64)
    cdef WeightGrid grid = c_weight_grid(&w[0], len(w), n_outputs, &out[0])
    return np.asarray(out), grid.unit


def target_grid(const double[::1] y, const double[::1] w=None, const int64_t[::1] weights=None,
                double weight_unit=1.0, cbool centred=True, cbool allow_lattice=True):
    cdef int64_t[::1] out = np.empty(len(y), np.int64)
    cdef const double* w_data = NULL
    cdef const int64_t* weights_data = NULL
    if w is not None:
        w_data, weights_data = &w[0], &weights[0]
    cdef Grid grid = c_target_grid(&y[0], len(y), w_data, weights_data, weight_unit, centred,
                                   allow_lattice, &out[0])
    return np.asarray(out), grid.centre, grid.unit


def target_sums(const double[:, ::1] y, const double[::1] w=None,
                const int64_t[::1] weights=None, double weight_unit=1.0, cbool centred=True,
                cbool allow_lattice=True):
    cdef int n_outputs = <int> y.shape[1]
    cdef int64_t[:, ::1] sums = np.empty((len(y), n_outputs), np.int64)
    cdef double[:, ::1] grids = np.empty((2, n_outputs))
    cdef const double* w_data = NULL
    cdef const int64_t* weights_data = NULL
    if w is not None:
        w_data, weights_data = &w[0], &weights[0]
    c_target_sums(&y[0, 0], len(y), n_outputs, w_data, weights_data, weight_unit, centred,
                  allow_lattice, &sums[0, 0], &grids[0, 0], &grids[1, 0])
    return np.asarray(sums), *np.asarray(grids)


def rough_sums(const int64_t[:, ::1] sums, const double[::1] units,
               const int64_t[::1] weights=None):
    cdef int n_outputs = <int> sums.shape[1]
    cdef int64_t[::1] centres = np.full(n_outputs, 99, np.int64)
    cdef float[:, ::1] rough = np.full((len(sums), c_padded(n_outputs)), 99, np.float32)
    cdef float[::1] lengths = np.empty(len(sums), np.float32)
    cdef const int64_t* weights_data = NULL
    if weights is not None:
        weights_data = &weights[0]
    scale = c_rough_sums(&sums[0, 0], len(sums), n_outputs, weights_data, &units[0], &centres[0],
                         &rough[0, 0], &lengths[0])
    return np.asarray(rough), np.asarray(centres), np.asarray(lengths), scale


def sum_records(const int64_t[::1] sums, const int64_t[::1] weights):
    """The records, or None."""
    cdef int64_t[::1] records = np.empty(len(sums), np.int64)
    fits = c_sum_records(&sums[0], &weights[0], len(sums), &records[0])
    return np.asarray(records) if fits else None
