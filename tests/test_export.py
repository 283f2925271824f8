"""The exporters take every estimator, and show what scikit-learn's show."""

import io

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from fasttree.ensemble import RandomForestClassifier
from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    export_graphviz,
    export_text,
    plot_tree,
)

X, y = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]

ESTIMATORS = [
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
]


@pytest.fixture(params=ESTIMATORS, ids=lambda cls: cls.__name__)
def fitted(request):
    return request.param(max_depth=2, random_state=0).fit(X, y)


def test_text(fitted):
    for options in [
        {},
        {"feature_names": NAMES, "show_weights": True, "decimals": 4, "max_depth": 1},
    ]:
        text = export_text(fitted, **options)
        assert text == sklearn.tree.export_text(fitted.to_sklearn(), **options)
        assert text.startswith("|--- ")


def test_graphviz(fitted, tmp_path):
    for options in [{}, {"feature_names": NAMES, "filled": True, "rotate": True, "node_ids": True}]:
        text = export_graphviz(fitted, **options)
        assert text == sklearn.tree.export_graphviz(fitted.to_sklearn(), None, **options)
        assert text.startswith("digraph Tree")
    out = io.StringIO()
    assert export_graphviz(fitted, out) is None
    export_graphviz(fitted, str(tmp_path / "tree.dot"))
    assert out.getvalue() == (tmp_path / "tree.dot").read_text() == export_graphviz(fitted)


def test_names_of_classes_are_those_of_the_fit():
    names = np.array(["setosa", "versicolor", "virginica"])
    tree = DecisionTree(max_depth=1).fit(X, names[y])
    assert "class = setosa" in export_graphviz(tree, class_names=True)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    assert plot_tree(tree, class_names=True)[1].get_text().endswith("class = setosa")
    pyplot.close("all")
    regressor = DecisionTreeRegressor(max_depth=1).fit(X, y)
    assert export_graphviz(regressor, class_names=True) == export_graphviz(regressor)


def test_a_bare_tree_is_no_estimator(fitted):
    with pytest.raises(TypeError, match="is not an estimator instance"):
        export_graphviz(fitted.tree_)


@pytest.mark.parametrize("export", [export_graphviz, export_text, plot_tree])
def test_a_forest_is_no_tree(export):
    forest = RandomForestClassifier(2).fit(X, y)
    with pytest.raises(TypeError, match="a forest holds some in estimators_"):
        export(forest)


def test_plot(fitted):
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2)
    options = {"feature_names": NAMES, "filled": True, "fontsize": 6}
    ours = plot_tree(fitted, ax=axes[0], **options)
    theirs = sklearn.tree.plot_tree(fitted.to_sklearn(), ax=axes[1], **options)
    assert [box.get_text() for box in ours] == [box.get_text() for box in theirs]
    assert len(ours) > fitted.tree_.node_count  # edges are labelled
    pyplot.close(figure)


@pytest.mark.parametrize("export", [export_text, export_graphviz, plot_tree])
@pytest.mark.parametrize("cls", ESTIMATORS)
def test_unfitted(export, cls):
    with pytest.raises(NotFittedError):
        export(cls())


@pytest.mark.parametrize("export", [export_text, plot_tree])
def test_not_a_tree(export):
    with pytest.raises(ValueError, match="decision_tree"):
        export(np.zeros(3))
