"""
A tree to open and close
========================

A full tree has hundreds of leaves and fits no picture. :func:`~fasttree.export.show`
draws it as it is opened. Click a node to open or close it, drag to move, hold Ctrl
and turn the wheel to zoom, type a feature into the search field. Under *Row* the page
asks the tree's questions one by one, and lights up the path of the answers.
"""

from fasttree.datasets import load_wine_quality
from fasttree.export import TreeDisplay, export_html, show
from fasttree.tree import DecisionTreeClassifier

wine = load_wine_quality(as_frame=True)
tree = DecisionTreeClassifier(min_samples_leaf=5).fit(wine.data, wine.target)
print(f"{tree.tree_.node_count} nodes, depth {tree.get_depth()}")

# %%
# With data, each node shows the histogram of its feature. ``n_rows=50`` puts the
# first 50 wines into the page, to be picked under *Row*; without it the page holds no
# row, only counts.

show(tree, wine.data, wine.target, n_rows=50, title="Marks of wines")

# %%
# The same as a file, which opens in any browser and asks for nothing from the
# network:

page = export_html(tree, wine.data, wine.target, title="Marks of wines")
print(f"{len(page) / 1e6:.2f} MB")

# %%
# For print there is a drawing of the top:

TreeDisplay.from_estimator(tree, wine.data, wine.target, max_depth=2)
# sphinx_gallery_thumbnail_number = 1
