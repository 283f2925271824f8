"""
Monotonic constraints
=====================

If you know that the target rises with a feature, ``monotonic_cst`` makes the tree
respect it, so that noise cannot bend the curve downwards. Use 1 for rising, -1 for
falling and 0 for no constraint.
"""

import matplotlib.pyplot as plt
import numpy as np

from fasttree.tree import DecisionTreeRegressor

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 200)).reshape(-1, 1)
y = np.log1p(x[:, 0]) + rng.normal(scale=0.35, size=200)
grid = np.linspace(0, 10, 1000).reshape(-1, 1)

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
ax.scatter(x, y, s=10, color="gray", alpha=0.6)
for constraint, color in ((None, "tab:orange"), ([1], "tab:blue")):
    tree = DecisionTreeRegressor(max_leaf_nodes=15, monotonic_cst=constraint).fit(x, y)
    predicted = tree.predict(grid)
    error = np.abs(predicted - np.log1p(grid[:, 0])).mean()
    label = f"monotonic_cst={constraint}: mean error {error:.3f}"
    ax.plot(grid, predicted, color=color, lw=2, label=label)
    print(f"{label}, falls {np.sum(np.diff(predicted) < 0)} times")
ax.legend()
plt.show()
