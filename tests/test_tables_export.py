"""Trees of tables as texts, drawings and scikit-learn's trees."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from fasttree.tree import (
    DecisionTree,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    export_graphviz,
    export_text,
    plot_tree,
)
from reference.tables import example


def small_tree(**params):
    rows = [["red", 40, None], ["blue", 41, 1.0], ["green", 43, "x"], ["red", 44, 2.0]] * 5
    frame = pd.DataFrame(rows, columns=["color", "age", "h"])
    return DecisionTreeClassifier(**params).fit(frame, [0, 0, 1, 1] * 5), frame


def test_export_text():
    estimator, frame = small_tree()
    assert export_text(estimator) == (
        "|--- age <= 42.00\n|   |--- class: 0\n|--- age >  42.00\n|   |--- class: 1\n"
    )
    estimator.fit(frame[["color"]], [0, 0, 1, 0] * 5)
    assert export_text(estimator, show_weights=True) == (
        "|--- color in {green}\n|   |--- weights: [0.00, 5.00] class: 1\n"
        "|--- color not in {green}\n|   |--- weights: [15.00, 0.00] class: 0\n"
    )
    estimator.fit(frame[["h"]], [0, 1, 0, 1] * 5)
    assert export_text(estimator, feature_names=["height"], class_names=["no", "yes"]) == (
        "|--- height is a number\n|   |--- class: yes\n"
        "|--- height is not a number\n|   |--- class: no\n"
    )
    subset = DecisionTreeRegressor(categorical_split="subset", max_depth=1)
    subset.fit(frame[["color"]], [0.5, 1.5, 0.5, 0.5] * 5)
    assert export_text(subset) == (
        "|--- color in {green, red}\n|   |--- value: [0.50]\n"
        "|--- color not in {green, red}\n|   |--- value: [1.50]\n"
    )


def test_export_text_of_missing_values():
    for gap, left, right in ((0, " or missing", ""), (1, "", " or missing")):
        frame = pd.DataFrame({"age": [40.0, 44.0, np.nan], "s": ["a", "a", "a"]})
        estimator = DecisionTreeClassifier().fit(frame, [0, 1, gap])
        assert export_text(estimator) == (
            f"|--- age <= 42.00{left}\n|   |--- class: 0\n"
            f"|--- age >  42.00{right}\n|   |--- class: 1\n"
        )
    estimator = DecisionTreeClassifier(max_depth=1).fit([["a"], [1.0], [2.0], ["a"]], [0, 0, 1, 0])
    assert export_text(estimator).startswith("|--- feature_0 <= 1.50 or not a number\n")
    estimator = DecisionTreeClassifier(categorical_split="subset").fit(
        [["a"], [None], ["b"]], [1, 0, 1]
    )
    assert export_text(estimator).startswith("|--- feature_0 is missing\n")


def test_export_of_many_labels():
    labels = [f"label {i:02}" for i in range(30)]
    estimator = DecisionTreeRegressor(categorical_split="subset", max_depth=1)
    estimator.fit([[v] for v in labels], np.arange(30) < 13)
    assert "label 22 and 7 more}" in export_text(estimator)


def test_questions_are_wrapped_and_name_few_labels():
    labels = [f"category {i}" for i in range(40)]
    X = [[label] for label in labels]
    estimator = DecisionTreeRegressor(max_depth=1, categorical_split="subset")
    estimator.fit(X, [float(i % 2) for i in range(40)])
    assert "category 10, category 12 and 17 more}" in export_text(estimator, max_labels=3)
    dot = export_graphviz(estimator, max_labels=3)
    assert "x[0] in {category 0, category 10,\\ncategory 12 and 17 more}\\n" in dot
    assert " more}" not in export_graphviz(estimator, max_labels=20)
    boxes = plot_tree(estimator, max_labels=2)
    assert "x[0] in {category 0, category 10 and\n19 more}" not in boxes[0].get_text()
    assert max(map(len, boxes[0].get_text().split("\n"))) <= 36
    plt.close("all")


def test_export_graphviz_and_plot():
    estimator, frame = small_tree(max_depth=1)
    estimator.fit(frame[["color"]], [0, 0, 1, 0] * 5)
    dot = export_graphviz(estimator)
    assert '0 [label="color in {green}\\ngini = 0.375\\n' in dot
    assert "<=" not in dot
    quoted = DecisionTreeClassifier().fit([['"a"'], ["c"]], [0, 1])
    assert r"x[0] in {\"a\"}" in export_graphviz(quoted)
    markup = DecisionTreeClassifier().fit([["a & <b>"], ["c"]], [0, 1])
    assert "in {a &amp; &lt;b&gt;}<br/>" in export_graphviz(markup, special_characters=True)
    annotations = plot_tree(estimator)
    assert annotations[0].get_text().split("\n")[0] == "color in {green}"
    plt.close("all")


def test_export_graphviz_of_thresholds():
    estimator, _ = small_tree()
    assert "age &le; 42.0<br/>" in export_graphviz(estimator, special_characters=True)
    assert "age <= 42.0\\n" in export_graphviz(DecisionTree().fit(*_with_target(estimator)))
    with pytest.raises(ValueError, match="3 elements, got 1"):
        export_text(estimator, feature_names=["one"])


def _with_target(estimator):
    _, frame = small_tree()
    return frame, [0, 0, 1, 1] * 5


def test_to_sklearn():
    frame, y = example()
    tree = DecisionTreeClassifier().fit(frame, y)
    pipeline = tree.to_sklearn()
    assert_array_equal(pipeline.predict(frame), tree.predict(frame))
    numbers = frame[["count"]].assign(label="same")
    estimator = DecisionTreeClassifier().fit(numbers, y)
    twin = estimator.to_sklearn()
    assert_array_equal(twin[-1].tree_.threshold, estimator.tree_.threshold)
    assert_array_equal(twin.predict(numbers), estimator.predict(numbers))
