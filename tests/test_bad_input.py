"""Bad input: the documented result, or a ValueError or TypeError that says what is wrong.

Inputs are never changed. Where fasttree promises what scikit-learn does, scikit-learn is asked.
"""

import copy

import numpy as np
import pytest
import sklearn.tree
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import fasttree.tree
from fasttree.tree import _base, _validation
from fasttree.tree._criterion import MAE, Poisson, TargetSplit
from fasttree.utils._finite import value_kind
from reference.problems import random_problem
from reference.trees import assert_same

CLASSES = [
    "DecisionTree",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
]
X = np.array([[0.0, 1], [1, 0], [2, 2], [3, 1], [4, 0], [5, 2]])
y = np.array([0, 0, 1, 1, 0, 1])

each_class = pytest.mark.parametrize("Tree", [getattr(fasttree.tree, name) for name in CLASSES])
REFUSED = (ValueError, TypeError)


def refuses(words, call, *args, **kwargs):
    """The call raises an error that contains one of the words, and leaves its arguments alone."""
    before = copy.deepcopy((args, kwargs))
    with pytest.raises(REFUSED, match=f"(?i){words}"):
        call(*args, **kwargs)
    assert_unchanged((args, kwargs), before)


def assert_unchanged(now, before):
    if isinstance(now, np.ndarray):
        assert now.dtype == before.dtype
        assert_array_equal(now, before)
    elif isinstance(now, dict):
        assert_unchanged(list(now.values()), list(before.values()))
    elif isinstance(now, (list, tuple)):
        for a, b in zip(now, before, strict=True):
            assert_unchanged(a, b)


@each_class
@pytest.mark.parametrize(
    ("table", "words"),
    [
        pytest.param(X[:, 0], "2D array", id="1-D"),
        pytest.param(X[None], "dim", id="3-D"),
        pytest.param(np.float64(1.0), "2D array", id="number"),
        pytest.param(X[:0], "sample", id="no rows"),
        pytest.param(X[:, :0], "feature", id="no columns"),
        pytest.param(X[:5], "samples", id="fewer rows than targets"),
        pytest.param(np.where(X == 2, np.inf, X), "infinity", id="inf"),
        pytest.param(np.where(X == 2, -np.inf, X), "infinity", id="-inf"),
        pytest.param(np.where(X == 2, 1e39, X), "infinity", id="beyond float32"),
        pytest.param(X * 1j, "complex", id="complex"),
        pytest.param([[1.0, 2.0], [3.0]] * 3, "inhomogeneous|shape", id="ragged"),
        pytest.param([[{}, {}]] * 6, "dict", id="objects"),
        pytest.param(None, "array|none", id="None"),
        pytest.param("table", "array|string|scalar", id="string"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_tables_that_are_refused(Tree, table, words):
    refuses(words, Tree().fit, table, y)


def columns_of_all_kinds(rng, n_rows):
    """Columns that are kept as bits, as codes and as lists."""
    bits = rng.integers(0, 2, (n_rows, 20))
    few, many = rng.integers(0, 40, (n_rows, 4)), rng.normal(size=(n_rows, 3))
    return {"bits": bits, "few": few, "many": many, "all": np.hstack([bits, few, many])}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_rows", [40, 3000])
@pytest.mark.parametrize("kind", ["bits", "few", "many", "all"])
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_a_fit_that_finds_an_infinity_as_it_encodes_keeps_the_earlier_tree(kind, n_rows, order):
    rng = np.random.default_rng(n_rows)
    good = np.array(columns_of_all_kinds(rng, n_rows)[kind], np.float64, order=order)
    y = rng.integers(0, 3, n_rows)
    for n_jobs in [1, 2]:
        tree = fasttree.tree.DecisionTreeClassifier(n_jobs=n_jobs, max_depth=5).fit(good, y)
        before = vars(tree).copy()
        for cell in [np.inf, -np.inf, 1e39]:
            bad = good.copy(order)
            bad[rng.integers(n_rows), rng.integers(good.shape[1])] = cell
            weights = (np.abs(bad) < 1e38).all(axis=1).astype(float)
            refuses("infinity", tree.fit, bad, y + 7)
            refuses("infinity", tree.fit, bad, y + 7, weights)  # nor in a row without weight
            assert vars(tree) == before
        bad[0, 0] = np.nan
        refuses("infinity", tree.fit, bad, y)
        bad[np.abs(bad) > 1e38] = np.nan
        assert tree.fit(bad, y).score(bad, y) > 0


@pytest.mark.parametrize("Tree", [fasttree.tree.DecisionTree, fasttree.tree.DecisionTreeRegressor])
def test_what_a_refused_fit_leaves_alone(Tree, monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 3))
    random_state = np.random.RandomState(0)
    tree = Tree(random_state=random_state, max_depth=3)
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    frame.loc[7, "b"] = np.inf
    with pytest.raises(ValueError, match="infinity.*row 7 of column 'b'"):
        tree.fit(frame, X[:, 0] > 0)
    assert not hasattr(tree, "feature_names_in_")
    assert random_state.randint(1000) == np.random.RandomState(0).randint(1000)
    before = vars(tree.fit(X, X[:, 0] > 0)).copy()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_base.BaseDecisionTree, "_prune_tree", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tree.fit(X[:, :2], X[:, 1])
    assert vars(tree) == before


@pytest.mark.parametrize("n_rows", [40, 3000])
def test_cells_that_are_finite_are_not_read_once_more_to_check_them(n_rows, monkeypatch):
    rng = np.random.default_rng(n_rows)
    y = rng.integers(0, 3, n_rows)
    checked = []

    def look(X, n_threads=1, leader=None):
        checked.append(X.shape)
        return value_kind(X, n_threads, leader)

    monkeypatch.setattr(_validation, "value_kind", look)
    for cells in columns_of_all_kinds(rng, n_rows).values():
        tree = fasttree.tree.DecisionTreeClassifier(max_depth=3)
        tree.fit(cells.astype(np.float32), y)
        assert checked == []
        tree.fit(
            cells.astype(np.float32), y, np.arange(n_rows) % 2
        )  # of other rows no cell is read
        tree.fit(np.where(cells == cells[3, 1], np.nan, cells), y)
        assert len(checked) == 2
        checked.clear()


@each_class
@pytest.mark.parametrize(
    ("targets", "words"),
    [
        pytest.param(y[:5], "samples", id="fewer targets than rows"),
        pytest.param(y[:0], "sample", id="no targets"),
        pytest.param(None, "y", id="None"),
        pytest.param(np.zeros((6, 2, 2)), "y|dim", id="3-D"),
        pytest.param(np.array([0, 1, np.nan, 0, 1, 0.5]), "nan", id="nan"),
        pytest.param(np.array([0, 1, np.inf, 0, 1, 0.5]), "inf", id="inf"),
        pytest.param(y * 1j, "complex|unknown", id="complex"),
        pytest.param(np.float64(0.0), "y|array|collection|scalar|dim", id="number"),
        pytest.param(np.zeros((6, 0)), "y|output|column|shape|feature", id="no outputs"),
    ],
)
def test_targets_that_are_refused(Tree, targets, words):
    refuses(words, Tree().fit, X, targets)


@each_class
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        pytest.param(np.zeros(6), "zero", id="all zero"),
        pytest.param(np.ones(5), "sample_weight", id="fewer than rows"),
        pytest.param(np.ones((6, 2)), "1D|sample_weight|dim", id="2-D"),
        pytest.param(np.where(y, np.nan, 1), "nan", id="nan"),
        pytest.param(np.where(y, np.inf, 1), "inf", id="inf"),
        pytest.param(["heavy"] * 6, "heavy|string|float", id="strings"),
    ],
)
def test_weights_that_are_refused(Tree, weights, words):
    refuses(words, Tree().fit, X, y, sample_weight=weights)


@pytest.mark.parametrize("Tree", [fasttree.tree.DecisionTreeRegressor, fasttree.tree.DecisionTree])
@pytest.mark.parametrize(
    ("targets", "words"),
    [([1.5, -1, 1, 1, 1, 1], "negative"), (np.zeros(6), "poisson")],
    ids=["negative", "all zero"],
)
def test_poisson_targets_that_are_refused(Tree, targets, words):
    task = {"task": "regression"} if Tree is fasttree.tree.DecisionTree else {}
    refuses(words, Tree(criterion="poisson", **task).fit, X, targets)


def test_strings_are_no_regression_targets():
    refuses("str|float", fasttree.tree.DecisionTreeRegressor().fit, X, list("aabbcc"))


@each_class
@pytest.mark.parametrize(
    "params",
    [
        dict(criterion="chaos"),
        dict(splitter="worst"),
        dict(max_depth=0),
        dict(max_depth=1.5),
        dict(min_samples_split=1),
        dict(min_samples_split=1.5),
        dict(min_samples_leaf=0),
        dict(min_samples_leaf=1.0),
        dict(min_weight_fraction_leaf=0.6),
        dict(max_features=0),
        dict(max_features=1.5),
        dict(max_features="all"),
        dict(max_leaf_nodes=1),
        dict(min_impurity_decrease=-1.0),
        dict(ccp_alpha=-1.0),
        dict(random_state="seed"),
        dict(monotonic_cst=[1]),
        dict(monotonic_cst=[1, 2]),
        dict(n_jobs=0),
        dict(n_jobs="two"),
    ],
    ids=str,
)
def test_parameters_that_are_refused(Tree, params):
    """The message names the parameter."""
    (name,) = params
    refuses(name, Tree(**params).fit, X, y)


@each_class
def test_predicting_what_does_not_fit(Tree):
    refuses("not fitted", Tree().predict, X)
    fitted = Tree().fit(X, y)
    for method in (fitted.predict, fitted.apply, fitted.decision_path):
        refuses("features", method, X[:, :1])
        refuses("2D array", method, X[0])
        refuses("infinity", method, np.where(X == 2, np.inf, X))
        refuses("sample", method, X[:0])
        refuses("float|string|str", method, np.array([["a", "b"]]))


@each_class
@pytest.mark.parametrize(
    ("rows", "targets"),
    [
        (X[:1], y[:1]),
        (X, np.zeros(6, dtype=int)),
        (np.full((6, 2), 3.0), y),
        (np.full((6, 2), np.nan), y),
    ],
    ids=["one row", "one class", "constant columns", "nothing but missing"],
)
def test_degenerate_data_gives_a_single_leaf(Tree, rows, targets):
    fitted = Tree().fit(rows, targets)
    assert fitted.tree_.node_count == 1
    assert_array_equal(fitted.apply(X), np.zeros(6))
    assert len(np.unique(fitted.predict(X))) == 1


@each_class
@pytest.mark.parametrize("kind", ["read-only", "memory map", "list", "integers", "strided"])
def test_kinds_of_arrays(Tree, kind, tmp_path):
    """The tree is that of a plain array; the input keeps its bytes."""
    rng = np.random.default_rng(0)
    table, targets = rng.integers(0, 9, (50, 3)).astype(np.float32), rng.integers(0, 2, 50)
    expected = Tree(random_state=0).fit(table, targets)
    arrays = [table, targets, np.ones(50)]
    if kind == "memory map":
        arrays = [_memory_map(tmp_path / f"{i}.npy", array) for i, array in enumerate(arrays)]
    elif kind == "list":
        arrays = [array.tolist() for array in arrays]
    elif kind == "integers":
        arrays = [array.astype(np.int64) for array in arrays]
    elif kind == "strided":
        arrays = [np.repeat(array, 2, axis=0)[::2] for array in arrays]
    if kind in ("read-only", "strided"):
        for array in arrays:
            array.flags.writeable = False
    before = copy.deepcopy(arrays)
    fitted = Tree(random_state=0).fit(*arrays)
    assert_same(fitted.tree_, expected.tree_)
    assert_array_equal(fitted.predict(arrays[0]), expected.predict(table))
    assert_unchanged(arrays, before)


def _memory_map(path, array):
    np.save(path, array)
    return np.load(path, mmap_mode="r")


@st.composite
def inputs(draw):
    """Table, targets and weights of any type, sound or spoiled in values and shapes."""
    spoiled = draw(st.booleans())
    n_rows = draw(st.integers(1 - spoiled, 8))

    def array(dtypes, *sides, elements=None):
        shape = (n_rows, *sides)
        if spoiled:
            others = [(n_rows + 1, *sides), shape[:-1], (*shape, 1)]
            shape = draw(st.sampled_from([shape] * 8 + others))
        return draw(hnp.arrays(draw(st.sampled_from(dtypes)), shape, elements=elements))

    few = st.sampled_from([0.0, 0.5, 1.0, 2.0] * 3 + [-1.0, np.nan, np.inf][: 3 * spoiled])
    n_features = draw(st.integers(1 - spoiled, 3))
    floats = [np.float32, np.float64]
    integers = [np.int8, np.int64, np.uint16, np.bool_, np.complex64][: 4 + spoiled]
    return dict(
        X=draw(st.sampled_from([
            array(floats, n_features, elements=st.one_of(few, st.just(np.nan))),
            array(floats, n_features, elements=st.floats(width=32, allow_infinity=spoiled)),
            array(integers, n_features),
        ])),
        y=draw(st.sampled_from([
            array([np.int8, np.int64, np.bool_], elements=st.integers(0, 1)),
            array([np.int8], 2, elements=st.integers(0, 2)),
            array(floats, elements=few),
        ])),
        sample_weight=draw(st.sampled_from([None, array([np.float64], elements=few)])),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLASSES[1:])
@given(arguments=inputs(), criterion=st.sampled_from([0, 1, 2]))
def test_whatever_comes_in(name, arguments, criterion):
    """Refused where scikit-learn refuses, fitted where it fits; nothing is changed either way.

    Negative weights aside: see test_weights.py.
    """
    criteria = (
        ("gini", "entropy", "log_loss")
        if name.endswith("Classifier")
        else ("squared_error", "absolute_error", "poisson")
    )
    params = dict(criterion=criteria[criterion], random_state=0)
    before = copy.deepcopy(arguments)
    theirs = attempt(getattr(sklearn.tree, name)(**params), arguments)
    ours = attempt(getattr(fasttree.tree, name)(**params), arguments)
    assert_unchanged(arguments, before)
    if isinstance(ours, ValueError) and "weights" in str(ours) and not isinstance(theirs, REFUSED):
        assert np.min(arguments["sample_weight"]) < 0
        return
    assert isinstance(ours, REFUSED) == isinstance(theirs, REFUSED), (ours, theirs)
    if isinstance(ours, REFUSED):
        assert str(ours)
    else:
        assert ours.predict(arguments["X"]).shape == theirs.predict(arguments["X"]).shape
        assert ours.tree_.n_node_samples[0] == theirs.tree_.n_node_samples[0]


def attempt(estimator, arguments):
    """The fitted estimator, or the error."""
    try:
        return estimator.fit(**arguments)
    except REFUSED as error:
        return error


@pytest.mark.cases(300)
def test_fit_and_predict_leave_their_input_alone(seed):
    problem = random_problem(seed)
    before = copy.deepcopy([problem.X, problem.y, problem.sample_weight])
    fitted = problem.fit(fasttree.tree)
    fitted.predict(problem.X)
    fitted.decision_path(problem.X)
    assert_unchanged([problem.X, problem.y, problem.sample_weight], before)


@pytest.mark.parametrize(
    ("criterion", "name", "y", "params", "message"),
    [
        (Poisson, "poisson", [-1.0, 2.0], {}, "negative"),
        (Poisson, "poisson", [0.0, 0.0], {}, "positive"),
        (TargetSplit, "label_split", [1.0, 2.0], {"monotonic_cst": [1]}, "Monotonicity"),
        (MAE, "absolute_error", [1.0, 2.0], {"categorical_split": "subset"}, "sets of categories"),
    ],
)
def test_what_a_criterion_cannot_do_is_refused_by_name_and_as_an_instance(
    criterion, name, y, params, message
):
    X = np.array([["a"], ["b"]], dtype=object) if "categorical_split" in params else [[1.0], [2.0]]
    for given_criterion in (name, criterion(1, 2)):
        estimator = fasttree.tree.DecisionTreeRegressor(criterion=given_criterion, **params)
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y)


def test_an_instance_of_a_criterion_is_pruned_by_its_own_error():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.standard_cauchy(60)
    X_held, y_held = rng.normal(size=(60, 2)), rng.standard_cauchy(60)
    by_name, by_instance = (
        fasttree.tree.DecisionTreeRegressor(criterion=criterion, random_state=0)
        .fit(X, y)
        .reduced_error_prune(X_held, y_held)
        for criterion in ("absolute_error", MAE(1, 60))
    )
    assert_array_equal(by_name.tree_.threshold, by_instance.tree_.threshold)


@pytest.mark.parametrize("criterion", ["nothing", None, 3])
def test_a_criterion_that_became_wrong_after_the_fit(criterion):
    X, y = np.arange(8.0)[:, None], np.arange(8.0) % 3
    tree = fasttree.tree.DecisionTreeRegressor().fit(X, y)
    tree.criterion = criterion
    with pytest.raises(ValueError, match="criterion must be"):
        tree.reduced_error_prune(X, y)
