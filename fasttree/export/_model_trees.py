"""Trees and tables of a model file; see _model_file.py."""

import numpy as np

from fasttree.export._json_values import (
    entry,
    from_json,
    numbers_from_json,
    numbers_to_json,
    to_json,
)
from fasttree.table._encoder import ColumnEncoder, MissingValues, TableEncoder
from fasttree.tree._tree import NODE_DTYPE, Tree
from fasttree.tree.fitted._tree_state import FORMAT_VERSION as TREE_STATE_VERSION

__all__ = ["build_table", "build_tree", "describe_table", "describe_tree"]

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


def describe_table(encoder):
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


def build_table(described):
    missing = MissingValues.__new__(MissingValues)
    texts, numbers = (
        entry(described, "missing_texts", list),
        entry(described, "missing_numbers", list),
    )
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("'missing_texts' must be texts")
    numbers = [from_json(number) for number in numbers]
    if not all(isinstance(number, int | float) for number in numbers):
        raise ValueError("'missing_numbers' must be numbers")
    missing.__setstate__({"texts": {*texts, ""}, "numbers": set(numbers)})
    columns = []
    for part in entry(described, "columns", list):
        column = ColumnEncoder.__new__(ColumnEncoder)
        column.__setstate__(
            {
                "name": entry(part, "name", str | int),
                "is_category": entry(part, "only_categories", bool),
                "missing": missing,
                "categories": from_json(entry(part, "categories", list)),
                "has_missing": entry(part, "has_missing", bool),
            }
        )
        columns.append(column)
    encoder = TableEncoder.__new__(TableEncoder)
    encoder.__setstate__({"columns": columns})
    return encoder


def describe_tree(tree):
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


def build_tree(described, n_features, n_classes, n_categories):
    node_count = entry(described, "node_count", int)
    columns = {
        field: numbers_from_json(entry(described, name, list), NODE_DTYPE[field], name)
        for name, field in _NODE_FIELDS.items()
    }
    values = numbers_from_json(entry(described, "value", list), np.float64, "value")
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
        "max_depth": entry(described, "max_depth", int),
        "nodes": nodes,
        "values": values.reshape(shape),
    }
    splits = entry(described, "category_splits", dict | None)
    if splits is not None:
        if n_categories is None:
            raise ValueError("a tree splits on categories, but no column has any")
        state["label_splits"] = _label_splits_state(splits, n_categories)
    tree.__setstate__(state)
    return tree


def _label_splits_state(described, n_categories):
    """The state of `CategoricalSplits`, which checks it."""
    listed = entry(described, "listed", list)
    if not all(isinstance(codes, list) for codes in listed):
        raise ValueError("'listed' must be a list of lists")
    sizes = [len(codes) for codes in listed]
    every_code = [code for codes in listed for code in codes]
    return {
        "nodes": numbers_from_json(entry(described, "node", list), np.int64, "node"),
        "offsets": np.cumsum([0, *sizes], dtype=np.int64),
        "codes": numbers_from_json(every_code, np.uint32, "listed"),
        "listed_left": numbers_from_json(
            entry(described, "listed_go_left", list), np.uint8, "listed_go_left"
        ),
        "n_categories": n_categories,
    }
