"""Forests: scikit-learn's replayed, the same one on any threads and back-ends, and what is new."""

import copy
import io
import pickle
import warnings
import weakref

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import fasttree
import fasttree.ensemble
from fasttree.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestQuantileRegressor,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from fasttree.ensemble._bootstrap import Bootstrap
from fasttree.ensemble._growth import threads_of_trees
from fasttree.tree import DecisionTreeClassifier, EncodedData
from reference.problems import random_problem
from reference.trees import assert_same

FORESTS = [
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
]
each_forest = pytest.mark.parametrize("Forest", FORESTS)

rng = np.random.default_rng(0)
X = rng.normal(size=(500, 6)).round(1)
y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=500) > 0).astype(int)


def assert_same_forest(forest, expected):
    assert len(forest.estimators_) == len(expected.estimators_)
    for tree, other in zip(forest.estimators_, expected.estimators_):
        assert tree.random_state == other.random_state
        assert_same(tree.tree_, other.tree_)


def prediction(forest, rows=X):
    return getattr(forest, "predict_proba", forest.predict)(rows)


def refitted(forest, **settings):
    """A forest that is fitted on the data above."""
    return clone(forest).set_params(**settings).fit(X, y)


# ---- scikit-learn's forests


def replay(name, problem, parameters):
    """A forest of fasttree's on scikit-learn's stream and scikit-learn's, fitted alike."""
    fitted = []
    for module, stream in ((fasttree.ensemble, True), (sklearn.ensemble, False)):
        forest = getattr(module, name)(**parameters)
        with fasttree.config_context(sklearn_random_stream=stream), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fitted.append(forest.fit(problem.X, problem.y, sample_weight=problem.sample_weight))
    return fitted


@pytest.mark.cases(300)
def test_replay_bit_for_bit(seed):
    problem = random_problem(seed, exact=True)
    rng = np.random.default_rng([seed, 15])
    parameters = problem.params | {"n_estimators": int(rng.integers(1, 6))}
    kind = "ExtraTrees" if parameters.pop("splitter") == "random" else "RandomForest"
    task = "Classifier" if parameters["criterion"] in ("gini", "entropy") else "Regressor"
    parameters["bootstrap"] = bool(rng.random() < 0.7)
    if parameters["bootstrap"]:
        parameters["max_samples"] = [None, 0.5, len(problem.X) // 2 + 1][rng.integers(3)]
        parameters["oob_score"] = bool(rng.random() < 0.5) and problem.y.ndim == 1
    elif problem.sample_weight is not None and "class_weight" in parameters:
        del parameters["class_weight"]
    if task == "Classifier" and rng.random() < 0.2 and parameters["bootstrap"]:
        parameters["class_weight"] = "balanced_subsample"
        parameters["criterion"] = "gini"
    ours, theirs = replay(kind + task, problem, parameters)
    for tree, other in zip(ours.estimators_, theirs.estimators_, strict=True):
        assert tree.random_state == other.random_state
        if parameters.get("class_weight") != "balanced_subsample":  # weights are no integers
            assert_same(tree.tree_, other.tree_)
    assert_array_equal(ours.estimators_samples_, theirs.estimators_samples_)
    if parameters.get("class_weight") == "balanced_subsample":
        return
    assert_array_equal(prediction(ours, problem.X), prediction(theirs, problem.X))
    assert_array_equal(ours.feature_importances_, theirs.feature_importances_)
    if parameters.get("oob_score"):
        name = "oob_decision_function_" if task == "Classifier" else "oob_prediction_"
        assert_array_equal(getattr(ours, name), getattr(theirs, name))
        assert_array_equal(ours.oob_score_, theirs.oob_score_)


@each_forest
def test_leaves_paths_and_indices_are_scikit_learns(Forest):
    name = Forest.__name__
    with fasttree.config_context(sklearn_random_stream=True):
        ours = Forest(5, random_state=3).fit(X, y)
    theirs = getattr(sklearn.ensemble, name)(5, random_state=3).fit(X, y)
    assert_array_equal(ours.apply(X), theirs.apply(X))
    for part, expected in zip(ours.decision_path(X), theirs.decision_path(X)):
        assert_array_equal(
            part.toarray() if sp.issparse(part) else part,
            expected.toarray() if sp.issparse(expected) else expected,
        )
    for tree in ours.estimators_:
        assert isinstance(tree, type(ours.estimator_))
        assert tree.get_params().items() >= {"max_features": ours.max_features}.items()


@pytest.mark.parametrize("sample_weight", [None, rng.random(500)])
def test_bootstrap_samples_are_scikit_learns_by_default(sample_weight):
    ours = RandomForestClassifier(4, random_state=1, max_samples=0.7)
    theirs = sklearn.ensemble.RandomForestClassifier(4, random_state=1, max_samples=0.7)
    for forest in (ours, theirs):
        forest.fit(X, y, sample_weight=sample_weight)
    assert_array_equal(ours.estimators_samples_, theirs.estimators_samples_)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 100, 1024, 1025, 5000])
def test_counts_are_those_of_the_draws(n_rows):
    for seed in (0, 1, 42, 2**31 - 2, 2**32 - 1):
        for n_drawn in (1, n_rows, 3 * n_rows):
            bootstrap = Bootstrap(n_rows, n_drawn)
            expected = np.bincount(bootstrap.indices(seed), minlength=n_rows)
            assert_array_equal(bootstrap.counts(seed), expected)


def test_a_tree_is_the_one_that_its_counts_grow():
    """The rows that it did not draw do not matter, nor do those that others drew."""
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_):
        counts = np.bincount(drawn, minlength=len(X)).astype(float)
        alone = DecisionTreeClassifier(max_features="sqrt", random_state=tree.random_state)
        assert_same(tree.tree_, alone.fit(X, y, sample_weight=counts).tree_)


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


# ---- data


def test_tables():
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", None], 300),
            "size": rng.normal(size=300),
            "kind": pd.Categorical(rng.choice(["p", "q"], 300)),
        }
    )
    target = (frame["colour"].eq("red") & frame["kind"].eq("p")).map({True: "yes", False: "no"})
    forest = RandomForestClassifier(10, random_state=0, max_features=None).fit(frame, target)
    assert_array_equal(forest.predict(frame), target)
    assert list(forest.feature_names_in_) == list(frame.columns)
    assert forest.estimators_[0].categories_[0] == ["blue", "green", "red"]
    proba = np.mean([tree.tree_.predict(_cells(forest, frame)) for tree in forest.estimators_], 0)
    assert_allclose(forest.predict_proba(frame), proba, rtol=1e-15)
    loaded = pickle.loads(pickle.dumps(forest))
    assert_array_equal(loaded.predict_proba(frame), forest.predict_proba(frame))
    assert_same_forest(loaded, forest)


def _cells(forest, frame):
    return EncodedData(frame).cells if forest._table_encoder is not None else frame


def test_other_categories_at_a_warm_start():
    table = np.array([["a"], ["b"], ["a"], ["b"]], dtype=object)
    forest = RandomForestClassifier(2, warm_start=True).fit(table, [0, 1, 0, 1])
    table[0, 0] = "c"
    with pytest.raises(ValueError, match="categories"):
        forest.set_params(n_estimators=3).fit(table, [0, 1, 0, 1])


@each_forest
def test_missing_values_and_sparse_rows(Forest):
    rows = X.copy()
    rows[rng.random(X.shape) < 0.2] = np.nan
    forest = Forest(5, random_state=0).fit(rows, y)
    values = [tree.tree_.predict(rows.astype(np.float32)) for tree in forest.estimators_]
    assert_allclose(prediction(forest, rows).ravel(), np.mean(values, 0).ravel(), rtol=1e-14)
    zeros = X * (rng.random(X.shape) < 0.4)
    dense, sparse = (Forest(5, random_state=0).fit(A, y) for A in (zeros, sp.csc_matrix(zeros)))
    assert_same_forest(sparse, dense)
    assert_array_equal(prediction(dense, zeros), prediction(dense, sp.csr_matrix(zeros)))


@each_forest
def test_encoded_data(Forest):
    settings = {"random_state": 0, "oob_score": True, "bootstrap": True, "n_estimators": 30}
    data = EncodedData(X)
    assert_same_forest(Forest(**settings).fit(data, y), Forest(**settings).fit(X, y))
    assert_array_equal(prediction(refitted(Forest(3, random_state=0)), data[:7]),
                       prediction(refitted(Forest(3, random_state=0)), X[:7]))  # fmt: skip
    for chosen in (np.arange(0, 500, 2), rng.permutation(500)[:300]):
        selected = Forest(**settings).fit(data[chosen], y[chosen])
        copied = Forest(**settings).fit(X[chosen], y[chosen])
        assert_same_forest(selected, copied)
        assert selected.oob_score_ == copied.oob_score_


def test_several_outputs():
    targets = np.column_stack([y, (X[:, 0] > 0).astype(int) + 5])
    forest = RandomForestClassifier(5, random_state=0).fit(X, targets)
    for k, proba in enumerate(forest.predict_proba(X)):
        values = [tree.tree_.predict(X.astype(np.float32))[:, k] for tree in forest.estimators_]
        assert_allclose(proba, np.mean(values, axis=0), rtol=1e-14)
    assert set(forest.predict(X)[:, 1]) == {5, 6}


@each_forest
def test_no_rows(Forest):
    forest = refitted(Forest(2))
    with pytest.raises(ValueError, match="0 sample"):
        forest.predict(X[:0])


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


def test_verbose(capsys):
    RandomForestClassifier(2, verbose=2).fit(X, y)
    assert "building tree 2 of 2" in capsys.readouterr().out


def test_oob_score_as_a_function():
    def score(truth, found):
        return len(truth) + np.mean(truth.ravel() == found)

    forest = RandomForestClassifier(40, oob_score=score, random_state=0).fit(X, y)
    expected = clone(forest).set_params(oob_score=True).fit(X, y).oob_score_
    assert forest.oob_score_ == 500 + expected


# ---- prediction


@each_forest
def test_trees_that_are_exchanged_predict(Forest):
    forest = refitted(Forest(4, random_state=0))
    prediction(forest)
    forest.estimators_ = forest.estimators_[:2]
    expected = refitted(Forest(2, random_state=0))
    assert_array_equal(prediction(forest), prediction(expected))


@each_forest
@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_and_numbers_of_rows(Forest, order):
    forest = refitted(Forest(3, random_state=0))
    rows = np.array(np.tile(X, (12, 2))[:, ::2][:, :6], dtype=np.float32, order=order)
    expected = prediction(forest, np.ascontiguousarray(rows))
    for chosen in (slice(None), slice(0, 1), slice(1, 70), slice(None, None, -3)):
        assert_array_equal(prediction(forest, rows[chosen]), expected[chosen])
    with fasttree.config_context(n_threads=3):
        assert_array_equal(prediction(forest, rows), expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_many_rows(order, missing):
    """Values of trees, in their order; a tree that is large for the rows among them."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000, 40)).round(1)
    table[rng.random(table.shape) < missing] = np.nan
    forest = RandomForestRegressor(5, random_state=0, max_features=5)
    forest.fit(table, rng.normal(size=len(table)))
    rows = np.array(np.tile(table, (3, 1))[:-7], dtype=np.float32, order=order)
    for n in (300, 5000, len(rows)):
        expected = sum(tree.predict(rows[:n]) for tree in forest.estimators_) / 5
        for simd in ("auto", "avx2", "portable"):
            for n_threads in (1, 3):
                with fasttree.config_context(simd=simd, n_threads=n_threads):
                    assert_array_equal(forest.predict(rows[:n]), expected)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused(value):
    rows = X.copy()
    rows[3, 2] = value
    forest = refitted(RandomForestClassifier(2))
    for call in (forest.predict, forest.apply, forest.decision_path):
        with pytest.raises(ValueError, match="infinity"):
            call(rows)
    with pytest.raises(ValueError, match="infinity"):
        RandomForestClassifier(2).fit(rows, y)


# ---- pickles


PICKLED = [
    RandomForestClassifier(7, random_state=0),
    RandomForestClassifier(7, random_state=0, class_weight="balanced_subsample"),
    RandomForestClassifier(7, random_state=0, max_leaf_nodes=9),
    RandomForestRegressor(7, random_state=0),
    ExtraTreesRegressor(7, random_state=0, min_samples_leaf=9, criterion="absolute_error"),
    RandomForestQuantileRegressor(7, random_state=0),
]


@pytest.mark.parametrize("forest", PICKLED)
def test_pickles_restore_every_bit(forest):
    forest = refitted(forest)
    raw = pickle.dumps(forest)
    loaded = pickle.loads(raw)
    again = pickle.loads(pickle.dumps(loaded))
    for other in (loaded, again, copy.copy(forest), copy.deepcopy(forest)):
        assert_array_equal(prediction(other), prediction(forest))
        assert "estimators_" not in vars(other)  # the packed copy is enough
        assert len(other) == 7
        assert_same_forest(other, forest)
        assert_array_equal(prediction(other), prediction(forest))
        assert_array_equal(other.apply(X), forest.apply(X))
    if forest.get_params().get("class_weight") is None:
        assert len(loaded.set_params(warm_start=True, n_estimators=9).fit(X, y).estimators_) == 9


@pytest.mark.parametrize("name", ["RandomForestClassifier", "RandomForestRegressor"])
def test_pickles_take_half_of_scikit_learns(name):
    rows = rng.normal(size=(3000, 5))
    target = rows[:, 0] + rng.normal(size=3000)
    target = target > 0 if "Classifier" in name else target
    sizes = [
        len(pickle.dumps(getattr(module, name)(10).fit(rows, target)))
        for module in (fasttree.ensemble, sklearn.ensemble)
    ]
    assert sizes[0] < 0.5 * sizes[1]


def test_mapped_pickles_predict_without_a_copy(tmp_path):
    forest = refitted(RandomForestClassifier(5, random_state=0))
    joblib.dump(forest, tmp_path / "forest")
    loaded = joblib.load(tmp_path / "forest", mmap_mode="r")
    assert_array_equal(prediction(loaded), prediction(forest))
    assert isinstance(loaded._memory.loaded_store().nodes, np.memmap)
    assert_same_forest(loaded, forest)


def test_trees_from_elsewhere_are_pickled_as_they_are():
    forest = refitted(RandomForestClassifier(3, random_state=0))
    forest.estimators_[1] = DecisionTreeClassifier(max_depth=2).fit(X, y)
    loaded = pickle.loads(pickle.dumps(forest))
    assert_array_equal(prediction(loaded), prediction(forest))


@pytest.mark.parametrize("part", ["n_features_in_", "n_outputs_", "n_classes_"])
def test_parts_that_do_not_belong_together(part):
    forest = refitted(RandomForestClassifier(3, random_state=0))
    setattr(forest, part, 7)
    with pytest.raises(ValueError):
        pickle.loads(pickle.dumps(forest))


@pytest.mark.parametrize(("field", "value"), [("child", 10**9), ("child", 2),
                                                 ("feature", 99), ("feature", -7)])  # fmt: skip
def test_tampered_nodes_are_refused(field, value):
    forest = refitted(RandomForestClassifier(3, random_state=0))
    forest = pickle.loads(pickle.dumps(forest))
    forest._memory.compact.store[0][field] = value
    with pytest.raises(ValueError, match="packed"):
        pickle.loads(pickle.dumps(forest))


@pytest.mark.parametrize("name", ["right", "is_leaf", "feature"])
def test_tampered_columns_are_refused(name):
    forest = refitted(RandomForestClassifier(3, random_state=0))
    forest = pickle.loads(pickle.dumps(forest))
    column = forest._memory.compact.columns[name]
    column.stored = np.full_like(column.stored, 255)
    with pytest.raises(ValueError):
        forest.estimators_  # noqa: B018


def test_no_such_attribute():
    with pytest.raises(AttributeError, match="estimators_"):
        RandomForestClassifier().estimators_  # noqa: B018
    with pytest.raises(AttributeError, match="oob_score_"):
        refitted(RandomForestClassifier(2)).oob_score_  # noqa: B018


# ---- importances by permutation


def permuted_by_definition(forest, rows, target, n_repeats, root):
    """`oob_permutation_importances` in a few lines."""
    found = np.zeros((len(forest.estimators_), rows.shape[1], n_repeats))
    for number, (tree, drawn) in enumerate(zip(forest.estimators_, forest.estimators_samples_)):
        source = np.random.default_rng([root, number])
        rest = np.setdiff1d(np.arange(len(rows)), drawn)
        error = np.mean(tree.predict(rows[rest]) != target[rest])
        for feature in np.unique(tree.tree_.feature[tree.tree_.feature >= 0]):
            for repeat in range(n_repeats):
                other = rows[rest].copy()
                other[:, feature] = source.permutation(other[:, feature])
                worse = np.mean(tree.predict(other) != target[rest])
                found[number, feature, repeat] = worse - error
    return found.mean(axis=0)


def test_oob_permutation_importances():
    rows = X.astype(np.float32)
    forest = RandomForestClassifier(6, random_state=0).fit(rows, y)
    found = forest.oob_permutation_importances(n_repeats=3, random_state=5)
    root = np.random.RandomState(5).randint(np.iinfo(np.int32).max)
    expected = permuted_by_definition(forest, rows, y, 3, root)
    assert_allclose(found.importances, expected, atol=1e-15)
    assert_allclose(found.importances_mean, expected.mean(axis=1))
    assert_allclose(found.importances_std, expected.std(axis=1))
    with fasttree.config_context(n_threads=3):
        again = forest.oob_permutation_importances(3, 5)
    assert_array_equal(again.importances, found.importances)
    loaded = pickle.loads(pickle.dumps(forest))
    with pytest.raises(ValueError, match="pass X and y"):
        loaded.oob_permutation_importances()
    again = loaded.oob_permutation_importances(3, 5, X=rows, y=y)
    assert_array_equal(again.importances, found.importances)


def test_permutation_finds_what_matters_and_not_many_values():
    rows = np.column_stack([rng.integers(0, 2, 600), rng.normal(size=600)])
    target = rows[:, 0] * 3.0 + rng.normal(size=600)
    forest = RandomForestRegressor(30, random_state=0).fit(rows, target)
    matters, noise = forest.oob_permutation_importances(random_state=0).importances_mean
    assert matters > 2
    assert abs(noise) < 1
    sparse = RandomForestRegressor(30, random_state=0).fit(sp.csr_matrix(rows), target)
    assert_allclose(
        sparse.oob_permutation_importances(random_state=0).importances_mean, [matters, noise]
    )


# ---- quantiles


def quantiles_by_definition(forest, rows, target, quantiles, rows_to_predict):
    """The targets of all rows that trees drew into the same leaves."""
    leaves, wanted = forest.apply(rows), forest.apply(rows_to_predict)
    found = []
    for row in wanted:
        pooled = [
            target[drawn[leaves[drawn, t] == row[t]]]
            for t, drawn in enumerate(forest.estimators_samples_)
        ]
        found.append(np.quantile(np.concatenate(pooled), quantiles, axis=0))
    return np.array(found)


@pytest.mark.parametrize("settings", [{}, {"min_samples_leaf": 6}, {"bootstrap": False}])
def test_quantiles(settings):
    target = rng.normal(size=500).round(1)
    forest = RandomForestQuantileRegressor(8, random_state=0, **settings).fit(X, target)
    quantiles = [0.9, 0.0, 0.5, 1.0, 0.123]
    expected = quantiles_by_definition(forest, X, target, quantiles, X[:40])
    assert_allclose(forest.predict(X[:40], quantiles), expected, atol=1e-12)
    assert_array_equal(forest.predict(X[:40], 0.9), forest.predict(X[:40], [0.9])[:, 0])
    with fasttree.config_context(n_threads=3):
        assert_allclose(forest.predict(X[:40], quantiles), expected, atol=1e-12)
    mean = RandomForestRegressor(8, random_state=0, **settings).fit(X, target)
    assert_array_equal(forest.predict(X), mean.predict(X))


def test_quantiles_of_several_outputs():
    targets = rng.normal(size=(500, 2)).round(1)
    forest = RandomForestQuantileRegressor(5, random_state=0, min_samples_leaf=5).fit(X, targets)
    expected = quantiles_by_definition(forest, X, targets, [0.2, 0.7], X[:30])
    assert_allclose(forest.predict(X[:30], [0.2, 0.7]), expected.transpose(0, 2, 1), atol=1e-12)


@pytest.mark.parametrize("kind", ["repetitions", "fractions", "leaves"])
def test_weights_of_quantiles(kind):
    """Whole numbers are repetitions; otherwise the paper's definition."""
    target = rng.normal(size=500)
    weights = None if kind == "leaves" else rng.integers(0, 4, 500) / (2 if kind[0] == "f" else 1)
    forest = RandomForestQuantileRegressor(3, bootstrap=False, max_depth=3, random_state=0)
    forest.fit(X, target, weights)
    quantiles = [0.0, 0.2, 0.31, 1.0]
    found = forest.predict(X[:9], quantiles, weighted_leaves=kind == "leaves")
    leaves = forest.apply(X)
    ones = np.ones(500)
    for row in range(9):
        shared = leaves == leaves[row]
        own = shared * (ones if weights is None else weights)[:, None]
        if kind == "repetitions":
            pooled = np.repeat(target, own.sum(axis=1).astype(int))
            assert_allclose(found[row], np.quantile(pooled, quantiles))
            continue
        share = (own / own.sum(axis=0) if kind == "leaves" else own).sum(axis=1)
        expected = np.quantile(target, quantiles, weights=share, method="inverted_cdf")
        expected[0] = target[share > 0].min()
        assert_array_equal(found[row], expected)


def test_out_of_bag_quantiles():
    target = X[:, 0] + rng.normal(size=500)
    forest = RandomForestQuantileRegressor(20, random_state=0).fit(X, target)
    found = forest.predict(X, [0.1, 0.9], oob_score=True)
    drawn = [np.bincount(own, minlength=500) for own in forest.estimators_samples_]
    leaves = forest.apply(X)
    for row in (0, 77, 499):
        pooled = [
            np.repeat(target, count * (leaves[:, t] == leaves[row, t]))
            for t, count in enumerate(drawn)
            if count[row] == 0
        ]
        assert_allclose(found[row], np.quantile(np.concatenate(pooled), [0.1, 0.9]))
    with pytest.raises(ValueError, match="rows of the fit"):
        forest.predict(X[:5], 0.5, oob_score=True)


@pytest.mark.parametrize("quantiles", [1.1, [-0.1], [], [[0.5]], np.nan])
def test_no_quantiles(quantiles):
    forest = RandomForestQuantileRegressor(2).fit(X, y)
    with pytest.raises(ValueError, match="quantiles"):
        forest.predict(X, quantiles)


@pytest.mark.parametrize(
    "settings", [{}, {"min_samples_leaf": 6}, {"bootstrap": False, "max_features": 0.5}]
)
def test_quantiles_are_those_of_quantile_forest(settings):
    package = pytest.importorskip("quantile_forest", reason="quantile-forest is not installed")
    target = rng.integers(0, 1000, 500).astype(float)
    with fasttree.config_context(sklearn_random_stream=True):
        ours = RandomForestQuantileRegressor(10, random_state=1, **settings).fit(X, target)
    theirs = package.RandomForestQuantileRegressor(
        10, random_state=1, max_samples_leaf=None, **settings
    ).fit(X, target)
    quantiles = [0.05, 0.5, 0.33, 0.95, 0.0, 1.0]
    assert_allclose(ours.predict(X, quantiles), theirs.predict(X, quantiles), rtol=1e-12)


# ---- isolation forests and embeddings


@pytest.mark.parametrize("max_features", [1.0, 2])
@pytest.mark.parametrize("rows", [X, sp.csr_matrix(X)])
def test_isolation_forest(rows, max_features):
    settings = {"random_state": 0, "contamination": 0.1, "max_features": max_features}
    with fasttree.config_context(sklearn_random_stream=True):
        ours = IsolationForest(**settings).fit(rows)
    theirs = sklearn.ensemble.IsolationForest(**settings).fit(rows)
    assert_allclose(ours.score_samples(rows), theirs.score_samples(rows), rtol=1e-14)
    assert_array_equal(ours.predict(rows), theirs.predict(rows))
    loaded = pickle.loads(pickle.dumps(ours))
    assert_array_equal(loaded.score_samples(rows), ours.score_samples(rows))


def test_embedding():
    with fasttree.config_context(sklearn_random_stream=True):
        ours = RandomTreesEmbedding(5, random_state=0).fit(X)
    theirs = sklearn.ensemble.RandomTreesEmbedding(5, random_state=0).fit(X)
    assert_array_equal(ours.apply(X), theirs.apply(X))
    assert_array_equal(ours.transform(X[:5]).toarray(), theirs.transform(X[:5]).toarray())
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


@pytest.mark.parametrize("name", fasttree.ensemble.__all__)
def test_each_is_scikit_learns(name):
    """Whatever asks for one of scikit-learn's takes ours, and `clone` makes equal ones."""
    forest = getattr(fasttree.ensemble, name)()
    base = getattr(sklearn.ensemble, name, sklearn.ensemble.RandomForestRegressor)
    assert isinstance(forest, base)
    assert forest.get_params().items() >= base().get_params().items()
    assert clone(forest).get_params() == forest.get_params()
    assert pickle.load(io.BytesIO(pickle.dumps(forest))).get_params() == forest.get_params()


@pytest.mark.parametrize(
    ("n_trees", "n_threads", "expected"),
    [(1, 1, [1]), (3, 1, [1, 1, 1]), (4, 2, [1, 1, 1, 1]), (5, 2, [1, 1, 1, 1, 2]),
     (2, 8, [4, 4]), (10, 4, [1] * 8 + [2, 2]), (3, 4, [1, 1, 1]), (8, 4, [1] * 8)],
)  # fmt: skip
def test_no_thread_is_left_over_when_the_last_trees_begin(n_trees, n_threads, expected):
    assert threads_of_trees(n_trees, n_threads) == expected
