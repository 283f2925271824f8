"""Data sets of the suites: synthetic ones by shape, real tables from a folder of CSV files.

Every function is seeded and returns float32, C-ordered X, the layout that neither library
has to copy, so that a ratio compares tree growth alone.
"""

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from fasttree.datasets import load_wine_quality

#: Real tables of the comparisons.
TABLES = (
    "adult",
    "covertype",
    "letter",
    "churn",
    "nursery",
    "kdd99_10pct",
    "california",
    "wine_quality",
    "bike_sharing_hour",
    "diamonds",
)

#: Tables whose integer target is a quantity, not a class.
REGRESSION_TABLES = frozenset({"bike_sharing_hour", "california", "diamonds", "wine_quality"})

#: What a missing value or label becomes for libraries that take numbers only.
MISSING_CODE = -999


def classification(n_samples=100_000, n_features=20, seed=0):
    """Two noisy classes over continuous columns: half informative, a quarter redundant."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_samples,
        n_features,
        n_informative=n_features // 2,
        n_redundant=n_features // 4,
        flip_y=0.05,
        random_state=seed,
    )
    return X.astype(np.float32), y


def continuous_target(X, seed=0):
    """A linear function of the columns plus noise: the full tree has one row per leaf."""
    rng = np.random.default_rng(seed)
    return X @ rng.standard_normal(X.shape[1]) + rng.standard_normal(X.shape[0])


def many_targets(X, n_outputs, seed=0):
    """Linear functions of the columns plus noise, one for each output."""
    rng = np.random.default_rng(seed)
    signal = X @ rng.standard_normal((X.shape[1], n_outputs))
    return signal + signal.std() * rng.standard_normal(signal.shape)


def regression(n_samples=100_000, n_features=20, seed=0):
    """The columns of `classification` with a continuous target."""
    X, _ = classification(n_samples, n_features, seed)
    return X, continuous_target(X, seed)


def gaussian(n_samples=1_000_000, n_features=20, seed=0):
    """Normal columns and two noisy classes, drawn at little more memory than X takes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features), dtype=np.float32)
    score = X[:, : n_features // 2].sum(axis=1) + rng.standard_normal(n_samples, dtype=np.float32)
    return X, (score > 0).astype(int)


def low_cardinality(n_samples=100_000, n_features=20, n_values=16, seed=0):
    """Columns of a few distinct integers each; the class depends on their sum."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n_samples, n_features)).astype(np.float32)
    total = X.sum(axis=1) + 4 * rng.standard_normal(n_samples)
    return X, (total > np.median(total)).astype(np.int64)


def binary(n_samples=2_000, n_features=60, seed=0):
    """Columns of zeros and ones in groups of nested thresholds, a class that few splits tell."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n_samples, n_features // 6))
    cuts = np.linspace(-1.2, 1.2, 6)
    X = (values[:, :, None] > cuts).reshape(n_samples, -1)
    score = values[:, 0] * values[:, 1] + values[:, 2] + 0.5 * rng.standard_normal(n_samples)
    return X.astype(np.float32), (score > 0).astype(np.int64)


def three_valued(n_samples=67_557, n_features=42, seed=0):
    """Columns of three values each, one-hot, and three noisy classes told by pairs of columns."""
    rng = np.random.default_rng(seed)
    values = rng.integers(3, size=(n_samples, n_features))
    score = 1.2 * rng.standard_normal(n_samples)
    for pair, weight in enumerate((3, 2.5, 2, 1.5, 1, 1)):
        score += weight * (values[:, 2 * pair] == values[:, 2 * pair + 1])
    X = np.hstack([values == value for value in range(3)])
    return X.astype(np.float32), np.digitize(score, np.quantile(score, [0.1, 0.35]))


def many_classes(n_samples=20_000, n_features=16, n_classes=26, seed=0):
    """One Gaussian blob per class over integer columns, as in letter recognition."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    centers = rng.uniform(0, 15, (n_classes, n_features))
    X = np.rint(centers[y] + 2 * rng.standard_normal((n_samples, n_features)))
    return np.clip(X, 0, 15).astype(np.float32), y


def with_missing(X, fraction=0.1, seed=0):
    """A copy of X in which the given fraction of the cells is NaN."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(X.shape) < fraction, np.float32(np.nan), X)


def resample(X, n_samples, seed=0):
    """Rows of X drawn with replacement and shaken by 1% of each column's deviation."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((n_samples, X.shape[1]), dtype=np.float32)
    return X[rng.integers(0, len(X), n_samples)] + noise * (0.01 * X.std(axis=0))


def data_folder():
    """The folder of real tables named by the environment variable FASTTREE_DATA, or None."""
    folder = os.environ.get("FASTTREE_DATA")
    return Path(folder) if folder else None


def table_names(folder):
    """Names of the tables ``NAME.csv`` and ``NAME.csv.xz`` in the folder.

    Without a folder (None) that is the bundled table.
    """
    if folder is None:
        return ["wine_quality"]
    return sorted({path.name.split(".")[0] for path in Path(folder).glob("*.csv*")})


def label_table_names(folder):
    """Names of the tables with labels to compare; without a folder that of `mixed_frame`."""
    return ["mixed"] if folder is None else ["adult", "churn"]


def mixed_frame(n_samples=20_000, seed=0):
    """Columns of numbers, of labels, and of both with gaps; the class depends on all three."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{j}": rng.standard_normal(n_samples).round(3) for j in range(4)})
    for j, n_labels in enumerate((2, 8, 40, 200)):
        frame[f"label{j}"] = [f"v{k}" for k in rng.integers(0, n_labels, n_samples)]
    hybrid = rng.integers(0, 60, n_samples).astype(str).astype(object)
    hybrid[rng.random(n_samples) < 0.2] = "unknown"
    hybrid[rng.random(n_samples) < 0.1] = None
    frame["hybrid"] = hybrid
    y = frame["x0"] + frame["label1"].eq("v3") + frame["hybrid"].eq("unknown")
    return frame, (y + rng.standard_normal(n_samples) > 0.5).astype(np.int64)


def read_frame(folder, name):
    """A real table as pandas reads it, its target, and the task; `mixed_frame` without a folder."""
    if folder is None:
        return *mixed_frame(), "classification"
    import pandas as pd

    frame = pd.read_csv(next(Path(folder).glob(f"{name}.csv*")))
    target = frame.pop("target")
    task = "regression" if name in REGRESSION_TABLES else "classification"
    return frame, target, task


def read_table(folder, name):
    """A real table as numbers: labels coded in sorted order, gaps as MISSING_CODE.

    Returns
    -------
    X : float32 array (n_samples, n_features)
    y : array (n_samples,)
        Class codes, or float64 for the tables of REGRESSION_TABLES.
    task : {"classification", "regression"}
    """
    if folder is None:
        X, y = load_wine_quality(return_X_y=True)
        return X.astype(np.float32), y.astype(np.float64), "regression"
    import pandas as pd

    frame, target, task = read_frame(folder, name)
    X = np.empty(frame.shape, dtype=np.float32)
    for j, column in enumerate(frame):
        values = frame[column]
        if not pd.api.types.is_numeric_dtype(values):
            codes, _ = pd.factorize(values, sort=True)
            values = pd.Series(codes).replace(-1, np.nan)
        X[:, j] = values.fillna(MISSING_CODE)
    if task == "regression":
        return X, target.to_numpy(np.float64), task
    return X, pd.factorize(target, sort=True)[0], task


def read_one_hot(folder, name, n_quantiles=8):
    """A real table as a frame of booleans: one for each label, of numbers for each quantile.

    Returns
    -------
    frame : DataFrame of bool (n_samples, n_columns)
    y : array (n_samples,)
        As `read_table` returns it.
    task : {"classification", "regression"}
    """
    import pandas as pd

    frame, _, _ = read_frame(folder, name)
    _, y, task = read_table(folder, name)
    columns = {}
    for column, values in frame.items():
        if pd.api.types.is_numeric_dtype(values) and values.nunique() > n_quantiles:
            values = pd.qcut(values, n_quantiles, duplicates="drop")
        columns[column] = pd.get_dummies(values, dummy_na=values.isna().any())
    return pd.concat(columns, axis=1), y, task


def read_text(path, tfidf=True):
    """Documents of an NPZ file as float32 CSC, tf-idf or counts, and their class codes.

    The file holds the CSR arrays ``data``, ``indices``, ``indptr`` and ``shape`` of the counts,
    and ``y``.
    """
    with np.load(path) as file:
        arrays = file["data"].astype(np.float32), file["indices"], file["indptr"]
        X = sp.csr_matrix(arrays, shape=tuple(file["shape"]))
        y = file["y"].astype(np.int64)
    return (as_tfidf(X) if tfidf else X.tocsc()), y


def as_tfidf(counts):
    """tf-idf with rows of unit length, as float32 CSC."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit_transform(counts).tocsc().astype(np.float32)


def frequent_part(X, y, n_rows=1_000, n_features=5_000, seed=0):
    """Some rows, drawn, and of the columns those with most nonzeros in them."""
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:n_rows]
    part = X.tocsr()[rows].tocsc()
    columns = np.argsort(-np.diff(part.indptr), kind="stable")[:n_features]
    return part[:, np.sort(columns)], y[rows]


def zipf_text(n_documents, n_terms, n_classes=20, values="tfidf", seed=0):
    """Documents of about 100 words each; the n-th most frequent word comes with rate 1 / n.

    A third of a document's words come from its class, whose frequencies are those of all words in
    an order of its own.

    Returns
    -------
    X : CSC matrix of float32
        ``values`` is "tfidf", "counts" or "binary".
    y : array of int64
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_documents)
    n_words = rng.poisson(100 * rng.lognormal(sigma=0.5, size=n_documents))
    document = np.repeat(np.arange(n_documents), n_words)
    distribution = np.cumsum(1 / np.arange(1, n_terms + 1))
    rank = np.searchsorted(distribution, rng.random(len(document)) * distribution[-1])
    order = np.array([rng.permutation(n_terms) for _ in range(n_classes)])
    from_class = rng.random(len(document)) < 1 / 3
    term = np.where(from_class, order[y[document], rank], rank)
    ones = np.ones(len(term), dtype=np.float32)
    X = sp.csr_matrix((ones, (document, term)), shape=(n_documents, n_terms))
    if values == "tfidf":
        return as_tfidf(X), y
    if values == "binary":
        X.data[:] = 1.0
    return X.tocsc(), y


def random_sparse(n_rows, density, n_features=1_000, seed=0):
    """The sparse trees' paper's synthetic task: uniform nonzeros, two random classes."""
    rng = np.random.default_rng(seed)
    n_nonzeros = rng.binomial(n_rows, density, n_features)
    rows = [np.sort(rng.choice(n_rows, n, replace=False, shuffle=False)) for n in n_nonzeros]
    indptr = np.append(0, np.cumsum(n_nonzeros))
    values = rng.random(indptr[-1], dtype=np.float32)
    X = sp.csc_matrix((values, np.concatenate(rows), indptr), shape=(n_rows, n_features))
    return X, rng.integers(0, 2, n_rows)


def one_hot(folder, name, numbers=False):
    """A table with a column per label, and with ``numbers`` also one per distinct number.

    Returns
    -------
    X : CSC matrix of float32
    y : array
        Codes of the target.
    """
    import pandas as pd

    frame = pd.read_csv(next(Path(folder).glob(f"{name}.csv*")))
    target = pd.factorize(frame.pop("target"), sort=True)[0]
    columns = []
    for column in frame:
        values = frame[column]
        if numbers or not pd.api.types.is_numeric_dtype(values):
            codes, labels = pd.factorize(values, sort=True, use_na_sentinel=False)
            ones = np.ones(len(codes), dtype=np.float32)
            indicators = (ones, (np.arange(len(codes)), codes))
            columns.append(sp.csc_matrix(indicators, shape=(len(codes), len(labels))))
        else:
            columns.append(sp.csc_matrix(values.fillna(0).to_numpy(np.float32)[:, None]))
    return sp.hstack(columns, format="csc"), target
