"""Large arrays of zeros of which few pages are written.

A node of a tree holds few of very many classes. NumPy asks for pages of two megabytes, and the
first number written to one clears it: most of such a fit went there, and the memory with it.
"""

import mmap
import platform
import sys
from contextlib import suppress
from math import prod

import numpy as np

__all__ = ["zeros"]

_IS_LINUX = sys.platform == "linux"
# Python names it from 3.13 on; this is what it is on these processors.
_NO_RESERVE = 0x4000 if platform.machine() in ("x86_64", "aarch64") else 0


def zeros(shape, n_written):
    """Return float64 zeros; pages that are never written to take no memory where few will be.

    Parameters
    ----------
    shape : tuple of int
        Shape of the array.
    n_written : int
        How many numbers will be written, at most.

    Returns
    -------
    ndarray, dtype=float64
        Writable and C-contiguous.

    Raises
    ------
    MemoryError
        If the pages that may be written to are not to be had.
    """
    size, touched = 8 * prod(shape), mmap.PAGESIZE * n_written
    if not _IS_LINUX or touched >= size:
        return np.zeros(shape)
    # Linux refuses to reserve more than there is, needed or not: what may be needed is asked for.
    np.empty(touched, dtype=np.uint8)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    except OSError as error:
        raise MemoryError(f"Unable to allocate {size} bytes for an array of {shape}.") from error
    with suppress(OSError):  # a kernel without large pages knows no advice on them
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages).reshape(shape)
