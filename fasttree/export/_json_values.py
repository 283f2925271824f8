"""Parameters, categories and class labels as JSON and back, without loss or executing anything.

None, booleans, texts, finite floats and integers are themselves, lists are lists. What JSON does
not have is an object with one key that names its type: ``{"float": "nan"}``, ``{"tuple": [...]}``,
``{"dict": [[key, value], ...]}``, ``{"array": [...], "dtype": "int64"}`` and
``{"SearchOptions": {...}}``. In arrays of numbers, infinities and NaN are the texts ``"inf"``,
``"-inf"`` and ``"nan"``.
"""

import math
import re
from dataclasses import asdict, is_dataclass

import numpy as np

__all__ = [
    "array_from_json",
    "array_to_json",
    "entry",
    "from_json",
    "numbers_from_json",
    "numbers_to_json",
    "to_json",
]

_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_DTYPE = re.compile(
    r"bool|u?int(?:8|16|32|64)|float(?:16|32|64)|str(\d{1,9})|object"
    r"|(?:datetime|timedelta)64(?:\[\d{0,9}[a-zA-Z]{1,2}\])?"
)
_SMALL = 1 << 24
_MAX_TEXT_BYTES = 1 << 28  # of an array of texts, whatever width a file claims


def to_json(value):
    """Return a value as what `json` can write; ValueError if it cannot be kept as data."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [to_json(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[to_json(key), to_json(item)] for key, item in value.items()]}
    if is_dataclass(value) and type(value).__name__ == "SearchOptions":
        return {"SearchOptions": asdict(value)}
    if hasattr(value, "__array__"):
        return array_to_json(np.asarray(value))
    raise ValueError(f"a {type(value).__name__} cannot be written as data: {value!r:.50}")


def from_json(value):
    """Return the value that `to_json` wrote; ValueError if it wrote no such thing."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"array", "dtype"}:
        return array_from_json(value)
    if len(value) != 1:
        raise ValueError(f"an object with the keys {list(value)!r:.80} is no value")
    ((kind, content),) = value.items()
    if kind == "float" and isinstance(content, str) and content in _NOT_FINITE:
        return _NOT_FINITE[content]
    if kind == "tuple" and isinstance(content, list):
        return tuple(from_json(content))
    if kind == "dict" and isinstance(content, list):
        return _dict_from_json(content)
    if kind == "SearchOptions" and isinstance(content, dict):
        return _search_options(content)
    raise ValueError(f"an object with the key {kind!r:.80} is no value")


def _dict_from_json(pairs):
    result = {}
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError("a dict must be a list of pairs")
        key = from_json(pair[0])
        if not isinstance(key, str | int | float | None):
            raise ValueError("the keys of a dict must be texts and numbers")
        result[key] = from_json(pair[1])
    return result


def _search_options(content):
    from fasttree.optimal import SearchOptions  # which imports trees, and these their exporters

    known = asdict(SearchOptions())
    for name, value in content.items():
        if name not in known or not isinstance(value, str | int | float | None):
            raise ValueError(f"{name!r:.80} is no search option of this kind")
    return SearchOptions(**content)


def numbers_to_json(array):
    """Return an array of numbers or booleans as a list.

    Floats that are small whole numbers become ints, which are read in half the time.
    """
    if array.dtype.kind != "f":
        return array.tolist()
    array = array.astype(np.float64, copy=False)
    values = array.tolist()
    is_int = (np.abs(array) < _SMALL) & (array == np.trunc(array)) & ~np.signbit(array)
    for i in np.flatnonzero(is_int).tolist():
        values[i] = int(values[i])
    for i in np.flatnonzero(~np.isfinite(array)).tolist():
        values[i] = repr(values[i])
    return values


def numbers_from_json(values, dtype, name):
    """Return a list of numbers as an array of a dtype that holds each of them."""
    dtype = np.dtype(dtype)
    types = {"b": {bool}, "i": {int}, "u": {int}, "f": {int, float}}[dtype.kind]
    if not isinstance(values, list):
        raise ValueError(f"{name} must be a list of numbers")
    found = set(map(type, values))
    if dtype.kind == "f" and str in found:
        values = [_not_finite(value, name) if type(value) is str else value for value in values]
        found.discard(str)
    if not found <= types:
        raise ValueError(f"{name} must be a list of numbers of type {dtype}")
    try:
        return np.fromiter(values, dtype, len(values))
    except OverflowError:
        raise ValueError(f"{name} holds a number that {dtype} does not") from None


def _not_finite(text, name):
    if text not in _NOT_FINITE:
        raise ValueError(f"{name} holds {text!r:.50} in place of a number")
    return _NOT_FINITE[text]


def array_to_json(array):
    """Return an array with one dimension, of any dtype that class labels may have."""
    dtype, kind = array.dtype, array.dtype.kind
    if array.ndim != 1 or kind not in "biufUOMm" or (kind == "f" and dtype.itemsize > 8):
        raise ValueError(f"an array of shape {array.shape} and dtype {dtype} cannot be written")
    if kind == "U":
        return {"array": array.tolist(), "dtype": f"str{dtype.itemsize // 4}"}
    if kind == "O":
        return {"array": [to_json(item) for item in array.tolist()], "dtype": "object"}
    numbers = array.astype(np.int64) if kind in "Mm" else array
    return {"array": numbers_to_json(numbers), "dtype": dtype.name}


def array_from_json(value):
    """Return the array that `array_to_json` wrote."""
    if not isinstance(value, dict) or value.keys() != {"array", "dtype"}:
        raise ValueError("an array must be an object with the keys 'array' and 'dtype'")
    items, name = value["array"], value["dtype"]
    match = _DTYPE.fullmatch(name) if isinstance(name, str) else None
    if not isinstance(items, list) or match is None:
        raise ValueError(f"an array of dtype {name!r:.50} cannot be read")
    if name == "object":
        array = np.empty(len(items), dtype=object)
        array[:] = [from_json(item) for item in items]
        return array
    if match[1] is not None:
        width = int(match[1])
        if not all(isinstance(item, str) and len(item) <= width for item in items):
            raise ValueError(f"an array of dtype {name} holds something else")
        if 4 * width * len(items) > _MAX_TEXT_BYTES:
            raise ValueError(f"an array of {len(items)} texts of dtype {name} is too large")
        return np.array(items, dtype=f"U{max(1, width)}")
    if "64[" in name or name in ("datetime64", "timedelta64"):
        try:
            dtype = np.dtype(name)
        except TypeError:
            raise ValueError(f"an array of dtype {name!r} cannot be read") from None
        return numbers_from_json(items, np.int64, "an array").astype(dtype)
    return numbers_from_json(items, name, "an array")


def entry(document, key, types):
    """The entry of a document, which must be of one of the types; True and False are no int."""
    if not isinstance(document, dict):
        raise ValueError("an object is expected where something else stands")
    if key not in document:
        raise ValueError(f"the key {key!r} is missing")
    value = document[key]
    if not isinstance(value, types) or (isinstance(value, bool) and types is int):
        raise ValueError(f"{key!r} has a value of the wrong type, {type(value).__name__}")
    return value
