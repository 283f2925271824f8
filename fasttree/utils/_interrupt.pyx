"""Ctrl-C during long calls; `_interrupt.hpp` counts the work between two looks."""
from cpython.exc cimport PyErr_CheckSignals

cdef extern from "Python.h" nogil:
    unsigned long PyThread_get_thread_ident() noexcept


cdef cbool look_of(void* interrupt) noexcept nogil:
    return (<Interrupt> interrupt).look()


cdef class Interrupt:
    """What stops the threads of one call."""

    def __cinit__(self):
        self.caller = PyThread_get_thread_ident()

    cdef Poll poll(self) noexcept nogil:
        return Poll(look_of, <void*> self)

    cdef bint look(self) noexcept nogil:
        if self.stopped.is_set():
            return False
        if PyThread_get_thread_ident() != self.caller:
            return True
        with gil:
            try:
                PyErr_CheckSignals()
            except BaseException as error:
                self.error = error
                self.stopped.set()
                return False
        return True

    cdef int give_up(self) except -1 nogil:
        with gil:
            raise self.error


cdef class Steps:
    """What a thread has done of a call since it looked last."""

    cdef int count(self, uint64_t steps) except -1 nogil:
        return 0 if self.poll.go_on(steps) else self.interrupt.give_up()


cdef Steps steps_of(Interrupt interrupt):
    """A thread's steps; they stay where they are, for they are pointed at."""
    cdef Steps steps = Steps()
    steps.interrupt = interrupt
    steps.poll = interrupt.poll()
    return steps
