"""Memory that runs out: MemoryError from whatever is run, and the next run is right."""

import subprocess
import sys

import pytest
from allocation.sweep import build_shim, sweep, why_impossible
from allocation.workloads import WORKLOADS

PLAIN_SAMPLE = 3  # of the allocations of each workload

pytestmark = pytest.mark.plain_memory


def pytest_generate_tests(metafunc):
    """All workloads in one process, which costs little; in a full run each in its own."""
    if "names" in metafunc.fixturenames:
        is_full = metafunc.config.getoption("--full")
        groups = [[name] for name in WORKLOADS] if is_full else [list(WORKLOADS)]
        metafunc.parametrize("names", groups, ids=[g[0] if is_full else "sample" for g in groups])


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    if why_impossible():
        pytest.skip(why_impossible())
    return build_shim(tmp_path_factory.mktemp("shim"))


def test_failed_allocations(shim, names, request):
    sample = None if request.config.getoption("--full") else PLAIN_SAMPLE
    n_failed, problems = sweep(shim, names, sample)
    assert problems == []
    assert min(n_failed.values()) > 0


# A tree of a billion columns, as a tampered pickle makes one, and a gigabyte to walk it in.
TAMPERED = """
import resource
import numpy as np, psutil, scipy.sparse as sp
from fasttree.tree import DecisionTreeRegressor

tree = DecisionTreeRegressor(max_depth=2).fit(np.arange(8.0)[:, None], np.arange(8.0)).tree_
cls, (n_features, n_classes, n_outputs), state = tree.__reduce__()
tampered = cls(2**30, n_classes, n_outputs)
tampered.__setstate__(state)
limit = psutil.Process().memory_info().vms + 2**30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    {call}
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit of memory")
@pytest.mark.parametrize(
    "call",
    [
        "tampered.compute_partial_dependence(np.zeros((1, 1), np.float32), np.array([0]), "
        "np.zeros(1))",
        "tampered.predict(sp.csr_array((1, 2**30), dtype=np.float32))",
    ],
    ids=["partial dependence", "sparse predict"],
)
def test_trees_of_too_many_columns(call):
    said = subprocess.run(
        [sys.executable, "-P", "-c", TAMPERED.format(call=call)], capture_output=True, text=True
    )
    assert said.stdout == "MemoryError\n", said.stderr
