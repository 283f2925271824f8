"""
A table with categories and missing values
==========================================

Real tables have categories in some columns and missing values in others. A tree splits
them as they are: nothing has to be encoded, imputed or dropped.
"""

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fasttree.datasets import load_wine_quality
from fasttree.export import TreeDisplay
from fasttree.tree import DecisionTreeClassifier, export_text

# %%
# A table with three columns of categories and three of numbers. In four of them a tenth
# of the values is missing.

wine = load_wine_quality(as_frame=True)
rng = np.random.default_rng(0)
table = wine.data[["color", "alcohol", "pH", "volatile_acidity"]].copy()
sweetness = np.digitize(wine.data["residual_sugar"], [1.5, 3, 8])
table["sweetness"] = np.array(["bone dry", "dry", "off-dry", "sweet"])[sweetness]
sulfur = np.digitize(wine.data["free_sulfur_dioxide"], [12, 45])
table["sulfur"] = np.array(["little", "usual", "much"])[sulfur]
for name in ("alcohol", "pH", "volatile_acidity", "sulfur"):
    table.loc[rng.random(len(table)) < 0.1, name] = None
y = np.where(wine.target >= 6, "6 or more", "5 or less")
table.head()

# %%
# The frame is passed as it is. Questions name categories, and say where missing values
# go.

tree = DecisionTreeClassifier(max_depth=4).fit(table, y)
print(export_text(tree, max_depth=1))
TreeDisplay.from_estimator(tree, table, y, max_depth=2)

# %%
# ``categories_`` lists the categories of each column. Unknown categories go where
# missing values go.

for name, categories in zip(table.columns, tree.categories_):
    print(f"{name:<18}{categories}")

# %%
# An encoder gains nothing:

trees = {
    "as it is": DecisionTreeClassifier(max_depth=8),
    "one-hot": make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(max_depth=8)
    ),
}
for name, estimator in trees.items():
    print(f"{name:<10} accuracy {cross_val_score(estimator, table, y).mean():.3f}")
