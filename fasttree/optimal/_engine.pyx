"""Cython binding of the engine of optimal trees (``src/``).

The engine knows nothing of Python: 0/1 columns, integer classes and integer weights go in, bounds
and trees come out. About every 50 ms it calls back on the calling thread, which takes the GIL to
look for signals and to report progress; an exception raised there stops the search and comes out
of :func:`solve`.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libcpp cimport bool as cbool

import numpy as np

from fasttree.utils._interrupt cimport Interrupt
from fasttree.utils._std cimport vector


cdef extern from "optimal/src/solver.hpp" namespace "fasttree::optimal" nogil:
    struct Kernels:
        pass

    struct Input:
        const uint8_t* columns
        Py_ssize_t n_columns
        Py_ssize_t n_samples
        const int32_t* classes
        const int32_t* weights
        int32_t n_classes

    struct BudgetRange:
        int low
        int high

    struct LeafLimits:
        int32_t n_samples
        int32_t weight

    struct Task:
        int depth
        BudgetRange nodes
        LeafLimits leaf
        int64_t leaf_penalty

    struct SearchOptions:
        int order
        int cache_key
        int sharing
        cbool with_sibling_bound
        cbool with_cousin_bound
        cbool with_parent_bound
        cbool with_conflict_bound
        cbool with_upper_bound
        int start
        uint64_t seed
        int n_threads
        double share_after
        double time_limit
        size_t cache_bytes

    struct Statistics:
        int64_t n_nodes
        int64_t n_terminal_calls
        int64_t n_cache_hits
        int64_t n_cache_misses
        int64_t n_bounded_features
        int64_t n_bounded_children

    struct OutNode:
        int32_t column
        int32_t left
        int32_t right

    struct Front:
        vector[int64_t] lower
        vector[int64_t] upper

    cppclass Result:
        Front front
        int chosen
        int64_t lower
        int64_t upper
        vector[OutNode] tree
        vector[vector[OutNode]] front_trees
        Statistics statistics
        cbool is_stopped

    struct Progress:
        double elapsed
        int64_t n_nodes
        int64_t lower
        int64_t upper

    struct Listener:
        cbool (*call)(void*, const Progress&) noexcept nogil
        void* context

    const Kernels* find_kernels(const char* instruction_set) except +
    const int64_t kPenaltyScale
    Result c_solve "fasttree::optimal::solve"(
        const Input&, const Task&, const SearchOptions&, const char*, cbool, Listener
    ) except +


PENALTY_SCALE = kPenaltyScale

NODE_DTYPE = np.dtype([("column", np.int32), ("left", np.int32), ("right", np.int32)])


cdef class _Callback(Interrupt):
    """What a search calls back: signals first, then the user's function."""

    cdef object function

    def __cinit__(self, function):
        self.function = function

    cdef bint hear(self, const Progress& progress) noexcept nogil:
        if not self.look():
            return False
        with gil:
            try:
                return self.function is None or not self.function(
                    progress.elapsed, progress.n_nodes, progress.lower, progress.upper)
            except BaseException as error:
                self.error = error
                self.stopped.set()
                return False


cdef cbool _hear(void* callback, const Progress& progress) noexcept nogil:
    return (<_Callback> callback).hear(progress)


cdef object _as_array(const vector[OutNode]& tree):
    nodes = np.empty(tree.size(), dtype=NODE_DTYPE)
    cdef Py_ssize_t k
    cdef int32_t[:, ::1] view = nodes.view(np.int32).reshape(-1, 3)
    for k in range(<Py_ssize_t> tree.size()):
        view[k, 0] = tree[k].column
        view[k, 1] = tree[k].left
        view[k, 2] = tree[k].right
    return nodes


def has_instruction_set(name):
    """Whether this build and machine can run the named kernels."""
    return find_kernels(name.encode()) != NULL


def solve(
    const uint8_t[:, ::1] columns,
    const int32_t[::1] classes,
    const int32_t[::1] weights,
    *,
    int n_classes,
    int depth,
    tuple node_range,
    int min_leaf_samples=1,
    int min_leaf_weight=1,
    int64_t leaf_penalty=0,
    dict options,
    str instruction_set="auto",
    bint with_front_trees=False,
    callback=None,
):
    """Search the best tree over 0/1 columns.

    Parameters
    ----------
    columns : uint8 array of shape (n_columns, n_samples)
    classes : int32 array of shape (n_samples,)
        Values in ``[0, n_classes)``; at least two classes.
    weights : int32 array of shape (n_samples,)
        Positive, with a sum below 2**30.
    node_range : tuple of two int
        Least and largest number of inner nodes; with a penalty or a front all of them are
        solved together, otherwise both are the same.
    min_leaf_samples, min_leaf_weight : int
        What every leaf must hold at least.
    leaf_penalty : int
        Price of a leaf in ``1 / PENALTY_SCALE`` of a unit of weight.
    options : dict
        Fields of the engine's ``SearchOptions``.
    callback : callable, default=None
        Called with (elapsed, n_nodes, lower, upper); a true result stops the search.

    Returns
    -------
    dict
        ``tree`` (array of ``NODE_DTYPE`` in pre-order; leaves have column -1), ``front_lower``
        and ``front_upper`` (errors per number of nodes), ``lower`` and ``upper`` (of the
        objective, scaled), ``n_nodes`` (the budget chosen), ``front_trees``, ``is_stopped`` and
        ``statistics``.
    """
    cdef Input data
    data.n_columns = columns.shape[0]
    data.n_samples = columns.shape[1]
    data.columns = &columns[0, 0] if data.n_columns and data.n_samples else NULL
    data.classes = &classes[0]
    data.weights = &weights[0]
    data.n_classes = n_classes
    cdef Task task
    task.depth = depth
    task.nodes.low, task.nodes.high = node_range
    task.leaf.n_samples = min_leaf_samples
    task.leaf.weight = min_leaf_weight
    task.leaf_penalty = leaf_penalty
    cdef SearchOptions search = options
    cdef bytes isa = instruction_set.encode()
    cdef const char* isa_name = isa
    cdef _Callback hears = _Callback(callback)
    cdef Listener listener
    listener.call = _hear
    listener.context = <void*> hears
    cdef Result result
    with nogil:
        result = c_solve(data, task, search, isa_name, with_front_trees, listener)
    cdef size_t k, n_front_trees = result.front_trees.size()
    if hears.stopped.is_set():
        hears.give_up()
    return {
        "tree": _as_array(result.tree),
        "front_trees": [_as_array(result.front_trees[k]) for k in range(n_front_trees)],
        "front_lower": np.asarray(result.front.lower, dtype=np.int64),
        "front_upper": np.asarray(result.front.upper, dtype=np.int64),
        "lower": result.lower,
        "upper": result.upper,
        "n_nodes": result.chosen,
        "is_stopped": result.is_stopped,
        "statistics": result.statistics,
    }
