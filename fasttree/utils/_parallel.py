"""joblib for fasttree: jobs see the settings of the context that starts them.

A worker, thread or process, has a context of its own, so the settings of fasttree travel with each
job; scikit-learn's `Parallel` sees to its own settings and to the filters of warnings.
"""

import sklearn.utils.parallel

from fasttree._config import config_context, get_config

__all__ = ["Parallel"]


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


def _call_with_settings(settings, function, kwargs, *args):
    with config_context(**settings):
        return function(*args, **kwargs)
