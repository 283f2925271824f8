"""Every question that a node may ask of a hybrid column, written down naively, and the best.

A column is a list of Python values: floats are numbers, strings are labels, None is missing.
Comparisons follow Wang & Gupta (2024, section 2): ``value <= t`` and ``value > t`` are false for
labels and missing values, ``value == label`` is false for numbers. A question splits the rows in
two: those of which it is true (or, for ``>``, of which it is false) go left. The order of the
questions settles ties: thresholds ascending, what is not a number right before left, "is a number"
last; then labels in alphabetical order.
"""

from dataclasses import dataclass
from itertools import combinations
from math import inf

import numpy as np


@dataclass(frozen=True)
class Question:
    """One candidate split. ``others_left``: where thresholds send labels and missing values."""

    threshold: float = -inf
    others_left: bool = False
    labels: frozenset = None
    missing_left: bool = False

    def goes_left(self, value):
        if self.labels is not None:
            return self.missing_left if value is None else value in self.labels
        if isinstance(value, float):
            return np.float32(value) <= self.threshold
        return self.others_left


def midpoint(below, above):
    return float(np.float32(below)) / 2 + float(np.float32(above)) / 2


def threshold_questions(column):
    numbers = sorted({np.float32(v) for v in column if isinstance(v, float)})
    has_others = any(not isinstance(v, float) for v in column)
    for below, above in zip(numbers, numbers[1:]):
        yield Question(midpoint(below, above))
        if has_others:
            yield Question(midpoint(below, above), others_left=True)
    if numbers and has_others:
        yield Question(inf)


def label_questions(column):
    labels = sorted({v for v in column if isinstance(v, str)})
    for label in labels:
        if len({v == label for v in column}) == 2:
            yield Question(labels=frozenset([label]))


def set_questions(column):
    """Every set of labels, with and without the missing values; numbers are in none."""
    labels = sorted({v for v in column if isinstance(v, str)})
    for size in range(len(labels) + 1):
        for chosen in combinations(labels, size):
            for missing_left in (False, True) if None in column else (False,):
                question = Question(labels=frozenset(chosen), missing_left=missing_left)
                if len({question.goes_left(v) for v in column}) == 2:
                    yield question


def questions(column, label_sets=False):
    """All candidate splits of a column, in the order that settles ties."""
    yield from threshold_questions(column)
    if any(isinstance(v, str) for v in column):
        yield from set_questions(column) if label_sets else label_questions(column)


def sides(question, column):
    return np.array([question.goes_left(v) for v in column])
