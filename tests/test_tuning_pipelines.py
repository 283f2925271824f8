"""Searches over pipelines that end in a tree, and randomized searches, against scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from joblib import Memory
from numpy.testing import assert_array_equal
from scipy.stats import loguniform, randint
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, ParameterSampler, RandomizedSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.random_projection import GaussianRandomProjection
from test_tuning_engine import UNLIMITED

from fasttree.model_selection import TrainOnceRandomizedSearchCV, TrainOnceSearchCV
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.tree.pruning._settings import SettingTable
from reference.searches import assert_same_results, both

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)


class Counted(TransformerMixin, BaseEstimator):
    """Shifts its rows; each fit is counted by its parameter, which clones share."""

    fits: list = []

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y=None):
        Counted.fits.append((self.shift, len(X)))
        self.is_fitted_ = True
        return self

    def transform(self, X):
        return X + self.shift


@pytest.fixture(autouse=True)
def no_fits_yet():
    Counted.fits.clear()


def compare(estimator, grid, X, y, params=None, **options):
    """Both searches give the same results; returns fasttree's."""
    (expected, its_error), (actual, error) = both(estimator, grid, X, y, params, **options)
    assert (error, its_error) == (None, None)
    assert_same_results(actual.cv_results_, expected.cv_results_)
    if hasattr(actual, "best_estimator_"):
        assert actual.best_params_ == expected.best_params_
        assert_array_equal(actual.predict(X), expected.predict(X))
    return actual


def test_steps_are_fitted_once_per_fold():
    pipeline = Pipeline([("shift", Counted()), ("tree", DecisionTreeClassifier())])
    grid = {"tree__max_depth": [1, 2, 3], "tree__min_samples_split": [2, 40]}
    search = TrainOnceSearchCV(pipeline, grid).fit(*IRIS)
    assert search.n_fits_ == 5
    assert Counted.fits == [(0.0, 120)] * 5 + [(0.0, 150)]
    compare(pipeline, grid, *IRIS)
    compare(pipeline.set_params(shift=StandardScaler()), grid, *IRIS, n_jobs=2)


def test_fits_of_the_tree_share_the_steps():
    """Its other parameters need fits of their own, but not of the steps."""
    inner = Pipeline([("again", Counted(1.0)), ("tree", DecisionTreeClassifier())])
    pipeline = Pipeline([("shift", Counted()), ("inner", inner)])
    grid = {
        "inner__tree__criterion": ["gini", "entropy"],
        "inner__tree__ccp_alpha": [0.0, 0.02],
        "shift__shift": [0.0, 2.0],
    }
    search = TrainOnceSearchCV(pipeline, grid, cv=2, refit=False).fit(*IRIS)
    assert search.n_fits_ == 2 * 2 * 2
    assert len(Counted.fits) == 2 * 2 * 2  # steps, their parameters, folds
    compare(pipeline, grid, *IRIS, cv=2)
    assert inner.memory is None
    assert search.estimator.memory is None


@pytest.mark.parametrize("return_train_score", [False, True])
@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [FunctionTransformer(lambda X: X**2), "passthrough"],
        [GaussianRandomProjection(3, random_state=0)],
        [TargetEncoder(random_state=0)],  # encodes other rows than those of its fit otherwise
        [],
    ],
    ids=["scaled", "not to be pickled", "random", "cross fitting", "none"],
)
def test_results_are_those_of_grid_search(steps, return_train_score):
    pipeline = make_pipeline(*steps, DecisionTreeRegressor(random_state=0))
    name = "decisiontreeregressor"
    grid = [
        {f"{name}__max_depth": [1, 5, None], f"{name}__min_samples_leaf": [1, 4]},
        {f"{name}__max_leaf_nodes": [9]},
    ]
    options = dict(scoring=["r2", "neg_median_absolute_error"], refit="r2")
    compare(pipeline, grid, *DIABETES, cv=2, return_train_score=return_train_score, **options)


def test_memory_is_the_users(tmp_path):
    memory = Memory(tmp_path, verbose=0)
    pipeline = Pipeline([("shift", Counted()), ("tree", DecisionTree())], memory=memory)
    grid = {"tree__max_depth": [1, 2], "tree__min_samples_leaf": [1, 2]}
    search = TrainOnceSearchCV(pipeline, grid, cv=2).fit(*IRIS)
    assert len(Counted.fits) == 3
    assert search.best_estimator_.memory.location == memory.location
    compare(pipeline, grid, *IRIS, cv=2)


def test_frames_of_columns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"kind": rng.choice(["a", "b", "c"], 120), "size": rng.normal(size=120)})
    y = (X["size"] + (X["kind"] == "b") + rng.normal(size=120) > 0).to_numpy()
    columns = ColumnTransformer([("one", OneHotEncoder(), ["kind"])], remainder="passthrough")
    pipeline = make_pipeline(columns, DecisionTreeClassifier()).set_output(transform="default")
    grid = {"decisiontreeclassifier__max_depth": [1, 2, 3, 4]}
    compare(pipeline, grid, X, y, scoring="roc_auc")


def test_scorers_that_are_called_see_the_pipeline():
    """With the rows as they were passed, and the setting's limits on the tree."""

    def depth(estimator, X, y):
        assert isinstance(estimator, Pipeline)
        assert isinstance(X, pd.DataFrame)
        assert estimator.predict(X).shape == y.shape
        return float(estimator[-1].get_depth() + estimator[-1].max_depth)

    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    grid = {"decisiontreeclassifier__max_depth": [1, 2, 9]}
    X = pd.DataFrame(IRIS[0], columns=list("abcd"))
    compare(pipeline, grid, X, IRIS[1], scoring=depth)
    some = make_scorer(recall_score, labels=[1, 2], average="macro")
    compare(pipeline, grid, X, IRIS[1], scoring=some)


def test_metadata_routing():
    rng = np.random.default_rng(0)
    weight, of_scale = rng.random(150), rng.random(150)
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(
            StandardScaler().set_fit_request(sample_weight="of_scale"),
            DecisionTreeClassifier().set_fit_request(sample_weight=True),
        )
        grid = {"decisiontreeclassifier__min_samples_split": [2, 30, 70]}
        params = {"sample_weight": weight, "of_scale": of_scale}
        scorer = make_scorer(recall_score, average="macro").set_score_request(sample_weight=True)
        compare(pipeline, grid, *IRIS, params, scoring=scorer)


def test_weights_of_a_step_by_name():
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    params = {"decisiontreeclassifier__sample_weight": np.arange(150.0)}
    compare(pipeline, {"decisiontreeclassifier__max_depth": [1, 2]}, *IRIS, params)


def test_grids_over_steps():
    """Those before the tree need a fit per combination; instead of the tree, a fit per setting."""
    pipeline = Pipeline([("scale", StandardScaler()), ("tree", DecisionTreeClassifier())])
    grid = {"scale": [StandardScaler(), "passthrough", Counted(1.0)], "tree__max_depth": [1, 2, 3]}
    assert compare(pipeline, grid, *IRIS, cv=3).n_fits_ == 3 * 3
    trees = [DecisionTreeClassifier(), RandomForestClassifier(3, random_state=0)]
    for grid in (
        {"tree": trees, "tree__max_depth": [1, 2]},
        {"steps": [[("tree", tree)] for tree in trees], "tree__max_depth": [1, 2]},
    ):
        assert compare(pipeline, grid, *IRIS, cv=3).n_fits_ == 4 * 3


def test_pipelines_of_others_are_fitted_as_in_grid_search():
    class Odd(Pipeline):
        def predict(self, X):
            return super().predict(X) * 0

    pipeline = Odd([("tree", DecisionTreeClassifier())])
    search = compare(pipeline, {"tree__max_depth": [1, 2]}, *IRIS, cv=2, scoring="accuracy")
    assert search.n_fits_ == 4
    assert search.best_score_ < 0.5


def test_a_step_that_fails():
    class Fails(Counted):
        def fit(self, X, y=None):
            raise ValueError("no fit")

    class FailsLater(Counted):
        def transform(self, X):
            if len(X) == 50:
                raise RuntimeError("no rows")
            return X

    grid = {"tree__max_depth": [1, 2]}
    pipeline = Pipeline([("step", Fails()), ("tree", DecisionTreeClassifier())])
    with pytest.raises(ValueError, match="All the 6 fits failed"):
        TrainOnceSearchCV(pipeline, grid, cv=3).fit(*IRIS)
    pipeline.set_params(step=FailsLater())
    with pytest.warns(UserWarning, match="no rows"):
        with pytest.warns(UserWarning, match="non-finite"):
            search = TrainOnceSearchCV(pipeline, grid, cv=3).fit(*IRIS)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()
    with pytest.raises(RuntimeError, match="no rows"):
        TrainOnceSearchCV(pipeline, grid, cv=3, error_score="raise").fit(*IRIS)
    pipeline.set_params(step="passthrough")
    with pytest.warns(FitFailedWarning, match="3 fits failed out of a total of 6"):
        TrainOnceSearchCV(pipeline, {"tree__max_depth": [1, -1]}, cv=3, error_score=0.0).fit(*IRIS)
    with pytest.raises(ValueError, match="Invalid parameter 'max_depth'"):
        TrainOnceSearchCV(pipeline, {"max_depth": [1, 2]}, cv=3).fit(*IRIS)


# ---- randomized search


DRAWS = [
    {"min_samples_split": randint(2, 90), "ccp_alpha": loguniform(1e-4, 0.1)},
    {"max_depth": [1, 2, 3, None], "max_leaf_nodes": [None, 2, 5, 9]},
    {"criterion": ["gini", "entropy"], "min_samples_split": [0.1, 0.5, 7], "max_depth": [2, 4]},
    [
        {"max_depth": randint(1, 5)},
        {"min_impurity_decrease": loguniform(1e-3, 0.3), "min_samples_leaf": [1, 9]},
    ],
]


@pytest.mark.parametrize("draws", DRAWS)
def test_draws_and_results_are_those_of_randomized_search(draws):
    options = dict(n_iter=12, random_state=3, cv=3, return_train_score=True)
    expected = RandomizedSearchCV(DecisionTreeClassifier(), draws, **options).fit(*IRIS)
    actual = TrainOnceRandomizedSearchCV(DecisionTreeClassifier(), draws, **options).fit(*IRIS)
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert actual.best_params_ == expected.best_params_
    assert isinstance(actual, RandomizedSearchCV)
    assert not isinstance(actual, GridSearchCV)


def test_draws_of_a_pipeline():
    pipeline = make_pipeline(Counted(), DecisionTreeClassifier())
    draws = {
        "decisiontreeclassifier__min_samples_split": randint(2, 90),
        "decisiontreeclassifier__ccp_alpha": loguniform(1e-4, 0.1),
    }
    search = TrainOnceRandomizedSearchCV(pipeline, draws, n_iter=3000, random_state=0)
    search.fit(*IRIS)
    assert search.n_fits_ == 5
    assert len(Counted.fits) == 6
    assert len(search.cv_results_["params"]) == 3000
    assert search.best_params_ in list(ParameterSampler(draws, 3000, random_state=0))


def test_settings_that_are_given_one_by_one():
    """In any order, with different names; invalid values are told."""
    candidates = [
        {"a__max_depth": 3, "other": [1]},
        {"a__min_samples_split": 0.25},
        {"a__max_depth": -1, "other": [1]},
        {},
        {"a__max_depth": 3, "other": "x"},
    ]
    table = SettingTable.of_candidates(candidates, UNLIMITED, "a__")
    assert table.size == 5
    assert table.is_valid.tolist() == [True, True, False, True, True]
    numbers = table.numbers(40)
    assert numbers["max_depth"][[0, 4]].tolist() == [3, 3]
    assert numbers["min_samples_split"].tolist() == [2, 10, 2, 2, 2]
    groups = table.groups(["max_depth", "min_samples_split"])
    assert sorted(members.tolist() for _, members in groups) == [[0], [1, 3], [2], [4]]
