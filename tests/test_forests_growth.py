"""The same forest on any threads and back-ends; fits that go on and are watched."""

import pickle
import warnings
import weakref

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fasttree
from fasttree.ensemble import (
    ExtraTreesClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from fasttree.ensemble._growth import threads_of_trees
from reference.forests import X, assert_same_forest, each_forest, prediction, refitted, y
from reference.trees import assert_same

rng = np.random.default_rng(1)

# ---- the same forest, however it is grown


@each_forest
@pytest.mark.parametrize("n_threads", [2, 4])
def test_threads(Forest, n_threads):
    settings = {"random_state": 2, "oob_score": True, "bootstrap": True, "n_estimators": 20}
    expected = Forest(**settings).fit(X, y)
    with fasttree.config_context(n_threads=n_threads):
        forest = Forest(**settings).fit(X, y)
        assert_array_equal(prediction(forest), prediction(expected))
    assert_same_forest(forest, expected)
    assert forest.oob_score_ == expected.oob_score_


@each_forest
@pytest.mark.parametrize("setting", [{"simd": "portable"}, {"simd": "avx2"},
                                     {"strategy": "presort"}, {"strategy": "count"},
                                     {"strategy": "sort"}])  # fmt: skip
@pytest.mark.parametrize("largest", [1, 50, 9000])
def test_switches_of_speed(Forest, setting, largest):
    """Weights of different sizes are summed in different ways."""
    source = np.random.default_rng(largest)
    rows = source.normal(size=(900, 5)).round(2)
    target = (rows[:, 0] + source.normal(size=900) > 0).astype(int)
    weights = source.integers(1, largest + 1, 900)
    forest = Forest(4, random_state=0, bootstrap=largest == 1)
    with fasttree.config_context(**setting):
        other = clone(forest).fit(rows, target, sample_weight=weights)
    assert_same_forest(other, forest.fit(rows, target, sample_weight=weights))


@pytest.mark.parametrize("is_one_value", [True, False])
def test_buckets_of_very_many_rows(kernels, is_one_value):
    """The sample that limits of buckets come from sees one value where there are one or many."""
    source = np.random.default_rng(0)
    rows = source.normal(size=(60_000, 4)).astype(np.float32)
    sampled = kernels.codes.bucket_sample_rows(len(rows))
    rows[:, 0] = 0.0 if is_one_value else source.uniform(-0.01, 0.01, len(rows))
    seen = [-0.02, 0.0, 0.02] if is_one_value else [-0.02, 0.02]
    rows[sampled, 0] = np.resize(seen, len(sampled))
    rows[:600, 0] = source.normal(size=600)
    target = (rows[:, 0] + source.normal(size=len(rows)) > 0).astype(int)
    forest = RandomForestClassifier(2, random_state=0, max_features=1, max_depth=6)
    with fasttree.config_context(strategy="presort"):
        expected = clone(forest).fit(rows, target)
    assert_same_forest(forest.fit(rows, target), expected)


def test_more_threads_than_trees():
    big = np.tile(X, (8, 1)) + rng.normal(size=(4000, 6))
    target = np.tile(y, 8)
    expected = RandomForestClassifier(2, random_state=0).fit(big, target)
    with fasttree.config_context(n_threads=5):
        assert_same_forest(RandomForestClassifier(2, random_state=0).fit(big, target), expected)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.parametrize("rows", [X, sp.csr_matrix(X)])
def test_backends(backend, rows):
    forest = RandomForestClassifier(5, random_state=0, class_weight="balanced_subsample")
    expected = clone(forest).fit(rows, y)
    with joblib.parallel_config(backend, n_jobs=2):
        assert_same_forest(clone(forest).fit(rows, y), expected)


def test_processes_map_large_arrays():
    """They are read-only there."""
    big = rng.normal(size=(30_000, 9)).astype(np.float32)
    target = (big[:, 0] > 0).astype(int)
    expected = ExtraTreesClassifier(2, random_state=0, max_depth=4).fit(big, target)
    with joblib.parallel_config("loky", n_jobs=2):
        assert_same_forest(clone(expected).fit(big, target), expected)


def test_dask():
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    forest = RandomForestClassifier(6, random_state=0)
    expected = clone(forest).fit(X, y)
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask") as config,
    ):
        warnings.simplefilter("ignore")  # distributed's own
        with distributed.get_task_stream(client) as tasks:
            assert_same_forest(clone(forest).fit(X, y), expected)
        assert len({task["worker"] for task in tasks.data}) == 2
        assert not config["backend"].data_futures


def test_a_plan_says_how_large_it_is():
    """Dask sends what is large once, and asks `sys.getsizeof`."""
    import sys

    from fasttree.ensemble._growth import Plan
    from fasttree.tree._data import TrainingData
    from fasttree.tree._encoding import encoding_of

    cells = np.zeros((1000, 10), dtype=np.float32)
    data = TrainingData(encoding_of(cells, None, True), np.zeros((1000, 1)))
    plan = Plan(None, data, None, False)
    assert sys.getsizeof(plan) > cells.nbytes
    assert len(pickle.dumps(plan)) < 1.3 * cells.nbytes
    assert_array_equal(pickle.loads(pickle.dumps(plan)).data.encoding.X, cells)


@pytest.mark.parametrize(
    ("n_trees", "n_threads", "expected"),
    [(1, 1, [1]), (3, 1, [1, 1, 1]), (4, 2, [1, 1, 1, 1]), (5, 2, [1, 1, 1, 1, 2]),
     (2, 8, [4, 4]), (10, 4, [1] * 8 + [2, 2]), (3, 4, [1, 1, 1]), (8, 4, [1] * 8)],
)  # fmt: skip
def test_no_thread_is_left_over_when_the_last_trees_begin(n_trees, n_threads, expected):
    assert threads_of_trees(n_trees, n_threads) == expected


# ---- fits that go on, and are watched


@each_forest
def test_warm_start_adds_the_trees_of_one_fit(Forest):
    forest = Forest(3, random_state=0, warm_start=True).fit(X, y)
    prediction(forest)  # packs the trees that there are
    forest.set_params(n_estimators=7).fit(X, y)
    whole = Forest(7, random_state=0).fit(X, y)
    assert_same_forest(forest, whole)
    assert_array_equal(prediction(forest), prediction(whole))


class Watcher:
    """A callback that notes the names of tasks."""

    def __init__(self):
        self.begun, self.ended = [], []

    def setup(self, estimator, context):
        self.n_expected = context.max_subtasks

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **_):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, **_):
        self.ended.append(context.task_name)


def test_trees_of_shared_memory():
    """They are those that have memory of their own, and outlive their forest."""
    rows = np.random.default_rng(0).normal(size=(3000, 4))
    labels = np.random.default_rng(1).integers(12, size=3000)
    forest = RandomForestClassifier(30, random_state=0).fit(rows, labels)
    assert sum(tree.tree_.node_count for tree in forest.estimators_) > 40_000  # more than 1 MB
    grown = RandomForestClassifier(1, random_state=0, warm_start=True).fit(rows, labels)
    for n_trees in range(2, 31):
        grown.set_params(n_estimators=n_trees).fit(rows, labels)
    tree = forest.estimators_[-1]
    del forest
    refitted(RandomForestClassifier(30, random_state=1))
    assert_same(tree.tree_, grown.estimators_[-1].tree_)


def test_a_target_of_zeros():
    forest = refitted(RandomForestRegressor(3, random_state=0)).fit(X, np.zeros(len(X)))
    assert_array_equal(forest.predict(X), 0.0)


def test_callbacks():
    watcher = Watcher()
    RandomForestClassifier(3).set_callbacks(watcher).fit(X, y)
    assert watcher.n_expected == 3
    assert watcher.begun == ["fit", "tree", "tree", "tree"]
    assert watcher.ended == ["tree", "tree", "tree", "fit"]


def test_a_refit_gives_back_the_earlier_trees():
    class Counter(Watcher):
        def on_fit_task_begin(self, estimator, context, **_):
            if context.task_name == "tree":
                self.begun.append(earlier() is not None)

    counter = Counter()
    forest = RandomForestClassifier(3).fit(X, y)
    earlier = weakref.ref(forest.estimators_[0])
    forest.set_callbacks(counter).fit(X, y)
    assert counter.begun == [True, False, False]


def test_a_refit_that_fails_keeps_the_earlier_trees():
    forest = RandomForestRegressor(3, random_state=0).fit(X, y)
    expected = forest.predict(X)
    with pytest.raises(ValueError, match="targets are too large"):
        forest.fit(X, np.where(y > 0, 1.7e308, -1.7e308))
    assert_array_equal(forest.predict(X), expected)


def fail(truth, found):
    raise ZeroDivisionError


@pytest.mark.parametrize(
    "forest",
    [RandomForestClassifier(3, random_state=0), ExtraTreesClassifier(3, random_state=0)],
    ids=["random forest", "extra-trees"],
)
@pytest.mark.parametrize(
    "params",
    [
        {"class_weight": {99: 1}},
        {"monotonic_cst": [1]},
        {"bootstrap": False, "max_samples": 5},
        {"warm_start": True, "n_estimators": 2},
    ],
    ids=str,
)
def test_a_classifier_whose_refit_fails_is_the_earlier_one(forest, params):
    forest = clone(forest).fit(X, y)
    expected = {**vars(forest)}
    probabilities = forest.predict_proba(X)
    with pytest.raises(ValueError):
        forest.set_params(**params).fit(X, y + 100)
    assert {**vars(forest), **params} == {**expected, **params}
    assert_array_equal(forest.predict_proba(X), probabilities)


def test_a_loaded_forest_that_fails_to_go_on_keeps_its_trees():
    forest = RandomForestClassifier(3, random_state=0, warm_start=True).fit(X, y)
    loaded = pickle.loads(pickle.dumps(forest)).set_params(n_estimators=2)
    with pytest.raises(ValueError, match="n_estimators=2"):
        loaded.fit(X, y)
    assert_same_forest(loaded, forest)


def test_a_refit_that_fails_after_the_first_tree_leaves_a_forest_that_is_not_fitted():
    forest = RandomForestClassifier(40, random_state=0).fit(X, y)
    with pytest.raises(ZeroDivisionError):
        forest.set_params(oob_score=fail).fit(X, y)
    with pytest.raises(NotFittedError):
        forest.predict(X)


def test_an_isolation_forest_whose_refit_fails_is_the_earlier_one():
    forest = IsolationForest(n_estimators=3, random_state=0).fit(X)
    expected = forest.score_samples(X)
    with pytest.raises(ValueError):
        forest.set_params(n_jobs=0).fit(X)
    assert_array_equal(forest.score_samples(X), expected)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (np.arange(200) % 50, np.arange(200) % 2),
        (np.arange(200) % 2, np.arange(200) % 3),
        (np.arange(200) % 3, np.c_[np.arange(200) % 3, np.arange(200) % 3]),
    ],
    ids=["fewer classes", "more classes", "more outputs"],
)
@pytest.mark.parametrize("forest_type", [RandomForestClassifier, RandomForestRegressor])
def test_trees_of_other_targets_do_not_join_a_forest(forest_type, earlier, later):
    rows = np.random.default_rng(0).normal(size=(200, 3))
    forest = forest_type(1, warm_start=True, random_state=0).fit(rows, earlier)
    expected = forest.predict(rows)
    forest.set_params(n_estimators=2)
    if later.ndim == earlier.ndim and forest_type is RandomForestRegressor:
        forest.fit(rows, later)
        return
    with pytest.raises(ValueError, match="as many features, outputs and classes"):
        forest.fit(rows, later)
    assert_array_equal(forest.predict(rows), expected)
    with pytest.raises(ValueError, match="features"):
        forest.fit(rows[:, :2], earlier)


@pytest.mark.parametrize("n_features", [2, 200_000])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_trees_that_do_not_belong_together_are_refused(n_features, n_outputs):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, 2))
    forest = RandomForestRegressor(2, random_state=0).fit(rows, rng.normal(size=20))
    other = RandomForestRegressor(2, random_state=0)
    other.fit(rng.normal(size=(20, n_features)), rng.normal(size=(20, n_outputs)).squeeze())
    forest.estimators_ += other.estimators_
    if (n_features, n_outputs) == (2, 1):
        assert forest.predict(rows).shape == (20,)
        return
    with pytest.raises(ValueError, match="the same features"):
        forest.predict(rows)


def test_verbose(capsys):
    RandomForestClassifier(2, verbose=2).fit(X, y)
    assert "building tree 2 of 2" in capsys.readouterr().out


def test_oob_score_as_a_function():
    def score(truth, found):
        return len(truth) + np.mean(truth.ravel() == found)

    forest = RandomForestClassifier(40, oob_score=score, random_state=0).fit(X, y)
    expected = clone(forest).set_params(oob_score=True).fit(X, y).oob_score_
    assert forest.oob_score_ == 500 + expected
