"""
Tuning a tree from one fit
==========================

A full tree of the wine quality table is tuned in three ways: by cross-validation, on
validation rows, and by reduced-error pruning. No setting needs a fit of its own. Curves
show the effect of each limit.
"""

import time

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from fasttree.datasets import load_wine_quality
from fasttree.model_selection import TrainOnceSearchCV, TuningCurveDisplay
from fasttree.tree import DecisionTreeClassifier

X, y = load_wine_quality(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0)


def describe(name, tree):
    """One line: size and held-out accuracy."""
    accuracy = tree.score(X_test, y_test)
    print(f"{name:<22}{tree.get_n_leaves():>5} leaves, accuracy {accuracy:.4f}")


# %%
# Cross-validation
# ----------------
# 5,000 settings from five fits, and one more to refit the best.

grid = {"max_depth": range(1, 26), "min_samples_split": range(2, 202)}
start = time.perf_counter()
search = TrainOnceSearchCV(DecisionTreeClassifier(), grid).fit(X, y)
seconds = time.perf_counter() - start
n_settings = len(search.cv_results_["params"])
print(f"best of {n_settings} settings in {seconds:.2f} s: {search.best_params_}")
describe("full tree", DecisionTreeClassifier().fit(X, y))
describe("cross-validated", search.best_estimator_)

# %%
# Validation rows
# ---------------
# Quicker still: one fit, and one pass over rows that were held out.

X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=1)
tree = DecisionTreeClassifier().fit(X_train, y_train)
result = tree.tune(X_val, y_val)
print(f"best of {len(result.scores)} settings: {result.best_params}")
describe("tuned", result.estimator)
describe("reduced-error pruned", tree.reduced_error_prune(X_val, y_val))

# %%
# Curves
# ------
# Scores on training and held-out rows for the values of three limits, with five fits
# each.

figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True)
for ax, name in zip(axes, ("max_depth", "max_leaf_nodes", "ccp_alpha")):
    TuningCurveDisplay.from_estimator(
        DecisionTreeClassifier(), X, y, param_name=name, ax=ax, score_name="Accuracy"
    )
axes[-1].set(xscale="linear", xlim=(0, 0.004), xticks=[0, 0.002, 0.004])
figure.tight_layout()
plt.show()
