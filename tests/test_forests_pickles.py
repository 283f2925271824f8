"""Pickles of forests: every bit is restored, and tampered ones are refused."""

import copy
import pickle

import joblib
import numpy as np
import pytest
import sklearn.ensemble
from numpy.testing import assert_array_equal

import fasttree.ensemble
from fasttree.ensemble import (
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestQuantileRegressor,
    RandomForestRegressor,
)
from fasttree.tree import DecisionTreeClassifier
from reference.forests import X, assert_same_forest, prediction, refitted, y

rng = np.random.default_rng(1)

PICKLED = [
    RandomForestClassifier(7, random_state=0),
    RandomForestClassifier(7, random_state=0, class_weight="balanced_subsample"),
    RandomForestClassifier(7, random_state=0, max_leaf_nodes=9),
    RandomForestRegressor(7, random_state=0),
    ExtraTreesRegressor(7, random_state=0, min_samples_leaf=9, criterion="absolute_error"),
    RandomForestQuantileRegressor(7, random_state=0),
]


@pytest.mark.parametrize("forest", PICKLED)
def test_pickles_restore_every_bit(forest):
    forest = refitted(forest)
    raw = pickle.dumps(forest)
    loaded = pickle.loads(raw)
    again = pickle.loads(pickle.dumps(loaded))
    for other in (loaded, again, copy.copy(forest), copy.deepcopy(forest)):
        assert_array_equal(prediction(other), prediction(forest))
        assert "estimators_" not in vars(other)  # the packed copy is enough
        assert len(other) == 7
        assert_same_forest(other, forest)
        assert_array_equal(prediction(other), prediction(forest))
        assert_array_equal(other.apply(X), forest.apply(X))
    if forest.get_params().get("class_weight") is None:
        assert len(loaded.set_params(warm_start=True, n_estimators=9).fit(X, y).estimators_) == 9


@pytest.mark.parametrize("name", ["RandomForestClassifier", "RandomForestRegressor"])
def test_pickles_take_half_of_scikit_learns(name):
    rows = rng.normal(size=(3000, 5))
    target = rows[:, 0] + rng.normal(size=3000)
    target = target > 0 if "Classifier" in name else target
    sizes = [
        len(pickle.dumps(getattr(module, name)(10).fit(rows, target)))
        for module in (fasttree.ensemble, sklearn.ensemble)
    ]
    assert sizes[0] < 0.5 * sizes[1]


def test_mapped_pickles_predict_without_a_copy(tmp_path):
    forest = refitted(RandomForestClassifier(5, random_state=0))
    joblib.dump(forest, tmp_path / "forest")
    loaded = joblib.load(tmp_path / "forest", mmap_mode="r")
    assert_array_equal(prediction(loaded), prediction(forest))
    assert isinstance(loaded._memory.loaded_store().nodes, np.memmap)
    assert_same_forest(loaded, forest)


def test_trees_from_elsewhere_are_pickled_as_they_are():
    forest = refitted(RandomForestClassifier(3, random_state=0))
    forest.estimators_[1] = DecisionTreeClassifier(max_depth=2).fit(X, y)
    loaded = pickle.loads(pickle.dumps(forest))
    assert_array_equal(prediction(loaded), prediction(forest))


@pytest.mark.parametrize("part", ["n_features_in_", "n_outputs_", "n_classes_"])
def test_parts_that_do_not_belong_together(part):
    forest = refitted(RandomForestClassifier(3, random_state=0))
    setattr(forest, part, 7)
    with pytest.raises(ValueError):
        pickle.loads(pickle.dumps(forest))


@pytest.mark.parametrize(("field", "value"), [("child", 10**9), ("child", 2),
                                                 ("feature", 99), ("feature", -7)])  # fmt: skip
def test_tampered_nodes_are_refused(field, value):
    forest = refitted(RandomForestClassifier(3, random_state=0))
    forest = pickle.loads(pickle.dumps(forest))
    forest._memory.compact.store[0][field] = value
    with pytest.raises(ValueError, match="packed"):
        pickle.loads(pickle.dumps(forest))


@pytest.mark.parametrize("name", ["right", "is_leaf", "feature"])
def test_tampered_columns_are_refused(name):
    forest = refitted(RandomForestClassifier(3, random_state=0))
    forest = pickle.loads(pickle.dumps(forest))
    column = forest._memory.compact.columns[name]
    column.stored = np.full_like(column.stored, 255)
    with pytest.raises(ValueError):
        forest.estimators_  # noqa: B018


def test_no_such_attribute():
    with pytest.raises(AttributeError, match="estimators_"):
        RandomForestClassifier().estimators_  # noqa: B018
    with pytest.raises(AttributeError, match="oob_score_"):
        refitted(RandomForestClassifier(2)).oob_score_  # noqa: B018
