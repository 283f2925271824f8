"""Files that no fit makes are refused: reformatted, damaged, compressed and mutated ones."""

import contextlib
import copy
import gzip
import json
import warnings

import numpy as np
import pytest

import fasttree.export._model_file as model_file
from fasttree.export import export_rules, export_sql, load, save
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTreeClassifier
from reference.model_files import X, saved, y

# ---- hostile files


def document_of(estimator, folder):
    save(estimator, folder / "whole.json")
    return json.loads((folder / "whole.json").read_text())


def write(document, folder):
    """A file that holds a document, its checksum switched off."""
    (folder / "changed.json").write_text(json.dumps(document | {"checksum": None}))
    return folder / "changed.json"


@pytest.fixture(scope="module")
def table_tree():
    rows = [["a", 1, True], ["b", 2, False], [3, None, True], ["c", 4, True], [None, 5, False]]
    rows = [[*row, "x"] for row in rows * 4]
    target = np.column_stack([np.arange(20) % 5, np.arange(20) % 2])
    return DecisionTreeClassifier(categorical_features=[2]).fit(rows, target), rows


def test_reformatted_and_edited_files(tmp_path):
    tree = DecisionTreeClassifier().fit(X, y)
    document = document_of(tree, tmp_path)
    path = tmp_path / "pretty.json"
    path.write_text(json.dumps(document, indent=4))
    assert np.array_equal(load(path).predict(X), y)
    document["trees"][0]["threshold"][0] += 1.0
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match="checksum"):
        load(path)
    assert load(write(document, tmp_path)).tree_.threshold[0] == tree.tree_.threshold[0] + 1
    document["new key of a later minor version"] = 1
    document["format_version"] = [1, 7]
    assert load(write(document, tmp_path)).get_n_leaves() == tree.get_n_leaves()


def test_other_major_versions(tmp_path):
    document = document_of(DecisionTreeClassifier().fit(X, y), tmp_path)
    document |= {"format_version": [2, 0], "fasttree_version": "9.1"}
    with pytest.raises(ValueError, match=r"version 2\.0, written by fasttree '9\.1'"):
        load(write(document, tmp_path))


HOSTILE = [
    b"",
    b"{}",
    b"[]",
    b"null",
    b"{",
    b"\x1f\x8b",
    b"\x1f\x8bnot gzip at all",
    gzip.compress(b"{}")[:-3],
    gzip.compress(b'{"format": "fasttree"}'),
    b"\xff\xfe{}",
    b"[" * 100_000,
    b'{"format": "fasttree", "format_version": [1, 0]}',
    b'{"format": "fasttree", "format_version": [true, 0]}',
    b'{"format": "fasttree", "format_version": "1.0"}',
    b'{"format": "fasttree", "format_version": [1, 0], "checksum": "\xc3\xbc"}',
    b'{"format": "fasttree", "format_version": [1, 0], "checksum": NaN}',
    b'{"format": "other", "format_version": [1, 0]}',
]


@pytest.mark.parametrize("raw", HOSTILE, ids=range(len(HOSTILE)))
def test_files_that_are_no_models(raw, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(raw)
    with pytest.raises(ValueError, match="is not a model that fasttree can read"):
        load(path)


CHANGES = {
    ("class",): ["Tree", None, "object", "DecisionTreeRegressor", "DecisionTree"],
    ("parameters",): [None, {"evil": 1}, [], {"max_depth": "deep"}, {"max_depth": {"eval": "1"}}],
    ("parameters", "class_weight"): [{"dict": 1}, {"dict": [[1]]}, {"dict": [[[], 1]]}],
    ("parameters", "monotonic_cst"): [{"array": [1], "dtype": "V8"}, {"array": 1, "dtype": "int8"}],
    ("parameters", "random_state"): [{"float": "1"}, {"tuple": 1}, {"SearchOptions": {"a": 1}}, {}],
    ("n_features",): [-1, 10**30, 3, None, True, 4.0],
    ("n_outputs",): [0, 1, 2**31, 10**30, "2"],
    ("feature_names",): [[1, 2, 3, 4], ["a"], "abcd"],
    ("n_fit_rows",): [-1, None, 1.5],
    ("max_features",): [None, "4"],
    ("classes",): [None, [], [1, 2], [{"array": [1], "dtype": "int64"}] * 2],
    ("classes", 0): [
        {"array": [0, 1, 2, 3, 400], "dtype": "int8"},
        {"array": [0, 1, 2, 3, 4.5], "dtype": "int64"},
        {"array": [0, 1, 2, 3, True], "dtype": "int64"},
        {"array": ["a"] * 5, "dtype": "str999999999"},
        {"array": ["a"] * 5, "dtype": "datetime64[xx]"},
        {"array": ["aaa"] * 5, "dtype": "str1"},
        {"array": list("abcde"), "dtype": "complex128"},
        {"array": list("abcde")},
    ],
    ("table",): [None, {}, []],
    ("table", "columns"): [None, [], [1]],
    ("table", "columns", 0, "categories"): [["b", "a", "c"], ["a"], [None], [[1]], "abc", [{}]],
    ("table", "columns", 0, "only_categories"): ["yes"],
    ("table", "missing_numbers"): [["a"], None],
    ("table", "missing_texts"): [[1]],
    ("trees",): [[], None, [1], [None, None]],
    ("trees", 0, "node_count"): [0, 1, -1, 10**30, None],
    ("trees", 0, "max_depth"): [0, 100, None],
    ("trees", 0, "children_left", 0): [0, -5, 10**9, 10**30, 1.0, None, "inf", True],
    ("trees", 0, "children_right"): [[], None, [1]],
    ("trees", 0, "feature", 0): [-1, 4, 2**40],
    ("trees", 0, "feature", -1): [-1, 0, 4],  # a leaf's
    ("trees", 0, "threshold", 0): ["nan", "NaN", None, [1], 10**400],
    ("trees", 0, "missing_go_to_left", 0): [-1, 256],
    ("trees", 0, "value"): [[], [1.0], "abc"],
    ("trees", 0, "category_splits"): [{}, [], 3],
    ("trees", 0, "category_splits", "node"): [[0], None],
    ("trees", 0, "category_splits", "listed"): [[[0]], [0], None],
    ("trees", 0, "category_splits", "listed", 0): [[99], [1, 0], ["a"], [-1]],
    ("trees", 0, "category_splits", "listed_go_left", 0): [2, -1, None],
}  # fmt: skip


def holder(document, path):
    """What holds the end of a path."""
    for key in path[:-1]:
        document = document[key]
    return document


def changed(whole, path, values):
    """Copies of a document, each with another value at the end of a path."""
    for value in values:
        document = copy.deepcopy(whole)
        holder(document, path)[path[-1]] = value
        yield document


@pytest.mark.parametrize("path", CHANGES, ids=lambda path: "-".join(map(str, path)))
def test_parts_that_make_no_sense(path, table_tree, tmp_path):
    tree, rows = table_tree
    whole = document_of(tree, tmp_path)
    assert np.array_equal(load(write(whole, tmp_path)).predict(rows), tree.predict(rows))
    for document in changed(whole, path, CHANGES[path]):
        with pytest.raises(ValueError, match="is not a model that fasttree can read: ."):
            load(write(document, tmp_path))
    if path[0] == "parameters":  # one that is not there has its default
        return
    del holder(document, path)[path[-1]]
    with pytest.raises(ValueError, match="is not a model"):
        load(write(document, tmp_path))


OPTIMAL_CHANGES = {
    ("search", "is_optimal_"): [1, None],
    ("search", "search_statistics_"): [1],
    ("search",): [None, {}],
    ("front", "error"): [[], [1.0, 2.0, 3.0, 4.0, 5.0]],
    ("front", "trees"): [[], None],
    ("front", "trees", 0, "children_left", 0): [7],
}


@pytest.mark.parametrize("path", OPTIMAL_CHANGES, ids=lambda path: "-".join(map(str, path)))
def test_fronts_that_make_no_sense(path, tmp_path):
    tree = OptimalDecisionTreeClassifier(max_depth=2, pareto_front=True).fit(X, y)
    whole = document_of(tree, tmp_path)
    assert load(write(whole, tmp_path)).from_front(max_leaf_nodes=2).get_n_leaves() == 2
    for document in changed(whole, path, OPTIMAL_CHANGES[path]):
        with pytest.raises(ValueError, match="is not a model that fasttree can read: ."):
            load(write(document, tmp_path))


FOREST_CHANGES = {
    ("trees",): [[], None],
    ("trees", 1): [None, {}],
    ("trees", 1, "value"): [[], [1.0]],
    ("trees", 1, "feature", 0): [7],
    ("random_states",): [[], [1], None, [1, 2, 3, -4], [1, 2, 3, 2**33]],
    ("n_fit_rows",): [0, 39, None, True],
    ("n_drawn_rows",): [0, -1, 1.5, "a"],
    ("row_weights",): [[], [1.0], "abc"],
    ("classes", 0): [{"array": [0, 1], "dtype": "int64"}],
    ("feature_names",): [["a"]],
    ("target_name",): [1, ["a"]],
    ("oob", "shape"): [[], [40], [3, 40], [-40, -3], ["a"], [40, 3, 1, 1]],
    ("oob", "values"): [[], None, [1.0, 2.0]],
    ("oob", "score"): [None, "a", []],
    ("parameters", "n_estimators"): [0, "many"],
}


@pytest.mark.parametrize("path", FOREST_CHANGES, ids=lambda path: "-".join(map(str, path)))
def test_forests_that_make_no_sense(path, tmp_path):
    forest, rows = saved()[-2]
    whole = document_of(forest, tmp_path)
    assert np.array_equal(load(write(whole, tmp_path)).predict(rows), forest.predict(rows))
    for document in changed(whole, path, FOREST_CHANGES[path]):
        with pytest.raises(ValueError, match="is not a model that fasttree can read: ."):
            load(write(document, tmp_path))


# ---- compressed files


def test_files_that_expand_to_anything(tmp_path):
    """A thousand times their size: refused before it is made."""
    path = tmp_path / "model.json.gz"
    path.write_bytes(gzip.compress(b" " * (70 << 20)))
    with pytest.raises(ValueError, match="expands to more than 67,108,864 bytes"):
        load(path)


def test_limit_of_expansion(tmp_path, monkeypatch):
    tree = DecisionTreeClassifier().fit(X, y)
    path = tmp_path / "model.json.gz"
    save(tree, path)
    size, text = path.stat().st_size, len(gzip.decompress(path.read_bytes()))
    monkeypatch.setattr(model_file, "_MAX_BYTES", text)
    monkeypatch.setattr(model_file, "_MAX_RATIO", 1)
    assert load(path).get_n_leaves() == tree.get_n_leaves()
    monkeypatch.setattr(model_file, "_MAX_BYTES", max(size, text - 1))
    with pytest.raises(ValueError, match="expands to more than"):
        load(path)
    with pytest.raises(ValueError, match="leave out"):
        save(tree, path)


# ---- mutated files


def mutate(rng, raw):
    """The bytes of a file with one to three changes."""
    raw = bytearray(raw)
    for _ in range(rng.integers(1, 4)):
        at, end = sorted(rng.integers(0, len(raw), 2).tolist())
        kind = rng.integers(0, 5)
        if kind == 0:
            raw[at] = rng.integers(0, 256)
        elif kind == 1:  # what stays text
            raw[at] = rng.choice(list(b'0123456789-.e,:"[]{} \n'))
        elif kind == 2:
            del raw[at : min(end, at + 40)]
        elif kind == 3:
            raw[at:at] = raw[end : end + 40]
        else:
            raw[at : at + 1] = rng.choice(
                [b"null", b"true", b"1e999", b"99999999999", b"{}", b"-1"]
            )
    return bytes(raw)


def swap(rng, document):
    """Change the value at a random place of a document."""
    places = []

    def visit(part):
        for key in part if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], dict | list):
                visit(part[key])

    visit(document)
    for _ in range(rng.integers(1, 3)):
        container, key = places[rng.integers(0, len(places))]
        other, other_key = places[rng.integers(0, len(places))]
        pool = [None, -1, 0, 1, 2**31, 10**30, 1.5, "a", "nan", [], {}, True, [1], {"a": 1}]
        value = other[other_key] if rng.random() < 0.5 else pool[rng.integers(0, len(pool))]
        container[key] = copy.deepcopy(value)


@pytest.mark.cases(50)
def test_mutated_files(seed, tmp_path):
    """A hundred files each: ValueError, or the same tree."""
    rng = np.random.default_rng(seed)
    estimator, rows = saved()[seed % len(saved())]
    path = tmp_path / "model.json"
    save(estimator, path)
    raw = path.read_bytes()
    n_refused = 0
    for _ in range(100):
        path.write_bytes(mutate(rng, raw))
        try:
            loaded = load(path)
        except ValueError:
            n_refused += 1
        else:
            assert np.array_equal(loaded.predict(rows), estimator.predict(rows))
    assert n_refused > 50


@pytest.mark.cases(50)
def test_files_with_other_values(seed, tmp_path):
    """Without a checksum a file may hold another tree, but one that can be used."""
    rng = np.random.default_rng(seed)
    estimator, rows = saved()[seed % len(saved())]
    whole = document_of(estimator, tmp_path)
    for _ in range(100):
        document = copy.deepcopy(whole)
        swap(rng, document)
        try:
            loaded = load(write(document, tmp_path))
        except ValueError:
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            # Parts may not fit these rows, or be more than SQL can say.
            with contextlib.suppress(ValueError, TypeError):
                loaded.predict(rows)
                loaded.apply(rows)
                export_rules(loaded)
                export_sql(loaded, "t")
