"""
Text as a sparse matrix
=======================

A document contains few of all words. A sparse matrix stores only these, and the time of
a fit depends on them alone. The documents here are paragraphs of scikit-learn's own
docstrings, and the tree predicts whether they describe linear models or ensembles.
"""

import inspect
import time

import matplotlib.pyplot as plt
import numpy as np
import sklearn.ensemble
import sklearn.linear_model
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from fasttree.export import ImportancesDisplay
from fasttree.tree import DecisionTreeClassifier, export_text

documents, labels = [], []
for module in (sklearn.linear_model, sklearn.ensemble):
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name)) or ""
        paragraphs = [part for part in text.split("\n\n") if len(part) > 80]
        documents += paragraphs
        labels += [module.__name__] * len(paragraphs)
vectorizer = CountVectorizer(stop_words="english", min_df=2)
X = vectorizer.fit_transform(documents)
words = vectorizer.get_feature_names_out()
print(f"{X.shape[0]} paragraphs, {X.shape[1]} words")
print(f"{X.nnz / np.prod(X.shape):.1%} of the cells are not zero")

# %%
# No dense copy of the matrix is made. The tree is the same as that of the dense matrix,
# node for node.

X, X_test, y, y_test = train_test_split(X, labels, random_state=0)
tree = DecisionTreeClassifier(max_leaf_nodes=40).fit(X, y)
print(f"accuracy {tree.score(X_test, y_test):.3f}")
print(export_text(tree, feature_names=words, max_depth=2))

# %%
# The words that distinguish the two:

ImportancesDisplay.from_estimator(tree, feature_names=words, max_shown=12)

# %%
# The time of a fit with either form of the matrix:

times = {}
for name, matrix in {"sparse": X.tocsc(), "dense": X.toarray()}.items():
    start = time.perf_counter()
    same = DecisionTreeClassifier(max_leaf_nodes=40).fit(matrix, y)
    times[name] = 1000 * (time.perf_counter() - start)
    assert np.array_equal(same.tree_.threshold, tree.tree_.threshold)
figure, ax = plt.subplots(figsize=(6, 2), layout="constrained")
ax.barh(list(times), list(times.values()))
ax.set_xlabel("time of a fit, ms")
plt.show()
