"""Drawings of trees and charts of fitted estimators."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError

from fasttree.export import ImportancesDisplay, ParetoFrontDisplay, TreeDisplay
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("with_data", [False, True])
@pytest.mark.parametrize("cls", [DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor])
def test_tree_display(cls, with_data):
    X, y = load_iris(return_X_y=True)
    tree = cls(random_state=0).fit(X, y)
    data = (X, y) if with_data else ()
    display = TreeDisplay.from_estimator(tree, *data, max_depth=2)
    depths = tree.tree_.compute_node_depths()
    assert sorted(display.texts_) == np.flatnonzero(depths <= depths.min() + 2).tolist()
    assert display.texts_[0].get_text() == "x[2] ≤ 2.45"
    display.figure_.canvas.draw()


def test_boxes_do_not_overlap():
    X, y = load_iris(return_X_y=True)
    display = TreeDisplay.from_estimator(DecisionTree().fit(X, y), max_depth=9)
    boxes = sorted(
        (round(patch.get_y(), 3), patch.get_x())
        for patch in display.ax_.patches
        if patch.get_width() > 0.9
    )
    assert len(boxes) == len(display.texts_)
    for (y0, x0), (y1, x1) in zip(boxes, boxes[1:]):
        assert y0 != y1 or x1 - x0 >= 1


def test_bars_of_a_histogram_hold_every_row():
    """The heights of a box's bars add up to the rows on each side of the line."""
    X = np.arange(20.0).reshape(-1, 1)
    y = (X[:, 0] > 14).astype(int)
    display = TreeDisplay.from_estimator(DecisionTree().fit(X, y), X, y, max_depth=0)
    start, width, n_left, _, flat, rest = display.content["histogram"][0]
    bars = np.array(flat[::2]) // 2
    assert sum(np.array(flat[1::2])[bars < n_left]) == 15
    assert sum(flat[1::2]) == 20
    assert start + n_left * width == 14.5
    assert rest == []


def test_tree_display_of_a_table():
    frame = pd.DataFrame({"place of birth or town": ["Rome", "Oslo", "Bonn", None] * 5})
    tree = DecisionTree().fit(frame, [1, 0, 0, 2] * 5)
    display = TreeDisplay.from_estimator(tree, frame, [1, 0, 0, 2] * 5)
    assert display.texts_[0].get_text() == "place of birth or town\nin {Rome}"
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["0", "1", "2"]


def test_importances_of_one_tree():
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    display = ImportancesDisplay.from_estimator(tree)
    order = np.argsort(tree.feature_importances_, kind="stable")
    assert [bar.get_width() for bar in display.bars_] == sorted(tree.feature_importances_)
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [
        X.columns[j] for j in order
    ]
    assert display.bars_.errorbar is None


def test_importances_with_spread():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    display = ImportancesDisplay.from_estimator(tree, X, y, random_state=0, max_shown=2)
    assert display.importances.shape == (4, 10)
    assert len(display.bars_) == 2
    assert display.bars_.errorbar is not None
    bag = BaggingClassifier(DecisionTreeClassifier(), n_estimators=5, random_state=0).fit(X, y)
    assert ImportancesDisplay.from_estimator(bag).importances.shape == (4, 5)
    few = BaggingClassifier(DecisionTreeClassifier(), 5, max_features=2, random_state=0).fit(X, y)
    shares = ImportancesDisplay.from_estimator(few).importances
    for drawn, share in zip(few.estimators_features_, shares.T):
        assert set(np.flatnonzero(share)) <= set(drawn)
    with pytest.raises(ValueError, match="both X and y"):
        ImportancesDisplay.from_estimator(tree, X)
    with pytest.raises(NotFittedError):
        ImportancesDisplay.from_estimator(DecisionTree())


def test_pareto_front():
    X, y = load_breast_cancer(return_X_y=True)
    tree = OptimalDecisionTreeClassifier(max_depth=2, pareto_front=True, n_thresholds=5)
    tree.fit(X[::2], y[::2])
    (line,) = ParetoFrontDisplay.from_estimator(tree).lines_
    np.testing.assert_array_equal(line.get_xdata(), tree.pareto_front_["n_leaves"])
    np.testing.assert_array_equal(line.get_ydata(), tree.pareto_front_["error"])
    _, line = ParetoFrontDisplay.from_estimator(tree, X[1::2], y[1::2]).lines_
    assert line.get_ydata()[-1] == 1 - tree.score(X[1::2], y[1::2])
    with pytest.raises(NotFittedError, match="pareto_front=True"):
        ParetoFrontDisplay.from_estimator(OptimalDecisionTreeClassifier().fit(X, y))
