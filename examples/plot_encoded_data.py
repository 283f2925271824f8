"""
Many fits on the same rows
==========================

Before a tree grows, columns are brought into the form that the search reads.
:class:`~fasttree.tree.EncodedData` does that once for any number of fits and folds.
Here it serves a learning curve: 60 trees from one encoding.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import LearningCurveDisplay, ShuffleSplit

from fasttree.datasets import load_wine_quality
from fasttree.tree import DecisionTreeClassifier, EncodedData

X, y = load_wine_quality(return_X_y=True)
data = EncodedData(X)
print(data)

LearningCurveDisplay.from_estimator(
    DecisionTreeClassifier(min_samples_leaf=5),
    data,
    y,
    train_sizes=[0.1, 0.2, 0.4, 0.6, 0.8, 1.0],
    cv=ShuffleSplit(10, test_size=0.2, random_state=0),
    score_type="both",
    score_name="accuracy",
)
plt.show()
