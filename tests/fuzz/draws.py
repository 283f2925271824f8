"""Draws from a seed, and the errors that a case may end in."""

import re
import struct

import numpy as np

__all__ = ["ALLOWED", "Draw", "Finding", "check_error", "literal", "same_bits"]

ALLOWED = (ValueError, TypeError, MemoryError)

# What Python, NumPy and Cython say when a check was forgotten.
_LEAK = re.compile(
    r"buffer source array|Buffer dtype mismatch|Buffer has wrong number|out of bounds|"
    r"assignment destination|not subscriptable|has no attribute|object is not iterable|"
    r"index out of range|cannot unpack|could not broadcast|operands could not|"
    r"not supported between instances of 'NoneType'$|unsupported operand|ssize_t|"
    r"std::|basic_string|^vector|bad_alloc|^'?\w*'?$"
)


class Finding(AssertionError):
    """Something that must not happen. `settings` are those under which it does."""

    def __init__(self, message, settings=()):
        super().__init__(message)
        self.settings = settings


def check_error(error, what):
    """Raise a Finding unless an error is one that users can act on."""
    text = str(error)
    if not isinstance(error, ALLOWED):
        raise Finding(f"{what} raises {type(error).__name__}: {text}") from error
    if not text.strip() or _LEAK.search(text):
        if isinstance(error, MemoryError):
            return
        raise Finding(f"{what}: {type(error).__name__} says {text!r}") from error


class Draw:
    """Random choices of one case.

    Parameters
    ----------
    seed : sequence of int
    without : set of str
        Names of alternatives that are left out.
    """

    def __init__(self, seed, without=frozenset()):
        self.rng = np.random.default_rng(seed)
        self.without = without

    def chance(self, probability):
        return self.rng.random() < probability

    def int(self, low, high):
        """An int from low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def one(self, values):
        """One of a sequence."""
        return values[int(self.rng.integers(len(values)))]

    def by_name(self, weights):
        """A key of a dict of weights, one that is not left out."""
        names = [name for name in weights if name not in self.without]
        bounds = np.cumsum([weights[name] for name in names])
        return names[int(np.searchsorted(bounds, self.rng.random() * bounds[-1], side="right"))]


def same_bits(a, b):
    """Whether two arrays are the same, NaN and signed zeros included."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def literal(value):
    """Source that makes a value, given ``np``, ``nan`` and ``inf``."""
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r}, dtype={value.dtype.str!r}).reshape({value.shape})"
    if isinstance(value, np.generic):
        return literal(value.item())
    if isinstance(value, float) and struct.pack("d", value) == struct.pack("d", float(repr(value))):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        inner = "".join(literal(item) + ", " for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    return repr(value)
