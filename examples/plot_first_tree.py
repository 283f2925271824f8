"""
A first tree
============

Fit a tree, measure its accuracy on held-out rows, and look at it. The table comes with
fasttree: eleven measurements of 6,497 wines, their colour, and the marks that tasters
gave them.
"""

from sklearn.model_selection import train_test_split

from fasttree.datasets import load_wine_quality
from fasttree.export import TreeDisplay
from fasttree.tree import DecisionTree, export_text

wine = load_wine_quality(as_frame=True)
is_good = (wine.target >= 7).map({True: "good", False: "not good"})
X, X_test, y, y_test = train_test_split(wine.data, is_good, random_state=0)

# %%
# The target decides what is fitted. Here it is text, so ``DecisionTree`` fits a
# classifier. The colour is a column of categories, which needs no encoding.

tree = DecisionTree(max_depth=5, min_samples_leaf=20).fit(X, y)
print(f"{tree.task_}: {tree.get_n_leaves()} leaves")
print(f"accuracy {tree.score(X_test, y_test):.3f} on {len(X_test)} held-out wines")

# %%
# The top of the tree as text ...

print(export_text(tree, max_depth=1))

# %%
# ... and as a drawing. Each box shows the distribution of its feature among the wines
# that reach the node, and the threshold of the split.

display = TreeDisplay.from_estimator(tree, X, y, max_depth=2)

# %%
# :ref:`sphx_glr_gallery_plot_html_tree.py` shows a whole tree on an interactive page.
