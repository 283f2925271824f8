"""Criterion: what a node's targets are worth, and the scan that finds a feature's best split.

A criterion owns the targets of a fit as integers (see `_targets.hpp`) and a scanner, the C++
object that splitters call once per (node, feature). Threads work on clones: they share the
targets and have scanners of their own.
"""
from libcpp.memory cimport unique_ptr

from fasttree.tree._engine cimport Scanner, Targets
from fasttree.utils._simd cimport Simd
from fasttree.utils._typedefs cimport float64_t, intp_t


cdef class Criterion:
    cdef Targets targets
    cdef unique_ptr[Scanner] scanner
    cdef list arrays                  # what targets points into

    cdef readonly intp_t n_outputs
    cdef readonly intp_t value_size   # doubles in a node's value
    # Weights, targets and impurities are in units of two to these powers.
    cdef int weight_exponent, target_exponent, impurity_exponent

    cdef int init(self, const float64_t[:, ::1] y, const float64_t[::1] sample_weight,
                  bint sklearn_formulas, Simd simd) except -1
    cdef const float64_t[::1] init_weights(self, const float64_t[::1] w)
    cdef bint takes_negative_weights(self)
    cdef const float64_t[:, ::1] scaled_targets(self, const float64_t[:, ::1] y)
    cdef int init_targets(self, const float64_t[:, ::1] y, const float64_t[::1] w) except -1
    cdef void make_scanner(self) except *
    cdef int restore_units(self, nodes, values) except -1
    cdef Criterion clone(self)


cdef class ClassificationCriterion(Criterion):
    cdef readonly object n_classes    # ndarray of shape (n_outputs,), int64


cdef class RegressionCriterion(Criterion):
    cdef intp_t n_samples
    cdef int impurity_degree(self)
    cdef int init_sums(self, const float64_t[:, ::1] y, const float64_t[::1] w,
                       bint centred) except -1
    cdef int init_ranks(self, const float64_t[:, ::1] y) except -1
