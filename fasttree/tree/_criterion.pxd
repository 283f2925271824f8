"""Criterion: what a node's targets are worth, and the scan that finds a feature's best split.

A criterion owns the targets of a fit as integers (see `_targets.hpp`) and a scanner, the C++
object that splitters call once per (node, feature). Threads work on clones: they share the
targets and have scanners of their own.
"""
from libc.stddef cimport size_t
from libcpp.memory cimport unique_ptr
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

from fasttree.utils._simd cimport Simd
from fasttree.utils._typedefs cimport float64_t, int64_t, intp_t, uint8_t, uint32_t


cdef extern from "_targets.hpp" namespace "fasttree" nogil:
    cdef cppclass NodeStats:
        double weight
        double impurity
        cbool pure

    cdef cppclass Targets:
        Targets()
        uint32_t n_rows
        int n_outputs
        int max_n_classes
        const int64_t* n_classes
        const void* classes
        const uint32_t* class_bits
        const int64_t* weights
        double weight_unit
        const double* y
        const double* w
        const int64_t* sums
        const double* sum_unit
        const double* centre
        const uint32_t* order_rank
        const int64_t* levels
        Simd simd
        cbool sklearn_formulas


cdef extern from "_runs.hpp" namespace "fasttree" nogil:
    const uint32_t BOUNDARY
    const uint32_t ROW

    cdef cppclass Runs:
        const uint32_t* entries
        uint32_t n
        uint32_t n_missing
        uint32_t n_labelled
        float value(uint32_t p)
        cbool is_constant(cbool sklearn_rules)

    cdef cppclass Counts:
        const void* cells
        const float* values
        uint32_t n_values
        uint32_t n
        uint32_t n_missing
        uint32_t n_labels

    cdef enum Question:
        THRESHOLD
        LABEL
        LABEL_SET

    cdef cppclass Candidate:
        double score
        uint32_t left
        uint32_t right
        uint32_t n_left
        cbool missing_left
        double middle
        Question question

    cdef cppclass Limits:
        uint32_t min_samples_leaf
        double min_weight_leaf
        int monotonic
        double lower
        double upper
        cbool sklearn_rules
        cbool near_rule
        cbool label_sets


cdef extern from "_scanner.hpp" namespace "fasttree" nogil:
    cdef cppclass Category:
        pass

    cdef cppclass Scanner:
        void begin_node(const uint32_t* rows, uint32_t n) except +
        void node_stats(const uint32_t* rows, uint32_t n, NodeStats& out)
        void node_value(double* value)
        double perfect_score()
        cbool scan(const Runs&, const Limits&, Candidate& best) except +
        cbool scan_counts "scan"(const Counts&, const Limits&, Candidate& best)
        const vector[Category]& categories()
        size_t cell_bytes()
        void fill(const uint32_t* rows, uint32_t n, const uint8_t* codes, size_t stride,
                  const uint32_t* slots, const size_t* offsets, uint32_t n_tables, char* cells)
        void fill_wide "fill"(const uint32_t* rows, uint32_t n, const uint32_t* codes,
                              size_t stride, const uint32_t* slots, const size_t* offsets,
                              uint32_t n_tables, char* cells)
        uint32_t cell_rows(const char* cell)
        cbool is_constant(const Counts&, cbool sklearn_rules)
        void subtract(char* table, const char* other, size_t n_bytes)


cdef class Criterion:
    cdef Targets targets
    cdef unique_ptr[Scanner] scanner
    cdef list arrays                  # what targets points into

    cdef readonly intp_t n_outputs
    cdef readonly intp_t value_size   # doubles in a node's value

    cdef int init(self, const float64_t[:, ::1] y, const float64_t[::1] sample_weight,
                  bint sklearn_formulas, Simd simd) except -1
    cdef int init_targets(self, const float64_t[:, ::1] y, const float64_t[::1] w) except -1
    cdef void make_scanner(self) except *
    cdef Criterion clone(self)


cdef class ClassificationCriterion(Criterion):
    cdef readonly object n_classes    # ndarray of shape (n_outputs,), int64


cdef class RegressionCriterion(Criterion):
    cdef intp_t n_samples
    cdef int init_sums(self, const float64_t[:, ::1] y, const float64_t[::1] w,
                       bint centred) except -1
    cdef int init_ranks(self, const float64_t[:, ::1] y) except -1
