"""Fails allocations of the engine one by one: ``python -m allocation.sweep [--step N] NAME...``

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
import shutil
import subprocess
import sys
from pathlib import Path

import joblib

HERE = Path(__file__).resolve().parent
SECONDS_PER_RUN = 120  # far more than any takes: more is a hang
ALL_THAT_FOLLOW = 1 << 60


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


def sweep(shim, names, step=1, offset=0):
    """Run workloads in processes that the library is preloaded in.

    Returns
    -------
    counts : dict
        How often each workload was run with a failure.
    problems : list of str
        What went otherwise than it should, with the command that shows it.
    """
    counts, problems = dict.fromkeys(names, 0), []
    place = [names[0], offset + 1]
    while place is not None:
        place = _run_child(shim, names, step, place, counts, problems)
    return counts, problems


def _run_child(shim, names, step, place, counts, problems):
    """Run what is left from `place` on; return where to go on if the process died, else None."""
    left = names[names.index(place[0]) :]
    child = subprocess.Popen(
        [sys.executable, "-m", "allocation.sweep", "--child", str(place[1]), "--step", str(step)]
        + left,
        cwd=HERE.parent,
        env=os.environ | {"LD_PRELOAD": str(shim)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said, errors = child.communicate()
    for line in said.splitlines():
        name, n, problem = json.loads(line)
        if problem is None:
            place = [name, n]
            counts[name] += 1
        else:
            problems.append(f"{name!r}, allocation {n}: {problem}")
    if child.returncode == 0:
        return None
    end = f"died with {child.returncode}: {errors[-2000:]}"
    problems.append(f"{place[0]!r}, allocation {place[1]}: {end}")
    if len(problems) > MOST_PROBLEMS:
        return None
    return [place[0], place[1] + step]


MOST_PROBLEMS = 40


class Shim:
    """The library that this process has preloaded."""

    def __init__(self):
        self.library = ctypes.CDLL(None)
        self.library.shim_watch.restype = ctypes.c_bool
        self.library.shim_begin.argtypes = [ctypes.c_long, ctypes.c_long]
        self.library.shim_end.restype = ctypes.c_long
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None) or ""
            if name.startswith("fasttree.") and path.endswith(".so"):
                assert self.library.shim_watch(path.encode()), path

    def run(self, function, first, last):
        """What the function returns or raises while allocations fail, and how many it made."""
        self.library.shim_begin(first, last)
        try:
            result = joblib.hash(function())
        except BaseException as error:
            result = error
        return result, self.library.shim_end()


def _sweep_here(names, step, start):
    """The work of the process that has the library: say before each run what it will be."""
    from allocation.workloads import WORKLOADS

    shim = Shim()
    for name in names:
        function = WORKLOADS[name]
        expected = joblib.hash(function())
        _, n_allocations = shim.run(function, 0, 0)
        assert n_allocations > 0, f"{name!r} allocates nothing"
        for n in range(start, n_allocations + 1, step):
            for last in (n, ALL_THAT_FOLLOW):
                _say(name, n, None)
                faulthandler.dump_traceback_later(SECONDS_PER_RUN, exit=True)
                result, n_seen = shim.run(function, n, last)
                # On threads the number is not the same every time.
                if n_seen >= n and not isinstance(result, MemoryError):
                    _say(name, n, f"{result!r} where MemoryError is due")
                elif n_seen < n and result != expected:
                    _say(name, n, f"{result!r} without a failure")
                if joblib.hash(function()) != expected:
                    _say(name, n, "the next run gives something else")
        start = 1 + (start - 1) % step
    faulthandler.cancel_dump_traceback_later()


def _say(*words):
    print(json.dumps(words), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, default=1, help="take every N-th allocation only")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.child is not None:
        return _sweep_here(options.names, options.step, options.child)
    import tempfile

    from allocation.workloads import WORKLOADS

    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(folder)
        for name in options.names or WORKLOADS:
            counts, problems = sweep(shim, [name], options.step)
            print(name, counts[name], *problems, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
