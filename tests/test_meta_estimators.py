"""Which of scikit-learn's meta-estimators pass frames with categories and missing values on.

The page of the user guide says so; if a release of scikit-learn changes one, this says which.
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SelectKBest
from sklearn.feature_selection import SequentialFeatureSelector as Sequential
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import (
    ClassifierChain,
    MultiOutputClassifier,
    MultiOutputRegressor,
    RegressorChain,
)
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor, feature_scores

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "color": RNG.choice(["red", "green", "blue"], 200),
        "size": np.where(RNG.random(200) < 0.1, np.nan, RNG.normal(size=200)),
        "age": RNG.normal(size=200),
    }
)
Y = ((X["color"] == "green") | (X["age"] > 1)).to_numpy().astype(int)

C, R = DecisionTreeClassifier(max_depth=3), DecisionTreeRegressor(max_depth=3)
OUTPUTS = np.column_stack([Y, 1 - Y])

PASS_ON = {
    "BaggingClassifier": BaggingClassifier(C, 3, max_features=2),
    "BaggingRegressor": BaggingRegressor(R, 3),
    "VotingClassifier": VotingClassifier([("a", C), ("b", C)]),
    "VotingRegressor": VotingRegressor([("a", R), ("b", R)]),
    "StackingClassifier": StackingClassifier([("a", C), ("b", C)], C, passthrough=True),
    "StackingRegressor": StackingRegressor([("a", R), ("b", R)]),
    "search": GridSearchCV(C, {"max_depth": [1, 2]}),
    "CalibratedClassifierCV": CalibratedClassifierCV(C),
    "FixedThresholdClassifier": FixedThresholdClassifier(C),
    "TunedThresholdClassifierCV": TunedThresholdClassifierCV(C),
    "OneVsRestClassifier": OneVsRestClassifier(C),
    "MultiOutputClassifier": MultiOutputClassifier(C),
    "MultiOutputRegressor": MultiOutputRegressor(R),
    "SelectFromModel": make_pipeline(SelectFromModel(C), C),
    "TransformedTargetRegressor": TransformedTargetRegressor(
        R, func=np.log1p, inverse_func=np.expm1
    ),
}
CHECK_FIRST = {
    "AdaBoostClassifier": AdaBoostClassifier(C, n_estimators=2),
    "AdaBoostRegressor": AdaBoostRegressor(R, n_estimators=2),
    "GradientBoostingClassifier": GradientBoostingClassifier(init=C, n_estimators=2),
    "GradientBoostingRegressor": GradientBoostingRegressor(init=R, n_estimators=2),
    "OneVsOneClassifier": OneVsOneClassifier(C),
    "ClassifierChain": ClassifierChain(C),
    "RegressorChain": RegressorChain(R),
    "SelectKBest": SelectKBest(partial(feature_scores), k=2),
    "RFE": RFE(C, n_features_to_select=2),
    "RFECV": RFECV(C),
    "SequentialFeatureSelector": Sequential(C, n_features_to_select=2),
    "SelfTrainingClassifier": SelfTrainingClassifier(C),
}


def target(name):
    return OUTPUTS if name.startswith("MultiOutput") or name.endswith("Chain") else Y


@pytest.mark.parametrize("name", PASS_ON)
def test_frames_are_passed_on(name):
    model = PASS_ON[name].fit(X, target(name))
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("name", CHECK_FIRST)
def test_frames_are_checked_for_numbers_first(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the labels are all known
        with pytest.raises(ValueError, match="could not convert string to float|contains NaN"):
            CHECK_FIRST[name].fit(X, target(name))


def test_tools_that_take_a_fitted_tree():
    assert len(cross_val_score(C, X, Y)) == 5
    model = DecisionTreeClassifier(max_depth=3).fit(X, Y)
    assert permutation_importance(model, X, Y, n_repeats=2).importances_mean.argmax() == 0
    assert partial_dependence(model, X, ["age"]).average.shape[0] == 1
