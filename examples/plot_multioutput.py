"""
Several targets at once
=======================

If the target has several columns, one tree is fitted whose leaves hold a value for each
of them. Here the tree completes pictures: from the upper half of a digit it predicts
the 32 pixels of the lower half.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fasttree.tree import DecisionTreeRegressor

pixels = load_digits().data
train, test = train_test_split(pixels, test_size=0.2, random_state=0)
tree = DecisionTreeRegressor(min_samples_leaf=3).fit(train[:, :32], train[:, 32:])
print(f"{tree.n_outputs_} outputs, {tree.get_n_leaves()} leaves")
print(f"R2 {tree.score(test[:, :32], test[:, 32:]):.2f} on held-out digits")

shown = test[:10]
completed = np.hstack([shown[:, :32], tree.predict(shown[:, :32])])
figure, axes = plt.subplots(2, 10, figsize=(11, 2.6), layout="constrained")
for row, pictures in zip(axes, (shown, completed)):
    for ax, picture in zip(row, pictures):
        ax.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("true")
axes[1, 0].set_ylabel("completed")
plt.show()
