"""What a pickled tree may look like: dtypes, shapes and the version of the format.

A pickle may come from a machine with the other byte order or word size; both are converted.
Everything else is refused with a ValueError. Whether the nodes form a tree is checked by `Tree`.
"""

import sys
from operator import index

import numpy as np

FORMAT_VERSION = 1
PARTS = frozenset(("max_depth", "node_count", "nodes", "values"))

FIELDS = {
    "left_child": np.intp,
    "right_child": np.intp,
    "feature": np.intp,
    "threshold": np.float64,
    "impurity": np.float64,
    "n_node_samples": np.intp,
    "weighted_n_node_samples": np.float64,
    "missing_go_to_left": np.uint8,
}
NODE_DTYPE = np.dtype(list(FIELDS.items()), align=True)

#: The nodes of a pickle, on whatever machine. They are kept as bytes, for NumPy takes longer to
#: describe the fields than to store a small tree.
PACKED_DTYPE = np.dtype(
    [
        (name, np.dtype(np.int64 if kind is np.intp else kind).newbyteorder("<"))
        for name, kind in FIELDS.items()
    ],
    align=True,
)


def packed_nodes(nodes):
    """Return the nodes as bytes of `PACKED_DTYPE`."""
    return nodes.astype(PACKED_DTYPE, copy=False).view(np.uint8)


def _unpacked_nodes(array):
    """Return the nodes whose bytes an array holds; any other array as it is."""
    if not isinstance(array, np.ndarray) or array.dtype != np.uint8:
        return array
    if array.ndim != 1 or array.size % PACKED_DTYPE.itemsize:
        raise ValueError(
            f"The bytes of nodes must be a multiple of {PACKED_DTYPE.itemsize} in one dimension, "
            f"got shape {array.shape}."
        )
    return np.frombuffer(array.tobytes(), dtype=PACKED_DTYPE)


def _check_array(array, name):
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} must be a NumPy array, got {type(array).__name__}.")


def _check_size(size, name):
    try:
        size = index(size)
    except TypeError:
        raise TypeError(f"{name} must be an int, got {size!r}.") from None
    if not 0 <= size <= sys.maxsize:
        raise ValueError(f"{name} must not be negative, nor beyond 64 bits, got {size}.")


def _check_n_classes(n_classes, expected_dtype):
    """Return the numbers of classes as an array of `expected_dtype`."""
    _check_array(n_classes, "n_classes")
    if n_classes.ndim != 1:
        raise ValueError(f"Wrong dimensions of n_classes: expected 1, got {n_classes.ndim}.")
    if n_classes.dtype.kind != "i" or n_classes.dtype.itemsize not in (4, 8):
        raise ValueError(
            f"n_classes has an incompatible dtype: expected {expected_dtype}, "
            f"got {n_classes.dtype}."
        )
    return n_classes.astype(expected_dtype, copy=False)


def _check_value_ndarray(value_ndarray, expected_dtype, expected_shape):
    """Return the node values as an array of `expected_dtype`."""
    _check_array(value_ndarray, "The value array")
    if value_ndarray.shape != expected_shape:
        raise ValueError(
            f"Wrong shape of the value array: expected {expected_shape}, got {value_ndarray.shape}."
        )
    if not value_ndarray.flags.c_contiguous:
        raise ValueError("The value array must be C-contiguous.")
    if value_ndarray.dtype == expected_dtype:
        return value_ndarray
    if value_ndarray.dtype.kind != "f" or value_ndarray.dtype.itemsize != 8:
        raise ValueError(
            f"The value array has an incompatible dtype: expected {expected_dtype}, "
            f"got {value_ndarray.dtype}."
        )
    return value_ndarray.astype(expected_dtype)


def _check_unused_places(values, n_classes):
    """Raise if an output of fewer classes than another has values where it has no class."""
    if len(n_classes) > 1 and values[:, np.arange(values.shape[2]) >= n_classes[:, None]].any():
        raise ValueError("The value array has entries for more classes than there are.")


def _same_field(dtype, expected):
    """Whether a field can be converted: byte order aside, and for integers the word size."""
    if dtype.kind != expected.kind:
        return False
    return dtype.itemsize == expected.itemsize or (
        expected.kind == "i" and dtype.itemsize in (4, 8)
    )


def _check_node_ndarray(node_ndarray, expected_dtype):
    """Return the nodes as an array of `expected_dtype`."""
    _check_array(node_ndarray, "The node array")
    if node_ndarray.ndim != 1:
        raise ValueError(
            f"Wrong dimensions of the node array: expected 1, got {node_ndarray.ndim}."
        )
    if not node_ndarray.flags.c_contiguous:
        raise ValueError("The node array must be C-contiguous.")
    dtype = node_ndarray.dtype
    if dtype == expected_dtype:
        return node_ndarray
    if dtype.names != expected_dtype.names or not all(
        _same_field(dtype[name], expected_dtype[name]) for name in dtype.names
    ):
        raise ValueError(
            f"The node array has an incompatible dtype: expected {expected_dtype}, got {dtype}."
        )
    return node_ndarray.astype(expected_dtype, casting="same_kind")


def check_side_array(array, name, expected_dtype):
    """Return a one-dimensional array of integers as `expected_dtype`."""
    _check_array(array, name)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a one-dimensional array of integers.")
    converted = array.astype(expected_dtype, copy=False)
    if converted is not array and not np.array_equal(converted, array):
        raise ValueError(f"{name} holds values that {np.dtype(expected_dtype)} does not.")
    return converted


def _checked_nodes(state):
    """Return the nodes of a state that has all its parts; a copy, for the state may share them."""
    if not isinstance(state, dict) or state.get("format_version") != FORMAT_VERSION:
        raise ValueError(
            f"This state of a tree cannot be read: format version {FORMAT_VERSION} of "
            "fasttree is expected."
        )
    if not state.keys() >= PARTS:
        missing = ", ".join(sorted(PARTS.difference(state)))
        raise ValueError(f"The state of the tree lacks {missing}.")
    given = state["nodes"]
    nodes = _check_node_ndarray(_unpacked_nodes(given), NODE_DTYPE)
    if nodes is given:  # by another tree (copy.copy), or a file
        # As bytes, for NumPy copies records with gaps field by field.
        nodes = np.frombuffer(nodes.tobytes(), dtype=NODE_DTYPE)
    if state["node_count"] != nodes.shape[0]:
        raise ValueError(
            f"node_count is {state['node_count']}, but there are {nodes.shape[0]} nodes."
        )
    return nodes


def _checked_values(state, shape, n_classes):
    """Return a copy of the values of a state that has all its parts."""
    values = np.array(_check_value_ndarray(state["values"], np.dtype(np.float64), shape))
    _check_unused_places(values, n_classes)
    return values
