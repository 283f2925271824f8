"""The estimator of optimal trees."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from fasttree.optimal import OptimalDecisionTreeClassifier


@parametrize_with_checks([OptimalDecisionTreeClassifier()])
def test_estimator_checks(estimator, check):
    check(estimator)
