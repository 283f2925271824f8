"""
Speed beside scikit-learn
=========================

Both libraries grow the same full tree on one thread, for increasing numbers of rows.
The times were measured while this page was built; :doc:`/benchmarks` has more careful
figures.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import sklearn.tree

import fasttree.tree

rng = np.random.default_rng(0)
sizes = [1_000, 3_000, 10_000, 30_000]
libraries = {"scikit-learn": sklearn.tree, "fasttree": fasttree.tree}
times = {name: [] for name in libraries}
for n_rows in sizes:
    X = rng.normal(size=(n_rows, 10)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + rng.normal(size=n_rows) > 0
    for name, library in libraries.items():
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            library.DecisionTreeClassifier(random_state=0).fit(X, y)
            best = min(best, time.perf_counter() - start)
        times[name].append(best)

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, seconds in times.items():
    ax.loglog(sizes, seconds, "o-", label=name)
ax.set(xlabel="rows", ylabel="time of a fit, s")
ax.legend()
plt.show()
ratio = times["scikit-learn"][-1] / times["fasttree"][-1]
print(f"{sizes[-1]:,} rows: scikit-learn takes {ratio:.0f} times as long")
