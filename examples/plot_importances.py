"""
Which features matter, and how sure that is
===========================================

A tree's own importances are shares of the decrease of impurity on the rows of the
fit. They favour features with many values: a column of random numbers gets a share
too. What is lost when a column of held-out rows is shuffled has no such bias, and
shuffling repeatedly gives a spread.
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
left.set_title("On the rows of the fit")
right.set_title("On held-out rows, shuffled ten times")
plt.show()
