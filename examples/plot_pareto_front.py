"""
The best tree of every size
===========================

One search with ``pareto_front=True`` finds the best tree for each number of leaves, and
proves it. A curve then shows what each further leaf gains, and held-out rows help to
choose the size.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from fasttree.export import ParetoFrontDisplay, TreeDisplay
from fasttree.optimal import OptimalDecisionTreeClassifier

cancer = load_breast_cancer(as_frame=True)
names = cancer.target.map(dict(enumerate(cancer.target_names)))
X, X_test, y, y_test = train_test_split(cancer.data, names, random_state=0)
tree = OptimalDecisionTreeClassifier(max_depth=3, pareto_front=True).fit(X, y)
ParetoFrontDisplay.from_estimator(tree, X_test, y_test)

# %%
# The curves diverge where the tree begins to memorise its training rows.
# ``from_front`` returns a tree of the front without another search.

small = tree.from_front(max_leaf_nodes=4)
print(f"{small.get_n_leaves()} leaves, accuracy {small.score(X_test, y_test):.3f}")
TreeDisplay.from_estimator(small, X, y)
