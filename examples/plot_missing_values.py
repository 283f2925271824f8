"""
Missing values
==============

At each split, missing values go to the side that fits them better, so no imputation is
needed. If the fact that a value is missing says something about the target, the tree
can use it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from fasttree.datasets import load_wine_quality
from fasttree.tree import DecisionTreeClassifier

X, y = load_wine_quality(return_X_y=True)
y = y >= 6
rng = np.random.default_rng(0)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
shares = [0, 0.1, 0.2, 0.3, 0.4, 0.5]
tree = DecisionTreeClassifier(min_samples_leaf=20)
rivals = {"as they are": tree, "mean imputed": make_pipeline(SimpleImputer(), tree)}


def scores(is_missing):
    """Accuracy of both where the given cells are missing."""
    X_missing = np.where(is_missing, np.nan, X)
    return [
        cross_val_score(rival, X_missing, y, cv=folds).mean()
        for rival in rivals.values()
    ]


at_random = [scores(rng.random(X.shape) < share) for share in shares]
# Here poor wines are measured less often, so a missing value is informative.
is_poor = ~y[:, None]
with_reason = [scores(is_poor & (rng.random(X.shape) < share)) for share in shares]

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, found, title in zip(
    axes, (at_random, with_reason), ("missing at random", "missing for a reason")
):
    for name, curve in zip(rivals, np.transpose(found)):
        ax.plot(shares, curve, "o-", label=name)
    ax.set(title=title, xlabel="share of missing cells")
axes[0].set_ylabel("accuracy")
axes[0].legend()
plt.show()
