"""Fitted estimators as JSON files: `save` and `load`.

The schema is a page of the documentation, ``doc/api/model_file.rst``; a change of it changes
`FORMAT_VERSION`. Nothing in a file is executed: an estimator is put together from its parts, which
pass the checks of a pickle's (`_fitted_state.py`, `_tree_state.py`, `TableEncoder`). A checksum of
the text tells a damaged file from one that was written so.
"""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

import fasttree
from fasttree.export._json_values import (
    array_from_json,
    array_to_json,
    from_json,
    numbers_from_json,
    numbers_to_json,
    to_json,
)
from fasttree.table._encoder import ColumnEncoder, MissingValues, TableEncoder, table_encoder
from fasttree.tree._auto import DecisionTree
from fasttree.tree._classes import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from fasttree.tree._tree import NODE_DTYPE, Tree
from fasttree.tree.fitted._tree_state import FORMAT_VERSION as TREE_STATE_VERSION

if TYPE_CHECKING:
    import os

    from sklearn.base import BaseEstimator

__all__ = ["load", "save"]

# Readers of a major version read all its minor versions: those only add keys.
FORMAT_VERSION = (1, 0)

# Results of a search for an optimal tree, and what they are.
_SEARCH = {
    "objective_": float,
    "lower_bound_": float,
    "gap_": float,
    "is_optimal_": bool,
    "thresholds_are_exhaustive_": bool,
    "search_statistics_": dict,
}
_GZIP = b"\x1f\x8b"


def save(estimator: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a JSON file.

    The file holds the tree to the last bit, the parameters, the classes, and for trees of tables
    the categories. It does not depend on the version of Python, NumPy or scikit-learn, and other
    programs can read it: the schema is documented.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of fasttree's, optimal trees included.
    path : str or path-like
        Where to write; compressed with gzip if it ends in ``.gz``.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    ValueError
        If a parameter cannot be written as data (a generator of random numbers, a criterion, a
        callback), or the estimator is none of fasttree's.

    See Also
    --------
    load : Reads the file.

    Examples
    --------
    >>> from fasttree.export import load, save
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([["red", 1], ["blue", 2], ["red", 3]], [0, 1, 0])
    >>> save(tree, "tree.json")
    >>> load("tree.json").predict([["blue", 7]])
    array([1])
    """
    path = Path(path)
    check_is_fitted(estimator)
    document = {
        "format": "fasttree",
        "format_version": list(FORMAT_VERSION),
        "fasttree_version": fasttree.__version__,
        **_describe(estimator),
    }
    body = _body(document)
    raw = body + _end(_checksum(body))
    path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)


def load(path: str | os.PathLike[str]) -> BaseEstimator:
    """Read a fitted estimator from a JSON file that `save` wrote.

    Nothing in the file is executed. Whatever does not describe a sound estimator is refused.

    Parameters
    ----------
    path : str or path-like
        The file, compressed with gzip or not.

    Returns
    -------
    estimator
        Of the class that was saved, with the same parameters and predictions.

    Raises
    ------
    ValueError
        If the file is damaged, holds something else, or was written in a format of another major
        version.
    OSError
        If the file cannot be read.
    """
    raw = Path(path).read_bytes()
    try:
        return _read(raw)
    except RecursionError:
        reason = "it is nested too deeply"
    except (ValueError, TypeError) as error:  # TypeError: parts that a check of a pickle refuses
        reason = str(error)
    raise ValueError(f"{path} is not a model that fasttree can read: {reason.rstrip('.')}.")


def _classes():
    """The estimators that can be saved, by name. Optimal trees are imported here, for they import
    trees, and these what exports them."""
    from fasttree.optimal import OptimalDecisionTreeClassifier

    classes = (
        DecisionTree,
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreeClassifier,
        ExtraTreeRegressor,
        OptimalDecisionTreeClassifier,
    )
    return {cls.__name__: cls for cls in classes}


# ---- text


def _body(document):
    """The text of a document as bytes, a line for each key; what is left out is its end."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(value, allow_nan=False, separators=(',', ':'))}"
        for key, value in document.items()
    ]
    return ("{\n" + ",\n".join(lines)).encode("ascii")


def _end(checksum):
    return f',\n"checksum": "{checksum}"\n}}\n'.encode("ascii")


def _checksum(body):
    return f"{zlib.crc32(body):08x}"


def _read(raw):
    if raw[:2] == _GZIP:
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"it cannot be decompressed ({error})") from None
    document = json.loads(raw, parse_constant=_refuse_constant)
    kind, version = _get(document, "format", str), _get(document, "format_version", list)
    if kind != "fasttree" or len(version) != 2 or {type(part) for part in version} != {int}:
        raise ValueError("it does not name fasttree and the version of its format")
    if version[0] != FORMAT_VERSION[0]:
        raise ValueError(
            f"it is of format version {version[0]}.{version[1]}, written by fasttree "
            f"{document.get('fasttree_version')!r:.20}; this is fasttree {fasttree.__version__}, "
            f"which reads format version {FORMAT_VERSION[0]}"
        )
    _check_text(document, raw)
    return _build(document)


def _refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def _check_text(document, raw):
    """Raise if the checksum does not fit the text. Blanks may have been changed: then the text is
    written as `save` writes it."""
    checksum = _get(document, "checksum", str | None)
    if checksum is None:
        return
    end = _end(checksum) if checksum.isascii() else b""
    if raw.endswith(end) and _checksum(raw[: len(raw) - len(end)]) == checksum:
        return
    rest = {key: value for key, value in document.items() if key != "checksum"}
    if _checksum(_body(rest)) != checksum:
        raise ValueError(
            "its checksum is that of another text, so it is damaged; set the checksum of a file "
            "that was changed on purpose to null"
        )


def _get(document, key, types):
    """The entry of a document, which must be of one of the types; True and False are no int."""
    if not isinstance(document, dict):
        raise ValueError("an object is expected where something else stands")
    if key not in document:
        raise ValueError(f"the key {key!r} is missing")
    value = document[key]
    if not isinstance(value, types) or (isinstance(value, bool) and types is int):
        raise ValueError(f"{key!r} has a value of the wrong type, {type(value).__name__}")
    return value


# ---- estimators


def _describe(estimator):
    """The description of a fitted estimator, as it is written."""
    name = type(estimator).__name__
    if _classes().get(name) is not type(estimator):
        raise ValueError(f"An estimator of {type(estimator)!r} cannot be saved, only fasttree's.")
    described = {"class": name, "parameters": _describe_parameters(estimator)}
    if isinstance(estimator, DecisionTree):
        return described | {"task": estimator.task_, "estimator": _describe(estimator.estimator_)}
    names = getattr(estimator, "feature_names_in_", None)
    encoder = table_encoder(estimator)
    classes = None
    if is_classifier(estimator):
        classes = [estimator.classes_] if estimator.n_outputs_ == 1 else estimator.classes_
        classes = [array_to_json(labels) for labels in classes]
    described |= {
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else names.tolist(),
        "n_outputs": int(estimator.n_outputs_),
        "classes": classes,
        "n_fit_rows": int(estimator._n_fit_rows),
        "table": None if encoder is None else _describe_table(encoder),
        "trees": [_describe_tree(estimator.tree_)],
    }
    if not hasattr(estimator, "search_statistics_"):
        return described | {"max_features": int(estimator.max_features_)}
    described["search"] = {name: to_json(getattr(estimator, name)) for name in _SEARCH}
    described["front"] = None
    if hasattr(estimator, "pareto_front_"):
        front = estimator.pareto_front_
        described["front"] = {name: numbers_to_json(front[name]) for name in front.dtype.names}
        described["front"]["trees"] = [_describe_tree(tree) for tree in estimator._front_trees]
    return described


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


def _build(document):
    """The estimator that a document describes."""
    name = _get(document, "class", str)
    cls = _classes().get(name)
    if cls is None:
        raise ValueError(f"there is no estimator {name!r:.50}")
    estimator = cls(**_build_parameters(document, cls))
    estimator._validate_params()
    state = vars(estimator).copy()
    if cls is DecisionTree:
        inner = _get(document, "estimator", dict)
        if inner.get("class") == name:
            raise ValueError("an estimator is inside itself")
        state |= {"task_": _get(document, "task", str), "estimator_": _build(inner)}
    else:
        state |= _build_fitted(document, cls)
    # A new object, for a pickle's checks want one.
    estimator = cls.__new__(cls)
    estimator.__setstate__(state)
    return estimator


def _build_parameters(document, cls):
    """The parameters; those that this version of fasttree has and the file does not keep their
    defaults."""
    parameters = _get(document, "parameters", dict)
    unknown = parameters.keys() - cls().get_params(deep=False).keys()
    if unknown:
        raise ValueError(f"{cls.__name__} has no parameter {min(unknown)!r:.50}")
    return {name: from_json(value) for name, value in parameters.items()}


def _build_fitted(document, cls):
    """The attributes of a fitted estimator other than DecisionTree."""
    n_features, n_outputs = _get(document, "n_features", int), _get(document, "n_outputs", int)
    names = _get(document, "feature_names", list | None)
    classes = _get(document, "classes", list | None)
    table = _get(document, "table", dict | None)
    trees = _get(document, "trees", list)
    if len(trees) != 1:
        raise ValueError(f"there are {len(trees)} trees where one is expected")
    if names is not None and not all(isinstance(name, str) for name in names):
        raise ValueError("the names of features must be texts")
    if (classes is not None) != issubclass(cls, DecisionTreeClassifier):
        raise ValueError("there must be classes for a classifier, and for nothing else")
    n_values = len(_get(trees[0], "value", list))  # a bound before anything is allocated
    if not 1 <= n_outputs <= n_values or (classes is not None and len(classes) != n_outputs):
        raise ValueError("'n_outputs' is out of range, or there are classes for other outputs")
    labels = None if classes is None else [array_from_json(value) for value in classes]
    n_classes = [1] * n_outputs if labels is None else [len(values) for values in labels]
    n_classes = np.array(n_classes, dtype=np.intp)
    encoder = None if table is None else _build_table(table)
    n_categories = None if encoder is None else encoder.n_categories

    def build_tree(described):
        return _build_tree(described, n_features, n_classes, n_categories)

    state = {
        "n_features_in_": n_features,
        "n_outputs_": n_outputs,
        "_n_fit_rows": _get(document, "n_fit_rows", int),
        "_table_encoder": encoder,
        "tree_": build_tree(trees[0]),
    }
    if names is not None:
        state["feature_names_in_"] = np.array(names, dtype=object)
    if labels is not None:
        is_single = n_outputs == 1
        state["classes_"] = labels[0] if is_single else labels
        state["n_classes_"] = n_classes[0] if is_single else n_classes
    if not hasattr(cls(), "max_features"):  # an optimal tree looks at all features
        return state | _build_search(document, build_tree)
    return state | {"max_features_": _get(document, "max_features", int)}


def _build_search(document, build_tree):
    """The attributes that tell of a search for an optimal tree."""
    from fasttree.optimal._classes import FRONT_DTYPE

    found, front = _get(document, "search", dict), _get(document, "front", dict | None)
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
        state["_front_trees"] = [build_tree(tree) for tree in _get(front, "trees", list)]
    return state


# ---- tables


def _describe_table(encoder):
    missing = encoder.columns[0].missing
    return {
        "missing_texts": sorted(missing.texts),
        "missing_numbers": [to_json(number) for number in sorted(missing.numbers, key=repr)],
        "columns": [
            {
                "name": column.name if isinstance(column.name, str | int) else str(column.name),
                "only_categories": column.is_category,
                "has_missing": column.has_missing,
                "categories": [to_json(label) for label in column.categories],
            }
            for column in encoder.columns
        ],
    }


def _build_table(described):
    missing = MissingValues.__new__(MissingValues)
    texts, numbers = (
        _get(described, "missing_texts", list),
        _get(described, "missing_numbers", list),
    )
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("'missing_texts' must be texts")
    numbers = [from_json(number) for number in numbers]
    if not all(isinstance(number, int | float) for number in numbers):
        raise ValueError("'missing_numbers' must be numbers")
    missing.__setstate__({"texts": {*texts, ""}, "numbers": set(numbers)})
    columns = []
    for part in _get(described, "columns", list):
        column = ColumnEncoder.__new__(ColumnEncoder)
        column.__setstate__(
            {
                "name": _get(part, "name", str | int),
                "is_category": _get(part, "only_categories", bool),
                "missing": missing,
                "categories": from_json(_get(part, "categories", list)),
                "has_missing": _get(part, "has_missing", bool),
            }
        )
        columns.append(column)
    encoder = TableEncoder.__new__(TableEncoder)
    encoder.__setstate__({"columns": columns})
    return encoder


# ---- trees

# Names of the node arrays in files, and in NODE_DTYPE.
_NODE_FIELDS = {
    "children_left": "left_child",
    "children_right": "right_child",
    "feature": "feature",
    "threshold": "threshold",
    "missing_go_to_left": "missing_go_to_left",
    "impurity": "impurity",
    "n_node_samples": "n_node_samples",
    "weighted_n_node_samples": "weighted_n_node_samples",
}


def _describe_tree(tree):
    described = {"node_count": tree.node_count, "max_depth": tree.max_depth}
    for name, field in _NODE_FIELDS.items():
        described[name] = numbers_to_json(tree.nodes[field])
    described["value"] = numbers_to_json(tree.value.ravel())
    described["category_splits"] = None
    splits = tree.label_splits
    if splits is not None:
        limits = splits.offsets.tolist()
        codes = splits.codes.tolist()
        described["category_splits"] = {
            "node": splits.nodes.tolist(),
            "listed_go_left": splits.listed_left.tolist(),
            "listed": [codes[start:end] for start, end in zip(limits, limits[1:])],
        }
    return described


def _build_tree(described, n_features, n_classes, n_categories):
    node_count = _get(described, "node_count", int)
    columns = {
        field: numbers_from_json(_get(described, name, list), NODE_DTYPE[field], name)
        for name, field in _NODE_FIELDS.items()
    }
    values = numbers_from_json(_get(described, "value", list), np.float64, "value")
    if any(len(column) != node_count for column in columns.values()):
        raise ValueError("the arrays of a tree do not have an entry for each node")
    nodes = np.zeros(node_count, dtype=NODE_DTYPE)
    for field, column in columns.items():
        nodes[field] = column
    tree = Tree(n_features, n_classes, len(n_classes))
    shape = (node_count, tree.n_outputs, tree.max_n_classes)
    if values.size != np.prod(shape, dtype=object):
        raise ValueError(f"'value' must have {' * '.join(map(str, shape))} entries")
    state = {
        "format_version": TREE_STATE_VERSION,
        "node_count": node_count,
        "max_depth": _get(described, "max_depth", int),
        "nodes": nodes,
        "values": values.reshape(shape),
    }
    splits = _get(described, "category_splits", dict | None)
    if splits is not None:
        if n_categories is None:
            raise ValueError("a tree splits on categories, but no column has any")
        state["label_splits"] = _label_splits_state(splits, n_categories)
    tree.__setstate__(state)
    return tree


def _label_splits_state(described, n_categories):
    """The state of `CategoricalSplits`, which checks it."""
    listed = _get(described, "listed", list)
    if not all(isinstance(codes, list) for codes in listed):
        raise ValueError("'listed' must be a list of lists")
    sizes = [len(codes) for codes in listed]
    every_code = [code for codes in listed for code in codes]
    return {
        "nodes": numbers_from_json(_get(described, "node", list), np.int64, "node"),
        "offsets": np.cumsum([0, *sizes], dtype=np.int64),
        "codes": numbers_from_json(every_code, np.uint32, "listed"),
        "listed_left": numbers_from_json(
            _get(described, "listed_go_left", list), np.uint8, "listed_go_left"
        ),
        "n_categories": n_categories,
    }
