"""Pickled estimators and encoded data with parts replaced.

One of them is taken apart into what pickle would store: the callable, arguments and state of every
object of fasttree in it. One to three places are changed, and the parts are pickled as they are
now. Loading that raises, or gives an object whose methods return, or fits on which do, or raise
what a user can act on.
"""

import contextlib
import copy
import copyreg
import functools
import io
import pickle
import warnings
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

import fasttree.tree
from fasttree import config_context
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    EncodedData,
    ExtraTreeClassifier,
)
from fuzz.draws import ALLOWED, Draw, Finding, check_error

__all__ = ["draw_mutation"]


class Parts:
    """What pickle stores of an object: something to call, its arguments, and the state."""

    def __init__(self, parts):
        self.parts = list(parts)

    def __reduce__(self):
        call, arguments, *state = self.parts
        return call, tuple(arguments), *state


def take_apart(thing):
    """A copy of containers and of objects of fasttree, these as their `Parts`."""
    if isinstance(thing, dict):
        return {key: take_apart(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return [take_apart(value) for value in thing]
    if isinstance(thing, np.ndarray):
        return thing.copy()
    if type(thing).__module__.startswith("fasttree."):
        call, arguments, state = (*thing.__reduce_ex__(4), None)[:3]
        if call is copyreg.__newobj__:  # pickle would ask for the very class
            call, arguments = copyreg._reconstructor, (type(thing), object, None)
        arguments = arguments if call is copyreg._reconstructor else take_apart(list(arguments))
        return Parts([call, arguments, take_apart(state)])
    return thing


def places(thing):
    """Every (container, key) below a thing taken apart."""
    if isinstance(thing, Parts):
        yield from places(thing.parts[1])
        yield from places(thing.parts[2])
    elif isinstance(thing, dict | list):
        for key in thing if isinstance(thing, dict) else range(len(thing)):
            yield thing, key
            yield from places(thing[key])


@functools.cache
def fitted():
    """Fitted estimators of every kind, with rows that they predict, as (estimator, X, y)."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (40, 3)).astype(np.float32)
    X[0, 0] = np.nan
    y = rng.integers(0, 3, 40)
    table = np.empty((40, 3), dtype=object)
    table[:, 0] = rng.choice(["a", "b", "c", None], 40)
    table[:, 1] = X[:, 1]
    table[:, 2] = rng.choice([True, False, 3, "4"], 40)
    two = np.column_stack([y, y % 2])
    estimators = [
        (DecisionTreeClassifier(), X, y),
        (DecisionTreeClassifier(), X, np.array(["x", "y", "zz"])[y]),
        (DecisionTreeClassifier(max_depth=2), X, two),
        (DecisionTreeRegressor(max_leaf_nodes=6), X, y * 0.5),
        (DecisionTreeRegressor(criterion="absolute_error"), X, two),
        (DecisionTreeClassifier(categorical_features=[0]), table, y),
        (DecisionTreeRegressor(categorical_split="subset", missing_values=3), table, y * 0.5),
        (DecisionTreeClassifier(), X[:1], y[:1]),
        (DecisionTree(), X, y),
        (DecisionTree(), table, y + 0.5),
        (OptimalDecisionTreeClassifier(max_depth=2, pareto_front=True), X, y),
        (OptimalDecisionTreeClassifier(max_depth=2), table, y),
    ]
    return [(estimator.fit(rows, target), rows, target) for estimator, rows, target in estimators]


@functools.cache
def encoded():
    """Encoded data of every kind, with what was made of them, as (data, X, y)."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    X[:, 0] = rng.integers(0, 9, 300)
    X[rng.random(300) < 0.1, 1:3] = np.nan
    table = X.astype(object)
    table[:, 1] = rng.choice(["a", "b", "c", 1.5, None], 300)
    table[:, 2] = rng.choice([f"text {i}" for i in range(290)], 300)
    sparse = scipy.sparse.csc_matrix(np.where(rng.random(X.shape) < 0.5, X, 0))
    y = rng.integers(0, 3, 300)
    data = [EncodedData(rows) for rows in (X, np.asfortranarray(X), table, sparse)]
    for strategy in ("auto", "count"):
        with config_context(strategy=strategy):
            for one in data:
                DecisionTree(max_depth=1).fit(one, y)
    data += [EncodedData(X[:40]).prepare(), EncodedData(X), EncodedData(table)]
    return [(one, one, y[: len(one)]) for one in data]


def originals():
    """All that is tampered with, by number."""
    return [*fitted(), *encoded()]


_VALUES = [
    None, 0, 1, 2, 3, -1, 7, 2**31, 2**63, -(2**63) - 1, 10**30, 10**400, 0.0, 1.5, np.nan, np.inf,
    True, False, "", "a", "gini", b"b", [], [1], ["a", "b", "c"], (), {}, set(), {"a"}, object,
    np.int64(3), np.float32(2), np.zeros(0), np.zeros(3), np.zeros((2, 2)), np.arange(3),
    np.array(["a", "b", "c"]), np.array([None, 1, "a"], dtype=object), np.array(3),
]  # fmt: skip


def draw_mutation(seed, without=frozenset()):
    """Draw a tampered pickle."""
    draw = Draw(seed, without)
    index = draw.int(0, len(originals()) - 1)
    whole, _, _ = originals()[index]
    if not isinstance(whole, EncodedData) and draw.chance(0.2):
        whole = whole.tree_
    whole = take_apart(whole)
    steps = []
    for _ in range(draw.one([1, 1, 1, 2, 3])):
        container, key = draw.one(list(places(whole)))
        steps.append(f"{key}: {_mutate(draw, container, key, index)}")
    try:
        raw = pickle.dumps(whole)
    except Exception:  # not every object can be pickled: draw another that can
        return draw_mutation([*seed, 0], without)
    return Mutation(raw, index, steps)


def _mutate(draw, container, key, index):
    """Change what a container holds; return what was done."""
    value = container[key]
    if isinstance(value, np.ndarray) and value.size and draw.chance(0.75):
        return _mutate_array(draw, container, key, value)
    name = draw.by_name({"value": 6, "delete": 1, "other": 2, "nudge": 3})
    if name == "delete" and key not in _parameters():
        del container[key]
    elif name == "nudge" and isinstance(value, int) and not isinstance(value, bool):
        container[key] = value + draw.one([-1, 1])
    elif name == "other":  # what stands there in another estimator
        donor = take_apart(draw.one(originals())[0])
        others = [c[k] for c, k in places(donor) if k == key]
        container[key] = draw.one(others) if others else None
    else:
        container[key] = copy.deepcopy(draw.one(_VALUES))  # a later step may change it
    return name


@functools.cache
def _parameters():
    """Names of parameters, whose absence Python itself reports."""
    return {name for estimator, _, _ in fitted() for name in estimator.get_params()}


def _mutate_array(draw, container, key, array):
    name = draw.by_name({"bytes": 10, "entry": 5, "shorter": 2, "longer": 1, "dtype": 2, "shape": 1,
                         "order": 1, "byte order": 1})  # fmt: skip
    # NumPy itself cannot print text of other than Unicode's characters.
    if name == "bytes" and array.dtype.kind not in "OU":
        raw = bytearray(array.tobytes())
        for _ in range(draw.int(1, 4)):
            raw[draw.int(0, len(raw) - 1)] = draw.int(0, 255)
        array = np.frombuffer(bytes(raw), dtype=array.dtype).reshape(array.shape).copy()
    elif name in ("bytes", "entry"):
        array = array.copy()
        at = draw.int(0, array.size - 1)
        if array.dtype.names:
            field_ = draw.one(array.dtype.names)
            pool = {
                "f": [np.nan, np.inf, 0.0, -1e300],
                "i": [-1, 0, 1, 2, len(array), -2, 2**62],
                "u": [0, 1, 2, 255],
            }
            array[field_].flat[at] = draw.one(pool[array.dtype[field_].kind])
        elif array.dtype.kind in "iu":
            array.flat[at] = draw.one([0, 1, 2, 100])
        elif array.dtype.kind == "f":
            array.flat[at] = draw.one([np.nan, np.inf, -1.0, 1e300])
    elif name == "shorter":
        array = array[: draw.int(0, len(array) - 1)] if array.ndim else array
    elif name == "longer":
        array = np.concatenate([array, array]) if array.ndim else array
    elif name == "dtype" and not array.dtype.names:
        with contextlib.suppress(ValueError, TypeError):
            array = array.astype(draw.one(["i4", "f4", "O", "U3", "u1", ">i8"]))
    elif name == "shape":
        array = array[None]
    elif name == "order":
        array = np.asfortranarray(array)[::-1]
    else:
        array = array.astype(array.dtype.newbyteorder())
    container[key] = array
    return name


def _uses(thing, X, y):
    """Calls that a loaded estimator, tree or encoded data must survive, by name."""
    if isinstance(thing, EncodedData):
        for strategy in ("auto", "presort", "count", "sort"):
            yield strategy, functools.partial(_fit, thing, y, strategy)
        yield "prepare", lambda: thing.prepare().cells
        yield "rows", lambda: thing[::3].in_order()
        yield "predict", lambda: fitted()[0][0].predict(thing)
        yield "repr", lambda: repr(thing)
        yield "dumps", lambda: pickle.loads(pickle.dumps(thing))
        return
    if isinstance(thing, fasttree.tree._tree.Tree):
        rows = np.zeros((5, thing.n_features if thing.n_features < 1000 else 3), dtype=np.float32)
        yield from (
            (name, functools.partial(getattr(thing, name), rows))
            for name in ("apply", "predict", "decision_path")
        )
        yield "importances", thing.compute_feature_importances
        yield "depths", thing.compute_node_depths
        yield "bitset", lambda: thing.left_cat_bitset
        yield "improvement", lambda: thing.improvement
        yield "dumps", lambda: pickle.dumps(thing)
        return
    for name in ("predict", "apply", "decision_path", "predict_proba", "predict_log_proba"):
        if hasattr(thing, name):
            yield name, functools.partial(getattr(thing, name), X)
    yield "importances", lambda: thing.feature_importances_
    yield "score", lambda: thing.score(X, y)
    yield "export_text", lambda: fasttree.tree.export_text(thing)
    yield "to_sklearn", thing.to_sklearn
    yield "categories_", lambda: getattr(thing, "categories_", None)
    yield "repr", lambda: repr(thing)
    yield "dumps", lambda: pickle.loads(pickle.dumps(thing))
    if hasattr(thing, "from_front"):
        yield "from_front", lambda: thing.from_front(max_leaf_nodes=2).predict(X)
        return
    yield "tune", lambda: thing.tune(X, y, {"max_depth": [1, 2]}, copy=True)
    yield "reduced_error_prune", lambda: thing.reduced_error_prune(X, y, copy=True)
    yield "prune", lambda: thing.prune(max_depth=1)


def _fit(data, y, strategy):
    with config_context(strategy=strategy):
        for model in (DecisionTreeClassifier(), ExtraTreeClassifier(max_features=2)):
            model.fit(data, y).predict(data)


@dataclass
class Mutation:
    """A tampered pickle of the original number `index`."""

    raw: bytes
    index: int
    steps: list
    outcomes: dict = field(default_factory=dict)

    def check(self):
        """Raise a Finding if loading or using it does what it must not."""
        _, X, y = originals()[self.index]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    thing = pickle.loads(self.raw)
                except ALLOWED as error:
                    self._end(error)
                    return 1
                except Exception as error:
                    raise Finding(f"loading raises {type(error).__name__}: {error}") from error
                self.outcomes["loaded"] = 1
                for name, call in _uses(thing, X, y):
                    try:
                        call()
                    except Exception as error:
                        check_error(error, name)
        return 1

    def _end(self, error):
        if not str(error).strip():
            raise Finding(f"loading raises {type(error).__name__} without a message")
        self.outcomes[type(error).__name__] = 1

    def smaller(self):
        return ()

    def script(self, finding):
        return f"# {self.steps}\nimport pickle\nthing = pickle.loads({self.raw!r})"
