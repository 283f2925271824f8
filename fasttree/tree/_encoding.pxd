"""X as the engine reads it, encoded once: what fits, folds and trees share.

An encoding is immutable but for what is added to it: codes when a strategy first asks for them,
lists of rows when a sample first wants them, the order of a sparse column when a fit first needs
it. Each is made once, under a lock. A pickle holds the codes and lists too, as arrays; whoever
loads it reads them where they are, in a file mapped into memory for example.

An encoding that is not shared belongs to a single fit: only the rows of that fit are encoded, and
its lists go to the fit's sample instead of being copied.
"""
from fasttree.engine.columns cimport DenseColumns, RowFeatures, Rows, SortedNonzeros
from fasttree.engine.order cimport DenseSample
from fasttree.tree._dense_columns cimport DenseColumnsOwner
from fasttree.tree._options cimport FitOptions, Strategy
from fasttree.utils._crew cimport Leader
from fasttree.utils._std cimport shared_ptr, vector
from fasttree.utils._typedefs cimport float32_t, int32_t, int64_t, uint32_t, uint64_t


cdef class Encoding:
    cdef readonly object X                 # (n_rows, n_features), float32: an array, or CSC; bits
    cdef readonly uint32_t n_rows
    cdef readonly uint32_t n_features
    cdef readonly bint is_shared
    cdef const uint32_t[::1] n_categories  # categories that each column may hold, or None


cdef class DenseEncoding(Encoding):
    cdef const float32_t[:, :] cells       # or, of a BitMatrix, those of the other columns, or None
    cdef const uint64_t[:, ::1] words      # its bits, or None
    cdef object check                      # of the cells, if these are not checked yet, or None
    cdef dict owners                       # of the columns, by strategy and whether with keys
    cdef object lock

    cdef DenseColumnsOwner make_owner(self)
    # Columns of which at least `rows` (none: all) are encoded, listed if that is asked for.
    cdef DenseColumnsOwner encoded(self, Rows& rows, FitOptions options, Leader leader)
    # The order that a sample begins with.
    cdef int fill_lists(self, DenseSample* sample, DenseColumns* columns,
                        FitOptions options, Leader leader) except -1


cdef class SparseEncoding(Encoding):
    cdef const float32_t[::1] values       # the CSC matrix
    cdef const int32_t[::1] indices
    cdef const int64_t[::1] indptr
    cdef shared_ptr[SortedNonzeros] sorted  # if fits share it
    cdef shared_ptr[RowFeatures] row_features  # filled by the first fit that draws features
