"""Estimators that stand in for scikit-learn's, beside those, and bundled data for both."""

import sklearn.tree
from sklearn.datasets import load_diabetes, load_iris

import fasttree
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

CLASSIFIERS = [DecisionTreeClassifier, ExtraTreeClassifier]
REGRESSORS = [DecisionTreeRegressor, ExtraTreeRegressor]
DROP_INS = CLASSIFIERS + REGRESSORS
ALL = [*DROP_INS, DecisionTree]

iris = load_iris()
diabetes = load_diabetes()


def sklearns(cls):
    return getattr(sklearn.tree, cls.__name__)


def data_for(cls, n=None):
    data = diabetes if cls in REGRESSORS else iris
    return data.data[:n], data.target[:n]


def replayed(cls, X, y, *, sample_weight=None, **parameters):
    """Our estimator in scikit-learn's random stream, and scikit-learn's."""
    with fasttree.config_context(sklearn_random_stream=True):
        ours = cls(random_state=0, **parameters).fit(X, y, sample_weight)
    theirs = sklearns(cls)(random_state=0, **parameters).fit(X, y, sample_weight)
    return ours, theirs


METHODS = ["predict", "predict_proba", "predict_log_proba", "apply", "decision_path"]
