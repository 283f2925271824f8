"""Scores of cut trees on validation rows, by scikit-learn's scorers.

The common scorers are functions of sums over leaves, of their order or of the rows' errors, and
those of all settings come from one pass (see _tuning.pyx). Any other scorer is called on an
estimator with the cut tree, once per tree that differs. A common scorer whose special cases matter
(a class without a row, weights that sum to zero, a constant target) is called as well, so that its
warnings and errors are scikit-learn's.
"""

import numpy as np
import sklearn
from sklearn.base import is_regressor
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import process_routing

from fasttree._sklearn_compat import (
    BaseScorer,
    MultimetricScorer,
    PassthroughScorer,
    check_response_method,
    score_estimator,
)
from fasttree._warnings import warn_user
from fasttree.tree.pruning._class_scores import CLASS_SCORES
from fasttree.tree.pruning._measures import FromSums
from fasttree.tree.pruning._number_scores import NUMBER_SCORES

__all__ = ["check_scorer", "is_routing", "named_scorers", "score_cuts", "warn_of_predictions"]

# Below this number of predictions nobody waits.
_FEW_PREDICTIONS = 100


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
    for one in named_scorers(scorer).values():
        if isinstance(one, BaseScorer):
            try:
                check_response_method(estimator, one._response_method)
            except AttributeError as error:
                raise ValueError(
                    f"The scorer {one!r} needs {one._response_method}, which "
                    f"{type(estimator).__name__} does not have."
                ) from error


def warn_of_predictions(scorer, n_trees):
    """Warn if a scorer needs a prediction per tree and there are many.

    Parameters
    ----------
    scorer : callable
    n_trees : int
        Number of trees that the settings cut, counted once per set of rows.
    """
    tables = {**CLASS_SCORES, **NUMBER_SCORES}
    called = [
        name
        for name, one in named_scorers(scorer).items()
        if not isinstance(one, PassthroughScorer) and _entry(one, tables) is None
    ]
    if called and n_trees > _FEW_PREDICTIONS:
        which = "The scorer needs" if called == [""] else f"{', '.join(called)}: these scorers need"
        warn_user(
            f"{which} a prediction for every tree that differs, up to {n_trees} of them. The "
            "user guide lists the scores of all settings that come from one pass."
        )


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
    scorers = named_scorers(scorer)
    scores, n_leaves = _scores_in_passes(
        rows, settings, scorers, _routed(scorer, scorers, score_params)
    )
    missing = {name for name in scorers if name not in scores or np.isnan(scores[name]).any()}
    if missing:
        members = np.arange(len(settings))
        if missing <= scores.keys():
            members = np.flatnonzero(np.any([np.isnan(scores[name]) for name in missing], axis=0))
        called = _scores_by_call(
            rows, settings, members, with_setting, _only(scorer, missing), score_params, error_score
        )
        if "" in scorers and isinstance(called, dict):  # a function that returns several scores
            return called, n_leaves
        for name in missing:
            column = scores.setdefault(name, np.full(len(settings), np.nan))
            column[members] = called[name] if isinstance(called, dict) else called
    if "" in scorers:
        return scores[""], n_leaves
    return {name: scores[name] for name in scorers}, n_leaves


def named_scorers(scorer):
    """Return the scorers by name; the name of a single one is empty."""
    return scorer._scorers if isinstance(scorer, MultimetricScorer) else {"": scorer}


def _only(scorer, names):
    """Those of several scorers that are named. With metadata routing all, for a part of them
    refuses what it did not ask for."""
    if not isinstance(scorer, MultimetricScorer) or is_routing():
        return scorer
    chosen = {name: one for name, one in scorer._scorers.items() if name in names}
    return MultimetricScorer(scorers=chosen, raise_exc=scorer._raise_exc)


def is_routing():
    """Whether scikit-learn routes metadata to those who ask for it."""
    return sklearn.get_config()["enable_metadata_routing"]


def _routed(scorer, scorers, params):
    """The keyword arguments of each scorer."""
    if "" in scorers:
        return {"": params}
    if is_routing():
        routed = process_routing(scorer, "score", **params)
        return {name: routed[name].score for name in scorers}
    unweighted = {name: value for name, value in params.items() if name != "sample_weight"}
    return {
        name: params if one._accept_sample_weight() else unweighted for name, one in scorers.items()
    }


def _scores_by_call(rows, settings, members, with_setting, scorer, score_params, error_score):
    """Scores of some settings from a call of the scorer per tree, or per setting if it may look at
    parameters."""
    looks_at_tree_only = isinstance(scorer, (BaseScorer, MultimetricScorer, PassthroughScorer))
    known, scores = {}, []
    for i in members.tolist():
        mask = rows.cuts.mask(settings[i : i + 1])
        key = np.packbits(mask).tobytes() if looks_at_tree_only else i
        if key not in known:
            cut = rows.cut(mask, with_setting(i))
            known[key] = score_estimator(
                cut, rows.original_X, rows.raw_y, scorer, score_params, error_score
            )
        scores.append(known[key])
    if isinstance(scores[0], dict):
        return {name: np.array([score[name] for score in scores]) for name in scores[0]}
    return np.array(scores, dtype=np.float64)


def _scores_in_passes(rows, settings, scorers, params):
    """Scores that need no prediction, by name, and numbers of leaves.

    A scorer that has to be called is not among them, and a score is NaN if its scorer has to be
    called for that setting.
    """
    measures = {}
    if rows.is_plain and _predicts_from_tree(rows.estimator):
        measures = {name: _measure(rows, one, params[name]) for name, one in scorers.items()}
    one = np.broadcast_to([1.0, 0.0], (1, rows.tree.node_count, 2))
    quantities, parts, start = [one], {}, 1
    for name, (made, _) in measures.items():
        if isinstance(made, FromSums):
            added = _finite(made.quantities)
            quantities.append(added)
            parts[name] = slice(start, start := start + len(added))
    sums = rows.cuts.sums(settings, np.concatenate(quantities)).T
    scores = {}
    for name, (made, sign) in measures.items():
        if isinstance(made, FromSums):
            found, n_channels = sums[parts[name]], len(made.quantities)
            scores[name] = sign * made.finish(found[:n_channels])
            scores[name][(found[n_channels:] > 0).any(axis=0)] = np.nan
        elif made is not None:
            scores[name] = sign * made.score(rows.cuts, settings)
    return scores, sums[0].astype(np.int64)


def _finite(quantities):
    """The quantities if all are finite; else with zeros, and a channel that counts what is not."""
    is_finite = np.isfinite(quantities).all(axis=(0, 2))
    if is_finite.all():
        return quantities
    lost = np.zeros((1, *quantities.shape[1:]))
    lost[0, :, 0] = ~is_finite
    return np.concatenate([np.where(is_finite[:, None], quantities, 0.0), lost])


def _predicts_from_tree(estimator):
    """Whether predictions are the tree's values: no subclass has put in its own."""
    methods = [
        getattr(type(estimator), name, None) for name in ("predict", "predict_proba", "score")
    ]
    return all(
        method is None or method.__module__.startswith(("fasttree.tree.", "sklearn.base"))
        for method in methods
    )


def _measure(rows, scorer, params):
    """How a scorer's scores are had without predicting, or None, and their sign."""
    if isinstance(scorer, PassthroughScorer):
        if params and is_routing() and not rows.stands_alone:
            return None, 1  # the pipeline asks its steps who wants them
        scorer = _OWN_SCORE[rows.is_classifier]
    entry = _entry(scorer, CLASS_SCORES if rows.is_classifier else NUMBER_SCORES)
    if entry is None or not params.keys() <= {"sample_weight"}:
        return None, 1
    make, response, _ = entry
    try:
        method = check_response_method(rows.estimator, scorer._response_method)
    except AttributeError:
        return None, 1
    weight = params.get("sample_weight")
    checked = _checked_weight(weight, rows.y)
    if method.__name__ != response or (weight is not None and checked is None):
        return None, 1
    return make(rows, checked, **scorer._kwargs), scorer._sign


def _entry(scorer, scores):
    """The entry of a scorer's function among the scores; None if it or an option is not known."""
    if not isinstance(scorer, BaseScorer):
        return None
    entry = scores.get(scorer._score_func)
    return entry if entry is not None and scorer._kwargs.keys() <= entry[2] else None


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


# The score of estimators themselves, by whether they classify.
_OWN_SCORE = {True: get_scorer("accuracy"), False: get_scorer("r2")}
