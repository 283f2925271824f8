"""Settings are local to a context, checked, and put back; threads follow them."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
import threadpoolctl

import fasttree
from fasttree import config_context, get_config, set_config
from fasttree.utils._parallel import Parallel, map_on_threads
from fasttree.utils._threads import effective_n_threads, n_threads_wanted, openmp_enabled

DEFAULTS = {
    "strategy": "auto",
    "simd": "auto",
    "n_threads": None,
    "sklearn_random_stream": False,
}

needs_openmp = pytest.mark.skipif(not openmp_enabled(), reason="built without OpenMP")


def fresh(function):
    """Run a function in a thread of its own: a context with the defaults."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_defaults():
    assert fresh(lambda: dict(get_config())) == DEFAULTS


def test_settings_cannot_be_changed_behind_the_back():
    with pytest.raises(TypeError):
        get_config()["strategy"] = "sort"


def test_context_nests_and_ends():
    with config_context(strategy="sort", n_threads=3):
        with config_context(strategy="count", sklearn_random_stream=True):
            assert get_config() == {
                **DEFAULTS,
                "strategy": "count",
                "n_threads": 3,
                "sklearn_random_stream": True,
            }
            with config_context(n_threads=None):
                assert get_config()["n_threads"] is None
        assert get_config()["strategy"] == "sort"
        assert get_config()["sklearn_random_stream"] is False


def test_context_ends_on_error():
    before = dict(get_config())
    with pytest.raises(ZeroDivisionError), config_context(strategy="sort"):
        raise ZeroDivisionError
    assert get_config() == before


def test_set_config_lasts_in_its_context_only():
    def change():
        set_config(strategy="presort")
        set_config(n_threads=2)
        return dict(get_config()), fresh(lambda: dict(get_config()))

    here, elsewhere = fresh(change)
    assert here == {**DEFAULTS, "strategy": "presort", "n_threads": 2}
    assert elsewhere == DEFAULTS
    assert get_config()["strategy"] == "auto"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"strategy": "fast"}, ValueError, "strategy must be one of"),
        ({"strategy": None}, ValueError, "strategy must be one of"),
        ({"strategy": []}, ValueError, "strategy must be one of"),
        ({"simd": "avx"}, ValueError, "simd must be one of"),
        ({"n_threads": 0}, ValueError, "between 1 and"),
        ({"n_threads": -1}, ValueError, "between 1 and"),
        ({"n_threads": 10**6}, ValueError, "between 1 and"),
        ({"n_threads": 1.0}, TypeError, "None or an int"),
        ({"n_threads": True}, TypeError, "None or an int"),
        ({"sklearn_random_stream": 1}, TypeError, "True or False"),
        ({"colour": "red"}, TypeError, "colour"),
    ],
)
def test_bad_settings(settings, error, message):
    before = dict(get_config())
    with pytest.raises(error, match=message):
        set_config(**settings)
    with pytest.raises(error, match=message), config_context(**settings):
        pass
    assert get_config() == before


def test_numpy_integers_are_integers():
    with config_context(n_threads=np.int64(2)):
        assert type(get_config()["n_threads"]) is int


# ---- threads


def test_one_thread_unless_asked():
    assert effective_n_threads() == effective_n_threads(None) == effective_n_threads(1) == 1


def test_n_jobs_zero():
    with pytest.raises(ValueError, match="n_jobs=0"):
        effective_n_threads(0)


@needs_openmp
def test_setting_overrides_everything():
    with config_context(n_threads=7), threadpoolctl.threadpool_limits(1):
        assert effective_n_threads(None) == effective_n_threads(2) == 7


@needs_openmp
def test_limits_of_openmp():
    with threadpoolctl.threadpool_limits(4, user_api="openmp"):
        assert effective_n_threads(3) == 3
        assert effective_n_threads(100) == 4
        n_cpus = min(4, joblib.cpu_count())
        assert effective_n_threads(-1) == n_cpus
        assert effective_n_threads(-n_cpus) == 1
        assert effective_n_threads(-1000) == 1
    with threadpoolctl.threadpool_limits(1, user_api="openmp"):
        assert effective_n_threads(-1) == effective_n_threads(2) == 1


@needs_openmp
def test_joblib_contexts():
    with threadpoolctl.threadpool_limits(4, user_api="openmp"):
        with joblib.parallel_config(backend="threading", n_jobs=3):
            assert effective_n_threads(None) == 3
            assert effective_n_threads(2) == 2


@needs_openmp
@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_untold_workers_start_no_threads(backend):
    with threadpoolctl.threadpool_limits(4, user_api="openmp"):
        found = joblib.Parallel(2, backend=backend)(
            joblib.delayed(effective_n_threads)(-1) for _ in range(4)
        )
    assert found == [1, 1, 1, 1]


@needs_openmp
def test_worker_processes_keep_to_their_share():
    n_cpus = joblib.cpu_count()
    found = joblib.Parallel(n_cpus, backend="loky")(
        joblib.delayed(effective_n_threads)(-1) for _ in range(4)
    )
    assert found == [1, 1, 1, 1]


@needs_openmp
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_settings_reach_workers(backend):
    """fasttree's and scikit-learn's, also of jobs that are handed out late."""
    run = Parallel(2, backend=backend, pre_dispatch=1, batch_size=1)
    with config_context(n_threads=7), sklearn.config_context(assume_finite=True):
        n_threads = run(joblib.delayed(n_threads_wanted)(1) for _ in range(6))
        settings = run(joblib.delayed(sklearn.get_config)() for _ in range(6))
    assert n_threads == [7] * 6
    assert [each["assume_finite"] for each in settings] == [True] * 6
    assert effective_n_threads(1) == 1
    assert run(joblib.delayed(n_threads_wanted)(1) for _ in range(6)) == [1] * 6


# ---- import


def test_source_folder_is_recognised(tmp_path):
    package = tmp_path / "fasttree"
    package.mkdir()
    for name in ["__init__.py", "_config.py"]:
        source = fasttree.__file__.replace("__init__.py", name)
        package.joinpath(name).write_text(Path(source).read_text())
    package.joinpath("meson.build").touch()
    package.joinpath("utils").mkdir()
    package.joinpath("utils", "__init__.py").touch()
    run = subprocess.run(
        [sys.executable, "-S", "-c", "import fasttree"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "source folder" in run.stderr
    assert "pip install ." in run.stderr


def test_import_is_light():
    code = "import sys, fasttree; print('numpy' in sys.modules, 'sklearn' in sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["False", "False"]


def test_results_of_threads_come_in_order_with_the_settings():
    with fasttree.config_context(strategy="sort"):
        calls = map_on_threads(3, lambda i, k: (i * k, fasttree.get_config()["strategy"]),
                               range(20), [2] * 20)  # fmt: skip
        assert list(calls) == [(2 * i, "sort") for i in range(20)]


def test_what_has_not_begun_is_dropped_after_a_failure():
    begun = []

    def fail(i):
        begun.append(i)
        time.sleep(0.01)
        raise LookupError(i)

    with pytest.raises(LookupError, match="0"):
        list(map_on_threads(2, fail, range(1000)))
    assert len(begun) < 1000
