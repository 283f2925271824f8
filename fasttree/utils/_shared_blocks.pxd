"""Memory for small arrays that last, in blocks that they share."""


cdef extern from "utils/_shared_blocks.hpp" namespace "fasttree" nogil:
    cdef cppclass SharedBlocks:
        SharedBlocks() noexcept
