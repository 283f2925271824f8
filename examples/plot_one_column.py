"""
The best split of one column
============================

The search for splits can be used without a tree.
:func:`~fasttree.tree.best_split` returns the best split of a column, and
:func:`~fasttree.tree.feature_scores` scores all columns, for example to select some.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from fasttree.datasets import load_wine_quality
from fasttree.tree import DecisionTreeClassifier, best_split, feature_scores

wine = load_wine_quality()
X, y = wine.data, wine.target >= 6
scores = feature_scores(X, y, criterion="gini")
split = best_split(X[:, 10], y, criterion="gini")
print(split)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
order = np.argsort(scores)
left.barh(np.array(wine.feature_names)[order], scores[order])
left.set_xlabel("score of the best split")
for label in (False, True):
    right.hist(X[y == label, 10], bins=40, alpha=0.6, label=f"6 or better: {label}")
right.axvline(split.threshold, color="black", linestyle="--", label="best split")
right.set_xlabel("alcohol")
right.legend()
plt.show()

# %%
# As a filter before another estimator:

for k in (2, 4, 8, 12):
    chosen = SelectKBest(score_func=feature_scores, k=k)
    tree = DecisionTreeClassifier(min_samples_leaf=20)
    score = cross_val_score(make_pipeline(chosen, tree), X, y).mean()
    print(f"best {k:>2} columns: accuracy {score:.3f}")
