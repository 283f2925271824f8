"""TrainOnceSearchCV and GridSearchCV over the same grids, and comparing them."""

import warnings

from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV

from fasttree.model_selection import TrainOnceSearchCV
from reference.tuning import random_limits

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)

CLASS_SCORES = [
    None,
    "accuracy",
    "balanced_accuracy",
    "neg_log_loss",
    "neg_brier_score",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "roc_auc_ovr",
    ["accuracy", "f1_macro", "neg_log_loss"],
    {"hits": "accuracy", "correlation": "matthews_corrcoef"},
]
NUMBER_SCORES = [
    None,
    "r2",
    "neg_mean_squared_error",
    "neg_root_mean_squared_error",
    "neg_mean_absolute_error",
    "neg_max_error",
    ["neg_mean_absolute_error", "r2"],
]


def both(estimator, grid, X, y, fit_params=None, **options):
    """GridSearchCV and TrainOnceSearchCV, fitted; each with the error it raised instead, if any."""
    found = []
    for search in (GridSearchCV, TrainOnceSearchCV):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes without a row, scores that failed
            try:
                found.append(
                    (search(estimator, grid, **options).fit(X, y, **fit_params or {}), None)
                )
            except ValueError as error:
                found.append((None, error))
    return found


def assert_same_results(actual, expected, scale=1.0):
    """`cv_results_` agree: keys in order, parameters, scores; times aside.

    `scale`: of the targets' squares, for errors of targets that are far from 1.
    """
    assert list(actual) == list(expected)
    for name, column in expected.items():
        if name == "params":
            assert actual[name] == column
        elif name.startswith("param_"):
            assert actual[name].dtype == column.dtype
            assert_array_equal(actual[name].mask, column.mask)
            assert actual[name].compressed().tolist() == column.compressed().tolist()
        elif name.startswith("rank_"):
            assert actual[name].dtype == column.dtype
        elif not name.endswith("_time"):
            assert_allclose(actual[name], column, rtol=1e-12, atol=1e-12 * scale, err_msg=name)


def random_grid(rng, tree):
    """One or two products of up to three limits, now and then with a parameter that is fitted."""

    def product():
        drawn = [random_limits(rng, tree) for _ in range(int(rng.integers(1, 5)))]
        names = rng.choice(list(drawn[0]), size=rng.integers(1, 4), replace=False)
        grid = {str(name): [one[name] for one in drawn] for name in names}
        if "min_samples_split" in grid and rng.random() < 0.5:
            grid["min_samples_split"].append(float(rng.uniform(0.01, 0.4)))
        if rng.random() < 0.2:
            grid["min_samples_leaf"] = [1, 3, 0.05]
        return grid

    return product() if rng.random() < 0.7 else [product(), product()]


def fit_with_warnings(search, X, y):
    """The fitted search and the texts of the warnings that it gave, with their categories."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    return search, [(one.category, str(one.message)) for one in caught]
