"""
Forests: out-of-bag error, intervals and importances
====================================================

The rows that a bootstrap sample leaves out show how many trees are enough, which
features matter, and how certain a prediction is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from fasttree.datasets import load_wine_quality
from fasttree.ensemble import RandomForestClassifier, RandomForestQuantileRegressor
from fasttree.export import ImportancesDisplay

# %%
# How many trees
# --------------
# With ``warm_start=True`` each fit adds trees to the forest.

wine = load_wine_quality()
forest = RandomForestClassifier(warm_start=True, oob_score=True, random_state=0)
sizes = [30, 40, 60, 100, 150]
errors = []
for size in sizes:
    forest.set_params(n_estimators=size).fit(wine.data, wine.target)
    errors.append(1 - forest.oob_score_)

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.plot(sizes, errors, marker="o")
axes.set(xlabel="number of trees", ylabel="out-of-bag error")

# %%
# Which features
# --------------
# How much the error of the trees on their out-of-bag rows increases if a feature is
# permuted. The lines show the spread of five permutations.

found = forest.oob_permutation_importances(n_repeats=5, random_state=0)
ImportancesDisplay(
    importances=found.importances,
    feature_names=wine.feature_names,
    name="increase of the error rate",
).plot()

# %%
# How certain
# -----------
# Nine tenths of the targets should lie between the quantiles 0.05 and 0.95. With
# ``oob_score=True`` no row takes part in its own prediction.

X, y = load_diabetes(return_X_y=True)
forest = RandomForestQuantileRegressor(200, min_samples_leaf=5, random_state=0)
low, middle, high = forest.fit(X, y).predict(X, [0.05, 0.5, 0.95], oob_score=True).T
print(f"{((low <= y) & (y <= high)).mean():.0%} of the rows are inside")

order = np.argsort(middle)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
axes.fill_between(np.arange(len(y)), low[order], high[order], alpha=0.3)
axes.plot(middle[order], label="median")
axes.plot(y[order], ".", markersize=3, label="target")
axes.set(xlabel="rows by median", ylabel="progression of diabetes")
axes.legend()
plt.show()
