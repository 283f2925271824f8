"""Draw the pictures that are kept in ``doc/_static``: ``python doc/pictures.py``.

The page of a tree, light and dark, is a screenshot and needs Chromium, see ``tests/browser.py``.
The overview of the README has a panel for each of its lines.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import sklearn.tree
from charts import OTHER, OURS, THEIRS, read
from sklearn.model_selection import StratifiedKFold

import fasttree
from fasttree.datasets import load_wine_quality
from fasttree.ensemble import RandomForestQuantileRegressor
from fasttree.export import export_html
from fasttree.model_selection import tuning_curve
from fasttree.optimal import OptimalDecisionTreeClassifier
from fasttree.tree import DecisionTree, DecisionTreeClassifier

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "doc" / "_static"


def draw_page():
    """The page of the start page's tree."""
    sys.path.append(str(ROOT / "tests"))
    from browser import Browser, find_chromium

    wine = load_wine_quality(as_frame=True)
    tree = DecisionTree(max_depth=8).fit(wine.data, wine.target)
    with tempfile.TemporaryDirectory() as folder:
        page = f"{folder}/tree.html"
        export_html(tree, wine.data, wine.target, title="Marks of wines", out_file=page)
        browser = Browser(find_chromium(), f"{folder}/profile")
        for scheme in ("light", "dark"):
            browser.open(page, (1180, 600), scheme)
            (STATIC / f"tree_{scheme}.png").write_bytes(browser.screenshot())
        browser.close()


def draw_tables(ax):
    """Time of a fit of adult as it is, and behind encoders."""
    times = {row[0]: row[1] for row in reversed(read("labels")) if row[0].startswith("adult")}
    colors = [OURS if "fasttree" in name else THEIRS for name in times]
    ways = [name.removeprefix("adult, ").replace(" ", "\n") for name in times]
    bars = ax.barh(ways, list(times.values()), color=colors)
    ax.bar_label(bars, fmt="%.0f ms", padding=3)
    ax.set(title="Tables: no encoder needed", xlim=(0, 1.25 * max(times.values())), xticks=[])


def draw_tuning(ax):
    """Accuracy against size."""
    wine = load_wine_quality()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    tree = DecisionTreeClassifier()
    curve = tuning_curve(tree, wine.data, wine.target >= 6, param_name="max_leaf_nodes", cv=folds)
    for scores, name, color in (
        (curve.train_scores, "training rows", OURS),
        (curve.test_scores, "held-out rows", THEIRS),
    ):
        ax.semilogx(curve.param_range, scores.mean(axis=1), color=color, label=name)
    ax.set(title=f"Tuning: {len(curve.param_range)} sizes from 5 fits", xlabel="leaves")
    ax.set_ylabel("accuracy")
    ax.legend(frameon=False)


def draw_optimal(ax):
    """Errors of greedy and optimal trees of each size."""
    wine = load_wine_quality()
    X, y = wine.data, wine.target >= 6
    front = (
        OptimalDecisionTreeClassifier(max_depth=3, pareto_front=True).fit(X, y).pareto_front_[1:]
    )
    sizes = front["n_leaves"]
    trees = [DecisionTreeClassifier(max_depth=3, max_leaf_nodes=size) for size in sizes.tolist()]
    greedy = [1 - tree.fit(X, y).score(X, y) for tree in trees]
    ax.plot(sizes, greedy, "o-", color=THEIRS, label="greedy")
    ax.plot(sizes, front["error"], "o-", color=OURS, label="optimal, proven")
    ax.set(title="Optimal trees: fewer errors", xlabel="leaves", ylabel="training error")
    ax.legend(frameon=False)


def draw_sparse(ax):
    """Time of a fit against depth."""
    rows = read("sparse_figure4")
    depths = [row[0] for row in rows]
    for column, name, color in ((1, "fasttree", OURS), (3, "scikit-learn", THEIRS)):
        ax.semilogy(depths, [row[column] for row in rows], "o-", color=color, label=name)
    ax.set(title="Sparse data: one-hot adult", xlabel="max_depth", ylabel="time of a fit, ms")
    ax.legend(frameon=False)


def draw_forest(ax):
    """Quantiles of a target whose noise grows."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0, 6, 400))
    y = np.sin(x) + rng.normal(scale=0.05 + 0.08 * x)
    forest = RandomForestQuantileRegressor(200, min_samples_leaf=15, random_state=0)
    grid = np.linspace(0, 6, 300).reshape(-1, 1)
    low, middle, high = forest.fit(x.reshape(-1, 1), y).predict(grid, [0.05, 0.5, 0.95]).T
    ax.fill_between(grid[:, 0], low, high, color=OURS, alpha=0.25, label="90% interval")
    ax.plot(grid, middle, color=OURS, label="median")
    ax.plot(x, y, ".", color="gray", markersize=2)
    ax.set(title="Forests: any quantile from one fit", xticks=[], yticks=[])
    ax.legend(frameon=False, loc="upper right")


def draw_replay(ax):
    """Thresholds of the same nodes in both libraries."""
    wine = load_wine_quality()
    params = dict(max_features="sqrt", random_state=3)
    theirs = sklearn.tree.DecisionTreeClassifier(**params).fit(wine.data, wine.target).tree_
    with fasttree.config_context(sklearn_random_stream=True):
        ours = DecisionTreeClassifier(**params).fit(wine.data, wine.target).tree_
    assert np.array_equal(ours.threshold, theirs.threshold)
    is_split = theirs.children_left >= 0
    ax.loglog(theirs.threshold[is_split], ours.threshold[is_split], ".", color=OTHER, markersize=3)
    ax.set(title=f"Replay: {ours.node_count:,} equal nodes", xlabel="scikit-learn's thresholds")
    ax.set_ylabel("fasttree's thresholds")


def draw_overview():
    """A panel for each line of the README."""
    panels = (draw_tables, draw_tuning, draw_optimal, draw_sparse, draw_forest, draw_replay)
    with plt.rc_context({"axes.titlesize": 10, "font.size": 8, "axes.titleweight": "bold"}):
        figure, axes = plt.subplots(2, 3, figsize=(10, 5), layout="constrained")
        for draw, ax in zip(panels, axes.flat):
            draw(ax)
            ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(STATIC / "overview.png", dpi=120)


if __name__ == "__main__":
    draw_page()
    draw_overview()
