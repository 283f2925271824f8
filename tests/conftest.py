"""Options and fixtures of the test run.

``pytest --full`` runs every case; plain ``pytest`` a seeded tenth of it.
``@pytest.mark.cases(n)`` gives a test the argument ``seed``, from 0 to n - 1 in a full run and
every tenth of them in a plain one, so that one failing case is run again by its number.
``@pytest.mark.plain_memory`` is for tests that limit or measure the memory of a process or replace
how it allocates: sanitizers (``.ci/sanitize``) do the last and need much more of it.
"""

import gc
import os
import signal
import sys
import threading
from pathlib import Path

# ``python -m pytest`` puts the root of the repository on the path, where the source folder would
# shadow the installed package.
ROOT = Path(__file__).resolve().parent.parent
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]

# The processes of a run share the CPUs: threads that wait by spinning take the time of others. The
# libraries read this when they are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis  # noqa: E402
import matplotlib  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from kernels import MissingTools, build  # noqa: E402
from sklearn.conftest import pyplot  # noqa: E402, F401  (a fixture of scikit-learn's own tests)
from sklearn_suite import SUITES, Suite, retargeted  # noqa: E402, F401

PLAIN_SHARE = 10


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="run every case, not a seeded tenth")


def pytest_configure(config):
    config.addinivalue_line("markers", "cases(n): run for the seeds 0 .. n - 1 (a tenth if plain)")
    config.addinivalue_line("markers", "thread_unsafe: of scikit-learn's own tests")
    config.addinivalue_line("markers", "plain_memory: skipped under sanitizers")
    matplotlib.use("agg")
    if threading.current_thread() is threading.main_thread():
        # Jobs started in the background ignore SIGINT, which tests of interrupts send.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    hypothesis.settings.register_profile("plain", deadline=None, derandomize=True, max_examples=40)
    hypothesis.settings.register_profile("full", deadline=None, derandomize=True, max_examples=400)
    hypothesis.settings.load_profile("full" if config.getoption("--full") else "plain")


def pytest_xdist_auto_num_workers(config):
    """One file or test is run in this process, which starts sooner; None is a process per CPU."""
    is_one = len(config.args) == 1 and not Path(config.args[0].partition("::")[0]).is_dir()
    return 0 if is_one else None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """The items and modules, millions of objects, stay: garbage is not looked for among them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_generate_tests(metafunc):
    marker = metafunc.definition.get_closest_marker("cases")
    if marker is not None:
        step = 1 if metafunc.config.getoption("--full") else PLAIN_SHARE
        metafunc.parametrize("seed", range(0, marker.args[0], step))


def pytest_runtest_setup(item):
    is_sanitized = any(name in os.environ.get("LD_PRELOAD", "") for name in ("asan", "tsan"))
    if is_sanitized and item.get_closest_marker("plain_memory") is not None:
        pytest.skip("sanitizers have an allocator of their own")


@pytest.fixture(params=[42])
def global_random_seed(request):
    """The seed of scikit-learn's own tests."""
    return request.param


@pytest.fixture(scope="session")
def kernels():
    """The C++ kernels as functions of arrays; see ``kernels/__init__.py``."""
    try:
        return build()
    except MissingTools as reason:
        pytest.skip(str(reason))


def _simd(kernels, name):
    if not kernels.machine.has_simd(name):
        pytest.skip(f"this machine has no {name}")
    return kernels.machine.SIMD[name]


@pytest.fixture(params=["portable", "avx2", "avx512"])
def simd(request, kernels):
    """Each instruction set of the engine; those of the optimal search are its own."""
    return _simd(kernels, request.param)


@pytest.fixture
def avx512(kernels):
    return _simd(kernels, "avx512")


@pytest.fixture(params=["avx2", "avx512"])
def vectors(request, kernels):
    """Each instruction set with vectors."""
    return _simd(kernels, request.param)


@pytest.fixture
def table(tmp_path):
    """A function that writes a CSV file of three columns and the given target."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 50, (60, 3))

    def write(target):
        path = tmp_path / "table.csv"
        lines = ["a,b,c,target"]
        for row, value in zip(rows, target(rows), strict=True):
            lines.append(",".join(map(str, [*row, value])))
        path.write_text("\n".join(lines))
        return str(path)

    return write


def pytest_pycollect_makemodule(module_path, parent):
    if module_path.name in SUITES:
        return Suite.from_parent(parent, path=module_path)
    return None
