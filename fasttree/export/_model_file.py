"""Fitted estimators as JSON files: `save` and `load`.

The schema is a page of the documentation, ``doc/api/model_file.rst``; a change of it changes
`FORMAT_VERSION`. Nothing in a file is executed: an estimator is put together from its parts, which
pass the checks of a pickle's (`_fitted_state.py`, `_tree_state.py`, `TableEncoder`). A checksum of
the text tells a damaged file from one that was written so.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

import fasttree
from fasttree.export._json_values import entry
from fasttree.export._model_estimators import build, describe

if TYPE_CHECKING:
    import os

    from sklearn.base import BaseEstimator

__all__ = ["load", "save"]

# Readers of a major version read all its minor versions: those only add keys.
FORMAT_VERSION = (1, 1)

_GZIP = b"\x1f\x8b"
# What a compressed file may expand to: so many bytes, or so many times its size if that is more.
_MAX_BYTES, _MAX_RATIO = 1 << 26, 100


def save(estimator: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a JSON file.

    The file holds the trees to the last bit, the parameters, the classes, and for trees of tables
    the categories. It does not depend on the version of Python, NumPy or scikit-learn, and other
    programs can read it: the schema is documented.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of fasttree's, an optimal tree, a random forest or extra-trees.
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
        **describe(estimator),
    }
    body = _body(document)
    raw = body + _end(_checksum(body))
    if path.suffix == ".gz":
        n_bytes, raw = len(raw), gzip.compress(raw, mtime=0)
        if n_bytes > _limit(len(raw)):
            raise ValueError(
                f"{path} would expand so much that `load` refused it: leave out '.gz'."
            )
    path.write_bytes(raw)


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

    See Also
    --------
    save : Writes the file.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.export import load, save
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(DecisionTreeClassifier(max_depth=2).fit(X, y), f"{folder}/tree.json")
    ...     load(f"{folder}/tree.json")
    DecisionTreeClassifier(max_depth=2)
    """
    raw = Path(path).read_bytes()
    try:
        return _read(raw)
    except RecursionError:
        reason = "it is nested too deeply"
    except (ValueError, TypeError) as error:  # TypeError: parts that a check of a pickle refuses
        reason = str(error)
    raise ValueError(f"{path} is not a model that fasttree can read: {reason.rstrip('.')}.")


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
        raw = _decompress(raw)
    document = json.loads(raw, parse_constant=_refuse_constant)
    kind, version = entry(document, "format", str), entry(document, "format_version", list)
    if kind != "fasttree" or len(version) != 2 or {type(part) for part in version} != {int}:
        raise ValueError("it does not name fasttree and the version of its format")
    if version[0] != FORMAT_VERSION[0]:
        raise ValueError(
            f"it is of format version {version[0]}.{version[1]}, written by fasttree "
            f"{document.get('fasttree_version')!r:.20}; this is fasttree {fasttree.__version__}, "
            f"which reads format version {FORMAT_VERSION[0]}"
        )
    _check_text(document, raw)
    return build(document)


def _limit(n_bytes):
    """What so many compressed bytes may expand to."""
    return max(_MAX_BYTES, _MAX_RATIO * n_bytes)


def _decompress(raw):
    limit = _limit(len(raw))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            text = file.read(limit + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"it cannot be decompressed ({error})") from None
    if len(text) > limit:
        raise ValueError(f"it expands to more than {limit:,} bytes, {_MAX_RATIO} times its size")
    return text


def _refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def _check_text(document, raw):
    """Raise if the checksum does not fit the text. Blanks may have been changed: then the text is
    written as `save` writes it."""
    checksum = entry(document, "checksum", str | None)
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
