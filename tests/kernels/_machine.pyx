"""Instruction sets, threads and memory, for tests alone."""
from libc.stddef cimport ptrdiff_t, size_t
from libc.stdint cimport int32_t, uint32_t
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

from kernels._shared cimport SIMD_AVX2, SIMD_AVX512, SIMD_PORTABLE, Simd


cdef extern from "machine.hpp" namespace "fasttree" nogil:
    cbool c_has_simd "fasttree::has_simd"(Simd)


cdef extern from "machine.hpp" namespace "fasttree::tests" nogil:
    vector[size_t] c_guided_begins "fasttree::tests::guided_begins"(
        size_t n, uint32_t n_parts, uint32_t n_threads) except +
    vector[vector[ptrdiff_t]] c_share_out "fasttree::tests::share_out"(
        ptrdiff_t end, ptrdiff_t size, int n_threads, ptrdiff_t fails_from,
        int32_t* times) except +
    void c_on_threads "fasttree::tests::on_threads"(
        int n_threads, int fails, int32_t* times) except +
    void c_share "fasttree::tests::share"(
        int n_threads, int n_present, int n, int n_jobs, int fails, int32_t* times) except +
    vector[int] c_waited "fasttree::tests::waited"(
        int n_threads, int n_first, int n, int fails) except +
    vector[vector[int]] c_steps "fasttree::tests::steps"(
        int n_threads, int n_parts, int n_steps, int fails) except +
    vector[int] c_done_beside "fasttree::tests::done_beside"(
        int n_threads, int n, int fails) except +
    vector[int] c_turns "fasttree::tests::turns"(
        int n, int n_threads, const vector[int]& threads) except +
    vector[int] c_followed "fasttree::tests::followed"(
        int n, const vector[int]& pieces, cbool within) except +
    vector[int] c_followed_on_threads "fasttree::tests::followed_on_threads"(
        int n_threads, int n) except +
    vector[uint32_t] c_after_discard "fasttree::tests::after_discard"(
        size_t n, size_t first, size_t last) except +


SIMD = {"portable": SIMD_PORTABLE, "avx2": SIMD_AVX2, "avx512": SIMD_AVX512}


def has_simd(name):
    return c_has_simd(SIMD[name])


def after_discard(size_t n, size_t first, size_t last):
    return np.array(c_after_discard(n, first, last), np.uint32)


def guided_begins(size_t n, uint32_t n_parts, uint32_t n_threads):
    """Where parts of n items begin that threads take in turns; n."""
    return np.array(c_guided_begins(n, n_parts, n_threads), np.uint64)


def share_out(ptrdiff_t end, ptrdiff_t size, int n_threads, ptrdiff_t fails_from):
    """(how often each of [0, end) was gone through, where the pieces of each thread begin).

    IndexError from pieces that fail.
    """
    cdef int32_t[::1] times = np.zeros(end + 1, np.int32)
    cdef vector[vector[ptrdiff_t]] taken
    with nogil:
        taken = c_share_out(end, size, n_threads, fails_from, &times[0])
    assert times[end] == 0
    return np.asarray(times)[:-1], taken


def share(int n_threads, int n_present, int n, int n_jobs, int fails):
    """How often each of n pieces was gone through; IndexError from the one that fails."""
    cdef int32_t[::1] times = np.zeros(n + 1, np.int32)
    with nogil:
        c_share(n_threads, n_present, n, n_jobs, fails, &times[0])
    assert times[n] == 0
    return np.asarray(times)[:-1]


def waited(int n_threads, int n_first, int n, int fails):
    """How many of the first pieces each of the others finds done that waits for some of them.

    IndexError from the piece that fails.
    """
    cdef vector[int] out
    with nogil:
        out = c_waited(n_threads, n_first, n, fails)
    return out


def steps(int n_threads, int n_parts, int n_steps, int fails):
    """The steps of each part, in the order in which they were done; IndexError from one."""
    cdef vector[vector[int]] out
    with nogil:
        out = c_steps(n_threads, n_parts, n_steps, fails)
    return out


def done_beside(int n_threads, int n, int fails):
    """How many of n units of work beside jobs each thread did; nothing if one failed."""
    cdef vector[int] out
    with nogil:
        out = c_done_beside(n_threads, n, fails)
    return out


def turns(int n, int n_threads, vector[int] threads):
    """Pieces that threads get one after another."""
    return c_turns(n, n_threads, threads)


def followed(int n, vector[int] pieces, cbool within):
    """What follows pieces that are done in this order, the next ones `within` what follows."""
    return c_followed(n, pieces, within)


def followed_on_threads(int n_threads, int n):
    """What follows n pieces of a crew."""
    cdef vector[int] out
    with nogil:
        out = c_followed_on_threads(n_threads, n)
    return out


def on_threads(int n_threads, int fails):
    """How often each thread was called; IndexError from the one that fails."""
    cdef int32_t[::1] times = np.zeros(n_threads, np.int32)
    with nogil:
        c_on_threads(n_threads, fails, &times[0])
    return np.asarray(times)
