"""Minimal cost-complexity pruning and the sums of cut trees."""
from fasttree.engine.core cimport NodeRecord
from fasttree.utils._interrupt cimport Poll
from fasttree.utils._std cimport vector
from fasttree.utils._typedefs cimport float64_t, int64_t, intp_t, uint8_t


cdef extern from "engine/prune/pruning.hpp" namespace "fasttree" nogil:
    cdef cppclass WeakestLinks:
        WeakestLinks(const NodeRecord*, intp_t) except +
        intp_t add_leaf(intp_t node) noexcept
        void add_link(intp_t node) except +
        bint find(float64_t& alpha, intp_t& link) except +
        intp_t cut(intp_t link) except +
        float64_t total_risk() noexcept
        bint is_leaf(intp_t node) noexcept

    intp_t copy_cut(
        const NodeRecord*, const uint8_t* is_cut, vector[intp_t]& ids, vector[NodeRecord]& copies
    ) except +


cdef extern from "engine/prune/wide.hpp" namespace "fasttree" nogil:
    cdef cppclass Wide:
        void add(const Wide&) noexcept
        Wide times(double) noexcept


cdef extern from "engine/prune/tuning.hpp" namespace "fasttree" nogil:
    cdef cppclass Setting:
        pass

    cdef cppclass CutTree:
        CutTree(const NodeRecord*, intp_t n_nodes, const double* improvement) except +
        void mark_leaves(const Setting&, uint8_t*) except +

    cdef cppclass CutSums:
        CutSums(
            const CutTree&, const Setting*, intp_t n_settings, const Wide*, intp_t n_channels,
            double* out
        ) except +
        bint step() except +

    void add_class_weights(
        const NodeRecord*, intp_t n_nodes, const int64_t* leaves, const int64_t* codes,
        const double* weights, intp_t n_rows, intp_t n_classes, Wide* out, Poll& poll
    ) noexcept
    void add_errors(
        const NodeRecord*, intp_t n_nodes, const int64_t* leaves, const double* y,
        const double* weights, intp_t n_rows, const double* values, intp_t value_stride,
        bint squared, Wide* out, Poll& poll
    ) except +
    void mark_reduced_error(const NodeRecord*, intp_t n_nodes, const Wide*, uint8_t*) except +
