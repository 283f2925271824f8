"""
Why this prediction: SHAP values
================================

A SHAP value says how far a column moves the prediction for a row away from the
average. :func:`~fasttree.export.shap_values` computes these values exactly. Columns of
categories need no encoder and have one value each, like all others.
"""

import matplotlib.pyplot as plt
import numpy as np

from fasttree.datasets import load_wine_quality
from fasttree.export import shap_values
from fasttree.tree import DecisionTreeRegressor

wine = load_wine_quality(as_frame=True)
tree = DecisionTreeRegressor(max_depth=6).fit(wine.data, wine.target)
found = shap_values(tree, wine.data)

# %%
# The values of a row and the average add up to its prediction.

row = 17
print(
    found.base_values + found.values[row].sum(), tree.predict(wine.data[row : row + 1])
)

# %%
# Left: what raises and what lowers the prediction for this wine. Right: the mean
# absolute SHAP values of the columns over all wines.

order = np.argsort(np.abs(found.values).mean(axis=0))
names = np.array(found.feature_names)[order]
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
values = found.values[row, order]
left.barh(names, values, color=np.where(values < 0, "tab:blue", "tab:red"))
left.set(title=f"Wine {row}", xlabel="points of quality")
right.barh(names, np.abs(found.values).mean(axis=0)[order], color="tab:gray")
right.set(title="All wines", xlabel="mean absolute value, points of quality")
plt.show()

# %%
# If the package ``shap`` is installed, its plots take ``found.explanation()``.
