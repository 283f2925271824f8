"""The bundled table."""

import numpy as np

from fasttree.datasets import load_wine_quality


def test_wine_quality():
    wine = load_wine_quality()
    assert wine.data.shape == (6497, 12)
    assert wine.data.dtype == np.float64
    assert np.isfinite(wine.data).all()
    assert wine.frame is None
    assert wine.feature_names[-1] == "color"
    # Published counts: 1,599 red wines and 4,898 white ones.
    np.testing.assert_array_equal(np.bincount(wine.data[:, -1].astype(int)), [1599, 4898])
    assert wine.categories == {"color": ["red", "white"]}
    quality, counts = np.unique(wine.target, return_counts=True)
    np.testing.assert_array_equal(quality, [3, 4, 5, 6, 7, 8, 9])
    np.testing.assert_array_equal(counts, [30, 216, 2138, 2836, 1079, 193, 5])
    for words in ("10.24432/C56S3T", "CC BY 4.0", "Cortez"):
        assert words in wine.DESCR


def test_wine_quality_return_X_y():
    wine = load_wine_quality()
    X, y = load_wine_quality(return_X_y=True)
    np.testing.assert_array_equal(X, wine.data)
    np.testing.assert_array_equal(y, wine.target)


def test_wine_quality_as_frame():
    wine = load_wine_quality()
    framed = load_wine_quality(as_frame=True)
    assert list(framed.data.columns) == wine.feature_names
    assert list(framed.frame.columns) == [*wine.feature_names, "quality"]
    assert list(framed.data["color"].cat.categories) == wine.categories["color"]
    np.testing.assert_array_equal(framed.data["color"].cat.codes, wine.data[:, -1])
    np.testing.assert_array_equal(framed.data.drop(columns="color"), wine.data[:, :-1])
    np.testing.assert_array_equal(framed.target, wine.target)
