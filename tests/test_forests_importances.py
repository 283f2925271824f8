"""Importances of columns, permuted in the rows that a tree of the forest did not draw."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import fasttree
from fasttree.ensemble import RandomForestClassifier, RandomForestRegressor
from reference.forests import X, y

rng = np.random.default_rng(1)


def permuted_by_definition(forest, rows, target, n_repeats, root):
    """`oob_permutation_importances` in a few lines."""
    found = np.zeros((len(forest.estimators_), rows.shape[1], n_repeats))
    for number, (tree, drawn) in enumerate(zip(forest.estimators_, forest.estimators_samples_)):
        source = np.random.default_rng([root, number])
        rest = np.setdiff1d(np.arange(len(rows)), drawn)
        error = np.mean(tree.predict(rows[rest]) != target[rest])
        for feature in np.unique(tree.tree_.feature[tree.tree_.feature >= 0]):
            for repeat in range(n_repeats):
                other = rows[rest].copy()
                other[:, feature] = source.permutation(other[:, feature])
                worse = np.mean(tree.predict(other) != target[rest])
                found[number, feature, repeat] = worse - error
    return found.mean(axis=0)


def test_oob_permutation_importances():
    rows = X.astype(np.float32)
    forest = RandomForestClassifier(6, random_state=0).fit(rows, y)
    found = forest.oob_permutation_importances(n_repeats=3, random_state=5)
    root = np.random.RandomState(5).randint(np.iinfo(np.int32).max)
    expected = permuted_by_definition(forest, rows, y, 3, root)
    assert_allclose(found.importances, expected, atol=1e-15)
    assert_allclose(found.importances_mean, expected.mean(axis=1))
    assert_allclose(found.importances_std, expected.std(axis=1))
    with fasttree.config_context(n_threads=3):
        again = forest.oob_permutation_importances(n_repeats=3, random_state=5)
    assert_array_equal(again.importances, found.importances)
    loaded = pickle.loads(pickle.dumps(forest))
    with pytest.raises(ValueError, match="pass X and y"):
        loaded.oob_permutation_importances()
    again = loaded.oob_permutation_importances(rows, y, n_repeats=3, random_state=5)
    assert_array_equal(again.importances, found.importances)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"y": np.where(y == 1, 7, y)}, "classes that fit did not see"),
        ({"y": np.array(["a", "b", "c"])[y]}, "classes that fit did not see"),
        ({"y": np.where(y == 1, np.nan, y)}, "classes that fit did not see"),
        ({"y": np.c_[y, y]}, "rows of the fit"),
        ({"y": y[1:]}, "rows of the fit"),
        ({"X": X[1:]}, "rows of the fit"),
        ({"y": None}, "both X and y"),
        ({"X": None}, "both X and y"),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
    ],
)
def test_permutation_of_other_rows_is_refused(settings, message):
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=message):
        forest.oob_permutation_importances(**{"X": X, "y": y, **settings})


def test_permutation_of_missing_targets_is_refused():
    forest = RandomForestRegressor(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="contains NaN"):
        forest.oob_permutation_importances(X=X, y=np.where(y == 1, np.nan, y))


def test_permutation_finds_what_matters_and_not_many_values():
    rows = np.column_stack([rng.integers(0, 2, 600), rng.normal(size=600)])
    target = rows[:, 0] * 3.0 + rng.normal(size=600)
    forest = RandomForestRegressor(30, random_state=0).fit(rows, target)
    matters, noise = forest.oob_permutation_importances(random_state=0).importances_mean
    assert matters > 2
    assert abs(noise) < 1
    sparse = RandomForestRegressor(30, random_state=0).fit(sp.csr_matrix(rows), target)
    assert_allclose(
        sparse.oob_permutation_importances(random_state=0).importances_mean, [matters, noise]
    )
