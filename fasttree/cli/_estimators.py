"""Which estimator the options ask for, and what one of any kind consists of."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from fasttree._csv import is_number
from fasttree.cli._files import CommandError
from fasttree.cli._table import named
from fasttree.ensemble import RandomForestClassifier, RandomForestRegressor
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTreeClassifier, DecisionTreeRegressor
from fasttree.tree._base import CRITERIA_CLF, CRITERIA_REG
from fasttree.tree._task import infer_task

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from sklearn.base import BaseEstimator

    from fasttree._typing import Array, Task
    from fasttree.cli._table import Table

__all__ = ["CRITERIA", "is_forest", "make_estimator", "set_names", "size_of"]

CRITERIA: dict[Task, list[str]] = {
    "classification": list(CRITERIA_CLF),
    "regression": list(CRITERIA_REG),
}
_ESTIMATORS: dict[tuple[str, Task], type] = {
    ("tree", "classification"): DecisionTreeClassifier,
    ("tree", "regression"): DecisionTreeRegressor,
    ("forest", "classification"): RandomForestClassifier,
    ("forest", "regression"): RandomForestRegressor,
    ("optimal", "classification"): OptimalDecisionTreeClassifier,
}
# Options that are parameters of the same name: those that are given must be the estimator's.
_PARAMETERS = (
    "categorical_split",
    "class_weight",
    "criterion",
    "max_depth",
    "max_leaf_nodes",
    "min_samples_leaf",
    "n_estimators",
    "n_jobs",
    "time_limit",
)


def make_estimator(options: argparse.Namespace, table: Table) -> BaseEstimator:
    """Return the estimator, not yet fitted.

    Raises
    ------
    CommandError
        If an option is not for this kind of estimator or target.
    """
    task = _task(options, table)
    if task == "regression" and table.y.dtype.kind not in "if":
        raise CommandError(
            f"the target {table.target_name!r} holds labels such as {str(_sample(table.y))!r}; "
            "regression needs numbers"
        )
    cls = _ESTIMATORS.get((options.kind, task))
    if cls is None:
        raise CommandError(
            f"--{options.kind} is for classes; {table.target_name!r} is taken for a quantity"
        )
    known = cls().get_params()
    given: dict[str, Any] = {
        name: getattr(options, name) for name in _PARAMETERS if getattr(options, name) is not None
    }
    for name in given:
        if name not in known:
            raise CommandError(f"--{name.replace('_', '-')} is not for {cls.__name__}")
    if options.criterion is not None and options.criterion not in CRITERIA[task]:
        raise CommandError(
            f"--criterion {options.criterion} is not for {task}, which has "
            f"{', '.join(CRITERIA[task])}"
        )
    if options.class_weight is not None:
        given["class_weight"] = _class_weight(options.class_weight, table.y)
    if "random_state" in known:
        given["random_state"] = options.random_state
    if table.categorical:
        given["categorical_features"] = table.categorical
    return cls(missing_values=table.missing, **given)


def _sample(labels):
    """One of some labels, if possible one that is no number."""
    return next((label for label in labels if not is_number(str(label))), labels[0])


def _task(options, table):
    """What the options say, else the criterion, else the target."""
    if options.task != "auto":
        return options.task
    for task, criteria in CRITERIA.items():
        if options.criterion in criteria:
            return task
    if table.y.dtype.kind == "U" and (options.kind, "regression") in _ESTIMATORS:
        _check_numbers(table.target_name, table.y)
    return infer_task(table.y)


def _check_numbers(name, labels):
    """Raise if most labels are numbers: the others are more likely mistakes than classes."""
    n_texts = sum(n for label, n in Counter(labels.tolist()).items() if not is_number(label))
    if 0 < 2 * n_texts < len(labels):
        raise CommandError(
            f"the target {name!r} holds numbers, but no number in {n_texts} of {len(labels)} rows, "
            f"the first of which is {str(_sample(labels))!r}; mend the rows, or pass --task "
            "classification to take every number and text for a class"
        )


def _class_weight(words: list[str], y: Array) -> str | dict:
    """``balanced``, or weights by class."""
    if len(words) == 1 and "=" not in words[0]:
        return words[0]
    classes = {str(label): label for label in np.unique(y).tolist()}
    weights = {}
    for word in words:
        label, _, weight = word.rpartition("=")
        if label not in classes:
            raise CommandError(f"--class-weight names {label!r}, but classes are {named(classes)}")
        try:
            weights[classes[label]] = float(weight)
        except ValueError:
            raise CommandError(f"--class-weight {word} does not end in a number") from None
    return weights


def set_names(estimator: BaseEstimator, table: Table) -> None:
    """Give an estimator that was fitted on an array the names of its columns and its target."""
    estimator.feature_names_in_ = np.array(table.feature_names, dtype=object)
    estimator.target_name_ = table.target_name


def is_forest(estimator: BaseEstimator) -> bool:
    """Whether a fitted estimator has many trees."""
    return hasattr(estimator, "estimators_")


def size_of(estimator: BaseEstimator) -> dict[str, int]:
    """Numbers of trees and leaves and the largest depth of a fitted estimator, scikit-learn's
    too."""
    fitted = estimator.estimators_ if is_forest(estimator) else [estimator]
    trees = [tree.tree_ for tree in fitted]
    return {
        "n_trees": len(trees),
        "n_leaves": int(sum(tree.n_leaves for tree in trees)),
        "depth": int(max(tree.max_depth for tree in trees)),
    }
