"""Every public call that can run for seconds gives way to a signal, on one thread and on two.

Each would otherwise run for much longer than it may take here; what is asserted is no speed: on
an idle machine all stop within a second (``asv_bench/scripts/interrupt_latency.py``).
"""

import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import long_calls
import pytest

from fasttree.utils._threads import openmp_enabled

LIMIT = 3.0
ENGINE = Path(__file__).parent.parent / "fasttree/engine"

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread(),
    reason="a timer's signal is needed, and the thread that handles signals",
)


def stop(name, n_threads):
    if n_threads > 1 and not openmp_enabled():
        pytest.skip("built without OpenMP")
    call = long_calls.LONG[name]()
    with long_calls.threads(n_threads):
        seconds = long_calls.latency(call, 0.3)
    assert seconds is not None, "the call was over before the signal: it is too short for a test"
    assert seconds < LIMIT


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("name", long_calls.PLAIN)
def test_interrupt(name, n_threads):
    stop(name, n_threads)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("name", [name for name in long_calls.LONG if name not in long_calls.PLAIN])
def test_interrupt_of_the_others(name, n_threads, request):
    if not request.config.getoption("--full"):
        pytest.skip("run by --full")
    stop(name, n_threads)


def test_an_encoding_looks_for_signals_wherever_threads_go_through_columns():
    """The loops of an encoding are short of themselves, but there may be many columns."""
    encoder, sample = (
        re.split(r"\n    (?=\w+ \w+\()", (ENGINE / name).read_text())
        for name in ("columns/encoder.hpp", "order/sample.hpp")
    )
    functions = [f for f in encoder if f.startswith("bool ")]
    functions += [f for f in sample if re.match(r"bool .*Crew& crew\)", f)]
    assert len(functions) >= 9
    looks = re.compile(r"\b(crew_?\.(each|each_step|look)|sort_columns)\(")
    assert [f.split("(")[0] for f in functions if not looks.search(f.partition("{")[2])] == []


HANDLER = """
import signal
import numpy as np
from fasttree.tree import EncodedData
rng, shape = np.random.default_rng(0), (500_000, {n_features})
X = {cells}.astype(np.float32)
X.flags.writeable = False  # so that it need not be copied
data = EncodedData(X)
calls = []
signal.signal(
    signal.SIGALRM, lambda *_: calls.append((bool(data._encoding.made()), data.prepare().shape))
)
signal.setitimer(signal.ITIMER_REAL, 0.03)
data.prepare()
print(calls)
"""


@pytest.mark.parametrize(
    ("n_features", "cells"),
    [
        (20, "rng.random(shape)"),
        (80, "rng.integers(0, 100, shape, np.uint8)"),
        (300, "rng.integers(0, 2, shape, np.uint8)"),
    ],
    ids=["many values", "few values", "two values"],
)
def test_a_handler_may_encode_the_data_that_is_being_encoded(tmp_path, n_features, cells):
    """It is called before anything has been made."""
    done = subprocess.run(
        [sys.executable, "-c", HANDLER.format(n_features=n_features, cells=cells)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (
        0,
        f"[(False, (500000, {n_features}))]",
    ), done.stderr


def test_next_fit_is_right():
    """What was given up leaves nothing behind."""
    from sklearn.datasets import load_iris

    from fasttree.tree import DecisionTreeClassifier

    call = long_calls.fit_gini()
    assert long_calls.latency(call, 0.3) is not None
    model, (X, y) = call.func.__self__, load_iris(return_X_y=True)
    expected = DecisionTreeClassifier().fit(X, y).tree_
    assert (model.fit(X, y).tree_.nodes == expected.nodes).all()
