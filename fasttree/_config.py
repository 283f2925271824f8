"""Settings that say how a tree is grown, without being parameters of a model.

They live in one context variable, so a setting made in one thread or task is not seen in another.
The jobs that fasttree gives to joblib take them along (utils/_parallel.py). A fit reads them once,
at its start.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from fasttree._typing import InstructionSet, Strategy

__all__ = ["config_context", "get_config", "set_config"]

STRATEGIES = ("auto", "presort", "count", "sort")
SIMD = ("auto", "avx2", "portable")
MAX_THREADS = 1024  # an OpenMP run time that cannot start a thread ends the process

_config = ContextVar(
    "fasttree_config",
    default=MappingProxyType(
        {"strategy": "auto", "simd": "auto", "n_threads": None, "sklearn_random_stream": False}
    ),
)


class _Keep:
    """Stands for a setting that is not to be changed (None is a value of `n_threads`)."""

    def __repr__(self):
        return "<unchanged>"


_KEEP = _Keep()


def get_config() -> Mapping[str, Any]:
    """Return the settings in force in this context.

    Returns
    -------
    mapping of str to object
        Read-only; the keys are the parameters of :func:`config_context`.

    Examples
    --------
    >>> import fasttree
    >>> fasttree.get_config()["strategy"]
    'auto'
    """
    return _config.get()


def growth_options() -> dict[str, Any]:
    """Return what the settings in force say to a tree builder."""
    config = get_config()
    return {
        "strategy": config["strategy"],
        "simd": config["simd"],
        "replay": config["sklearn_random_stream"],
    }


def set_config(
    *,
    strategy: Strategy | _Keep = _KEEP,
    simd: InstructionSet | _Keep = _KEEP,
    n_threads: int | _Keep | None = _KEEP,
    sklearn_random_stream: bool | _Keep = _KEEP,
) -> None:
    """Change settings in this context until they are changed again.

    Parameters
    ----------
    strategy : {"auto", "presort", "count", "sort"}
        See :func:`config_context`, as for the others.
    simd : {"auto", "avx2", "portable"}
        Instruction set.
    n_threads : int or None
        Number of threads for everything.
    sklearn_random_stream : bool
        Whether to grow scikit-learn's trees.

    Raises
    ------
    TypeError
        If a value has the wrong type.
    ValueError
        If a value is not one of those allowed.

    Examples
    --------
    >>> import fasttree
    >>> fasttree.set_config(n_threads=2)
    >>> fasttree.get_config()["n_threads"]
    2
    >>> fasttree.set_config(n_threads=None)
    """
    _config.set(_updated(strategy, simd, n_threads, sklearn_random_stream))


@contextmanager
def config_context(
    *,
    strategy: Strategy | _Keep = _KEEP,
    simd: InstructionSet | _Keep = _KEEP,
    n_threads: int | _Keep | None = _KEEP,
    sklearn_random_stream: bool | _Keep = _KEEP,
) -> Iterator[None]:
    """Change settings inside a ``with`` block.

    Settings that are not given keep their values. They begin as ``strategy="auto"``,
    ``simd="auto"``, ``n_threads=None`` and ``sklearn_random_stream=False``.

    Parameters
    ----------
    strategy : {"auto", "presort", "count", "sort"}
        How the rows of a node are put into the order of a feature. "auto" chooses the cheapest way
        for each node and column, the others force one. The tree is the same, only time and memory
        differ.
    simd : {"auto", "avx2", "portable"}
        Instruction set: the best that the processor has, at most AVX2, or what every processor has.
        Trees and predictions are the same.
    n_threads : int or None
        Number of threads for everything, at most 1024. It overrides `n_jobs` and the limits of
        OpenMP and joblib; None leaves the choice to these.
    sklearn_random_stream : bool
        Draw random numbers, settle ties and score splits as scikit-learn does, so that the same
        `random_state` gives scikit-learn's tree. Such trees are grown on one thread.

    Yields
    ------
    None
        The settings hold inside the block.

    Raises
    ------
    TypeError
        If a value has the wrong type.
    ValueError
        If a value is not one of those allowed.

    Examples
    --------
    >>> import fasttree
    >>> with fasttree.config_context(strategy="presort", n_threads=2):
    ...     fasttree.get_config()["strategy"]
    'presort'
    """
    token = _config.set(_updated(strategy, simd, n_threads, sklearn_random_stream))
    try:
        yield
    finally:
        _config.reset(token)


def _updated(strategy, simd, n_threads, sklearn_random_stream):
    """Return the current settings with the given ones checked and put in."""
    settings = dict(_config.get())
    if strategy is not _KEEP:
        if strategy not in STRATEGIES:
            raise ValueError(f"strategy must be one of {STRATEGIES}, got {strategy!r}.")
        settings["strategy"] = strategy
    if simd is not _KEEP:
        if simd not in SIMD:
            raise ValueError(f"simd must be one of {SIMD}, got {simd!r}.")
        settings["simd"] = simd
    if n_threads is not _KEEP:
        settings["n_threads"] = _checked_n_threads(n_threads)
    if sklearn_random_stream is not _KEEP:
        if not isinstance(sklearn_random_stream, bool):
            raise TypeError(
                f"sklearn_random_stream must be True or False, got {sklearn_random_stream!r}."
            )
        settings["sklearn_random_stream"] = sklearn_random_stream
    return MappingProxyType(settings)


def _checked_n_threads(n_threads):
    if n_threads is None:
        return None
    if not isinstance(n_threads, Integral) or isinstance(n_threads, bool):
        raise TypeError(f"n_threads must be None or an int, got {n_threads!r}.")
    if not 1 <= n_threads <= MAX_THREADS:
        raise ValueError(f"n_threads must lie between 1 and {MAX_THREADS}, got {n_threads}.")
    return int(n_threads)
