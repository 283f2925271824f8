"""The C++ kernels of the engine as functions of arrays, in modules built for tests only.

``_machine``   instruction sets, threads
``_numbers``   logarithms, random numbers, wide sums, grids and records of targets
``_keys``      keys of cells, sorts, lists of nonzeros, nodes by their keys
``_bits``      bits of rows, partition and division by them, matrices of bits, orders of blocks
``_gathers``   cells, codes and bits of some rows: gathered, packed, decoded
``_sides``     sides of rows by position: marked, drawn, counted, moved
``_codes``     codes of few values, of texts and of buckets of keys
``_walk``      the walk of rows through a packed tree
``_compact``   the values of a grown tree in few bytes
``_subtrees``  a tree that threads grow, who leave parts of it to each other
``_nodes``     a node under any criterion: scans, screens, skips and bounds (``probe.hpp``)
``_optimal``   the kernels of the optimal search

Bindings check nothing: the tests pass what the engine would. ``simd`` is one of ``machine.SIMD``.

``kernels.hpp``, ``columns.hpp`` (encoding), ``count_tables.hpp``, ``subtrees.hpp`` and
``machine.hpp`` are the places that say which headers they are in; ``_shared.pxd`` declares what
several modules need. The fixture ``kernels`` builds them in ``build/`` of the repository by the
package's own meson files, with its flags, on first use and whenever a source has changed, and skips
where that takes a tool that is not there.
"""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    "machine",
    "numbers",
    "keys",
    "bits",
    "gathers",
    "sides",
    "codes",
    "walk",
    "compact",
    "subtrees",
    "nodes",
    "optimal",
)


def missing_tools(path):
    """What a build needs and is not installed."""
    compilers = [os.environ["CXX"].split()[0]] if "CXX" in os.environ else ["c++", "g++", "clang++"]
    tools = {"ninja": ["ninja"], "cython": ["cython"], "a C++ compiler": compilers}
    missing = [
        tool
        for tool, names in tools.items()
        if not any(shutil.which(name, path=path) for name in names)
    ]
    return missing + ["meson"] * (importlib.util.find_spec("mesonbuild") is None)


class MissingTools(Exception):
    """A build is impossible here."""


def build():
    """The modules, compiled if need be."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    if missing := missing_tools(path):
        raise MissingTools(f"building the kernels needs {', '.join(missing)}")
    folder = ROOT / "build" / f"kernels-{sys.implementation.cache_tag}"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    files = {name: f"tests/kernels/_{name}{suffix}" for name in MODULES}
    folder.parent.mkdir(exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        # One process of the run builds, the others wait for what it has built.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "build.ninja").exists():
            meson = [sys.executable, "-m", "mesonbuild.mesonmain"]
            run([*meson, "setup", str(folder), str(ROOT), "-Dkernel_tests=true"], path)
        run(["ninja", "-C", str(folder), *files.values()], path)
    return SimpleNamespace(**{name: load(name, folder / file) for name, file in files.items()})


def run(command, path):
    done = subprocess.run(
        command, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def load(name, file):
    spec = importlib.util.spec_from_file_location(f"_{name}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
