"""Scorers of TrainOnceSearchCV, where they do what GridSearchCV's do, and its refit."""

import numpy as np
import pytest
import sklearn
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold

from fasttree.model_selection import TrainOnceSearchCV
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from reference.searches import IRIS, assert_same_results, both, fit_with_warnings


def test_classes_that_a_fold_does_not_train_on():
    """Each fold holds a class of its own out: scores are zero or fail, as in GridSearchCV."""
    X, y = IRIS
    for scoring in ("accuracy", "neg_log_loss", "f1_macro", "balanced_accuracy"):
        (expected, _), (actual, _) = both(
            DecisionTreeClassifier(), {"max_depth": [1, 2]}, X, y, scoring=scoring, cv=KFold(3)
        )
        assert_same_results(actual.cv_results_, expected.cv_results_)


@pytest.mark.parametrize("scoring", ["r2", "neg_log_loss"])
def test_scores_with_special_cases_are_scikit_learns(scoring):
    """Folds of one row, and targets that do not vary."""
    if scoring == "r2":
        estimator, X, y = DecisionTreeRegressor(), np.arange(6.0)[:, None], [1.0, 1, 1, 1, 2, 3]
    else:
        estimator, X, y = DecisionTreeClassifier(), np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    for cv in (KFold(6), KFold(2)):
        (expected, _), (actual, _) = both(
            estimator, {"max_depth": [1, 2]}, X, y, scoring=scoring, cv=cv
        )
        assert_same_results(actual.cv_results_, expected.cv_results_)


def test_refit_by_a_function_and_not_at_all():
    def simplest(results):
        return int(np.argmin(results["param_max_depth"]))

    grid = {"max_depth": [5, 2, 3]}
    search = TrainOnceSearchCV(DecisionTreeClassifier(), grid, refit=simplest).fit(*IRIS)
    assert search.best_params_ == {"max_depth": 2}
    assert search.best_estimator_.get_depth() == 2
    assert not hasattr(search, "best_score_")
    search = TrainOnceSearchCV(DecisionTreeClassifier(), grid, refit=False).fit(*IRIS)
    assert not hasattr(search, "best_estimator_")
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    with pytest.raises(AttributeError, match="predict"):
        search.predict(IRIS[0])
    with pytest.raises(ValueError, match="refit must be set"):
        TrainOnceSearchCV(DecisionTreeClassifier(), grid, scoring=["accuracy", "f1_macro"]).fit(
            *IRIS
        )


def test_a_scorer_may_look_at_parameters():
    """A function of the user's is called for every setting, even if trees are the same."""

    def frugal(estimator, X, y):
        return estimator.score(X, y) - 0.01 * estimator.max_depth

    grid = {"max_depth": [3, 9, 20]}
    (expected, _), (actual, _) = both(
        DecisionTreeClassifier(random_state=0), grid, *IRIS, scoring=frugal
    )
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert len(set(actual.cv_results_["mean_test_score"])) == 3


def test_limits_of_the_estimator_hold_where_a_setting_does_not_name_them():
    """The fit that is shared has looser ones; a scorer sees those of the setting."""

    def look(tree, X, y):
        return tree.ccp_alpha + tree.min_samples_split + (tree.max_leaf_nodes or 0)

    tree = DecisionTreeClassifier(ccp_alpha=0.01, max_leaf_nodes=4)
    grid = [{"max_depth": [1, 2]}, {"min_samples_split": [30], "ccp_alpha": [0.0]}]
    (expected, _), (actual, _) = both(tree, grid, *IRIS, scoring=look)
    assert_same_results(actual.cv_results_, expected.cv_results_)


def test_a_scorer_that_returns_several_scores():
    def scores(estimator, X, y):
        hits = estimator.predict(X) == y
        return {"hits": hits.mean(), "misses": -(~hits).mean()}

    (expected, _), (actual, _) = both(
        DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, *IRIS, scoring=scores, refit="hits"
    )
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert actual.multimetric_
    assert actual.best_score_ == expected.best_score_


@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_a_scorer_that_fails(error_score):
    def broken(y_true, y_pred):
        raise ValueError("broken")

    options = dict(scoring=make_scorer(broken), error_score=error_score, cv=3)
    search = TrainOnceSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, **options)
    if error_score == "raise":
        with pytest.raises(ValueError, match="broken"):
            search.fit(*IRIS)
        return
    search, caught = fit_with_warnings(search, *IRIS)
    assert "Scoring failed" in caught[0][1]
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_scorers_with_options():
    """An option that the one pass does not know is left to scikit-learn."""
    scoring = {
        "count": make_scorer(accuracy_score, normalize=False),
        "loss": make_scorer(accuracy_score, greater_is_better=False),
        "f": make_scorer(sklearn.metrics.f1_score, average="macro", labels=[0, 2]),
    }
    for one in scoring.values():
        (expected, _), (actual, _) = both(
            DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, *IRIS, scoring=one
        )
        assert_same_results(actual.cv_results_, expected.cv_results_)


def test_a_subclass_that_predicts_otherwise():
    class Contrary(DecisionTreeClassifier):
        def predict(self, X, check_input=True):
            return (super().predict(X, check_input) + 1) % 3

    (expected, _), (actual, _) = both(Contrary(), {"max_depth": [1, 2, 3]}, *IRIS)
    assert_same_results(actual.cv_results_, expected.cv_results_)
    assert actual.best_score_ < 0.4
