"""
Handing a tree on
=================

A fitted tree is an ordinary estimator: it can be pickled, its arrays have
scikit-learn's names, and :meth:`~fasttree.tree.DecisionTreeClassifier.to_sklearn`
turns it into a genuine scikit-learn estimator for tools that read nothing else.
"""

import pickle

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from fasttree.datasets import load_wine_quality
from fasttree.tree import DecisionTreeClassifier, export_text

wine = load_wine_quality()
columns = [wine.feature_names.index(name) for name in ("alcohol", "volatile_acidity")]
X, y = wine.data[:, columns], wine.target >= 6
tree = DecisionTreeClassifier(max_leaf_nodes=12).fit(X, y)

# %%
# As arrays: a row per node, children by their ids, -1 where there are none.

fitted = tree.tree_
for name in ("children_left", "children_right", "feature", "n_node_samples"):
    print(f"{name:<16}{getattr(fitted, name)[:8]}")

# %%
# As rules for people:

print(export_text(tree, feature_names=["alcohol", "volatile acidity"], max_depth=2))

# %%
# As a pickle, which is checked when it is loaded, and as a scikit-learn estimator.
# Both predict the same.

loaded = pickle.loads(pickle.dumps(tree))
theirs = tree.to_sklearn()
print(type(theirs).__module__, np.array_equal(theirs.predict(X), tree.predict(X)))
print(np.array_equal(loaded.predict(X), tree.predict(X)))

# %%
# Tools of scikit-learn take either:

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, estimator in zip(axes, (tree, theirs)):
    DecisionBoundaryDisplay.from_estimator(
        estimator,
        X,
        ax=ax,
        response_method="predict_proba",
        class_of_interest=True,
        xlabel="alcohol",
        ylabel="volatile acidity",
        cmap="coolwarm",
    )
    ax.set_title(type(estimator).__module__.split(".")[0])
plt.show()
