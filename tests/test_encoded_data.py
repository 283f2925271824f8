"""EncodedData: fits that share an encoding grow the trees of fits that make their own."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.preprocessing import StandardScaler

import fasttree.tree._data
from fasttree import config_context
from fasttree.model_selection import TrainOnceSearchCV, tuning_curve
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EncodedData,
    ExtraTreeRegressor,
    best_split,
    feature_scores,
)
from fasttree.tree._encoding import encoding_of
from reference.naive_hybrid import object_array, random_table
from reference.trees import assert_same

CLASSIFIERS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=9),
    DecisionTreeClassifier(max_features=1, random_state=3),
    DecisionTreeClassifier(criterion="chi2", min_samples_leaf=0.05),
]
REGRESSORS = [
    DecisionTreeRegressor(),
    DecisionTreeRegressor(criterion="absolute_error", max_depth=4),
    DecisionTreeRegressor(criterion="poisson", max_depth=4),
    DecisionTreeRegressor(criterion="label_split", max_depth=4),
    ExtraTreeRegressor(random_state=1),
]


def tree_bytes(estimator):
    return pickle.dumps(getattr(estimator, "estimator_", estimator).tree_)


def random_data(seed):
    """(X, y, weights, estimators) of a small problem: ties, missing values, dense or sparse."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(5, 700))
    X = rng.normal(size=(n_rows, int(rng.integers(1, 6)))).round(int(rng.integers(0, 4)))
    if seed % 3 == 0:
        X[rng.random(X.shape) < 0.1] = np.nan
    if seed % 4 == 1:
        X = sp.csr_matrix(X * (rng.random(X.shape) < 0.3))
    weights = rng.integers(0, 3, n_rows) + 0.25 if seed % 5 == 0 else None
    if seed % 2:
        return X, rng.integers(0, 2 + seed % 4, n_rows), weights, CLASSIFIERS
    return X, rng.poisson(3.0, n_rows) + 0.5, weights, REGRESSORS


def chosen(weights, rows):
    return None if weights is None else weights[rows]


@pytest.mark.parametrize("seed", range(40))
def test_samples_of_shared_columns_give_the_trees_of_their_rows(seed):
    X, y, weights, estimators = random_data(seed)
    rng = np.random.default_rng([seed, 1])
    rows = rng.permutation(len(y))[: max(2, int(rng.integers(2, len(y) + 1)))]
    data, ascending = EncodedData(X), np.sort(rows)
    for estimator in estimators:
        alone = clone(estimator).fit(X[ascending], y[ascending], chosen(weights, ascending))
        shared = clone(estimator).fit(data[rows], y[rows], chosen(weights, rows))
        assert tree_bytes(alone) == tree_bytes(shared)
        assert_array_equal(alone.predict(X), shared.predict(data))


@pytest.mark.parametrize("strategy", ["presort", "count", "sort"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_strategies_and_threads(strategy, n_threads):
    X, y, _, _ = random_data(3)
    data, rows = EncodedData(X), np.arange(0, len(y), 3)
    expected = tree_bytes(DecisionTreeClassifier().fit(X[rows], y[rows]))
    with config_context(strategy=strategy, n_threads=n_threads):
        assert tree_bytes(DecisionTreeClassifier().fit(data[rows], y[rows])) == expected


@pytest.mark.parametrize("seed", range(10))
def test_tables(seed):
    table = object_array(random_table(np.random.default_rng(seed)))
    y = np.random.default_rng([seed, 1]).integers(0, 3, len(table))
    data = EncodedData(table)
    alone, shared = DecisionTree().fit(table, y), DecisionTree().fit(data, y)
    assert tree_bytes(alone) == tree_bytes(shared)
    assert alone.categories_ == shared.categories_
    assert_array_equal(alone.predict(table), alone.predict(data))
    assert_array_equal(alone.predict(table[::2]), shared.predict(data[::2]))


def test_functions_and_optimal_trees():
    X, y, _, _ = random_data(3)
    data = EncodedData(X)
    assert_array_equal(feature_scores(X, y), feature_scores(data, y))
    assert best_split(X[:, 0], y).score == feature_scores(data, y)[0]
    tree = OptimalDecisionTreeClassifier(max_depth=2, n_thresholds=4)
    alone, shared = clone(tree).fit(X, y), clone(tree).fit(data, y)
    assert tree_bytes(alone) == tree_bytes(shared)
    path = DecisionTreeClassifier().cost_complexity_pruning_path(data, y)
    assert_array_equal(
        path.ccp_alphas, DecisionTreeClassifier().cost_complexity_pruning_path(X, y).ccp_alphas
    )


def test_rows_are_selected_as_scikit_learn_does():
    X, y, _, _ = random_data(3)
    data = EncodedData(X)
    assert data.shape == X.shape
    assert len(data) == len(X)
    train, _, y_train, _ = train_test_split(data, y, random_state=0)
    assert train.shape[0] == len(y_train)
    tree = DecisionTreeClassifier()
    assert_array_equal(cross_val_score(tree, data, y), cross_val_score(tree, X, y))
    assert_array_equal(data[[4, 1]][[1]].cells, X[[1]].astype(np.float32))
    assert_array_equal(data[np.arange(len(X)) < 3].cells, X[:3].astype(np.float32))
    twice = np.repeat(np.arange(20), 2)
    assert tree_bytes(clone(tree).fit(data[twice], y[twice])) == tree_bytes(
        clone(tree).fit(X[twice], y[twice])
    )
    with pytest.raises(TypeError, match="select"):
        data[:, 0]
    with pytest.raises(IndexError):
        data[[len(X)]]


def test_it_is_pickled_with_the_rows_selected():
    X, y, _, _ = random_data(3)
    rows = np.arange(0, len(y), 2)
    copy = pickle.loads(pickle.dumps(EncodedData(X)[rows]))
    assert copy.shape == (len(rows), X.shape[1])
    assert tree_bytes(DecisionTreeClassifier().fit(copy, y[rows])) == tree_bytes(
        DecisionTreeClassifier().fit(X[rows], y[rows])
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_changes_made_later_have_no_effect(dtype):
    X, y, _, _ = random_data(3)
    X = X.astype(dtype)
    data, expected = EncodedData(X), tree_bytes(DecisionTreeClassifier().fit(X, y))
    X[:] = 0.0
    assert tree_bytes(DecisionTreeClassifier().fit(data, y)) == expected


def test_data_that_is_read_only_is_not_copied():
    X = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    X.flags.writeable = False
    assert np.shares_memory(EncodedData(X).cells, X)


def test_parameters_that_contradict_the_encoding_are_refused():
    X = [[1.0, "a"], [2.0, "b"], [-1.0, "a"]]
    data = EncodedData(X, missing_values=-1)
    with pytest.raises(ValueError, match="missing_values=-1"):
        DecisionTreeClassifier(missing_values=-2).fit(data, [0, 1, 0])
    with pytest.raises(ValueError, match="categorical_features"):
        DecisionTreeClassifier(categorical_features=[1]).fit(data, [0, 1, 0])
    DecisionTreeClassifier(missing_values=-1).fit(data, [0, 1, 0])
    fitted = DecisionTreeClassifier().fit([[1.0, "a"], [2.0, "c"]], [0, 1])
    with pytest.raises(ValueError, match="other categories"):
        fitted.predict(data)
    with pytest.raises(ValueError, match="features"):
        DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 1]).predict(EncodedData(np.ones((2, 3))))
    with pytest.raises(ValueError, match="infinity"):
        EncodedData([[np.inf]])


def test_it_is_no_array():
    data = EncodedData([[1.0], [2.0]])
    for call in (np.asarray, StandardScaler().fit, EncodedData):
        with pytest.raises(TypeError, match="for the estimators of fasttree alone"):
            call(data)


def test_names_of_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    tree = DecisionTreeClassifier().fit(EncodedData(frame), [0, 1, 0])
    assert tree.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="names"):
        tree.predict(EncodedData(frame.rename(columns={"a": "c"})))


def test_threads_share_what_is_made_first():
    X, y, _, _ = random_data(3)
    data, expected = EncodedData(X), tree_bytes(DecisionTreeClassifier().fit(X, y))
    found = []

    def fit():
        found.append(tree_bytes(DecisionTreeClassifier().fit(data, y)))

    threads = [threading.Thread(target=fit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_searches_encode_once(monkeypatch):
    made = []

    def counted(*args, **kwargs):
        made.append(args)
        return encoding_of(*args, **kwargs)

    encoding_of = fasttree.tree._data.encoding_of
    monkeypatch.setattr(fasttree.tree._data, "encoding_of", counted)
    X, y, _, _ = random_data(3)
    search = TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": range(1, 9)}).fit(X, y)
    assert search.n_fits_ == 5
    assert len(made) == 1
    made.clear()
    tuning_curve(DecisionTreeClassifier(), X, y, param_range=[1, 2, 3])
    assert len(made) == 1


# ---- how columns are encoded


def columns_of_many_kinds(n_rows):
    """Columns that show at the start, late, at the end or in one place that values are many."""
    rng = np.random.default_rng(0)
    place = np.arange(n_rows) / n_rows
    normal = rng.standard_normal(n_rows)
    missing = np.append(np.ones(n_rows - 1), np.nan)
    return np.column_stack(
        [
            normal,
            rng.integers(0, 250, n_rows),
            np.where(np.arange(n_rows) < n_rows - 300, 0.0, normal),
            np.where(place < 0.3, normal, 1.0),
            np.where((place > 0.6) & (place < 0.7), normal, rng.choice([0.0, -0.0], n_rows)),
            rng.integers(0, 256, n_rows) * missing,
            rng.integers(0, 255, n_rows) * missing,
            place * 500 // 1,  # few in each of three parts
            rng.integers(0, 150, n_rows) + place * 6 // 1 * 150,  # few in each, many in all
            np.where(rng.random(n_rows) < place / 9, normal, rng.choice([np.nan, 7.0], n_rows)),
            np.where(place < 0.5, rng.integers(0, 250, n_rows), 3.0),
        ]
    ).astype(np.float32)


def assert_told_apart_or_listed(X, n_threads):
    encoding = encoding_of(X, is_shared=True)
    encoding.prepare(n_threads)
    [made] = encoding.made().values()
    codes = iter(made["codes"].reshape(len(X), -1).T)
    lists = iter(made["lists"])
    for x in X.T:
        distinct = np.unique(x[~np.isnan(x)])
        if len(distinct) + np.isnan(x).any() <= 256:
            expected = np.where(np.isnan(x), len(distinct), np.searchsorted(distinct, x))
            assert np.array_equal(next(codes), expected)
            continue
        rows = np.argsort(x, kind="stable")
        differs = x[rows[1:]] != x[rows[:-1]]
        is_boundary = np.append(False, differs & ~np.isnan(x[rows[:-1]]))
        assert np.array_equal(next(lists), rows | is_boundary.astype(np.int64) << 31)
    assert next(codes, None) is None
    assert next(lists, None) is None


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize(("n_rows", "n_repeats"), [(400_000, 1), (60_000, 8)])
def test_values_are_told_apart_or_listed(order, n_threads, n_rows, n_repeats):
    X = np.tile(columns_of_many_kinds(n_rows), n_repeats)
    assert_told_apart_or_listed(np.asarray(X, order=order), n_threads)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("is_listed", [False, True])
def test_kinds_of_nan_that_leave_no_room_for_the_values_of_others(order, is_listed):
    """The second thread has met one value, but in 400 kinds, when it learns of the first one's."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 250, 20_000).astype(np.float32)
    x[:625] = np.arange(625) % 250
    if is_listed:
        x[9_990:10_000] = rng.standard_normal(10)
    x[10_000:10_400].view(np.uint32)[:] = 0x7FC00000 + np.arange(400)
    X = np.column_stack([x] * 9)
    encoding = encoding_of(np.asarray(X, order=order), is_shared=True)
    encoding.prepare(2)
    [made] = encoding.made().values()
    assert not made["codes"].size  # as with any number of kinds
    rows = np.argsort(x, kind="stable")
    for entries in made["lists"]:
        assert np.array_equal(entries & 0x3FFFFFFF, rows)


@pytest.mark.parametrize("max_features", [None, 3])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_values_of_a_sample_are_told_apart_or_listed(n_threads, max_features):
    """Rows of no weight are not read. If nodes look at few columns, there are no lists."""
    rng = np.random.default_rng(1)
    X = columns_of_many_kinds(60_000)
    y = np.digitize(np.nan_to_num(X).sum(axis=1) + rng.normal(size=len(X)), [100, 250, 400])
    is_in = rng.random(len(X)) < 0.7
    X[~is_in] = rng.normal(size=X.shape)[~is_in]
    model = DecisionTreeClassifier(max_depth=8, max_features=max_features, random_state=0)
    with config_context(n_threads=n_threads):
        weighted = model.fit(X, y, sample_weight=is_in.astype(float)).tree_
    with config_context(strategy="sort"):
        assert_same(weighted, model.fit(X[is_in], y[is_in]).tree_)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_categories_are_told_apart_or_listed(n_threads):
    """Few, too many at once, and too many near the end; some are missing."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    n_rows = 60_000
    is_late = np.arange(n_rows) > 0.9 * n_rows
    codes = {
        "few": rng.integers(0, 200, n_rows),
        "many": rng.integers(0, 700, n_rows),
        "late": np.where(is_late, rng.integers(0, 700, n_rows), rng.integers(0, 9, n_rows)),
    }
    y = (codes["few"] % 4 + codes["many"] % 3 + codes["late"] % 2 + rng.integers(0, 3, n_rows)) > 4
    columns = {
        name: pd.Categorical.from_codes(
            np.where(rng.random(n_rows) < 0.01, -1, of_column), [f"c{i}" for i in range(700)]
        )
        for name, of_column in codes.items()
    }
    X = pd.DataFrame({**columns, "number": rng.normal(size=n_rows)})
    model = DecisionTreeClassifier(max_depth=8)
    with config_context(n_threads=n_threads):
        fitted = model.fit(X, y).tree_
    with config_context(strategy="sort"):
        assert_same(fitted, model.fit(X, y).tree_)
