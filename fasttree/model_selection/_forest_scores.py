"""Scores of the forests that settings cut from a fitted one.

A mean over trees is no sum over leaves, so scikit-learn's scorers are called once per setting. They
ask a forest whose predictions are known: no row walks down a tree again. Functions of the user's
may look at anything, and are given the forest of the setting itself.
"""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from fasttree._sklearn_compat import BaseScorer, PassthroughScorer, score_estimator
from fasttree.ensemble._cut import CutForests
from fasttree.tree.pruning._cut_scores import is_routing, named_scorers

__all__ = ["ForestRows", "numbers_of_trees", "score_cut_forests"]


@dataclass(frozen=True)
class ForestRows:
    """Rows that a fitted forest is scored on."""

    forest: object
    X: object  # None if X is not to be had; scorers that are called then say why
    y: object
    original: object  # returns the rows as the user passed them
    put_forest: object  # puts a forest where this one stands, in a pipeline

    def leaves(self):
        """Each row's leaf in each tree; None if X cannot be predicted."""
        if self.X is None:
            return None
        try:
            return self.forest.apply(self.X).T
        except (TypeError, ValueError):
            return None


def numbers_of_trees(candidates, name, default):
    """Return the number of trees of each setting, 0 where an estimator does not take it.

    Parameters
    ----------
    candidates : iterable of dict of str to object
        Parameters of each setting.
    name : str
        What the number is called there.
    default : object
        That of settings which do not name it.

    Returns
    -------
    ndarray of shape (n_settings,), dtype=int64
    """
    wanted = [params.get(name, default) for params in candidates]
    return np.array([n if isinstance(n, Integral) and n > 0 else 0 for n in wanted])


def score_cut_forests(rows, settings, n_trees, parameters_of, scorer, score_params, error_score):
    """Score the forests that settings cut from a fitted one.

    Parameters
    ----------
    rows : ForestRows
        The rows and the forest.
    settings : ndarray of shape (n_settings,), dtype=SETTING_DTYPE
        The limits of the trees.
    n_trees : ndarray of shape (n_settings,), dtype=int64
        The numbers of trees.
    parameters_of : callable
        ``parameters_of(i)`` returns `n_estimators` and the limits of setting i as parameters.
    scorer, score_params, error_score
        As in :func:`~fasttree.tree.pruning._cut_scores.score_cuts`.

    Returns
    -------
    list of float or of dict of str to float
        For each setting a score, or several by name.
    """
    cuts, scores = CutForests(rows.forest), [None] * len(settings)
    how = (rows.y, scorer, score_params, error_score)
    is_enough = _predicts_means(rows.forest) and _reads_predictions(scorer)
    leaves = rows.leaves() if is_enough else None
    if leaves is None:
        X = rows.original()
        for i in range(len(settings)):
            forest = cuts.cut(settings[i : i + 1], parameters_of(i))
            scores[i] = score_estimator(rows.put_forest(forest), X, *how)
        return scores
    _, first, group = np.unique(settings, return_index=True, return_inverse=True)
    for number, at in enumerate(first):
        members = np.flatnonzero(group == number)
        sizes = set(n_trees[members].tolist())
        for size, means in cuts.means(leaves, settings[at : at + 1], sizes):
            score = score_estimator(cuts.predicted(means), rows.X, *how)
            for i in members[n_trees[members] == size].tolist():
                scores[i] = score
    return scores


def _predicts_means(forest):
    """Whether predictions are the trees' means: no subclass has put in its own."""
    names = ("predict", "predict_proba", "predict_log_proba", "score")
    methods = [getattr(type(forest), name, None) for name in names]
    return all(
        method is None or method.__module__.startswith(("fasttree.ensemble.", "sklearn."))
        for method in methods
    )


def _reads_predictions(scorer):
    """Whether a scorer asks for predictions of the rows and nothing else. The score of estimators
    themselves is asked of the whole pipeline where metadata is routed."""
    known = BaseScorer if is_routing() else (BaseScorer, PassthroughScorer)
    return all(isinstance(one, known) for one in named_scorers(scorer).values())
