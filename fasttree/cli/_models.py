"""``fasttree predict``, ``show`` and ``describe``: what is done with a saved model."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_classifier

from fasttree._csv import MISSING, to_numbers
from fasttree.cli._estimators import is_forest
from fasttree.cli._files import CommandError, read_columns, title_of
from fasttree.cli._notes import quiet
from fasttree.cli._summary import size_in_words
from fasttree.cli._table import as_matrix, check_complete, named, parse_column
from fasttree.export import export_rules, export_text, load
from fasttree.export._describe import importances_of, report_on
from fasttree.export._questions import column_names
from fasttree.table._encoder import table_encoder
from fasttree.tree import DecisionTree

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from sklearn.base import BaseEstimator

    from fasttree._typing import Array
    from fasttree.cli._progress import Progress

__all__ = ["describe", "predict", "show"]


def predict(options: argparse.Namespace, progress: Progress) -> None:
    """Write the predictions for the rows of a file as CSV."""
    model = load(options.model)
    if options.proba and not is_classifier(model):
        raise CommandError("--proba is for models of classes")
    columns = read_columns(options.file, options.delimiter, progress)
    X = rows_for(model, options.model, columns, title_of(options.file))
    progress.tell(f"predicting {len(X):,} rows")
    with quiet(model.feature_names_in_):
        answers = np.asarray(model.predict(X)).reshape(len(X), -1)
        shares = model.predict_proba(X) if options.proba else []
    is_single = answers.shape[1] == 1
    header = [_of_output("prediction", k, is_single) for k in range(answers.shape[1])]
    lines = answers.tolist()
    if options.proba:
        outputs = [(model.classes_, shares)] if is_single else zip(model.classes_, shares)
        for k, (classes, part) in enumerate(outputs):
            header += [
                _of_output(f"probability of {label}", k, is_single) for label in classes.tolist()
            ]
            lines = [line + cells for line, cells in zip(lines, part.tolist())]
    progress.clear()
    if options.output is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows([header, *lines])
    else:
        with open(options.output, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *lines])


def _of_output(text, k, is_single):
    return text if is_single else f"{text} ({k})"


def show(options: argparse.Namespace, progress: Progress) -> None:
    """Print a saved tree, or what matters in a saved forest."""
    model = load(options.model)
    if options.rules and is_forest(model):
        raise CommandError("--rules is for single trees, not for forests")
    names = column_names(model, None)
    print(size_in_words(model))
    if is_forest(model):
        print(importances_of(model, names).to_text())
    elif options.rules:
        print(*export_rules(model), sep="\n")
    else:
        print(export_text(model, feature_names=names, max_depth=options.max_depth), end="")


def describe(options: argparse.Namespace, progress: Progress) -> None:
    """Print or write a report on a model and the rows of a file."""
    model = load(options.model)
    if model.n_outputs_ > 1:
        raise CommandError(f"{options.model} predicts several targets; describe takes one")
    columns = read_columns(options.file, options.delimiter, progress)
    title = title_of(options.file)
    X = rows_for(model, options.model, columns, title)
    name = options.target or _target_name(model, columns, title)
    if name not in columns:
        raise CommandError(f"{title} has no column {name!r}; it has {named(columns)}")
    y = target_for(model, name, columns[name])
    progress.tell(f"describing {len(y):,} rows")
    with quiet(model.feature_names_in_):
        rows = {f"rows of {Path(title).name}": (X, y)}
        report = report_on(model, rows, title=f"{name} by {Path(options.model).name}")
    progress.clear()
    if options.output is None:
        print(report)
    else:
        report.save(options.output)


def _target_name(model, columns, title):
    """What the model file says, else the one column that the model does not use."""
    known = getattr(model, "target_name_", None)
    if known is not None:
        return known
    others = [name for name in columns if name not in set(model.feature_names_in_)]
    if len(others) != 1:
        what = f"one of {named(others)}" if others else "none is left"
        raise CommandError(f"{title}: which column is the target must be said by --target; {what}")
    return others[0]


def rows_for(
    model: BaseEstimator,
    path: str,
    columns: Mapping[str, list[str] | Array],
    title: str,
) -> Array:
    """Return the columns that a model was fitted on as X.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : str
        Its file.
    columns : mapping
        As of `read_columns`.
    title : str
        What errors call the file of the columns.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise CommandError(f"{path} does not name the columns of the fit")
    for name in names:
        if name not in columns:
            raise CommandError(f"{title} has no column {name!r}, which the model was fitted on")
    encoder, texts = _encoder_of(model), _missing_texts(model)
    categories = [[]] * len(names) if encoder is None else encoder.categories
    return as_matrix(
        [_column_for(name, columns[name], known, texts) for name, known in zip(names, categories)]
    )


def _encoder_of(model):
    return table_encoder(model.estimator_ if isinstance(model, DecisionTree) else model)


def _missing_texts(model):
    """What a model takes for missing in a file of texts."""
    encoder = _encoder_of(model)
    texts = {""} if encoder is None else encoder.columns[0].missing.texts
    return texts if texts != {""} else texts.union(MISSING)  # fitted on what somebody else read


def _column_for(name, cells, categories, missing):
    """A column as a model reads it that knows these categories in it."""
    is_text = all(cell is None or isinstance(cell, str) for cell in cells)
    if not categories and is_text:
        try:
            cells = to_numbers(["" if cell is None else cell for cell in cells], missing)
        except ValueError as error:
            raise _no_number(name, error) from None
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        return parse_column(name, cells, missing)
    if not categories:
        raise _no_number(name, next(cell for cell in cells if cell is not None))
    missing = missing - {label for label in categories if isinstance(label, str)}
    written = _by_text(categories)
    return [
        None if isinstance(cell, str) and cell in missing else written.get(cell, cell)
        for cell in cells
    ]


def _no_number(name, cell):
    return CommandError(f"column {name!r} holds {str(cell)!r} in place of a number")


def _by_text(labels):
    """Labels by what they are in a file of texts: booleans and numbers too."""
    found = {}
    for label in labels:
        found[str(label)] = label
        if isinstance(label, bool):
            found[str(label).lower()] = label
        elif isinstance(label, float):
            found[f"{label:g}"] = label
    return found


def target_for(model: BaseEstimator, name: str, cells: list[str] | Array) -> Array:
    """Return the column of targets in the type of those that a model was fitted on."""
    classes = model.classes_.tolist() if is_classifier(model) else []
    missing = _missing_texts(model).difference(map(str, classes))
    check_complete(f"the target {name!r}", cells, missing)
    if not is_classifier(model):
        return as_matrix([_column_for(name, cells, [], set())])[:, 0]
    code_of = {label: code for code, label in enumerate(classes)}
    codes_by_text = {text: code_of[label] for text, label in _by_text(classes).items()}
    codes = [code_of.get(cell, codes_by_text.get(cell, -1)) for cell in cells]
    if -1 in codes:
        unknown = cells[codes.index(-1)]
        raise CommandError(
            f"the target {name!r} holds {str(unknown)!r}, but classes are {named(classes)}"
        )
    return model.classes_[codes]
