"""joblib for fasttree: jobs see the settings of the context that starts them.

A worker, thread or process, has a context of its own, so the settings of fasttree travel with each
job; scikit-learn's `Parallel` sees to its own settings and to the filters of warnings.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import sklearn.utils.parallel

from fasttree._config import config_context, get_config
from fasttree.utils._threads import dismiss_threads

__all__ = ["Parallel", "map_on_threads"]


class Parallel(sklearn.utils.parallel.Parallel):
    """:class:`joblib.Parallel` whose jobs see fasttree's and scikit-learn's settings."""

    def __call__(self, jobs):
        """Run the jobs.

        Parameters
        ----------
        jobs : iterable of tuple
            Calls as :func:`joblib.delayed` makes them.

        Returns
        -------
        list
            Their results.
        """
        # Now, because joblib may take the jobs in a thread of its own.
        settings = dict(get_config())
        call = sklearn.utils.parallel.delayed(_call_with_settings)
        # Arguments one by one: a back-end may send a large one once, for all jobs that share it.
        return super().__call__(
            call(settings, function, kwargs, *args) for function, args, kwargs in jobs
        )


def map_on_threads(n_threads, function, *arguments):
    """Yield what a function returns for each set of arguments, in their order.

    Joblib's threads start later and are asked for results every hundredth of a second, which a
    forest of few trees feels. An exception reaches the caller at once: calls that have not begun
    are dropped, others run to their end unheeded.

    Parameters
    ----------
    n_threads : int
        Number of threads.
    function : callable
        It sees fasttree's settings of the caller.
    *arguments : iterable
        The first arguments of all calls, the second ones and so on.

    Yields
    ------
    object
        The results.
    """
    call = partial(_call_with_settings, dict(get_config()), function, {})
    dismiss_threads()
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield from pool.map(call, *arguments)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _call_with_settings(settings, function, kwargs, *args):
    with config_context(**settings):
        return function(*args, **kwargs)
