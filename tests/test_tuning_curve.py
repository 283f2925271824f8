"""Tuning curves, as arrays and drawn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GroupKFold, ValidationCurveDisplay, validation_curve

from fasttree.model_selection import TuningCurveDisplay, tuning_curve
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)

RANGES = {
    "max_depth": [1, 2, 3, 5],
    "min_samples_split": [2, 0.1, 60],
    "min_impurity_decrease": [0.0, 0.01, 0.1],
    "max_leaf_nodes": [2, 3, 8],
    "ccp_alpha": [0.0, 0.01, 0.3],
}


@pytest.mark.parametrize("name", RANGES)
def test_curve_is_scikit_learns(name):
    options = dict(
        param_name=name, param_range=RANGES[name], cv=4, scoring="neg_mean_squared_error"
    )
    curve = tuning_curve(DecisionTreeRegressor(), *DIABETES, **options)
    train_scores, test_scores = validation_curve(DecisionTreeRegressor(), *DIABETES, **options)
    assert_array_equal(curve.param_range, RANGES[name])
    assert_allclose(curve.train_scores, train_scores, rtol=1e-12, atol=1e-9)
    assert_allclose(curve.test_scores, test_scores, rtol=1e-12)


@pytest.mark.parametrize("name", RANGES)
def test_chosen_ticks_are_where_the_tree_changes(name):
    model = DecisionTreeRegressor(min_samples_leaf=8).fit(*DIABETES)
    curve = tuning_curve(
        DecisionTreeRegressor(min_samples_leaf=8), *DIABETES, param_name=name, cv=2
    )
    ticks = curve.param_range
    assert 2 <= len(ticks) <= 100
    assert (np.diff(ticks) > 0).all()
    sizes = [
        DecisionTreeRegressor(min_samples_leaf=8, **{name: tick}).fit(*DIABETES).get_n_leaves()
        for tick in ticks.tolist()
    ]
    assert max(sizes) == model.get_n_leaves()
    assert min(sizes) <= 2
    assert len(set(sizes)) > len(ticks) // 2


def test_curve_of_groups_and_weights():
    X, y = IRIS
    weight = np.arange(150.0)
    curve = tuning_curve(
        DecisionTree(task="classification"),
        X,
        y,
        groups=np.arange(150) % 6,
        cv=GroupKFold(3),
        param_range=iter([1, 2]),
        fit_params={"sample_weight": weight},
    )
    assert curve.test_scores.shape == curve.train_scores.shape == (2, 3)


def test_display(pyplot):
    model = DecisionTreeClassifier()
    display = TuningCurveDisplay.from_estimator(
        model, *IRIS, param_name="max_leaf_nodes", scoring="neg_log_loss", negate_score=True, cv=3
    )
    assert isinstance(display, ValidationCurveDisplay)
    assert display.ax_.get_xlabel() == "max_leaf_nodes"
    assert display.ax_.get_ylabel() == "Log loss"
    assert [line.get_label() for line in display.lines_] == ["Train", "Test"]
    curve = tuning_curve(model, *IRIS, param_name="max_leaf_nodes", scoring="neg_log_loss", cv=3)
    assert_array_equal(display.lines_[1].get_xdata(), curve.param_range)
    assert_array_equal(display.lines_[1].get_ydata(), -curve.test_scores.mean(axis=1))
    ax = pyplot.subplots()[1]
    again = TuningCurveDisplay.from_estimator(
        model,
        *IRIS,
        param_range=[1, 2],
        ax=ax,
        score_type="test",
        std_display_style="errorbar",
        score_name="Hits",
        errorbar_kw={"color": "k"},
    )
    assert again.ax_ is ax
    assert ax.get_ylabel() == "Hits"
    assert len(again.errorbar_) == 1


def test_errors():
    with pytest.raises(ValueError, match="param_name must be one of"):
        tuning_curve(DecisionTreeClassifier(), *IRIS, param_name="min_samples_leaf")
    with pytest.raises(ValueError, match="RandomForestClassifier is none"):
        tuning_curve(RandomForestClassifier(), *IRIS)
    with pytest.raises(ValueError, match="max_depth"):
        tuning_curve(DecisionTreeClassifier(), *IRIS, param_range=[])
    for param_range in (3, "ab", [[1, 2]]):
        with pytest.raises(ValueError, match="param_range must be a list of values of max_depth"):
            tuning_curve(DecisionTreeClassifier(), *IRIS, param_range=param_range)
