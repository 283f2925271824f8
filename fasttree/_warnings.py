"""Warnings that point at the user's own line."""

import sys
import warnings

__all__ = ["warn_user"]

# Between a user's line and a warning stand calls of these alone.
_PASSED_OVER = frozenset({"fasttree", "joblib", "sklearn"})
# And these begin a worker, which has no line of the user's.
_BEGINNINGS = frozenset({"concurrent", "multiprocessing", "threading"})


def warn_user(message, category=UserWarning):
    """Warn at the line that called the package, however deep in it the reason is found.

    Parameters
    ----------
    message : str
        What the user should know.
    category : type, default=UserWarning
        The class of the warning.
    """
    frame, level, outermost = sys._getframe(), 1, 1
    while frame.f_back is not None and _package(frame) in _PASSED_OVER:
        outermost = level if _package(frame) == "fasttree" else outermost
        frame, level = frame.f_back, level + 1
    is_worker = _package(frame) in _BEGINNINGS
    warnings.warn(message, category, stacklevel=outermost if is_worker else level)


def _package(frame):
    return str(frame.f_globals.get("__name__")).partition(".")[0]
