"""``fasttree fit`` and ``fasttree demo``: grow, say what came of it, save."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from fasttree.cli._compare import compare
from fasttree.cli._estimators import make_estimator, set_names
from fasttree.cli._files import CommandError
from fasttree.cli._notes import noted, quiet
from fasttree.cli._progress import TreesGrown
from fasttree.cli._summary import Choice, Summary
from fasttree.cli._table import split
from fasttree.export import export_html, save
from fasttree.model_selection import TrainOnceSearchCV
from fasttree.tree.pruning._tunable import default_grid

if TYPE_CHECKING:
    import argparse

    from sklearn.base import BaseEstimator

    from fasttree.cli._progress import Progress
    from fasttree.cli._table import Rows

__all__ = ["fit"]

_N_FOLDS = 5


def fit(options: argparse.Namespace, progress: Progress) -> None:
    """Fit, print what came of it, and write the files that are asked for."""
    for name in ("html", "rules"):
        if options.kind == "forest" and getattr(options, name):
            raise CommandError(f"--{name} is for single trees, not for --forest")
    table = options.load(options, progress)
    with noted(table.feature_names):
        estimator = make_estimator(options, table)
    training, held_out = split(table, options.test_size, options.random_state)
    progress.tell(f"growing {type(estimator).__name__} on {len(training.y):,} rows")
    with noted(table.feature_names):
        seconds = grow(estimator, training, progress)
        progress.clear()
    choice = None
    if options.tune:
        progress.tell(f"tuning on {_N_FOLDS} folds")
        estimator, choice = tune(estimator, training)
    summary = Summary(table, estimator, seconds, training, held_out, choice)
    if options.compare:
        progress.tell("comparing with scikit-learn")
        summary.comparison = compare(estimator, training, held_out or training)
    if options.html is not None:
        progress.tell(f"writing {options.html}")
        export_html(
            estimator,
            training.X,
            training.y,
            out_file=options.html,
            feature_names=table.feature_names,
            title=f"{table.target_name} of {table.title}",
        )
    if options.save is not None:
        set_names(estimator, table)
        save(estimator, options.save)
    progress.clear()
    if options.json:
        print(json.dumps(summary.document(options.rules), indent=2, allow_nan=False))
    else:
        print(summary.text(options.rules))


def grow(estimator: BaseEstimator, rows: Rows, progress: Progress) -> float:
    """Fit; return the seconds that it took."""
    parameters = estimator.get_params()
    if progress.is_on and "callback" in parameters:
        estimator.set_params(callback=progress.search)
    elif progress.is_on and "n_estimators" in parameters:
        estimator.set_callbacks(TreesGrown(progress, parameters["n_estimators"]))
    start = time.perf_counter()
    estimator.fit(rows.X, rows.y, sample_weight=rows.weights)
    seconds = time.perf_counter() - start
    if "callback" in parameters:  # which cannot be saved
        estimator.set_params(callback=None)
    elif "n_estimators" in parameters:
        estimator.set_callbacks()
    return seconds


def tune(tree: BaseEstimator, rows: Rows) -> tuple[BaseEstimator, Choice]:
    """Search the depths of a fitted tree times 200 values of min_samples_split on five folds."""
    grid = default_grid(tree)
    grid["max_depth"] = [*grid["max_depth"][:-1], tree.max_depth]  # the last one leaves it whole
    search = TrainOnceSearchCV(tree, grid, cv=_N_FOLDS)
    weights = {} if rows.weights is None else {"sample_weight": rows.weights}
    start = time.perf_counter()
    with quiet():  # classes with fewer rows than folds
        search.fit(rows.X, rows.y, **weights)
    seconds = time.perf_counter() - start
    scores = search.cv_results_["mean_test_score"]
    return search.best_estimator_, Choice(
        params=search.best_params_,
        score=float(search.best_score_),
        whole=float(scores[-len(grid["min_samples_split"])]),
        n_settings=len(scores),
        n_fits=search.n_fits_,
        n_folds=_N_FOLDS,
        seconds=seconds,
    )
