"""Many threads and processes at once: results are those of one, and nobody waits for ever."""

import itertools
import multiprocessing
import os
import subprocess
import sys
import sysconfig
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

from fasttree import config_context
from fasttree.tree import DecisionTreeClassifier
from fasttree.utils._crew import lead
from fasttree.utils._threads import dismiss_threads, openmp_enabled
from reference.jobs import KINDS, fitted, nested, problem, send

N_THREADS = 8
PATIENCE = 60  # seconds

needs_openmp = pytest.mark.skipif(not openmp_enabled(), reason="built without OpenMP")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("end", [0, 1, 64, 1000])
def test_pieces_are_shared_out_once(kernels, end, n_threads):
    for size in (1, 3, 64, 2000):
        times, taken = kernels.machine.share_out(end, size, n_threads, end)
        assert (times == 1).all()
        # Each thread goes through a part of its own, then through what is left of the others.
        n_pieces = len(range(0, end, size))
        for thread, pieces in enumerate(taken):
            parts = [
                range(n_pieces * part // n_threads, n_pieces * (part + 1) // n_threads)
                for part in ((thread + i) % n_threads for i in range(n_threads))
            ]
            order = [piece * size for part in parts for piece in part]
            assert pieces == sorted(pieces, key=order.index)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_the_first_failure_of_a_thread_is_raised(kernels, n_threads):
    with pytest.raises(IndexError, match=r"piece \d+"):
        kernels.machine.share_out(1000, 2, n_threads, 4)
    with pytest.raises(IndexError, match="thread 0"):
        kernels.machine.on_threads(n_threads, 0)
    times = kernels.machine.on_threads(n_threads, -1)
    assert times[0] == 1
    assert times.max() == 1


@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("n", [0, 1, 5, 100])
def test_a_crew_does_every_piece_of_every_job_once(kernels, n, n_threads):
    for n_present in {1, n_threads}:  # whoever is not there is not waited for
        assert (kernels.machine.share(n_threads, n_present, n, 40, -1) == 40).all()


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_a_piece_that_fails_ends_the_job_of_a_crew(kernels, n_threads):
    for fails in (0, 3, 99):
        with pytest.raises(IndexError, match=f"piece {fails}"):
            kernels.machine.share(n_threads, n_threads, 100, 2, fails)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_pieces_wait_for_those_of_the_first_stage(kernels, n_threads):
    for n_first in (1, 2, 5):
        found = np.array(kernels.machine.waited(n_threads, n_first, 20, -1))
        waits_for_all = np.arange(n_first, 20) % 2 == 1
        assert (found[waits_for_all] == n_first).all()
        assert (found >= 1).all()


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_nobody_waits_for_a_piece_that_fails(kernels, n_threads):
    for fails in (0, 1, 4, 12):
        with pytest.raises(IndexError, match=f"piece {fails}"):
            kernels.machine.waited(n_threads, 5, 20, fails)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
@pytest.mark.parametrize("n_parts", [1, 3, 8])
def test_steps_of_a_part_follow_each_other(kernels, n_threads, n_parts):
    for n_steps in (1, 2, 6):
        found = kernels.machine.steps(n_threads, n_parts, n_steps, -1)
        assert found == [list(range(n_steps))] * n_parts
    with pytest.raises(IndexError, match="step 2"):
        kernels.machine.steps(n_threads, n_parts, 4, 2)


@needs_openmp
@pytest.mark.parametrize("n_threads", [2, 3, 7])
def test_threads_work_beside_jobs(kernels, n_threads):
    done = kernels.machine.done_beside(n_threads, 100, -1)
    assert sum(done) == 100
    assert done[0] == 0  # the thread that leads
    assert kernels.machine.done_beside(n_threads, 100, 50) == []
    assert sum(kernels.machine.done_beside(1, 100, -1)) == 0


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_what_a_leader_returns_and_raises(n_threads):
    assert lead(n_threads, lambda _, *args: sum(args), (2, 3)) == 5
    with pytest.raises(ZeroDivisionError):
        lead(n_threads, lambda _, x: 1 // x, (0,))
    # A call within a call has fewer threads, perhaps, but ends.
    assert lead(n_threads, lambda *_: lead(n_threads, lambda *_: 7, ()), ()) == 7


def test_threads_take_their_own_pieces_first(kernels):
    turns = kernels.machine.turns
    assert turns(5, 2, [0, 1, 0, 1, 0, 0]) == [0, 1, 2, 3, 4, -1]
    assert turns(7, 2, [0] * 8) == [0, 2, 4, 6, 5, 3, 1, -1]  # then what others would do last
    assert turns(6, 3, [2, 2, 2, 2, 2, 2, 1]) == [2, 5, 3, 4, 0, 1, -1]
    assert turns(0, 3, [1]) == [-1]


def test_parts_that_threads_take_in_turns_become_shorter(kernels):
    begins = kernels.machine.guided_begins
    assert begins(100, 8, 2).tolist() == [0, 20, 40, 55, 70, 80, 90, 95, 100]
    assert begins(110, 5, 2).tolist() == [0, 30, 60, 80, 100, 110]
    assert begins(10, 2, 5).tolist() == [0, 5, 10]  # there are fewer parts than threads
    assert begins(2**31, 16, 16).tolist() == [2**27 * part for part in range(17)]
    for n in (0, 1, 10, 12_345, 2**32 - 1):
        for n_threads, n_parts in itertools.product((1, 2, 3, 7, 64), (1, 2, 5, 12, 28, 256)):
            ends = begins(n, n_parts, n_threads).astype(int)
            assert (ends[0], ends[-1]) == (0, n)
            lengths = np.diff(ends)
            assert (lengths >= 0).all()
            assert (np.diff(lengths) <= 1).all()  # but for the rounding


def test_what_follows_pieces_follows_in_their_order(kernels):
    for pieces in itertools.permutations(range(5)):
        for n_done in range(6):
            done = pieces[:n_done]
            n_followed = next(k for k in range(6) if k not in done)
            for within in (False, True):  # what is done within is followed by the same thread
                followed = kernels.machine.followed(5, list(done), within)
                assert followed == list(range(n_followed))
    for n_threads in (1, 2, 4):
        for n in (0, 1, 2, 100):
            assert kernels.machine.followed_on_threads(n_threads, n) == list(range(n))


@pytest.mark.skipif(
    not any(pool["prefix"] == "libgomp" for pool in threadpool_info())
    or not Path("/proc/self/task").exists(),
    reason="other run times may keep their threads, and only Linux shows them",
)
def test_dismissed_threads_are_gone_and_others_can_be_started(kernels):
    def n_threads_after(call):
        call()
        return len(os.listdir("/proc/self/task"))

    def work():
        n_before, n_busy = (n_threads_after(partial(kernels.machine.on_threads, n, -1))
                            for n in (1, 3))  # fmt: skip
        assert n_busy == n_before + 2
        # The system may take a moment to forget a thread that has ended.
        deadline = time.monotonic() + PATIENCE
        while n_threads_after(dismiss_threads) > n_before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert n_threads_after(dismiss_threads) == n_before
        assert (kernels.machine.on_threads(3, -1)[:3] == 1).all()

    with ThreadPoolExecutor(1) as pool:  # which has started no threads yet
        pool.submit(work).result(PATIENCE)


@pytest.mark.parametrize("n_threads", [1, pytest.param(2, marks=needs_openmp)])
def test_different_estimators(n_threads):
    jobs = [(KINDS[i % 4], i // 4 % 2, n_threads) for i in range(2 * N_THREADS)]
    expected = {job: fitted(*job[:2]) for job in set(jobs)}
    barrier = threading.Barrier(N_THREADS)

    def work(job):
        barrier.wait(PATIENCE)
        return fitted(*job)

    with ThreadPoolExecutor(N_THREADS) as pool:
        assert list(pool.map(work, jobs)) == [expected[job] for job in jobs]


@pytest.mark.parametrize("n_threads", [1, pytest.param(2, marks=needs_openmp)])
def test_one_fitted_estimator(n_threads):
    """Its first predictions pack the nodes: all threads want to at once."""
    X, y = problem(0)
    rows = sp.csr_matrix(X)
    expected = DecisionTreeClassifier(random_state=0).fit(X, y)
    proba, path = expected.predict_proba(X), expected.decision_path(X[:500]).toarray()
    alphas = expected.cost_complexity_pruning_path(X[:500], y[:500]).ccp_alphas
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    barrier = threading.Barrier(N_THREADS)

    def work(i):
        barrier.wait(PATIENCE)
        with config_context(n_threads=n_threads):
            for _ in range(3):
                assert (model.predict_proba(rows if i % 2 else X) == proba).all()
                assert (model.decision_path(X[:500]).toarray() == path).all()
                found = model.cost_complexity_pruning_path(X[:500], y[:500])
                assert (found.ccp_alphas == alphas).all()
        return True

    with ThreadPoolExecutor(N_THREADS) as pool:
        assert all(pool.map(work, range(N_THREADS)))


# ---- processes


@needs_openmp
@needs_fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_fork_after_threads(kind, n_threads):
    """OpenMP's threads do not come along; a child that asks for two runs one."""
    expected = fitted(kind, 0, n_threads=2)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=send, args=(sender, kind, n_threads))
    child.start()
    try:
        assert receiver.poll(PATIENCE), "the child hangs"
        assert receiver.recv() == expected
        child.join(PATIENCE)
        assert child.exitcode == 0
    finally:
        child.kill()


@needs_openmp
def test_spawn_after_threads():
    expected = fitted("dense", 0, n_threads=2)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(fitted, "dense", 0, 2).result(PATIENCE) == expected


@needs_openmp
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(backend):
    expected = [fitted(kind, 0, n_threads=2) for kind in KINDS]
    jobs = [joblib.delayed(fitted)(kind, 0, 2) for kind in KINDS]
    assert joblib.Parallel(2, backend=backend, timeout=PATIENCE)(jobs) == expected


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_nested_joblib(backend):
    found = joblib.Parallel(2, backend=backend, timeout=PATIENCE)(
        joblib.delayed(nested)(seed) for seed in range(3)
    )
    for seed in range(3):
        assert (found[seed] == nested(seed)).all()


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="Python was built with its lock"
)
def test_modules_do_not_bring_the_lock_back():
    code = "import sys, fasttree.tree, fasttree.optimal; print(sys._is_gil_enabled())"
    run = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["False"]
