"""Tuning from one fit on tables: columns of numbers, labels and gaps, as they are."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn import clone
from sklearn.model_selection import cross_val_score, train_test_split
from test_hybrid import assert_same_labels, draw_problem

from fasttree.model_selection import tuning_curve
from fasttree.tree import DecisionTree, DecisionTreeClassifier
from reference.searches import assert_same_results, both, random_grid
from reference.tuning import random_limits


def whole_tree(seed):
    """(table of objects, y, weights, fitted estimator without limits)."""
    _, X, y, w, estimator = draw_problem(seed, label_sets=seed // 10 % 2 == 1)
    return X, y, w, estimator.fit(X, y, sample_weight=w)


def frame_with_labels(n=400):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(1),
            "color": rng.choice(["red", "green", "blue", None], n),
            "grade": rng.choice(["1", "2", "3", "poor"], n),
        }
    )
    y = frame["color"].eq("red") ^ frame["grade"].isin(["1", "poor"]) ^ (rng.random(n) < 0.2)
    return frame, np.where(y, "yes", "no")


@pytest.mark.cases(300)
def test_cut_trees_are_refitted_trees(seed):
    X, y, w, estimator = whole_tree(seed)
    rng = np.random.default_rng([seed, 70])
    limits = random_limits(rng, estimator.tree_)
    for name in rng.choice(list(limits), size=rng.integers(0, len(limits)), replace=False):
        del limits[str(name)]
    refitted = clone(estimator).set_params(**limits).fit(X, y, sample_weight=w)
    pruned = estimator.prune(**limits)
    assert_same_labels(pruned, refitted)
    assert_array_equal(pruned.predict(X), refitted.predict(X))


@pytest.mark.cases(100)
def test_results_are_those_of_grid_search(seed):
    X, y, w, estimator = whole_tree(seed)
    if len(y) < 6 or y.ndim > 1:
        pytest.skip("too little for folds")
    grid = random_grid(np.random.default_rng([seed, 71]), estimator.tree_)
    fit_params = {} if w is None else {"sample_weight": w}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (expected, its_error), (actual, error) = both(
            clone(estimator), grid, X, y, fit_params, cv=3
        )
    assert (error is None) == (its_error is None), (error, its_error)
    if error is None:
        assert_same_results(actual.cv_results_, expected.cv_results_, np.abs(y).max() ** 2 + 1.0)


def test_tune_on_a_frame():
    frame, y = frame_with_labels()
    X, X_val, y, y_val = train_test_split(frame, y, random_state=0)
    for estimator in (DecisionTree(), DecisionTreeClassifier(categorical_split="subset")):
        estimator.fit(X, y)
        assert estimator.tree_.label_splits is not None
        result = estimator.tune(X_val, y_val)
        tuned = result.estimator
        assert result.best_score == tuned.score(X_val, y_val) == result.scores.max()
        refitted = clone(estimator).set_params(**result.best_params).fit(X, y)
        assert_same_labels(tuned, refitted)
        pruned = tuned.reduced_error_prune(X_val, y_val)
        assert (pruned.predict(X_val) != y_val).sum() <= (tuned.predict(X_val) != y_val).sum()


def test_curve_on_a_frame():
    frame, y = frame_with_labels()
    curve = tuning_curve(DecisionTreeClassifier(), frame, y, param_name="max_depth", cv=3)
    for depth, scores in zip(curve.param_range, curve.test_scores):
        expected = cross_val_score(DecisionTreeClassifier(max_depth=depth), frame, y, cv=3)
        assert_array_equal(scores, expected)
    assert curve.test_scores.max() > 0.7
