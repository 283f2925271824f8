"""The walk of rows through a tree: every layout, every value, any number of threads."""

import _thread
import ctypes
import ctypes.util
import platform
import subprocess
import sys
import threading
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import fasttree
from fasttree.tree import DecisionTreeClassifier
from fasttree.tree._tree import NODE_DTYPE, Tree
from fasttree.utils._finite import ALL_FINITE, SOME_INFINITE, SOME_MISSING, value_kind


def naive_apply(tree, X):
    """Leaf of each row, node by node in double precision."""
    leaves = np.zeros(X.shape[0], dtype=np.intp)
    left, right = tree.children_left, tree.children_right
    for i, x in enumerate(X):
        node = 0
        while left[node] >= 0:
            value = float(x[tree.feature[node]])
            if np.isnan(value):
                go_left = tree.missing_go_to_left[node]
            else:
                go_left = value <= tree.threshold[node]
            node = left[node] if go_left else right[node]
        leaves[i] = node
    return leaves


def random_tree(rng, n_splits, n_features, thresholds=None, depth_first=True):
    """A tree of random shape whose ids only respect that children come after their parent."""
    n_nodes = 2 * n_splits + 1
    nodes = np.zeros(n_nodes, dtype=NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["feature"], nodes["threshold"] = -2, -2.0
    depth = np.zeros(n_nodes, dtype=int)
    leaves = [0]
    for k in range(n_splits):
        parent = leaves.pop(-1 if depth_first else rng.integers(len(leaves)))
        children = rng.permutation([2 * k + 1, 2 * k + 2])
        nodes["left_child"][parent], nodes["right_child"][parent] = children
        nodes["feature"][parent] = rng.integers(n_features)
        nodes["threshold"][parent] = (
            rng.standard_normal() if thresholds is None else rng.choice(thresholds)
        )
        nodes["missing_go_to_left"][parent] = rng.integers(2)
        depth[children] = depth[parent] + 1
        leaves.extend(children)
        if rng.random() < 0.5:
            rng.shuffle(leaves[-20:])
    tree = Tree(n_features, np.array([1]), 1)
    tree.set_nodes(nodes, rng.standard_normal((n_nodes, 1, 1)), depth.max())
    return tree


def random_rows(rng, n_rows, n_features, missing=0.1):
    X = rng.standard_normal((n_rows, n_features)).astype(np.float32)
    X[rng.random(X.shape) < missing] = np.nan
    return X


def packed_records(X):
    """The same values, none of them aligned."""
    records = np.zeros(X.shape, dtype=[("byte", np.uint8), ("value", np.float32)])
    records["value"] = X
    assert X.size == 0 or not records["value"].flags.aligned
    return records["value"]


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "packed records": packed_records,
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n_rows", [0, 1, 7, 12, 13, 100, 3000])
def test_every_layout(layout, n_threads, n_rows):
    rng = np.random.default_rng(n_rows)
    tree = random_tree(rng, 200, 5, depth_first=n_rows % 2 == 0)
    X = LAYOUTS[layout](random_rows(rng, n_rows, 5))
    before = X.copy()
    X.flags.writeable = False
    leaves = naive_apply(tree, X)
    for simd in ("auto", "avx2", "portable"):
        with fasttree.config_context(simd=simd):
            assert_array_equal(tree.apply(X, n_threads), leaves)
            assert_array_equal(tree.predict(X, n_threads), tree.value[leaves, 0])
    assert_array_equal(X, before)


def test_one_row_many_times():
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 50, 4)
    X = np.broadcast_to(random_rows(rng, 1, 4), (100, 4))
    assert_array_equal(tree.apply(X), naive_apply(tree, X))


def test_few_rows_after_many():
    """What many rows were worth making serves few rows, too."""
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 300, 5)
    X = random_rows(rng, 5000, 5, missing=0.0)
    tree.apply(X)
    X = X[:200]
    leaves = naive_apply(tree, X)
    for n_rows in (1, 63, 64, 65, 200):
        assert_array_equal(tree.apply(X[:n_rows]), leaves[:n_rows])
        assert_array_equal(tree.apply(np.asfortranarray(X[:n_rows])), leaves[:n_rows])
    X[7, 2] = np.nan
    assert_array_equal(tree.apply(X), naive_apply(tree, X))


def test_many_rows_on_threads():
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 500, 3, depth_first=False)
    X = random_rows(rng, 100_000, 3)
    leaves = tree.apply(X)
    assert_array_equal(leaves[::500], naive_apply(tree, X[::500]))
    assert_array_equal(tree.apply(X, 2), leaves)
    assert_array_equal(tree.decision_path(X, 2).indices, tree.decision_path(X).indices)


def test_memory_mapped_rows(tmp_path):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 50, 3)
    X = random_rows(rng, 100, 3)
    np.save(tmp_path / "X.npy", X)
    assert_array_equal(tree.apply(np.load(tmp_path / "X.npy", mmap_mode="r")), naive_apply(tree, X))


def test_chain_deeper_than_any_stack():
    n = 100_000
    nodes = np.zeros(2 * n + 1, dtype=NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["feature"] = -2
    split = np.arange(0, 2 * n, 2)
    nodes["feature"][split] = 0
    nodes["left_child"][split], nodes["right_child"][split] = split + 1, split + 2
    nodes["threshold"][split] = np.arange(n)
    tree = Tree(1, np.array([1]), 1)
    tree.set_nodes(nodes, np.zeros((2 * n + 1, 1, 1)), n)
    X = np.array([[-1], [0.5], [n - 1.5], [n]], dtype=np.float32)
    assert_array_equal(tree.apply(X), [1, 3, 2 * n - 1, 2 * n])


# Values at which float32 and float64 comparisons could part.
DOUBLES = st.one_of(
    st.floats(allow_nan=False),
    st.floats(width=32, allow_nan=False),
    st.sampled_from([0.0, -0.0, 1e-320, -1e-320, 1e-46, 3.4028234663852886e38, np.inf, -np.inf]),
)


@settings(max_examples=300, deadline=None)
@given(
    threshold=DOUBLES,
    values=hnp.arrays(np.float32, st.integers(1, 40), elements=st.floats(width=32)),
    missing_left=st.booleans(),
)
def test_float32_thresholds_are_exact(threshold, values, missing_left):
    near = np.float32(np.clip(threshold, -3.4e38, 3.4e38))
    above, below = np.nextafter(near, np.float32([np.inf, -np.inf]))
    x = np.concatenate([values, [near, above, below, np.nan, np.inf, -np.inf]], dtype=np.float32)
    nodes = np.zeros(3, dtype=NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = [1, -1, -1], [2, -1, -1]
    nodes["feature"] = [0, -2, -2]
    nodes["threshold"][0], nodes["missing_go_to_left"][0] = threshold, missing_left
    tree = Tree(1, np.array([1]), 1)
    tree.set_nodes(nodes, np.zeros((3, 1, 1)), 1)
    go_left = np.where(np.isnan(x), missing_left, x.astype(np.float64) <= threshold)
    assert_array_equal(tree.apply(x[:, None]), np.where(go_left, 1, 2))


@pytest.mark.skipif(
    not (sys.platform == "linux" and platform.machine() == "x86_64"), reason="knows glibc's fenv_t"
)
@pytest.mark.parametrize("n_times", [1, 100])
@pytest.mark.parametrize(
    ("threshold", "expected"), [(0.0, [1, 1, 2, 1, 2]), (1.5e-40, [1, 1, 1, 1, 2])]
)
def test_denormals_count_even_if_the_process_flushes_them(threshold, expected, n_times):
    """Libraries compiled with -ffast-math leave the CPU in this mode."""
    nodes = np.zeros(3, dtype=NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = [1, -1, -1], [2, -1, -1]
    nodes["feature"] = [0, -2, -2]
    nodes["threshold"][0] = threshold
    x = np.array([[0.0], [-0.0], [1e-40], [-1e-40], [2e-40]] * n_times, dtype=np.float32)
    libm = ctypes.CDLL(ctypes.util.find_library("m"))
    environment = (ctypes.c_uint32 * 8)()
    libm.fegetenv(environment)
    flushing = (ctypes.c_uint32 * 8)(*environment)
    flushing[7] |= 0x8040  # mxcsr: flush to zero, denormals are zero
    for missing_left in [0, 1]:
        nodes["missing_go_to_left"][0] = missing_left
        tree = Tree(1, np.array([1]), 1)
        tree.set_nodes(nodes.copy(), np.zeros((3, 1, 1)), 1)
        libm.fesetenv(flushing)
        try:
            leaves = tree.apply(x)
        finally:
            libm.fesetenv(environment)
        assert_array_equal(leaves, expected * n_times)


# ---- tables


@pytest.mark.parametrize(
    "table",
    [
        np.arange(101, dtype=np.uint8),
        np.arange(101, dtype=np.int16),
        np.arange(101, dtype=np.float32),
        np.arange(101, dtype=np.complex128),
        np.arange(101) % 2 == 0,
        np.array([f"class {i}" for i in range(101)]),
        np.array([b"x" * (i % 7) for i in range(101)]),
        np.datetime64("2026-01-01") + np.arange(101),
        np.arange(303.0).reshape(101, 3),
        np.arange(606.0).reshape(101, 2, 3)[:, :, ::2],
        np.zeros((101, 0)),
    ],
    ids=lambda table: f"{table.dtype}{table.shape}",
)
def test_lookup(table):
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 50, 3)
    X = random_rows(rng, 300, 3)
    found = tree.lookup(X, table, 2)
    assert found.dtype == table.dtype
    assert_array_equal(found, table[tree.apply(X)])


def test_lookup_refuses():
    tree = random_tree(np.random.default_rng(0), 50, 3)
    X = np.zeros((4, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="100 entries for 101 nodes"):
        tree.lookup(X, np.zeros(100))
    with pytest.raises(ValueError, match="object"):
        tree.lookup(X, np.zeros(101, dtype=object))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_are_checked_on_the_way(layout, n_threads):
    tree = random_tree(np.random.default_rng(0), 50, 3)
    X = np.ones((30_000, 3), dtype=np.float32)
    for special, kind in [(1.0, ALL_FINITE), (np.nan, SOME_MISSING), (np.inf, SOME_INFINITE)]:
        X[25_001, 1] = special
        rows = LAYOUTS[layout](X)
        for accepted in [ALL_FINITE, SOME_MISSING, SOME_INFINITE]:
            leaves = tree.apply(rows, n_threads, accepted)
            values = tree.lookup(rows, tree.value[:, 0, 0], n_threads, accepted)
            if kind > accepted:
                assert leaves is None
                assert values is None
            else:
                assert_array_equal(leaves, tree.apply(rows))
                assert_array_equal(values, tree.value[leaves, 0, 0])


def test_decision_path_is_the_way_to_the_leaf():
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 60, 3, depth_first=False)
    X = random_rows(rng, 200, 3)
    path = tree.decision_path(X)
    assert path.shape == (200, 121)
    leaves = tree.apply(X)
    for i in range(200):
        nodes = path.indices[path.indptr[i] : path.indptr[i + 1]]
        assert nodes[0] == 0
        assert nodes[-1] == leaves[i]
        for parent, child in zip(nodes[:-1], nodes[1:], strict=True):
            assert child in (tree.children_left[parent], tree.children_right[parent])


# ---- sparse rows


def random_csr(rng, n_rows, n_features, density=0.2, index_dtype=np.int32):
    """A CSR matrix with explicit zeros and missing values among the stored ones."""
    X = sp.random(n_rows, n_features, density, format="csr", dtype=np.float32, random_state=0)
    X.data = rng.standard_normal(X.nnz).astype(np.float32)
    X.data[rng.random(X.nnz) < 0.1] = 0.0
    X.data[rng.random(X.nnz) < 0.1] = np.nan
    X.indices, X.indptr = X.indices.astype(index_dtype), X.indptr.astype(index_dtype)
    return X


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize(("n_rows", "n_features"), [(0, 5), (1, 5), (700, 5), (50, 20_000)])
def test_sparse_rows_go_where_dense_rows_go(index_dtype, n_threads, n_rows, n_features):
    rng = np.random.default_rng(1)
    tree = random_tree(rng, 300, n_features, thresholds=[-0.5, 0.0, 0.5])
    X = random_csr(rng, n_rows, n_features, index_dtype=index_dtype)
    dense = X.toarray()
    assert_array_equal(tree.apply(X, n_threads), naive_apply(tree, dense))
    assert_array_equal(tree.predict(X, n_threads), tree.predict(dense))
    assert (tree.decision_path(X) != tree.decision_path(dense)).nnz == 0


def test_many_sparse_rows_on_threads():
    rng = np.random.default_rng(1)
    tree = random_tree(rng, 300, 40)
    X = random_csr(rng, 30_000, 40)
    assert_array_equal(tree.apply(X, 2), tree.apply(X.toarray()))


def test_sparse_rows_with_unsorted_indices():
    rng = np.random.default_rng(1)
    tree = random_tree(rng, 100, 20)
    X = random_csr(rng, 100, 20, density=0.6)
    dense = X.toarray()
    for i in range(100):
        row = slice(X.indptr[i], X.indptr[i + 1])
        order = rng.permutation(row.stop - row.start)
        X.data[row], X.indices[row] = X.data[row][order], X.indices[row][order]
    assert_array_equal(tree.apply(X), tree.apply(dense))


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": [0, 3, 2]},
        {"indices": [0, -1, 2]},
        {"indices": [0, 10**8, 2]},
        {"indptr": [0, 1, 2, 10**6]},
        {"indptr": [0, 3, 2, 3]},
        {"indptr": [-5, 1, 2, 3]},
        {"indptr": [0, 1]},
    ],
)
def test_broken_sparse_matrices_raise(changes):
    tree = random_tree(np.random.default_rng(0), 10, 3)
    X = sp.csr_matrix(np.eye(3, dtype=np.float32))
    for name, value in changes.items():
        setattr(X, name, np.array(value, dtype=np.int32))
    with pytest.raises(ValueError):
        tree.apply(X)


@pytest.mark.plain_memory
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("is_asked", [False, True])
def test_rows_that_outgrow_the_memory_raise(tmp_path, is_asked):
    """A row of many entries needs a list of them: 16 MB, which the process is not given."""
    code = f"""
import resource
import numpy as np
import scipy.sparse as sp
from fasttree.tree import DecisionTreeClassifier

tree = DecisionTreeClassifier().fit(np.eye(2), [0, 1]).tree_
asked = int(tree.feature[0])
X = sp.csr_matrix((1, 2), dtype=np.float32)
n = 1 << 22
X.data = np.zeros(n, dtype=np.float32)
X.indices = np.full(n, asked if {is_asked} else 1 - asked, dtype=np.int32)
X.indptr = np.array([0, n], dtype=np.int32)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
for spare in (1 << 23, 1 << 28):
    resource.setrlimit(resource.RLIMIT_AS, (used + spare, resource.RLIM_INFINITY))
    try:
        tree.apply(X)
    except MemoryError:
        print("raised", end=" ")
    else:
        print("done", end=" ")
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["raised", "done"]


# ---- what cannot be walked


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 3)), "float32"),
        (np.zeros((2, 3), dtype=">f4"), "float32"),
        (np.zeros((2, 4), dtype=np.float32), "3 columns"),
        (np.zeros((2, 2), dtype=np.float32), "3 columns"),
        (np.zeros(3, dtype=np.float32), "two dimensions"),
        ([[0.0, 0.0, 0.0]], "np.ndarray"),
        (sp.csc_matrix((2, 3), dtype=np.float32), "CSR"),
        (sp.csr_matrix((2, 3), dtype=np.float64), "float32"),
    ],
)
def test_wrong_rows(X, message):
    tree = random_tree(np.random.default_rng(0), 10, 3)
    for method in [tree.apply, tree.predict, tree.decision_path]:
        with pytest.raises(ValueError, match=message):
            method(X)


# ---- missing and infinite values


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("shape", [(1, 2), (3, 5), (1000, 7), (40_000, 20)])
def test_value_kind(layout, n_threads, shape):
    X = np.ones(shape, dtype=np.float32)
    X[0, 0], X[-1, 0] = np.finfo(np.float32).max, -1e-45
    somewhere = shape[0] - 1, shape[1] // 2
    for special, kind in [
        (1.0, ALL_FINITE),
        (np.nan, SOME_MISSING),
        (-np.nan, SOME_MISSING),
        (np.inf, SOME_INFINITE),
        (-np.inf, SOME_INFINITE),
    ]:
        X[somewhere] = special
        assert value_kind(LAYOUTS[layout](X), n_threads) == kind
    X[0, 0] = np.nan
    assert value_kind(LAYOUTS[layout](X), n_threads) == SOME_INFINITE


def test_value_kind_of_nothing():
    assert value_kind(np.empty((0, 3), dtype=np.float32)) == ALL_FINITE


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_features", [2, 70])
def test_what_a_tree_refuses_among_many_rows(layout, n_features):
    X = random_rows(np.random.default_rng(0), 5000, n_features)
    X = np.where(np.isfinite(X), X, 0).astype(np.float32)
    y = X[:, 0] > 0
    holed = X.copy()
    holed[::7] = np.nan
    for fitted_on, special, refused in [
        (X, np.nan, None),
        (X, np.inf, "infinity"),
        (holed, np.nan, None),
        (holed, -np.inf, "infinity"),
    ]:
        tree = DecisionTreeClassifier(max_depth=2).fit(fitted_on, y)
        some = X.copy()
        some[4321, -1] = special
        for simd in ("auto", "avx2", "portable"):
            with (
                fasttree.config_context(simd=simd),
                pytest.raises(ValueError, match=refused) if refused else nullcontext(),
            ):
                leaves = tree.apply(LAYOUTS[layout](some))
                assert_array_equal(leaves, naive_apply(tree.tree_, some))


# ---- Ctrl-C


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_interrupt(n_threads, form):
    """A walk that would take minutes stops."""
    n = 100_000
    nodes = np.zeros(2 * n + 1, dtype=NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["feature"] = -2
    split = np.arange(0, 2 * n, 2)
    nodes["feature"][split] = 0
    nodes["left_child"][split], nodes["right_child"][split] = split + 1, split + 2
    tree = Tree(1, np.array([1]), 1)
    tree.set_nodes(nodes, np.zeros((2 * n + 1, 1, 1)), n)
    X = form(np.ones((1_000_000, 1), dtype=np.float32))
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        tree.apply(X, n_threads)
    timer.join()
