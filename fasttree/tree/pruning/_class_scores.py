"""Scores of classes and of their probabilities, for all cut trees at once.

Scores of labels are functions of two sums per class: the weight that is predicted right, and all
that is predicted. Losses of probabilities are sums themselves. Areas under curves rank the leaves.
"""

from functools import partial
from itertools import permutations

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    d2_brier_score,
    d2_log_loss_score,
    f1_score,
    fbeta_score,
    jaccard_score,
    log_loss,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
    top_k_accuracy_score,
)

from fasttree._warnings import warn_user
from fasttree.tree.pruning._measures import FromLeaves, FromSums
from fasttree.tree.pruning._tuning import weighted_table

__all__ = ["CLASS_SCORES"]

# A sum of this share of the whole weight is what rounding has left of zero.
_NOTHING = 1e-25


# ---- labels


def _at_label(rows, weight):
    """Weight, at each node, of the rows whose class it predicts."""
    of_classes = rows.class_weights(weight)
    return of_classes[np.arange(len(of_classes)), rows.labels]


def _by_label(rows, quantity):
    """A channel per class: the quantity of the nodes that predict it."""
    is_label = rows.labels == np.arange(len(rows.classes))[:, None]
    return np.where(is_label[:, :, None], quantity, 0.0)


def _total(rows, weight):
    return len(rows.y) if weight is None else weight.sum()


def _accuracy(rows, weight):
    total = _total(rows, weight)
    return FromSums(_at_label(rows, weight)[None], lambda sums: sums[0] / total)


def _balanced_accuracy(rows, weight):
    """Each class's hits are a channel of their own: recalls are averaged as scikit-learn does."""
    totals = rows.totals(weight)
    if totals is None:
        return None
    held = totals > 0
    hits = _by_label(rows, _at_label(rows, weight))[held]
    return FromSums(hits, lambda sums: np.mean(sums / totals[held, None], axis=0))


def _of_labels(rows, weight, score):
    """A function of the weights of hits and predictions, shape (n_classes, n_settings), and of the
    rows, shape (n_classes, 1)."""
    totals = rows.totals(weight)
    if totals is None or not (totals.all() or weight is None or weight.all()):
        return None  # a class whose rows have no weight is a class all the same
    n_classes = len(totals)
    predicted = weighted_table(
        rows.class_weights(weight), np.ones((rows.tree.node_count, n_classes))
    )
    quantities = np.concatenate(
        [_by_label(rows, _at_label(rows, weight)), _by_label(rows, predicted)]
    )

    def finish(sums):
        sums = np.where(sums > _NOTHING * totals.sum(), sums, 0.0)
        return score(sums[:n_classes], sums[n_classes:], totals[:, None])

    return FromSums(quantities, finish)


def _matthews(rows, weight):
    def score(hits, predicted, totals):
        total = predicted.sum(axis=0)
        covariance = hits.sum(axis=0) * total - np.sum(totals * predicted, axis=0)
        variances = (total**2 - np.sum(predicted**2, axis=0)) * (
            total**2 - np.sum(totals**2, axis=0)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(variances == 0, 0.0, covariance / np.sqrt(variances))

    return _of_labels(rows, weight, score)


def _share(name, fraction, rows, weight, average="binary", pos_label=1, zero_division="warn"):
    """A score that is a fraction per class, averaged; `fraction` returns numerator and
    denominator."""
    n_classes = len(rows.classes)
    if average not in ("binary", "micro", "macro", "weighted") or (
        average == "binary" and not (n_classes == 2 and np.all(rows.totals(weight)))
    ):
        return None
    if not _is_label(rows, pos_label) or zero_division not in ("warn", 0, 1):
        return None
    if average != "binary" and pos_label not in (None, 1):
        return None

    def score(hits, predicted, totals):
        if average == "binary":
            place = [rows.classes.tolist().index(pos_label)]
            hits, predicted, totals = hits[place], predicted[place], totals[place]
        numerator, denominator = fraction(hits, predicted, totals)
        is_present = (totals > 0) | (predicted > 0)
        if average == "micro":
            numerator, denominator = numerator.sum(axis=0), denominator.sum(axis=0)
            is_present = is_present.any(axis=0)
        is_undefined = denominator == 0
        if zero_division == "warn" and (is_undefined & is_present).any():
            warn_user(
                f"{name} is undefined for trees that predict a class for no row, or for classes "
                "without rows; it is set to 0 there. `zero_division` controls this.",
                UndefinedMetricWarning,
            )
        undefined = 0.0 if zero_division == "warn" else float(zero_division)
        scores = np.where(
            is_undefined, undefined, numerator / np.where(is_undefined, 1, denominator)
        )
        if average == "micro":
            return scores
        weights = np.broadcast_to(totals, scores.shape) if average == "weighted" else is_present
        return np.average(scores, axis=0, weights=weights)

    return _of_labels(rows, weight, score)


def _is_label(rows, pos_label):
    """Whether the scorer accepts the label; of more than two classes it need not be one."""
    return len(rows.classes) > 2 or pos_label is None or pos_label in rows.classes.tolist()


def _f_beta(rows, weight, beta, **options):
    if not 0 < beta < np.inf:
        return None
    square = beta**2

    def fraction(hits, predicted, totals):
        return (1 + square) * hits, square * totals + predicted

    return _share("F-score", fraction, rows, weight, **options)


_f1 = partial(_f_beta, beta=1.0)
_precision = partial(_share, "Precision", lambda hits, predicted, totals: (hits, predicted))
_recall = partial(
    _share, "Recall", lambda hits, predicted, totals: (hits, np.broadcast_to(totals, hits.shape))
)
_jaccard = partial(
    _share, "Jaccard", lambda hits, predicted, totals: (hits, totals + predicted - hits)
)


# ---- losses of probabilities


def _probabilities(rows):
    """What the losses see: with two classes, of the second one's column."""
    if len(rows.classes) == 2:
        return np.column_stack([1 - rows.probabilities[:, 1], rows.probabilities[:, 1]])
    return rows.probabilities


def _every_class(rows, weight):
    """Weight of each class; None unless there are two and each has some, as scikit-learn wants."""
    totals = rows.totals(weight)
    return totals if totals is not None and len(totals) > 1 and totals.all() else None


def _mean_loss(rows, weight, loss, relative):
    """The mean of a loss, or the share of a constant prediction's loss that is explained.

    `loss` makes of probabilities, shape (n, n_classes), the losses of a row of each class.
    """
    totals = _every_class(rows, weight)
    p = _probabilities(rows)
    if totals is None or p.min() < 0 or p.max() > 1 or (relative and len(rows.y) < 2):
        return None
    quantity = weighted_table(rows.class_weights(weight), np.ascontiguousarray(loss(p)))
    if relative:
        whole = np.sum(totals * loss(totals[None] / totals.sum())[0])
        return FromSums(quantity[None], lambda sums: 1 - sums[0] / whole)
    total = _total(rows, weight)
    return FromSums(quantity[None], lambda sums: sums[0] / total)


def _log_loss(rows, weight, relative=False):
    eps = np.finfo(np.float64).eps
    return _mean_loss(rows, weight, lambda p: -np.log(np.clip(p, eps, 1 - eps)), relative)


def _brier(rows, weight, relative=False):
    n_classes = len(rows.classes)
    if n_classes == 2 and rows.classes.dtype.kind in "OUST":
        return None  # scikit-learn asks for the positive label

    def loss(p):
        squares = p**2
        others = squares.sum(axis=1, keepdims=True) - squares
        if n_classes == 2:  # exact where the difference above is not
            others = squares[:, ::-1]
        return (others + (1 - p) ** 2) * (0.5 if n_classes < 3 else 1.0)

    return _mean_loss(rows, weight, loss, relative)


def _top_k(rows, weight, k=2):
    totals = _every_class(rows, weight)
    n_classes = len(rows.classes)
    if totals is None or not 1 <= k < n_classes:
        return None
    if n_classes == 2:
        return _accuracy(rows, weight)
    ranked = np.argsort(rows.probabilities, axis=1, kind="mergesort")[:, ::-1]
    is_hit = np.zeros(ranked.shape)
    np.put_along_axis(is_hit, ranked[:, :k], 1.0, axis=1)
    quantity = weighted_table(rows.class_weights(weight), is_hit)
    total = _total(rows, weight)
    return FromSums(quantity[None], lambda sums: sums[0] / total)


# ---- areas under curves


def _area(rows, weight, curve, positive, negatives):
    """The area for one class against others, ranked by its probability."""

    def score(cuts, settings):
        of_classes = rows.class_weights(weight)
        if len(negatives) == 1:
            negative = of_classes[:, negatives[0]]
        else:
            is_negative = np.zeros(of_classes.shape[:2])
            is_negative[:, negatives] = 1.0
            negative = weighted_table(of_classes, is_negative)
        values = np.ascontiguousarray(rows.probabilities[:, positive])
        return cuts.areas(settings, curve, values, of_classes[:, positive], negative)

    return score


def _mean_area(areas, weights):
    """The weighted mean of areas, a list of functions of cuts and settings."""

    def score(cuts, settings):
        return np.average([area(cuts, settings) for area in areas], axis=0, weights=weights)

    return FromLeaves(score)


def _one_against_rest(rows, weight, curve, totals, average):
    if average == "weighted" and np.isclose(totals.sum(), 0):
        return None
    labels = np.arange(len(totals))
    areas = [_area(rows, weight, curve, c, labels[labels != c]) for c in labels]
    return _mean_area(areas, totals if average == "weighted" else None)


def _one_against_one(rows, totals, average):
    pairs = list(permutations(range(len(totals)), 2))
    areas = [_area(rows, None, "roc", a, [b]) for a, b in pairs]
    shares = [totals[a] + totals[b] for a, b in pairs]
    return _mean_area(areas, shares if average == "weighted" else None)


def _roc_auc(rows, weight, average="macro", multi_class="raise"):
    totals = _every_class(rows, weight)
    if totals is None or average not in ("macro", "weighted"):
        return None
    if len(totals) == 2:
        return FromLeaves(_area(rows, weight, "roc", 1, [0]))
    if not np.allclose(1, rows.probabilities.sum(axis=1)):
        return None
    if multi_class == "ovr":
        return _one_against_rest(rows, weight, "roc", totals, average)
    if multi_class == "ovo" and weight is None:
        return _one_against_one(rows, totals, average)
    return None


def _average_precision(rows, weight, average="macro", pos_label=1):
    totals = _every_class(rows, weight)
    if totals is None or average not in ("macro", "weighted") or not _is_label(rows, pos_label):
        return None
    if len(totals) > 2:
        if pos_label != 1:
            return None
        return _one_against_rest(rows, weight, "precision", totals, average)
    positive = rows.classes.tolist().index(pos_label)
    return FromLeaves(_area(rows, weight, "precision", positive, [1 - positive]))


_AVERAGED = {"average", "pos_label", "zero_division"}

# For each score its maker, the method whose results it reads, and the options that the maker knows.
CLASS_SCORES = {
    accuracy_score: (_accuracy, "predict", set()),
    balanced_accuracy_score: (_balanced_accuracy, "predict", set()),
    f1_score: (_f1, "predict", _AVERAGED),
    fbeta_score: (_f_beta, "predict", _AVERAGED | {"beta"}),
    jaccard_score: (_jaccard, "predict", _AVERAGED),
    matthews_corrcoef: (_matthews, "predict", set()),
    precision_score: (_precision, "predict", _AVERAGED),
    recall_score: (_recall, "predict", _AVERAGED),
    average_precision_score: (_average_precision, "predict_proba", {"average", "pos_label"}),
    brier_score_loss: (_brier, "predict_proba", set()),
    d2_brier_score: (partial(_brier, relative=True), "predict_proba", set()),
    d2_log_loss_score: (partial(_log_loss, relative=True), "predict_proba", set()),
    log_loss: (_log_loss, "predict_proba", set()),
    roc_auc_score: (_roc_auc, "predict_proba", {"average", "multi_class"}),
    top_k_accuracy_score: (_top_k, "predict_proba", {"k"}),
}
