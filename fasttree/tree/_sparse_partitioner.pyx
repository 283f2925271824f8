"""Partitioners of a sparse matrix.

`engine/order/sparse_lists.hpp` and `engine/order/extraction.hpp` hold the loops.

Lists cost O(nonzeros of the node) per split, and a sort of the columns that are scanned.
Extraction costs, per feature looked at, the shorter of a walk over the column and a search of it,
and O(nonzeros of the column) per split ("Scalable Learning of Tree-Based Models on Sparsely
Representable Data", Hedayati, Joly & Papadimitriou, 2016).
"""
import numpy as np

from cython.operator cimport dereference as deref
from libcpp.utility cimport move

from fasttree.engine.columns cimport Rows
from fasttree.engine.core cimport Nonzeros, ROW, Split, binary_search_pays
from fasttree.engine.scan cimport Scanner
from fasttree.engine.search cimport ExtractedNodeColumns, ListedNodeColumns
from fasttree.engine.simd cimport SIMD_PORTABLE
from fasttree.tree._options cimport SORT
from fasttree.utils._std cimport make_shared, vector

from fasttree.tree._encoding import encoding_of


# Parts of the lists per thread: they may turn out to be of unequal work.
cdef int PARTS_PER_THREAD = 4


cdef int list_part(void* workers, int thread, int part, void* _) except -1 nogil:
    """A step of the columns of a part."""
    (<ListPartitioner> (<void**> workers)[thread]).workspace.get().list_part(part)
    return 0


cdef class SparsePartitioner(Partitioner):
    """Partitioner of a CSC matrix with sorted indices and no duplicates (abstract)."""

    cdef int refer(self, Encoding encoding, FitOptions options) except -1:
        """Refer to the matrix."""
        self.encoding = <SparseEncoding?> encoding
        self.simd = options.simd
        self.n_features = encoding.n_features
        return 0

    cdef int share(self, SparsePartitioner other) except -1:
        """Refer to what another thread's partitioner refers to."""
        self.n_features = other.n_features
        self.n_rows = other.n_rows
        self.encoding = other.encoding
        self.simd = other.simd
        return 0


cdef class ListPartitioner(SparsePartitioner):
    """Nodes list their nonzeros."""

    cdef int init(self, Encoding encoding, Rows& rows,
                  FitOptions options, Leader leader) except -1:
        cdef ListData* data
        cdef int n_threads = leader.crew.get().size()
        self.refer(encoding, options)
        self.data = make_shared[ListData](&self.encoding.values[0], &self.encoding.indices[0],
                                          &self.encoding.indptr[0], encoding.n_rows,
                                          self.n_features)
        data = self.data.get()
        data.sorted = self.encoding.sorted.get()
        with nogil:
            data.take_rows(move(rows), deref(leader.crew))
        self.n_rows = <uint32_t> data.rows.size()
        data.make_parts(1 if n_threads == 1 else PARTS_PER_THREAD * n_threads, options.least)
        self.workspace.reset(new ListWorkspace(deref(data), self.simd))
        return self.list_columns(leader)

    cdef int list_columns(self, Leader leader) except -1:
        """List all columns, a few million nonzeros at a time on each thread."""
        cdef int n_threads = leader.crew.get().size()
        cdef list partitioners = [self] + [self.clone() for _ in range(n_threads - 1)]
        cdef vector[void*] workers
        for worker in partitioners:
            workers.push_back(<void*> worker)
        with nogil:
            while not self.data.get().is_listed():
                leader.share_out(<int> self.data.get().n_parts(), list_part, workers.data(), NULL,
                                 False)
                leader.raise_unless(leader.steps.poll.look())
        return 0

    cdef int attach(self, Scanner& scanner) except -1:
        self.columns.reset(new ListedNodeColumns(deref(self.workspace), scanner))
        return 0

    cdef Partitioner clone(self):
        cdef ListPartitioner other = ListPartitioner()
        other.share(self)
        other.data = self.data
        other.workspace.reset(new ListWorkspace(deref(self.data.get()), self.simd))
        return other


cdef class ExtractionPartitioner(SparsePartitioner):
    """Nonzeros are extracted from the columns in the node.

    The methods that begin with `_py` let tests drive it step by step.
    """

    cdef int init(self, Encoding encoding, Rows& rows,
                  FitOptions options, Leader leader) except -1:
        cdef ExtractionData* data
        self.refer(encoding, options)
        self.data = make_shared[ExtractionData](
            &self.encoding.values[0], &self.encoding.indices[0], &self.encoding.indptr[0],
            encoding.n_rows, self.n_features)
        data = self.data.get()
        with nogil:
            data.take_rows(move(rows), deref(leader.crew))
        self.n_rows = <uint32_t> data.rows.size()
        data.map_rows()
        with nogil:
            self.encoding.row_features.get().fill_once(deref(data))
        return self.make_workspace()

    cdef int make_workspace(self) except -1:
        self.workspace.reset(new Extraction(
            deref(self.data.get()), deref(self.encoding.row_features.get()), self.simd))
        return 0

    cdef int attach(self, Scanner& scanner) except -1:
        self.columns.reset(new ExtractedNodeColumns(deref(self.workspace), scanner))
        return 0

    cdef Partitioner clone(self):
        cdef ExtractionPartitioner other = ExtractionPartitioner()
        other.share(self)
        other.data = self.data
        other.make_workspace()
        return other

    def _py_init(self, X, sample_weight=None):
        cdef Rows rows
        cdef uint32_t i
        named = np.arange(X.shape[0]) if sample_weight is None else np.flatnonzero(sample_weight)
        rows.resize(len(named))
        for i in range(rows.size()):
            rows[i] = named[i]
        cdef FitOptions options
        options.strategy = SORT
        options.n_threads = 1
        options.simd = SIMD_PORTABLE
        self.init(encoding_of(X), rows, options, Leader(1))

    def _py_rows(self):
        """Rows by position."""
        cdef uint32_t i
        return np.array([self.data.get().rows[i] for i in range(self.n_rows)], dtype=np.int64)

    def _py_mapping(self):
        """Positions by row; no position is larger than any row number."""
        return np.array(self.data.get().position, dtype=np.int64)

    def _py_nonzeros(self, uint32_t feature, uint32_t start, uint32_t end):
        """Rows of the nonzeros from the outside in, how many are negative and how many missing."""
        cdef Nonzeros found = self.workspace.get().nonzeros(feature, start, end)
        cdef uint32_t i
        rows = [found.entries[i] & ROW for i in range(found.n_listed())]
        return rows, found.n_negative, found.n_missing

    def _py_split(self, uint32_t feature, double threshold, bint missing_left, uint32_t start,
                  uint32_t end):
        """First position on the right after a split of rows [start, end)."""
        cdef Split split
        split.feature = feature
        split.threshold = threshold
        split.missing_left = missing_left
        return self.workspace.get().split_rows(split, start, end)

    @staticmethod
    def _py_searches(uint32_t n_rows, uint32_t n_nonzeros):
        """Whether a column of so many nonzeros is searched for the rows of a node, not walked."""
        return binary_search_pays(n_rows, n_nonzeros)
