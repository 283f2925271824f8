"""scikit-learn's estimator checks, no failure expected."""

import pytest
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

ESTIMATORS = [
    DecisionTree(),
    DecisionTreeClassifier(),
    DecisionTreeRegressor(),
    ExtraTreeClassifier(),
    ExtraTreeRegressor(),
]


@parametrize_with_checks(ESTIMATORS)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize(
    ("Tree", "criterion"),
    [
        (DecisionTreeClassifier, "gini"),
        (DecisionTreeClassifier, "entropy"),
        (DecisionTreeRegressor, "squared_error"),
        (DecisionTreeRegressor, "absolute_error"),
        (DecisionTreeRegressor, "poisson"),
    ],
)
def test_weights_are_repetitions(Tree, criterion, splitter):
    estimator = Tree(criterion=criterion, splitter=splitter, random_state=0)
    check_sample_weight_equivalence_on_dense_data(Tree.__name__, estimator)
