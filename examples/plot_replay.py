"""
Replaying scikit-learn
======================

If several splits are equally good, or features are drawn at random, two libraries can
grow different trees that are both correct. With ``sklearn_random_stream=True`` fasttree
draws the random numbers of scikit-learn, and the same ``random_state`` gives
scikit-learn's tree, node for node.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn.tree

import fasttree
from fasttree.datasets import load_wine_quality
from fasttree.export import TreeDisplay
from fasttree.tree import DecisionTreeClassifier

X, y = load_wine_quality(return_X_y=True)
params = dict(max_features="sqrt", random_state=3, max_depth=12)
theirs = sklearn.tree.DecisionTreeClassifier(**params).fit(X, y)
with fasttree.config_context(sklearn_random_stream=True):
    ours = DecisionTreeClassifier(**params).fit(X, y)

for field in ("feature", "threshold", "impurity", "n_node_samples", "value"):
    same = np.array_equal(getattr(ours.tree_, field), getattr(theirs.tree_, field))
    print(
        f"{field:<16}{'same' if same else 'different'} in {ours.tree_.node_count} nodes"
    )

# %%
# The tops of both trees:

figure, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
for ax, (name, tree) in zip(axes, {"fasttree": ours, "scikit-learn": theirs}.items()):
    TreeDisplay.from_estimator(tree, X, y, max_depth=2, ax=ax, fontsize=7)
    ax.set_title(name)
plt.show()
