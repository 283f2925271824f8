"""
A report on a tree
==================

:func:`~fasttree.export.describe` puts together what one asks of a fitted tree: the
data, its size, its scores beside a baseline, which classes it confuses, whether its
probabilities can be believed, and which features it uses.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from fasttree.datasets import load_wine_quality
from fasttree.export import describe
from fasttree.tree import DecisionTreeClassifier

wine = load_wine_quality(as_frame=True)
is_good = wine.target >= 6
X, X_test, y, y_test = train_test_split(wine.data, is_good, random_state=0)
tree = DecisionTreeClassifier(min_samples_leaf=25).fit(X, y)

report = describe(tree, X, y, X_test, y_test, title="Wines of mark 6 and better")
report

# %%
# Printed, it is text; ``report.save("wine.html")`` and ``report.save("wine.txt")``
# write it.

print(report["Scores"].to_text())

# %%
# Parts are found by their titles and hold plain values, so they can be used
# elsewhere:

curve = report["Calibration curve"].curves["class True"]
plt.plot(*curve, "o-", label="tree")
plt.plot([0, 1], [0, 1], "--", color="gray", label="perfect")
plt.xlabel("predicted probability")
plt.ylabel("observed share")
plt.legend()
plt.show()
