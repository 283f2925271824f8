"""Calls on several threads; `_crew.hpp` says how they share work."""
from cython.parallel cimport parallel, threadid

from fasttree.utils._interrupt cimport steps_of


cdef class Leader:
    """The thread that leads a call."""

    def __cinit__(self, int n_threads, work, args):
        self.interrupt = Interrupt()
        self.steps = steps_of(self.interrupt)
        self.crew.reset(new Crew(n_threads, self.steps.poll))
        self.work = work
        self.args = args

    cdef int take_part(self, int thread) except -1 nogil:
        if thread > 0:
            return self.crew.get().serve(thread)
        try:
            with gil:
                self.result = self.work(self, *self.args)
        finally:
            self.crew.get().dismiss()
        return 0

    cdef int share_out(self, int n, CrewWork work, void* owner, void* shared) except -1 nogil:
        if not self.crew.get().share(n, work, owner, shared):
            return -1  # and the exception is set
        self.steps.count(0)
        if self.crew.get().has_failed():
            with gil:
                raise MemoryError  # what else another thread can have met
        return 0

    cdef int go_on(self, bint goes_on) except -1 nogil:
        return 0 if goes_on else self.interrupt.give_up()


cpdef lead(int n_threads, work, args):
    """Return work(leader, *args), called on this thread, while others do what it shares out."""
    cdef Leader leader = Leader(n_threads, work, args)
    if n_threads == 1:
        return work(leader, *args)
    with nogil, parallel(num_threads=n_threads):
        leader.take_part(threadid())
    return leader.result
