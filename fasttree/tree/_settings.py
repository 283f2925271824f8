"""Settings of the limits that only cut a tree, as columns.

A parameter grid is a union of products. Its settings are kept as positions on the axes of each
product, so that a value is converted once however many settings hold it: a fraction of the rows
means another number in every fold.
"""

from math import ceil
from numbers import Integral, Real

import numpy as np

from fasttree.tree._tuning import NO_BUDGET, SETTING_DTYPE

__all__ = ["LIMITS", "UNLIMITED", "SettingTable", "is_valid_limit", "n_rows_of"]

# The parameters whose tighter values cut the tree of the loosest.
LIMITS = SETTING_DTYPE.names

# Their values that do not limit.
UNLIMITED = {
    "max_depth": None,
    "min_samples_split": 2,
    "min_impurity_decrease": 0.0,
    "max_leaf_nodes": None,
    "ccp_alpha": 0.0,
}

_NO_LIMIT = np.iinfo(np.int64).max


def n_rows_of(limit, n_samples):
    """A number of rows, or a fraction of them rounded up."""
    return limit if isinstance(limit, Integral) else ceil(limit * n_samples)


def is_valid_limit(name, value):
    """Whether an estimator takes the value for this limit."""
    if value is None:
        return name in ("max_depth", "max_leaf_nodes")
    if name == "max_depth":
        return isinstance(value, Integral) and value >= 1
    if name == "max_leaf_nodes":
        return isinstance(value, Integral) and value >= 2
    if name == "min_samples_split":
        if isinstance(value, Integral):
            return value >= 2
        return isinstance(value, Real) and 0 < value <= 1
    return isinstance(value, Real) and value >= 0


def _number_of(name, value, n_samples):
    """A valid value of a limit as the number that a setting holds."""
    if name == "max_depth":
        return _NO_LIMIT if value is None else min(value, _NO_LIMIT)
    if name == "max_leaf_nodes":
        return NO_BUDGET if value is None else min(value, NO_BUDGET)
    if name == "min_samples_split":
        return max(2, min(n_rows_of(value, n_samples), _NO_LIMIT))
    return value


class SettingTable:
    """The settings of a parameter grid, in the order of scikit-learn's `ParameterGrid`.

    Parameters
    ----------
    grids : list of dict of str to sequence
        The products; other parameters than limits may be among them.
    """

    def __init__(self, grids):
        self._blocks = [(grid, *_positions(grid)) for grid in grids]
        self.size = sum(size for _, _, size in self._blocks)

    def numbers(self, defaults, n_samples):
        """Return the settings in absolute numbers.

        Parameters
        ----------
        defaults : mapping of str to object
            Limits that a product does not name.
        n_samples : int
            Number of rows that fractions refer to.

        Returns
        -------
        ndarray of shape (size,), dtype=SETTING_DTYPE
            Invalid values are replaced by ones that do not limit: see `is_valid`.
        """

        def convert(name, value):
            if not is_valid_limit(name, value):
                value = UNLIMITED[name]
            return _number_of(name, value, n_samples)

        settings = np.empty(self.size, dtype=SETTING_DTYPE)
        for name in LIMITS:
            settings[name] = self._column(name, defaults, convert, SETTING_DTYPE[name])
        return settings

    def is_valid(self, defaults):
        """Return which settings hold only values that an estimator takes.

        Parameters
        ----------
        defaults : mapping of str to object
            Limits that a product does not name.

        Returns
        -------
        ndarray of shape (size,), dtype=bool
        """
        valid = np.ones(self.size, dtype=bool)
        for name in LIMITS:
            valid &= self._column(name, defaults, is_valid_limit, bool)
        return valid

    def groups(self, cut):
        """Return the settings that differ in the limits `cut` only, together.

        Parameters
        ----------
        cut : collection of str
            Names of limits.

        Returns
        -------
        list of (dict, ndarray of intp)
            The other parameters and the settings that have them, by first appearance.
        """
        groups = {}
        start = 0
        for grid, positions, size in self._blocks:
            names = [name for name in grid if name not in cut]
            code = np.zeros(size, dtype=np.intp)
            for name in names:
                code = code * len(grid[name]) + positions[name]
            _, first, group = np.unique(code, return_index=True, return_inverse=True)
            for number, at in enumerate(first):
                params = {name: grid[name][positions[name][at]] for name in names}
                key = frozenset((name, _key(value)) for name, value in params.items())
                members = groups.setdefault(key, (params, []))[1]
                members.append(start + np.flatnonzero(group == number))
            start += size
        return [(params, np.concatenate(members)) for params, members in groups.values()]

    def _column(self, name, defaults, convert, dtype):
        """A limit in every setting, converted once per value."""
        parts = []
        for grid, positions, size in self._blocks:
            if name in grid:
                values = np.array([convert(name, value) for value in grid[name]], dtype=dtype)
                parts.append(values[positions[name]])
            else:
                parts.append(np.full(size, convert(name, defaults[name]), dtype=dtype))
        return np.concatenate(parts)


def _positions(grid):
    """Positions on each axis of the settings of a product (the last name varies fastest), and
    their number."""
    names = sorted(grid)
    shape = [len(grid[name]) for name in names]
    size = int(np.prod(shape))
    positions = np.unravel_index(np.arange(size), shape) if names else ()
    return dict(zip(names, positions)), size


def _key(value):
    """What tells values of a parameter apart; unhashable ones are equal if they are the same."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value
