"""
A tree to open and close
========================

A full tree has hundreds of leaves, too many for one picture.
:func:`~fasttree.export.show` puts it on an interactive page, which draws nodes as you
open them. Click a node to open or close it, drag to move the tree, hold Ctrl and turn
the wheel to zoom, or type a feature into the search field. Under *Row* the page asks
the questions of the tree one by one, and lights up the path of the answers.
"""

from fasttree.datasets import load_wine_quality
from fasttree.export import TreeDisplay, export_html, show
from fasttree.tree import DecisionTreeClassifier

wine = load_wine_quality(as_frame=True)
tree = DecisionTreeClassifier(min_samples_leaf=5).fit(wine.data, wine.target)
print(f"{tree.tree_.node_count} nodes, depth {tree.get_depth()}")

# %%
# If you pass data, each node shows the histogram of its feature. With ``n_rows=50`` the
# page contains the first 50 wines, which can be chosen under *Row*; otherwise it
# contains counts but no rows.

show(tree, wine.data, wine.target, n_rows=50, title="Marks of wines")

# %%
# The same page as a file, which opens in any browser without a network connection:

page = export_html(tree, wine.data, wine.target, title="Marks of wines")
print(f"{len(page) / 1e6:.2f} MB")

# %%
# For print, ``TreeDisplay`` draws the top of the tree:

TreeDisplay.from_estimator(tree, wine.data, wine.target, max_depth=2)
# sphinx_gallery_thumbnail_number = 1
