"""
A report on a tree
==================

:func:`~fasttree.export.describe` answers the usual questions about a fitted tree. What
was the data, and how large is the tree? How do its scores compare with a baseline,
which classes does it confuse, and are its probabilities reliable? Which features does
it use?
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
# ``print(report)`` prints it as text; ``report.save("wine.html")`` and
# ``report.save("wine.txt")`` write it to a file. This is one of its parts:

print(report["Scores"].to_text())

# %%
# You get a part by its title. Parts hold plain values, which can be used elsewhere:

curve = report["Calibration curve"].curves["class True"]
plt.plot(*curve, "o-", label="tree")
plt.plot([0, 1], [0, 1], "--", color="gray", label="perfect")
plt.xlabel("predicted probability")
plt.ylabel("observed share")
plt.legend()
plt.show()
