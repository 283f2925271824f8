"""
Rare classes
============

One wine in five is good, and a tree that makes few errors may still overlook most of
them. A higher weight of the good wines finds more of them, at the price of more false
alarms. ``class_weight="balanced"`` gives both classes the same total weight.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import cross_val_predict

from fasttree.datasets import load_wine_quality
from fasttree.tree import DecisionTreeClassifier

X, y = load_wine_quality(return_X_y=True)
is_good = y >= 7
print(f"{is_good.mean():.0%} of the wines are good")

weights = [0.25, 0.5, 1, 2, 4, 8, 16]
found = []
for weight in weights:
    tree = DecisionTreeClassifier(max_depth=6, class_weight={False: 1, True: weight})
    predicted = cross_val_predict(tree, X, is_good)
    found.append(
        (recall_score(is_good, predicted), precision_score(is_good, predicted))
    )

recall, precision = np.transpose(found)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.semilogx(weights, recall, "o-", base=2, label="recall: good wines found")
ax.semilogx(weights, precision, "o-", base=2, label="precision: finds that are good")
ax.set_xlabel("weight of a good wine")
ax.legend()
plt.show()
