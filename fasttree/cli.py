"""The ``fasttree`` command: a tree for a bundled table, or for the user's own.

Both commands end in the same report: size of the data, time and held-out score beside
scikit-learn's tree on the same rows, and the top of the tree. What the user can mend (a
file, a column, a number) is one line on stderr and exit code 2, never a traceback.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sklearn
import sklearn.tree
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import fasttree
from fasttree._csv import is_missing, read_csv, to_numbers
from fasttree.datasets import load_wine_quality
from fasttree.model_selection import TrainOnceSearchCV
from fasttree.tree import DecisionTree, export_text
from fasttree.tree.pruning._tunable import default_grid

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.compose import ColumnTransformer

    from fasttree._typing import Array, FloatArray
    from fasttree.tree import BaseDecisionTree

_SHOWN_DEPTH = 2
_MAX_FITS = 3
_SECONDS_OF_FITS = 1.0
_N_FOLDS = 5


class CommandError(Exception):
    """Something in the command line or the file that the user can mend."""


@dataclass
class Table:
    """Columns with their names, and a target that is neither missing nor constant.

    X holds floats, or objects if a column holds categories.
    """

    title: str
    X: np.ndarray
    y: np.ndarray
    feature_names: list
    target_name: str


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : list of str, default=None
        Those of the command line by default.

    Returns
    -------
    int
        Exit code: 0, or 2 after an error the user can mend.
    """
    options = _parse(arguments)
    try:
        report(options.load(options), options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, a pager) has seen enough; nothing is left to say at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        reason = error.strerror or "cannot be read"
        return _complain(f"{error.filename or options.file}: {reason}")
    except (CommandError, ValueError) as error:
        return _complain(str(error))
    return 0


def _complain(message):
    print("fasttree: error:", " ".join(message.split()), file=sys.stderr)
    return 2


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="fasttree", description=fasttree.__doc__)
    parser.add_argument("--version", action="version", version=fasttree.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="fit a tree on the bundled wine quality table")
    demo.set_defaults(load=load_demo, file=None, task="auto")

    fit = commands.add_parser("fit", help="fit a tree on a CSV file with a header line")
    fit.set_defaults(load=load_file)
    fit.add_argument("file", metavar="DATA.csv", help="may be compressed: .gz, .bz2, .xz")
    fit.add_argument("--target", required=True, metavar="COL", help="column to predict")
    fit.add_argument("--task", default="auto", choices=["auto", "classification", "regression"])

    for command in (demo, fit):
        command.add_argument("--test-size", type=float, default=0.2, metavar="SHARE")
        command.add_argument("--random-state", type=int, default=0, metavar="SEED")
        command.add_argument("--max-depth", type=_limit, metavar="N")
        command.add_argument("--max-leaf-nodes", type=_limit, metavar="N")
        command.add_argument("--min-samples-leaf", type=_limit, default=1, metavar="N")
        command.add_argument(
            "--tune",
            action="store_true",
            help="choose max_depth and min_samples_split by cross-validation",
        )
        command.add_argument("--n-jobs", type=int, metavar="N", help="threads, -1 for all")
    return parser.parse_args(arguments)


def _limit(text: str) -> int:
    """An int; beyond any number of rows, one that scikit-learn's trees can take."""
    return min(int(text), 2**31 - 1)


_limit.__name__ = "int"  # as argparse calls it in its messages


def load_demo(options: argparse.Namespace) -> Table:
    """The bundled wine quality table."""
    bunch = load_wine_quality()
    return Table("wine quality", bunch.data, bunch.target, bunch.feature_names, "quality")


def load_file(options: argparse.Namespace) -> Table:
    """The user's table: columns of numbers, categories, or both."""
    columns = read_csv(options.file)
    if options.target not in columns:
        known = ", ".join(map(repr, columns))
        raise CommandError(f"{options.file} has no column {options.target!r}; it has {known}")
    target = columns.pop(options.target)
    if not columns:
        raise CommandError(f"{options.file} has no column beside {options.target!r}")
    y = parse_target(options.target, target, options.task)
    read = [parse_column(cells) for cells in columns.values()]
    with_categories = any(isinstance(column, list) for column in read)
    X = np.empty((len(target), len(columns)), dtype=object if with_categories else np.float64)
    for j, column in enumerate(read):
        X[:, j] = column
    return Table(str(options.file), X, y, list(columns), options.target)


def parse_column(cells: list[str]) -> FloatArray | list[str | None]:
    """Floats, or text with None for missing cells if there are categories."""
    try:
        return to_numbers(cells)
    except ValueError:
        return [None if is_missing(cell) else cell for cell in cells]


def parse_target(name: str, cells: list[str], task: str) -> Array:
    """The target as integers, floats or labels, whichever its cells and the task ask for."""
    n_missing = sum(map(is_missing, cells))
    if n_missing == len(cells):
        raise CommandError(f"the target {name!r} is empty")
    if n_missing:
        raise CommandError(f"the target {name!r} is missing in {n_missing} of {len(cells)} rows")
    if len(set(cells)) == 1:
        raise CommandError(f"the target {name!r} is constant: every row holds {cells[0]!r}")
    try:
        values = to_numbers(cells)
    except ValueError as error:
        if task == "regression":
            raise CommandError(
                f"the target {name!r} holds labels such as {str(error)!r}; regression needs numbers"
            ) from None
        return np.array(cells)
    if np.all(values == np.rint(values)) and np.abs(values).max() < 2**53:
        return values.astype(np.int64)
    return np.array(cells) if task == "classification" else values


def report(table: Table, options: argparse.Namespace) -> None:
    """Fit both libraries' trees on the same rows and print how they compare."""
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=options.test_size, random_state=options.random_state
    )
    limits = {
        name: getattr(options, name)
        for name in ("max_depth", "max_leaf_nodes", "min_samples_leaf", "random_state")
    }
    if limits["max_leaf_nodes"] is not None:  # scikit-learn makes room for so many at once
        limits["max_leaf_nodes"] = min(limits["max_leaf_nodes"], max(2, len(y)))
    ours = DecisionTree(task=options.task, n_jobs=options.n_jobs, **limits)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        ours.fit(X, y)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        print("fasttree: note:", " ".join(message.split()), file=sys.stderr)
    if is_classifier(ours):
        theirs = sklearn.tree.DecisionTreeClassifier(**limits)
        score_name, kind = "accuracy", f"{len(ours.classes_)} classes"
    else:
        theirs = sklearn.tree.DecisionTreeRegressor(**limits)
        score_name, kind = "R2", "regression"

    choice: list[str] = []
    if options.tune:
        search, choice = tune(ours.estimator_, X, y, score_name)
        ours = search.best_estimator_
        theirs.set_params(**search.best_params_)
    with_categories = table.X.dtype == object
    if with_categories:
        theirs = make_pipeline(ordinal_codes(table.X), theirs)

    n_rows, n_columns = table.X.shape
    print(f"{table.title}: {n_rows:,} rows, {n_columns} columns")
    print(f"target {table.target_name}: {kind}")
    print(f"{len(y):,} rows to fit, {len(y_test):,} held out")
    print(*choice, sep="\n", end="\n" * bool(choice))
    print()
    print(f"{'':<24}{'fit, ms':>10}{score_name:>12}{'leaves':>10}{'depth':>8}")
    for name, estimator in (
        (f"fasttree {fasttree.__version__}", ours),
        (f"scikit-learn {sklearn.__version__}{'*' if with_categories else ''}", theirs),
    ):
        milliseconds = 1000 * time_fit(estimator, X, y)
        score = estimator.score(X_test, y_test)
        tree = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        print(
            f"{name:<24}{milliseconds:>10.2f}{score:>12.4f}"
            f"{tree.get_n_leaves():>10,}{tree.get_depth():>8}"
        )
    if with_categories:
        print("* with categories as ordinal codes")
    print()
    print("top of the tree:")
    print(export_text(ours, feature_names=table.feature_names, max_depth=_SHOWN_DEPTH), end="")


def ordinal_codes(X: Array) -> ColumnTransformer:
    """What scikit-learn's tree needs before a table with categories."""
    columns = [j for j in range(X.shape[1]) if any(isinstance(cell, str) for cell in X[:, j])]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return make_column_transformer((encoder, columns), remainder="passthrough")


def tune(
    tree: BaseDecisionTree, X: Array, y: Array, score_name: str
) -> tuple[TrainOnceSearchCV, list[str]]:
    """Search the depths of a fitted tree times 200 values of min_samples_split on five folds.

    Returns the fitted search and the lines that say what it chose and why.
    """
    grid = default_grid(tree)
    grid["max_depth"] = [*grid["max_depth"][:-1], tree.max_depth]  # the last one leaves it whole
    search = TrainOnceSearchCV(tree, grid, cv=_N_FOLDS)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than folds
        search.fit(X, y)
    seconds = time.perf_counter() - start
    scores = search.cv_results_["mean_test_score"]
    whole = scores[-len(grid["min_samples_split"])]
    chosen = ", ".join(f"{name}={value}" for name, value in search.best_params_.items())
    return search, [
        f"tuned: {chosen}",
        f"  {score_name} {search.best_score_:.4f} on {_N_FOLDS} folds, {whole:.4f} without limits",
        f"  best of {len(scores):,} settings, cut from {search.n_fits_} fits in {seconds:.2f} s",
    ]


def time_fit(estimator: BaseEstimator, X: Array, y: Array) -> float:
    """Seconds of the fastest of a few fits, of one only where a fit takes long."""
    total, fastest = 0.0, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in range(_MAX_FITS):
            start = time.perf_counter()
            estimator.fit(X, y)
            fastest = min(fastest, time.perf_counter() - start)
            total += fastest
            if total > _SECONDS_OF_FITS:
                break
    return fastest
