"""Many threads and processes at once: results are those of one, and nobody waits for ever."""

import multiprocessing
import os
import subprocess
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier

from fasttree import config_context
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.utils._threads import openmp_enabled

N_THREADS = 8
PATIENCE = 60  # seconds

needs_openmp = pytest.mark.skipif(not openmp_enabled(), reason="built without OpenMP")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def problem(seed, n=20_000):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10)).astype(np.float32)
    X[:, 5:] = X[:, 5:].round()
    return X, (X[:, 0] + X[:, 5] + rng.normal(size=n) > 0).astype(int)


def fitted(kind, seed, n_threads=1):
    """Nodes and values of a tree of each engine."""
    X, y = problem(seed)
    with config_context(n_threads=n_threads):
        if kind == "optimal":
            model = OptimalDecisionTreeClassifier(max_depth=3, n_thresholds=3).fit(X[:500], y[:500])
        elif kind == "sparse":
            model = DecisionTreeRegressor(max_depth=8).fit(sp.csc_matrix(X * (X > 0.5)), y)
        elif kind == "random":
            model = DecisionTreeRegressor(splitter="random", random_state=seed, max_depth=8)
            model.fit(X, y)
        else:
            model = DecisionTreeClassifier(max_features=5, random_state=seed).fit(X, y)
        found = model.predict(X)
    return model.tree_.nodes.tobytes(), found.tobytes()


KINDS = ["dense", "sparse", "random", "optimal"]


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


def test_fits_of_one_estimator():
    """Whoever is last, the tree is whole."""
    model = DecisionTreeClassifier()
    problems = [problem(seed, 2000) for seed in range(2)]
    trees = [DecisionTreeClassifier().fit(*each).tree_.nodes.tobytes() for each in problems]
    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(lambda i: model.fit(*problems[i % 2]), range(4 * N_THREADS)))
    assert model.tree_.nodes.tobytes() in trees


# ---- processes


def send(connection, kind, n_threads):
    connection.send(fitted(kind, 0, n_threads))


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
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(fitted, ("dense", 0, 2)).get(PATIENCE) == expected


@needs_openmp
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(backend):
    expected = [fitted(kind, 0, n_threads=2) for kind in KINDS]
    jobs = [joblib.delayed(fitted)(kind, 0, 2) for kind in KINDS]
    assert joblib.Parallel(2, backend=backend, timeout=PATIENCE)(jobs) == expected


def nested(seed):
    X, y = load_iris(return_X_y=True)
    model = BaggingClassifier(
        DecisionTreeClassifier(n_jobs=2), n_estimators=4, n_jobs=2, random_state=seed
    )
    return model.fit(X, y).predict_proba(X)


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
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["False"]
