"""The conditions of splits in a language: what is true of exactly the rows of one side.

A cell is a number, a category or missing. Each language states four facts about a cell and
combines them here, so that no writer decides again where missing and unknown values go.
"""

import math
from abc import ABC, abstractmethod

from fasttree.export._view import boundary

__all__ = ["ConditionWriter"]


class ConditionWriter(ABC):
    """Writes the conditions of a fitted view in one language.

    Parameters
    ----------
    view : FittedView
        Whose splits are written.
    """

    true: str
    false: str
    either: str  # between alternatives
    both: str  # between conditions that must all hold

    def __init__(self, view):
        self.view = view

    @abstractmethod
    def compares(self, feature, limit, *, below, inclusive, or_no_number):
        """A number lies below a limit or above it, or the cell holds no number."""

    @abstractmethod
    def is_number(self, feature):
        """The cell holds a number."""

    @abstractmethod
    def is_no_number(self, feature):
        """The cell holds a category or nothing."""

    @abstractmethod
    def is_category(self, feature):
        """The cell holds a category."""

    @abstractmethod
    def is_listed(self, feature, codes):
        """The cell holds one of the categories with these codes; there is at least one."""

    @abstractmethod
    def is_not_listed(self, feature, codes):
        """The cell holds anything else: another category, a number or nothing."""

    def is_missing(self, feature):
        """The cell holds nothing; asked of columns that may hold categories."""
        not_category = self.is_no_category(feature)
        if not self.view.holds_numbers(feature):
            return not_category
        return self._all_of([not_category, self.is_no_number(feature)])

    @abstractmethod
    def is_no_category(self, feature):
        """The cell holds a number or nothing."""

    def condition(self, split, is_left):
        """What is true of the rows that go left at a split, or of the others."""
        with_missing = split.missing_left == is_left
        if split.codes is not None:
            return self._of_categories(split, is_left, with_missing)
        if not self.view.holds_numbers(split.feature):
            return self.true if with_missing else self.false
        if not math.isinf(split.at_most):
            limit, inclusive = boundary(split.at_most)
            return self.compares(
                split.feature,
                limit,
                below=is_left,
                inclusive=inclusive if is_left else not inclusive,
                or_no_number=with_missing,
            )
        # All numbers lie on one side of an infinite threshold.
        with_numbers = is_left == (split.at_most > 0)
        if with_numbers:
            return self.true if with_missing else self.is_number(split.feature)
        return self.is_no_number(split.feature) if with_missing else self.false

    def _of_categories(self, split, is_left, with_missing):
        feature, codes = split.feature, split.codes.tolist()
        with_listed = split.listed_left == is_left
        with_numbers = not is_left and self.view.holds_numbers(feature)
        with_others = not with_listed
        if with_others and with_missing and (with_numbers or not self.view.holds_numbers(feature)):
            return self.is_not_listed(feature, codes) if codes else self.true
        parts = []
        if with_listed and codes:
            parts.append(self.is_listed(feature, codes))
        if with_others:
            others = [self.is_category(feature)]
            if codes:
                others.append(self.is_not_listed(feature, codes))
            parts.append(self._all_of(others))
        if with_numbers and with_missing:
            parts.append(self.is_no_category(feature))
        elif with_numbers:
            parts.append(self.is_number(feature))
        elif with_missing:
            parts.append(self.is_missing(feature))
        return self._any_of(parts)

    def _any_of(self, parts):
        if not parts:
            return self.false
        return parts[0] if len(parts) == 1 else f"({f' {self.either} '.join(parts)})"

    def _all_of(self, parts):
        return parts[0] if len(parts) == 1 else f"({f' {self.both} '.join(parts)})"
