"""Fails allocations of the engine: ``python -m allocation.sweep [--sample N] [NAME...]``

A workload is run with its n-th allocation failing, and with all from the n-th on: each must raise
MemoryError, and the next run must give what a run without failures gives. It is done in processes
of their own, for what is looked for are crashes and hangs. Names are those of `WORKLOADS`, all of
them if there are none.
"""

import argparse
import ctypes
import faulthandler
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import joblib

HERE = Path(__file__).resolve().parent
SECONDS_PER_RUN = 30  # far more than any takes: more is a hang
ALL_THAT_FOLLOW = 1 << 60
MOST_PROBLEMS = 5


def why_impossible():
    """The reason why allocations cannot be failed here, or None."""
    if not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "__libc_malloc"):
        return "allocations are intercepted with the means of glibc"
    return None if compiler() else "there is no C++ compiler"


def compiler():
    """Words of the command that compiles C++, or None."""
    words = os.environ.get("CXX", "c++").split()
    return words if shutil.which(words[0]) else None


def build_shim(folder):
    """Compile the library to be preloaded; return its path."""
    shim = Path(folder) / "shim.so"
    options = ["-std=c++17", "-O1", "-fPIC", "-shared"]
    subprocess.run(
        [*compiler(), *options, str(HERE / "shim.cpp"), "-o", str(shim), "-ldl"], check=True
    )
    return shim


def sweep(shim, names, sample=None):
    """Run workloads in processes that the library is preloaded in.

    Parameters
    ----------
    shim : path
    names : list of str
    sample : int or None
        How many allocations of each workload to fail; all of them if None.

    Returns
    -------
    n_failed : dict
        Number of allocations that were failed, by name.
    problems : list of str
        What went otherwise than it should.
    """
    n_failed, problems = dict.fromkeys(names, 0), []
    place = names[0], 0
    while place is not None and len(problems) < MOST_PROBLEMS:
        place = _run_child(shim, names, sample, place, n_failed, problems)
    return n_failed, problems


def _run_child(shim, names, sample, place, n_failed, problems):
    """Run what comes after a place; return where the process died, or None."""
    left = names[names.index(place[0]) :]
    options = ["--after", str(place[1])] + (["--sample", str(sample)] if sample else [])
    child = subprocess.run(
        [sys.executable, "-m", "allocation.sweep", *options, "--", *left],
        cwd=HERE.parent,
        env=os.environ | {"LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
    )
    for line in child.stdout.splitlines():
        name, n, problem = json.loads(line)
        if problem is None:
            place = name, n
            n_failed[name] += 1
        else:
            problems.append(f"{name!r}, allocation {n}: {problem}")
    if child.returncode == 0:
        return None
    end = f"the process ended with {child.returncode}: {child.stderr[-2000:]}"
    problems.append(f"{place[0]!r}, allocation {place[1]}: {end}")
    return place


class Shim:
    """The library that this process has preloaded."""

    def __init__(self):
        self.preloaded = ctypes.CDLL(None)
        self.preloaded.shim_watch.restype = ctypes.c_bool
        self.preloaded.shim_begin.argtypes = [ctypes.c_long, ctypes.c_long]
        self.preloaded.shim_end.restype = ctypes.c_long
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None) or ""
            if name.startswith("fasttree.") and path.endswith(".so"):
                assert self.preloaded.shim_watch(path.encode()), path

    def run(self, function, first, last):
        """What the function returns or raises while allocations fail, and how many it made."""
        self.preloaded.shim_begin(first, last)
        try:
            result = joblib.hash(function())
        except BaseException as error:
            result = error
        return result, self.preloaded.shim_end()


def _sweep_here(names, sample, after):
    """The work of the process that has the library: say before each run what it will be."""
    from allocation.workloads import WORKLOADS

    shim = Shim()
    for name in names:
        function = WORKLOADS[name]
        expected = joblib.hash(function())
        _, n_allocations = shim.run(function, 0, 0)
        assert n_allocations > 0, f"{name!r} asks for no memory"
        for n in _chosen(name, n_allocations, sample):
            if n <= after:
                continue
            _say(name, n, None)
            for last in (n, ALL_THAT_FOLLOW):
                faulthandler.dump_traceback_later(SECONDS_PER_RUN, exit=True)
                result, n_seen = shim.run(function, n, last)
                # On threads the number is not the same every time.
                if n_seen >= n and not isinstance(result, MemoryError):
                    _say(name, n, f"{result!r} where MemoryError is due")
                elif n_seen < n and result != expected:
                    _say(name, n, f"{result!r} without a failure")
                if joblib.hash(function()) != expected:
                    _say(name, n, "the next run gives something else")
        after = 0
    faulthandler.cancel_dump_traceback_later()


def _chosen(name, n_allocations, sample):
    """Which allocations to fail, from 1 on."""
    everyone = range(1, n_allocations + 1)
    if sample is None or sample >= n_allocations:
        return everyone
    return sorted(random.Random(name).sample(everyone, sample))


def _say(*words):
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def main():
    """Sweep the workloads named, or do so in the process that has the library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, help="fail so many allocations of each, not all")
    parser.add_argument("--after", type=int, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.after is not None:
        return _sweep_here(options.names, options.sample, options.after)

    from allocation.workloads import WORKLOADS

    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(folder)
        for name in options.names or WORKLOADS:
            n_failed, problems = sweep(shim, [name], options.sample)
            sys.stdout.write(
                "".join(f"{line}\n" for line in [f"{name}: {n_failed[name]}", *problems])
            )
            sys.stdout.flush()
    return None


if __name__ == "__main__":
    main()
