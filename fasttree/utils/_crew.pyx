"""Calls on several threads; `_crew.hpp` says how they share work."""
from cython.operator cimport dereference as deref
from cython.parallel cimport parallel, threadid

from fasttree.utils._interrupt cimport steps_of

# `CrewWork` and `CrewUnit` whose caller looks itself whether there is an exception.
ctypedef int (*UncheckedWork)(void* owner, int thread, int i, void* shared) noexcept nogil
ctypedef int (*UncheckedUnit)(void* owner, int thread) noexcept nogil


cdef struct Job:
    UncheckedWork work
    void* owner
    void* shared
    void* leader


cdef int raise_what_is_set() except -1:
    return -1


cdef void keep_error(void* leader) noexcept nogil:
    """What a thread has raised, whichever it was, is kept by the leader."""
    with gil:
        try:
            raise_what_is_set()
        except BaseException as error:
            if (<Leader> leader).error is None:
                (<Leader> leader).error = error


cdef cbool do_piece(const void* job, int thread, int i) noexcept nogil:
    """A piece of a job; whether it raised nothing."""
    cdef const Job* of_crew = <const Job*> job
    if of_crew.work(of_crew.owner, thread, i, of_crew.shared) != -1:
        return True
    keep_error(<void*> of_crew.leader)
    return False


cdef int do_unit(void* leader, int thread) noexcept nogil:
    """A unit of the work beside jobs."""
    cdef UncheckedUnit unit = <UncheckedUnit> (<Leader> leader).unit
    cdef int done = unit((<Leader> leader).owner, thread)
    if done == -1:
        keep_error(leader)
    return done


cdef class Leader:
    """The thread that leads a call."""

    def __cinit__(self, int n_threads):
        self.interrupt = Interrupt()
        self.steps = steps_of(self.interrupt)
        self.crew.reset(new Crew(n_threads, self.steps.poll))

    cdef int take_part(self, int thread, work, tuple args) except -1 nogil:
        if thread > 0:
            self.crew.get().serve(thread)
            return 0
        try:
            with gil:
                self.result = work(self, *args)
        finally:
            self.crew.get().dismiss()
        return 0

    cdef int share_out(self, int n, CrewWork work, void* owner, void* shared,
                       bint in_order) except -1 nogil:
        cdef unique_ptr[Stage] none
        none.reset(new Stage(0))
        return self.share_out_from(deref(none), n, work, owner, shared, in_order)

    cdef int share_out_from(self, Stage& stage, int n, CrewWork work, void* owner, void* shared,
                            bint in_order) except -1 nogil:
        cdef Job job = Job(<UncheckedWork> work, owner, shared, <void*> self)
        if not self.crew.get().share(stage, n, do_piece, &job, in_order):
            with gil:
                raise self.error
        return self.steps.count(0)

    cdef int begin_beside(self, CrewUnit unit, void* owner) except -1 nogil:
        self.unit = unit
        self.owner = owner
        self.crew.get().begin_beside(do_unit, <void*> self)
        return 0

    cdef int end_beside(self) except -1 nogil:
        if not self.crew.get().end_beside():
            with gil:
                raise self.error
        return 0

    cdef int raise_unless(self, bint goes_on) except -1 nogil:
        return 0 if goes_on else self.interrupt.give_up()


cpdef lead(int n_threads, work, tuple args):
    """Return work(leader, *args), called on this thread, while others do what it shares out."""
    cdef Leader leader = Leader(n_threads)
    if n_threads == 1:
        return work(leader, *args)
    with nogil, parallel(num_threads=n_threads):
        leader.take_part(threadid(), work, args)
    return leader.result
