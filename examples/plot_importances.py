"""
Which features matter, and how sure that is
===========================================

``feature_importances_`` are the shares of the features in the decrease of impurity on
the training rows. They favour features with many values: even a column of random
numbers gets a share. Permutation importances do not: they say how much the score on
held-out rows drops when a column is shuffled. Repeated shuffling gives their spread.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from fasttree.datasets import load_wine_quality
from fasttree.export import ImportancesDisplay
from fasttree.tree import DecisionTreeClassifier

wine = load_wine_quality(as_frame=True)
table = wine.data.assign(noise=np.random.default_rng(0).normal(size=len(wine.data)))
X, X_test, y, y_test = train_test_split(table, wine.target >= 6, random_state=0)
tree = DecisionTreeClassifier().fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
ImportancesDisplay.from_estimator(tree, ax=left)
ImportancesDisplay.from_estimator(tree, X_test, y_test, random_state=0, ax=right)
left.set_title("Decrease of impurity, training rows")
right.set_title("Permutation, held-out rows")
plt.show()
