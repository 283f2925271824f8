"""
Handing a tree on
=================

A fitted tree can be used elsewhere: as arrays, as rules, as a query, as code or as a
file. It can also be pickled, and
:meth:`~fasttree.tree.DecisionTreeClassifier.to_sklearn` turns it into a genuine
scikit-learn estimator for tools that read nothing else.
"""

import pickle
import sqlite3
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from fasttree.datasets import load_wine_quality
from fasttree.export import export_python, export_rules, export_sql, load, save
from fasttree.tree import DecisionTreeClassifier

wine = load_wine_quality()
columns = [wine.feature_names.index(name) for name in ("alcohol", "volatile_acidity")]
X, y = wine.data[:, columns], wine.target >= 6
tree = DecisionTreeClassifier(max_leaf_nodes=12).fit(X, y)

# %%
# As arrays with an entry per node. Children are given by their ids, -1 at leaves.

fitted = tree.tree_
for name in ("children_left", "children_right", "feature", "n_node_samples"):
    print(f"{name:<16}{getattr(fitted, name)[:8]}")

# %%
# As rules for people, one for each leaf. Several questions about a column are merged
# into one condition.

names = ["alcohol", "volatile_acidity"]
print(*export_rules(tree, feature_names=names, class_names=["poor", "good"]), sep="\n")

# %%
# As a query for a database. It predicts what ``predict`` predicts, because it compares
# with the numbers at which rounding to float32 crosses the thresholds.

database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE wines (alcohol REAL, volatile_acidity REAL)")
database.executemany("INSERT INTO wines VALUES (?, ?)", X.tolist())
query = export_sql(tree, "wines", feature_names=names)
answers = [row[0] for row in database.execute(query)]
print(np.array_equal(answers, tree.predict(X)))

# %%
# As a Python module that imports nothing; ``export_c`` writes the same in C.

module = {}
exec(export_python(tree), module)
print(module["predict"](X[0]), module["predict_proba"](X[0]))

# %%
# As a JSON file, which other programs can read. Loading it executes nothing.

with tempfile.TemporaryDirectory() as folder:
    save(tree, f"{folder}/tree.json")
    read = load(f"{folder}/tree.json")
print(np.array_equal(read.predict(X), tree.predict(X)))

# %%
# As a pickle, which is checked when it is loaded, and as a scikit-learn estimator.
# Both predict the same.

loaded = pickle.loads(pickle.dumps(tree))
theirs = tree.to_sklearn()
print(type(theirs).__module__, np.array_equal(theirs.predict(X), tree.predict(X)))
print(np.array_equal(loaded.predict(X), tree.predict(X)))

# %%
# scikit-learn's tools take either of them:

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, estimator in zip(axes, (tree, theirs)):
    DecisionBoundaryDisplay.from_estimator(
        estimator,
        X,
        ax=ax,
        response_method="predict_proba",
        class_of_interest=True,
        xlabel="alcohol",
        ylabel="volatile acidity",
        cmap="coolwarm",
    )
    ax.set_title(type(estimator).__module__.split(".")[0])
plt.show()
