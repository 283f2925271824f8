"""Matrices and tables in every form, targets and weights.

X is drawn as a plain array and brought into its form by statements, which a reproduction repeats.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np

__all__ = ["PREAMBLE", "draw_targets", "draw_weights", "draw_X", "run_statements"]

PREAMBLE = """\
from decimal import Decimal
from fractions import Fraction
import numpy as np, pandas as pd, polars as pl, pyarrow as pa, scipy.sparse as sp
nan, inf = float("nan"), float("inf")
"""

_names = {}


def run_statements(X, statements):
    """X after statements about X."""
    if not statements:
        return X
    if not _names:  # the libraries of tables are only loaded where they are used
        exec(PREAMBLE, _names)
    names = {**_names, "X": X}
    for statement in statements:
        exec(statement, names)
    return names["X"]


# ---- matrices

_DENSE = {
    "plain": ["X = X.copy()"],
    "float64": ["X = X.astype(np.float64)"],
    "Fortran": ["X = np.asfortranarray(X)"],
    "Fortran float64": ["X = np.asfortranarray(X, dtype=np.float64)"],
    "every other row": ["X = np.repeat(X, 2, axis=0)[::2]"],
    "every other column": ["X = np.repeat(X, 2, axis=1)[:, ::2]"],
    "backwards": ["X = X[::-1, ::-1].copy()[::-1, ::-1]"],
    "read-only": ["X = X.copy()", "X.flags.writeable = False"],
    "read-only Fortran": ["X = X.copy('F')", "X.flags.writeable = False"],
    "read-only float64": ["X = X.astype(np.float64)", "X.flags.writeable = False"],
    "other byte order": ["X = X.astype(X.dtype.newbyteorder())"],
    "unaligned": [
        "U = np.zeros(len(X), dtype=[('a', 'i1'), ('x', X.dtype, X.shape[1:])])",
        "U['x'] = X",
        "X = U['x']",
    ],
    "list": ["X = X.tolist()"],
    "frame": ["X = pd.DataFrame(X)"],
    "float16": ["X = X.astype(np.float16)"],
    "masked": ["X = np.ma.masked_invalid(X)"],
    "3-D": ["X = X[None]"],
    "1-D": ["X = X[:, 0].copy()"],
}
_DENSE_WEIGHT = dict.fromkeys(_DENSE, 4) | {
    "plain": 30, "list": 1, "frame": 1, "float16": 1, "masked": 1, "3-D": 0.2, "1-D": 0.2,
}  # fmt: skip

_SPARSE = ["csc_matrix", "csc_matrix", "csc_array", "csr_matrix", "csr_array", "coo_matrix"]
_SPARSE += ["lil_matrix", "dok_matrix", "bsr_matrix", "dia_matrix"]
_INDICES_64 = "X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)"

# What may be wrong with a compressed matrix; i is a position among the nonzeros, k among the
# columns or rows.
_CORRUPTIONS = [
    "X.indices[{i}] = -1",
    "X.indices[{i}] = -(2 ** 31)",
    "X.indices[{i}] = 2 ** 31 - 1",
    "X.indices[{i}] = max(X.shape)",
    "X.indptr[{k}] += 1",
    "X.indptr[{k}] = -1",
    "X.indptr[{k}] = 2 ** 31 - 1",
    "X.indptr[-1] += 3",
    "X.indptr[0] = 1",
    "X.indptr = X.indptr[:-1]",
    "X.indices = X.indices[:-1]",
    "X.data = X.data[:-1]",
    "X.indptr = X.indptr[::-1].copy()",
]
_IRREGULARITIES = {
    "unsorted": "X.indices, X.data = X.indices[::-1].copy(), X.data[::-1].copy()",
    "duplicates": "X = type(X)((np.r_[X.data, X.data], np.r_[X.indices, X.indices], 2 * X.indptr), "
    "shape=X.shape)",
    "explicit zeros": "X.data[:1] = 0",
}


def _continuous(draw, n):
    return draw.rng.standard_normal(n)


def _few_values(draw, n):
    return draw.rng.integers(0, draw.int(2, 7), n)


def _many_ties(draw, n):
    return draw.rng.standard_normal(n).round(1)


def _constant(draw, n):
    return np.full(n, draw.rng.standard_normal())


def _neighbours(draw, n):
    start = np.float32(draw.one([0.0, 1.0, -1.0, 2.0**24, 1e-38]))
    return (start.view(np.int32) + draw.rng.integers(0, 5, n, dtype=np.int32)).view(np.float32)


def _extreme(draw, n):
    scale = draw.one([1e-45, 1e-40, 1e-30, 1e30, 3e37])
    return draw.rng.integers(-5, 6, n) * scale


def _signed_zeros(draw, n):
    return draw.rng.choice([0.0, -0.0, 1.0], n)


def _mostly_zero(draw, n):
    return draw.rng.standard_normal(n) * (draw.rng.random(n) < 0.2)


_COLUMNS = [_continuous] * 3 + [_few_values] * 4 + [_many_ties] * 2
_COLUMNS += [_constant, _neighbours, _extreme, _signed_zeros, _mostly_zero]


def _draw_matrix(draw, n_rows, n_columns):
    """A float32 matrix, columns of every kind, some values missing, rarely infinite."""
    X = np.empty((n_rows, n_columns), dtype=np.float32)
    for j in range(n_columns):
        X[:, j] = draw.one(_COLUMNS)(draw, n_rows)
    if n_columns > 1 and draw.chance(0.15):
        X[:, draw.int(0, n_columns - 1)] = X[:, 0]
    if draw.chance(0.3):
        X[draw.rng.random(X.shape) < draw.one([0.05, 0.3, 0.9])] = np.nan
    if X.size and draw.chance(0.02):
        X.flat[draw.int(0, X.size - 1)] = draw.one([np.inf, -np.inf])
    return X


def draw_X(draw, n_rows, n_columns):
    """Return X as a plain array, the statements that give its form, and what it is."""
    kind = draw.by_name({"dense": 60, "sparse": 20, "corrupted sparse": 3, "integers": 5,
                         "labels": 12})  # fmt: skip
    if kind == "labels":
        return *_draw_table(draw, n_rows, n_columns), kind
    X = _draw_matrix(draw, n_rows, n_columns)
    if kind == "dense":
        return X, _DENSE[draw.by_name(_DENSE_WEIGHT)], kind
    if kind == "integers":
        dtype = draw.one(["i1", "u1", "i2", "i4", "i8", "u8", "?", ">i4", "c8", "M8[D]"])
        X = np.trunc(np.clip(np.nan_to_num(X), 0, 100))
        return X, [f"X = X.astype(np.int64).astype({dtype!r})"], kind
    X = np.where(draw.rng.random(X.shape) < draw.one([0.1, 0.5]), X, np.float32(0))
    format_ = draw.one(_SPARSE if kind == "sparse" else _SPARSE[:4])
    statements = [f"X = sp.{format_}(X)"]
    is_compressed = format_[:3] in ("csc", "csr")
    if is_compressed and draw.chance(0.3):
        statements.append(_IRREGULARITIES[draw.one(list(_IRREGULARITIES))])
    if is_compressed and draw.chance(0.2):
        statements.append(_INDICES_64)
    if kind == "corrupted sparse":
        n_nonzeros, n_major = np.count_nonzero(X), X.shape[format_[:3] == "csc"]
        i, k = draw.int(0, max(0, n_nonzeros - 1)), draw.int(0, n_major)
        corruption = draw.one(_CORRUPTIONS if n_nonzeros else _CORRUPTIONS[4:])
        statements.append(corruption.format(i=i, k=k))
    elif draw.chance(0.1):
        statements.append("X = X.astype(np.float64)")
    return X, statements, kind


# ---- tables

_TEXTS = [
    ["a", "b"],
    ["a", "b", "c", "d", "", None],
    ["1", "2.5", "-3e2", " 7 ", "x", "NA"],
    ["1", "1.0", "1e400", "0x10", "nan", "inf", "1_0", "\u0661"],
    ["\u00e9", "e\u0301", "\U0001f333", "z\0", "long " * 30, "z"],
]
_CELLS = [
    [1, 2.5, None],
    [True, False, 1, "x"],
    [True, None],
    [np.nan, None, 3, "3", 3.0],
    [b"a", "a", b"b"],
    [Decimal("0.1"), Fraction(1, 3), 0.1],
    [2**53, 2**53 + 1, 2**70],
]
_ODD_CELLS = [10**400, -(10**400), Fraction(10**400), Decimal("1e999"), Decimal("sNaN"), b"\xff"]
_ODD_CELLS += ["\ud800", object, [1], {}, 1j, np.inf]
_FRAMES = {
    "objects": "X = X.copy()",
    "lists": "X = X.tolist()",
    "pandas": "X = pd.DataFrame(X)",
    "pandas inferred": "X = pd.DataFrame(X).infer_objects()",
    "pandas nullable": "X = pd.DataFrame(X).convert_dtypes()",
    "pandas named": "X = pd.DataFrame(X, columns=[f'c{j}' for j in range(X.shape[1])])",
    "pandas category": "X = pd.DataFrame(X).astype(str).astype('category')",
    "pandas string": "X = pd.DataFrame(X).astype(str).astype('string')",
    "polars": "X = pl.DataFrame({str(j): X[:, j].tolist() for j in range(X.shape[1])}, "
    "strict=False)",
    "polars category": "X = pl.DataFrame({str(j): [str(c) for c in X[:, j]] for j in "
    "range(X.shape[1])}).cast(pl.Categorical)",
    "arrow": "X = pa.table({str(j): pa.array([str(c) for c in X[:, j]]) for j in "
    "range(X.shape[1])})",
    "arrow views": "X = pa.table({str(j): pa.array([str(c) for c in X[:, j]], pa.string_view()) "
    "for j in range(X.shape[1])})",
    "text": "X = X.astype(str)",
    "bytes": "X = np.char.encode(X.astype(str), 'utf-8')",
}
_FRAME_WEIGHT = dict.fromkeys(_FRAMES, 4) | {"objects": 30, "lists": 4, "text": 6}


def _draw_table(draw, n_rows, n_columns):
    X = np.empty((n_rows, n_columns), dtype=object)
    for j in range(n_columns):
        if draw.chance(0.4):
            X[:, j] = draw.one(_COLUMNS)(draw, n_rows).astype(np.float32).tolist()
        else:
            pool = draw.one(_TEXTS + _CELLS)
            places = draw.rng.integers(0, len(pool), n_rows)
            X[:, j] = [pool[place] for place in places]
    if X.size and draw.chance(0.05):
        X.flat[draw.int(0, X.size - 1)] = draw.one(_ODD_CELLS)
    # Text with surrogates has no encoding; frames refuse some cells before fasttree sees them.
    return X, [_FRAMES[draw.by_name(_FRAME_WEIGHT)]]


# ---- targets


def draw_targets(draw, n_rows, is_classification):
    """Return y, and whether it is ordinary: numbers of a common size."""
    n_outputs = draw.one([1] * 8 + [2, 3])
    shape = (n_rows, n_outputs) if n_outputs > 1 or draw.chance(0.05) else (n_rows,)
    if is_classification:
        return _draw_classes(draw, shape)
    name = draw.by_name({"normal": 30, "integers": 20, "few": 10, "counts": 15, "constant": 3,
                         "huge-targets": 3, "subnormal-targets": 3, "mixed-targets": 3,
                         "float32": 3, "not finite": 1, "objects": 2, "offset": 5})  # fmt: skip
    y = draw.rng.standard_normal(shape)
    if name == "integers":
        y = np.rint(5 * y)
    elif name == "few":
        y = np.sign(y.round(0)) * draw.one([0.1, 1.0, 1e3])
    elif name == "counts":
        y = draw.rng.poisson(2, shape).astype(float)
    elif name == "constant":
        y = np.full(shape, draw.one([0.0, 1.0, 0.1]))
    elif name == "huge-targets":
        y = y * draw.one([1e150, 1e300, 1.7e308 / max(1e-9, np.abs(y).max(initial=1e-9))])
    elif name == "subnormal-targets":
        y = np.rint(4 * y) * draw.one([5e-324, 1e-310, 1e-160])
    elif name == "mixed-targets":
        y = y * 10.0 ** draw.rng.integers(-300, 300, shape)
    elif name == "float32":
        y = y.astype(np.float32)
    elif name == "not finite" and y.size:
        y.flat[draw.int(0, y.size - 1)] = draw.one([np.nan, np.inf, -np.inf])
    elif name == "objects":
        y = y.astype(object)
        if y.size and draw.chance(0.5):
            y.flat[draw.int(0, y.size - 1)] = draw.one([10**400, None, "a", Decimal("sNaN"), 1j])
    elif name == "offset":
        y = y + draw.one([1e6, -1e9, 1e12])
    return y, name in ("normal", "integers", "few", "counts", "constant", "float32")


def _draw_classes(draw, shape):
    name = draw.by_name({"few": 40, "two": 30, "many": 5, "text": 8, "bools": 3, "whole": 5,
                         "large": 3, "constant": 2, "objects": 3, "fractions": 1})  # fmt: skip
    n_classes = {"two": 2, "bools": 2, "constant": 1, "many": max(2, shape[0])}.get(name)
    codes = draw.rng.integers(0, n_classes or draw.int(2, 6), shape)
    if name == "text":
        y = np.array(["b", "a", "ccc", "", "1", "\u00e9"])[codes]
        return (y.astype(object) if draw.chance(0.5) else y), False
    if name == "bools":
        return codes.astype(bool), True
    if name == "whole":
        return codes.astype(draw.one([np.float64, np.float32])), True
    if name == "large":
        return np.array([0, -1, 2**62, -(2**63), 2**63 - 1, 7])[codes], True
    if name == "objects":
        pool = draw.one([[0, "a", 2.5], [None, "a", "b"], [True, False, 1], [10**400, 0, 1],
                         [Decimal("sNaN"), 1, 2], [(1,), (2,), (3,)]])  # fmt: skip
        y = np.empty(shape, dtype=object)
        y.flat = [pool[code % 3] for code in codes.flat]
        return y, False
    if name == "fractions":
        return codes + 0.5, False
    return codes.astype(draw.one([np.int64, np.int64, np.int8, np.uint64])), True


# ---- weights


def draw_weights(draw, n_rows):
    """Return weights or None, and whether they are ordinary: not negative, of a common size."""
    name = draw.by_name({"none": 45, "integers": 15, "floats": 12, "zeros": 2, "all zero": 1,
                         "negative-weights": 4, "subnormal-weights": 3, "huge-weights": 3,
                         "mixed-weights": 3, "not finite": 1, "wrong length": 1, "dtypes": 5,
                         "large integers": 1, "objects": 1})  # fmt: skip
    rng = draw.rng
    if name == "none":
        return None, True
    if name == "integers":
        w = rng.integers(0, 4, n_rows).astype(float)
    elif name == "zeros":
        w = (rng.random(n_rows) < 0.5) * 1.0
    elif name == "all zero":
        w = np.zeros(n_rows)
    elif name == "negative-weights":
        w = rng.choice([-1.0, 1.0, 0.5, -0.25, 3.0], n_rows)
    elif name == "subnormal-weights":
        w = rng.integers(0, 4, n_rows) * draw.one([5e-324, 1e-310, 1e-300])
    elif name == "huge-weights":
        w = rng.random(n_rows) * draw.one([1e150, 1e300, 1.7e308])
    elif name == "mixed-weights":
        w = 10.0 ** rng.integers(-300, 300, n_rows)
    elif name == "wrong length":
        w = np.ones(n_rows + draw.one([-1, 1]) if n_rows else 1)
    elif name == "dtypes":
        w = rng.integers(0, 3, n_rows).astype(draw.one(["i1", "u8", "f4", "?", ">f8", "f2"]))
    elif name == "large integers":
        w = rng.integers(2**61, 2**62, n_rows)
    else:
        w = rng.random(n_rows)
    if name == "not finite" and n_rows:
        w[draw.int(0, n_rows - 1)] = draw.one([np.nan, np.inf, -np.inf])
    if name == "objects":
        w = w.astype(object)
        if n_rows:
            w[0] = draw.one([10**400, "a", None, Fraction(1, 3)])
    return w, name in ("integers", "floats", "zeros", "all zero", "dtypes")
