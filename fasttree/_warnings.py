"""Warnings that point at the user's own line."""

import sys
import warnings

__all__ = ["warn_user"]

# Between a user's line and a warning stand calls of these alone.
_PASSED_OVER = frozenset({"fasttree", "joblib", "sklearn"})


def warn_user(message, category=UserWarning):
    """Warn at the line that called the package, however deep in it the reason is found.

    Parameters
    ----------
    message : str
        What the user should know.
    category : type, default=UserWarning
        The class of the warning.
    """
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _package(frame) in _PASSED_OVER:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(frame):
    return frame.f_globals.get("__name__", "").partition(".")[0]
