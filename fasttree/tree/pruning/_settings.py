"""Settings of the limits that only cut a tree, as columns.

A parameter grid is a union of products. Its settings are kept as positions on the axes of each
product, so that a value is converted once however many settings hold it, and settings that are
given one by one likewise. Only fractions of the rows are left open: they mean another number in
every fold.
"""

from math import ceil, inf
from numbers import Integral, Real

import numpy as np

from fasttree.tree.pruning._tuning import SETTING_DTYPE

__all__ = [
    "LIMITS",
    "UNLIMITED",
    "SettingTable",
    "as_double",
    "is_valid_limit",
    "n_rows_of",
    "params_key",
]

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
_LARGEST = np.finfo(np.float64).max.item()
_UNLIMITED_NUMBER = {
    name: _NO_LIMIT if value is None else value for name, value in UNLIMITED.items()
}
# Axes of plain numbers are checked at once; what is equal to or above these is allowed.
_KIND = {name: SETTING_DTYPE[name].kind for name in LIMITS}
_LEAST = {
    "max_depth": 1,
    "min_samples_split": 2,
    "min_impurity_decrease": 0.0,
    "max_leaf_nodes": 2,
    "ccp_alpha": 0.0,
}


def n_rows_of(limit, n_samples):
    """A number of rows, or a fraction of them rounded up."""
    return limit if isinstance(limit, Integral) else ceil(limit * n_samples)


def as_double(limit):
    """A limit as a double; Python's integers reach beyond, where none is exceeded."""
    try:
        return min(float(limit), _LARGEST)
    except OverflowError:
        return _LARGEST


def is_valid_limit(name, value):
    """Whether an estimator takes the value for this limit."""
    if value is None:
        return name in ("max_depth", "max_leaf_nodes")
    if not isinstance(value, Real):
        return False
    if _KIND[name] == "i" and not isinstance(value, Integral):
        return name == "min_samples_split" and isinstance(value, float) and 0 < value <= 1
    return _LEAST[name] <= value < inf


class SettingTable:
    """The settings of a parameter grid, in the order of scikit-learn's `ParameterGrid`.

    Parameters
    ----------
    grids : list of dict of str to sequence
        The products; other parameters than limits may be among them.
    defaults : mapping of str to object
        Limits that a product does not name.
    prefix : str, default=""
        What stands before the names of limits in the grids.

    Attributes
    ----------
    size : int
        Number of settings.
    is_valid : ndarray of shape (size,), dtype=bool
        Which settings hold only values that an estimator takes. An invalid value is replaced by
        one that does not limit.
    """

    def __init__(self, grids, defaults, prefix=""):
        blocks, start = [], 0
        for grid in grids:
            positions, size = _positions(grid)
            blocks.append((grid, positions, np.arange(start, start + size)))
            start += size
        self._read(blocks, defaults, prefix)

    @classmethod
    def of_candidates(cls, candidates, defaults, prefix=""):
        """Return the table of settings that are given one by one.

        Parameters
        ----------
        candidates : list of dict of str to object
            Parameters of each setting.
        defaults, prefix
            As above.

        Returns
        -------
        SettingTable
        """
        of_names = {}
        for i, params in enumerate(candidates):
            of_names.setdefault(tuple(sorted(params)), []).append(i)
        blocks = []
        for names, members in of_names.items():
            values, positions = {}, {}
            for name in names:
                distinct = {}
                drawn = [candidates[i][name] for i in members]
                codes = [
                    distinct.setdefault(_key(value), (len(distinct), value)) for value in drawn
                ]
                values[name] = [value for _, value in distinct.values()]
                positions[name] = np.array([code for code, _ in codes])
            blocks.append((values, positions, np.array(members)))
        table = cls.__new__(cls)
        table._read(blocks, defaults, prefix)
        return table

    def _read(self, blocks, defaults, prefix):
        """Take over blocks: values by name, each setting's positions in them, and the settings."""
        self._blocks, self._prefix = blocks, prefix
        self.size = sum(len(members) for _, _, members in blocks)
        self.is_valid = np.ones(self.size, dtype=bool)
        self._settings = np.empty(self.size, dtype=SETTING_DTYPE)
        self._fractions = []  # (settings, fraction of the rows)
        for values, positions, members in blocks:
            for name in LIMITS:
                key = prefix + name
                self._fill(members, name, values.get(key, [defaults[name]]), positions.get(key, 0))

    def _fill(self, members, name, values, positions):
        """Write a limit of the settings of a block; `positions` is 0 if there is one value."""
        numbers = np.array(values)
        if numbers.ndim == 1 and numbers.dtype.kind == _KIND[name]:
            valid = (_LEAST[name] <= numbers) & (numbers < inf)
            numbers = np.where(valid, numbers, _UNLIMITED_NUMBER[name])
        else:
            valid = np.array([is_valid_limit(name, value) for value in values])
            allowed = [value if ok else UNLIMITED[name] for value, ok in zip(values, valid)]
            numbers = np.array(
                [self._number(name, value) for value in allowed], dtype=SETTING_DTYPE[name]
            )
            if name == "min_samples_split":
                at = np.broadcast_to(positions, len(members))
                self._fractions += [
                    (members[at == i], value)
                    for i, value in enumerate(values)
                    if valid[i] and not isinstance(value, Integral)
                ]
        if not valid.all():
            self.is_valid[members] &= valid[positions]
        self._settings[name][members] = numbers[positions]

    @staticmethod
    def _number(name, value):
        """A valid value as the number that a setting holds; a fraction of rows is left open."""
        if value is None or (name == "min_samples_split" and not isinstance(value, Integral)):
            return _UNLIMITED_NUMBER[name]
        return min(value, _NO_LIMIT) if SETTING_DTYPE[name].kind == "i" else as_double(value)

    def numbers(self, n_samples):
        """Return the settings in absolute numbers.

        Parameters
        ----------
        n_samples : int
            Number of rows that fractions refer to.

        Returns
        -------
        ndarray of shape (size,), dtype=SETTING_DTYPE
        """
        settings = self._settings.copy()
        for members, fraction in self._fractions:
            settings["min_samples_split"][members] = max(2, n_rows_of(fraction, n_samples))
        return settings

    def groups(self, cut):
        """Return the settings that differ in the limits `cut` only, together.

        Parameters
        ----------
        cut : collection of str
            Names of limits, without the prefix.

        Returns
        -------
        list of (dict, ndarray of intp)
            The other parameters and the settings that have them, by first appearance.
        """
        groups, limits = {}, {self._prefix + name for name in cut}
        for values, positions, members in self._blocks:
            names = [name for name in values if name not in limits]
            group, first = np.zeros(len(members), dtype=np.intp), np.zeros(1, dtype=np.intp)
            for name in names:
                code = group * len(values[name]) + positions[name]
                _, first, group = np.unique(code, return_index=True, return_inverse=True)
            for number, at in enumerate(first):
                params = {name: values[name][positions[name][at]] for name in names}
                found = groups.setdefault(params_key(params), (params, []))[1]
                found.append(members[group == number])
        return [(params, np.sort(np.concatenate(parts))) for params, parts in groups.values()]


def _positions(grid):
    """Positions on each axis of the settings of a product (the last name varies fastest), and
    their number."""
    names = sorted(grid)
    shape = [len(grid[name]) for name in names]
    size = int(np.prod(shape))
    positions = np.unravel_index(np.arange(size), shape) if names else ()
    return dict(zip(names, positions)), size


def params_key(params):
    """Return a key that is equal for equal dicts of parameters."""
    return frozenset((name, _key(value)) for name, value in params.items())


def _key(value):
    """A key for a parameter's value; unhashable ones are equal if they are the same object."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value
