"""A table with every kind of column, and a target."""

import numpy as np
import pandas as pd


def example():
    """A frame with every kind of column, and a target."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(2),
            "count": rng.integers(0, 50, n),
            "color": rng.choice(["red", "green", "blue"], n),
            "grade": [str(v) for v in rng.choice(["1", "2", " 3", "poor", "n.a."], n)],
            "is_new": rng.random(n) < 0.5,
        }
    )
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "color"] = None
    y = (frame["color"].eq("red") ^ frame["grade"].isin(["1", "poor"])).astype(int)
    y = y.where(rng.random(n) < 0.9, 2)
    return frame, y.to_numpy()
