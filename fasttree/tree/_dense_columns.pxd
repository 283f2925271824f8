from fasttree.engine.columns cimport DenseColumns, Storage
from fasttree.engine.simd cimport Simd
from fasttree.tree._options cimport FitOptions, Strategy
from fasttree.utils._std cimport shared_ptr

cdef int poll() except -1 nogil


# Columns of a dense matrix under one strategy.
cdef class DenseColumnsOwner:
    cdef shared_ptr[DenseColumns] columns
    cdef bint is_listed
    cdef dict arrays                       # what pickles hold, as far as it was asked for
    cdef object borrowed                   # keeps memory that the columns refer to

    cdef int encode(self, FitOptions options) except -1
    cdef int find_bits(self, Strategy strategy, Simd simd, int n_threads) except -1
    cdef int keep_codes(self, bint of_numbers, int n_threads) except -1
    cdef int count(self, int n_threads) except -1
    cdef int count_few(self, int n_threads) except -1
    cdef int find_buckets(self, int n_threads) except -1
    cdef int add_lists(self, Storage storage, int n_threads) except -1
    cdef object view(self, const void* items, size_t n_bytes, dtype)
    cdef dict made(self)
    cdef int borrow(self, dict made, Strategy strategy, int n_threads) except -1
    cdef int check(self, int n_threads) except -1
