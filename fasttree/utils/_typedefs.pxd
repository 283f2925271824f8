"""Fixed-width types of every compiled module.

Rows are `uint32_t` inside the engine (a fit holds fewer than 2**30 rows), Python-visible
indices are `intp_t` as in scikit-learn, statistics are `int64_t` (integer sums are
associative, so neither threads nor search strategy can change a tree).
"""
from libc.stdint cimport (
    int8_t, int32_t, int64_t, intptr_t, uint8_t, uint16_t, uint32_t, uint64_t
)

ctypedef float float32_t
ctypedef double float64_t
ctypedef Py_ssize_t intp_t
