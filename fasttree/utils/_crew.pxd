"""A call on several threads, of which the one that called leads: see `_crew.hpp`."""
from libcpp cimport bool as cbool

from fasttree.utils._interrupt cimport Interrupt, Poll, Steps
from fasttree.utils._std cimport unique_ptr

# A thread's work on piece i of what is shared: 0, or -1 if it has set an exception.
ctypedef int (*CrewWork)(void* owner, int thread, int i, void* shared) except -1 nogil
# Work beside jobs: 1 if there was a unit to do, 0 if not, or -1 if it has set an exception.
ctypedef int (*CrewUnit)(void* owner, int thread) except -1 nogil


cdef extern from "utils/_crew.hpp" namespace "fasttree" nogil:
    cdef cppclass Stage:
        Stage(int n_pieces) except +
        int n_pieces() noexcept
        cbool wait(int first, int last) noexcept

    cdef cppclass Crew:
        Crew(int n_threads, Poll& poll) except +
        int size() noexcept
        cbool share(Stage& stage, int n,
                    cbool (*work)(const void* job, int thread, int i) noexcept,
                    const void* job, cbool in_order) except +
        void begin_beside(int (*unit)(void* owner, int thread) noexcept, void* owner) except +
        void tell() except +
        cbool end_beside() except +
        void serve(int thread) except +
        void dismiss() except +


# The thread that leads a call, for as long as this takes.
cdef class Leader:
    cdef Interrupt interrupt
    cdef Steps steps
    cdef unique_ptr[Crew] crew
    cdef object result
    cdef object error              # what a piece or a unit has raised
    cdef CrewUnit unit             # of work beside jobs
    cdef void* owner

    # What a thread does of a call of `work`.
    cdef int take_part(self, int thread, work, tuple args) except -1 nogil
    # Has work(owner, thread, i, shared) done for all i < n by the threads that are free; in order:
    # the longest first. Else a thread has the same pieces each time, if it is free.
    cdef int share_out(self, int n, CrewWork work, void* owner, void* shared,
                       bint in_order) except -1 nogil
    # The same of pieces of which the first ones are a stage: see `Stage`.
    cdef int share_out_from(self, Stage& stage, int n, CrewWork work, void* owner, void* shared,
                            bint in_order) except -1 nogil
    # Threads that have no piece call unit(owner, thread) meanwhile, until `end_beside`, which waits
    # for them and raises what they have raised.
    cdef int begin_beside(self, CrewUnit unit, void* owner) except -1 nogil
    cdef int end_beside(self) except -1 nogil
    # Raises what stopped the call, unless its threads go on.
    cdef int raise_unless(self, bint goes_on) except -1 nogil


cpdef lead(int n_threads, work, tuple args)
