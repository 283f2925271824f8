"""Models as JSON files: what is loaded is what was saved, now and by earlier versions."""

import gzip
import json
import zlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import fasttree.export._model_file as model_file
from fasttree.ensemble import IsolationForest, RandomForestClassifier
from fasttree.export import export_dict, export_rules, load, save
from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor, export_text
from fuzz.pickles import fitted
from reference.handed_on import Problem
from reference.model_files import X, saved, y

FILES = Path(__file__).parent / "models"


def same(a, b):
    """Whether two attributes are the same, to the last bit and with the same types."""
    if type(a) is not type(b):
        return isinstance(a, np.integer | int) and isinstance(b, np.integer | int) and a == b
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.names:
            return all(same(a[name], b[name]) for name in a.dtype.names)
        return a.tolist() == b.tolist() if a.dtype.hasobject else a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if type(a).__module__.startswith("fasttree."):
        state = a.__reduce_ex__(4)[1:3], b.__reduce_ex__(4)[1:3]
        return same(*(list(part[1:]) for part in state))
    if isinstance(a, set):
        return same(sorted(a, key=repr), sorted(b, key=repr))
    return a is b or a == b or (a != a and b != b)


def round_trip(estimator, folder, name="model.json"):
    save(estimator, folder / name)
    return load(folder / name)


def check_same(loaded, estimator, X):
    assert type(loaded) is type(estimator)
    assert loaded.get_params().keys() == estimator.get_params().keys()
    state, expected = loaded.__getstate__(), estimator.__getstate__()
    assert state.keys() == expected.keys()
    assert [name for name in expected if not same(state[name], expected[name])] == []
    assert np.array_equal(loaded.predict(X), estimator.predict(X))
    assert np.array_equal(loaded.apply(X), estimator.apply(X))
    assert np.array_equal(loaded.feature_importances_, estimator.feature_importances_)
    if hasattr(estimator, "estimators_"):
        for tree, other in zip(loaded, estimator, strict=True):
            assert [n for n, own in vars(other).items() if not same(vars(tree)[n], own)] == []
        return
    assert export_text(loaded) == export_text(estimator)
    assert export_dict(loaded) == export_dict(estimator)
    assert list(map(str, export_rules(loaded))) == list(map(str, export_rules(estimator)))


@pytest.mark.cases(200)
def test_round_trip(seed, tmp_path):
    problem = Problem(seed)
    loaded = round_trip(problem.estimator, tmp_path, ["model.json", "model.json.gz"][seed % 3 == 0])
    check_same(loaded, problem.estimator, problem.table())
    if not problem.is_matrix:
        assert loaded.categories_ == problem.estimator.categories_


@pytest.mark.parametrize("index", range(len(saved())))
def test_round_trip_of_every_kind(index, tmp_path):
    estimator, rows = saved()[index]
    check_same(round_trip(estimator, tmp_path), estimator, rows)


def test_the_same_file_each_time(tmp_path):
    """Whatever the order of sets, and with nothing in it that tells when it was written."""
    tree = DecisionTreeClassifier(missing_values=["?", "-", "NA", -9]).fit(
        [["a", 1], ["b", 2]], [0, 1]
    )
    for name in ("a.json", "b.json"):
        save(tree, tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    loaded = load(tmp_path / "a.json")
    save(loaded, tmp_path / "c.json.gz")
    assert (
        gzip.decompress((tmp_path / "c.json.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()
    )


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -(2**62)], dtype=np.int64),
        np.array([1, 200], dtype=np.uint8),
        np.array([False, True]),
        np.array([0.0, 1.0]),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array(["a", "ü\ud800"]),
        np.array(["a", "b"], dtype="U20"),
        np.array(["it's", '"'], dtype=object),
    ],
)
def test_classes_of_any_type(labels, tmp_path):
    tree = DecisionTreeClassifier().fit(X, labels[y % 2])
    check_same(round_trip(tree, tmp_path), tree, X)
    two = DecisionTreeClassifier().fit(X, labels[np.column_stack([y % 2, y // 2])])
    check_same(round_trip(two, tmp_path), two, X)


def test_parameters_of_any_type(tmp_path):
    tree = DecisionTreeClassifier(
        class_weight={0: np.float64(1.5), 1: 2, np.int64(2): 0.1},
        monotonic_cst=None,
        categorical_features=np.array([False, True]),
        missing_values=[np.nan, -1, "?"],
        max_depth=np.int64(3),
        min_samples_leaf=0.1,
    ).fit(X, y)
    loaded = round_trip(tree, tmp_path)
    assert loaded.class_weight == {0: 1.5, 1: 2, 2: 0.1}
    assert loaded.categorical_features.tolist() == [False, True]
    assert loaded.max_depth == 3
    assert np.array_equal(loaded.predict(X), tree.predict(X))
    two = DecisionTreeClassifier(class_weight=[{0: 1, 1: 2, 2: 1}, {True: 2, False: 1}])
    two.fit(X, np.column_stack([y, y > 0]))
    assert round_trip(two, tmp_path).class_weight == two.class_weight
    options = SearchOptions(order="gini", cache=None)
    best = OptimalDecisionTreeClassifier(max_depth=1, search_options=options).fit(X, y)
    assert round_trip(best, tmp_path).search_options == options
    grown = DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, y)
    assert round_trip(grown, tmp_path).monotonic_cst == [1, 0]


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        (DecisionTreeClassifier(), {"random_state": np.random.RandomState(0)}),
        (OptimalDecisionTreeClassifier(max_depth=1), {"callback": print}),
        (DecisionTreeClassifier(), {"missing_values": object()}),
        (DecisionTreeClassifier(), {"max_depth": "deep"}),
    ],
)
def test_parameters_that_are_no_data(estimator, parameters, tmp_path):
    estimator.fit(X, y).set_params(**parameters)
    with pytest.raises(ValueError, match=next(iter(parameters))):
        save(estimator, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_saved(tmp_path):
    class Mine(DecisionTreeClassifier):
        pass

    with pytest.raises(ValueError, match="cannot be saved"):
        save(Mine().fit(X, y), tmp_path / "model.json")
    with pytest.raises(ValueError, match="IsolationForest'> cannot be saved, only DecisionTree,"):
        save(IsolationForest(n_estimators=2).fit(X), tmp_path / "model.json")
    forest = RandomForestClassifier(2).fit(X, y)
    forest.estimators_[0] = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="trees were exchanged"):
        save(forest, tmp_path / "model.json")
    with pytest.raises(NotFittedError):
        save(DecisionTree(), tmp_path / "model.json")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "model.json")


def test_infinities_and_last_bits(tmp_path):
    """Values as they are written by hand into a tree, not finite ones among them."""
    rows = [["a"], ["b"], [1.5], [None]]
    tree = DecisionTreeRegressor().fit(rows, [0.1, 1e-310, 1 / 3, 2.0**-1074])
    tree.tree_.value[0] = np.inf
    tree.tree_.value[1] = np.nan
    tree.tree_.value[2] = -0.0
    loaded = round_trip(tree, tmp_path)
    assert loaded.tree_.value.tobytes() == tree.tree_.value.tobytes()
    assert loaded.tree_.nodes.tobytes() == tree.tree_.nodes.tobytes()
    text = (tmp_path / "model.json").read_text()
    assert "Infinity" not in text
    assert "NaN" not in text


def test_loaded_forests_go_on(tmp_path):
    """What needs the draws of the fit: rows of the trees, rows left out, more trees."""
    rows, labels = fitted()[0][1:]
    weights = 0.5 + np.arange(len(labels)) % 3
    forest = RandomForestClassifier(3, random_state=0, warm_start=True, max_samples=0.7)
    forest.fit(rows, labels, sample_weight=weights)
    loaded = round_trip(forest, tmp_path)
    for drawn, expected in zip(loaded.estimators_samples_, forest.estimators_samples_, strict=True):
        assert np.array_equal(drawn, expected)
    found, expected = (
        f.oob_permutation_importances(random_state=0, X=rows, y=labels).importances
        for f in (loaded, forest)
    )
    assert np.array_equal(found, expected)
    for f in (loaded, forest):
        f.set_params(n_estimators=5).fit(rows, labels, sample_weight=weights)
    assert np.array_equal(loaded.predict_proba(rows), forest.predict_proba(rows))


def test_names_of_targets(tmp_path):
    tree = DecisionTreeClassifier().fit(X, y)
    tree.target_name_ = "yield"
    assert round_trip(tree, tmp_path).target_name_ == "yield"


# ---- files of earlier versions


@pytest.mark.parametrize("path", sorted(FILES.glob("*.json*")), ids=lambda path: path.name)
def test_files_of_earlier_versions(path):
    """They predict what they predicted when they were written."""
    loaded = load(path)
    expected = json.loads((FILES / "predictions" / (path.name.split(".")[0] + ".json")).read_text())
    assert loaded.predict(expected["rows"]).tolist() == expected["predictions"]


def test_there_is_a_file_of_every_version():
    versions = {path.name.split("-")[0] for path in FILES.glob("*.json*")}
    major, minor = model_file.FORMAT_VERSION
    assert versions == {f"{major}_{i}" for i in range(minor + 1)}


def test_the_checksum_is_that_of_the_text():
    for path in FILES.glob("*.json"):
        body, end = path.read_bytes().rsplit(b",\n", 1)
        assert json.loads(b"{" + end)["checksum"] == f"{zlib.crc32(body):08x}"
