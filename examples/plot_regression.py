"""
Regression: squared error, absolute error, and outliers
=======================================================

A regression tree predicts a step function. With squared error a leaf predicts the mean
of its rows, with absolute error their median, which a few outliers hardly change.
"""

import matplotlib.pyplot as plt
import numpy as np

from fasttree.tree import DecisionTreeRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 300))
y = np.sin(x) + rng.normal(scale=0.1, size=300)
y[rng.choice(300, 20, replace=False)] += 4  # outliers
grid = np.linspace(0, 6, 1000).reshape(-1, 1)

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.scatter(x, y, s=10, color="gray", alpha=0.6)
ax.plot(grid, np.sin(grid), "--", color="gray", label="truth")
for criterion, color in (
    ("squared_error", "tab:orange"),
    ("absolute_error", "tab:blue"),
):
    tree = DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=12)
    tree.fit(x.reshape(-1, 1), y)
    ax.plot(grid, tree.predict(grid), color=color, lw=2, label=criterion)
    error = np.abs(tree.predict(grid) - np.sin(grid[:, 0])).mean()
    print(f"{criterion:<15} mean distance from the truth {error:.3f}")
ax.legend()
plt.show()
