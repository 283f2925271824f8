"""What fasttree uses of the C++ library, with what may throw.

The declarations that come with Cython leave out functions that allocate and all assignments; an
exception where none is declared ends the process.
"""
from libc.stddef cimport size_t
from libcpp cimport bool as cbool


cdef extern from "<vector>" namespace "std" nogil:
    cdef cppclass vector[T]:
        vector() noexcept
        vector(size_t n) except +
        vector(size_t n, const T& item) except +
        vector& operator=(const vector& other) except +
        void assign(size_t n, const T& item) except +
        void resize(size_t n) except +
        void reserve(size_t n) except +
        void push_back(const T& item) except +
        void clear() noexcept
        void swap(vector& other) noexcept
        cbool empty() noexcept
        size_t size() noexcept
        T& operator[](size_t i) noexcept
        T* data() noexcept


cdef extern from "<memory>" namespace "std" nogil:
    cdef cppclass unique_ptr[T]:
        unique_ptr() noexcept
        void reset(T* owned) noexcept
        void swap(unique_ptr& other) noexcept
        T* get() noexcept
        T& operator*() noexcept

    # The constructor of T throws through make_shared.
    cdef cppclass shared_ptr[T]:
        shared_ptr() noexcept
        T* get() noexcept
        T& operator*() noexcept

    shared_ptr[T] make_shared[T](...) except +
