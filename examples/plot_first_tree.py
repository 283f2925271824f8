"""
A first tree
============

Fit a tree, see how good it is on rows it has not seen, and look at it. The data are
bundled: eleven measurements of 6,497 wines, their colour, and the marks that tasters
gave.
"""

from sklearn.model_selection import train_test_split

from fasttree.datasets import load_wine_quality
from fasttree.export import TreeDisplay
from fasttree.tree import DecisionTree, export_text

wine = load_wine_quality(as_frame=True)
is_good = (wine.target >= 7).map({True: "good", False: "not good"})
X, X_test, y, y_test = train_test_split(wine.data, is_good, random_state=0)

# %%
# The target decides what is fitted: text is a class, so this is a classifier. The
# colour is a column of categories; it is split as it is.

tree = DecisionTree(max_depth=5, min_samples_leaf=20).fit(X, y)
print(f"{tree.task_}: {tree.get_n_leaves()} leaves")
print(
    f"accuracy {tree.score(X_test, y_test):.3f} on {len(X_test)} wines it has not seen"
)

# %%
# The top of the tree as text ...

print(export_text(tree, max_depth=1))

# %%
# ... and as a picture. Each box shows how the values of its feature are distributed
# among the wines that come there, and where the tree cuts them.

display = TreeDisplay.from_estimator(tree, X, y, max_depth=2)

# %%
# :ref:`sphx_glr_gallery_plot_html_tree.py` shows all of it, to be opened and closed.
