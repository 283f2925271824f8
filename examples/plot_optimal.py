"""
An optimal tree beside a greedy one
===================================

A greedy tree takes the best split at the root, then the best split of each side. The
best tree of the same size may start differently.
:class:`~fasttree.optimal.OptimalDecisionTreeClassifier` finds it, and proves that no
other has fewer errors on the training rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTreeClassifier

# %%
# Four squares of a chessboard. No single split helps, so the first split of a greedy
# tree is arbitrary.

rng = np.random.default_rng(3)
X = rng.random((300, 2))
y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
greedy = DecisionTreeClassifier(max_depth=2).fit(X, y)
optimal = OptimalDecisionTreeClassifier(max_depth=2, n_thresholds=300).fit(X, y)

# %%
# ``is_optimal_`` says that the search was completed: no tree of depth two makes fewer
# errors.

print(f"greedy:  {np.sum(greedy.predict(X) != y)} errors")
print(
    f"optimal: {np.sum(optimal.predict(X) != y)} errors, proven: {optimal.is_optimal_}"
)

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharey=True)
grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 300)] * 2), axis=-1).reshape(-1, 2)
for ax, (name, tree) in zip(axes, {"greedy": greedy, "optimal": optimal}.items()):
    surface = tree.predict(grid).reshape(300, 300)
    ax.imshow(surface, origin="lower", extent=(0, 1, 0, 1), cmap="coolwarm", alpha=0.35)
    ax.scatter(*X.T, c=y, cmap="coolwarm", s=12)
    ax.set_title(f"{name}: accuracy {tree.score(X, y):.2f}")
plt.show()
