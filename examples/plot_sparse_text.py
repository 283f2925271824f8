"""
Text as a sparse matrix
=======================

A document holds few of the words there are. A sparse matrix keeps only these, and a
tree on it costs what they cost. The documents here are paragraphs of scikit-learn's
own docstrings; the tree tells whether they come from its linear models or from its
ensembles.
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
# The matrix is used as it is; no dense copy is made. The tree is that of the dense
# matrix, node for node.

X, X_test, y, y_test = train_test_split(X, labels, random_state=0)
tree = DecisionTreeClassifier(max_leaf_nodes=40).fit(X, y)
print(f"accuracy {tree.score(X_test, y_test):.3f}")
print(export_text(tree, feature_names=words, max_depth=2))

# %%
# The words that tell the two apart:

ImportancesDisplay.from_estimator(tree, feature_names=words, max_shown=12)

# %%
# And what each form of the matrix costs:

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
