"""How many threads a call may use: the one place that decides.

`n_jobs` is read as in scikit-learn's glossary: None means one thread unless a joblib context says
otherwise, -1 means all. Two limits apply on top. OpenMP's own (`OMP_NUM_THREADS`, threadpoolctl)
is also how joblib tells its worker processes their share of the machine. Joblib's worker threads
are not told, nor are the workers of a `multiprocessing` pool, so those start no threads of their
own. `n_threads` of `fasttree.config_context` overrides that: it asks for so many threads, whatever
the machine has. But a process forked from one that had run threads runs none: OpenMP's threads do
not come along, and GCC's run time waits for them for ever.
"""
import functools
import os
import threading
from multiprocessing import current_process

from joblib import cpu_count
from joblib.parallel import get_active_backend

from fasttree._config import get_config

# With fewer values threads cost more than they bring, and so does asking for limits.
FEW_VALUES = 50_000


def openmp_enabled():
    """Whether fasttree was built with OpenMP; without it everything runs on one thread."""
    return with_openmp()


def dismiss_threads():
    """End the threads that the caller's loops have started and that wait, awake at first, for more.

    To be called before other threads set to work.
    """
    c_dismiss_threads()


@functools.cache
def _n_cpus():
    """CPUs this process may use; asking the system takes longer than a small fit may."""
    return cpu_count()


@functools.cache
def _pid_of_first_threads():
    """Process that ran threads first. A forked child inherits the answer."""
    return os.getpid()


def _is_worker(backend):
    """Whether a worker is asking that shares the machine with others without being told."""
    level = getattr(backend, "nesting_level", None) or 0
    in_thread = threading.current_thread() is not threading.main_thread()
    return level > 1 or (level == 1 and in_thread) or current_process().daemon


def effective_n_threads(n_jobs=None, n_values=None):
    """Return the number of threads to use for a call.

    Parameters
    ----------
    n_jobs : int or None
        What the user asked for.
    n_values : int or None
        Values that the call looks at: few are worth one thread only, unless threads are forced.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        If `n_jobs` is 0.
    """
    n_threads = n_threads_wanted(n_jobs, n_values)
    if n_threads > 1 and (not with_openmp() or _pid_of_first_threads() != os.getpid()):
        return 1
    return n_threads


def n_threads_wanted(n_jobs=None, n_values=None):
    """`effective_n_threads`, whatever this build and this process can do."""
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None, -1 or a positive number.")
    forced = get_config()["n_threads"]
    if forced is not None:
        return forced
    if n_jobs == 1:
        return 1
    if n_values is not None and n_values < FEW_VALUES:
        return 1
    backend, context_n_jobs = get_active_backend()
    if n_jobs is None:
        n_jobs = context_n_jobs
    if n_jobs is None or n_jobs == 1 or _is_worker(backend):
        return 1
    limit = max_threads()
    if n_jobs < 0:
        n_jobs += min(limit, _n_cpus()) + 1
    return max(1, min(n_jobs, limit))
