"""`Tree`: its arrays, its pickles, and what it refuses."""

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
import sklearn.tree
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fasttree.tree._tree import NODE_DTYPE, TREE_LEAF, TREE_UNDEFINED, Tree
from fasttree.tree.fitted._tree_state import PACKED_DTYPE

ARRAYS = [
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
]

LEAF = (-1, -1, -2, -2.0, 0)


def make_nodes(*rows):
    """Nodes from (left, right, feature, threshold, missing left) tuples; the rest is made up."""
    nodes = np.zeros(len(rows), dtype=NODE_DTYPE)
    for i, (left, right, feature, threshold, missing_left) in enumerate(rows):
        nodes[i] = (left, right, feature, threshold, 1.0 / (i + 1), 8 - i, 8.0 - i, missing_left)
    return nodes


def small_nodes():
    return make_nodes((1, 4, 1, 0.5, 1), (2, 3, 0, -1.0, 0), LEAF, LEAF, LEAF)


def small_tree():
    tree = Tree(3, np.array([2]), 1)
    tree.set_nodes(small_nodes(), np.arange(10.0).reshape(5, 1, 2), 2)
    return tree


def from_sklearn(tree):
    """fasttree's `Tree` with the contents of scikit-learn's."""
    state = tree.__getstate__()
    nodes = np.zeros(tree.node_count, dtype=NODE_DTYPE)
    for name in NODE_DTYPE.names:
        nodes[name] = state["nodes"][name]
    result = Tree(tree.n_features, np.array(tree.n_classes), tree.n_outputs)
    result.set_nodes(nodes, state["values"].copy(), tree.max_depth)
    return result


def grown(seed=0, n=200, n_outputs=1, **parameters):
    """scikit-learn's tree on random data with missing values."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, (n, n_outputs))
    return sklearn.tree.DecisionTreeClassifier(random_state=seed, **parameters).fit(X, y).tree_


# ---- arrays


@pytest.mark.parametrize("parameters", [{}, {"max_leaf_nodes": 20}, {"max_depth": 1}])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_attributes_are_scikit_learns(parameters, n_outputs):
    expected = grown(n_outputs=n_outputs, **parameters)
    tree = from_sklearn(expected)
    for name in [*ARRAYS, "value", "n_classes"]:
        ours, theirs = getattr(tree, name), getattr(expected, name)
        assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype, name
    for name in ["n_features", "n_outputs", "max_n_classes", "max_depth", "node_count", "n_leaves"]:
        assert getattr(tree, name) == getattr(expected, name), name
    assert_array_equal(tree.compute_node_depths(), expected.compute_node_depths())
    for normalize in [True, False]:
        assert_array_equal(
            tree.compute_feature_importances(normalize),
            expected.compute_feature_importances(normalize),
        )


def test_node_dtype_is_scikit_learns():
    from sklearn.tree import _tree

    assert NODE_DTYPE == _tree.NODE_DTYPE
    assert (TREE_LEAF, TREE_UNDEFINED) == (_tree.TREE_LEAF, _tree.TREE_UNDEFINED)


def test_only_value_can_be_written():
    tree = small_tree()
    for name in [*ARRAYS, "nodes", "n_classes"]:
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[...] = 0
    tree.value[2, 0, 1] = 42.0
    assert tree.value[2, 0, 1] == 42.0
    assert tree.predict(np.array([[-2, 0, 0]], dtype=np.float32))[0, 1] == 42.0


def test_value_keeps_its_shape():
    tree = small_tree()
    tree.value.shape = (10,)
    assert tree.value.shape == (5, 1, 2)


def test_improvement_is_the_decrease_of_impurity():
    tree = from_sklearn(grown())
    weight, impurity = tree.weighted_n_node_samples, tree.impurity
    for i in range(tree.node_count):
        left, right = tree.children_left[i], tree.children_right[i]
        expected = 0.0
        if left >= 0:
            expected = (
                weight[i] * impurity[i]
                - weight[left] * impurity[left]
                - weight[right] * impurity[right]
            ) / weight[0]
        assert_allclose(tree.improvement[i], expected, rtol=1e-12, atol=1e-15)


def test_single_leaf():
    tree = Tree(2, np.array([1]), 1)
    tree.set_nodes(make_nodes(LEAF), np.full((1, 1, 1), 3.5), 0)
    X = np.zeros((3, 2), dtype=np.float32)
    assert_array_equal(tree.apply(X), [0, 0, 0])
    assert_array_equal(tree.predict(X), [[3.5]] * 3)
    assert_array_equal(tree.decision_path(X).toarray(), [[1]] * 3)
    assert_array_equal(tree.compute_feature_importances(), [0, 0])
    assert_array_equal(tree.improvement, [0])
    assert tree.n_leaves == 1


# ---- what set_nodes refuses


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, 2, 0, 0.0, 0), LEAF, (-1, 2, 0, 0.0, 0)], "one child"),
        ([(1, 3, 0, 0.0, 0), LEAF, LEAF], "out of range"),
        ([(1, 2**40, 0, 0.0, 0), LEAF, LEAF], "out of range"),
        ([(-7, 2, 0, 0.0, 0), LEAF, LEAF], "out of range"),
        ([(1, 2, 0, 0.0, 0), (0, 2, 0, 0.0, 0), LEAF], "out of range"),  # a cycle
        ([(0, 0, 0, 0.0, 0)], "out of range"),  # its own child
        ([(1, 1, 0, 0.0, 0), LEAF, LEAF], "child of two"),
        ([(1, 2, 0, 0.0, 0), (2, 3, 0, 0.0, 0), LEAF, LEAF], "child of two"),
        ([LEAF, LEAF], "nobody's child"),
        ([(1, 2, 3, 0.0, 0), LEAF, LEAF], "feature"),
        ([(1, 2, -2, 0.0, 0), LEAF, LEAF], "feature"),
        ([(1, 2, 0, np.nan, 0), LEAF, LEAF], "NaN"),
    ],
)
def test_nodes_that_form_no_tree(rows, message):
    nodes = make_nodes(*rows)
    with pytest.raises(ValueError, match=message):
        Tree(3, np.array([1]), 1).set_nodes(nodes, np.zeros((len(rows), 1, 1)), 1)


def test_arrays_of_the_wrong_kind():
    nodes, values = small_nodes(), np.zeros((5, 1, 2))

    def fill(nodes, values, max_depth=2):
        Tree(3, np.array([2]), 1).set_nodes(nodes, values, max_depth)

    for bad in [values[:, :, :1], values[:4], values.reshape(5, 2, 1)]:
        with pytest.raises(ValueError, match="shape of the value array"):
            fill(nodes, bad)
    with pytest.raises(ValueError, match="value array has an incompatible dtype"):
        fill(nodes, values.astype(np.float32))
    with pytest.raises(ValueError, match="value array must be C-contiguous"):
        fill(nodes, np.zeros((5, 1, 4))[:, :, ::2])
    with pytest.raises(ValueError, match="node array has an incompatible dtype"):
        fill(np.zeros(5, dtype=[("left_child", np.intp)]), values)
    with pytest.raises(ValueError, match="dimensions of the node array"):
        fill(nodes.reshape(5, 1), values)
    with pytest.raises(ValueError, match="node array must be C-contiguous"):
        fill(np.repeat(nodes, 2)[::2], values)
    with pytest.raises(ValueError, match="must be a NumPy array"):
        fill(list(nodes), values)
    with pytest.raises(ValueError, match="max_depth is 3"):
        fill(nodes, values, max_depth=3)
    with pytest.raises(ValueError, match="at least one node"):
        fill(nodes[:0], values[:0], 0)
    fill(nodes, values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, np.array([2]), 1), "n_features"),
        ((3, np.array([2, 2]), 1), "one entry per output"),
        ((3, np.array([], dtype=int), 0), "one entry per output"),
        ((3, np.array([0]), 1), "at least one class"),
        ((3, np.array([2.0]), 1), "incompatible dtype"),
        ((3, [2], 1), "NumPy array"),
    ],
)
def test_sizes_that_make_no_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        Tree(*arguments)


def test_more_features_than_fit_into_32_bits():
    with pytest.raises(ValueError, match="too many nodes or features"):
        Tree(2**31, np.array([2]), 1).set_nodes(small_nodes(), np.zeros((5, 1, 2)), 2)


def test_a_tree_is_filled_once():
    tree = small_tree()
    with pytest.raises(ValueError, match="filled already"):
        tree.set_nodes(small_nodes(), np.zeros((5, 1, 2)), 2)
    with pytest.raises(ValueError, match="filled already"):
        tree.__setstate__(small_tree().__getstate__())


def test_an_empty_tree_predicts_nothing():
    tree = Tree(3, np.array([2]), 1)
    X = np.zeros((2, 3), dtype=np.float32)
    for method in [tree.apply, tree.predict, tree.decision_path]:
        with pytest.raises(ValueError, match="empty"):
            method(X)
    assert tree.node_count == tree.n_leaves == 0
    assert_array_equal(tree.compute_feature_importances(), [0, 0, 0])
    assert_array_equal(tree.compute_node_depths(), [])
    assert pickle.loads(pickle.dumps(tree)).node_count == 0


# ---- pickles and copies


def assert_same_tree(tree, expected):
    assert_array_equal(tree.nodes, expected.nodes)
    assert_array_equal(tree.value, expected.value)
    assert_array_equal(tree.n_classes, expected.n_classes)
    assert tree.max_depth == expected.max_depth
    X = np.random.default_rng(0).standard_normal((100, tree.n_features)).astype(np.float32)
    assert_array_equal(tree.apply(X), expected.apply(X))


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))]
)
def test_copies_are_independent(duplicate):
    tree = from_sklearn(grown())
    twin = duplicate(tree)
    assert_same_tree(twin, tree)
    twin.value[0] = -1.0
    assert tree.value[0, 0, 0] != -1.0


def test_pickled_nodes_are_bytes_whose_order_is_little_endian():
    tree = small_tree()
    _, _, state = tree.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    packed = np.frombuffer(state["nodes"].tobytes(), dtype=PACKED_DTYPE)
    assert state["nodes"].dtype == np.uint8
    for name in NODE_DTYPE.names:
        assert PACKED_DTYPE[name] == PACKED_DTYPE[name].newbyteorder("<")
        assert_array_equal(packed[name], tree.nodes[name])
    assert_same_tree(load(state, tree), tree)


def test_equal_trees_have_equal_pickles():
    assert pickle.dumps(small_tree()) == pickle.dumps(small_tree())


def test_load_from_read_only_file(tmp_path):
    tree = from_sklearn(grown())
    joblib.dump(tree, tmp_path / "tree.joblib")
    loaded = joblib.load(tmp_path / "tree.joblib", mmap_mode="r")
    assert_same_tree(loaded, tree)
    loaded.value[0] = 7.0


def state_of(tree, **changes):
    return {**tree.__getstate__(), **changes}


def load(state, tree=None):
    tree = tree or small_tree()
    fresh = Tree(tree.n_features, tree.n_classes, tree.n_outputs)
    fresh.__setstate__(state)
    return fresh


def test_other_byte_order_and_word_size():
    tree = from_sklearn(grown())
    swapped = tree.nodes.astype(NODE_DTYPE.newbyteorder())
    short = tree.nodes.astype(
        [
            (name, np.int32 if NODE_DTYPE[name].kind == "i" else NODE_DTYPE[name])
            for name in NODE_DTYPE.names
        ]
    )
    values = tree.value.astype(tree.value.dtype.newbyteorder())
    for nodes in [swapped, short, short.astype(short.dtype.newbyteorder())]:
        assert_same_tree(load(state_of(tree, nodes=nodes, values=values), tree), tree)
    assert_array_equal(Tree(4, np.array([3], dtype=">i4"), 1).n_classes, [3])


@pytest.mark.parametrize("key", ["max_depth", "node_count", "nodes", "values"])
def test_state_lacks_something(key):
    state = state_of(small_tree())
    del state[key]
    with pytest.raises(ValueError, match=f"lacks {key}"):
        load(state)


@pytest.mark.parametrize(
    "state",
    [
        None,
        {},
        state_of(small_tree(), format_version=99),
        state_of(small_tree(), node_count=4),
        state_of(small_tree(), node_count="5"),
        state_of(small_tree(), max_depth=1),
        state_of(small_tree(), max_depth=10**30),
        state_of(small_tree(), max_depth="deep"),
        state_of(small_tree(), nodes=None),
        state_of(small_tree(), nodes=small_nodes().view(np.uint8)[:-1]),
        state_of(small_tree(), nodes=small_nodes().view(np.uint8).reshape(5, -1)),
        state_of(small_tree(), nodes=small_nodes().view(np.int8)),
        state_of(small_tree(), values=np.zeros((5, 1, 3))),
        state_of(small_tree(), values=np.zeros((5, 1, 2), dtype=object)),
    ],
)
def test_tampered_state(state):
    with pytest.raises(ValueError):
        load(state)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_tampered_nodes_are_refused_or_harmless(data):
    """Whatever integers stand in the nodes: an error at load, or a tree whose walks end."""
    tree = from_sklearn(grown(n=30))
    nodes = np.array(tree.nodes)
    for _ in range(data.draw(st.integers(1, 3))):
        i = data.draw(st.integers(0, len(nodes) - 1))
        name = data.draw(st.sampled_from(["left_child", "right_child", "feature"]))
        nodes[name][i] = data.draw(
            st.one_of(st.integers(-3, len(nodes) + 1), st.integers(-(2**63), 2**63 - 1))
        )
    try:
        changed = load(state_of(tree, nodes=nodes), tree)
    except ValueError:
        return
    X = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    leaves = changed.apply(X)
    assert (changed.children_left[leaves] == TREE_LEAF).all()
    n_passed = np.diff(changed.decision_path(X).indptr)
    assert_array_equal(n_passed, changed.compute_node_depths()[leaves])


@settings(max_examples=100, deadline=None)
@given(position=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_damaged_pickles_do_not_crash(position, byte):
    tree = from_sklearn(grown(n=30))
    raw = bytearray(pickle.dumps(tree))
    raw[raw.index(tree.nodes.tobytes()) + position % tree.nodes.nbytes] = byte
    try:
        tree = pickle.load(io.BytesIO(raw))
    except ValueError:
        return
    leaves = tree.apply(np.zeros((20, tree.n_features), dtype=np.float32))
    assert (tree.children_left[leaves] == TREE_LEAF).all()


# ---- partial dependence


def naive_partial_dependence(tree, x, targets, node=0):
    if tree.children_left[node] == TREE_LEAF:
        return tree.value[node, 0, 0]
    left, right = tree.children_left[node], tree.children_right[node]
    if tree.feature[node] in targets:
        value = x[targets.index(tree.feature[node])]
        if np.isnan(value):
            go_left = tree.missing_go_to_left[node]
        else:
            go_left = value <= tree.threshold[node]
        return naive_partial_dependence(tree, x, targets, left if go_left else right)
    share = tree.weighted_n_node_samples[left] / tree.weighted_n_node_samples[node]
    return share * naive_partial_dependence(tree, x, targets, left) + (
        1 - share
    ) * naive_partial_dependence(tree, x, targets, right)


def test_partial_dependence_follows_missing_values():
    tree = from_sklearn(grown(n=60))
    rng = np.random.default_rng(1)
    grid = rng.standard_normal((30, 2)).astype(np.float32)
    grid[rng.random(grid.shape) < 0.3] = np.nan
    out = np.ones(30)  # it is added to
    tree.compute_partial_dependence(grid, np.array([2, 0]), out)
    expected = [1 + naive_partial_dependence(tree, x, [2, 0]) for x in grid]
    assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.parametrize(("targets", "n_out"), [([0], 4), ([0, 1], 3), ([0, 3], 4), ([-1, 0], 4)])
def test_partial_dependence_checks_its_input(targets, n_out):
    grid = np.zeros((4, 2), dtype=np.float32)
    with pytest.raises(ValueError):
        small_tree().compute_partial_dependence(grid, np.array(targets), np.zeros(n_out))


def test_partial_dependence_needs_positive_weights():
    nodes = small_nodes()
    nodes["weighted_n_node_samples"] = 0.0
    tree = Tree(3, np.array([2]), 1)
    tree.set_nodes(nodes, np.zeros((5, 1, 2)), 2)
    with pytest.raises(ValueError, match="weights sum"):
        tree.compute_partial_dependence(np.zeros((1, 1), np.float32), np.array([2]), np.zeros(1))
