"""
Settings that change the time and nothing else
==============================================

There are three ways to put the rows of a node into the order of a feature. Which one is
fastest depends on the data, and fasttree chooses for every node and column. The tree is
the same with all of them, and with any number of threads.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import fasttree
from fasttree.datasets import load_wine_quality
from fasttree.tree import DecisionTreeClassifier

X, y = load_wine_quality(return_X_y=True)
many_values = np.random.default_rng(0).normal(size=(20_000, 10)).astype(np.float32)
tables = {
    "wine: few distinct values": (X, y),
    "continuous": (many_values, many_values[:, 0] > 0.3 * many_values[:, 1]),
}
strategies = ["auto", "count", "presort", "sort"]

figure, axes = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
for ax, (name, (X, y)) in zip(axes, tables.items()):
    times, trees = [], []
    for strategy in strategies:
        with fasttree.config_context(strategy=strategy):
            start = time.perf_counter()
            trees.append(DecisionTreeClassifier().fit(X, y).tree_)
            times.append(1000 * (time.perf_counter() - start))
    assert all(np.array_equal(tree.threshold, trees[0].threshold) for tree in trees)
    ax.bar(strategies, times)
    ax.set(title=name, ylabel="time of a fit, ms")
    print(f"{name}: {trees[0].node_count} nodes, the same under all strategies")
plt.show()
