"""Criterion: what a node's targets are worth, and the scan that finds a feature's best split.

A criterion owns the targets of a fit as integers (see `engine/core/targets.hpp`) and a scanner, the
C++ object that splitters call once per (node, feature). Threads work on clones: they share the
targets and have scanners of their own.
"""

from fasttree.engine.core cimport Targets
from fasttree.engine.criteria cimport Searcher
from fasttree.tree._options cimport FitOptions
from fasttree.tree.fitted._node_arrays cimport NodeArrays
from fasttree.utils._typedefs cimport float64_t, int64_t, intp_t, uint32_t


cdef class Criterion:
    cdef Targets targets
    cdef Searcher searcher
    cdef dict arrays                  # what targets points into, by the names there
    cdef bint with_keys               # nodes keep classes and weights beside their rows

    cdef readonly intp_t n_outputs
    cdef readonly intp_t value_size   # doubles in a node's value
    # Weights, targets and impurities are in units of two to these powers.
    cdef int weight_exponent, target_exponent, impurity_exponent
    cdef double least_weight          # below it sums of weights of both signs are rounding

    # y and weights are those of `rows`, ascending, of n_rows in all; or of all rows.
    cdef int init(self, y, sample_weight, const uint32_t[::1] rows, uint32_t n_rows,
                  FitOptions options) except -1
    # Gives the memory back that only growth needs.
    cdef int close(self) except -1
    cdef int place(self, rows, uint32_t n_rows) except -1
    cdef const float64_t[::1] init_weights(self, const float64_t[::1] w)
    cdef const float64_t[::1] init_counts(self, const int64_t[::1] counts)
    cdef bint takes_negative_weights(self)
    cdef int take_targets(self, y, const float64_t[::1] w) except -1
    cdef int make_searcher(self) except -1
    cdef int restore_units(self, NodeArrays arrays) except -1
    cdef Criterion clone(self)


cdef class ClassificationCriterion(Criterion):
    cdef readonly object n_classes    # ndarray of shape (n_outputs,), int64

    cdef int init_bits(self) except -1
    cdef int init_records(self) except -1


cdef class RegressionCriterion(Criterion):
    cdef intp_t n_samples
    cdef int impurity_degree(self)
    cdef const float64_t[:, ::1] scaled_targets(self, const float64_t[:, ::1] y,
                                                const float64_t[::1] w)
    cdef int init_targets(self, const float64_t[:, ::1] y, const float64_t[::1] w) except -1
    cdef int init_sums(self, const float64_t[:, ::1] y, const float64_t[::1] w,
                       bint centred, bint is_weighted=*) except -1
    cdef int init_ranks(self, const float64_t[:, ::1] y) except -1
