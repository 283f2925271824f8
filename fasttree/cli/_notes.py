"""Warnings and errors of the library in words that a command line has."""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fasttree.cli._files import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["noted", "quiet"]


@contextmanager
def noted(names: Sequence[str]) -> Iterator[None]:
    """Write warnings as notes on stderr, each once."""
    with warnings.catch_warnings(record=True) as caught, _in_words(names):
        warnings.simplefilter("always", UserWarning)
        yield
    for message in dict.fromkeys(_in_line(warning.message, names) for warning in caught):
        print("fasttree: note:", message, file=sys.stderr)


@contextmanager
def quiet(names: Sequence[str] = ()) -> Iterator[None]:
    """Without warnings that only say what the command does: that arrays have no names, and that
    classes have fewer rows than there are folds."""
    with warnings.catch_warnings(), _in_words(names):
        warnings.simplefilter("ignore", UserWarning)
        yield


@contextmanager
def _in_words(names):
    try:
        yield
    except ValueError as error:
        raise CommandError(_in_line(error, names)) from error


def _in_line(message, names):
    """A message as one line, with parameters as options, and with the names of the columns that it
    numbers: the library was given an array."""

    def name(found):
        j = int(found[2])
        return f"{found[1]} {names[j]!r}" if j < len(names) else found[0]

    def option(found):
        return f"--{found[1].replace('_', '-')} {found[3]}"

    line = " ".join(re.sub(r"\b([Cc]olumn) (\d+)\b", name, str(message)).split())
    return re.sub(r"\b([a-z_]+)=(['\"])(\w+)\2", option, line)
