"""Sparse matrices: the trees of dense ones, whatever the strategy, the threads and the form.

And the pieces of the sparse trees' paper: the mapping, the two ways to find the nonzeros of a node,
the rule that chooses.
"""

import _thread
import threading

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.tree
from numpy.testing import assert_array_equal
from sklearn.base import clone

import fasttree
import fasttree.tree
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.tree._sparse_partitioner import ExtractionPartitioner
from reference.judge import judge
from reference.sparse import FORMS, assemble, sparse_problem, with_index_type
from reference.trees import assert_same

STRATEGIES = ("auto", "presort", "count", "sort")
THREADS = (1, 2, 4)
LARGE = (8_000, 25_000)


def same_under_all(dense, sparse, **context):
    with fasttree.config_context(**context):
        expected = dense.fit(fasttree.tree)
    for strategy in STRATEGIES:
        for n_threads in THREADS:
            with fasttree.config_context(strategy=strategy, n_threads=n_threads, **context):
                fitted = sparse.fit(fasttree.tree)
                assert_same(fitted.tree_, expected.tree_)
                assert_array_equal(fitted.predict(sparse.X), expected.predict(dense.X))
                assert_array_equal(fitted.apply(sparse.X), expected.apply(dense.X))


@pytest.mark.cases(1000)
def test_sparse_trees_are_dense_trees(seed):
    same_under_all(*sparse_problem(seed, rows=(2, 100)))


@pytest.mark.cases(60)
def test_sparse_trees_are_dense_trees_on_larger_data(seed):
    same_under_all(*sparse_problem(seed, rows=LARGE, min_samples_leaf=5))


@pytest.mark.cases(200)
def test_the_replay_too(seed):
    same_under_all(*sparse_problem(seed, rows=(2, 100)), sklearn_random_stream=True)


@pytest.mark.cases(300)
def test_sparse_replay_is_scikit_learns_sparse_tree(seed):
    dense, sparse = sparse_problem(seed, exact=True)
    dense.X = np.nan_to_num(dense.X)
    sparse.X = sp.csc_matrix(dense.X)
    with fasttree.config_context(sklearn_random_stream=True):
        ours = sparse.fit(fasttree.tree)
    assert_same(ours.tree_, dense.fit(sklearn.tree).tree_)


@pytest.mark.cases(300)
@pytest.mark.parametrize("strategy", ["presort", "sort"])
def test_every_split_is_the_best_split(seed, strategy):
    dense, sparse = sparse_problem(seed, ccp_alpha=0.0)
    with fasttree.config_context(strategy=strategy):
        fitted = sparse.fit(fasttree.tree)
    judge(fitted, dense.X, dense.y, dense.sample_weight)


def text_like(rng, n_rows, n_features, n_classes):
    """Word frequencies, and classes that favour some words; few of them ties."""
    y = rng.integers(0, n_classes, n_rows)
    rates = rng.dirichlet(np.full(n_features, 0.1), n_classes)[y]
    counts = rng.poisson(8 * n_features**0.5 * rates)
    X = counts * rng.uniform(0.5, 1.0, counts.shape)
    X[:, 0] = rng.normal(size=n_rows)
    return X.astype(np.float32), y


@pytest.mark.cases(100)
@pytest.mark.parametrize("n_classes", [2, 3, 9, 30])
def test_stretches_without_a_candidate_are_skipped_safely(seed, n_classes):
    """Long runs of many classes: most positions are never scored, none that is best."""
    rng = np.random.default_rng(seed)
    X, y = text_like(rng, int(rng.integers(50, 400)), 8, n_classes)
    fitted = DecisionTreeClassifier(max_depth=4).fit(sp.csc_matrix(X), y)
    judge(fitted, X, y)
    assert_same(DecisionTreeClassifier(max_depth=4).fit(X, y).tree_, fitted.tree_)


def near_ties(rng, n_rows, n_classes):
    """Columns that part about as many rows, nearly all of one class: bounds on their scores are
    tight, and the scores next to each other."""
    y = rng.integers(0, n_classes, n_rows)
    X = np.zeros((n_rows, 60), dtype=np.float32)
    for column in X.T:
        own = np.flatnonzero(y == rng.integers(n_classes))
        rows = rng.permutation(own)[: len(own) // 2 + rng.integers(4)]
        column[np.append(rows, rng.integers(0, n_rows, rng.integers(3)))] = 1.0
    return X, y


def assert_like_dense(Tree, X, y, sample_weight, n_threads=1):
    with fasttree.config_context(strategy="presort", n_threads=n_threads):
        fitted = Tree(max_depth=3).fit(sp.csc_matrix(X), y, sample_weight)
    assert_same(Tree(max_depth=3).fit(X, y, sample_weight).tree_, fitted.tree_)


WEIGHTS = {
    "none": lambda rng, n_rows: None,
    "alike": lambda rng, n_rows: rng.uniform(0.9, 1.1, n_rows),
    "far apart": lambda rng, n_rows: 10.0 ** rng.uniform(-20, 0, n_rows),
}


@pytest.mark.cases(100)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("n_classes", [2, 5, 20])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_columns_are_left_unsorted_safely(seed, n_classes, weights, n_threads):
    rng = np.random.default_rng(seed)
    X, y = near_ties(rng, int(rng.integers(40, 200)), n_classes)
    X[:, 50:55] = 1.0  # all rows but one or two, and the same rows twice
    X[rng.integers(0, len(y), 10), np.repeat(np.arange(50, 55), 2)] = 0.0
    X[:, 55:] = X[:, :5]
    assert_like_dense(DecisionTreeClassifier, X, y, WEIGHTS[weights](rng, len(y)), n_threads)


@pytest.mark.cases(100)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_columns_are_left_unsorted_safely_in_regression(seed, weights):
    """Columns of one or two outliers, or of all rows but those."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(40, 200))
    y = np.where(np.arange(n_rows) < 20, 10.0, 0.0) + rng.uniform(size=n_rows)
    X = np.zeros((n_rows, 60), dtype=np.float32)
    for column in X.T:
        column[rng.integers(0, 20, rng.integers(1, 3))] = rng.uniform(0.5, 1.0)
    X[:, 40:] = np.where(X[:, 40:] > 0, 0.0, 1.0)
    assert_like_dense(DecisionTreeRegressor, X, y, WEIGHTS[weights](rng, n_rows))


def test_a_column_of_nearly_all_the_weight():
    X = sp.csc_matrix([[1.0], [1.0], [0.0], [0.0]])
    fitted = DecisionTreeClassifier().fit(X, [0, 0, 1, 2], [1.0, 1.0, 1e-20, 1e-20])
    assert fitted.tree_.feature[0] == 0


def test_indices_that_only_claim_to_be_sorted():
    X = sp.random(500, 3, 0.9, format="csc", dtype=np.float32, rng=np.random.default_rng(0))
    assert X.has_canonical_format
    X.indices[: X.indptr[1]] = X.indices[: X.indptr[1]][::-1].copy()
    with pytest.raises(ValueError, match="ascending"):
        DecisionTreeClassifier().fit(X, np.arange(500) % 3)


@pytest.mark.parametrize("make", [sp.csc_matrix, np.asarray])
def test_no_rows(make):
    X = make(np.zeros((0, 3), dtype=np.float32))
    with pytest.raises(ValueError, match="rows"):
        DecisionTreeRegressor().fit(X, np.zeros(0), check_input=False)


@pytest.mark.parametrize("scale", [1.0, 1e25])
def test_bound_of_the_absolute_error_allows_for_medians_that_move(scale):
    """The one row of the last column, at the node's median, changes that of the others."""
    X = np.zeros((6, 2), np.float32)
    X[[3, 4, 5], 0] = [3, 1, 2]
    X[2, 1] = 2
    y = scale * np.array([1.0, 12.0, 0.0, 12.0, 10.0, 12.0])
    dense = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y)
    tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(sp.csc_matrix(X), y)
    assert dense.tree_.feature[0] == 1
    assert_same(tree.tree_, dense.tree_)


# ---- forms


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.uint8, bool])
@pytest.mark.parametrize("disorder", ["none", "unsorted", "duplicates", "explicit zeros"])
def test_forms(form, index_dtype, dtype, disorder):
    rng = np.random.default_rng(0)
    X = (rng.integers(1, 4, (60, 7)) * (rng.random((60, 7)) < 0.3)).astype(dtype)
    y = rng.integers(0, 3, 60)
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    if disorder == "unsorted":
        order = rng.permutation(len(values))
        rows, columns, values = rows[order], columns[order], values[order]
    elif disorder == "duplicates":
        rows, columns = np.append(rows, rows[:9]), np.append(columns, columns[:9])
        values = np.append(values, values[:9])
        X[rows[:9], columns[:9]] += values[:9]
    elif disorder == "explicit zeros":
        zeros = np.nonzero(X == 0)
        rows, columns = np.append(rows, zeros[0][::3]), np.append(columns, zeros[1][::3])
        values = np.append(values, np.zeros(len(zeros[0][::3]), dtype=dtype))
    matrix = with_index_type(assemble(form, X.shape, rows, columns, values), index_dtype)
    before = matrix.copy()
    tree = DecisionTreeClassifier().fit(matrix, y)
    expected = DecisionTreeClassifier().fit(X, y)
    assert_same(tree.tree_, expected.tree_)
    assert_array_equal(tree.predict_proba(matrix), expected.predict_proba(X))
    assert matrix.nnz == before.nnz
    assert_array_equal(matrix.data, before.data)
    for name in ("indices", "indptr", "row", "col"):
        if hasattr(matrix, name):
            assert_array_equal(getattr(matrix, name), getattr(before, name))


def test_read_only_arrays():
    X = sp.random(50, 6, 0.3, format="csc", dtype=np.float32, random_state=0)
    y = np.arange(50) % 3
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    tree = DecisionTreeClassifier().fit(X, y)
    assert_same(tree.tree_, DecisionTreeClassifier().fit(X.toarray(), y).tree_)


@pytest.mark.parametrize("strategy", ["presort", "sort"])
def test_what_would_not_fit_as_a_dense_matrix(strategy):
    """A million rows and ten million columns: neither fit nor predict makes a dense copy."""
    rng = np.random.default_rng(0)
    shape, n = (1_000_000, 10_000_000), 5_000
    rows, columns = rng.integers(0, shape[0], n), rng.integers(0, shape[1], n)
    columns[:2_000] = 7
    values = rng.normal(size=n)
    X = sp.csc_matrix((values, (rows, columns)), shape=shape)
    y = (X[:, [7]].toarray()[:, 0] > 0.5).astype(int)
    with fasttree.config_context(strategy=strategy):
        tree = DecisionTreeClassifier().fit(X, y)
    assert tree.get_n_leaves() == 2
    assert tree.tree_.feature[0] == 7
    assert_array_equal(tree.predict(X.tocsr()), y)


@pytest.mark.parametrize("strategy", ["presort", "sort"])
@pytest.mark.parametrize("shape", [(30, 1), (30, 4)])
def test_nothing_but_zeros(strategy, shape):
    with fasttree.config_context(strategy=strategy):
        tree = DecisionTreeRegressor().fit(sp.csc_matrix(shape), np.arange(30.0))
    assert tree.tree_.node_count == 1


@pytest.mark.parametrize("strategy", ["presort", "sort"])
@pytest.mark.parametrize(
    "changes",
    [
        {"indices": [0, 3, 2]},
        {"indices": [0, -1, 2]},
        {"indptr": [0, 1, 2, 10**6]},
        {"indptr": [0, 3, 2, 3]},
        {"indptr": [-5, 1, 2, 3]},
        {"indptr": [0, 1]},
    ],
)
def test_broken_matrices_raise(strategy, changes):
    X = sp.csc_matrix(np.eye(3, dtype=np.float32))
    for name, value in changes.items():
        setattr(X, name, np.array(value, dtype=np.int32))
    X.has_canonical_format = True  # or SciPy would look, and read out of bounds
    with fasttree.config_context(strategy=strategy), pytest.raises(ValueError, match="CSC"):
        DecisionTreeClassifier().fit(X, [0, 1, 0])


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_raise(value):
    X = sp.csc_matrix(np.diag([1.0, value, 2.0]))
    with pytest.raises(ValueError, match="[Ii]nf"):
        DecisionTreeClassifier().fit(X, [0, 1, 0])


# ---- the mapping


def random_matrix(rng):
    n_rows, n_features = int(rng.integers(2, 200)), int(rng.integers(1, 6))
    X = rng.integers(-3, 4, (n_rows, n_features)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < rng.uniform(0, 0.9)] = 0.0
    return X


def nonzeros_of(x, rows):
    """Rows of the node by value: negatives ascending, missing values, positives descending."""
    present = [row for row in rows if x[row] != 0]
    return (
        sorted(x[row] for row in present if x[row] < 0),
        {row for row in present if np.isnan(x[row])},
        sorted((x[row] for row in present if x[row] > 0), reverse=True),
    )


@pytest.mark.cases(300)
def test_mapping_after_every_split(seed):
    """Nodes of a random tree, split one after the other in random order."""
    rng = np.random.default_rng(seed)
    X = random_matrix(rng)
    weight = None if rng.random() < 0.5 else rng.integers(0, 3, len(X)).astype(float)
    if weight is not None:
        weight[0] = 1.0
    partitioner = ExtractionPartitioner()
    partitioner._py_init(sp.csc_matrix(X), weight)
    in_fit = np.arange(len(X)) if weight is None else np.flatnonzero(weight)
    nodes = {(0, len(in_fit)): set(in_fit)}
    n_rows = len(X)
    for _ in range(40):
        start, end = list(nodes)[rng.integers(len(nodes))]
        feature = int(rng.integers(X.shape[1]))
        threshold, missing_left = float(rng.integers(-4, 4) + 0.5), bool(rng.integers(2))
        middle = partitioner._py_split(feature, threshold, missing_left, start, end)
        members = nodes.pop((start, end))
        x = X[:, feature]
        goes_left = (x <= threshold) | (missing_left & np.isnan(x))
        left = {row for row in members if goes_left[row]}
        assert middle == start + len(left)
        nodes |= {key: side for key, side in
                  (((start, middle), left), ((middle, end), members - left)) if side}  # fmt: skip
        rows, mapping = partitioner._py_rows(), partitioner._py_mapping()
        assert_array_equal(mapping[rows], np.arange(len(rows)))
        assert (np.delete(mapping, rows) >= n_rows).all()
        for (first, last), expected in nodes.items():
            assert set(rows[first:last]) == expected


@pytest.mark.cases(300)
def test_features_that_are_in_a_node(seed, kernels):
    """The twin of the lists: what is not zero in a row of the node; stored zeros are zero."""
    rng = np.random.default_rng(seed)
    X = np.vstack([random_matrix(rng)] * 2).astype(np.float32)
    X[0, 0] = 1.0
    stored = sp.csc_matrix(X)
    stored.data[rng.random(stored.nnz) < 0.2] = 0.0
    X = stored.toarray()
    rows = rng.integers(len(X), size=8).astype(np.uint32)
    if rng.random() < 0.3:
        rows[4:] = rows[4]
    n_looks = int(rng.choice([0, X.shape[1]]))  # without a look, nothing is listed
    may_hold, is_in_every = kernels.keys.present_features(stored, rows, 4, n_looks)
    for k, node in enumerate((X[rows[:4]], X[rows[4:]])):
        present = node != 0
        assert_array_equal(may_hold[k], present.any(axis=0) | (n_looks == 0))
        assert is_in_every[k] == (n_looks > 0 and (present == present[0]).all())


@pytest.mark.cases(60)
def test_documents_that_are_alike(seed):
    """Rows that come up again with other targets: in nodes of them no feature is left to draw."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((30, 400)) < 0.02, rng.integers(1, 3, (30, 400)), 0.0)
    X = X[rng.integers(30, size=90)]
    y = rng.integers(3, size=len(X))
    for replay in (False, True):
        with fasttree.config_context(sklearn_random_stream=replay):
            model = DecisionTreeClassifier(max_features="sqrt", random_state=seed)
            expected = clone(model).fit(X, y).tree_
            for form in (sp.csc_matrix, sp.csr_matrix):
                assert_same(clone(model).fit(form(X), y).tree_, expected)
        assert not replay or expected.node_count == sklearn.tree.DecisionTreeClassifier(
            max_features="sqrt", random_state=seed).fit(X, y).tree_.node_count  # fmt: skip


@pytest.mark.cases(300)
def test_nonzeros_by_walk_and_by_search(seed):
    """Both ways, as the rule has it, find the node's nonzeros in order."""
    rng = np.random.default_rng(seed)
    X = random_matrix(rng)
    X = np.vstack([X] * 20)
    partitioner = ExtractionPartitioner()
    partitioner._py_init(sp.csc_matrix(X))
    searched = set()
    start, end = 0, len(X)
    while end > start:
        rows = partitioner._py_rows()[start:end]
        for feature in range(X.shape[1]):
            x = X[:, feature]
            found, n_negative, n_missing = partitioner._py_nonzeros(feature, start, end)
            negatives, missing, positives = nonzeros_of(x, rows)
            assert_array_equal(x[found[:n_negative]], negatives)
            assert set(found[n_negative : n_negative + n_missing]) == missing
            assert_array_equal(x[found[n_negative + n_missing :]], positives)
            n_nonzeros = int(np.count_nonzero(x))
            searched.add(partitioner._py_searches(end - start, n_nonzeros))
        # Halves, so that nodes of every size come up.
        start, end = (start, start + (end - start) // 2) if rng.random() < 0.5 else (
            start + (end - start + 1) // 2, end)  # fmt: skip
    assert False in searched


def test_walk_and_search_both_come_up():
    X = np.vstack([random_matrix(np.random.default_rng(1))] * 20)
    m = int(np.count_nonzero(X[:, 0]))
    searches = [ExtractionPartitioner._py_searches(n, m) for n in range(1, len(X))]
    assert searches[0]
    assert not searches[-1]
    assert searches == sorted(searches, reverse=True)


@pytest.mark.parametrize("m", [2, 3, 64, 100, 1000, 1024, 4096, 99_999, 1 << 20, 1 << 30])
def test_switch_rule_at_its_boundary(m):
    """Searched while n log2 m < 0.1 m."""
    searches = ExtractionPartitioner._py_searches
    limit = 0.1 * m / np.log2(m)
    below, above = int(np.ceil(limit)) - 1, int(np.floor(limit)) + 1
    assert searches(below, m) or below == 0
    assert not searches(above, m)
    assert not searches(int(np.ceil(limit)), m)


@pytest.mark.parametrize("m", [0, 1])
def test_columns_of_one_nonzero_are_walked(m):
    assert not ExtractionPartitioner._py_searches(1, m)


# ---- Ctrl-C


@pytest.fixture
def soon_interrupted():
    """Ctrl-C a moment after the test has begun."""
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    yield
    timer.join()


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("strategy", ["presort", "sort"])
def test_interrupted_fit(strategy, n_threads, request):
    """A fit that would take minutes stops."""
    rng = np.random.default_rng(0)
    indices, indptr = np.tile(np.arange(0, 100_000, 100), 2_000), np.arange(2_001) * 1_000
    X = sp.csc_matrix((rng.random(2_000_000), indices, indptr), shape=(100_000, 2_000))
    y = rng.normal(size=100_000)
    request.getfixturevalue("soon_interrupted")
    with fasttree.config_context(strategy=strategy, n_threads=n_threads):
        with pytest.raises(KeyboardInterrupt):
            DecisionTreeRegressor(criterion="absolute_error").fit(X, y)


@pytest.mark.parametrize("method", ["fit", "predict"])
@pytest.mark.parametrize("index", [-1, -(2**31), 99, 2**31 - 1])
@pytest.mark.parametrize("format_", ["csc", "csr", "coo", "bsr"])
def test_indices_outside_the_matrix(format_, index, method):
    """SciPy's compiled code would read and write there."""
    fitted = DecisionTreeClassifier().fit(np.eye(6), np.arange(6) % 2)
    X = sp.csr_matrix(np.eye(6)).asformat(format_)
    (X.row if format_ == "coo" else X.indices)[2] = index
    with pytest.raises(ValueError, match="indices|index"):
        getattr(fitted, method)(X, *([np.arange(6) % 2] if method == "fit" else []))


@pytest.mark.parametrize(
    ("k", "value"), [(0, 1), (0, -1), (3, -1), (3, 99), (6, 7), (6, 99), (6, 2**31 - 1)]
)
@pytest.mark.parametrize("format_", ["csc", "csr"])
def test_pointers_outside_the_matrix(format_, k, value):
    X = sp.csr_matrix(np.eye(6)).asformat(format_)
    X.indptr[k] = value
    with pytest.raises(ValueError, match="pointers"):
        DecisionTreeClassifier().fit(X, np.arange(6) % 2)
