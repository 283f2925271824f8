from fasttree.engine.columns cimport DenseColumns, DenseEncoder
from fasttree.tree._options cimport FitOptions, Strategy
from fasttree.utils._crew cimport Leader
from fasttree.utils._std cimport shared_ptr


# Columns of a dense matrix under one strategy.
cdef class DenseColumnsOwner:
    cdef shared_ptr[DenseColumns] columns
    cdef bint is_listed
    cdef bint is_of_one_fit
    cdef dict arrays                       # what pickles hold, as far as it was asked for
    cdef object borrowed                   # keeps memory that the columns refer to

    cdef int encode(self, FitOptions options, Leader leader) except -1
    cdef int take_steps(self, FitOptions options, DenseEncoder& encoder,
                        Leader leader) except -1 nogil
    cdef int add_lists(self, Leader leader) except -1
    cdef object view(self, const void* items, size_t n_bytes, dtype)
    cdef dict made(self)
    cdef int borrow(self, dict made, Strategy strategy, Leader leader) except -1
    cdef int check(self, Leader leader) except -1
