"""scikit-learn's estimator checks, no failure expected."""

import pytest
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    parametrize_with_checks,
)

from fasttree.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestQuantileRegressor,
    RandomForestRegressor,
    RandomTreesEmbedding,
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
    ExtraTreesClassifier(n_estimators=5),
    ExtraTreesRegressor(n_estimators=5),
    IsolationForest(n_estimators=5),
    RandomForestClassifier(n_estimators=5),
    RandomForestQuantileRegressor(n_estimators=5),
    RandomForestRegressor(n_estimators=5),
    RandomTreesEmbedding(n_estimators=5),
]


# Draws from more rows are other draws, so that forests with weights and with rows repeated agree on
# average only, as scikit-learn's own.
DRAWN = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "rows are drawn",
)


def expected_failures(estimator):
    is_drawn = getattr(estimator, "bootstrap", False)
    return DRAWN if is_drawn or isinstance(estimator, IsolationForest) else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
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
