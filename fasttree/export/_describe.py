"""A report on a fitted tree: the data, its size, and how good it is, in parts of _report.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals
import numpy as np
from scipy.sparse import issparse
from sklearn import metrics
from sklearn.base import is_classifier
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from fasttree.export._html import export_html
from fasttree.export._questions import column_names
from fasttree.export._report import Bars, Curves, Frame, Report, Table, Text
from fasttree.export._text import export_text
from fasttree.table._bad_cells import check_complete
from fasttree.tree._data import EncodedData
from fasttree.tree._task import without_objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.base import BaseEstimator

    from fasttree._typing import MatrixLike, TargetLike

__all__ = ["describe", "importances_of", "judge_of", "report_on"]

# What is listed of what can be long: classes of a table, curves of a chart, important features.
MAX_CLASSES, MAX_CURVES, MAX_FEATURES = 20, 8, 15
# Points of a curve, and bins of probabilities.
MAX_POINTS, N_BINS = 100, 10


def describe(
    estimator: BaseEstimator,
    X: MatrixLike,
    y: TargetLike,
    X_test: MatrixLike | None = None,
    y_test: TargetLike | None = None,
    *,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> Report:
    """Return a report on a fitted tree: its data, size, scores, errors and importances.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of one output, or a forest.
    X : array-like, sparse matrix or table of shape (n_samples, n_features)
        The rows of the fit.
    y : array-like of shape (n_samples,)
        Their targets.
    X_test : array-like, sparse matrix or table, default=None
        Rows that were held out. Errors, curves and calibration are those of these rows; without
        them of the rows of the fit, which flatter a deep tree.
    y_test : array-like, default=None
        Their targets.
    feature_names : array-like of shape (n_features,), default=None
        Names of the features; None takes those of the fit, or numbers them.
    title : str, default=None
        Title of the report; None takes the name of the estimator's class.

    Returns
    -------
    Report
        The report: print it, save it as text or HTML, or look at it in a notebook.

    Raises
    ------
    TypeError
        If the estimator is no tree and no forest.
    ValueError
        If only one of `X_test` and `y_test` is given, targets are missing or not as many as the
        rows, or the estimator has several outputs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fasttree.export import describe
    >>> from fasttree.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(X[::2], y[::2])
    >>> report = describe(tree, X[::2], y[::2], X[1::2], y[1::2])
    >>> print(report["Confusion matrix"].to_text())
             0   1   2
    true 0  25   0   0
    true 1   0  24   1
    true 2   0   3  22
    Columns are the predictions. Held-out rows.
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "feature_importances_"):
        raise TypeError(
            f"describe takes a tree or a forest, got {type(estimator).__name__}; of a search its "
            "best_estimator_, of a pipeline the last step and the rows that it reads."
        )
    if (X_test is None) != (y_test is None):
        raise ValueError("Give both X_test and y_test, or neither.")
    rows = {"training rows": (X, _targets(X, y))}
    if X_test is not None:
        rows["held-out rows"] = (X_test, _targets(X_test, y_test))
    return report_on(estimator, rows, feature_names, title)


def report_on(estimator, rows, feature_names=None, title=None):
    """Return a report on an estimator and named rows.

    Parameters
    ----------
    estimator : estimator
        As of `describe`.
    rows : dict
        X and y by the name of the rows: the baseline is that of the first, errors are of the last.
    feature_names, title
        As of `describe`.
    """
    whose = list(rows)[-1]
    names = column_names(estimator, feature_names)
    judge = judge_of(estimator, rows)
    parts = [_data(rows, judge), _size(estimator), judge.scores(), *judge.errors(whose)]
    parts.append(importances_of(estimator, names))
    parts += _pictures(estimator, *next(iter(rows.values())), feature_names, names)
    return Report(title or type(estimator).__name__, parts)


def judge_of(estimator, rows):
    """What says how good an estimator is on named rows; see `report_on`."""
    return (_Classifier if is_classifier(estimator) else _Regressor)(estimator, rows)


def _targets(X, y):
    """The targets of rows as an array of shape (n_samples,)."""
    if y is None:
        raise ValueError("y must hold the targets of the rows, got None.")
    check_complete(y)
    y = np.asarray(without_objects(y))
    if y.ndim > 1 and y.shape[1] > 1:
        raise ValueError("describe takes estimators of one output.")
    check_consistent_length(X, y)
    return y.reshape(-1)


def _data(rows, judge):
    """Rows, columns and missing values, and what the target is like."""
    lines = [["rows"], ["features"], ["missing cells"], *([name] for name in judge.summary_names)]
    for X, y in rows.values():
        n_features = X.shape[1] if hasattr(X, "shape") else len(X[0])
        cells = [len(y), n_features, _share_missing(X), *judge.summary(y)]
        for line, cell in zip(lines, cells, strict=True):
            line.append(cell)
    return Table("Data", ["", *rows], lines)


def _share_missing(X):
    """The share of cells that are missing, in words."""
    if isinstance(X, EncodedData):
        X = X.cells
    if issparse(X):
        n_missing, n_cells = np.isnan(X.data).sum(), np.prod(X.shape)
    else:
        frame = narwhals.from_native(X, pass_through=True, eager_only=True)
        if isinstance(frame, narwhals.DataFrame):
            n_missing = sum(_missing_cells(frame[name]) for name in frame.columns)
            n_cells = np.prod(frame.shape)
        else:
            cells = np.asarray(X)
            n_missing, n_cells = (np.equal(cells, None) | (cells != cells)).sum(), cells.size
    return f"{n_missing / max(1, n_cells):.2%}"


def _missing_cells(column):
    missing = column.is_null()
    return int((missing | column.is_nan() if column.dtype.is_float() else missing).sum())


def _size(estimator):
    """How large the tree is, and the parameters that are not the defaults."""
    lines = [["estimator", type(estimator).__name__]]
    tree = getattr(estimator, "tree_", None)
    if tree is not None:
        lines += [["leaves", int(tree.n_leaves)], ["nodes", int(tree.node_count)]]
        lines.append(["depth", int(tree.max_depth)])
    elif hasattr(estimator, "estimators_"):
        lines.append(["trees", len(estimator.estimators_)])
    defaults = type(estimator)().get_params()
    for name, value in estimator.get_params(deep=False).items():
        if value is not defaults.get(name) and value != defaults.get(name):
            lines.append([name, f"{value!r:.60}"])
    return Table("Tree", [], lines)


class _Classifier:
    """What a report says of a classifier.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    rows : dict
        X and y by the name of the rows; those of the fit come first.
    """

    summary_names = ("classes", "largest class")

    def __init__(self, estimator, rows):
        self.rows, self.classes = rows, estimator.classes_
        self.names = [str(name) for name in estimator.classes_]
        self.predicted = {name: estimator.predict(X) for name, (X, _) in rows.items()}
        self.shares = {name: estimator.predict_proba(X) for name, (X, _) in rows.items()}
        y = next(iter(rows.values()))[1]
        self.prior = np.array([(y == label).mean() for label in self.classes])

    def summary(self, y):
        """The cells of `summary_names` for a target."""
        labels, counts = np.unique(y, return_counts=True)
        return len(labels), f"{labels[counts.argmax()]} ({counts.max() / len(y):.1%})"

    def scores(self):
        """Scores on all rows, and those of the shares of the classes in the fit on the last."""
        columns = {}
        for name, (_, y) in self.rows.items():
            areas = [metrics.auc(*rates) for _, rates in self._roc_curves(y, self.shares[name])]
            area = float(np.mean(areas)) if areas else float("nan")
            columns[name] = (*self._scores(y, self.predicted[name], self.shares[name]), area)
            always = np.full(len(y), self.classes[self.prior.argmax()])
            baseline = (*self._scores(y, always, np.tile(self.prior, (len(y), 1))), 0.5)
        note = f"The baseline predicts the shares of the classes in the {next(iter(self.rows))}."
        if len(self.classes) > 2:
            note += " The ROC area is the mean over the classes, each against the rest."
        names = ("accuracy", "balanced accuracy", "log loss", "ROC area")
        return _score_table(names, columns, baseline, note)

    def _scores(self, y, predicted, shares):
        hits = predicted == y
        balanced = np.mean([hits[y == label].mean() for label in np.unique(y)])
        return float(hits.mean()), float(balanced), self._log_loss(y, shares)

    def _roc_curves(self, y, shares):
        """The ranked classes that are there and not everywhere, by number, with the rates of wrong
        and of right positives."""
        for k in self._ranked():
            is_class = y == self.classes[k]
            if is_class.any() and not is_class.all():
                yield k, metrics.roc_curve(is_class, shares[:, k])[:2]

    def _log_loss(self, y, shares):
        codes = np.searchsorted(self.classes, y).clip(0, len(self.classes) - 1)
        is_known = self.classes[codes] == y
        with np.errstate(divide="ignore"):
            own = np.where(is_known, shares[np.arange(len(y)), codes], 0.0)
            return float(0.0 - np.log(np.maximum(own, np.finfo(np.float64).eps)).mean())

    def errors(self, whose):
        """Confusion matrix, ranking and calibration."""
        return [self._confusion(whose), *self._ranking(whose), *self._calibration(whose)]

    def _confusion(self, whose):
        y, predicted = self.rows[whose][1], self.predicted[whose]
        shown = np.union1d(self.classes, y)
        note = "Columns are the predictions."
        if len(shown) > MAX_CLASSES:
            labels, counts = np.unique(y, return_counts=True)
            shown = np.sort(labels[np.argsort(-counts, kind="stable")[:MAX_CLASSES]])
            note += f" The {MAX_CLASSES} most frequent classes are listed."
        matrix = metrics.confusion_matrix(y, predicted, labels=shown)
        lines = [[f"true {label}", *row] for label, row in zip(shown, matrix.tolist())]
        return Table("Confusion matrix", ["", *map(str, shown)], lines, _sentence(note, whose))

    def _ranking(self, whose):
        """Areas under the curves of every class against the rest, and the curves."""
        y, shares = self.rows[whose][1], self.shares[whose]
        lines, roc, recall = [], {}, {}
        for k, (false_rate, true_rate) in self._roc_curves(y, shares):
            is_class, score = y == self.classes[k], shares[:, k]
            precision, recalled, _ = metrics.precision_recall_curve(is_class, score)
            area = metrics.average_precision_score(is_class, score)
            lines.append([self.names[k], float(metrics.auc(false_rate, true_rate)), float(area)])
            if len(roc) < MAX_CURVES:
                roc[self.names[k]] = _thinned(false_rate, true_rate)
                recall[self.names[k]] = _thinned(recalled, precision)
        if not lines:
            return
        header = ["class against the rest", "ROC area", "average precision"]
        yield Table("Ranking", header, lines, _sentence("", whose))
        labels = ("false positive rate", "true positive rate")
        yield Curves("ROC curve", labels, roc, diagonal=True)
        yield Curves("Precision and recall", ("recall", "precision"), recall)

    def _ranked(self):
        """The classes that are ranked against the rest: of two, the second."""
        n_classes = len(self.classes)
        return [1] if n_classes == 2 else np.argsort(-self.prior, kind="stable")[:MAX_CLASSES]

    def _calibration(self, whose):
        """How often the predicted class (of two: the second) is right, in bins of its share."""
        y, shares = self.rows[whose][1], self.shares[whose]
        if len(self.classes) == 2:
            share, is_right, what = shares[:, 1], y == self.classes[1], f"class {self.names[1]}"
        else:
            share, is_right = shares.max(axis=1), self.predicted[whose] == y
            what = "the predicted class"
        bins = np.searchsorted(np.linspace(0, 1, N_BINS + 1)[1:-1], share)
        counts = np.bincount(bins)
        filled = np.flatnonzero(counts)
        predicted, true = (
            np.bincount(bins, weights=of_rows)[filled] / counts[filled]
            for of_rows in (share, is_right)
        )
        lines = [[f"{p:.3f}", float(t), int(n)] for p, t, n in zip(predicted, true, counts[filled])]
        header = [f"share of {what}", "observed", "rows"]
        yield Table("Calibration", header, lines, _sentence("", whose))
        curve = {what: (predicted.tolist(), true.tolist())}
        yield Curves("Calibration curve", ("predicted", "observed"), curve, diagonal=True)


class _Regressor:
    """What a report says of a regressor; see `_Classifier`."""

    summary_names = ("mean", "deviation", "least", "median", "greatest")

    def __init__(self, estimator, rows):
        self.rows = {name: (X, y.astype(np.float64)) for name, (X, y) in rows.items()}
        self.predicted = {name: estimator.predict(X) for name, (X, _) in rows.items()}

    def summary(self, y):
        """The cells of `summary_names` for a target."""
        y = y.astype(np.float64)
        return tuple(map(float, (y.mean(), y.std(), y.min(), np.median(y), y.max())))

    def scores(self):
        """Scores on all rows, and those of the mean of the fit on the last."""
        mean, columns = next(iter(self.rows.values()))[1].mean(), {}
        for name, (_, y) in self.rows.items():
            columns[name] = self._scores(y, self.predicted[name])
            baseline = self._scores(y, np.full(len(y), mean))
        names = ("R2", "mean absolute error", "root mean squared error")
        note = f"The baseline predicts the mean of the {next(iter(self.rows))}."
        return _score_table(names, columns, baseline, note)

    def _scores(self, y, predicted):
        spread, error = ((y - y.mean()) ** 2).sum(), ((y - predicted) ** 2).sum()
        r2 = float(1 - error / spread) if spread else float("nan")
        return r2, float(np.abs(y - predicted).mean()), float(np.sqrt(error / len(y)))

    def errors(self, whose):
        """The residuals: their quantiles, and what they are by size of the prediction."""
        y, predicted = self.rows[whose][1], self.predicted[whose]
        residuals = y - predicted
        shares = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)
        quantiles = np.quantile(residuals, shares).tolist()
        lines = [[f"{share:.0%}", quantile] for share, quantile in zip(shares, quantiles)]
        note = _sentence("Quantiles of the true value less the prediction.", whose)
        yield Table("Residuals", [], lines, note)
        order = np.argsort(predicted, kind="stable")
        parts = [part for part in np.array_split(order, N_BINS) if len(part)]
        lines = [
            [
                f"{predicted[part].min():.4g} to {predicted[part].max():.4g}",
                float(residuals[part].mean()),
                float(residuals[part].std()),
                len(part),
            ]
            for part in parts
        ]
        header = ["prediction", "mean residual", "deviation", "rows"]
        yield Table("Residuals by prediction", header, lines, _sentence("", whose))
        means = [float(predicted[part].mean()) for part in parts]
        true = [float(y[part].mean()) for part in parts]
        limits = (min(means + true), max(means + true)) * 2
        labels = ("mean prediction", "mean target")
        curves = {"tenths of the rows": (means, true)}
        yield Curves("Predictions and targets", labels, curves, limits, diagonal=True)


def _score_table(names, columns, baseline, note):
    """Scores in lines, rows in columns, those of the baseline last."""
    lines = [list(line) for line in zip(names, *columns.values(), baseline)]
    return Table("Scores", ["", *columns, "baseline"], lines, note)


def _sentence(note, whose):
    """A note that says which rows it is about."""
    return f"{note} {whose[0].upper()}{whose[1:]}.".strip()


def _thinned(x, y):
    """At most so many points of a curve, its ends among them."""
    at = np.unique(np.linspace(0, len(x) - 1, min(len(x), MAX_POINTS)).round().astype(np.intp))
    return x[at].tolist(), y[at].tolist()


def importances_of(estimator, names):
    """Return the largest importances of a fitted estimator as bars."""
    shares = estimator.feature_importances_
    shown = np.argsort(-shares, kind="stable")[:MAX_FEATURES]
    shown = shown[: max(1, int((shares[shown] > 0).sum()))]
    note = "Share of each feature in the decrease of impurity."
    return Bars("Importances", [names[j] for j in shown], shares[shown].tolist(), note)


def _pictures(estimator, X, y, feature_names, names):
    """The top of a tree as text, and the whole of it as a page; of a forest nothing."""
    if not hasattr(estimator, "tree_"):
        return
    yield Text("Top of the tree", export_text(estimator, feature_names=names, max_depth=2))
    page = export_html(estimator, X, y, feature_names=feature_names)
    yield Frame("The tree", str(page))
