"""Trees as ONNX models: `to_onnx`.

ONNX's trees compare numbers. As in `CategoricalSplitEncoder`, the answer to a question about
categories is a column of its own, which ONNX's `LabelEncoder` finds from the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

import fasttree
from fasttree.export._view import view_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sklearn.base import BaseEstimator

__all__ = ["to_onnx"]

_DOMAIN, _OPSET, _ML_OPSET = "ai.onnx.ml", 17, 3


def to_onnx(decision_tree: BaseEstimator, *, feature_names: Sequence[str] | None = None) -> Any:
    """Return a tree as an ONNX model; needs the package onnx.

    Parameters
    ----------
    decision_tree : estimator
        A fitted tree of fasttree's.
    feature_names : array-like of shape (n_features,), default=None
        Names of the columns, those of the inputs for tables; None takes those of the fit, or x0,
        x1 and so on.

    Returns
    -------
    onnx.ModelProto
        Its input is ``X``, a float32 tensor of shape (n_samples, n_features), NaN where a value is
        missing. If the tree was fitted on a table with categories there is an input of shape
        (n_samples, 1) for each column that the tree asks for, by its name: float32, or text, empty
        where a value is missing. What `missing_values` listed is missing, too. In classification
        the outputs are ``label``, a text or int64, and ``probabilities``; in regression
        ``variable``. With several outputs there are ``label_0``, ``probabilities_0`` and so on, and
        ``variable`` has a column for each.

    Raises
    ------
    ValueError
        If the tree asks of a column both for numbers and for categories, or for categories that
        are no texts: ONNX has no type for such columns. Also if class labels are neither texts nor
        integers, or if a column has the name of an output.

    Notes
    -----
    ONNX rounds features to float32, as `predict` does, and also what it returns.

    Examples
    --------
    >>> from fasttree.export import to_onnx
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> model = to_onnx(DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 1]))  # doctest: +SKIP
    >>> open("tree.onnx", "wb").write(model.SerializeToString())  # doctest: +SKIP
    """
    import onnx
    from onnx import TensorProto, helper

    view = view_of(decision_tree, feature_names)
    splits = view.splits()
    has_columns = view.columns is not None and any(map(view.categories_of, range(len(view.names))))
    questions = _questions(view, splits)
    asked = sorted({split.feature for split in splits if split is not None})
    position = {feature: place for place, feature in enumerate(asked)}
    reader = _Reader(view, helper)
    nodes, constants = reader.nodes, reader.constants
    if has_columns and asked:
        inputs, parts = _read_columns(view, helper, questions, position, reader)
        nodes.append(helper.make_node("Concat", parts, ["/cells"], axis=1))
        matrix = "/cells"
    else:  # all is numbers; a tree without a split reads them for their count only
        position = {feature: feature for feature in asked}
        matrix = reader.numbers("X") if asked else "X"
        inputs = [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n", len(view.names)])]
    _check_names([given.name for given in inputs])
    tree = _tree_attributes(view, splits, questions, position)
    outputs = []
    if view.classes is None:
        nodes.append(_ensemble(helper, view, tree, matrix, view.tree.value[:, :, 0], "variable"))
        outputs.append(
            helper.make_tensor_value_info("variable", TensorProto.FLOAT, ["n", view.n_outputs])
        )
    for k, classes in enumerate(view.classes or []):
        suffix = "" if view.n_outputs == 1 else f"_{k}"
        label, fractions, n = f"label{suffix}", f"probabilities{suffix}", len(classes)
        values = view.tree.value[:, k, :n]
        nodes += [
            _ensemble(helper, view, tree, matrix, values, fractions),
            helper.make_node("ArgMax", [fractions], [f"/code{suffix}"], axis=1, keepdims=0),
            helper.make_node("Gather", [f"/classes{suffix}", f"/code{suffix}"], [label]),
        ]
        constants.append(_class_labels(helper, classes.tolist(), f"/classes{suffix}"))
        kind = constants[-1].data_type
        outputs += [
            helper.make_tensor_value_info(label, kind, ["n"]),
            helper.make_tensor_value_info(fractions, TensorProto.FLOAT, ["n", n]),
        ]
    model = helper.make_model(
        helper.make_graph(nodes, "tree", inputs, outputs, constants),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(_DOMAIN, _ML_OPSET)],
        producer_name="fasttree",
        producer_version=fasttree.__version__,
        ir_version=8,
    )
    onnx.checker.check_model(model)
    return model


def _check_names(inputs):
    """Raise if inputs cannot have the names of their columns beside each other and the outputs."""
    taken = re.compile(r"(label|probabilities)(_\d+)?|variable|/.*|")
    for i, name in enumerate(inputs):
        if taken.fullmatch(name) or name in inputs[:i]:
            raise ValueError(
                f"No input can be named {name!r}: it is empty, comes twice, begins with a slash or "
                "is the name of an output; give the columns other feature_names."
            )


def _questions(view, splits):
    """The questions about categories, each once: (feature, codes, listed_left, missing_left)."""
    found = {}
    for node, split in enumerate(splits):
        if split is not None and split.codes is not None:
            key = (split.feature, tuple(split.codes.tolist()), split.listed_left,
                   split.missing_left)  # fmt: skip
            found.setdefault(key, []).append(node)
    return found


class _Reader:
    """Reads numbers as the fit did: those that mean a missing value become NaN.

    Attributes
    ----------
    nodes : list of NodeProto
        What does so.
    constants : list of TensorProto
        What it needs.
    """

    def __init__(self, view, helper):
        missing = set() if view.columns is None else view.columns[0].missing.numbers
        with np.errstate(over="ignore"):
            found = {float(np.float32(number)) for number in missing}
        self.missing = sorted(number for number in found if np.isfinite(number))
        self.helper, self.nodes, self.constants = helper, [], []

    def numbers(self, name):
        """Return the name of a tensor of numbers after it was read."""
        if self.missing and not self.constants:
            for i, number in enumerate([np.nan, *self.missing]):
                self.constants.append(
                    self.helper.make_tensor(
                        f"/number {i}", self.helper.TensorProto.FLOAT, [], [number]
                    )
                )
        for i in range(1, len(self.constants)):
            mask, read = f"/missing {len(self.nodes)}", f"/read {len(self.nodes)}"
            self.nodes.append(self.helper.make_node("Equal", [name, f"/number {i}"], [mask]))
            self.nodes.append(self.helper.make_node("Where", [mask, "/number 0", name], [read]))
            name = read
        return name


def _read_columns(view, helper, questions, position, reader):
    """The inputs of a table, and the names of the columns of the matrix: numbers, then answers."""
    nodes = reader.nodes
    texts = {feature for feature, *_ in questions}
    inputs, parts = [], []
    for feature in position:
        name = view.names[feature]
        is_text = feature in texts
        tensor = helper.TensorProto.STRING if is_text else helper.TensorProto.FLOAT
        inputs.append(helper.make_tensor_value_info(name, tensor, ["n", 1]))
        if not is_text:
            parts.append(reader.numbers(name))
            continue
        labels = view.categories_of(feature)
        if not all(isinstance(label, str) for label in labels) or _asks_for_numbers(view, feature):
            raise ValueError(
                f"Column {name!r} holds numbers and categories, or categories that are no texts; "
                "ONNX has no type for it."
            )
        parts.append(f"/unread {len(parts)}")  # a column for its place, which no node reads
        nodes.append(_label_encoder(helper, name, parts[-1], {}, 0.0))
    for i, (feature, codes, listed_left, missing_left) in enumerate(questions):
        labels = view.categories_of(feature)
        answers = dict.fromkeys((labels[code] for code in codes), float(not listed_left))
        missing = sorted(view.columns[feature].missing.texts)
        answers |= dict.fromkeys(missing, float(not missing_left))
        name = view.names[feature]
        nodes.append(_label_encoder(helper, name, f"/question {i}", answers, float(listed_left)))
        parts.append(f"/question {i}")
    return inputs, parts


def _asks_for_numbers(view, feature):
    """Whether a number in a column of texts makes a difference: there is a threshold."""
    tree = view.tree
    asking = np.flatnonzero((tree.feature == feature) & (tree.children_left >= 0))
    return bool(np.setdiff1d(asking, tree.label_splits.nodes).size)


def _label_encoder(helper, source, target, answers, default):
    keys = list(answers) or [""]
    return helper.make_node(
        "LabelEncoder", [source], [target], domain=_DOMAIN, keys_strings=keys,
        values_floats=[answers.get(key, default) for key in keys], default_float=default,
    )  # fmt: skip


def _tree_attributes(view, splits, questions, position):
    """The attributes that describe the nodes."""
    tree = view.tree
    n = tree.node_count
    place = {
        node: len(position) + i for i, nodes in enumerate(questions.values()) for node in nodes
    }
    features, limits, modes, missing = [], [], [], []
    for node, split in enumerate(splits):
        modes.append("LEAF" if split is None else "BRANCH_LEQ")
        missing.append(int(split is not None and split.codes is None and split.missing_left))
        if split is None:
            features.append(0)
            limits.append(0.0)
        elif split.codes is None:
            features.append(position[split.feature])
            limits.append(split.at_most)
        else:
            features.append(place[node])
            limits.append(0.5)
    return {
        "nodes_treeids": [0] * n,
        "nodes_nodeids": list(range(n)),
        "nodes_featureids": features,
        "nodes_values": limits,
        "nodes_modes": modes,
        "nodes_truenodeids": np.maximum(tree.children_left, 0).tolist(),
        "nodes_falsenodeids": np.maximum(tree.children_right, 0).tolist(),
        "nodes_missing_value_tracks_true": missing,
    }


def _ensemble(helper, view, tree, matrix, values, target):
    """The node that finds the leaves and returns their values, of shape (node_count, n)."""
    leaves, n = view.leaves(), values.shape[1]
    return helper.make_node(
        "TreeEnsembleRegressor",
        [matrix],
        [target],
        domain=_DOMAIN,
        n_targets=n,
        post_transform="NONE",
        target_treeids=[0] * (len(leaves) * n),
        target_nodeids=[leaf for leaf in leaves for _ in range(n)],
        target_ids=list(range(n)) * len(leaves),
        target_weights=values[leaves].ravel().tolist(),
        **tree,
    )


def _class_labels(helper, labels, name):
    """The tensor of an output's labels."""
    if all(isinstance(label, str) for label in labels):
        kind, labels = helper.TensorProto.STRING, [label.encode() for label in labels]
    elif all(isinstance(label, int) for label in labels):
        kind, labels = helper.TensorProto.INT64, list(map(int, labels))  # booleans too
    else:
        raise ValueError("ONNX knows class labels that are texts or integers.")
    return helper.make_tensor(name, kind, [len(labels)], labels)
