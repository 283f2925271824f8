"""The kernels of the optimal search for one instruction set and counter type, for tests alone."""
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

import numpy as np


cdef extern from "kernels.hpp" namespace "fasttree::optimal" nogil:
    cdef cppclass Step:
        int32_t begin, end, doublings, sign
    cdef cppclass Gains:
        int32_t[4] of
    cdef cppclass Measure:
        const void* matrix
        const void* minuend
        int32_t total, least
    cdef cppclass PairCounts:
        const void* matrix
        const void* minuend
        const int32_t* totals
        Measure[2] measures
        int32_t n_measures, n_matrices, n_features
        ptrdiff_t stride, matrix_size
        void* scratch
    cdef cppclass SlackRows:
        const int32_t* own
        const int32_t* positive
        const int32_t* negative
    cdef cppclass CppKernels "fasttree::optimal::Kernels":
        int32_t max_weight, chunk_size
        size_t element_size
        void (*transpose)(const uint64_t*, ptrdiff_t, const uint32_t*, ptrdiff_t, ptrdiff_t, void*)
        ptrdiff_t (*select)(const void*, ptrdiff_t, int, cbool, const uint32_t*, ptrdiff_t,
                            uint32_t*)
        void (*count)(const void*, ptrdiff_t, const Step*, int, int, int, int, void*)
        Gains (*evaluate)(const PairCounts&, int32_t*, int32_t*)
        void (*accumulate)(const void*, int, ptrdiff_t, int32_t, int32_t*)
        int32_t (*read)(const void*, ptrdiff_t)
        void (*bound)(const SlackRows&, const int32_t*, const int32_t*, int32_t, int, int,
                      ptrdiff_t, cbool, int32_t*)

cdef extern from "kernels.hpp" namespace "fasttree::tests" nogil:
    const CppKernels* optimal_kernels(const string& simd)


cdef void* data(array):
    """The first byte of an array, or of a view of one; NULL for None."""
    return NULL if array is None else <void*><size_t>array.__array_interface__["data"][0]


def aligned(shape, dtype):
    """Zeros where any vector may be loaded."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(n_bytes + 64, np.uint8)
    start = -raw.__array_interface__["data"][0] % 64
    return raw[start : start + n_bytes].view(dtype).reshape(shape)


cdef class Kernels:
    cdef const CppKernels* table
    cdef readonly object dtype

    def __cinit__(self, str simd, int counter):
        self.table = optimal_kernels(simd.encode()) + counter
        self.dtype = np.dtype([np.int8, np.int16, np.int32][counter])

    @property
    def max_weight(self):
        return self.table.max_weight

    @property
    def chunk_size(self):
        return self.table.chunk_size

    def transpose(self, rows, const uint32_t[::1] entries):
        """(chunks, stride) counters: bits of the entries' rows (n_rows, n_words)."""
        n, n_words = len(entries), rows.shape[1]
        n_chunks = -(-n // self.table.chunk_size)
        planes = aligned((n_chunks + 1, 64 * n_words), self.dtype)
        planes[n_chunks] = 77
        self.table.transpose(<const uint64_t*>data(rows), n_words, &entries[0], n, 64 * n_words,
                             data(planes))
        assert (planes[n_chunks] == 77).all()
        return planes[:n_chunks]

    def select(self, planes, int g, cbool side, const uint32_t[::1] entries, ptrdiff_t n):
        """``entries`` has 32 more than ``n``, as many as whole vectors may read."""
        cdef uint32_t[::1] out = np.zeros(n + 32, np.uint32)
        n_out = self.table.select(data(planes), planes.shape[1], g, side, &entries[0], n, &out[0])
        return np.asarray(out[:n_out])

    def count(self, planes, steps, int n_features, int n_rows):
        """The pair matrix, counted ``n_rows`` rows at a time."""
        cdef vector[Step] steps_
        steps_.resize(len(steps))
        for i, step in enumerate(steps):
            steps_[i].begin, steps_[i].end, steps_[i].doublings, steps_[i].sign = step
        stride = planes.shape[1]
        matrix = aligned((n_features + 8, stride), self.dtype)
        for first in range(0, n_features, n_rows):
            self.table.count(data(planes), stride, steps_.data(), len(steps), first,
                             min(n_features, first + n_rows), n_features, data(matrix))
        return matrix[:n_features]

    def evaluate(self, matrices, minuends, totals, measures, int n_features):
        """(gains by number of inner nodes, absent, present).

        ``matrices`` and ``minuends`` (or None) are (n_matrices, n_rows, stride), those of the
        measures (total, least) behind those of the classes.
        """
        cdef const int32_t[::1] totals_ = np.asarray(totals, np.int32)
        cdef int32_t[::1] absent = np.zeros(matrices.shape[2], np.int32)
        cdef int32_t[::1] present = np.zeros(matrices.shape[2], np.int32)
        cdef PairCounts counts
        n_matrices = len(matrices) - len(measures)
        scratch = aligned((len(matrices), matrices.shape[2]), self.dtype)
        counts.matrix = data(matrices)
        counts.minuend = data(minuends)
        counts.totals = &totals_[0]
        for m, (total, least) in enumerate(measures):
            counts.measures[m].matrix = data(matrices[n_matrices + m])
            counts.measures[m].minuend = data(
                None if minuends is None else minuends[n_matrices + m])
            counts.measures[m].total, counts.measures[m].least = total, least
        counts.n_measures, counts.n_matrices = len(measures), n_matrices
        counts.n_features = n_features
        counts.stride, counts.matrix_size = matrices.shape[2], matrices[0].size
        counts.scratch = data(scratch)
        cdef Gains gains = self.table.evaluate(counts, &absent[0], &present[0])
        n = n_features
        return [gains.of[k] for k in range(4)], np.asarray(absent)[:n], np.asarray(present)[:n]

    def accumulate(self, matrix, int n_features, int32_t factor, int32_t[:, ::1] out):
        self.table.accumulate(data(matrix), n_features, matrix.shape[1], factor, &out[0, 0])

    def read(self, matrix, ptrdiff_t at):
        return self.table.read(data(matrix), at)

    def bound(self, own, positive, negative, const int32_t[::1] weights,
              const int32_t[::1] diagonal, int32_t total, int g, cbool nested_only, start):
        """Bounds of the sets without and with feature g; rows are int32[2 stride] or None."""
        cdef int32_t[::1] bounds = np.array(start, np.int32)
        cdef SlackRows rows
        rows.own = <const int32_t*>data(own)
        rows.positive = <const int32_t*>data(positive)
        rows.negative = <const int32_t*>data(negative)
        n_features = len(weights)
        stride = next(len(row) for row in (own, positive, negative) if row is not None) // 2
        self.table.bound(rows, &weights[0], &diagonal[0], total, g, n_features, stride,
                         nested_only, &bounds[0])
        return list(bounds)
