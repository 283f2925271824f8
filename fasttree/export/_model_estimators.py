"""Estimators of a model file; see _model_file.py."""

import math

import numpy as np
from sklearn.base import ClassifierMixin, is_classifier

from fasttree.export._json_values import (
    array_from_json,
    array_to_json,
    entry,
    from_json,
    numbers_from_json,
    numbers_to_json,
    to_json,
)
from fasttree.export._model_trees import build_table, build_tree, describe_table, describe_tree
from fasttree.table._encoder import table_encoder
from fasttree.tree._auto import DecisionTree
from fasttree.tree._classes import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from fasttree.tree.fitted._fitted_state import check_fitted_state

__all__ = ["build", "describe"]

_OOB = {"oob_decision_function_", "oob_prediction_"}

# Results of a search for an optimal tree, and what they are.
_SEARCH = {
    "objective_": float,
    "lower_bound_": float,
    "gap_": float,
    "is_optimal_": bool,
    "thresholds_are_exhaustive_": bool,
    "search_statistics_": dict,
}


def _classes():
    """The estimators that can be saved, by name. Some are imported here, for they import trees, and
    these what exports them."""
    from fasttree.ensemble import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from fasttree.optimal import OptimalDecisionTreeClassifier

    classes = (
        DecisionTree,
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreeClassifier,
        ExtraTreeRegressor,
        OptimalDecisionTreeClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
    )
    return {cls.__name__: cls for cls in classes}


def _is_forest(cls):
    return hasattr(cls, "_adopt_trees")


def describe(estimator):
    """Return the description of a fitted estimator, as it is written.

    Raises
    ------
    ValueError
        If there is something that a file cannot hold.
    """
    name = type(estimator).__name__
    if _classes().get(name) is not type(estimator):
        raise ValueError(
            f"An estimator of {type(estimator)!r} cannot be saved, only {', '.join(_classes())}."
        )
    described = {"class": name, "parameters": _describe_parameters(estimator)}
    if isinstance(estimator, DecisionTree):
        return described | {"task": estimator.task_, "estimator": describe(estimator.estimator_)}
    names = getattr(estimator, "feature_names_in_", None)
    encoder = table_encoder(estimator)
    classes = None
    if is_classifier(estimator):
        classes = [estimator.classes_] if estimator.n_outputs_ == 1 else estimator.classes_
        classes = [array_to_json(labels) for labels in classes]
    described |= {
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
        "target_name": getattr(estimator, "target_name_", None),
        "n_outputs": int(estimator.n_outputs_),
        "classes": classes,
        "table": None if encoder is None else describe_table(encoder),
    }
    if _is_forest(type(estimator)):
        return described | _describe_forest(estimator)
    described["n_fit_rows"] = int(estimator._n_fit_rows)
    described["trees"] = [describe_tree(estimator.tree_)]
    if not hasattr(estimator, "search_statistics_"):
        return described | {"max_features": int(estimator.max_features_)}
    return described | _describe_search(estimator)


def _describe_search(estimator):
    described = {"search": {name: to_json(getattr(estimator, name)) for name in _SEARCH}}
    described["front"] = None
    if hasattr(estimator, "pareto_front_"):
        front = estimator.pareto_front_
        described["front"] = {name: numbers_to_json(front[name]) for name in front.dtype.names}
        described["front"]["trees"] = [describe_tree(tree) for tree in estimator._front_trees]
    return described


def _describe_forest(forest):
    from fasttree.ensemble._compact import are_of_one_fit

    if not are_of_one_fit(forest.estimators_):
        raise ValueError("A forest whose trees were exchanged cannot be saved.")
    oob = None
    if hasattr(forest, "oob_score_"):
        (name,) = _OOB & vars(forest).keys()
        values = getattr(forest, name)
        oob = {
            "score": to_json(forest.oob_score_),
            "shape": list(values.shape),
            "values": numbers_to_json(values.ravel()),
        }
    weights = forest._sample_weight
    return {
        "n_fit_rows": int(forest._n_samples),
        "n_drawn_rows": forest._n_samples_bootstrap,
        "row_weights": None if weights is None else numbers_to_json(weights),
        "random_states": [int(tree.random_state) for tree in forest.estimators_],
        "oob": oob,
        "trees": [describe_tree(tree.tree_) for tree in forest.estimators_],
    }


def _describe_parameters(estimator):
    estimator._validate_params()  # what cannot be loaded is not saved
    described = {}
    for name, value in estimator.get_params(deep=False).items():
        try:
            described[name] = to_json(value)
        except ValueError as error:
            raise ValueError(
                f"The parameter {name} cannot be saved: {error}. Set it to something else first."
            ) from None
    return described


def build(document):
    """The estimator that a document describes."""
    name = entry(document, "class", str)
    cls = _classes().get(name)
    if cls is None:
        raise ValueError(f"there is no estimator {name!r:.50}")
    estimator = cls(**_build_parameters(document, cls))
    estimator._validate_params()
    state = vars(estimator).copy()
    if cls is DecisionTree:
        inner = entry(document, "estimator", dict)
        if inner.get("class") == name:
            raise ValueError("an estimator is inside itself")
        state |= {"task_": entry(document, "task", str), "estimator_": build(inner)}
    else:
        state |= _build_fitted(document, cls)
    # A new object, for a pickle's checks want one.
    built = cls.__new__(cls)
    if _is_forest(cls):
        trees, seeds = state.pop("estimators_")
        built.__setstate__(state | {"estimator_": estimator.estimator})
        built._adopt_trees(trees, seeds)
    else:
        built.__setstate__(state)
    return built


def _build_parameters(document, cls):
    """The parameters; those that this version of fasttree has and the file does not keep their
    defaults."""
    parameters = entry(document, "parameters", dict)
    unknown = parameters.keys() - cls().get_params(deep=False).keys()
    if unknown:
        raise ValueError(f"{cls.__name__} has no parameter {min(unknown)!r:.50}")
    return {name: from_json(value) for name, value in parameters.items()}


def _build_fitted(document, cls):
    """The attributes of a fitted estimator other than DecisionTree."""
    n_features, n_outputs = entry(document, "n_features", int), entry(document, "n_outputs", int)
    names = entry(document, "feature_names", list | None)
    classes = entry(document, "classes", list | None)
    table = entry(document, "table", dict | None)
    trees = entry(document, "trees", list)
    if len(trees) != 1 and not (trees and _is_forest(cls)):
        raise ValueError(f"there are {len(trees)} trees where one is expected")
    if names is not None and not all(isinstance(name, str) for name in names):
        raise ValueError("the names of features must be texts")
    if (classes is not None) != issubclass(cls, ClassifierMixin):
        raise ValueError("there must be classes for a classifier, and for nothing else")
    n_values = len(entry(trees[0], "value", list))  # a bound before anything is allocated
    if not 1 <= n_outputs <= n_values or (classes is not None and len(classes) != n_outputs):
        raise ValueError("'n_outputs' is out of range, or there are classes for other outputs")
    labels = None if classes is None else [array_from_json(value) for value in classes]
    n_classes = [1] * n_outputs if labels is None else [len(values) for values in labels]
    n_classes = np.array(n_classes, dtype=np.intp)
    encoder = None if table is None else build_table(table)
    n_categories = None if encoder is None else encoder.n_categories

    def tree_of(described):
        return build_tree(described, n_features, n_classes, n_categories)

    state = {"n_features_in_": n_features, "n_outputs_": n_outputs, "_table_encoder": encoder}
    if names is not None:
        state["feature_names_in_"] = np.array(names, dtype=object)
    if document.get("target_name") is not None:  # since version 1.1
        state["target_name_"] = entry(document, "target_name", str)
    if labels is not None:
        is_single = n_outputs == 1
        state["classes_"] = labels[0] if is_single else labels
        state["n_classes_"] = n_classes[0] if is_single else n_classes
    if _is_forest(cls):
        return state | _build_forest(document, cls, state, list(map(tree_of, trees)))
    state |= {"_n_fit_rows": entry(document, "n_fit_rows", int), "tree_": tree_of(trees[0])}
    if not hasattr(cls(), "max_features"):  # an optimal tree looks at all features
        return state | _build_search(document, tree_of)
    return state | {"max_features_": entry(document, "max_features", int)}


def _build_forest(document, cls, state, trees):
    """The attributes that only forests have; those of `state` are checked against the trees."""
    n_rows, n_drawn = (
        entry(document, "n_fit_rows", int),
        entry(document, "n_drawn_rows", int | None),
    )
    for tree in trees:
        check_fitted_state(
            state | {"tree_": tree, "_n_fit_rows": n_rows}, issubclass(cls, ClassifierMixin)
        )
    seeds = numbers_from_json(entry(document, "random_states", list), np.uint32, "random_states")
    if len(seeds) != len(trees):
        raise ValueError("there must be a random state for each tree")
    weights, oob = entry(document, "row_weights", list | None), entry(document, "oob", dict | None)
    if weights is not None:
        weights = numbers_from_json(weights, np.float64, "row_weights")
        if len(weights) != n_rows:
            raise ValueError("there must be a weight for each row of the fit")
    if n_drawn is not None and n_drawn < 1:
        raise ValueError("'n_drawn_rows' must be positive")
    built = {
        "_n_samples": n_rows,
        "_n_samples_bootstrap": n_drawn,
        "_sample_weight": weights,
        "_memory": None,
    }
    if "n_classes_" in state:
        n_classes = state["n_classes_"]
        built["n_classes_"] = int(n_classes) if state["n_outputs_"] == 1 else n_classes.tolist()
    if oob is not None:
        shape = tuple(entry(oob, "shape", list))
        values = numbers_from_json(entry(oob, "values", list), np.float64, "the values of 'oob'")
        if not 1 <= len(shape) <= 3 or shape[0] != n_rows or math.prod(shape) != len(values):
            raise ValueError("the values of 'oob' do not have the shape that is named")
        name = "oob_decision_function_" if "classes_" in state else "oob_prediction_"
        built |= {"oob_score_": from_json(entry(oob, "score", int | float | dict))}
        built[name] = values.reshape(shape)
    return built | {"estimators_": (trees, seeds.tolist())}


def _build_search(document, tree_of):
    """The attributes that tell of a search for an optimal tree."""
    from fasttree.optimal._classes import FRONT_DTYPE

    found, front = entry(document, "search", dict), entry(document, "front", dict | None)
    state = {name: from_json(found[name]) for name in _SEARCH.keys() & found.keys()}
    for name, expected in _SEARCH.items():
        if not isinstance(state.get(name), expected):
            raise ValueError(f"{name!r} must be of type {expected.__name__}")
    if front is not None:
        columns = [
            numbers_from_json(front.get(name), FRONT_DTYPE[name], name)
            for name in FRONT_DTYPE.names
        ]
        if len({len(column) for column in columns}) != 1:
            raise ValueError("the columns of 'front' have different lengths")
        state["pareto_front_"] = np.rec.fromarrays(columns, dtype=FRONT_DTYPE).view(np.ndarray)
        state["_front_trees"] = [tree_of(tree) for tree in entry(front, "trees", list)]
    return state
