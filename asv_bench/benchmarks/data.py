"""Data sets of the suites: synthetic ones by shape, real tables from a folder of CSV files.

Every function is seeded and returns float32, C-ordered X, the layout that neither library
has to copy, so that a ratio compares tree growth alone.
"""

import os
from pathlib import Path

import numpy as np

from fasttree.datasets import load_wine_quality

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


def regression(n_samples=100_000, n_features=20, seed=0):
    """The columns of `classification` with a continuous target."""
    X, _ = classification(n_samples, n_features, seed)
    return X, continuous_target(X, seed)


def low_cardinality(n_samples=100_000, n_features=20, n_values=16, seed=0):
    """Columns of a few distinct integers each; the class depends on their sum."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n_samples, n_features)).astype(np.float32)
    total = X.sum(axis=1) + 4 * rng.standard_normal(n_samples)
    return X, (total > np.median(total)).astype(np.int64)


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
