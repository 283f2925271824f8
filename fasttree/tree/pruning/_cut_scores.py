"""Scores of cut trees on validation rows, by scikit-learn's scorers.

The common scorers are functions of sums over leaves, and those of all settings come from one pass
(see _tuning.pyx). Any other scorer is called on an estimator with the cut tree, once per tree
that differs. A common scorer whose special cases matter (a class without a row, weights that sum
to zero, a constant target) is called as well, so that its warnings and errors are scikit-learn's.
"""

from functools import cached_property
from itertools import repeat

import numpy as np
import sklearn
from sklearn.base import is_regressor
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    root_mean_squared_error,
)
from sklearn.utils.metadata_routing import process_routing

from fasttree._sklearn_compat import (
    BaseScorer,
    MultimetricScorer,
    PassthroughScorer,
    check_response_method,
    score_estimator,
)
from fasttree.tree._validation import within_doubles
from fasttree.tree.pruning._tuning import Cuts, class_weights, path_errors, weighted_table

__all__ = ["ValidationRows", "check_scorer", "class_codes", "node_losses", "score_cuts"]


def check_scorer(estimator, scorer):
    """Raise if a scorer asks a regressor for what only classifiers have.

    Parameters
    ----------
    estimator : estimator
    scorer : callable

    Raises
    ------
    ValueError
        If the estimator lacks the method that the scorer calls.
    """
    if not is_regressor(estimator):
        return
    for one in getattr(scorer, "_scorers", {"": scorer}).values():
        if isinstance(one, BaseScorer):
            try:
                check_response_method(estimator, one._response_method)
            except AttributeError as error:
                raise ValueError(
                    f"The scorer {one!r} needs {one._response_method}, which "
                    f"{type(estimator).__name__} does not have."
                ) from error


def score_cuts(rows, settings, with_setting, scorer, score_params, error_score):
    """Score the trees that the settings cut from a fitted one.

    Parameters
    ----------
    rows : ValidationRows
        The rows and the estimator, fitted under limits as loose as any of the settings.
    settings : ndarray of shape (n_settings,), dtype=SETTING_DTYPE
        The limits of each tree.
    with_setting : callable
        ``with_setting(i)`` returns the parameters of setting i.
    scorer : callable
        A scorer, or several in scikit-learn's multimetric one.
    score_params : dict
        Keyword arguments of the scorer.
    error_score : "raise" or float
        Score where a scorer fails.

    Returns
    -------
    scores : ndarray of shape (n_settings,), or dict of str to such arrays
        The scores, by name if there are several.
    n_leaves : ndarray of shape (n_settings,), dtype=int64
        Number of leaves of each tree.
    """
    found = _scores_from_sums(rows, settings, scorer, score_params)
    if found is not None:
        return found
    scores = _scores_by_call(rows, settings, with_setting, scorer, score_params, error_score)
    return scores, rows.cuts.n_leaves(settings)


@within_doubles
def node_losses(estimator, X, y, sample_weight=None):
    """Return the error of each node on the rows that pass through it.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    X, y : array-like
        Validation rows.
    sample_weight : ndarray of shape (n_samples,), dtype=float64, or None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (node_count, 2), dtype=float64
        Weight of wrong classes, summed over outputs, or sum of absolute errors with the
        absolute_error criterion and of squared errors else; wide numbers.
    """
    inner = estimator._tree_estimator()
    tree, leaves, y = inner.tree_, estimator.apply(X), np.asarray(y)
    y = y.reshape(len(y), -1)
    if y.shape[1] != tree.n_outputs:
        raise ValueError(f"y has {y.shape[1]} outputs, but fit saw {tree.n_outputs}.")
    if hasattr(inner, "classes_"):
        classes = inner.classes_ if tree.n_outputs > 1 else [inner.classes_]
        weights = [
            class_weights(tree, leaves, class_codes(y[:, k], classes[k]), sample_weight)
            for k in range(tree.n_outputs)
        ]
        labels = np.argmax(tree.value, axis=2)
        is_wrong = labels[:, :, None] != np.arange(tree.max_n_classes)
        table = is_wrong.reshape(tree.node_count, -1).astype(np.float64)
    else:
        y = y.astype(np.float64)
        if not np.isfinite(y).all():
            raise ValueError("The validation targets must be finite numbers.")
        squared = inner._criterion_type().squares_errors
        weights = [
            path_errors(tree, leaves, column, k, squared, sample_weight)[:, None]
            for k, column in enumerate(np.ascontiguousarray(y.T))
        ]
        table = np.ones((tree.node_count, tree.n_outputs))
    return weighted_table(np.concatenate(weights, axis=1), table)


def _scores_by_call(rows, settings, with_setting, scorer, score_params, error_score):
    """Scores from a call of the scorer per tree, or per setting if it may look at parameters."""
    looks_at_tree_only = isinstance(scorer, (BaseScorer, MultimetricScorer, PassthroughScorer))
    known, scores = {}, []
    for i in range(len(settings)):
        mask = rows.cuts.mask(settings[i : i + 1])
        key = np.packbits(mask).tobytes() if looks_at_tree_only else i
        if key not in known:
            cut = rows.estimator._cut(rows.tree, mask, with_setting(i), copy=True)
            known[key] = score_estimator(
                cut, rows.original_X, rows.raw_y, scorer, score_params, error_score
            )
        scores.append(known[key])
    if isinstance(scores[0], dict):
        return {name: np.array([score[name] for score in scores]) for name in scores[0]}
    return np.array(scores, dtype=np.float64)


def _scores_from_sums(rows, settings, scorer, score_params):
    """Scores and numbers of leaves from one pass; None if a scorer has to be called."""
    if not _predicts_from_tree(rows.estimator):
        return None
    scorers = {"score": scorer}
    params = {"score": score_params}
    if isinstance(scorer, MultimetricScorer):
        scorers = scorer._scorers
        params = _routed(scorer, score_params)
    metrics = {name: _metric(rows, one, params[name]) for name, one in scorers.items()}
    if any(metric is None for metric in metrics.values()):
        return None
    one = np.broadcast_to([1.0, 0.0], (1, rows.tree.node_count, 2))
    quantities = np.concatenate([*(quantity for quantity, _ in metrics.values()), one])
    if not np.isfinite(quantities).all():
        return None
    sums = rows.cuts.sums(settings, quantities)
    scores, start = {}, 0
    for name, (quantity, finish) in metrics.items():
        scores[name] = finish(sums[:, start : start + len(quantity)].T)
        start += len(quantity)
    n_leaves = sums[:, -1].astype(np.int64)
    return (scores if isinstance(scorer, MultimetricScorer) else scores["score"]), n_leaves


def _routed(scorer, params):
    """The keyword arguments of each of several scorers."""
    if sklearn.get_config()["enable_metadata_routing"]:
        routed = process_routing(scorer, "score", **params)
        return {name: routed[name].score for name in scorer._scorers}
    unweighted = {name: value for name, value in params.items() if name != "sample_weight"}
    return {
        name: params if one._accept_sample_weight() else unweighted
        for name, one in scorer._scorers.items()
    }


def _predicts_from_tree(estimator):
    """Whether predictions are the tree's values: no subclass has put in its own."""
    methods = [
        getattr(type(estimator), name, None) for name in ("predict", "predict_proba", "score")
    ]
    return all(
        method is None or method.__module__.startswith(("fasttree.tree.", "sklearn.base"))
        for method in methods
    )


def _metric(rows, scorer, params):
    """Return what a scorer adds up over leaves and what it makes of the sums, or None.

    Returns
    -------
    quantities : ndarray of shape (n_channels, node_count, 2), dtype=float64
        What each node contributes as a leaf; wide numbers.
    finish : callable
        Makes scores of shape (n_settings,) of the sums, shape (n_channels, n_settings).
    """
    if not rows.is_plain or not params.keys() <= {"sample_weight"}:
        return None
    if isinstance(scorer, PassthroughScorer):
        score_func = accuracy_score if rows.is_classifier else r2_score
        sign, options = 1, {}
    elif isinstance(scorer, BaseScorer):
        score_func, sign, options = scorer._score_func, scorer._sign, scorer._kwargs
    else:
        return None
    make = (_OF_CLASSES if rows.is_classifier else _OF_NUMBERS).get(score_func)
    if make is None or not options.keys() <= _OPTIONS[make]:
        return None
    weight = params.get("sample_weight")
    checked = _checked_weight(weight, rows.y)
    if weight is not None and checked is None:
        return None
    found = make(rows, checked, **options)
    if found is None:
        return None
    quantities, finish = found
    return quantities, lambda sums: sign * finish(sums)


def _checked_weight(weight, y):
    """Return plain weights as float64; None if there are none, or if they are not plain."""
    if weight is None:
        return None
    weight = np.asarray(weight)
    if weight.dtype.kind not in "fiub" or weight.shape != y.shape[:1]:
        return None
    weight = weight.astype(np.float64)
    if not (np.isfinite(weight).all() and weight.size and weight.min() >= 0 < weight.sum()):
        return None
    return np.ascontiguousarray(weight)


class ValidationRows:
    """Validation rows dropped down a fitted tree.

    Parameters
    ----------
    estimator : estimator
    X, y : array-like
    original : callable or None, default=None
        Returns the rows as the user passed them, if X is encoded.

    Attributes
    ----------
    is_plain : bool
        Whether the one pass can read the rows. If not, the scorers say what is wrong.
    codes : ndarray of shape (n_samples,), dtype=int64, or None
        Positions of the rows' classes, -1 for a class that the tree does not know. None in
        regression, with several outputs, or if the classes cannot be compared.
    """

    def __init__(self, estimator, X, y, original=None):
        inner = estimator._tree_estimator()
        self.estimator, self.X, self.raw_y = estimator, X, y
        self.tree = inner.tree_
        self.is_classifier = hasattr(inner, "classes_")
        self.classes = inner.classes_ if self.is_classifier else None
        self.codes = None
        self.y = np.asarray(y)
        self.is_plain = self._read_targets() and self._find_leaves()
        self._class_weights = {}
        self._original = original

    @cached_property
    def original_X(self):
        return self.X if self._original is None else self._original()

    @cached_property
    def cuts(self):
        return Cuts(self.tree)

    def _read_targets(self):
        """Whether the targets are of the kind that the passes read."""
        y, n_outputs = self.y, self.tree.n_outputs
        if y.shape[:1] in ((), (0,)):
            return False
        if self.is_classifier:
            if y.ndim != 1 or n_outputs != 1:
                return False
            self.codes = class_codes(y, self.classes)
            return self.codes is not None
        if y.dtype.kind not in "fiu" or y.ndim > 2 or y.size != len(y) * n_outputs:
            return False
        self.y = np.ascontiguousarray(y, dtype=np.float64).reshape(len(y), n_outputs)
        return bool(np.isfinite(self.y).all())

    def _find_leaves(self):
        """Whether X can be predicted; if not, the scorer says what is wrong."""
        try:
            self.leaves = self.estimator.apply(self.X)
        except (TypeError, ValueError):
            return False
        return len(self.leaves) == len(self.y)

    # ---- classes

    @cached_property
    def labels(self):
        """The class that each node predicts."""
        return np.argmax(self.tree.value[:, 0], axis=1)

    def class_weights(self, weight):
        """Weight of each class at each node, as wide numbers."""
        key = None if weight is None else weight.tobytes()
        if key not in self._class_weights:
            self._class_weights[key] = class_weights(self.tree, self.leaves, self.codes, weight)
        return self._class_weights[key]

    def totals(self, weight):
        """Weight of each class among the rows; None unless every class has some, and no row
        another."""
        if self.codes.min() < 0:
            return None
        totals = np.bincount(self.codes, weight, minlength=len(self.classes)).astype(np.float64)
        return totals if totals.all() else None

    # ---- numbers

    def errors(self, weight, squared):
        """Sums of errors at each node, a channel per output."""
        return np.array(
            [
                path_errors(self.tree, self.leaves, np.ascontiguousarray(y), k, squared, weight)
                for k, y in enumerate(self.y.T)
            ]
        )


def class_codes(y, classes):
    """Return positions of labels among the classes, -1 for others; None if they do not compare."""
    if y.dtype == object:
        position = {label: code for code, label in enumerate(classes.tolist())}
        return np.fromiter(map(position.get, y.tolist(), repeat(-1)), np.int64, len(y))
    try:
        codes = np.searchsorted(classes, y)
    except TypeError:
        return None
    codes[codes == len(classes)] = 0
    return np.where(classes[codes] == y, codes, -1).astype(np.int64)


# ---- scores of classes


def _at_label(rows, weight):
    """Weight, at each node, of the rows whose class it predicts."""
    of_classes = rows.class_weights(weight)
    return of_classes[np.arange(len(of_classes)), rows.labels]


def _accuracy(rows, weight):
    total = len(rows.y) if weight is None else weight.sum()
    return _at_label(rows, weight)[None], lambda sums: sums[0] / total


def _balanced_accuracy(rows, weight):
    """Each class's hits are a channel of their own: recalls are averaged as scikit-learn does."""
    totals = rows.totals(weight)
    if totals is None:
        return None
    hits = _by_label(rows, _at_label(rows, weight))
    return hits, lambda sums: np.mean(sums / totals[:, None], axis=0)


def _by_label(rows, quantity):
    """A channel per class: the quantity of the nodes that predict it."""
    is_label = rows.labels == np.arange(len(rows.classes))[:, None]
    return np.where(is_label[:, :, None], quantity, 0.0)


def _f1(rows, weight, average="binary", pos_label=1):
    totals = rows.totals(weight)
    if totals is None or average not in ("binary", "micro", "macro", "weighted"):
        return None
    n_classes = len(rows.classes)
    if average == "binary" and n_classes != 2:
        return None
    if n_classes <= 2 and pos_label is not None and pos_label not in rows.classes.tolist():
        return None
    table = np.ones((rows.tree.node_count, n_classes))
    predicted = weighted_table(rows.class_weights(weight), table)
    quantities = np.concatenate(
        [_by_label(rows, _at_label(rows, weight)), _by_label(rows, predicted)]
    )

    def finish(sums):
        hits, predicted = sums[:n_classes], sums[n_classes:]
        if average == "micro":
            return 2 * hits.sum(axis=0) / (totals.sum() + predicted.sum(axis=0))
        scores = 2 * hits / (totals[:, None] + predicted)
        if average == "binary":
            return scores[np.flatnonzero(rows.classes == pos_label)[0]]
        return np.average(scores, axis=0, weights=totals if average == "weighted" else None)

    return quantities, finish


def _probabilities(rows):
    """What the scorers see of predict_proba: with two classes, the second one's column."""
    probabilities = rows.tree.value[:, 0, : len(rows.classes)]
    if len(rows.classes) == 2:
        return np.column_stack([1 - probabilities[:, 1], probabilities[:, 1]])
    return probabilities


def _mean_loss(rows, weight, loss):
    """The mean of a loss that a table gives for each node and class."""
    totals = rows.totals(weight)
    if totals is None or len(rows.classes) < 2:
        return None
    quantity = weighted_table(rows.class_weights(weight), np.ascontiguousarray(loss))
    total = len(rows.y) if weight is None else weight.sum()
    return quantity[None], lambda sums: sums[0] / total


def _log_loss(rows, weight):
    eps = np.finfo(np.float64).eps
    return _mean_loss(rows, weight, -np.log(np.clip(_probabilities(rows), eps, 1 - eps)))


def _brier(rows, weight):
    if len(rows.classes) == 2 and rows.classes.dtype.kind in "OUST":
        return None  # scikit-learn asks for the positive label
    p = _probabilities(rows)
    squares = p**2
    others = squares.sum(axis=1, keepdims=True) - squares
    if len(rows.classes) == 2:  # exact where the difference above is not
        others = squares[:, ::-1]
    loss = others + (1 - p) ** 2
    return _mean_loss(rows, weight, loss * (0.5 if len(rows.classes) < 3 else 1.0))


# ---- scores of numbers


def _mean_error(rows, weight, squared, root=False):
    total = len(rows.y) if weight is None else weight.sum()

    def finish(sums):
        means = sums / total
        return np.mean(np.sqrt(means) if root else means, axis=0)

    return rows.errors(weight, squared), finish


def _absolute_error(rows, weight):
    return _mean_error(rows, weight, squared=False)


def _squared_error(rows, weight):
    return _mean_error(rows, weight, squared=True)


def _root_squared_error(rows, weight):
    return _mean_error(rows, weight, squared=True, root=True)


def _r2(rows, weight):
    if len(rows.y) < 2:
        return None
    w = np.ones(len(rows.y)) if weight is None else weight
    deviations = rows.y - np.average(rows.y, axis=0, weights=weight)
    total = np.sum(w[:, None] * deviations**2, axis=0)
    if not total.all():
        return None
    return rows.errors(weight, squared=True), lambda sums: np.mean(
        1 - sums / total[:, None], axis=0
    )


_OF_CLASSES = {
    accuracy_score: _accuracy,
    balanced_accuracy_score: _balanced_accuracy,
    brier_score_loss: _brier,
    f1_score: _f1,
    log_loss: _log_loss,
}
_OF_NUMBERS = {
    mean_absolute_error: _absolute_error,
    mean_squared_error: _squared_error,
    r2_score: _r2,
    root_mean_squared_error: _root_squared_error,
}
# Options of a scorer that the functions above read; others leave it to scikit-learn.
_OPTIONS: dict = {make: set() for make in (*_OF_CLASSES.values(), *_OF_NUMBERS.values())}
_OPTIONS[_f1] = {"average", "pos_label"}
