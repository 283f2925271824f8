"""Ctrl-C during long calls: who looks for signals, and how threads learn that they are to stop.

The thread that called looks for signals, the others at a flag. Whatever the signal's handler
raised is raised by every thread that gives up, so that the caller sees it, whoever was first.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint64_t
from libcpp cimport bool as cbool

cdef extern from "utils/_interrupt.hpp" namespace "fasttree" nogil:
    const uint64_t STEPS_PER_LOOK

    cdef cppclass StopFlag:
        StopFlag() noexcept
        cbool is_set() noexcept
        void set() noexcept

    cdef cppclass Poll:
        Poll() noexcept
        Poll(cbool (*look)(void*) noexcept nogil, void* context) noexcept
        cbool go_on(uint64_t steps) noexcept
        cbool look() noexcept


# Shared by the threads of one call; a `Poll` must not outlive it.
cdef class Interrupt:
    cdef StopFlag stopped
    cdef object error              # what the handler raised
    cdef unsigned long caller      # thread

    # A thread's count of steps.
    cdef Poll poll(self) noexcept nogil
    # False if the call is to be given up.
    cdef bint look(self) noexcept nogil
    # Raise what stopped the call.
    cdef int give_up(self) except -1 nogil


# A thread's count of its steps.
cdef class Steps:
    cdef Interrupt interrupt
    cdef Poll poll

    # Raises if the call is to be given up.
    cdef int count(self, uint64_t steps) except -1 nogil


cdef Steps steps_of(Interrupt interrupt)


cdef inline int look_now_and_then(Py_ssize_t i) except -1:
    """Let a signal interrupt a loop over cells, i being the loop's counter."""
    if i & 0xffff == 0:
        PyErr_CheckSignals()
    return 0
