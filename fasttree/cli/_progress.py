"""What a command is doing, on stderr, while it takes long."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Self

    from fasttree.optimal._progress import SearchProgress

__all__ = ["Progress", "TreesGrown"]

_CLEAR = "\r\x1b[K"


class Progress:
    """Lines about the work: on a terminal one that is written over and wiped at the end, else with
    ``--verbose`` one per second, else none.

    Parameters
    ----------
    verbose : bool
        Whether to write lines that stay.
    """

    def __init__(self, verbose: bool) -> None:
        self.is_transient = not verbose and sys.stderr.isatty()
        self.is_on = verbose or self.is_transient
        self._next = 0.0

    def tell(self, text: str) -> None:
        """Say what is done now."""
        if not self.is_on:
            return
        if self.is_transient:
            width = shutil.get_terminal_size().columns - 1
            text = f"{_CLEAR}{text[:width]}"
        else:
            text = f"fasttree: {text}\n"
        sys.stderr.write(text)
        sys.stderr.flush()
        self._next = time.monotonic() + (0.1 if self.is_transient else 1.0)

    def count(self, text: str) -> None:
        """Say how far it has come, unless something was said just now."""
        if self.is_on and time.monotonic() >= self._next:
            self.tell(text)

    def search(self, state: SearchProgress) -> None:
        """As the callback of an optimal tree."""
        self.count(
            f"searching: {state.elapsed:.0f} s, objective {state.objective:.5f}, "
            f"bound {state.lower_bound:.5f}"
        )

    def clear(self) -> None:
        """Wipe the line away, before something else is written."""
        if self.is_transient:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()


class TreesGrown:
    """A callback of forests, as scikit-learn defines these, that counts trees.

    Parameters
    ----------
    progress : Progress
        Is told.
    n_trees : int
        How many there will be.
    """

    def __init__(self, progress: Progress, n_trees: int) -> None:
        self.progress, self.n_trees, self.n_grown = progress, n_trees, 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing is to be prepared."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing is left behind."""

    def on_fit_task_begin(self, estimator: Any, context: Any, **about: Any) -> None:
        """A tree is about to be taken over."""

    def on_fit_task_end(self, estimator: Any, context: Any, **about: Any) -> None:
        """A tree has grown, or all have."""
        self.n_grown += context.task_name == "tree"
        self.progress.count(f"growing: {self.n_grown} of {self.n_trees} trees")
