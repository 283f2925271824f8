"""
What depth does
===============

Each split divides one rectangle of the plane into two. A tree of three levels finds the
outline. A full tree puts an island around every row that disagrees with its neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from fasttree.tree import DecisionTreeClassifier

iris = load_iris()
X, y = iris.data[:, :2], iris.target
lows, highs = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
grid = np.stack(
    np.meshgrid(*(np.linspace(lo, hi, 300) for lo, hi in zip(lows, highs))), axis=-1
).reshape(-1, 2)
extent = (lows[0], highs[0], lows[1], highs[1])

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
for ax, depth in zip(axes, (1, 3, None)):
    tree = DecisionTreeClassifier(max_depth=depth).fit(X, y)
    surface = tree.predict(grid).reshape(300, 300)
    ax.imshow(
        surface, origin="lower", extent=extent, aspect="auto", cmap="viridis", alpha=0.4
    )
    ax.scatter(*X.T, c=y, s=15, edgecolor="white", linewidth=0.4)
    ax.set(title=f"max_depth={depth}: {tree.get_n_leaves()} leaves")
    ax.set_xlabel(iris.feature_names[0])
axes[0].set_ylabel(iris.feature_names[1])
plt.show()
