"""The estimators within scikit-learn: its random numbers, its pruning and what takes its trees."""

import copy
import pickle

import numpy as np
import pytest
import sklearn
import sklearn.tree
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingRegressor,
)
from sklearn.inspection import partial_dependence
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

import fasttree
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from fasttree.tree._validation import random_source
from reference.drop_ins import ALL, DROP_INS, data_for, iris, replayed, sklearns

# ---- randomness


@pytest.mark.parametrize("seed", [0, 1, 42, np.int32(7), np.uint64(2**32 - 1)])
def test_seeds_give_scikit_learns_stream(seed):
    expected = check_random_state(seed).randint(0, 2**31 - 1, 5)
    assert_array_equal(random_source(seed).randint(0, 2**31 - 1, 5), expected)
    assert_array_equal(random_source(seed).randint(0, 2**31 - 1, 5), expected)


def test_generators_are_passed_through():
    generator = np.random.RandomState(3)
    assert random_source(generator) is generator
    assert random_source(None) is check_random_state(None)
    for bad in [-1, 2**32]:
        with pytest.raises(ValueError, match="Seed must be between"):
            random_source(bad)


def test_a_generator_is_drawn_from_once_per_fit():
    drawn, expected = np.random.RandomState(0), np.random.RandomState(0)
    ExtraTreeClassifier(random_state=drawn).fit(iris.data, iris.target)
    expected.randint(0, 2**31 - 1)
    assert drawn.randint(1000) == expected.randint(1000)


@pytest.mark.parametrize("cls", DROP_INS)
def test_threads_do_not_matter(cls):
    X, y = data_for(cls)
    one = cls(random_state=0, n_jobs=1).fit(X, y)
    with fasttree.config_context(n_threads=3):
        three = cls(random_state=0).fit(X, y)
        assert_array_equal(three.predict(X), one.predict(X))
    assert_array_equal(three.tree_.nodes, one.tree_.nodes)


# ---- pruning


@pytest.mark.parametrize("cls", DROP_INS)
@pytest.mark.parametrize("parameters", [{}, {"max_leaf_nodes": 15}])
def test_pruning_is_scikit_learns(cls, parameters):
    X, y = data_for(cls, 150)
    alphas = (
        sklearns(cls)(random_state=0, **parameters).cost_complexity_pruning_path(X, y).ccp_alphas
    )
    with fasttree.config_context(sklearn_random_stream=True):
        path = cls(random_state=0, ccp_alpha=0.5, **parameters).cost_complexity_pruning_path(X, y)
    assert_allclose(path.ccp_alphas, alphas, atol=1e-12)
    assert path.impurities.shape == alphas.shape
    alpha = alphas[len(alphas) // 2] * (1 + 1e-9)
    ours, theirs = replayed(cls, X, y, ccp_alpha=alpha, **parameters)
    assert_array_equal(ours.tree_.children_left, theirs.tree_.children_left)
    assert_array_equal(ours.tree_.threshold, theirs.tree_.threshold)


# ---- company


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("duplicate", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy])
def test_pickles(cls, duplicate):
    X, y = data_for(cls)
    tree = cls(random_state=0, max_depth=3).fit(X, y)
    twin = duplicate(tree)
    assert_array_equal(twin.predict(X), tree.predict(X))
    assert_array_equal(twin.tree_.nodes, tree.tree_.nodes)
    assert clone(tree).get_params() == tree.get_params()


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_to_sklearn(cls, n_outputs):
    X, y = data_for(cls)
    X = X.copy()
    X[::9, 0] = np.nan
    if n_outputs == 2:
        y = np.column_stack([y, y])
    tree = cls(random_state=0, max_depth=4, n_jobs=2).fit(X, y)
    twin = tree.to_sklearn()
    name = "DecisionTreeClassifier" if cls is DecisionTree else cls.__name__
    assert type(twin) is getattr(sklearn.tree, name)
    assert type(twin.tree_) is sklearn.tree._tree.Tree
    assert_array_equal(twin.predict(X), tree.predict(X))
    assert_array_equal(twin.apply(X), tree.apply(X))
    assert_array_equal(twin.feature_importances_, tree.feature_importances_)
    assert twin.get_params()["max_depth"] == 4
    pickle.loads(pickle.dumps(twin)).predict(X)


@pytest.mark.parametrize("ensemble", [BaggingClassifier, AdaBoostClassifier])
def test_classifier_ensembles(ensemble):
    tree = DecisionTreeClassifier(max_depth=3)
    model = ensemble(tree, n_estimators=5, random_state=0).fit(iris.data, iris.target)
    assert model.score(iris.data, iris.target) > 0.9
    assert all(type(e) is DecisionTreeClassifier for e in model.estimators_)


@pytest.mark.parametrize("ensemble", [BaggingRegressor, AdaBoostRegressor])
def test_regressor_ensembles(ensemble):
    X, y = data_for(DecisionTreeRegressor)
    model = ensemble(DecisionTreeRegressor(max_depth=4), n_estimators=5, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.4


def test_voting_stacking_search_and_pipelines():
    X, y = data_for(DecisionTreeRegressor)
    trees = [("a", DecisionTreeRegressor(max_depth=3)), ("b", ExtraTreeRegressor(max_depth=3))]
    assert VotingRegressor(trees).fit(X, y).score(X, y) > 0.3
    trees = [("a", DecisionTreeClassifier(max_depth=3)), ("b", DecisionTree("classification"))]
    assert StackingClassifier(trees).fit(iris.data, iris.target).score(iris.data, iris.target) > 0.9
    grid = {"decisiontree__max_depth": [1, 3]}
    pipeline = make_pipeline(StandardScaler(), DecisionTree())
    search = GridSearchCV(pipeline, grid).fit(iris.data, iris.target)
    assert search.best_params_ == {"decisiontree__max_depth": 3}
    assert cross_val_score(DecisionTreeClassifier(), iris.data, iris.target).mean() > 0.9


def test_partial_dependence_by_recursion():
    X, y = data_for(DecisionTreeRegressor)
    ours, theirs = replayed(DecisionTreeRegressor, X, np.round(y), max_depth=5)
    for method in ["recursion", "brute"]:
        a = partial_dependence(ours, X, [2, 3], method=method, grid_resolution=10)
        b = partial_dependence(theirs, X, [2, 3], method=method, grid_resolution=10)
        assert_allclose(a["average"], b["average"])


@pytest.mark.parametrize("cls", DROP_INS)
def test_metadata_requests_are_scikit_learns(cls):
    assert str(cls().get_metadata_routing()) == str(sklearns(cls)().get_metadata_routing())


def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        for cls in [DecisionTreeClassifier, DecisionTree]:
            tree = cls(max_depth=2).set_fit_request(sample_weight=True)
            tree.set_score_request(sample_weight=False)
            pipeline = make_pipeline(tree)
            pipeline.fit(iris.data, iris.target, sample_weight=(iris.target > 0) * 1.0)
            assert set(pipeline.predict(iris.data)) == {1, 2}


def test_forests_grow_our_trees(monkeypatch):
    from sklearn.ensemble import RandomForestClassifier, _forest

    monkeypatch.setattr(_forest, "DecisionTreeClassifier", DecisionTreeClassifier)
    forest = RandomForestClassifier(40, random_state=0, oob_score=True, n_jobs=2)
    forest.fit(iris.data, iris.target)
    assert forest.oob_score_ > 0.9
    assert all(type(tree) is DecisionTreeClassifier for tree in forest.estimators_)
    assert forest.decision_path(iris.data)[0].shape[0] == 150
