"""Partitioner of dense columns; `_dense.hpp` holds the loops.

Encoding costs O(n) for a column of few distinct values and a radix sort for others; splitting a
node costs O(n) per list kept.
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from cython.operator cimport dereference as deref
from cython.parallel cimport prange, threadid
from libcpp.vector cimport vector

from fasttree.tree._engine cimport MAX_COUNTED, NO_FEATURE, Room, SORTED, SortBuffers, TILE


cdef class Partitioner:
    """Rows of the nodes (abstract)."""

    cdef int init(self, object X, const float64_t[::1] sample_weight, str strategy,
                  bint with_lists, int n_threads, Simd simd,
                  const uint32_t[::1] n_categories) except -1:
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef Partitioner clone(self):
        raise TypeError(f"{type(self).__name__} is abstract")

    cdef Block* open_block(self, uint32_t start, uint32_t end) noexcept nogil:
        return NULL

    cdef const DenseData* dense_columns(self) noexcept:
        return NULL

    cdef const uint32_t* node_rows(self, uint32_t start, uint32_t end) except NULL nogil:
        with gil:
            raise TypeError(f"{type(self).__name__} is abstract")

    cdef float value(self, uint32_t row, uint32_t feature) noexcept nogil:
        return 0.0

    cdef bint with_labels(self, uint32_t feature) noexcept nogil:
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

    cdef uint32_t next_feature(self, const Reach& reach) noexcept nogil:
        return NO_FEATURE

    cdef const uint32_t* unsorted(self, uint32_t* n) noexcept nogil:
        return NULL

    cdef void found_peak(self, uint32_t peak) noexcept nogil:
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
    """Partitioner of a dense matrix, of any memory order."""

    cdef int init(self, object X, const float64_t[::1] sample_weight, str strategy,
                  bint with_lists, int n_threads, Simd simd,
                  const uint32_t[::1] n_categories) except -1:
        cdef uint32_t i
        cdef DenseData* data
        if X.strides[0] % 4 or X.strides[1] % 4:
            X = np.ascontiguousarray(X)
        self.X = X
        self.simd = simd
        self.n_features = <uint32_t> X.shape[1]
        data = new DenseData(&self.X[0, 0], X.strides[0] // 4, X.strides[1] // 4,
                             <uint32_t> X.shape[0], self.n_features)
        self.data.reset(data)
        data.rows.reserve(X.shape[0])
        for i in range(<uint32_t> X.shape[0]):
            if sample_weight is None or sample_weight[i] != 0.0:
                data.rows.push_back(i)
        if n_categories is not None:
            for i in range(self.n_features):
                data.columns[i].n_categories = n_categories[i]
        self.n_rows = <uint32_t> data.rows.size()
        self.encode(strategy, with_lists, n_threads)
        return self.make_workspace()

    cdef int encode(self, str strategy, bint with_lists, int n_threads) except -1:
        """Store every column in the way its search reads it."""
        cdef DenseData* data = self.data.get()
        cdef int part, n_parts
        cdef uint32_t step, n_steps
        data.begin_encoding(n_threads)
        n_parts = data.n_parts()
        if strategy in ("auto", "count"):
            if self.n_rows <= MAX_COUNTED:
                self.count_few(n_threads)
            else:
                self.count(n_threads)
        if strategy in ("presort", "count") or (strategy == "auto" and with_lists):
            self.sort(strategy == "count", n_threads)
        data.begin_interleaving()
        n_steps = data.n_steps(data.n_counted + data.n_wide)
        for step in range(n_steps):
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="static"):
                data.interleave(part, step, n_steps)
            self.poll()
        data.end_interleaving()
        return 0

    cdef int count(self, int n_threads) except -1:
        """Code the columns of few values, as many at a time as threads have shares in."""
        cdef DenseData* data = self.data.get()
        cdef int n_features = <int> self.n_features
        cdef int first = 0, last, share, f, n_shares
        cdef uint32_t step, n_steps = data.n_steps(TILE)
        while first < n_features:
            last = min(first + <int> TILE * max(1, n_threads // <int> data.n_parts()), n_features)
            n_shares = data.begin_counting(first, last)
            for step in range(n_steps):
                for share in prange(n_shares, nogil=True, num_threads=n_threads,
                                    schedule="dynamic"):
                    data.count(share, step, n_steps)
                self.poll()
            for f in prange(first, last, nogil=True, num_threads=n_threads, schedule="static"):
                data.settle_codes(f)
            first = last
        return 0

    cdef int count_few(self, int n_threads) except -1:
        """The same for few rows."""
        cdef DenseData* data = self.data.get()
        cdef int n_features = <int> self.n_features, tile = <int> TILE
        cdef int first
        for first in prange(0, n_features, tile, nogil=True, num_threads=n_threads,
                            schedule="dynamic"):
            data.count_few(first, min(first + tile, n_features))
            if threadid() == 0:
                self.poll()
        return 0

    cdef int sort(self, bint widened, int n_threads) except -1:
        """Sort the other columns, as many at a time as find room."""
        cdef DenseData* data = self.data.get()
        cdef vector[SortBuffers] buffers = vector[SortBuffers](n_threads)
        cdef Room[uint32_t] keys
        cdef vector[uint32_t] rest = data.raw_features()
        cdef int part, i, n_parts = data.n_parts()
        cdef size_t first = 0, last, n_columns = rest.size()
        cdef size_t n_batches = (n_columns + max(16, n_threads) - 1) // max(16, n_threads)
        cdef size_t batch_size = 0 if n_batches == 0 else (n_columns + n_batches - 1) // n_batches
        keys.reserve(batch_size * self.n_rows)
        while first < n_columns:
            last = min(first + batch_size, n_columns)
            for part in prange(n_parts, nogil=True, num_threads=n_threads, schedule="static"):
                data.gather_keys(rest, first, last, part, keys.get())
            for i in prange(<int> (last - first), nogil=True, num_threads=n_threads,
                            schedule="dynamic"):
                data.sort(rest[first + i], keys.get() + <size_t> i * self.n_rows, widened,
                          buffers[threadid()])
                if threadid() == 0:
                    self.poll()
            first = last
        return 0

    cdef int poll(self) except -1 nogil:
        """Let a signal interrupt the fit."""
        with gil:
            PyErr_CheckSignals()
        return 0

    cdef Partitioner clone(self):
        cdef DensePartitioner other = DensePartitioner()
        other.X = self.X
        other.simd = self.simd
        other.n_features = self.n_features
        other.n_rows = self.n_rows
        other.data = self.data
        other.make_workspace()
        return other

    cdef int make_workspace(self) except -1:
        """What a thread owns."""
        cdef DenseData* data = self.data.get()
        self.workspace.reset(new DenseWorkspace(deref(data), self.simd))
        self.block.reset(new Block(deref(self.workspace.get()), self.simd, data.n_rows,
                                   self.n_features))
        return 0

    cdef Block* open_block(self, uint32_t start, uint32_t end) noexcept nogil:
        self.block.get().open(start, end, self.data.get().rows.data())
        return self.block.get()

    cdef const DenseData* dense_columns(self) noexcept:
        return self.data.get()

    cdef const uint32_t* node_rows(self, uint32_t start, uint32_t end) except NULL nogil:
        return self.data.get().rows.data() + start

    cdef float value(self, uint32_t row, uint32_t feature) noexcept nogil:
        return self.data.get().value(row, feature)

    cdef bint with_labels(self, uint32_t feature) noexcept nogil:
        return self.data.get().columns[feature].with_labels()

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
        if self.data.get().columns[part].storage == SORTED:
            self.workspace.get().split_list(part, left.start, right.end, with_left, with_right,
                                            sides)
        return 0
