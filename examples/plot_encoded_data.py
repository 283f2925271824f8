"""
Many fits on the same rows
==========================

Before a tree is grown, the columns of X are encoded: sorted, or turned into codes.
:class:`~fasttree.tree.EncodedData` does this once for any number of fits and folds.
Here a learning curve takes 60 fits but only one encoding.
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
