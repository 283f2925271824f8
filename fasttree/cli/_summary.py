"""What came of a fit, as text and as data."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import is_classifier

import fasttree
from fasttree.cli._estimators import is_forest, size_of
from fasttree.cli._notes import quiet
from fasttree.export import Table, export_rules, export_text
from fasttree.export._describe import importances_of, judge_of

if TYPE_CHECKING:
    from typing import Any

    from sklearn.base import BaseEstimator

    from fasttree.cli._table import Rows
    from fasttree.cli._table import Table as Source

__all__ = ["Choice", "Summary", "size_in_words"]

_SHOWN_DEPTH = 2


@dataclass
class Choice:
    """What tuning chose.

    Attributes
    ----------
    params : dict
        The limits.
    score, whole : float
        Mean score over the folds, and that of trees without limits.
    n_settings, n_fits, n_folds : int
        Number of settings, of fits that they were cut from, and of folds.
    seconds : float
        How long it took.
    """

    params: dict
    score: float
    whole: float
    n_settings: int
    n_fits: int
    n_folds: int
    seconds: float


class Summary:
    """What came of a fit.

    Parameters
    ----------
    source : Table
        The table.
    estimator : estimator
        Fitted.
    seconds : float
        What the fit took.
    training, held_out : Rows
        What it was fitted on, and what not; None if there are no such rows.
    choice : Choice or None
        What tuning chose.

    Attributes
    ----------
    comparison : fasttree.export.Table or None
        With scikit-learn.
    """

    def __init__(
        self,
        source: Source,
        estimator: BaseEstimator,
        seconds: float,
        training: Rows,
        held_out: Rows | None,
        choice: Choice | None,
    ) -> None:
        self.source, self.estimator, self.seconds, self.choice = source, estimator, seconds, choice
        self.n_rows = len(training.y), 0 if held_out is None else len(held_out.y)
        rows = {"training rows": (training.X, training.y)}
        if held_out is not None:
            rows["held-out rows"] = (held_out.X, held_out.y)
        with quiet():
            judge = judge_of(estimator, rows)
            self.scores, errors = judge.scores(), judge.errors(list(rows)[-1])
            self.errors = {part.title: part for part in errors if isinstance(part, Table)}
        self.comparison: Table | None = None

    def text(self, with_rules: bool) -> str:
        """Return lines for people.

        Parameters
        ----------
        with_rules : bool
            Whether to end with all rules instead of the top of the tree.
        """
        estimator, source = self.estimator, self.source
        kind = f"{len(estimator.classes_)} classes" if is_classifier(estimator) else "regression"
        lines = [
            f"{source.title}: {len(source.y):,} rows, {source.X.shape[1]} columns",
            f"target {source.target_name}: {kind}",
            f"{self.n_rows[0]:,} rows to fit, {self.n_rows[1]:,} held out",
            *self._choice_in_words(),
            f"{size_in_words(estimator)}, fitted in {self.seconds:.3g} s",
            *self._search_in_words(),
            "",
            self.scores.to_text(),
        ]
        for part in (self.errors.get("Confusion matrix"), self.comparison):
            if part is not None:
                lines += ["", f"{part.title}:", part.to_text()]
        names = source.feature_names
        lines.append("")
        if is_forest(estimator):
            lines += ["Importances:", importances_of(estimator, names).to_text()]
        elif with_rules:
            lines += map(str, export_rules(estimator, feature_names=names))
        else:
            top = export_text(estimator, feature_names=names, max_depth=_SHOWN_DEPTH)
            lines += ["top of the tree:", top.rstrip("\n")]
        return "\n".join(lines)

    def _choice_in_words(self):
        choice = self.choice
        if choice is None:
            return
        chosen = ", ".join(f"{name}={value}" for name, value in choice.params.items())
        name = self.scores.rows[0][0]
        yield f"tuned: {chosen}"
        yield (
            f"  {name} {choice.score:.4f} on {choice.n_folds} folds, "
            f"{choice.whole:.4f} without limits"
        )
        yield (
            f"  best of {choice.n_settings:,} settings, cut from {choice.n_fits} fits "
            f"in {choice.seconds:.2f} s"
        )

    def _search_in_words(self):
        tree = self.estimator
        if hasattr(tree, "objective_"):
            proof = (
                "proven optimal" if tree.is_optimal_ else f"at most {tree.gap_:.4g} from optimal"
            )
            splits = "" if tree.thresholds_are_exhaustive_ else " and the tried splits"
            yield f"objective {tree.objective_:.4g}, {proof} for this size{splits}"

    def document(self, with_rules: bool) -> dict[str, Any]:
        """Return what `text` says as data that JSON can hold.

        Parameters
        ----------
        with_rules : bool
            Whether to list the rules.
        """
        estimator, source = self.estimator, self.source
        is_class = is_classifier(estimator)
        document = {
            "fasttree_version": fasttree.__version__,
            "data": source.title,
            "n_rows": len(source.y),
            "n_columns": source.X.shape[1],
            "target": source.target_name,
            "task": "classification" if is_class else "regression",
            "classes": estimator.classes_.tolist() if is_class else None,
            "n_training_rows": self.n_rows[0],
            "n_held_out_rows": self.n_rows[1],
            "estimator": type(estimator).__name__,
            **size_of(estimator),
            "fit_seconds": self.seconds,
            "scores": _by_row(self.scores),
        }
        if is_class:
            matrix = self.errors["Confusion matrix"]
            document["confusion_matrix"] = {
                "classes": list(matrix.header[1:]),
                "n_rows": [list(row[1:]) for row in matrix.rows],
            }
            if "Ranking" in self.errors:
                areas = _by_row(self.errors["Ranking"], is_key=False)
                document["class_against_the_rest"] = areas
        document["importances"] = dict(
            zip(source.feature_names, estimator.feature_importances_.tolist())
        )
        if self.choice is not None:
            document["tuning"] = asdict(self.choice)
        if hasattr(estimator, "objective_"):
            document["search"] = {
                name: getattr(estimator, f"{name}_")
                for name in ("objective", "lower_bound", "is_optimal")
            }
        if self.comparison is not None:
            document["comparison"] = _by_row(self.comparison, is_key=False)
            document["comparison_note"] = self.comparison.note
        if with_rules:
            rules = export_rules(estimator, feature_names=source.feature_names)
            document["rules"] = list(map(str, rules))
        return _plain(document)


def size_in_words(estimator: BaseEstimator) -> str:
    """The class of a fitted estimator and how large it is."""
    size = size_of(estimator)
    trees = f"{size['n_trees']:,} trees, " if is_forest(estimator) else ""
    return f"{type(estimator).__name__}: {trees}{size['n_leaves']:,} leaves, depth {size['depth']}"


def _by_row(table, is_key=True):
    """The cells of a table by the names of its rows, which become keys, and columns."""
    columns = list(map(_key, table.header[1:]))
    return {_key(row[0]) if is_key else row[0]: dict(zip(columns, row[1:])) for row in table.rows}


def _key(text):
    return "_".join(re.findall(r"\w+", text.lower()))


def _plain(value):
    """Python's own types; None in place of what is not finite."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_plain, value))
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
