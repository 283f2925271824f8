"""Partitioner of dense columns; `engine/order/sample.hpp` holds the loops.

Splitting a node costs O(n) per list kept.
"""
from cython.operator cimport dereference as deref

from fasttree.engine.core cimport NO_FEATURE
from fasttree.tree._encoding cimport DenseEncoding
from fasttree.utils._std cimport make_shared


cdef class Partitioner:
    """Rows of the nodes (abstract)."""

    cdef int init(self, Encoding encoding, const vector[uint32_t]& rows, bint with_lists,
                  FitOptions options) except -1:
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef Partitioner clone(self):
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef Block* open_block(self, uint32_t start, uint32_t end) noexcept nogil:
        return NULL

    cdef const DenseSample* dense_sample(self) noexcept:
        return NULL

    cdef const uint32_t* node_rows(self, uint32_t start, uint32_t end) except NULL nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} is abstract")

    cdef float value(self, uint32_t row, uint32_t feature) noexcept nogil:
        return 0.0

    cdef bint has_categories(self, uint32_t feature) noexcept nogil:
        return False

    cdef int runs(self, uint32_t feature, uint32_t start, uint32_t end, Runs* out) except -1 nogil:
        return 0

    cdef uint32_t* scratch(self) noexcept nogil:
        return NULL

    cdef int nonzeros(self, uint32_t feature, const Node& node, Nonzeros* out) except -1 nogil:
        return 0

    cdef int listed_side(self, const Nonzeros& nonzeros, uint32_t n_values_left,
                         bint missing_left, Nonzeros* out) except -1 nogil:
        return 0

    cdef uint32_t n_parts(self) noexcept nogil:
        return 0

    cdef void begin_part(self, const Node& node, uint32_t part) noexcept nogil:
        pass

    cdef uint32_t next_feature(self, const FeatureBound& bound) noexcept nogil:
        return NO_FEATURE

    cdef const uint32_t* unsorted(self, uint32_t* n) noexcept nogil:
        return NULL

    cdef void found_max_class_count(self, uint32_t max_class_count) noexcept nogil:
        pass

    cdef uint32_t promising(self, const Node& node, uint32_t part) noexcept nogil:
        return NO_FEATURE

    cdef void found_promising(self, const Node& node, uint32_t part,
                              uint32_t feature) noexcept nogil:
        pass

    cdef void found_constant(self) noexcept nogil:
        pass

    cdef uint32_t split_rows(self, const Split& split, const Node& node) except? 0 nogil:
        return node.start

    cdef const uint32_t* sides(self) noexcept nogil:
        return NULL

    cdef void restore_sides(self, uint32_t start, uint32_t middle, uint32_t end) noexcept nogil:
        pass

    cdef int begin_split(self, const Node& left, const Node& right, bint with_left,
                         bint with_right) except -1 nogil:
        return 0

    cdef int split_part(self, uint32_t part, const Node& left, const Node& right, bint with_left,
                        bint with_right, const uint32_t* sides) except -1 nogil:
        return 0

    cdef void end_split(self, const Node& left, const Node& right, bint with_left,
                        bint with_right) noexcept nogil:
        pass


cdef class DensePartitioner(Partitioner):
    """Partitioner of a dense matrix."""

    cdef int init(self, Encoding encoding, const vector[uint32_t]& rows, bint with_lists,
                  FitOptions options) except -1:
        cdef DenseEncoding dense = <DenseEncoding?> encoding
        self.simd = options.simd
        self.n_features = dense.n_features
        self.n_rows = <uint32_t> rows.size()
        self.owner = dense.encoded(rows, options.strategy, with_lists, options.n_threads)
        self.columns = self.owner.columns.get()
        self.sample = make_shared[DenseSample](deref(self.columns), rows)
        if with_lists:
            dense.fill_lists(self.sample.get(), self.owner.columns.get(), options.n_threads)
        return self.make_workspace()

    cdef Partitioner clone(self):
        cdef DensePartitioner other = DensePartitioner()
        other.simd = self.simd
        other.n_features = self.n_features
        other.n_rows = self.n_rows
        other.owner = self.owner
        other.columns = self.columns
        other.sample = self.sample
        other.make_workspace()
        return other

    cdef int make_workspace(self) except -1:
        """What a thread owns."""
        self.workspace.reset(new DenseWorkspace(deref(self.sample.get()), self.simd))
        self.block.reset(new Block(deref(self.workspace.get()), self.simd, self.columns.n_rows,
                                   self.n_features))
        return 0

    cdef Block* open_block(self, uint32_t start, uint32_t end) noexcept nogil:
        self.block.get().open(start, end, self.sample.get().rows.data())
        return self.block.get()

    cdef const DenseSample* dense_sample(self) noexcept:
        return self.sample.get()

    cdef const uint32_t* node_rows(self, uint32_t start, uint32_t end) except NULL nogil:
        return self.sample.get().rows.data() + start

    cdef float value(self, uint32_t row, uint32_t feature) noexcept nogil:
        return self.columns.value(row, feature)

    cdef bint has_categories(self, uint32_t feature) noexcept nogil:
        return self.columns.columns[feature].has_categories()

    cdef uint32_t* scratch(self) noexcept nogil:
        return self.workspace.get().scratch.get()

    cdef int runs(self, uint32_t feature, uint32_t start, uint32_t end, Runs* out) except -1 nogil:
        out[0] = self.workspace.get().runs(feature, start, end)
        return 0

    cdef uint32_t split_rows(self, const Split& split, const Node& node) except? 0 nogil:
        return self.workspace.get().split_rows(split, node.start, node.end)

    cdef const uint32_t* sides(self) noexcept nogil:
        return self.workspace.get().go_left.data()

    cdef void restore_sides(self, uint32_t start, uint32_t middle, uint32_t end) noexcept nogil:
        self.workspace.get().mark_halves(start, middle, end)

    cdef int begin_split(self, const Node& left, const Node& right, bint with_left,
                         bint with_right) except -1 nogil:
        return <int> self.n_features if with_left or with_right else 0

    cdef int split_part(self, uint32_t part, const Node& left, const Node& right, bint with_left,
                        bint with_right, const uint32_t* sides) except -1 nogil:
        if self.sample.get().has_list(part):
            self.workspace.get().split_list(part, left.start, right.end, with_left, with_right,
                                            sides)
        return 0
