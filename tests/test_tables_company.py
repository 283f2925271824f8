"""Tables within scikit-learn, their targets, and which columns are categories."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from fasttree.tree import DecisionTreeClassifier, best_split, feature_scores
from reference.tables import example
from reference.trees import assert_same

# ---- within scikit-learn


def test_composition():
    frame, y = example()
    classifier = DecisionTreeClassifier(max_depth=5)
    assert cross_val_score(classifier, frame, y, cv=3).mean() > 0.6
    bagging = BaggingClassifier(classifier, n_estimators=5, random_state=0)
    assert (
        bagging.fit(frame.astype(object).to_numpy(), y).score(frame.astype(object).to_numpy(), y)
        > 0.7
    )
    numbers = frame[["size", "count"]].fillna(0)
    selected = make_pipeline(SelectKBest(feature_scores, k=1), classifier).fit(numbers, y)
    assert selected[0].get_support().sum() == 1
    assert classifier.__sklearn_tags__().input_tags.categorical


def test_scores_of_a_frame():
    frame, y = example()
    scores = feature_scores(frame, y)
    assert list(np.argsort(scores)[-2:]) in ([2, 3], [3, 2])
    assert best_split(frame["color"], y).labels is not None
    assert best_split(pl.Series(frame["color"]), y).score == scores[2]
    assert best_split(frame["color"].tolist(), y).score == scores[2]
    with pytest.raises(ValueError, match="one column"):
        best_split(np.zeros((2, 2)), [0, 1])
    with pytest.raises(ValueError, match="criterion must be one of"):
        best_split([1.0, 2.0], [0, 1], criterion="ginny")


# ---- columns of categories


@pytest.mark.parametrize(
    ("chosen", "match"),
    [
        ([5], r"\[0, n_features - 1\]"),
        ([-1], r"\[0, n_features - 1\]"),
        ([True, False], "boolean mask"),
        (["hue"], "does not have: \\['hue'\\]"),
        ([0.5], "bool, int or str"),
    ],
)
def test_wrong_categorical_features(chosen, match):
    frame, y = example()
    with pytest.raises(ValueError, match=match):
        DecisionTreeClassifier(categorical_features=chosen).fit(frame, y)


def test_names_need_a_frame_and_labels_a_dense_table():
    with pytest.raises(ValueError, match="X has none"):
        DecisionTreeClassifier(categorical_features=["a"]).fit([["u"], ["v"]], [0, 1])
    with pytest.raises(ValueError, match="0 sample"):
        DecisionTreeClassifier().fit(pd.DataFrame({"a": pd.Series([], dtype=object)}), [])
    for kwargs in ({"categorical_features": ["a"]}, {"categorical_split": "both"}):
        with pytest.raises(ValueError):
            DecisionTreeClassifier(**kwargs).fit(np.eye(2), [0, 1])


# ---- targets


def test_text_targets():
    frame, _ = example()
    y = frame["color"].fillna("none")
    expected = DecisionTreeClassifier().fit(frame, y.to_numpy(dtype=object))
    assert_array_equal(expected.classes_, ["blue", "green", "none", "red"])
    for target in (
        y,
        y.astype(object),
        y.astype("category"),
        pl.Series(y),
        pa.chunked_array([y]),
        list(y),
    ):
        estimator = DecisionTreeClassifier().fit(frame, target)
        assert_same(estimator.tree_, expected.tree_)
        assert_array_equal(estimator.classes_, expected.classes_)
        assert_array_equal(estimator.predict(frame), y)
    with pytest.raises(ValueError, match="NaN|None|missing"):
        DecisionTreeClassifier().fit(frame, frame["color"])


@pytest.mark.parametrize("dtype", [bool, "boolean", int, "Int64"])
@pytest.mark.parametrize("is_category", [False, True])
def test_boolean_and_integer_targets(dtype, is_category):
    frame, _ = example()
    codes = (frame["color"] == "red").to_numpy()
    y = pd.Series(codes).astype(dtype)
    estimator = DecisionTreeClassifier().fit(frame, y.astype("category") if is_category else y)
    expected = DecisionTreeClassifier().fit(frame, codes)
    assert_same(estimator.tree_, expected.tree_)
    assert_array_equal(estimator.classes_, [0, 1])
    assert_array_equal(estimator.predict(frame), codes)


def test_labels_without_an_order():
    with pytest.raises(TypeError, match="labels of y cannot be put in order"):
        DecisionTreeClassifier().fit([[1.0], [2.0]], np.array(["a", 1], dtype=object))
