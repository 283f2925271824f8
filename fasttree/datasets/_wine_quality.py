"""Loader of the wine quality table."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, overload

import numpy as np
from sklearn.utils import Bunch

from fasttree._csv import read_csv, to_numbers

if TYPE_CHECKING:
    from typing import Any, Literal

_COLORS = ("red", "white")


@overload
def load_wine_quality(*, return_X_y: Literal[False] = False, as_frame: bool = False) -> Bunch: ...


@overload
def load_wine_quality(*, return_X_y: Literal[True], as_frame: bool = False) -> tuple[Any, Any]: ...


def load_wine_quality(
    *, return_X_y: bool = False, as_frame: bool = False
) -> Bunch | tuple[Any, Any]:
    """Load the wine quality table: measurements of 6,497 wines and the marks tasters gave them.

    The table has 6,497 rows and 12 columns, one of which holds the codes of a category. The target
    is an integer from 3 to 9, which can be taken as a class or as a quantity.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Give pandas objects; the colour is then a column of dtype category.

    Returns
    -------
    wine : :class:`~sklearn.utils.Bunch`, or tuple with `return_X_y`
        ``(data, target)``, or a Bunch of

        * ``data``, float64 array (6497, 12) or DataFrame: eleven measured columns and the colour,
          0 red, 1 white;
        * ``target``, int64 array (6497,) or Series: the quality;
        * ``feature_names``, list of str;
        * ``categories``, dict: the categories of columns that hold codes, in code order;
        * ``frame``, DataFrame (6497, 13) with `as_frame`, else None: data and target together;
        * ``DESCR``, str: description, source and licence.

    Notes
    -----
    Source: P. Cortez, A. Cerdeira, F. Almeida, T. Matos, J. Reis, Wine Quality, UCI Machine
    Learning Repository, 2009, https://doi.org/10.24432/C56S3T, licence CC BY 4.0.

    Examples
    --------
    >>> from fasttree.datasets import load_wine_quality
    >>> X, y = load_wine_quality(return_X_y=True)
    >>> X.shape
    (6497, 12)
    """
    folder = resources.files("fasttree.datasets") / "data"
    with resources.as_file(folder / "wine_quality.csv.gz") as path:
        columns = read_csv(path)
    target = to_numbers(columns.pop("quality")).astype(np.int64)
    colors = [_COLORS.index(color) for color in columns.pop("color")]
    feature_names = [*columns, "color"]
    data = np.column_stack([to_numbers(cells) for cells in columns.values()] + [colors])
    frame = None
    if as_frame:
        data, target, frame = _to_pandas(data, target, feature_names)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        categories={"color": list(_COLORS)},
        frame=frame,
        DESCR=(folder / "wine_quality.rst").read_text(encoding="utf-8"),
    )


def _to_pandas(data, target, feature_names):
    import pandas as pd

    frame = pd.DataFrame(data, columns=feature_names)
    frame["color"] = pd.Categorical.from_codes(frame["color"].astype(int), _COLORS)
    frame["quality"] = target
    return frame[feature_names], frame["quality"], frame
