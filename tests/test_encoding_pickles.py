"""What encodings share beyond a fit: sparse columns in order, and codes and lists in pickles."""

import pickle
import threading

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone

from fasttree import config_context
from fasttree.ensemble import RandomForestClassifier
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor, EncodedData
from reference.jobs import fitted_on
from reference.naive_hybrid import object_array, random_table

TREE = DecisionTreeClassifier()


def tree_bytes(estimator):
    return pickle.dumps(getattr(estimator, "estimator_", estimator).tree_)


def dense_problem(n_rows=400):
    """Columns of few values, of many, of ties and of missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5)).astype(np.float32)
    X[:, 0] = rng.integers(0, 9, n_rows)
    X[:, 1] = X[:, 1].round(2)
    X[rng.random(n_rows) < 0.1, 2] = np.nan
    return X, rng.integers(0, 3, n_rows)


def one_hot_problem(n_rows=400):
    """The same beside many columns of two values."""
    X, y = dense_problem(n_rows)
    rng = np.random.default_rng(2)
    return np.hstack([X, rng.integers(0, 2, (n_rows, 30)).astype(np.float32)]), y


def sparse_problem(n_rows=600):
    """The same for nonzeros of both signs, explicit zeros and an empty column among them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 12)).round(1) * (rng.random((n_rows, 12)) < 0.3)
    X[:, 3] = np.abs(X[:, 3])
    X[:, 4] = 0.0
    X[rng.random(n_rows) < 0.05, 5] = np.nan
    X = sp.csc_matrix(X.astype(np.float32))
    X.data[::7] = 0.0
    return X, rng.integers(0, 3, n_rows)


# ---- the order of sparse columns


def n_sorted(data):
    return data._encoding.n_sorted


@pytest.mark.parametrize("simd", ["auto", "avx2", "portable"])
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("params", [{}, {"max_leaf_nodes": 20}, {"max_features": 4}])
def test_fits_share_the_order_of_sparse_columns(params, n_threads, simd):
    X, y = sparse_problem()
    tree = clone(TREE).set_params(**params, random_state=0)
    data = EncodedData(X)
    some = np.flatnonzero(np.arange(len(y)) % 5)
    with config_context(n_threads=n_threads, simd=simd, strategy="presort"):
        assert n_sorted(data) == 0
        assert tree_bytes(clone(tree).fit(data, y)) == tree_bytes(clone(tree).fit(X, y))
        n_first = n_sorted(data)
        assert 0 < n_first < X.shape[1]
        assert tree_bytes(clone(tree).fit(data, y)) == tree_bytes(clone(tree).fit(X, y))
        assert n_sorted(data) == n_first
        for rows in (some, some[::2], some[::40]):
            alone = clone(tree).fit(X[rows], y[rows])
            assert tree_bytes(clone(tree).fit(data[rows], y[rows])) == tree_bytes(alone)


def test_a_column_is_sorted_for_all_only_where_most_of_it_is_needed():
    X, y = sparse_problem()
    data = EncodedData(X)
    clone(TREE).fit(data[np.arange(0, len(y), 9)], y[::9])
    assert n_sorted(data) == 0


def test_threads_sort_sparse_columns_together():
    X, y = sparse_problem()
    data, expected, found = EncodedData(X), tree_bytes(clone(TREE).fit(X, y)), []
    barrier = threading.Barrier(8)

    def fit():
        barrier.wait()
        found.append(tree_bytes(clone(TREE).fit(data, y)))

    threads = [threading.Thread(target=fit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


# ---- codes and lists in pickles


def problems():
    yield "dense", *dense_problem(), clone(TREE)
    yield "few rows", *dense_problem(40), clone(TREE)
    yield "Fortran", np.asfortranarray(dense_problem()[0]), dense_problem()[1], clone(TREE)
    yield "one-hot", *one_hot_problem(), clone(TREE)
    yield "regression", dense_problem()[0], dense_problem()[1] + 0.5, DecisionTreeRegressor()
    yield "sparse", *sparse_problem(), clone(TREE)
    table = object_array(random_table(np.random.default_rng(3)))
    yield "table", table, np.random.default_rng(4).integers(0, 3, len(table)), DecisionTree()


PROBLEMS = {name: parts for name, *parts in problems()}


def round_trip(data):
    """What a process reads from read-only memory, and the memory."""
    buffers = []
    raw = pickle.dumps(data, protocol=5, buffer_callback=buffers.append)
    memory = [bytes(buffer.raw()) for buffer in buffers]
    return pickle.loads(raw, buffers=memory), memory


def made(data):
    """The codes and lists of an encoding, by strategy and name."""
    for strategy, parts in data._encoding.made().items():
        for name, value in parts.items():
            for i, array in enumerate(value if isinstance(value, list) else [value]):
                yield (strategy, name, i), array


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("strategy", ["auto", "presort", "count", "sort"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_pickle_brings_what_was_made(name, strategy, n_threads):
    X, y, tree = PROBLEMS[name]
    data = EncodedData(X)
    rows = np.arange(0, len(y), 3)
    with config_context(strategy=strategy, n_threads=n_threads):
        expected = tree_bytes(clone(tree).fit(data, y))
        copy, memory = round_trip(data)
        before = dict(made(copy))
        fitted = clone(tree).fit(copy, y)
        assert tree_bytes(fitted) == expected
        assert_array_equal(fitted.predict(copy), fitted.predict(X))
        part = clone(tree).fit(copy[rows], y[rows])
        assert tree_bytes(part) == tree_bytes(clone(tree).fit(data[rows], y[rows]))
        assert tree_bytes(clone(tree).fit(round_trip(copy)[0], y)) == expected
    # Nothing was encoded again, and what was read stands where it was.
    after = dict(made(copy))
    assert after.keys() == before.keys() == dict(made(data)).keys()
    for key, array in after.items():
        assert array is before[key]
        assert array.nbytes == 0 or not array.flags.writeable
        assert_array_equal(array, dict(made(data))[key])
    large = [array for key, array in after.items() if key[1] in ("codes", "wide_codes", "lists")]
    assert all(
        any(np.shares_memory(array, np.frombuffer(part, np.uint8)) for part in memory if part)
        for array in large
        if array.nbytes
    )
    assert bool(large) == (name != "sparse")


def test_data_can_be_prepared_before_it_travels():
    X, y = dense_problem()
    data = EncodedData(X)
    assert not dict(made(data))
    assert data.prepare() is data
    copy, _ = round_trip(data)
    before = dict(made(copy))
    assert {key[1] for key in before} >= {"codes", "lists"}
    assert tree_bytes(clone(TREE).fit(copy, y)) == tree_bytes(clone(TREE).fit(X, y))
    assert dict(made(copy)).keys() == before.keys()
    assert EncodedData(sparse_problem()[0]).prepare().shape == (600, 12)


def test_a_pickle_of_selected_rows_holds_these_alone():
    X, y = dense_problem()
    data = EncodedData(X).prepare()
    copy, memory = round_trip(data[np.arange(0, 400, 4)])
    assert copy.shape == (100, 5)
    assert sum(map(len, memory)) < X.nbytes / 3
    assert tree_bytes(clone(TREE).fit(copy, y[::4])) == tree_bytes(clone(TREE).fit(X[::4], y[::4]))


def test_a_file_is_mapped_into_memory(tmp_path):
    X, y = dense_problem()
    joblib.dump(EncodedData(X).prepare(), tmp_path / "data")
    data = joblib.load(tmp_path / "data", mmap_mode="r")
    assert isinstance(data.cells, np.memmap)
    assert any(isinstance(array, np.memmap) for _, array in made(data))
    assert tree_bytes(clone(TREE).fit(data, y)) == tree_bytes(clone(TREE).fit(X, y))


def test_arrays_are_the_same_objects_each_time():
    """Joblib writes an array to a file once as long as it is the same object."""
    data = EncodedData(dense_problem()[0]).prepare()
    first, second = dict(made(data)), dict(made(data))
    assert all(first[key] is second[key] for key in first)


def test_workers_of_joblib_map_the_data():
    X, y = dense_problem(4000)
    data = EncodedData(X).prepare()
    with joblib.parallel_config(backend="loky", n_jobs=2, max_nbytes=1000):
        found = joblib.Parallel()(joblib.delayed(fitted_on)(data, y) for _ in range(4))
        assert found == [(tree_bytes(clone(TREE).fit(X, y)), True)] * 4
        forest = RandomForestClassifier(4, random_state=0, n_jobs=2).fit(data, y)
    alone = RandomForestClassifier(4, random_state=0).fit(X, y)
    assert_array_equal(forest.predict_proba(X), alone.predict_proba(X))


# ---- pickles that were tampered with


class Tampered:
    """Pickles as an encoding whose parts were changed."""

    def __init__(self, encoding, change):
        self.encoding, self.change = encoding, change

    def __reduce__(self):
        call, arguments = self.encoding.__reduce__()
        arguments = list(arguments)
        arguments[3] = {
            strategy: {
                name: [part.copy() for part in value] if name == "lists" else value.copy()
                for name, value in parts.items()
            }
            for strategy, parts in arguments[3].items()
        }
        self.change(arguments)
        return call, tuple(arguments)


AUTO, COUNT = 0, 2


def put(name, at, value, strategy=AUTO):
    def change(arguments):
        arguments[3][strategy][name][at] = value

    return change


def exchange(a, b, which=0):
    def change(arguments):
        entries = arguments[3][AUTO]["lists"][which]
        entries[a], entries[b] = entries[b], entries[a]

    return change


def replace(name, function, strategy=AUTO):
    def change(arguments):
        parts = arguments[3][strategy]
        parts[name] = function(parts[name])

    return change


def repeat_a_row(arguments):
    """Entries in the order of their values, one of them twice."""
    entries = arguments[3][AUTO]["lists"][0]
    entries[5] = entries[4]


def flip_bit(bit):
    def change(arguments):
        arguments[3][AUTO]["lists"][0][7] ^= np.uint32(1 << bit)

    return change


def argument(at, value):
    def change(arguments):
        arguments[at] = value

    return change


def put_cell(row, column, bits):
    def change(arguments):
        arguments[0] = arguments[0].copy()
        arguments[0].view(np.uint32)[row, column] = bits

    return change


def turned(codes):
    """Codes of the rows from the last to the first."""
    return codes.reshape(400, -1)[::-1].ravel()


def lengthen_values(arguments):
    """Values that ascend, more than codes of a byte can tell apart."""
    parts = arguments[3][AUTO]
    n = parts["n_values"][0]
    more = parts["values"][n - 1] + np.arange(1, 1000, dtype=np.float32)
    parts["values"] = np.insert(parts["values"], n, more)
    parts["n_values"][0] += len(more)


INFINITE, SEVEN, UNKNOWN_CATEGORY = 0x7F800000, 0x40E00000, 0x7FC00001 + 4_000_000


CHANGES = {
    "a code without a value": put("codes", 0, 200),
    "the code of missing values": put("codes", 0, 9),
    "codes of other cells": replace("codes", turned),
    "wide codes of other cells": replace("wide_codes", turned, COUNT),
    "values of other cells": replace("values", lambda values: values + np.float32(1000)),
    "wide values of other cells": replace("values", lambda values: values * np.float32(2), COUNT),
    "more values than codes": lengthen_values,
    "an infinite value": replace(
        "values", lambda values: np.append(values[:-1], np.float32(np.inf))
    ),
    "another cell of few values": put_cell(3, 0, SEVEN),
    "another cell of many values": put_cell(3, 4, SEVEN),
    "an infinite cell": put_cell(3, 4, INFINITE),
    "a wide code without a value": put("wide_codes", 0, 10_000, COUNT),
    "values that fall": put("values", 1, -1.0),
    "equal values": put("values", 1, 0.0),
    "a missing value among values": put("values", 1, np.nan),
    "an unknown storage": put("storage", 0, 7),
    "another storage": put("storage", 0, 0),
    "codes of another strategy": put("storage", 0, 2),
    "more values": put("n_values", 0, 200),
    "very many values": put("n_values", 0, 2**32 - 1),
    "values of no column": put("n_values", 4, 1),
    "a row that is not there": put("lists", 0, np.full(400, 400, np.uint32)),
    "a list out of order": exchange(0, 399),
    "neighbours exchanged": exchange(10, 11),
    "a row listed twice": repeat_a_row,
    "a boundary flipped": flip_bit(31),
    "an entry with a class": flip_bit(30),
    "a shorter list": replace("lists", lambda lists: [lists[0][:-1], *lists[1:]]),
    "a list less": replace("lists", lambda lists: lists[:-1]),
    "no lists": replace("lists", lambda _: None),
    "shorter codes": replace("codes", lambda codes: codes[:-1]),
    "wide codes of another type": replace("codes", lambda codes: codes.astype(np.int64)),
    "codes in two dimensions": replace("codes", lambda codes: codes[None]),
    "no array": replace("values", lambda values: values.tolist()),
    "X of doubles": lambda arguments: argument(0, arguments[0].astype(float))(arguments),
    "X of one row less": lambda arguments: argument(0, arguments[0][:-1])(arguments),
    "X of one column less": lambda arguments: argument(0, arguments[0][:, :-1])(arguments),
    "no X": argument(0, None),
    "categories of one column": argument(1, np.ones(1, np.uint32)),
    "no parts": argument(3, None),
    "parts of no strategy": lambda arguments: argument(3, {9: arguments[3][AUTO]})(arguments),
    "codes where none belong": lambda arguments: argument(3, {1: arguments[3][AUTO]})(arguments),
}


@pytest.fixture(scope="module")
def prepared():
    data = EncodedData(dense_problem()[0]).prepare()
    with config_context(strategy="count"):
        clone(TREE).fit(data, dense_problem()[1])
    return data


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_tampered_with_is_refused(prepared, name):
    raw = pickle.dumps(Tampered(prepared._encoding, CHANGES[name]))
    with pytest.raises(ValueError, match=r"\w"):
        pickle.loads(raw)


BITS = 4
CHANGES_OF_BITS = {
    "a column of more values": put("storage", 4, BITS),
    "a column of two values as others": put("storage", 9, 0),
    "no column of two values": put("storage", slice(5, None), 0),
    "values of bits": put("n_values", 9, 1),
    "a third value": put_cell(3, 9, SEVEN),
    "an infinite value": lambda arguments: [
        put_cell(row, 9, INFINITE)(arguments) for row in np.flatnonzero(arguments[0][:, 9])
    ],
}


@pytest.mark.parametrize("name", CHANGES_OF_BITS)
def test_bits_that_were_tampered_with_are_refused(name):
    encoding = EncodedData(one_hot_problem()[0]).prepare()._encoding
    assert (dict(encoding.made()[AUTO])["storage"][5:] == BITS).all()
    with pytest.raises(ValueError, match=r"\w"):
        pickle.loads(pickle.dumps(Tampered(encoding, CHANGES_OF_BITS[name])))


def test_what_was_not_tampered_with_is_accepted(prepared):
    copy = pickle.loads(pickle.dumps(Tampered(prepared._encoding, lambda arguments: None)))
    assert copy.made().keys() == prepared._encoding.made().keys()


def test_categories_have_to_exist():
    table = np.array([["a", 1.0], ["b", 2.0], [None, 3.0]] * 50, dtype=object)
    encoding = EncodedData(table).prepare()._encoding

    def fewer(arguments):
        arguments[1] = np.minimum(arguments[1], 1).astype(np.uint32)

    with pytest.raises(ValueError, match="codes or lists"):
        pickle.loads(pickle.dumps(Tampered(encoding, fewer)))


def test_cells_are_checked_where_nothing_was_made_of_them():
    X, table = dense_problem()[0], np.array([["a", 1.0], ["b", 2.0]] * 50, dtype=object)
    for rows, change in (
        (X, put_cell(3, 4, INFINITE)),
        (np.asfortranarray(X), put_cell(399, 0, INFINITE | 1 << 31)),
        (table, put_cell(99, 1, INFINITE)),
        (table, put_cell(0, 0, UNKNOWN_CATEGORY)),
        (table, put_cell(99, 0, 0x7FC00001 + 2)),
    ):
        encoding = EncodedData(rows)._encoding
        raw = pickle.dumps(Tampered(encoding, change))
        with pytest.raises(ValueError, match="infinities or categories"):
            pickle.loads(raw)
        assert not pickle.loads(pickle.dumps(encoding)).made()


def test_cells_of_sparse_data_are_checked():
    encoding = EncodedData(sparse_problem()[0])._encoding

    def infinite(arguments):
        arguments[0] = arguments[0].copy()
        arguments[0].data[5] = -np.inf

    categories = argument(1, np.ones(12, np.uint32))
    for change in (infinite, categories):
        with pytest.raises(ValueError, match="infinities|Nothing but the matrix"):
            pickle.loads(pickle.dumps(Tampered(encoding, change)))
    assert pickle.loads(pickle.dumps(encoding)).n_rows == 600


def test_the_table_has_to_be_that_of_the_encoding():
    table = np.array([["a", 1.0], ["b", 2.0]] * 10, dtype=object)
    data, other = EncodedData(table), EncodedData(np.zeros((20, 2), np.float32))
    for attributes in ({"_encoding": other._encoding}, {"_encoding": None}, {"_table_encoder": 1}):
        copy = EncodedData.__new__(EncodedData)
        with pytest.raises(ValueError, match=r"\w"):
            copy.__setstate__(data.__getstate__() | attributes)


def test_parts_of_encoded_data_may_not_be_missing():
    state = EncodedData(dense_problem()[0]).__getstate__()
    for name in state:
        copy = EncodedData.__new__(EncodedData)
        with pytest.raises(ValueError, match="missing"):
            copy.__setstate__({key: value for key, value in state.items() if key != name})
