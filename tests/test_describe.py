"""Reports on fitted trees, and the parts that reports are made of."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from browser import Browser, find_chromium
from scipy.sparse import csr_array
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from fasttree.ensemble import IsolationForest
from fasttree.export import Bars, Curves, Frame, Report, Table, Text, describe
from fasttree.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor, EncodedData


def column(table, name):
    return [row[list(table.header).index(name)] for row in table.rows]


def test_scores_of_a_classifier():
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y)
    report = describe(tree, X, y, X_test, y_test)
    shares = tree.predict_proba(X_test)
    expected = [
        tree.score(X_test, y_test),
        metrics.balanced_accuracy_score(y_test, tree.predict(X_test)),
        metrics.log_loss(y_test, shares),
        metrics.roc_auc_score(y_test, shares[:, 1]),
    ]
    np.testing.assert_allclose(column(report["Scores"], "held-out rows"), expected)
    prior = DummyClassifier(strategy="prior").fit(X, y)
    expected = [
        prior.score(X_test, y_test),
        0.5,
        metrics.log_loss(y_test, prior.predict_proba(X_test)),
        0.5,
    ]
    np.testing.assert_allclose(column(report["Scores"], "baseline"), expected)
    matrix = np.array([row[1:] for row in report["Confusion matrix"].rows])
    np.testing.assert_array_equal(matrix, metrics.confusion_matrix(y_test, tree.predict(X_test)))
    ((name, area, precision),) = report["Ranking"].rows
    assert name == "1"
    assert area == pytest.approx(metrics.roc_auc_score(y_test, shares[:, 1]))
    assert precision == pytest.approx(metrics.average_precision_score(y_test, shares[:, 1]))
    assert sum(column(report["Calibration"], "rows")) == len(y_test)


def test_scores_of_a_regressor():
    X, y = load_diabetes(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    tree = DecisionTreeRegressor(max_depth=3).fit(X, y)
    report = describe(tree, X, y, X_test, y_test)
    mean = DummyRegressor().fit(X, y)
    for who, estimator in (("held-out rows", tree), ("baseline", mean)):
        predicted = estimator.predict(X_test)
        expected = [
            metrics.r2_score(y_test, predicted),
            metrics.mean_absolute_error(y_test, predicted),
            metrics.root_mean_squared_error(y_test, predicted),
        ]
        np.testing.assert_allclose(column(report["Scores"], who), expected, atol=1e-12)
    residuals = y_test - tree.predict(X_test)
    assert [row[1] for row in report["Residuals"].rows][::6] == [residuals.min(), residuals.max()]
    assert sum(column(report["Residuals by prediction"], "rows")) == len(y_test)


def test_rows_of_the_fit_alone():
    X, y = load_iris(return_X_y=True, as_frame=True)
    report = describe(DecisionTree(max_depth=2).fit(X, y), X, y)
    assert report["Scores"].header == ["", "training rows", "baseline"]
    assert "Training rows." in report["Confusion matrix"].note
    assert report["Importances"].names[0] == "petal length (cm)"
    assert "petal length" in report["Top of the tree"].text
    assert ["max_depth", "2"] in [list(row) for row in report["Tree"].rows]


def test_area_of_several_classes():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2).fit(X[::2], y[::2])
    report = describe(tree, X[::2], y[::2], X[1::2], y[1::2])
    area = metrics.roc_auc_score(y[1::2], tree.predict_proba(X[1::2]), multi_class="ovr")
    assert column(report["Scores"], "held-out rows")[3] == pytest.approx(area)
    assert "mean over the classes" in report["Scores"].note


def test_missing_cells():
    frame = pd.DataFrame({"a": [1.0, None, 3.0, 4.0], "b": ["x", None, "", "y"]})
    y = [0, 1, 1, 0]
    floats_with_nan = pl.DataFrame({"a": [1.0, float("nan"), None, 4.0], "b": ["x", "", "z", "y"]})
    arrays = frame.astype(object).where(frame.notna(), None).to_numpy()
    for X in (frame, floats_with_nan, arrays):
        assert list(describe(DecisionTree().fit(X, y), X, y)["Data"].rows[2]) == [
            "missing cells",
            "25.00%",
        ]
    sparse = csr_array(np.array([[1.0, 0], [0, np.nan], [2, 0], [0, 0]]))
    tree = DecisionTree().fit(sparse, y)
    assert describe(tree, sparse, y)["Data"].rows[2][1] == "12.50%"


def test_classes_that_one_side_lacks():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTree().fit(X[:100], y[:100])
    report = describe(tree, X[:100], y[:100], X[60:], y[60:])
    assert np.isfinite(column(report["Scores"], "held-out rows")).all()
    one_class = describe(tree, X[:100], y[:100], X[:20], y[:20])
    assert [part.title for part in one_class.parts].count("Ranking") == 0


def test_encoded_rows():
    X, y = load_iris(return_X_y=True)
    data = EncodedData(np.where(X > 7, np.nan, X))
    tree = DecisionTree().fit(data, y)
    report = describe(tree, data[::2], y[::2], data[1::2], y[1::2])
    assert column(report["Data"], "held-out rows")[:2] == [75, 4]


def test_errors():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTree().fit(X, y)
    with pytest.raises(ValueError, match="both X_test and y_test"):
        describe(tree, X, y, X)
    both = np.column_stack([y, y])
    with pytest.raises(ValueError, match="one output"):
        describe(DecisionTree().fit(X, both), X, both)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        describe(tree, X, y[:5])
    with pytest.raises(ValueError, match="targets of the rows, got None"):
        describe(tree, X, None)
    with pytest.raises(ValueError, match="1 of 150 targets are missing"):
        describe(tree, X, [None, *y[1:]])
    for other in (GridSearchCV(tree, {}), make_pipeline(tree), IsolationForest()):
        with pytest.raises(TypeError, match="describe takes a tree or a forest, got"):
            describe(other.fit(X, y), X, y)
    with pytest.raises(KeyError):
        describe(tree, X, y)["no such part"]


NASTY = "<script>alert('x')</script>{{style}}"


def test_targets_of_objects_that_are_numbers():
    X, y = np.arange(8.0)[:, None], np.array([0, 1] * 4)
    tree = DecisionTree(max_depth=2).fit(X, y)
    assert describe(tree, X, y.astype(object)).to_text() == describe(tree, X, y).to_text()


def test_parts_are_escaped(tmp_path):
    report = Report(
        NASTY,
        [
            Table(NASTY, [NASTY], [[NASTY]], NASTY),
            Text(NASTY, NASTY),
            Bars(NASTY, [NASTY], [1.0], NASTY),
            Curves(NASTY, (NASTY, NASTY), {NASTY: ([0, 1], [0, 1])}),
            Frame(NASTY, NASTY),
        ],
    )
    page = report.to_html()
    assert "<script" not in page
    assert page.count("{{style}}") == page.count("&lt;/script&gt;") > 10
    assert NASTY in str(report)
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    report.save(tmp_path / "report.txt")
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == f"{report}\n"
    assert report._repr_html_().count("<") == 2


def test_reports_are_html_or_text(tmp_path):
    report = Report("Remark", [Text("It", "Measured twice.")])
    for name in ("r.HTM", "r.md", "r.rst", "r"):
        report.save(str(tmp_path / name))
        is_page = (tmp_path / name).read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        assert is_page == (name == "r.HTM")
    with pytest.raises(ValueError, match=r"not as '\.pdf': give a name that ends in \.html"):
        report.save(tmp_path / "r.pdf")
    assert not (tmp_path / "r.pdf").exists()


@pytest.mark.parametrize("size", [(1280, 900), (390, 800)])
def test_pages_in_a_browser(tmp_path, size):
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium is installed: set FASTTREE_CHROMIUM, or install chromium")
    X, y = load_iris(return_X_y=True)
    page = tmp_path / "report.html"
    describe(DecisionTree().fit(X, y), X, y, title=NASTY).save(page)
    browser = Browser(path, tmp_path / "profile")
    try:
        browser.open(page, size)
        assert browser.run("document.querySelectorAll('section').length") == 12
        assert browser.run("document.documentElement.scrollWidth") <= size[0]
        assert browser.requests == browser.complaints == []
    finally:
        browser.close()
