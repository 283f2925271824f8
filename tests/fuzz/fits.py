"""Fits of random problems, and what must hold of them.

A fit ends in an error that says what is wrong, or in a tree that is the same under all settings,
whose arrays agree with each other, with the training rows and with its own predictions, and on
small problems with the naive twin.
"""

import copy
import pickle
import warnings
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier

import fasttree
import fasttree.tree
from fasttree.optimal import OptimalDecisionTreeClassifier, SearchOptions
from fasttree.table._rows import canonical_sparse
from fuzz.data import PREAMBLE, draw_targets, draw_weights, draw_X, run_statements
from fuzz.draws import Draw, Finding, check_error, literal, same_bits
from fuzz.parameters import draw_optimal_params, draw_params
from reference.impurity import CLASSIFICATION, REGRESSION
from reference.judge import judge
from reference.trees import STATISTICS, STRUCTURE

__all__ = ["Fit", "draw_fit"]

_ESTIMATORS = {
    "DecisionTreeClassifier": 30, "DecisionTreeRegressor": 34, "ExtraTreeClassifier": 8,
    "ExtraTreeRegressor": 8, "DecisionTree": 10, "OptimalDecisionTreeClassifier": 6,
}  # fmt: skip
_SETTINGS = [
    {"strategy": "presort"}, {"strategy": "count"}, {"strategy": "sort"}, {"simd": "portable"},
    {"n_threads": 2}, {"strategy": "sort", "n_threads": 2}, {"strategy": "count", "n_threads": 2},
    {"strategy": "presort", "simd": "portable"}, {"strategy": "count", "simd": "portable"},
    {"strategy": "sort", "simd": "portable"}, {"strategy": "presort", "n_threads": 2},
    {"simd": "avx2"}, {"strategy": "presort", "simd": "avx2"},
]  # fmt: skip
_OPTIONS = [
    {"instruction_set": "portable"}, {"cache": None}, {"cache": "branch"}, {"order": "random"},
    {"start": None}, {"start": "deepening"}, {"sharing": "leaf", "share_after": 0.0},
    {"conflict_bound": False, "sibling_bound": False, "cousin_bound": False},
]  # fmt: skip


def draw_fit(seed, without=frozenset()):
    """Draw a problem and the settings under which it is solved."""
    draw = Draw(seed, without)
    name = draw.by_name(_ESTIMATORS)
    is_optimal = name == "OptimalDecisionTreeClassifier"
    n_rows = draw.int(*draw.one([(1, 12)] * 6 + [(10, 60)] * 8 + [(60, 200)] * 4 + [(300, 800)]))
    if is_optimal:
        n_rows = min(n_rows, 60)
    if draw.chance(0.003):
        n_rows = 0
    X, statements, kind = draw_X(draw, n_rows, draw.int(1, 8 if n_rows < 100 else 5))
    is_classification = is_optimal or "Classifier" in name or draw.chance(0.5 * (name[-1] == "e"))
    y, is_usual_target = draw_targets(draw, n_rows, is_classification)
    weights, are_usual_weights = draw_weights(draw, n_rows)
    params = (draw_optimal_params if is_optimal else draw_params)(
        draw, X.shape[1], y, is_classification
    )
    if name == "DecisionTree":
        params |= {"task": draw.one(["auto", "classification", "regression"])}
    if kind != "labels" and draw.chance(0.95):
        params = {
            k: v for k, v in params.items() if k not in ("missing_values", "categorical_features")
        }
    if is_optimal:
        settings = [draw.one(_OPTIONS), {"n_threads": 2}]
    else:
        settings = _SETTINGS
        if draw.chance(0.06):
            settings = [{**one, "sklearn_random_stream": True} for one in ({}, *settings[:4])]
    is_usual = is_usual_target and are_usual_weights and kind == "dense"
    return Fit(name, params, X, statements, y, weights, settings, is_usual)


@dataclass
class Fit:
    """A problem, and the settings under which it is solved.

    `is_usual` says that the problem is one that the naive twin can judge.
    """

    name: str
    params: dict
    X: np.ndarray
    statements: list
    y: np.ndarray
    weights: np.ndarray | None
    settings: list
    is_usual: bool
    outcomes: dict = field(default_factory=dict)

    # ---- running

    def estimator(self, **others):
        cls = getattr(fasttree.tree, self.name, OptimalDecisionTreeClassifier)
        return cls(**(self.params | others))

    def check(self):
        """Raise a Finding if anything is wrong; return the number of fits."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                X = run_statements(self.X, self.statements)
            except Exception:  # a library does not make this form of these cells
                self._count("not made")
                return 0
            before = _snapshot(X, self.y, self.weights)
            first = self._solve(X, {})
            _check_unchanged(before, _snapshot(X, self.y, self.weights))
            for settings in self.settings:
                self._compare(first, self._solve(X, settings), settings)
            n_fits = 1 + len(self.settings)
            if not isinstance(first, Exception):
                n_fits += self._check_forms(first, X)
                self._check_fitted(first, X)
            return n_fits

    def _count(self, outcome):
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def _solve(self, X, settings):
        """The fitted estimator or the error."""
        settings = dict(settings)
        options = {name: settings.pop(name) for name in list(settings) if name in _OPTION_NAMES}
        others = {"search_options": SearchOptions(**options)} if options else {}
        try:
            with fasttree.config_context(**settings):
                fitted = self.estimator(**others).fit(X, self.y, sample_weight=self.weights)
        except Exception as error:
            check_error(error, "fit")
            self._count(type(error).__name__)
            return error
        self._count("fitted")
        return fitted

    def _compare(self, first, other, settings):
        """Raise unless two settings had the same result."""
        if settings.get("sklearn_random_stream") and "strategy" not in settings:
            return
        if "scikit-learn's formulas" in str(other):
            return  # they have a smaller range
        if isinstance(first, Exception) or isinstance(other, Exception):
            if not isinstance(other, Exception):
                raise Finding(f"fits with {settings}, where the defaults raise {first!r}")
            if not isinstance(first, Exception):
                raise Finding(f"raises with {settings}, where the defaults fit: {other!r}")
            if type(first) is not type(other):
                raise Finding(f"another error with {settings}: {other!r} instead of {first!r}")
            return
        if self.name.startswith("Optimal"):
            if (
                first.is_optimal_
                and other.is_optimal_
                and abs(first.objective_ - other.objective_) > 1e-12
            ):
                raise Finding(f"objective {other.objective_}, not {first.objective_}", [settings])
            return
        if settings.get("sklearn_random_stream"):
            return
        _compare_trees(first.tree_, other.tree_, settings)

    def _check_forms(self, first, X):
        """Fit the same numbers in other forms; return how many."""
        if sp.issparse(X):
            # Of three equal places, how SciPy rounds the sum depends on who asks.
            others = [canonical_sparse(X).toarray()]
        elif type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float32, np.float64):
            others = [np.asfortranarray(X)]
            if not np.signbit(X[X == 0]).any():
                others.append(sp.csc_array(X))
        else:
            return 0
        if {"missing_values", "categorical_features"} & self.params.keys():
            return 0
        others.append(fasttree.tree.EncodedData(X))
        for other in others:
            settings = {"form": f"{type(other).__name__}"}
            self._compare(first, self._solve(other, {}), settings)
        return len(others)

    # ---- what holds of a fit

    def _check_fitted(self, fitted, X):
        tree = fitted.tree_
        inner = getattr(fitted, "estimator_", fitted)
        n_rows = len(self.y)
        weights = np.ones(n_rows) if self.weights is None else self.weights.astype(float)
        _check_arrays(tree, inner, weights.min() < 0)
        is_positive = weights.min() >= 0 and not self.params.get("class_weight")
        if (
            is_positive
            and self.name[:7] != "Optimal"
            and tree.n_node_samples[0] != (weights > 0).sum()
        ):
            raise Finding(f"{tree.n_node_samples[0]} rows in the root")
        self._check_limits(tree, n_rows)
        leaves = fitted.apply(X)
        if is_positive:
            counts = np.bincount(leaves[weights > 0], minlength=tree.node_count)
            is_leaf = tree.children_left == -1
            if not np.array_equal(counts[is_leaf], tree.n_node_samples[is_leaf]):
                raise Finding("the training rows do not fall into the leaves that counted them")
        _check_predictions(fitted, inner, X, leaves)
        if is_positive and not is_classifier(inner):
            y = self.y.astype(float).reshape(n_rows, -1)[weights > 0]
            # Outputs are scaled by one power of two: beside a huge one a tiny one is 0.
            slack = 1e-9 * np.abs(y).max(axis=0) + 1e-300 * np.abs(y).max()
            # Sums are rounded to 2**-62 of the whole: a node of hardly any weight shows it.
            share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
            value = tree.value[share > 2.0**-28, :, 0]
            if (value < y.min(axis=0) - slack).any() or (value > y.max(axis=0) + slack).any():
                raise Finding("a value lies outside the targets")
        again = pickle.loads(pickle.dumps(fitted))
        _compare_trees(tree, again.tree_, {"pickled": True})
        if self.name.startswith("Optimal"):
            self._check_optimal(fitted, X)
        elif self._has_twin(fitted):
            try:
                cells = X if type(X) is np.ndarray else self.X
                judge(fitted, cells.astype(np.float32), self.y, self.weights)
            except AssertionError as error:
                raise Finding(
                    f"the naive twin: {error} {getattr(error, '__notes__', '')}"
                ) from error

    def _has_twin(self, fitted):
        return (
            self.is_usual
            and len(self.y) <= 12
            and self.name in ("DecisionTreeClassifier", "DecisionTreeRegressor")
            and self.params["criterion"] in CLASSIFICATION + REGRESSION
            and ("monotonic_cst" not in self.params or getattr(fitted, "n_classes_", 2) == 2)
            and not self.params.get("ccp_alpha")
            and not {"missing_values", "categorical_features", "class_weight"} & self.params.keys()
            and np.isfinite(self.X[~np.isnan(self.X)]).all()
            and all(
                v is None or not isinstance(v, int) or abs(v) < 2**31 for v in self.params.values()
            )
        )

    def _check_limits(self, tree, n_rows):
        params = self.params
        depth = params.get("max_depth")
        if depth is not None and tree.max_depth > depth:
            raise Finding(f"depth {tree.max_depth}")
        most = params.get("max_leaf_nodes")
        if most is not None and tree.n_leaves > most:
            raise Finding(f"{tree.n_leaves} leaves")
        least = params.get("min_samples_leaf", 1)
        least = np.ceil(least * n_rows) if isinstance(least, float) else least
        if (
            tree.node_count > 1
            and not self.name.startswith("Optimal")
            and tree.n_node_samples.min() < least
        ):
            raise Finding(f"a leaf of {tree.n_node_samples.min()} rows")

    def _check_optimal(self, fitted, X):
        """The objective is what is claimed, and no worse than the greedy tree's."""
        if self.weights is None and not self.params.get("class_weight"):
            penalty = float(min(self.params.get("complexity_penalty", 0.0), 1.0))
            error = np.mean(fitted.predict(X) != self.y.reshape(-1))
            if abs(error + penalty * fitted.get_n_leaves() - fitted.objective_) > 1e-6:
                raise Finding(f"objective {fitted.objective_}, but the error is {error}")
        if fitted.lower_bound_ > fitted.objective_ or fitted.gap_ < 0:
            raise Finding("the bound lies above the objective")

    # ---- smaller cases

    def smaller(self):
        """Cases that are simpler, the largest steps first."""
        for kept in _subsets(len(self.y)):
            yield replace(
                self,
                X=self.X[kept],
                y=self.y[kept],
                weights=self.weights[kept]
                if self.weights is not None and len(self.weights) == len(self.y)
                else self.weights,
            )
        for kept in _subsets(self.X.shape[1]):
            cst = self.params.get("monotonic_cst")
            params = dict(self.params)
            if isinstance(cst, list) and len(cst) == self.X.shape[1]:
                params["monotonic_cst"] = [cst[j] for j in np.arange(len(cst))[kept]]
            yield replace(self, X=self.X[:, kept], params=params)
        for name in self.params.keys() - {"criterion", "random_state", "task"}:
            yield replace(self, params={k: v for k, v in self.params.items() if k != name})
        if self.weights is not None:
            yield replace(self, weights=None)
        if len(self.settings) > 1:
            for settings in self.settings:
                yield replace(self, settings=[settings])
        elif self.settings:
            yield replace(self, settings=[])
        if self.statements:
            yield replace(self, statements=self.statements[:-1])
        if self.X.dtype.kind == "f":
            for X in (np.nan_to_num(self.X, posinf=1, neginf=-1), np.rint(self.X)):
                if not same_bits(X, self.X):
                    yield replace(self, X=X)

    def script(self, finding):
        """Source that repeats the fit with nothing of this package."""
        module = "fasttree.optimal" if self.name.startswith("Optimal") else "fasttree.tree"
        lines = [
            PREAMBLE + "import fasttree",
            f"from {module} import {self.name}",
            f"X = {literal(self.X)}",
            *self.statements,
            f"y = {literal(self.y)}",
            f"w = {literal(self.weights)}",
            f"params = {literal(self.params)}",
            f"# settings that are compared with the defaults: {self.settings}",
            f"tree = {self.name}(**params).fit(X, y, sample_weight=w)",
        ]
        for settings in self.settings:
            if set(settings) <= set(fasttree.get_config()):
                lines += [
                    f"with fasttree.config_context(**{settings!r}):",
                    f"    other = {self.name}(**params).fit(X, y, sample_weight=w)",
                    "print((tree.tree_.nodes == other.tree_.nodes).all())",
                ]
        return "\n".join(lines)


_OPTION_NAMES = {name for options in _OPTIONS for name in options}


def _subsets(n):
    """Slices of n things without a half, a quarter, ... of them."""
    size = n // 2
    while size:
        for start in range(0, n, size):
            kept = np.ones(n, dtype=bool)
            kept[start : start + size] = False
            if kept.any():
                yield kept
        size //= 2


def _snapshot(*inputs):
    """Copies to compare with."""
    return [copy.deepcopy(one) for one in inputs]


def _check_unchanged(before, after):
    for old, new in zip(before, after):
        if isinstance(old, np.ndarray):
            is_same = old.dtype == object or same_bits(old, new)
            is_same = is_same and old.flags.writeable == new.flags.writeable
        elif sp.issparse(old) and hasattr(old, "indptr"):
            is_same = all(
                same_bits(getattr(old, k), getattr(new, k)) for k in ("data", "indices", "indptr")
            )
        elif hasattr(old, "equals"):
            is_same = old.equals(new) or not old.equals(copy.deepcopy(old))  # polars' objects
        else:
            is_same = True
        if not is_same:
            raise Finding("fit has changed its input")


def _compare_trees(tree, other, settings):
    """Raise unless two trees are the same, bit for bit."""
    if tree.node_count != other.node_count:
        raise Finding(f"{other.node_count} nodes instead of {tree.node_count}", [settings])
    if tree.nodes.tobytes() == other.nodes.tobytes() and same_bits(tree.value, other.value):
        if tree.label_splits is None and other.label_splits is None:
            return
        if np.array_equal(tree.left_cat_bitset, other.left_cat_bitset):
            return
        raise Finding("other labels go left", [settings])
    for name in STRUCTURE + STATISTICS:
        a, b = getattr(tree, name), getattr(other, name)
        if not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            node = int(np.nonzero((a != b).reshape(len(a), -1).any(axis=1))[0][0])
            raise Finding(f"{name} of node {node}: {b[node]!r} instead of {a[node]!r}", [settings])


def _check_arrays(tree, inner, with_negative_weights):
    """The arrays are finite and agree with each other."""
    is_split = tree.children_left != -1
    for name in ("impurity", "weighted_n_node_samples", "value"):
        if not np.isfinite(getattr(tree, name)).all():
            raise Finding(f"{name} is not finite")
    if np.isnan(tree.threshold).any() or not np.isfinite(tree.compute_feature_importances()).all():
        raise Finding("thresholds or importances are not finite")
    left, right = tree.children_left[is_split], tree.children_right[is_split]
    n = tree.n_node_samples
    if not np.array_equal(n[is_split], n[left] + n[right]) or n.min() < 1:
        raise Finding("rows of children do not add up to those of their parent")
    # Poisson's impurity is a difference of terms as large as the targets.
    rounding = 1e-9 * tree.impurity.max() + 1e-14 * np.abs(tree.value).max()
    if not (with_negative_weights or (tree.impurity >= -rounding).all()):
        raise Finding("an impurity is negative")
    w = tree.weighted_n_node_samples
    if not np.allclose(w[is_split], w[left] + w[right], rtol=1e-6, atol=1e-6 * abs(w).max()):
        raise Finding("weights of children do not add up to that of their parent")
    if is_classifier(inner):
        places = np.arange(tree.max_n_classes) < tree.n_classes[:, None]
        value = tree.value
        if (value[:, ~places] != 0).any() or not np.allclose(value.sum(axis=2), 1, atol=1e-9):
            raise Finding("probabilities do not sum to one")


def _check_predictions(fitted, inner, X, leaves):
    """The methods of prediction agree with the leaves."""
    tree = inner.tree_
    value = tree.value[leaves]
    if (tree.children_left[leaves] != -1).any():
        raise Finding("apply returns a node that is no leaf")
    depths = tree.compute_node_depths()
    if not np.array_equal(np.diff(fitted.decision_path(X).indptr), depths[leaves]):
        raise Finding("decision_path does not end in the leaf")
    predicted = fitted.predict(X)
    if is_classifier(inner):
        proba = fitted.predict_proba(X)
        one = tree.n_outputs == 1
        classes = [inner.classes_] if one else inner.classes_
        for k, (found, names) in enumerate(zip([proba] if one else proba, classes)):
            if not np.array_equal(found, value[:, k, : len(names)]):
                raise Finding("predict_proba is not the value of the leaf")
            expected = names[np.argmax(value[:, k, : len(names)], axis=1)]
            of_output = predicted if predicted.ndim == 1 else predicted[:, k]
            if not np.array_equal(of_output, expected):
                raise Finding("predict is not the most frequent class")
    elif not np.array_equal(predicted.reshape(value.shape[:2]), value[:, :, 0]):
        raise Finding("predict is not the value of the leaf")
